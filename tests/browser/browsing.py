"""One browser and one site for all tests against a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from chromium import start
from served import Site

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """The network of the browser."""
    with Site() as opened:
        yield opened


@pytest.fixture(scope="session")
def browser(site: Site) -> Iterator[Any]:
    """A browser that reaches nothing but `site`; skips where none is installed."""
    driver = start(site)
    yield driver
    driver.quit()
