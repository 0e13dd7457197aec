"""A plugin of pytest: skips the tests that need what a Python cannot have, as their errors say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

# Compiled packages, and the threads, processes and encodings that Python for WebAssembly lacks.
_MISSING: Final = (
    "needs the package ada-url",
    "No module named 'ada_url'",
    "No module named 'lxml'",
    "No module named '_tracemalloc'",
    "can't start new thread",
    "emscripten does not support processes",
)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Skip a test."""
    outcome = yield
    _skip(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """Skip a file."""
    outcome = yield
    _skip(outcome.get_result())


def _skip(report: Any) -> None:
    if report.outcome == "failed":
        text = report.longreprtext
        missing = next((known for known in _MISSING if known in text), None)
        if missing is not None:
            report.outcome = "skipped"
            report.longrepr = (str(getattr(report, "fspath", "")), 0, f"Skipped: {missing}")
