"""Chrome's "Webpage, Complete", saved by Chromium itself: Ctrl+S on a virtual screen.

Strategy: Xvfb is the screen, chromedriver opens the pages, and xdotool presses the keys and the
button of the dialog, as a person would; no protocol of the browser saves pages so. There is no
window manager, so that a window gets the keys only when it is given the focus.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

PROGRAMS: Final = ("Xvfb", "xdotool", "chromium", "chromedriver")
_DIALOG: Final = "Save File"
# From the right and the bottom of the dialog to its button, in pixels.
_BUTTON: Final = (50, 24)
_PATIENCE: Final = 30.0  # seconds


def is_there() -> bool:
    return all(map(shutil.which, PROGRAMS))


def save(urls: Sequence[str], room: Path) -> None:
    """Save pages as 0.html, 1.html, ... with the files that they need in 0_files/, ..."""
    flag = "--user-data-dir={}".format
    with (
        _screen(),
        tempfile.TemporaryDirectory() as profile,
        chromium(flag(profile), prefs={"savefile.type": 1}) as driver,
    ):
        for number, url in enumerate(urls):
            driver.get(url)
            _save_at_last(room / f"{number}.html")


@contextmanager
def chromium(*flags: str, **more: Any) -> Iterator[Any]:
    """A driver of Chromium, with flags and experimental options."""
    from selenium import webdriver  # of some programs alone

    options = webdriver.ChromeOptions()
    for flag in ("--no-sandbox", "--disable-gpu", *flags):
        options.add_argument(flag)
    for name, value in more.items():
        options.add_experimental_option(name, value)
    options.binary_location = shutil.which("chromium") or ""
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options, service) as driver:
        yield driver


@contextmanager
def _screen() -> Iterator[None]:
    # It says which display was free once it is ready.
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x900x24"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    before = os.environ.get("DISPLAY")
    os.environ["DISPLAY"] = f":{process.stdout.readline().strip()}"
    try:
        yield
    finally:
        process.terminate()
        process.wait()
        os.environ.pop("DISPLAY")
        if before is not None:
            os.environ["DISPLAY"] = before


def _save_at_last(path: Path) -> None:
    """Save a page; what goes wrong with a dialog on a busy machine is tried again."""
    for left in range(2, -1, -1):
        try:
            _save(path)
        except (AssertionError, IndexError, subprocess.CalledProcessError):
            if not left:
                raise
            for dialog in _windows("--name", _DIALOG):
                _do("key", "--window", dialog, "Escape", is_sure=False)
            time.sleep(1)
        else:
            return


def _save(path: Path) -> None:
    window = _windows("--class", "chromium")[-1]
    _do("windowfocus", window)
    _do("key", "--window", window, "ctrl+s")
    dialog = _dialog()
    _do("windowfocus", "--sync", dialog)
    _do("key", "ctrl+a")
    _do("type", "--delay", "5", str(path))
    shape = dict(line.split("=") for line in _do("getwindowgeometry", "--shell", dialog).split())
    right, bottom = int(shape["WIDTH"]) - _BUTTON[0], int(shape["HEIGHT"]) - _BUTTON[1]
    time.sleep(0.3)  # the dialog looks up what is typed
    _do("mousemove", "--window", dialog, str(right), str(bottom), "click", "1")
    _wait(path)


def _dialog() -> str:
    until = time.monotonic() + _PATIENCE
    while not (found := _windows("--name", _DIALOG)):
        assert time.monotonic() < until, "the dialog did not appear"
        time.sleep(0.1)
    return found[-1]


def _wait(path: Path) -> None:
    """Wait until the page is there, its files too, and the dialog is gone."""
    until = time.monotonic() + _PATIENCE
    seen: object = None
    while True:
        time.sleep(0.3)
        found = [(one, one.stat().st_size) for one in sorted(path.parent.rglob(f"{path.stem}*/*"))]
        now = path.exists() and (path.stat().st_size, found)
        if now and now == seen and not _windows("--name", _DIALOG):
            return
        assert time.monotonic() < until, f"{path} was not saved"
        seen = now


def _windows(*how: str) -> list[str]:
    return _do("search", "--onlyvisible", *how, is_sure=False).split()


def _do(*arguments: str, is_sure: bool = True) -> str:
    done = subprocess.run(["xdotool", *arguments], stdout=subprocess.PIPE, text=True, check=is_sure)
    return done.stdout
