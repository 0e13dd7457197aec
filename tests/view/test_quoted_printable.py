"""Tests of relbase.view.quoted_printable; Python's quopri decodes where it agrees with the RFC."""

from __future__ import annotations

import quopri
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from rows import cases, edits
from view_laws import check_law

from relbase.edit import Edit, Span, splice
from relbase.view.quoted_printable import QuotedPrintableView

TABLES = Path(__file__).with_name("quoted_printable.txt")
LINES = re.compile(rb"([^\n]*?)([ \t]*)(\r?\n|\Z)")
HEX = re.compile(rb"=([0-9A-Fa-f]{2})")


def decode(raw: bytes) -> bytes:
    """Decode line by line, as RFC 2045 §6.7 reads."""
    inner = b""
    for line in LINES.finditer(raw):
        text, eol = line[1], line[3]
        if eol and text.endswith(b"="):
            text, eol = text[:-1], b""
        inner += HEX.sub(lambda found: bytes([int(found[1], 16)]), text) + eol
    return inner


@cases(TABLES, "inner", raw=bytes, inner=bytes)
def test_inner(raw: bytes, inner: bytes) -> None:
    assert QuotedPrintableView(raw).inner == inner
    assert decode(raw) == inner


def test_nothing_encoded_is_the_same_object() -> None:
    raw = b"plain\r\n"
    assert QuotedPrintableView(raw).inner is raw


WIDE = b"x" * 75
FULL = WIDE + b"y"


@cases(TABLES, "lowered", raw=bytes, changes=edits, expected=bytes)
def test_lower(raw: bytes, changes: list[Edit], expected: bytes) -> None:
    view = QuotedPrintableView(raw, [b"bnd", b"q="])
    edited = splice(raw, view.lower(changes))
    assert edited == expected
    assert decode(edited) == splice(view.inner, changes)


def test_the_line_end_of_a_body_without_any() -> None:
    view = QuotedPrintableView(FULL, eol=b"\n")
    assert splice(FULL, view.lower([Edit(0, 0, b"z")])) == b"z" + WIDE[1:] + b"=\nxy"


def test_edits_are_small() -> None:
    raw = b"a\nb=3D" + b"c" * 60 + b"d=\ne\n"
    lowered = QuotedPrintableView(raw).lower([Edit(3, 3, b"X"), Edit(5, 5, b"Y" * 8)])
    assert lowered == [Edit(3, 7, b"X=3Dc" + b"Y" * 8)]
    lowered = QuotedPrintableView(raw).lower([Edit(4, 4, b"Y" * 16)])
    assert lowered == [Edit(6, 61, b"Y" * 16 + b"c" * 55 + b"=\n")]
    lowered = QuotedPrintableView(FULL * 2).lower([Edit(152, 152, b"z")])
    assert lowered == [Edit(75, 152, b"=\r\ny" + WIDE[1:] + b"=\r\nxyz")]


BOUNDARIES = [b"b", b"a=", b"=_x"]
PARTS = [
    *(b"=", b"=4", b"=41", b"=3D" * 20, b"=\n", b"=\r\n", b"= \n", b"= \r\n", b" \r\n", b"\n"),
    *(b"\r\n", b"\r", b" ", b"\t", b" " * 80, b"a", b"1", b"\xe9", b"From ", b"from", b">", b"."),
    *(b"--", b"--b", b"--a", b"=_x", b"x" * 30, b"y" * 74),
]
RAW = st.lists(st.sampled_from(PARTS), max_size=10).map(b"".join)
NEWS = st.lists(st.sampled_from([*PARTS, b"http://h.example/"]), max_size=3).map(b"".join)
READ_OTHERWISE = re.compile(rb"\.|>*From |--(?:b|a=|=_x)")


@st.composite
def edits_of(draw: st.DrawFn, inner: bytes) -> list[Edit]:
    bounds = sorted(draw(st.lists(st.integers(0, len(inner)), min_size=1, max_size=4)))
    edits = [Edit(at, at, draw(NEWS)) for at in bounds]
    following = [*bounds[1:], len(inner)]
    return [
        edit._replace(end=draw(st.sampled_from((edit.start, end, (edit.start + end) // 2))))
        for edit, end in zip(edits, following, strict=True)
    ]


@given(RAW.map(quopri.encodestring), st.lists(st.floats(0, 1), min_size=2, max_size=8))
def test_places(raw: bytes, points: list[float]) -> None:
    """Law 7: spans that do not touch are found exactly."""
    view = QuotedPrintableView(raw)
    offsets = sorted({round(point * len(view.inner)) for point in points})
    # A line end is located whole.
    offsets = [at for at in offsets if view.inner[at - 1 : at + 1] != b"\r\n"]
    spans = [Span(*pair) for pair in pairwise(offsets)][::2]
    for span, place in zip(spans, map(view.places(), spans), strict=True):
        decoded = quopri.decodestring(raw[place.start : place.end])
        assert decoded == view.inner[span.start : span.end]


def lines_of(raw: bytes) -> Counter[bytes]:
    return Counter(line.removesuffix(b"\r") for line in raw.split(b"\n"))


def test_law() -> None:
    seen: Counter[str] = Counter()

    @examples(800)
    @given(st.data(), RAW)
    def law(data: st.DataObject, raw: bytes) -> None:
        view = QuotedPrintableView(raw, BOUNDARIES)
        edits = data.draw(edits_of(view.inner))
        edited = check_law(raw, view, edits, decode)
        written = lines_of(edited) - lines_of(raw)
        for line in written:
            assert len(line) <= 76
            assert not READ_OTHERWISE.match(line)
        seen["all"] += 1
        seen["changed"] += edited != raw
        seen["broken"] += edited.count(b"=\n") > raw.count(b"=\n")
        seen["escaped"] += any(READ_OTHERWISE.match(decode(line)) for line in written)

    law()
    assert seen["changed"] > 0.7 * seen["all"]
    assert seen["broken"] > 0.05 * seen["all"]
    assert seen["escaped"] > 0.05 * seen["all"]


def test_lines_without_an_edit_stay() -> None:
    seen: Counter[str] = Counter()

    @examples(300)
    @given(st.lists(RAW.map(lambda raw: raw + b"\n"), min_size=2, max_size=5), st.data(), NEWS)
    def law(parts: list[bytes], data: st.DataObject, new: bytes) -> None:
        raw = b"".join(parts)
        lines = raw.splitlines(keepends=True) if b"\r" not in raw else re.findall(rb".*\n", raw)
        changed = data.draw(st.integers(0, len(lines) - 1))
        before, behind = b"".join(lines[:changed]), b"".join(lines[changed + 1 :])
        offset = len(decode(before))
        if len(decode(before + lines[changed])) == offset:
            return
        edited = splice(raw, QuotedPrintableView(raw).lower([Edit(offset, offset, new)]))
        assert edited.startswith(before)
        assert edited.endswith(behind)
        seen["changed"] += edited != raw

    law()
    assert seen["changed"] > 100
