"""Which scanner reads, and that the compiled one is of the source that stands beside it."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import pytest
from scanners import SCANNERS, scanning

import relbase
from relbase import Profile
from relbase.css.candidates import NAMES
from relbase.edit import Edit, splice
from relbase.html.foreign import BREAKOUT
from relbase.scan import binding, tables
from relbase.scan.binding import MATH_NAMES, SVG_NAMES

SOURCES = [Path(binding.__file__).with_name(name) for name in ("_scanner.c", "_walk.c")]
NEEDS_COMPILED = pytest.mark.skipif(
    relbase.scanner != binding.COMPILED, reason="the compiled scanner was not built"
)


def test_the_source_is_the_one_that_the_module_knows() -> None:
    """After a change of the C: write this number into `binding._SOURCE`, and build again."""
    assert zlib.crc32(b"".join(map(Path.read_bytes, SOURCES))) == binding._SOURCE  # noqa: SLF001


def test_no_name_of_the_vocabulary_stands_in_the_source() -> None:
    written = "".join(source.read_text(encoding="utf-8") for source in SOURCES)
    for name in (*map(bytes.decode, NAMES), "import", "href", "iframe", "refresh", "textarea"):
        assert f'"{name}' not in written


def test_no_format_takes_a_length() -> None:
    """`y#` means another function in 3.11 and 3.12 than in what 3.13 compiles for them."""
    assert not re.findall(r'"[\w:()]*[syz]#', SOURCES[0].read_text(encoding="utf-8"))


def told(wanted: str) -> subprocess.CompletedProcess[str]:
    """What a process says of its scanner that wants one by the environment."""
    code = "import relbase; print(relbase.scanner)"
    environment = {**os.environ, "RELBASE_SCANNER": wanted}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("wanted", dict.fromkeys((binding.EXACT, relbase.scanner)))
def test_the_environment_chooses(wanted: str) -> None:
    assert told(wanted).stdout.split() == [wanted]


def test_a_scanner_that_there_is_not() -> None:
    done = told("python")
    assert done.returncode != 0
    assert "RELBASE_SCANNER is 'python': set it to exact or compiled, or unset it" in done.stderr


def test_the_compiled_scanner_was_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELBASE_SCANNER", "compiled")
    for why, reported in (("", "this relbase has no compiled scanner"), ("the x", "the x")):
        monkeypatch.setattr(binding, "_built", lambda why=why: (None, why))
        with pytest.raises(ValueError, match=f"{reported}: install it where there is a C"):
            binding._load()  # noqa: SLF001


def test_the_seal_is_unsigned(tmp_path: Path) -> None:
    """Half of all CRCs have the top bit set, and a `long` of Windows has no room for these."""
    source = SOURCES[0].read_text(encoding="utf-8")
    assert "PyModule_AddIntConstant" not in source
    include = sysconfig.get_paths()["include"]
    if shutil.which("gcc") is None or not Path(include, "Python.h").exists():
        pytest.skip("needs gcc and the headers of Python")
    built = tmp_path / "_scanner.abi3.so"
    built.with_name("_tables.h").write_text(tables.header(), encoding="ascii")
    includes = f"-I{include}", f"-I{tmp_path}"
    flags = ("-O0", "-shared", "-fPIC", "-DRELBASE_SOURCE=4294967295u", *includes)
    subprocess.run(["gcc", *flags, str(SOURCES[0]), "-o", str(built)], check=True)
    spec = importlib.util.spec_from_file_location("_scanner", built)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.SOURCE == 0xFFFFFFFF
    assert tables.facts() == module.FACTS


class _Stale:
    SOURCE = 1
    FACTS = tables.facts()


class _OtherTables:
    SOURCE = binding._SOURCE  # noqa: SLF001
    FACTS = "ROOT=6"


def _does_not_load(_name: str) -> None:
    raise ImportError("libx.so.1: cannot open shared object file")


def _is_missing(name: str) -> None:
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize(
    ("load", "why"),
    [
        (lambda _: _Stale, "the compiled one was built from other source code"),
        (lambda _: _OtherTables, "the compiled one was built from other source code"),
        (_does_not_load, "the compiled one does not load: libx.so.1: cannot open shared object"),
        (_is_missing, ""),
    ],
)
def test_why_a_compiled_scanner_is_not_used(
    monkeypatch: pytest.MonkeyPatch, load: Callable[[str], object], why: str
) -> None:
    monkeypatch.delenv("RELBASE_SCANNER", raising=False)
    monkeypatch.setattr(binding, "import_module", load)
    found, reported = binding._load()  # noqa: SLF001
    assert found is None
    assert reported.startswith(why)
    assert bool(reported) == bool(why)


def test_names_of_foreign_content_change_no_markup() -> None:
    names = {name.lower() for name in (*SVG_NAMES, *MATH_NAMES)}
    assert not names & BREAKOUT
    assert not names & {b"script", b"style", b"title", b"desc", b"foreignobject", b"font", b"a"}


_WORDS: Final = ((b"", 0, 0), *[()] * 7, (b"", 0, 0))
_NUMBERS: Final = (0, 0, 0, 0)


@NEEDS_COMPILED
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ((), (), (), (), *_WORDS, b"", 1, *_NUMBERS),
        ((), (), (), ((b"a", 0, 0),), *_WORDS, b"\x0f", 1, *_NUMBERS),
        ((), (), (), ((b"a" * 64, 0, 0),), *_WORDS, b"\0", 1, *_NUMBERS),
        ((), (), (), ((b"\xe9", 0, 0),), *_WORDS, b"\0", 1, *_NUMBERS),
        (((b"a", 99, 0),), (), (), ((b"a", 0, 0),), *_WORDS, b"\0", 1, *_NUMBERS),
        (((b"a", 0, 9),), (), (), ((b"a", 0, 0),), *_WORDS, b"\0", 1, *_NUMBERS),
    ],
)
def test_tables_that_are_not_understood(arguments: tuple[object, ...]) -> None:
    with pytest.raises(ValueError if arguments else TypeError):
        binding.compiled.prepare(*arguments)


EDITS = [
    [],
    [Edit(0, 0, b"x")],
    [Edit(3, 3, b"")],
    [Edit(0, 1, b"xy"), Edit(1, 1, b"z"), Edit(1, 3, b"")],
    [Edit(2, 3, b"x" * 5000), Edit(3, 3, b"y")],
]


@pytest.mark.parametrize("edits", EDITS)
def test_edits_applied(edits: list[Edit]) -> None:
    assert binding.spliced(b"abc", edits) == splice(b"abc", edits)


BAD_EDITS = [
    [Edit(2, 1, b"")],
    [Edit(1, 4, b"")],
    [Edit(-1, 0, b"")],
    [Edit(1, 2, b""), Edit(1, 1, b"")],
    [Edit(1 << 70, 1 << 70, b"")],
]


@pytest.mark.parametrize("edits", BAD_EDITS)
def test_edits_that_do_not_fit(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="edit"):
        binding.spliced(b"abc", edits)


@NEEDS_COMPILED
@pytest.mark.parametrize("edits", [(), [()], [(1, 2)], [(0, 0, "x")], [(0, "0", b"")], [None]])
def test_what_are_no_edits(edits: object) -> None:
    assert binding.compiled.splice(b"abc", edits) is None


@NEEDS_COMPILED
def test_places_outside_of_the_text() -> None:
    tables = binding._tables(extended=False)  # noqa: SLF001
    scan = binding.compiled.scan
    for pos, end in ((-1, 1), (0, 5), (3, 2)):
        with pytest.raises(ValueError, match="outside"):
            scan(tables, 0, 0, relbase.Edit, {}, b"<p>", pos, end, False, False)
    with pytest.raises(ValueError, match="mode"):
        scan(tables, 7, 0, relbase.Edit, {}, b"<p>", 0, 3, False, False)


def test_law_9a_what_a_process_did_before_decides_no_result() -> None:
    """In a fresh process, and in one that has read much else: the same, byte for byte."""
    code = (
        "import relbase, sys\n"
        'd = b\'<a href="x\\x7f"><p style="a:url(../y)"><img srcset="a 1x, ./b"><base href=c/>\'\n'
        "for n in range(int(sys.argv[1])):\n"
        "    relbase.rewrite(b'<a href=\"%d\">' % n * 99, url='http://a%d/' % n, kind='html')\n"
        "for profile in relbase.Profile:\n"
        "    r = relbase.rewrite(d, url='http://h/d/', kind='html', profile=profile)\n"
        "    print(r.data, r.edits, r.notes, r.base, r.links)\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code, before],
            env={**os.environ, "RELBASE_SCANNER": which},
            capture_output=True,
            check=True,
        ).stdout
        for before in ("0", "400")
        for which in ("exact", "")
    }
    assert len(outputs) == 1
    assert len(Profile) == outputs.pop().count(b"Edit(start=9")


@NEEDS_COMPILED
@pytest.mark.parametrize(
    "piece", [b"url(x)", b"<!--[if IE]>", b"<noscript><p>", b"<svg><g>", b"<a href=x ", b"<style>"]
)
def test_more_than_the_scanner_takes_is_left_to_the_tokenizer(piece: bytes) -> None:
    document = b"<style>a{b:" + piece * 70_000
    results = set()
    for name in SCANNERS:
        with scanning(name):
            results.add(relbase.rewrite(document, url="http://h/d/", kind="html").edits)
    assert len(results) == 1


@NEEDS_COMPILED
def test_no_edits_are_kept_when_memory_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """At each allocation in turn, also where a scope has begun and the list cannot grow."""
    testcapi = pytest.importorskip("_testcapi")
    text = b"<a xmlns:x='http://www.w3.org/1999/xlink'>" + b"<b x:href='y'/>" * 9
    text += b"<b xml:base='c/' x:href='y'><b xml:base='d/' x:href='y'/></b></a>"
    calls: list[tuple[object, ...]] = []
    compiled: Any = binding.compiled

    class Recorder:
        def __getattr__(self, name: str) -> object:
            return getattr(compiled, name)

        def xml(self, *arguments: object) -> object:
            calls.append(arguments)
            return compiled.xml(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(binding, "compiled", Recorder())
        binding.scanning.cache_clear()
        assert relbase.rewrite(text, url="http://h/", kind="xml").changed
    binding.scanning.cache_clear()
    *arguments, enter = max(calls, key=lambda call: len(cast("bytes", call[5])))
    edits = cast("Any", enter)(b"e/", len(text) // 2, 0)
    assert edits is not None
    before = sys.getrefcount(edits)
    for number in range(300):
        with suppress(MemoryError):
            testcapi.set_nomemory(number, number + 1)
            try:
                compiled.xml(*arguments, lambda *_: edits)
            finally:
                testcapi.remove_mem_hooks()
        assert sys.getrefcount(edits) == before, number
