"""Windows on other systems, as far as relbase writes there: fixtures for tests.

Modelled are the share modes of files (a name can be neither replaced nor removed while this process
or one that it forked has the file open), the calls and flags that are missing, the stream with the
zone, and drives (`drives`: modules compute paths as `ntpath` does). Names in another case and
devices are not; `python -m tools.windows` runs the tests on Windows' own Python.
"""

from __future__ import annotations

import multiprocessing
import ntpath
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

__all__ = ["IS_WINDOWS", "InUseError", "fcntl"]

try:
    import fcntl
except ImportError:  # there is none
    fcntl = None  # type: ignore[assignment]

IS_WINDOWS: Final = sys.platform == "win32"
_MISSING: Final = (
    *("O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_NOCTTY", "fchmod", "fchown"),
    *("listxattr", "getxattr", "setxattr"),
)
# What takes a name away from a file, by the position of that name.
_TAKING: Final = {"replace": (0, 1), "rename": (0, 1), "unlink": (0,), "remove": (0,)}


def identities() -> Iterator[tuple[int, int]]:
    """The files that this process and its children have open."""
    own = os.getpid()
    parent = multiprocessing.parent_process()
    top = own if parent is None or parent.pid is None else parent.pid
    children = Path(f"/proc/{top}/task/{top}/children").read_text("ascii").split()
    for process in {own, top, *map(int, children)}:
        with suppress(OSError):  # it has ended
            for descriptor in Path(f"/proc/{process}/fd").iterdir():
                with suppress(OSError):
                    status = descriptor.stat()
                    yield status.st_dev, status.st_ino


class InUseError(PermissionError):
    """ERROR_SHARING_VIOLATION."""

    winerror = 32


def refuse_open(name: str | os.PathLike[str]) -> None:
    with suppress(FileNotFoundError):
        status = os.lstat(name)
        if (status.st_dev, status.st_ino) in {*identities()}:
            raise InUseError(13, "another program has the file open", os.fspath(name))


def _sharing(real: Callable[..., Any], positions: tuple[int, ...]) -> Callable[..., Any]:
    def call(*names: Any, **more: Any) -> Any:
        assert not [one for one in more.values() if one is not None], "Windows has no dir_fd"
        for position in positions:
            refuse_open(names[position])
        real(*names)
        with suppress(FileNotFoundError):  # its stream goes where it goes
            real(*(f"{os.fspath(name)}:Zone.Identifier" for name in names))

    return call


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make files behave as on Windows; `os.name` stays, or pathlib would be another."""
    from relbase.cli import directories, windows  # the library alone needs no click

    if IS_WINDOWS:
        return
    for name in _MISSING:
        monkeypatch.delattr(os, name)
    for name in ("supports_dir_fd", "supports_fd", "supports_follow_symlinks"):
        monkeypatch.setattr(os, name, set())
    for name, positions in _TAKING.items():
        monkeypatch.setattr(os, name, _sharing(getattr(os, name), positions))
    monkeypatch.setattr(windows, "HERE", True)
    monkeypatch.setattr(windows, "PATIENCE", 0.0)
    monkeypatch.setattr(directories, "BY_DESCRIPTOR", False)
    monkeypatch.setattr(directories, "_CLOSED_FIRST", True)
    monkeypatch.setattr(directories, "fcntl", None)
    monkeypatch.setattr("mailbox.fcntl", None)
    monkeypatch.setattr("shutil._use_fd_functions", False)


@pytest.fixture
def as_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)


@pytest.fixture(params=["this system"] if IS_WINDOWS else ["this system", "Windows"])
def each_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test here, and as if on Windows."""
    if request.param == "Windows":
        install(monkeypatch)
    return "Windows" if IS_WINDOWS else request.param


@pytest.fixture
def native() -> None:
    """Skip a test about what Windows lacks, and leave out its runs as if there."""
    if IS_WINDOWS:
        pytest.skip("about what Windows lacks")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if not _is_native(item)]


def _is_native(item: pytest.Item) -> bool:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return (
        "native" in getattr(item, "fixturenames", ()) and parameters.get("each_system") == "Windows"
    )


@pytest.fixture
def drives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command line compute paths as on Windows; no file can be reached."""
    from relbase.cli import windows
    from relbase.cli.origins import finder, paths, places

    if IS_WINDOWS:
        Path("C:\\here").mkdir(exist_ok=True)
        monkeypatch.chdir("C:\\here")
        return
    names = {name: getattr(os, name) for name in dir(os) if not name.startswith("__")}
    fake = SimpleNamespace(**{**names, "path": ntpath, "sep": "\\", "getcwd": lambda: "C:\\here"})
    for module in (windows, paths, places, finder):
        monkeypatch.setattr(module, "os", fake)
    monkeypatch.setattr(ntpath, "os", fake)
    monkeypatch.setattr(windows, "HERE", True)
