"""The compiled scanner under libFuzzer and sanitizers (scanner.c), and its part in Python.

`python -m tests.fuzz scanner --seconds N` needs clang. A finding is kept as `scanner-crash-...`.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import zlib
from itertools import count
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
SOURCES: Final = ROOT / "relbase" / "references"
_FLAGS: Final = ("-std=c11", "-O1", "-g", "-fsanitize=fuzzer,address,undefined")
_KINDS: Final = ("html", "css", "xml")

if "_scanner" in sys.builtin_module_names:  # in the fuzzer: before relbase loads its own
    sys.modules["relbase.references._scanner"] = importlib.import_module("_scanner")

from fuzz_targets import Target, options, urls  # noqa: E402 (what it loads needs the line above)
from scanners import SCANNERS, result_of_each  # noqa: E402

import relbase  # noqa: E402
from relbase.references import scanner  # noqa: E402

_RUNS: Final = count(1)
_EVERY: Final = 100


def run(head: bytes, data: bytes) -> None:
    """Rewrite and list a document; of each hundredth assert that all scanners make the same."""
    assert relbase.scanner == scanner.COMPILED
    call = options(head[1:3]) | {"kind": _KINDS[head[0] % 3]}
    if next(_RUNS) % _EVERY:
        _ = relbase.rewrite(data, **call).links
    else:
        first, *others = result_of_each(data, **call).values()
        assert all(other == first for other in others), (SCANNERS, first, others)


def fuzz(seconds: int, kept: Path | None) -> int:
    with tempfile.TemporaryDirectory(prefix="relbase-fuzz-") as directory:
        program, seeds = Path(directory, "fuzzer"), Path(directory, "seeds")
        seeds.mkdir()
        for number, kind in enumerate(_KINDS):
            for index, seed in enumerate(Target(urls, f"{kind}/*", 0).corpus()):
                head = bytes((number, index * 37 % 256, index * 5 % 16, 0))
                (seeds / f"{kind}-{index:04}").write_bytes(head + seed[:4096])
        _build(program)
        corpora = [str(kept or Path(directory)), str(seeds)]
        if kept is not None:
            kept.mkdir(parents=True, exist_ok=True)
        command = [str(program), f"-max_total_time={seconds}", "-max_len=4096", "-timeout=20"]
        environment = {
            **os.environ,
            "PYTHONHOME": sys.base_prefix,
            "PYTHONPATH": os.pathsep.join(map(str, (HERE, ROOT / "tests" / "support", *sys.path))),
            "PYTHONMALLOC": "malloc",
            "ASAN_OPTIONS": "detect_leaks=0",
        }
        command += ["-print_final_stats=1", "-artifact_prefix=scanner-", *corpora]
        return subprocess.run(command, env=environment, check=False).returncode


def _build(program: Path) -> None:
    library = sysconfig.get_config_var("LIBDIR")
    crc = zlib.crc32((SOURCES / "_scanner.c").read_bytes() + (SOURCES / "_walk.c").read_bytes())
    command = ["clang", *_FLAGS, f"-DRELBASE_SOURCE={crc}u", f"-I{SOURCES}"]
    command += [
        f"-I{sysconfig.get_paths()['include']}",
        str(HERE / "scanner.c"),
        "-o",
        str(program),
    ]
    command += [f"-L{library}", f"-Wl,-rpath,{library}"]
    command += [f"-lpython{sysconfig.get_python_version()}"]
    subprocess.run(command, check=True)
