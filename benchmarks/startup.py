"""Start-up: the processor time of whole processes, as the system counts it for children.

The peer is what a program pays that parses one page with lxml: `import lxml.html`. Byte code is
cached in a directory of its own, filled by a round that is not counted, so that
what the environment says of byte code (PYTHONDONTWRITEBYTECODE) makes no difference.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.timing import Timing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_PEER: Final = "import lxml.html"
_URL: Final = "http://example.com/a/"
_PAGE: Final = b'<!doctype html><title>x</title><p><a href="b.html">b</a>\n'

_PROGRAMS: Final = {
    "python alone": "pass",
    _PEER: _PEER,
    "import click": "import click",
    "import relbase": "import relbase",
    "relbase.rewrite of a page": f"import relbase; relbase.rewrite({_PAGE!r}, url={_URL!r})",
}


def run(data: Path | None, rounds: int) -> Iterator[str]:  # noqa: ARG001 (all have the same)
    """Yield the table."""
    with tempfile.TemporaryDirectory() as name:
        page = Path(name) / "page.html"
        page.write_bytes(_PAGE)
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": name}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        yield _table(_measured(_commands(page), environment, rounds))


def _commands(page: Path) -> dict[str, list[str]]:
    commands = {name: ["-c", code] for name, code in _PROGRAMS.items()}
    main = ["-c", "from relbase.cli import main; main()"]  # what the console script holds
    commands["relbase rewrite page.html"] = [*main, "rewrite", str(page), "--url", _URL]
    commands["relbase --help"] = [*main, "--help"]
    return commands


def _measured(
    commands: Mapping[str, Sequence[str]], environment: Mapping[str, str], rounds: int
) -> list[Timing]:
    best = dict.fromkeys(commands, float("inf"))
    for number in range(rounds + 1):
        for name, arguments in commands.items():
            used = _used(arguments, environment)
            if number:  # the first round fills the caches
                best[name] = min(best[name], used)
    return [Timing(name, seconds) for name, seconds in best.items()]


def _used(arguments: Sequence[str], environment: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _table(timings: Sequence[Timing]) -> str:
    seconds = {timing.name: timing.seconds for timing in timings}
    width = max(map(len, seconds))
    lines = ["Start-up: processor time of one process", f"  {'':{width}}  {'ms':>6}  {'x lxml':>6}"]
    lines += [
        f"  {name:{width}}  {1000 * used:6.0f}  {used / seconds[_PEER]:6.2f}"
        for name, used, _ in timings
    ]
    return "\n".join(lines)
