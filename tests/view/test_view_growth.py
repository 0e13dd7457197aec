"""Law 9 for views: time grows linearly with the text and the edits, memory with the text.

Of the views of most documents test_growth.py, test_message_growth.py and test_rewriting_xml.py try
the text.
"""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Final

import pytest
from growth import assert_linear_from_10_ms

from relbase.edit import Edit, Span
from relbase.view.base64 import base64_view
from relbase.view.charrefs import attribute_view
from relbase.view.iso2022jp import Iso2022JpView
from relbase.view.quoted_printable import QuotedPrintableView
from relbase.view.runs import Run, RunView
from relbase.view.transcode import reference, utf16_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from relbase.view.runs import View

VIEWS: Final[dict[str, Callable[[bytes], View | None]]] = {
    "base64": base64_view,
    "quoted-printable": lambda raw: QuotedPrintableView(raw, (b"x", b"=_b", b"a b")),
    "attribute": lambda raw: attribute_view(raw, b'"', "utf-8"),
    "attribute in Shift_JIS": lambda raw: attribute_view(raw, b'"', "shift_jis"),
    "ISO-2022-JP": lambda raw: Iso2022JpView(raw, reference),
    "UTF-16": lambda raw: utf16_view(raw, "utf-16le"),
}


def rows(name: str, *units: bytes, start: bytes = b"") -> list[tuple[str, bytes, bytes]]:
    """Texts of a view: what begins them, and what they are made of."""
    return [(name, start, unit) for unit in units]


# fmt: off
ROWS: Final = [
    *rows("attribute in Shift_JIS", b"\xff", b"\xe2\x82", b"\x95\\"),
    *rows("ISO-2022-JP", b'\x1b$B$"\x1b(Ba', b"\x1b(Ja\x1b(B", b"\x1b(J\\", b"\x1b", b"\x1b(B",
          b"\x80", b"abcdefgh", b"\x1b$B"),
    *rows("UTF-16", *(text.encode("utf-16-le") for text in ("abcdefgh", "aé😀b", "あ"))),
]
# fmt: on


def edited(name: str, raw: bytes) -> list[Edit]:
    """A thousand edits all over a text, where they split no character."""
    view = VIEWS[name](raw)
    if view is None:
        return []
    step = 1 + len(view.inner) // 1000
    ends = range(0, len(view.inner) + 1, step) if view.inner.isascii() else (0, len(view.inner))
    return view.lower([Edit(at, at, b"~") for at in ends])


@pytest.mark.parametrize(("name", "start", "unit"), ROWS)
def test_time_is_linear_in_the_text(name: str, start: bytes, unit: bytes) -> None:
    assert_linear_from_10_ms(
        lambda raw: edited(name, raw), lambda size: start + unit * (size // len(unit) // 4 * 4)
    )


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("base64", b"MDEy"),
        *(("quoted-printable", unit) for unit in (b"abc", b"=41", b"=4", b"a\n", b"=\na")),
        *(("attribute", unit) for unit in (b"&amp;ab", b"abcd", b"&abc", b"&amp")),
        ("UTF-16", b"a\0b\0"),
    ],
)
def test_time_is_linear_in_the_edits(name: str, unit: bytes) -> None:
    def make(size: int) -> tuple[View, list[Edit]]:
        view = VIEWS[name](unit * size)
        assert view is not None
        return view, [Edit(at, at, b"/") for at in range(0, len(view.inner), 2)]

    def use(case: tuple[View, list[Edit]]) -> None:
        view, edits = case
        view.lower(edits)
        place = view.places()
        for edit in edits[:-1]:
            place(Span(edit.start, edit.start + 1))

    assert_linear_from_10_ms(use, make)


@pytest.mark.parametrize(
    "view", [QuotedPrintableView(b"a\n"), RunView(b"@", lambda _raw: [Run(0, 1, b"aa")], bytes)]
)
def test_time_is_linear_in_the_edits_of_one_place(view: View) -> None:
    assert_linear_from_10_ms(view.lower, lambda size: [Edit(1, 1, b"/")] * size)


@pytest.mark.parametrize(
    ("name", "unit", "most"),
    [
        *(("base64", unit, 5) for unit in (b"MDEy", b"MDEy" * 19 + b"\n", b"MDEy\n")),
        *(("quoted-printable", unit, 5) for unit in (b"a", b"=41", b"=x", b"a \n", b"=\n")),
        *(("attribute", unit, 12) for unit in (b"&amp;", b"\xff", b"&#1")),
        *(("UTF-16", unit.encode("utf-16-le"), 4.5) for unit in "aéあ😀"),
    ],
)
def test_memory_is_a_multiple_of_the_text(name: str, unit: bytes, most: float) -> None:
    raw = unit * ((1 << 18) // len(unit))
    edited(name, unit)  # what is loaded once
    tracemalloc.start()
    try:
        view = VIEWS[name](raw)
        assert view is not None
        view.lower([Edit(0, 0, b"/")])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < most * len(raw) + 200_000
