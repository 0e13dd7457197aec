"""Places in encoded bodies: base64 in whole quanta, quoted-printable exactly (law 7)."""

import base64
import quopri
from itertools import pairwise

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import given
from hypothesis import strategies as st

from relbase.edit import Span
from relbase.view.base64 import base64_view
from relbase.view.quoted_printable import QuotedPrintableView

BODIES = st.lists(
    st.sampled_from([b"a", b"b ", b"=", b"\xe9", b"<", b".", b"x" * 70]), min_size=1, max_size=40
).map(b"".join)
POINTS = st.lists(st.floats(0, 1), min_size=2, max_size=8)


def spans_in(length: int, points: list[float]) -> list[Span]:
    """Sorted spans that do not touch."""
    offsets = sorted({round(point * length) for point in points})
    pairs = [Span(start, end) for start, end in pairwise(offsets)]
    return pairs[::2]


@given(BODIES, POINTS, st.sampled_from([4, 20, 61, 76]), st.sampled_from([b"\n", b"\r\n"]))
def test_base64_in_whole_quanta(body: bytes, points: list[float], width: int, eol: bytes) -> None:
    coded = base64.b64encode(body)
    raw = eol.join(coded[at : at + width] for at in range(0, len(coded), width)) + eol
    view = base64_view(raw)
    assert view is not None
    spans = spans_in(len(body), points)
    for span, place in zip(spans, view.locate(spans), strict=True):
        decoded = base64.b64decode(raw[place.start : place.end])
        assert body[span.start : span.end] in decoded
        assert len(decoded) <= span.end - span.start + 4


@given(BODIES, POINTS)
def test_quoted_printable_exactly(body: bytes, points: list[float]) -> None:
    raw = quopri.encodestring(body)
    view = QuotedPrintableView(raw)
    spans = spans_in(len(view.inner), points)
    for span, place in zip(spans, view.locate(spans), strict=True):
        decoded = quopri.decodestring(raw[place.start : place.end])
        assert decoded == view.inner[span.start : span.end]


@pytest.mark.parametrize("encode", [base64.encodebytes, quopri.encodestring])
def test_locating_takes_linear_time(encode: object) -> None:
    def make(size: int) -> tuple[object, list[Span]]:
        body = b"<a href=x> " * (size // 11)
        raw = encode(body)  # type: ignore[operator]
        view = base64_view(raw) if encode is base64.encodebytes else QuotedPrintableView(raw)
        return view, [Span(at, at + 1) for at in range(8, len(body), 11)]

    assert_linear_from_10_ms(
        lambda made: made[0].locate(made[1]),  # type: ignore[attr-defined]
        make,
    )
