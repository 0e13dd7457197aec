"""`python -m tests.fuzz TARGET|all [--seconds N] [--corpus DIR]`: fuzz one format, or all in turn.

The target `scanner` is the compiled scanner under sanitizers (needs clang). With atheris (the extra
`fuzz`) coverage guides the others. Without it, or with --runs, the seeds and what an earlier run
left in --corpus are mutated at random, which is several times as fast, and without sanitizers.
A finding is printed, kept in a file, and ends the run with status 1. It becomes a fixture.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "fuzz")]
_LONGEST: Final = 1024
_LENGTHS: Final = (64, 128, 256, _LONGEST)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", help="a name of tests/fuzz/fuzz_targets.py, scanner, or all")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--runs", type=int, help="so many at random, the same ones every time")
    parser.add_argument("--executions", type=int, help="of `scanner`, instead of --seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="where atheris keeps what reaches new code")
    parser.add_argument("--random", action="store_true", help="without atheris")
    arguments = parser.parse_args()
    if arguments.target == "all":
        return _all()
    if arguments.target == "scanner" and not arguments.runs:
        from compiled import fuzz

        end = f"-max_total_time={arguments.seconds}"
        if arguments.executions:
            end = f"-runs={arguments.executions}"
        return fuzz((end, f"-seed={arguments.seed}"), arguments.corpus)
    if arguments.random or arguments.runs or importlib.util.find_spec("atheris") is None:
        return _at_random(arguments)
    _guided(arguments.target, arguments.seconds, arguments.corpus)
    return 0


def _all() -> int:
    """Each target in a process of its own."""
    from fuzz_targets import TARGETS

    import relbase  # not before `_guided`

    failed = 0
    has_scanner = "--runs" in sys.argv and relbase.scanner == "compiled"
    for name in (*TARGETS, *["scanner"] * has_scanner):
        rest = (name if one == "all" else one for one in sys.argv[1:])
        command = [sys.executable, "-m", "tests.fuzz", *rest]
        failed |= subprocess.run(command, cwd=ROOT, check=False).returncode
    return int(failed != 0)


def _guided(name: str, seconds: int, kept: Path | None) -> None:
    """Fuzz by coverage: relbase is instrumented as it is imported."""
    import tempfile

    import atheris

    with atheris.instrument_imports(include=["relbase"]):
        from fuzz_targets import TARGETS
    target = TARGETS[name]
    with tempfile.TemporaryDirectory(prefix="relbase-fuzz-") as directory:
        seeds = Path(directory, "seeds")
        seeds.mkdir()
        for number, seed in enumerate(target.corpus()):
            (seeds / f"{number:04}").write_bytes(seed[:_LONGEST])
        if kept is not None:
            kept.mkdir(parents=True, exist_ok=True)
        corpora = [str(kept or Path(directory)), str(seeds)]
        flags = [f"-max_total_time={seconds}", f"-max_len={_LONGEST}", "-timeout=20"]
        atheris.Setup([f"fuzz-{name}", *flags, f"-artifact_prefix={name}-", *corpora], target.run)
        atheris.Fuzz()


def _at_random(arguments: argparse.Namespace) -> int:
    """Fuzz by mutations of a corpus, the same ones for the same seed."""
    from fuzz_targets import TARGETS  # after the path is set

    name, most = arguments.target, arguments.runs
    choose = random.Random(arguments.seed)
    target: Any = TARGETS[name] if name in TARGETS else importlib.import_module("compiled").AtRandom
    kept = sorted(arguments.corpus.iterdir()) if arguments.corpus else ()
    corpus = [*target.corpus(), *(path.read_bytes() for path in kept)]
    assert corpus, name
    until, runs = time.monotonic() + (arguments.seconds if most is None else 3600), 0
    while time.monotonic() < until and runs != most:
        data = corpus[runs] if runs < len(corpus) else _mutated(choose, corpus)
        runs += 1
        try:
            target.run(data)
        except Exception:
            found = Path(f"{name}-crash-{runs}")
            found.write_bytes(data)
            sys.stdout.write(f"{name}: run {runs} fails, kept as {found}: {data[:200]!r}\n")
            raise
    sys.stdout.write(f"{name}: {runs} runs, no finding\n")
    return 0


def _mutated(choose: random.Random, corpus: Sequence[bytes]) -> bytes:
    """A seed with some pieces taken out, repeated, exchanged or from another seed."""
    data = bytearray(_shortened(choose, choose.choice(corpus)))
    for _ in range(choose.randrange(1, 6)):
        at, length = choose.randrange(len(data) + 1), choose.choice((0, 1, 1, 2, 4, 16, 64))
        other = choose.choice(corpus)
        start = choose.randrange(len(other) + 1)
        new = choose.choice((b"", other[start : start + choose.randrange(40)], data[at : at + 9]))
        if choose.random() < 0.3:
            new = bytes(choose.randrange(256) for _ in range(choose.randrange(1, 4)))
        data[at : at + length] = new
    return bytes(data)


def _shortened(choose: random.Random, data: bytes) -> bytes:
    """Cut a piece out of the middle of what is long: most inputs take less than a millisecond."""
    most = choose.choice(_LENGTHS)
    if len(data) <= most:
        return data
    start = choose.randrange(most + 1)
    return data[:start] + data[len(data) - most + start :]


if __name__ == "__main__":
    sys.exit(main())
