"""Tests of relbase.view.quoted_printable; Python's quopri decodes where it agrees with the RFC."""

from __future__ import annotations

import quopri
import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from view_laws import check_law

from relbase.edit import Edit, Span, splice
from relbase.view.quoted_printable import QuotedPrintableView

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


@pytest.mark.parametrize(
    ("raw", "inner"),
    [
        # RFC 2045 §6.7 rule (1)
        (b"=0C=3D=c3=A9=eF", b"\x0c=\xc3\xa9\xef"),
        # rule (2), and what it leaves to robust decoders: bytes outside of it
        (b"!\"#$%&'()*+,-./~", b"!\"#$%&'()*+,-./~"),
        (b"a_b\xe9\0\x7f", b"a_b\xe9\0\x7f"),
        # rule (3)
        (b"a \t\r\nb \nc ", b"a\r\nb\nc"),
        (b" \t\n \r\n", b"\n\r\n"),
        (b"a=20\n=09\n", b"a \n\t\n"),
        (b" a\tb", b" a\tb"),
        # rule (4)
        (b"a\r\nb\nc\r\n\r\n", b"a\r\nb\nc\r\n\r\n"),
        (b"a\rb\r\r\n\r", b"a\rb\r\r\n\r"),
        # rule (5)
        (b"a=\r\nb=\nc =\r\nd", b"abc d"),
        (b"a= \t\r\nb= \nc", b"abc"),
        (b"=\n=\r\n=\n", b""),
        (b"a=\n \nb", b"a\nb"),
        # "=" followed by other characters: "the encoded data be left as is"
        (b"=", b"="),
        (b"= ", b"="),
        (b"=3", b"=3"),
        (b"=ZZ=4G=G4=", b"=ZZ=4G=G4="),
        (b"==41==", b"=A=="),
        (b"=\rx\n", b"=\rx\n"),
        (b"=\r\r\n=\r \n", b"=\r\r\n=\r\n"),
        (b"= x\n==\n", b"= x\n="),
        (b"== \nx", b"=x"),
        (b"=3\nD=4", b"=3\nD=4"),
    ],
)
def test_inner(raw: bytes, inner: bytes) -> None:
    assert QuotedPrintableView(raw).inner == inner
    assert decode(raw) == inner


def test_nothing_encoded_is_the_same_object() -> None:
    raw = b"plain\r\n"
    assert QuotedPrintableView(raw).inner is raw


NEW = "é=\x00\r\n \t.~".encode()
WIDE = b"x" * 75
FULL = WIDE + b"y"


