"""`python -m benchmarks [NAME]... [--data DIRECTORY] [--rounds N]`: prints a table for each."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from pathlib import Path

import benchmarks

_NOT_BENCHMARKS = {"__main__", "timing"}


def main() -> int:
    modules = {module.name for module in pkgutil.iter_modules(benchmarks.__path__)}
    names = sorted(modules - _NOT_BENCHMARKS)
    parser = _parser(names)
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(names):
        parser.error(f"no benchmark: {', '.join(sorted(unknown))}. Give of {', '.join(names)}")
    for name in arguments.names or names:
        benchmark = importlib.import_module(f"benchmarks.{name}")
        for table in benchmark.run(arguments.data, arguments.rounds):
            print(table, end="\n\n", flush=True)
    return 0


def _parser(names: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Ratios against the peers, measured in one run.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("RELBASE_DATA"),
        metavar="DIRECTORY",
        help="the directory that has real-pages/ (otherwise: $RELBASE_DATA)",
    )
    parser.add_argument(
        "--rounds", type=int, default=7, help="how often each is timed (%(default)s)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
