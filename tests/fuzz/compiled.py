"""The compiled scanner under libFuzzer and sanitizers (scanner.c), and its part in Python.

`python -m tests.fuzz scanner --seconds N`, or `--executions N`, needs clang. Runs of another --seed
try other inputs. A finding is kept as `scanner-crash-...`.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
SOURCES: Final = ROOT / "relbase" / "scan"
# `char` has no sign here, as on ARM, Power and s390x; the tests run with one. `undefined` counts
# what reads a number at a place where other processors cannot.
_FLAGS: Final = (
    *("-std=c11", "-O1", "-g", "-funsigned-char"),
    *("-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined"),
)
_KINDS: Final = ("html", "css", "xml")

if "_scanner" in sys.builtin_module_names:  # in the fuzzer: before relbase loads its own
    sys.modules["relbase.scan._scanner"] = importlib.import_module("_scanner")

from fuzz_targets import Target, options, urls  # noqa: E402 (what it loads needs the line above)
from scanners import SCANNERS, result_of_each  # noqa: E402

import relbase  # noqa: E402
from relbase.savers.rows import words  # noqa: E402
from relbase.scan import binding, tables  # noqa: E402

_RUNS: Final = count(1)
# So many inputs are given to the walks alone, for each that is rewritten, and for each of which all
# scanners make the same: a walk takes microseconds.
_REWRITTEN, _COMPARED = 100, 1000
# The arguments of a walk before the text, and how often it goes on from a place to be looked at.
_BEFORE, _MOST_PLACES = 5, 8
_HEAD: Final = 4  # bytes that choose a walk and how it is called; as in scanner.c
_WALKS: Final = (binding.HTML_WALK, binding.CSS_WALK, binding.XML_WALK, binding.LINKS_WALK)


class _Recorder:
    """The compiled scanner; it keeps one call of each kind, the one that knows most."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled
        self.calls: dict[tuple[object, ...], tuple[Any, ...]] = {}

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._compiled, name)
        if name not in _WALKS:
            return method

        def recorded(*arguments: Any) -> Any:
            tables, mode, flags, _, edits = arguments[:_BEFORE]
            rest = tuple(dict(one) if type(one) is dict else one for one in arguments[8:])
            if name == binding.XML_WALK:
                rest = (*rest[:-1], lambda _value, at, _around: edits if at & 1 else None)
            key = (name, id(tables), mode, flags, bool(edits))
            if len(repr(rest)) >= len(repr(self.calls.get(key, ((), ()))[-1])):
                self.calls[key] = method, arguments[:_BEFORE], rest
            return method(*arguments)

        return recorded


def _calls() -> list[tuple[Any, ...]]:
    """The calls of walks that relbase makes for the fixtures, each to be made for other texts."""
    recorder = binding.compiled = _Recorder(binding.compiled)
    binding.scanning.cache_clear()
    for kind in _KINDS:
        for number, seed in enumerate(Target(urls, f"{kind}/*", 0).corpus()):
            for call in (options(bytes((number * 37 % 256, 0))), options(b"\0\0")):
                result = relbase.rewrite(seed, **call, kind=kind)
                _ = result.links
    binding.compiled = recorder._compiled  # noqa: SLF001
    binding.scanning.cache_clear()
    return [recorder.calls[key] for key in sorted(recorder.calls, key=str)]


_CALLS: Final = _calls()


def run(head: bytes, data: bytes) -> None:
    """Walk a document; rewrite and list some, of which all scanners must make the same."""
    number = next(_RUNS)
    _walk(head, data)
    if number % _REWRITTEN:
        return
    call = options(head[1:3]) | {"kind": _KINDS[head[0] % 3]}
    if number % _COMPARED:
        _ = relbase.rewrite(data, **call).links
    else:
        first, *others = result_of_each(data, **call).values()
        assert all(other == first for other in others), (SCANNERS, first, others)


def _walk(head: bytes, data: bytes) -> None:
    method, before, after = _CALLS[head[0] % len(_CALLS)]
    size, place = len(data), head[3] % (len(data) + 1) if head[1] & 1 else 0
    edits: list[Any] = []
    for _ in range(_MOST_PLACES):
        if method.__name__ == binding.LINKS_WALK:
            after = (*after[:2], (*after[2][:2], {}, *after[2][3:]), *after[3:5], 1, 0, 0)
        found, place, *_ = method(*before, data, place, size, *after)
        if before[1] == tables.EDITS and isinstance(found, list):
            edits += found
        if not -1 < place < size:
            break
        place += 1
    assert all(0 <= edit[0] <= edit[1] <= size for edit in edits)
    binding.spliced(data, [edit for edit in edits if edit[2] is not None])  # but for flaws
    binding.head(data)
    binding.marked(words(), data)
    binding.compiled.depth(data)


class AtRandom:
    """The target without libFuzzer and sanitizers: what this file knows of the scanner is true."""

    @staticmethod
    def corpus() -> Iterator[bytes]:
        for number, kind in enumerate(_KINDS):
            for index, seed in enumerate(Target(urls, f"{kind}/*", 0).corpus()):
                yield bytes((number, index * 37 % 256, index * 5 % 16, 0)) + seed[:4096]

    @staticmethod
    def run(data: bytes) -> None:
        if len(data) > _HEAD:
            run(data[:_HEAD], data[_HEAD:])


def fuzz(flags: Sequence[str], kept: Path | None) -> int:
    with tempfile.TemporaryDirectory(prefix="relbase-fuzz-") as directory:
        program, seeds = Path(directory, "fuzzer"), Path(directory, "seeds")
        seeds.mkdir()
        for number, seed in enumerate(AtRandom.corpus()):
            (seeds / f"{number:05}").write_bytes(seed)
        _build(program)
        corpora = [str(kept or Path(directory)), str(seeds)]
        if kept is not None:
            kept.mkdir(parents=True, exist_ok=True)
        command = [str(program), *flags, "-max_len=4096", "-timeout=20"]
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
    program.with_name("_tables.h").write_text(tables.header(), encoding="ascii")
    includes = [f"-I{path}" for path in (SOURCES, program.parent, sysconfig.get_path("include"))]
    libraries = [f"-L{library}", f"-Wl,-rpath,{library}"]
    libraries += [f"-lpython{sysconfig.get_python_version()}"]
    command = ["clang", *_FLAGS, f"-DRELBASE_SOURCE={crc}u", *includes, str(HERE / "scanner.c")]
    subprocess.run([*command, "-o", str(program), *libraries], check=True)
