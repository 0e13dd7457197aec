"""`python -m benchmarks [NAME]... [--data DIRECTORY] [--rounds N]`: prints a table for each.

With `--against FILE`, which holds what an earlier run printed, it ends with the rows that moved.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import benchmarks
from benchmarks.against import moved
from benchmarks.timing import machine

_NOT_BENCHMARKS = {"__main__", "against", "corpora", "scanners", "timing"}


def names() -> list[str]:
    """The benchmarks: each is a module with a function `run`; pages first, as most people ask."""
    modules = {module.name for module in pkgutil.iter_modules(benchmarks.__path__)}
    return sorted(modules - _NOT_BENCHMARKS, key=lambda name: (name != "html", name))


def main() -> int:
    all_ = names()
    parser = _parser(all_)
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(all_):
        parser.error(f"no benchmark: {', '.join(sorted(unknown))}. Give of {', '.join(all_)}")
    wanted = arguments.names or all_
    before = arguments.against.read_text(encoding="utf-8") if arguments.against else ""
    tables = [] if arguments.inner else [machine()]
    print(*tables, end="\n\n" if tables else "", flush=True)
    for name in wanted:
        run = _run if len(wanted) == 1 else _run_apart
        for table in run(name, arguments.data, arguments.rounds):
            print(table, end="\n\n", flush=True)
            tables.append(table)
    if arguments.readme:
        write_into(arguments.readme, tables)
    if arguments.against:
        lines = list(moved(before, "\n\n".join(tables)))
        print("\n".join(lines) or "No row moved by more than its noise.")
    return 0


def _run(name: str, data: Path | None, rounds: int) -> Iterator[str]:
    tables: Iterator[str] = importlib.import_module(f"benchmarks.{name}").run(data, rounds)
    return tables


def _run_apart(name: str, data: Path | None, rounds: int) -> Iterator[str]:
    """Run a benchmark in a process of its own: what another left in memory slows it down."""
    options = ["--inner", "--rounds", str(rounds), *(["--data", str(data)] if data else [])]
    command = [sys.executable, "-m", "benchmarks", name, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield from (
            table.strip("\n") for table in process.stdout.read().split("\n\n") if table.strip()
        )
    if process.returncode:
        raise SystemExit(f"the benchmark {name} failed")


BEGIN, END = "<!-- speed: written by python -m benchmarks -->", "<!-- end of speed -->"


def write_into(readme: Path, tables: list[str]) -> None:
    """Write the tables between the two comments of a file, in place of what is there."""
    before, begin, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{readme} has no place for them: add {BEGIN!r} and {END!r}")
    block = "\n\n".join(tables)
    text = f"{before}{begin}\n```text\n{block}\n```\n{end}{after}"
    readme.write_text(text, encoding="utf-8")


def _parser(all_: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Ratios against the peers, measured in one run.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(all_)}")
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("RELBASE_DATA"),
        metavar="DIRECTORY",
        help="the directory that has real-pages/ (otherwise: $RELBASE_DATA)",
    )
    parser.add_argument(
        "--readme", type=Path, metavar="FILE", help="write the tables into it, at their comments"
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="FILE",
        help="say which rows moved by more than their noise since its tables were printed",
    )
    parser.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument(
        "--rounds", type=int, default=7, help="how often each is timed (%(default)s)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
