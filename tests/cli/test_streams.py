"""Threat A9: what is shown is printable, on one line, and not too long."""

from __future__ import annotations

import io
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import given
from hypothesis import strategies as st
from running import run
from terminals import Terminal

from relbase import Note, Reason, Span
from relbase.cli import documents, streams
from relbase.cli.documents import InputDocument
from relbase.cli.findings import diff
from relbase.cli.streams import Collected, Verbosity
from relbase.edit import Edit, splice
from relbase.session.session import check

if TYPE_CHECKING:
    from collections.abc import Sequence

ANY: Final = st.text(st.characters(exclude_categories=[]))


@given(ANY)
def test_everything_shown_is_printable_and_bounded(text: str) -> None:
    assert streams.printable(text).isprintable()
    shown = streams.excerpt(text, limit=5)
    assert shown.isprintable()
    assert len(shown) <= 5 * 10 + len("... (000 characters)")


@pytest.mark.parametrize("command", [["check"], ["check", "--json"], ["split"]], ids=" ".join)
@given(text=st.text())
def test_nothing_that_a_terminal_obeys_is_printed(command: list[str], text: str) -> None:
    assert all(line.isprintable() for line in run(*command, "--", text).stdout.splitlines())


@pytest.mark.parametrize("data", [b"a\0", b"\x1f\x8bx", b"\x28\xb5\x2f\xfd"])
def test_a_terminal_gets_nothing_binary(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_terminal(*, output: bool = False) -> bool:
        return output

    assert run("rewrite", "--kind", "other", stdin=data).stdout_bytes == data
    monkeypatch.setattr(streams, "is_terminal", is_terminal)
    result = run("rewrite", "--kind", "other", stdin=data)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "a terminal cannot show the binary output: give -o FILE" in result.stderr


def test_many_notes_take_linear_time() -> None:
    def warn_of(size: int) -> None:
        places = (Span(at, at + 1) for at in range(0, size * 50, 50))
        notes = [Note(Reason.BASE_LATE, "", place, "x") for place in places]
        one = InputDocument(b"", check().opened(b"\n" * (size * 50)), b"", "", 0, 0)
        warned = Collected(Verbosity.ALL)
        documents.collect("p", one, notes, warned)
        assert len(warned.lines) == size

    assert_linear_from_10_ms(warn_of, lambda size: size)


@pytest.mark.parametrize("lacks", ["", "files", "terminal", "escapes", "wanted"])
def test_when_there_is_a_bar(lacks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 3 if lacks == "files" else 60
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", io.StringIO() if lacks == "terminal" else shown)
    monkeypatch.setenv("TERM", "dumb" if lacks == "escapes" else "xterm")
    Path("a").write_bytes(b"x" * 1000)
    names = ["a"] * count
    threads = threading.active_count()
    with streams.progress(names, wanted=lacks != "wanted") as bar:
        for _ in names:
            bar(1000, 1)
        assert threading.active_count() == threads
    assert (f"{count}/{count} files  [{36 * '#'}]  100%" in shown.getvalue()) is (lacks == "")


def test_a_warning_takes_the_line_of_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    Path("a").write_bytes(b"x" * 1000)
    streams.warn("before")
    with streams.progress(["a"] * 60, wanted=True):
        streams.warn("meanwhile")
    streams.warn("after")
    lines = [line.rpartition("\r")[2] for line in shown.getvalue().split("\n")]
    assert [line for line in lines if "e" in line] == ["before", "\x1b[Kmeanwhile", "after"]


# ---- what holds of every diff, beside what diff.console shows

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
def edited(draw: st.DrawFn) -> tuple[bytes, list[Edit]]:
    # A link never stands after the last newline, and no edit removes that.
    lines = draw(st.lists(st.text("ab", max_size=3), min_size=30, max_size=60))
    data = "\n".join([*lines, draw(st.sampled_from(["c", "c\n"]))]).encode()
    places = sorted(draw(st.lists(st.integers(0, len(data) - 1), max_size=12)))
    pairs = zip(places[::2], places[1::2], strict=False)
    return data, [Edit(start, min(end, start + 3), b"x") for start, end in pairs]


def test_of_short_lines_it_is_a_diff_that_can_be_applied() -> None:
    several = 0

    @given(edited())
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
    monkeypatch.setenv("TERM", "xterm")
    diff = ("rewrite", tmp_path / "a", "--url", "http://h/", "--diff")
    lines = run(*diff).stdout.splitlines()
    assert [line.removesuffix("\x1b[m") for line in lines] == [
        f"\x1b[1m--- {tmp_path / 'a'}",
        f"\x1b[1m+++ {tmp_path / 'a'} (rewritten)",
        "\x1b[36m@@ -1,2 +1,2 @@",
        " <p>",
        "\x1b[31m-<a href=x>",
        "\x1b[32m+<a href=http://h/x>",
    ]
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in run(*diff).stdout
