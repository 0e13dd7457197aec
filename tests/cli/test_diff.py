"""`--diff`: a unified diff where lines are short, excerpts where they are long."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import given
from hypothesis import strategies as st
from running import run

from relbase.cli import streams
from relbase.cli.findings import diff
from relbase.edit import Edit, splice

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def shown(data: bytes, *edits: tuple[int, int, bytes]) -> list[str]:
    return list(diff("a", data, [Edit(*edit) for edit in edits]))[2:]


LINES: Final = b"".join(b"%d\n" % number for number in range(1, 10))  # two bytes a line


def test_context_of_three_lines() -> None:
    assert shown(LINES, (8, 9, b"E")) == [
        "@@ -2,7 +2,7 @@",
        " 2", " 3", " 4",
        "-5", "+E",
        " 6", " 7", " 8",
    ]  # fmt: skip


def test_changes_whose_context_meets_are_one_hunk() -> None:
    assert shown(LINES, (0, 1, b"A"), (16, 17, b"I")) == [
        "@@ -1,4 +1,4 @@", "-1", "+A", " 2", " 3", " 4",
        "@@ -6,4 +6,4 @@", " 6", " 7", " 8", "-9", "+I",
    ]  # fmt: skip
    assert shown(LINES, (0, 1, b"A"), (14, 15, b"H")) == [
        "@@ -1,9 +1,9 @@",
        "-1", "+A", " 2", " 3", " 4", " 5", " 6", " 7", "-8", "+H", " 9",
    ]  # fmt: skip


def test_lines_that_become_one() -> None:
    assert shown(LINES, (3, 4, b"")) == [
        "@@ -1,6 +1,5 @@", " 1", "-2", "-3", "+23", " 4", " 5", " 6",
    ]  # fmt: skip
    assert shown(LINES * 2, (3, 4, b""), (34, 35, b"I"))[-6:] == [
        "@@ -15,4 +14,4 @@", " 6", " 7", " 8", "-9", "+I",
    ]  # fmt: skip


# ---- long lines


def test_a_long_line_is_shown_around_the_edit() -> None:
    data = b"a\n" + b"b" * 100_000 + b"<i href=x>" + b"c" * 100_000 + b"\nd\n"
    at = data.index(b"x>")
    assert shown(data, (at, at, b"http://h/")) == [
        "@@ -2 +2 @@ column 99961",
        "-..." + "b" * 40 + "<i href=x>" + "c" * 46 + "...",
        "+..." + "b" * 40 + "<i href=http://h/x>" + "c" * 46 + "...",
    ]


def test_an_excerpt_cuts_no_character() -> None:
    for shift in range(3):
        data = b"x" * shift + "\u4e2d".encode() * 200
        at = shift + 300
        assert not any("\\x" in line for line in shown(data, (at, at, b"Z")))


def test_a_long_edit_is_cut() -> None:
    lines = shown(b"b" * 1000, (500, 500, b"http://" + b"h" * 1_000_000 + b"/end"))
    assert "http://hhh" in lines[2]
    assert "h/end" in lines[2]
    assert all(len(line) < 600 for line in lines)


def test_context_that_is_long_is_cut_and_shows_no_other_change() -> None:
    data = b"<a href=x>\n" + b"b" * 1000 + b"\n<a href=y>\n" + b"c" * 1000
    lines = shown(data, (8, 8, b"h:/"), (600, 601, b"Z"), (1020, 1020, b"h:/"))
    assert lines == [
        "@@ -1 +1 @@", "-<a href=x>", "+<a href=h:/x>",
        "@@ -2 +2 @@ column 542",
        "-..." + "b" * 97 + "...",
        "+..." + "b" * 48 + "Z" + "b" * 48 + "...",
        "@@ -3,2 +3,2 @@", "-<a href=y>", "+<a href=h:/y>", " " + "c" * 240 + "...",
    ]  # fmt: skip


# ---- laws

HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def applied(lines: Sequence[str], old: list[str]) -> list[str]:
    """What patch(1) does: the new lines, from the old ones and the diff; all of it is checked."""
    new: list[str] = []
    at = 0
    left = [0, 0]
    for line in lines[2:]:
        if found := HUNK.fullmatch(line):
            assert left == [0, 0]
            first, left = int(found[1]), [int(found[2] or 1), int(found[4] or 1)]
            new += old[at : first - 1]
            at = first - 1
            assert len(new) == int(found[3]) - 1
            continue
        sign, text = line[0], line[1:]
        if sign in " -":
            assert old[at] == text
            at += 1
            left[0] -= 1
        if sign in " +":
            new.append(text)
            left[1] -= 1
    assert left == [0, 0]
    return new + old[at:]


def split(data: bytes) -> list[str]:
    return data.decode().removesuffix("\n").split("\n")


@st.composite
def documents(draw: st.DrawFn) -> tuple[bytes, list[Edit]]:
    # A link never stands after the last newline, and no edit removes that.
    lines = draw(st.lists(st.text("ab", max_size=3), min_size=30, max_size=60))
    data = "\n".join([*lines, draw(st.sampled_from(["c", "c\n"]))]).encode()
    places = sorted(draw(st.lists(st.integers(0, len(data) - 1), max_size=12)))
    pairs = zip(places[::2], places[1::2], strict=False)
    return data, [Edit(start, min(end, start + 3), b"x") for start, end in pairs]


def test_of_short_lines_it_is_a_diff_that_can_be_applied() -> None:
    several = 0

    @given(documents())
    def law(case: tuple[bytes, list[Edit]]) -> None:
        nonlocal several
        data, edits = case
        lines = list(diff("a", data, edits))
        assert applied(lines, split(data)) == split(splice(data, edits))
        several += sum(line.startswith("@@") for line in lines) > 1

    law()
    assert several >= 20


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 20)), min_size=1, max_size=20),
    st.integers(300, 1000),
)
def test_of_long_lines_every_edit_is_shown(gaps: list[tuple[int, int]], rest: int) -> None:
    edits: list[Edit] = []
    at = 0
    for number, (gap, removed) in enumerate(gaps):
        edits.append(Edit(at + gap, at + gap + removed, b"[%d]" % number))
        at += gap + removed
    lines = list(diff("a", b"b" * (at + rest), edits))
    assert all(len(line) < 1000 for line in lines)
    added = "".join(line for line in lines if line.startswith("+"))
    assert re.findall(r"\[\d+\]", added) == [f"[{number}]" for number in range(len(gaps))]


@given(st.binary(max_size=300), st.integers(0, 300), st.binary(max_size=20))
def test_any_bytes_are_shown_printable(data: bytes, place: int, new: bytes) -> None:
    at = min(place, len(data))
    assert all(line.isprintable() for line in diff("a", data, [Edit(at, at, new)]))


@pytest.mark.parametrize("line", [b"<a href=x>\n", b"<a href=x>", b"\n\n\n\n<a href=x>"])
def test_linear_time(line: bytes) -> None:
    place = line.index(b"x")

    def make(count: int) -> tuple[bytes, list[Edit]]:
        places = range(place, count * len(line), len(line))
        return line * count, [Edit(at, at, b"http://h/") for at in places]

    def show(case: tuple[bytes, list[Edit]]) -> None:
        for _ in diff("a", *case):
            pass

    assert_linear_from_10_ms(show, make, 1 << 10)


def test_a_terminal_gets_colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "is_terminal", lambda **_: True)
    (tmp_path / "a").write_bytes(b"<p>\n<a href=x>\n")
    lines = run("rewrite", tmp_path / "a", "--url", "http://h/", "--diff").stdout.splitlines()
    assert [line.removesuffix("\x1b[m") for line in lines] == [
        f"\x1b[1m--- {tmp_path}/a",
        f"\x1b[1m+++ {tmp_path}/a (rewritten)",
        "\x1b[36m@@ -1,2 +1,2 @@",
        " <p>",
        "\x1b[31m-<a href=x>",
        "\x1b[32m+<a href=http://h/x>",
    ]
