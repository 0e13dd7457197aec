"""`python tests/allocations.py [--only TEXT] [--step N]`: what relbase does without memory.

It reads the fixtures of HTML, CSS, XML and mail again and again. Each time another allocation
fails, alone or with every n-th after it. The result must be right, or a MemoryError, and the next
call must be right. Excepted are two things of CPython itself: it may crash while it makes an expat
parser, and may raise a SystemError where a function written in Python gets no frame. Every malloc
counts, Python's own, too (allocations.c, which it compiles with `cc` for the GNU C library).
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import gc
import os
import subprocess
import sys
import tempfile
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from xml.parsers import expat

HERE: Final = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "support"), str(HERE)]

from test_fixtures import STEMS, fixture  # noqa: E402 (found in the lines above)

import relbase  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ROOMS: Final = ("html/", "css/", "xml/", "mail/")
# After the first that fails each n-th fails, too; 0: none.
_EVERY: Final = (0, 0, 0, 2, 17, 211)
_FIRST: Final = 1 << 40  # more allocations than any call makes


def _called(stem: str) -> tuple[object, ...]:
    data, _, arguments, _ = fixture(stem)
    result = relbase.rewrite(data, **arguments)
    links = tuple(relbase.links(data, **arguments))
    return result.data, tuple(result.edits), result.notes, links


def _excepted(failing: Any) -> Callable[..., Any]:
    create = expat.ParserCreate

    def made(*arguments: Any) -> Any:
        paused = failing.pause_failing()
        try:
            return create(*arguments)
        finally:
            failing.go_on(paused)

    return made


def _caches() -> list[Any]:
    return [one for one in gc.get_objects() if isinstance(one, _lru_cache_wrapper)]


def _is_cpythons(found: object) -> bool:
    """Whether the interpreter failed by itself: of built-in functions it says something else."""
    return isinstance(found, SystemError) and str(found).startswith(
        ("error return without exception set", "<function ")
    )


def _places(count: int, start: int, step: int) -> Iterator[tuple[int, int]]:
    """Which allocation fails first, and each which one after it."""
    for at in range(start, count, step):
        yield at, _EVERY[at // step % len(_EVERY)]


def _work(stem: str, start: int, step: int) -> int:
    """Fail allocations of one fixture; print each place, so that a crash is known by the last."""
    faulthandler.enable()
    failing = ctypes.CDLL(None)
    for name in ("fail_after", "go_on"):
        getattr(failing, name).argtypes = [ctypes.c_long] * (1 + (name == "fail_after"))
    failing.stop_failing.restype = failing.pause_failing.restype = ctypes.c_long
    setattr(expat, "ParserCreate", _excepted(failing))  # noqa: B010 (it is no part of its type)
    expected = _called(stem)
    assert expected[0] == fixture(stem).output
    caches = _caches()

    def run(after: int, every: int) -> tuple[object, int]:
        for cache in caches:
            cache.cache_clear()
        failing.fail_after(after, every)
        try:
            found: object = _called(stem)
        except BaseException as error:  # noqa: BLE001 (it is judged)
            found = error
        return found, failing.stop_failing()

    _, count = run(_FIRST, 0)
    for after, every in _places(count, start, step):
        print(after, flush=True)
        found, _ = run(after, every)
        if not (found == expected or isinstance(found, MemoryError) or _is_cpythons(found)):
            print(f"! {after} {every} {type(found).__name__}: {found!r:.300}", flush=True)
        elif _called(stem) != expected:
            print(f"! {after} {every} the call after it differs", flush=True)
    return 0


def _judged(stem: str, step: int, environment: dict[str, str]) -> tuple[int, list[str]]:
    """How many allocations of a fixture failed, and what was wrong."""
    start, tried, wrong = 0, 0, []
    while True:
        command = [sys.executable, __file__, "--work", stem, "--start", str(start)]
        done = subprocess.run(
            [*command, "--step", str(step)], env=environment, capture_output=True, check=False
        )
        lines = done.stdout.decode().splitlines()
        wrong += [line for line in lines if line.startswith("!")]
        places = [int(line) for line in lines if line.isdigit()]
        tried += len(places)
        if done.returncode == 0:
            return tried, wrong
        last = places[-1] if places else start
        wrong.append(f"! {last} died ({done.returncode}): {done.stderr.decode()[-2000:]}")
        if not places:
            return tried, wrong
        start = last + step


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/allocations.py", description=__doc__)
    parser.add_argument("--only", default="", help="fixtures whose names have this text")
    parser.add_argument("--step", type=int, default=501, help="fail each n-th allocation in turn")
    parser.add_argument("--start", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    own = parser.parse_args()
    if own.work:
        return _work(own.work, own.start, own.step)
    total, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "allocations.so"
        compiler = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library)]
        subprocess.run([*compiler, str(HERE / "allocations.c")], check=True)
        preload = {"LD_PRELOAD": str(library), "PYTHONMALLOC": "malloc"}
        environment = os.environ | preload | {"PYTHONHASHSEED": "0"}
        for number, stem in enumerate(STEMS):
            if not stem.startswith(_ROOMS) or own.only not in stem:
                continue
            step = own.step + number % 7  # so that not all fixtures fail at the same places
            tried, wrong = _judged(stem, step, environment)
            total += tried
            failed += len(wrong)
            for line in wrong:
                print(f"{stem}: {line}", flush=True)
    print(f"{total} allocations failed, {failed} calls went wrong")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
