"""Messages of many senders: --message-map, --message-base, and the table of what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from running import done, run

if TYPE_CHECKING:
    from pathlib import Path

FROM: Final = b"From a@b Thu Nov 29 22:33:52 2001\n"
HTML: Final = b"Content-Type: text/html\n\n"


def message(header: bytes, body: bytes) -> bytes:
    return FROM + header + HTML + body + b"\n\n"


INBOX: Final = b"".join(
    (
        message(b"From: a@h.example\nMessage-ID: <1@h.example>\n", b"<a href=x>"),
        message(b"From: b@h.example\nX-Feed: <http://feed/>\n", b"<a href=x>"),
        message(b"From: c@i.example\nList-Id: <l.example>\n", b"<a href=x><a href=y>"),
        message(b"From: c@i.example\n", b"<a href=z>"),
        message(b"From: d@i.example\n", b"<a href=z>"),
        message(b"From: e@i.example\n", b"<a href=http://absolute/>"),
        message(b"From: f@i.example\nContent-Base: http://own/\n", b"<a href=x>"),
    )
)
MAP: Final = "# senders\n\n<1@h.example>\thttp://one/\n"


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    (tmp_path / "in.mbox").write_bytes(INBOX)
    (tmp_path / "map").write_text(MAP)
    return tmp_path


def test_each_message_has_its_url_and_the_run_ends_with_what_is_left(inbox: Path) -> None:
    ran = done(
        *("rewrite", inbox / "in.mbox", "--message-map", inbox / "map", "-o", inbox / "out"),
        *("--message-base", "X-Feed"),
    )
    expected = INBOX.replace(b"=x", b"=http://one/x", 1).replace(b"=x", b"=http://feed/x", 1)
    expected = expected[:-30] + expected[-30:].replace(b"=x", b"=http://own/x")
    assert (inbox / "out").read_bytes() == expected
    assert ran.stderr.splitlines()[1:] == [
        (
            "base URLs of 6 messages with relative links: 3 unknown, 1 by --message-map, "
            "1 by x-feed of the message, 1 stated in the message"
        ),
        "relative links without a base, by sender (relbase links --unresolved-by lists them):",
        "  c@i.example\t3 references in 2 messages",
        "  d@i.example\t1 reference in 1 message",
    ]
    assert "--message-map gives one for each sender" in ran.stderr.splitlines()[0]


def test_a_map_is_stronger_than_one_url(inbox: Path) -> None:
    ran = run(
        *("rewrite", inbox / "in.mbox", "--message-map", inbox / "map", "-o", inbox / "out"),
        *("--url", "http://all/", "-j", "2", inbox / "in.mbox"),
    )
    assert ran.exit_code == 2  # one URL, two mailboxes
    ran = run(
        *("rewrite", inbox / "in.mbox", "--message-map", inbox / "map", "-o", inbox / "out"),
        *("--url", "http://all/"),
    )
    assert "4 by --url, 1 by --message-map, 1 stated in the message" in ran.stderr
    assert b"http://one/x" in (inbox / "out").read_bytes()


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (
            "sender",
            (
                "c@i.example\t3 references in 2 messages\n"
                "a@h.example\t1 reference in 1 message\n"
                "b@h.example\t1 reference in 1 message\n"
                "d@i.example\t1 reference in 1 message\n"
            ),
        ),
        (
            "list",
            "(no list)\t4 references in 4 messages\nl.example\t2 references in 1 message\n",
        ),
        (
            "message",
            (
                "(no Message-ID)\t5 references in 4 messages\n"
                "<1@h.example>\t1 reference in 1 message\n"
            ),
        ),
    ],
)
def test_the_table_of_what_is_left(inbox: Path, by: str, expected: str) -> None:
    (inbox / "page.html").write_bytes(b"<a href=x>")  # no message: it has no sender
    ran = run("links", inbox / "in.mbox", inbox / "page.html", "--unresolved-by", by)
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, expected, "")


def test_of_a_maildir_the_messages_are_counted_together(tmp_path: Path) -> None:
    for name in ("cur", "new", "tmp"):
        (tmp_path / "M" / name).mkdir(parents=True)
    for number in range(12):
        header = b"From: %d@h.example\n" % number
        (tmp_path / "M/cur" / f"{number}:2,S").write_bytes(header + HTML + b"<a href=x>")
    (tmp_path / "map").write_text("11@h.example\thttp://h/\n")
    options = ("--message-map", tmp_path / "map", "-j", "2")
    ran = run("rewrite", tmp_path / "M", "-o", tmp_path / "out", *options)
    assert "12 messages with relative links: 11 unknown, 1 by --message-map" in ran.stderr
    assert "  8@h.example\t1 reference in 1 message\n  and 1 more\n" in ran.stderr
    assert (
        "by sender"
        not in run("rewrite", tmp_path / "M", "-o", tmp_path / "again", *options, "-q").stderr
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("a@b", "it has no tab"),
        ("a@b\t", "it is empty"),
        ("a@b\tx/", r"'a@b\tx/': it has no scheme"),
        ("a@b http://h/", "it has no tab"),
        ("a b\thttp://h/", "selects no message"),
        ("@.\thttp://h/", "selects no message"),
        ("a@b\thttp://h/\na@B\thttp://i/", "another line gives these messages another URL"),
        ("a@b\t3 references in 2 messages", "it has no scheme"),
    ],
)
def test_a_map_that_is_wrong_is_refused(inbox: Path, line: str, why: str) -> None:
    (inbox / "map").write_text(f"{MAP}{line}\n")
    ran = run("rewrite", inbox / "in.mbox", "--message-map", inbox / "map")
    assert ran.exit_code == 2
    assert why in " ".join(ran.stderr.split())
    assert "Write a selector, a tab and an absolute URL" in " ".join(ran.stderr.split())
