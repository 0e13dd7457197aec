"""Tests of relbase.view.base64; Python's base64 and email say what bodies mean."""

from __future__ import annotations

import base64
from collections import Counter
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from rows import cases, edits
from view_laws import check_law

from relbase.edit import Edit, Span, splice
from relbase.view.base64 import Base64View, base64_view

TABLES = Path(__file__).with_name("base64.txt")


def encode(inner: bytes, width: int, eol: bytes = b"\n") -> bytes:
    coded = base64.b64encode(inner)
    return eol.join(coded[at : at + width] for at in range(0, len(coded), width))


# RFC 4648 §10
VECTORS = {
    b"": b"",
    b"f": b"Zg==",
    b"fo": b"Zm8=",
    b"foo": b"Zm9v",
    b"foob": b"Zm9vYg==",
    b"fooba": b"Zm9vYmE=",
    b"foobar": b"Zm9vYmFy",
}


@pytest.mark.parametrize("inner", VECTORS)
@pytest.mark.parametrize("space", [b"", b"\r\n", b"\n", b"\r", b" \t\n"])
def test_inner(inner: bytes, space: bytes) -> None:
    raw = space.join((b"", VECTORS[inner][:2], VECTORS[inner][2:], b""))
    assert Base64View(raw).inner == inner


@cases(TABLES, "passed through", raw=bytes)
def test_what_is_passed_through(raw: bytes) -> None:
    assert base64_view(raw) is None
    with pytest.raises(ValueError, match=r"."):
        Base64View(raw)


LONG = b"abc" * 20  # 80 characters


@cases(TABLES, "lowered", raw=bytes, changes=edits, expected=bytes)
def test_lower(raw: bytes, changes: list[Edit], expected: bytes) -> None:
    view = Base64View(raw)
    edited = splice(raw, view.lower(changes))
    assert edited == expected
    assert base64.b64decode(edited) == splice(view.inner, changes)


def test_the_line_end_of_a_body_without_any() -> None:
    lowered = Base64View(b"", eol=b"\n").lower([Edit(0, 0, LONG)])
    assert lowered == [Edit(0, 0, encode(LONG, 76))]


SPACES = st.text("\r\n \t", max_size=3).map(str.encode)
EOLS = st.sampled_from([b"\n", b"\r\n", b"\r", b" \n", b"\n\n"])


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """Draw regular lines, lines of drawn widths, and lines with drawn white space anywhere."""
    inner = draw(st.binary(min_size=1, max_size=200))
    widths = draw(st.lists(st.integers(1, 80), min_size=1, max_size=5))
    eols = draw(st.lists(EOLS, min_size=1, max_size=3))
    coded, raw = base64.b64encode(inner), b""
    for width, eol in zip(cycle(widths), cycle(eols), strict=False):
        raw, coded = raw + coded[:width] + eol, coded[width:]
        if not coded:
            break
    return draw(SPACES) + raw + draw(SPACES)


@st.composite
def edits_of(draw: st.DrawFn, inner: bytes) -> list[Edit]:
    bounds = sorted(draw(st.lists(st.integers(0, len(inner)), min_size=2, max_size=6)))
    pairs = zip(bounds[::2], bounds[1::2], strict=False)
    return [Edit(start, end, draw(st.binary(max_size=80))) for start, end in pairs]


def test_law() -> None:
    seen: Counter[str] = Counter()

    @examples(250)
    @given(st.data(), bodies())
    def law(data: st.DataObject, raw: bytes) -> None:
        view = Base64View(raw)
        edits = data.draw(edits_of(view.inner))
        edited = check_law(raw, view, edits, base64.b64decode)
        assert Base64View(edited).inner == splice(view.inner, edits)
        lowered = view.lower(edits)
        for start, end, new in lowered:
            changed = next(edit.start for edit in edits if edit.new or edit.start < edit.end)
            assert base64.b64decode(raw[:start]) == view.inner[: changed // 3 * 3]
            assert raw[end:] == raw[len(raw.rstrip()) :]
            assert max(map(len, new.split()), default=0) <= max(76, *map(len, raw.splitlines()))
        spans = [Span(edit.start, edit.end) for edit in edits]
        for (start, end), place in zip(spans, map(view.places(), spans), strict=True):
            quanta = base64.b64decode(raw[place.start : place.end])
            assert view.inner[start:end] in quanta
            assert len(quanta) <= end - start + 4
        seen["all"] += 1
        seen["changed"] += edited != raw
        seen["one"] += len(lowered) == 1

    law()
    assert seen["changed"] > 0.7 * seen["all"]
    assert seen["one"] >= seen["changed"]


@pytest.mark.parametrize("width", [4, 60, 64, 72, 76, 75, 998])
@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
def test_regular_bodies_stay_regular(width: int, eol: bytes) -> None:
    inner = b"".join(b"<a href=%d>" % number for number in range(300))
    for at in (0, 1, 2, 57, 58, 1000, len(inner)):
        raw = encode(inner, width, eol)
        edits = [Edit(at, at, b"http://h.example/")]
        edited = splice(raw, Base64View(raw).lower(edits))
        assert edited == encode(splice(inner, edits), width, eol)
