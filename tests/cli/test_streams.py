"""Threat A9: what is shown is printable, on one line, and not too long."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import given
from hypothesis import strategies as st
from running import run

from relbase import Note, Reason, Span
from relbase.cli import documents, streams
from relbase.cli.documents import InputDocument
from relbase.cli.files import Input
from relbase.cli.run import progress
from relbase.cli.streams import Collected, Verbosity

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


def test_excerpts() -> None:
    assert streams.excerpt("") == '""'
    assert streams.excerpt("abc", limit=3) == "abc"
    assert streams.excerpt("abcd", limit=3) == "abc... (4 characters)"


@pytest.mark.parametrize("data", [b"a\0", b"\x1f\x8bx", b"\x28\xb5\x2f\xfd"])
def test_a_terminal_gets_nothing_binary(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_terminal(*, output: bool = False) -> bool:
        return output

    assert run("rewrite", "--kind", "other", stdin=data).stdout_bytes == data
    monkeypatch.setattr(streams, "is_terminal", is_terminal)
    result = run("rewrite", "--kind", "other", stdin=data)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the output is binary, and standard output a terminal: give -o FILE" in result.stderr


def test_many_notes_take_linear_time() -> None:
    def warn_of(size: int) -> None:
        places = (Span(at, at + 1) for at in range(0, size * 50, 50))
        notes = [Note(Reason.BASE_LATE, "", place, "x") for place in places]
        one = InputDocument(b"", b"\n" * (size * 50), b"", "", 0, 0, {})
        warned = Collected(Verbosity.ALL)
        documents.collect("p", one, notes, warned)
        assert len(warned.lines) == size

    assert_linear_from_10_ms(warn_of, lambda size: size)


@pytest.mark.parametrize("lacks", ["", "files", "terminal", "wanted"])
def test_when_there_is_a_bar(
    lacks: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    count = 3 if lacks == "files" else 60
    monkeypatch.setattr(streams, "is_terminal", lambda: lacks != "terminal")
    monkeypatch.setenv("TERM", "xterm")
    Path("a").write_bytes(b"x" * 1000)
    inputs = [Input("a")] * count
    threads = threading.active_count()
    with progress(inputs, wanted=lacks != "wanted") as bar:
        for _ in inputs:
            bar(1000, 1)
        assert threading.active_count() == threads
    assert (f"{count}/{count} files" in capsys.readouterr().err) is (lacks == "")
