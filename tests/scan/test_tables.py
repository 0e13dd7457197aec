"""What the compiled scanner and Python share stands once."""

import itertools
import re
import shutil
import subprocess
from html.entities import html5
from pathlib import Path

import pytest

import relbase
from relbase.expressions import regex
from relbase.scan import binding, tables
from relbase.url.plain import HOST

NEEDS_COMPILED = pytest.mark.skipif(
    relbase.scanner != binding.COMPILED, reason="the compiled scanner was not built"
)


@NEEDS_COMPILED
def test_the_compiled_scanner_has_these_tables() -> None:
    assert tables.facts() == binding.compiled.FACTS


@pytest.mark.parametrize("changed", ["NUMBERS", "CLASSES", "PREFIXES"])
def test_any_change_shows_in_the_facts(changed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tables.facts()
    table = getattr(tables, changed)
    name, value = next(iter(table.items()))
    monkeypatch.setitem(table, name, 99 if changed == "NUMBERS" else value[1:])
    assert tables.facts() != before


def test_the_facts_are_one_line_that_c_can_hold() -> None:
    assert tables.facts().isascii()
    assert tables.facts().isprintable()
    assert len(tables.facts()) < 4095  # the least that a compiler of C11 takes (§5.2.4.1)


def test_no_number_stands_in_the_source_too() -> None:
    """A name that the header defines is defined nowhere else."""
    folder = Path(binding.__file__).parent
    source = "".join((folder / name).read_text(encoding="utf-8") for name in _C_FILES)
    defined = set(re.findall(r"[A-Z_]{2,}", "".join(_ENUMS(source))))
    assert "CONTINUES" in defined
    shared = {*tables.NUMBERS, *tables.CLASSES}
    assert not defined & shared
    assert shared <= {*re.findall(r"\b[A-Z][A-Z_]*\b", source)}


_C_FILES = ("_scanner.c", "_walk.c")
_ENUMS = re.compile(r"enum \w* ?\{[^}]*\}").findall


def test_the_header_is_c(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    (tmp_path / "_tables.h").write_text(tables.header(), encoding="ascii")
    lines = ["#include <stdio.h>", '#include "_tables.h"', "int main(void) { puts(FACTS);"]
    for name in tables.CLASSES:
        lines += [f'for (int c = 0; c < 256; c++) printf("%d", !!(classes[c] & {name}));']
        lines += ['puts("");']
    lines += ['printf("%d %d\\n", HERE, FRAGMENT_LOOK); }']
    (tmp_path / "x.c").write_text("\n".join(lines), encoding="ascii")
    program = str(tmp_path / "x")
    subprocess.run(["gcc", "-Wall", "-Werror", str(tmp_path / "x.c"), "-o", program], check=True)
    ran = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    bits = [
        "".join(str(int(bool(re.match(text, chr(byte))))) for byte in range(256))
        for text in tables.CLASSES.values()
    ]
    assert ran == [tables.facts(), *bits, f"{tables.PlainForm.HERE.value} {tables.FRAGMENT_LOOK}"]


@NEEDS_COMPILED
def test_both_walks_take_the_same_hosts_as_plain() -> None:
    """The walk of C reads by hand what `HOST` says: each host of up to five such characters."""
    fullmatch = regex(HOST).fullmatch
    hosts = ["".join(host) for n in range(1, 6) for host in itertools.product("a1-.", repeat=n)]
    hosts += ["H.example", "h_.example", "xn--a.example", "a.xn--b", "h.example.", "ä.example"]
    scan = binding.scanning(flags=binding.USUAL | tables.NORMALIZES)
    edit = binding.Prefix(0, b"http:", 0, tables.UNQUOTED)
    for host in hosts:
        text = f"<a href=//{host}/>".encode()
        _, at, _ = scan({tables.PlainForm.NETWORK: edit}, text, 0, len(text))
        assert (at == -1) == bool(fullmatch(host)), host


def test_names_that_need_no_semicolon() -> None:
    assert sorted(tables.NAMES) == sorted(name for name in html5 if not name.endswith(";"))
