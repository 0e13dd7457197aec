"""Tests of relbase.view.runs with a small escape of their own."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import strategies as st
from rows import cases, edits
from view_laws import assert_law

from relbase.edit import Edit, splice
from relbase.view.runs import Run, RunView

# `%` and one or two hex digits are a byte, `@` stands for "abc", `~` for nothing.
CODED = re.compile(rb"%([0-9a-f]{1,2})|@|~")

TABLES = Path(__file__).with_name("runs.txt")


def meaning(found: re.Match[bytes]) -> bytes:
    if found[1]:
        return bytes([int(found[1], 16)])
    return b"abc" if found[0] == b"@" else b""


def decode(raw: bytes) -> bytes:
    return CODED.sub(meaning, raw)


def spell(new: bytes) -> bytes:
    return re.sub(rb"[%@~]", lambda found: b"%%%02x" % found[0][0], new)


def begun(raw: bytes, at: int) -> int:
    return at - 1 if raw[at - 1 : at] == b"%" else at


def view_of(raw: bytes) -> RunView:
    runs = [
        Run(*found.span(), meaning(found), found[1] is not None and len(found[1]) == 1)
        for found in CODED.finditer(raw)
    ]
    return RunView(raw, lambda _raw: runs, spell, begun)


@cases(TABLES, "edits", raw=bytes, changes=edits, expected=bytes)
def test_one_edit(raw: bytes, changes: list[Edit], expected: bytes) -> None:
    view = view_of(raw)
    assert splice(raw, view.lower(changes)) == expected
    assert decode(expected) == splice(view.inner, changes)


def test_edits_that_touch_become_one() -> None:
    assert view_of(b"x@z").lower([Edit(1, 2, b"1"), Edit(3, 4, b"2"), Edit(4, 4, b"3")]) == [
        Edit(1, 2, b"1b23")
    ]
    assert view_of(b"xyz").lower([Edit(0, 1, b"1"), Edit(2, 2, b"2")]) == [
        Edit(0, 1, b"1"),
        Edit(2, 2, b"2"),
    ]


def test_no_edits_and_no_runs() -> None:
    raw = b"plain"
    assert view_of(raw).inner is raw
    assert view_of(b"a@").lower([]) == []


def test_joins_may_reach_over_runs() -> None:
    raw = b"x<@~@y"
    runs = [Run(2, 3, b"abc"), Run(3, 4, b""), Run(4, 5, b"d")]
    view = RunView(
        raw, lambda _raw: runs, bytes.upper, lambda raw, at: raw.find(b"<") if at > 2 else at
    )
    assert view.lower([Edit(6, 7, b"z")]) == [Edit(1, 6, b"<ABCDZ")]


PARTS = st.sampled_from([b"%", b"%4", b"%41", b"@", b"~", b"1", b"z"])
TEXTS = st.lists(PARTS, max_size=6).map(b"".join)


def test_law() -> None:
    assert_law(st.lists(PARTS, min_size=2, max_size=6).map(b"".join), view_of, decode, TEXTS)
