"""From_ lines as mailers have written them, and prose that begins like one (rule 19)."""

from __future__ import annotations

import pytest

from relbase.containers.sniffing import LOOKED_AT_LINE, begins_file, has_date, is_separator

# RFC 4155 Appendix A and what else mailboxes hold: the line has a date.
DATED = [
    b"From a@b.example Thu Nov 29 22:33:52 2001",
    b"From a@b.example  Thu Nov  9 22:33:52 2001",
    b"From a@b.example Thu Nov 9 22:33 2001",
    b"From a@b.example Thu Nov 29 22:33:52 2001 +0100",
    b"From a@b.example Thu Nov 29 22:33:52 +0100 2001",
    b"From a@b.example Thu Nov 29 22:33:52 CET 2001",
    b"From a@b.example Thu Nov 29 22:33:52 MET DST 2001",
    b"From uucp Thu Nov 29 22:33:52 2001 remote from uunet",
    b"From - Fri Aug 24 11:55:47 2018",
    b"From - Fri, 27 Jan 2017 00:19:08 GMT",
    b"From - Sat 23 Jan 2016 22:06:43 +0200",
    b"From ???@??? Thu Nov 29 22:33:52 2001",
    b"From MAILER-DAEMON  Tue Jul  7 22:47:39 2009",
    b"From  Thu Nov 29 22:33:52 2001",
    b"From Thu Nov 29 22:33:52 2001",
    b"From a name with \xe9 in it Thu Nov 29 22:33:52 2001",
    b'From "a b"@c.example Thu Nov 29 22:33:52 2001',
    b"From a@b.example thu nov 29 22:33:52 2001",
    b"From a at b.example  Thu Nov 29 22:33:52 2001",  # pipermail
    b"From 1234567@xxx Thu Nov 29 22:33:52 +0000 2001",  # Gmail's takeout
    b"From a@b.example 29-Nov-2001 22:33:52 +0100",
    b"From a@b.example Thu, 29 Nov 01 22:33:52 EST",
]
# Only a field that follows tells.
UNDATED = [
    b"From ",
    b"From -",
    b"From - ",
    b"From ???@???",
    b"From a@b.example",
    b"From MAILER-DAEMON",
    b"From a@b.example Thu Nov 29 22:33:52",
    b"From a@b.example Thu Nov 29 22:33:52 01",
    b"From a@b.example Do 29. Nov 22:33:52 2001",
    b"From a@b.example 2001-11-29 22:33:52",
    b"From ???@??? 00:00:00 1997 +0000",
]
PROSE = [
    b"From Russia with love",
    b"From here to there",
    b"From Monday on, the office is closed.",
    b"From 1999 to 2001 it rained.",
    b"From 10:30 on",
    b"From Thu Nov 29 on",
    b"From the RFC about ending boundary:",
    b"From a@b.example I heard that",
    b"From Thu Nov 29 22:33:52 2001 on it rained",
    b"From",
    b"From:",
    b"FROM a@b.example Thu Nov 29 22:33:52 2001",
    b">From a@b.example Thu Nov 29 22:33:52 2001",
    b" From a@b.example Thu Nov 29 22:33:52 2001",
    b"From a@b.example Thu Nov 29 22:33:52\r2001",
]


@pytest.mark.parametrize("line", DATED)
@pytest.mark.parametrize("after", [b"", b"\n", b"\r\n", b" \n", b"\nno field\n"])
def test_a_whole_date_is_enough(line: bytes, after: bytes) -> None:
    assert has_date(line + after)
    assert is_separator(line + after)


@pytest.mark.parametrize("line", UNDATED)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_without_it_a_field_follows(line: bytes, end: bytes) -> None:
    assert not has_date(line + end)
    for after in (b"Subject: x", b"X :", b">From a"):
        assert is_separator(line + end + after)
    for after in (b"", b"text", end, b" Subject: x", b"http"):
        assert not is_separator(line + end + after)


@pytest.mark.parametrize("line", PROSE)
def test_prose_is_none(line: bytes) -> None:
    for after in (b"\n", b"\r\n", b"\ntext\n", b"\n\nSubject: x\n"):
        assert not is_separator(line + after)


def test_the_first_line_of_a_file() -> None:
    assert begins_file(b"From me\nSubject: x\n")
    assert not begins_file(b"From me\nto you\n")
    assert not begins_file(b"from me\nSubject: x\n")


@pytest.mark.parametrize("line", [*DATED, *UNDATED])
def test_no_more_is_looked_at(line: bytes) -> None:
    """What a mailbox hands over decides as the rest of the file would."""
    line = line.replace(b"From ", b"From " + b"x" * 870 + b" ", 1)
    whole = (line[:1020] + b"\nSubject: x\n").ljust(LOOKED_AT_LINE * 2, b"y")
    assert is_separator(whole[:LOOKED_AT_LINE]) == is_separator(whole)
    assert not is_separator(b"From " + b"x" * LOOKED_AT_LINE + b" Thu Nov 29 22:33:52 2001\n")
