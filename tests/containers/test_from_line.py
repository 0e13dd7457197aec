"""From_ lines as mailers have written them, and prose that begins like one (rule 19)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from rows import cases, rows

from relbase.containers.from_line import LOOKED_AT_LINE, begins_file, has_date, is_separator

TABLES: Final = Path(__file__).with_name("from_line.txt")


@cases(TABLES, "dated", line=bytes)
@pytest.mark.parametrize("after", [b"", b"\n", b"\r\n", b" \n", b"\nno field\n"])
def test_a_whole_date_is_enough(line: bytes, after: bytes) -> None:
    assert has_date.match(line + after)
    assert is_separator(line + after)


@cases(TABLES, "undated", line=bytes)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_without_it_a_field_follows(line: bytes, end: bytes) -> None:
    assert not has_date.match(line + end)
    for after in (b"Subject: x", b"X :", b">From a"):
        assert is_separator(line + end + after)
    for after in (b"", b"text", end, b" Subject: x", b"http"):
        assert not is_separator(line + end + after)


@cases(TABLES, "prose", line=bytes)
def test_prose_is_none(line: bytes) -> None:
    for after in (b"\n", b"\r\n", b"\ntext\n", b"\n\nSubject: x\n"):
        assert not is_separator(line + after)


def test_the_first_line_of_a_file() -> None:
    assert begins_file(b"From me\nSubject: x\n")
    assert not begins_file(b"From me\nto you\n")
    assert not begins_file(b"from me\nSubject: x\n")


@pytest.mark.parametrize(
    "line", [line for title in ("dated", "undated") for (line,) in rows(TABLES, title, bytes)]
)
def test_no_more_is_looked_at(line: bytes) -> None:
    """What a mailbox hands over decides as the rest of the file would."""
    line = line.replace(b"From ", b"From " + b"x" * 870 + b" ", 1)
    whole = (line[:1020] + b"\nSubject: x\n").ljust(LOOKED_AT_LINE * 2, b"y")
    assert is_separator(whole[:LOOKED_AT_LINE]) == is_separator(whole)
    assert not is_separator(b"From " + b"x" * LOOKED_AT_LINE + b" Thu Nov 29 22:33:52 2001\n")