@pytest.mark.parametrize(
    ("raw", "edits", "expected"),
    [
        # the smallest change, and other lines stay
        (b"a=3D\nb=3d\nc =\n", [Edit(4, 4, b"X")], b"a=3D\nbX=3d\nc =\n"),
        (b"a=3D\nb=3d\nc =\n", [Edit(1, 2, b""), Edit(4, 5, b"")], b"a\nb\nc =\n"),
        # spelled
        (b"", [Edit(0, 0, NEW)], b"=C3=A9=3D=00=0D=0A \t.~"),
        (b"a", [Edit(1, 1, b" ")], b"a=20"),
        (b"a \n", [Edit(1, 1, b"b\t")], b"ab=09 \n"),
        (b"a b\n", [Edit(2, 3, b"")], b"a=20\n"),
        (b"a b=\n", [Edit(2, 3, b"")], b"a =\n"),
        # 76 columns, with the line's own end
        (FULL + b"\n", [Edit(0, 1, b"z")], b"z" + FULL[1:] + b"\n"),
        (FULL + b"\n", [Edit(0, 0, b"z")], b"z" + WIDE[1:] + b"=\nxy\n"),
        (FULL + b"\r\n", [Edit(0, 0, b"z")], b"z" + WIDE[1:] + b"=\r\nxy\r\n"),
        (WIDE + b"=\n", [Edit(0, 0, b"z")], b"z" + WIDE[1:] + b"=\nx=\n"),
        (b"\n\r\n" + FULL, [Edit(79, 79, b"z")], b"\n\r\n" + WIDE + b"=\r\nyz"),
        (FULL, [Edit(0, 0, b"z")], b"z" + WIDE[1:] + b"=\r\nxy"),
        (b"a\n" + FULL, [Edit(2, 2, b"z")], b"a\nz" + WIDE[1:] + b"=\nxy"),
        # an over-long line is broken when it changes, and only then
        (FULL * 2, [Edit(152, 152, b"z")], WIDE + b"=\r\ny" + WIDE[1:] + b"=\r\nxyz"),
        (FULL * 2 + b"\na", [Edit(153, 153, b"z")], FULL * 2 + b"\nza"),
        # no escape is broken
        (b"x" * 74, [Edit(74, 74, b"==")], b"x" * 74 + b"=\r\n=3D=3D"),
        (b"x" * 73, [Edit(73, 73, b"==")], b"x" * 73 + b"=\r\n=3D=3D"),
        (b"x" * 72, [Edit(72, 72, b"==")], b"x" * 72 + b"=3D=\r\n=3D"),
        (b"x" * 72 + b"=41", [Edit(73, 73, b"zz")], b"x" * 72 + b"=41=\r\nzz"),
        # padding, which is no reason to break a line and does not grow it
        (b"a =\n" + b" " * 100 + b"\n", [Edit(2, 2, b"b")], b"a =\nb" + b" " * 75 + b"\n"),
        (b"a= \t\n", [Edit(0, 0, b"b")], b"ba= \t\n"),
        (b"a= \t\r\nb \r\nc", [Edit(5, 5, b"d")], b"a= \t\r\nb \r\ncd"),
        (b"x" * 70 + b"=          \n", [Edit(0, 0, b"b")], b"b" + b"x" * 70 + b"=    \n"),
        # what an edit could complete
        (b"a=4", [Edit(3, 3, b"1")], b"a=3D41"),
        (b"a=x41", [Edit(2, 3, b"")], b"a=3D41"),
        (b"a=x\nb", [Edit(2, 3, b"")], b"a=3D\nb"),
        (b"=\rx\n", [Edit(2, 3, b"")], b"=3D=0D\n"),
        (b"==", [Edit(2, 2, b"41")], b"==3D41"),
        (b"=", [Edit(0, 0, b"a")], b"a="),
        (b"= a\n", [Edit(2, 3, b"")], b"=3D=20\n"),
        (b"=\r \n", [Edit(0, 0, b"a")], b"a=3D=0D \n"),
        (WIDE[2:] + b"=\r \n", [Edit(0, 0, b"a")], b"a" + WIDE[2:] + b"=\n=3D=0D \n"),
        # line ends
        (b"a\r\nb\r\nc", [Edit(1, 3, b"")], b"ab\r\nc"),
        (b"a \r\nb\r\nc", [Edit(1, 2, b"")], b"a\nb\r\nc"),
        (b"a \r\nb", [Edit(2, 3, b"")], b"a=0Db"),
        (b"a \r\nb", [Edit(2, 2, b"x")], b"a=0Dx\nb"),
        (b"a=\r\nb", [Edit(0, 1, b"")], b"=\r\nb"),
        (b"a=\r\nb", [Edit(0, 2, b"")], b""),
        (b"a\n", [Edit(2, 2, b"b")], b"a\nb"),
        (b"a=\n", [Edit(1, 1, b"b")], b"a=\nb"),
        (b"a=\nb", [Edit(1, 1, b"c")], b"a=\ncb"),
        # nothing
        (b"a=\nb", [], b"a=\nb"),
        (FULL * 2, [Edit(1, 1, b"")], FULL * 2),
        # edits that touch
        (b"abc", [Edit(0, 1, b"1"), Edit(1, 2, b"2"), Edit(2, 2, b"3")], b"123c"),
        # nothing but what the transport reads is written differently: M6
        (b"a.b", [Edit(0, 1, b"")], b"=2Eb"),
        (b"a.", [Edit(0, 1, b"")], b"=2E"),
        (b"x", [Edit(0, 1, b"From a")], b"=46rom a"),
        (b"x", [Edit(0, 1, b"Fromage")], b"Fromage"),
        (b"x", [Edit(0, 1, b">>From a")], b"=3E>From a"),
        (b"x", [Edit(0, 1, b">>Fro")], b">>Fro"),
        (b"x \n", [Edit(0, 1, b"From")], b"=46rom \n"),
        (b"a--bnd", [Edit(0, 1, b"")], b"=2D-bnd"),
        (b"a--bnd--", [Edit(0, 1, b"")], b"=2D-bnd--"),
        (b"a--bndx", [Edit(0, 1, b"")], b"=2D-bndx"),
        (b"a--bn", [Edit(0, 1, b"")], b"--bn"),
        (b"a--q=\nx", [Edit(0, 1, b"")], b"=2D-q=\nx"),
        (WIDE + b"\n", [Edit(75, 75, b"z.")], WIDE + b"=\nz.\n"),
        (WIDE + b"\n", [Edit(75, 75, b"..")], WIDE + b"=\n=2E.\n"),
        (WIDE + b"\n", [Edit(75, 75, b"From a")], WIDE + b"=\n=46rom a\n"),
        (WIDE + b"\n", [Edit(75, 75, b"--bnd")], WIDE + b"=\n=2D-bnd\n"),
        (b"", [Edit(0, 0, b"." * 76)], b"=2E" + b"." * 72 + b"=\r\n=2E.."),
    ],
)
def test_lower(raw: bytes, edits: list[Edit], expected: bytes) -> None:
    view = QuotedPrintableView(raw, [b"bnd", b"q="])
    edited = splice(raw, view.lower(edits))
    assert edited == expected
    assert decode(edited) == splice(view.inner, edits)


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
    for span, place in zip(spans, view.locate(spans), strict=True):
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
