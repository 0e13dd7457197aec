"""What all tests share: the directory that RELBASE_DATA names, the counts, how hypothesis runs."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from counts import Counts, differing, table
from hypothesis import settings

ROOT: Final = Path(__file__).parent

# The browser and its network; Windows. (A second file named conftest is one too many for mypy.)
pytest_plugins = ("browsing", "as_windows")

_freeze: Final = getattr(gc, "freeze", gc.collect)  # PyPy has none

# Fixtures whose tests are long: they start a browser, or build the documentation.
_LONG: Final = frozenset(("browser", "built", "places"))

# Workers say that the terminal has 80 columns. No test has a terminal, unless it says so.
os.environ.pop("COLUMNS", None)

# Else each of the hundreds of processes that tests start would compile the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What a shell starts in the background ignores SIGINT, and so would the programs that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Thousands of tests are made and stay to the end: to look for garbage among them, while they are
# made and at each collection afterwards, would take more time than a tenth of the tests.
gc.disable()

# The time of one example says nothing on a busy machine; tests of time compare sizes (growth.py).
# The examples are the same in each run; RELBASE_RANDOM=1 looks for others.
settings.register_profile(
    "relbase", deadline=None, derandomize=not os.environ.get("RELBASE_RANDOM")
)
settings.load_profile("relbase")


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty directory, as every test of the command line does."""
    monkeypatch.chdir(tmp_path)


def pytest_configure(config: pytest.Config) -> None:
    """Leave out what is long where neither files nor marks are asked for; workers do as told."""
    if config.args_source is not config.ArgsSource.ARGS and not config.option.markexpr:
        config.option.markexpr = "not long"


def pytest_itemcollected(item: pytest.Item) -> None:
    if not isinstance(item, pytest.Function):
        return
    if item.path.parent == ROOT / "cli":
        item.fixturenames.insert(0, "directory")
    if not _LONG.isdisjoint(item.fixturenames):
        item.add_marker("long")
    if "counts" in item.fixturenames:
        item.add_marker("counted")


def pytest_collection_finish() -> None:
    _freeze()
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def _collected() -> Iterator[None]:
    """Look for garbage once when a module is done, and then never again at what it leaves."""
    yield
    gc.collect()
    _freeze()


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the directory of other people's test data."""
    directory = os.environ.get("RELBASE_DATA")
    if not directory:
        pytest.skip("RELBASE_DATA is not set: it names the directory of other people's test data")
    path = Path(directory)
    assert path.is_dir(), f"RELBASE_DATA={directory} is not a directory"
    return path


@pytest.fixture
def counts(record_property: Callable[[str, object], None]) -> Counts:
    """Return what a suite calls after its assertions."""
    return Counts(record_property)


@pytest.hookimpl(tryfirst=True)  # before the summary, which has the exit status
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and differing(list(table(reporter.stats.get("passed", ())))):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = list(table(terminalreporter.stats.get("passed", ())))
    if lines:
        terminalreporter.section("other people's suites")
        terminalreporter.write_line("\n".join(lines))
        if rows := differing(lines):
            terminalreporter.section("docs/proof.md has other counts: the run fails")
            terminalreporter.write_line("\n".join(rows))
