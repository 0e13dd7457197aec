"""axe-core, which finds what people with disabilities cannot use: for tests with a browser.

It is not installed with relbase's tests: `npm install axe-core` in the root of the repository, or
RELBASE_AXE names its axe.min.js. Its tests are skipped without it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]

_RUN: Final = """
const [selector, done] = arguments;
axe.run(selector, {resultTypes: ['violations']}).then(found => done(found.violations.map(
  one => [one.id, one.help, one.nodes.slice(0, 3).map(node => node.html.slice(0, 200))])));
"""


def violations(browser: Any, selector: str = "html") -> list[Any]:
    """Return what axe finds in the page that is open, or skip.

    Args:
        browser: the driver.
        selector: of what is looked at.
    """
    named = os.environ.get("RELBASE_AXE")
    path = Path(named) if named else ROOT / "node_modules" / "axe-core" / "axe.min.js"
    if not path.is_file():
        pytest.skip("axe-core is not there: npm install axe-core, or set RELBASE_AXE")
    browser.execute_script(path.read_text(encoding="utf-8"))
    found: list[Any] = browser.execute_async_script(_RUN, selector)
    return found
