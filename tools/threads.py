"""Threads over one Rewriter in a free-threaded Python: the same results, and no data race.

    python -m tools.threads PYTHON

PYTHON is a free-threaded interpreter, 3.13t or later, with its headers. The compiled scanner is
built for it as pip builds it there (hatch_build.py); then both scanners rewrite the fixtures in six
threads that share one Rewriter, and each result must be what one thread gives.

If PYTHON was configured `--with-thread-sanitizer`, a data race in the scanner is an error, too;
those of CPython itself are only counted. Older sanitizers need `setarch -R` before the command.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tools.commands import ROOT, ToolError, pip, told

# What builds the scanner, and what a pure relbase imports.
_NEEDED: Final = ("setuptools>=77", "hatchling>=1.26", "webencodings>=0.6")

_BUILD: Final = """\
import pathlib, shutil, sys
import hatch_build
assert hatch_build.FREE_THREADED, "not a free-threaded Python"
top = pathlib.Path.cwd()
(top / "build").mkdir()
built = hatch_build.build(top, top / "build")
shutil.copy(built, top / hatch_build.PACKAGE)
print(built.name, hatch_build.interpreter_tag())
"""

_RUN: Final = """\
import pathlib, sys, sysconfig, threading
import relbase
THREADS = 6
documents = [path.read_bytes() for path in sorted(pathlib.Path("fixtures").rglob("*.*"))]
documents = documents[:: int(sys.argv[1])]
def results(rewriter, documents):
    for data in documents:
        made = rewriter.rewrite(data, url="http://a.example/b/c/d?q")
        yield made.data, ascii((made.base, list(made.links), list(made.notes)))
rewriter = relbase.Rewriter(profile="rfc3986")
expected = list(results(rewriter, documents))
wrong = []
def work(number):
    ready.wait()
    # Each begins elsewhere, so that they meet in different documents.
    turned = documents[number:] + documents[:number]
    if list(results(rewriter, turned)) != expected[number:] + expected[:number]:
        wrong.append(number)
ready = threading.Barrier(THREADS)
threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
for thread in threads: thread.start()
for thread in threads: thread.join()
gil, version = sys._is_gil_enabled(), sys.version.split(" (")[0]
print(f"{version}, {relbase.scanner} scanner, GIL: {gil}, {len(documents)} documents")
sys.exit(f"{wrong} differ" if wrong else "the GIL is on" if gil else 0)
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Build the scanner for a Python, and run the threads."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.threads", description="Rewrite in threads without a GIL."
    )
    parser.add_argument("python", metavar="PYTHON", help="a free-threaded Python")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th fixture")
    given = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as directory:
            tree, site = Path(directory, "tree"), Path(directory, "site")
            _prepare(given.python, tree, site)
            for scanner in ("compiled", "exact"):
                _run(given.python, tree, site, scanner, given.every)
    except ToolError as problem:
        sys.exit(f"{problem}")


def _prepare(python: str, tree: Path, site: Path) -> None:
    """Copy relbase, and build its scanner."""
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    for part in ("relbase", "fixtures"):
        shutil.copytree(ROOT / part, tree / part, ignore=ignored)
    shutil.copy(ROOT / "hatch_build.py", tree)
    version = told([python, "-c", "import sys; print(*sys.version_info[:2], sep='.')"]).strip()
    command = [*pip(), "install", "-q", "--target", str(site), "--only-binary=:all:"]
    command += ["--platform=any", f"--python-version={version}"]
    told([*command, "--implementation=py", "--abi=none", *_NEEDED])
    print(told([python, "-c", _BUILD], tree, PYTHONPATH=str(site)).strip(), flush=True)  # noqa: T201


def _run(python: str, tree: Path, site: Path, scanner: str, every: int) -> None:
    done = subprocess.run(
        [python, "-c", _RUN, str(every)],
        cwd=tree,
        env={
            **os.environ,
            "PYTHONPATH": str(site),
            "RELBASE_SCANNER": scanner,
            "TSAN_OPTIONS": f"{os.environ.get('TSAN_OPTIONS', '')} exitcode=0",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    races = done.stderr.split("WARNING: ThreadSanitizer")[1:]
    if ours := [race for race in races if re.search(r"_scanner|_walk\.c", race)]:
        raise ToolError(f"{len(ours)} data races in the scanner:\n{ours[0]}")
    if done.returncode:
        raise ToolError(f"{done.stdout}{done.stderr[-3000:]}")
    print(f"{done.stdout.strip()}; data races of CPython: {len(races)}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
