"""The messages of an mbox (threats M12 to M14)."""

from __future__ import annotations

import mailbox
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import event, given
from hypothesis import strategies as st
from rows import cases, filled

from relbase.containers.from_line import LOOKED_AT_LINE
from relbase.containers.mbox import MAX_CONTENT_LENGTH, DeclaredLength, Message, split
from relbase.edit import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLES: Final = Path(__file__).with_name("mbox.txt")


def pieces(file: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(file), size):
        yield file[start : start + size]


def checked(file: bytes) -> list[Message]:
    """The messages, the same for every chunking that is tried, which join to the file."""
    messages = list(split([file]))
    assert b"".join(message.data for message in messages) == file
    offset = 0
    for index, message in enumerate(messages):
        assert message.offset == offset
        assert index == 0 or message.separator is not None
        offset += len(message.data)
    for size in (1, 2, 3, 7):
        assert list(split(pieces(file, size))) == messages
    return messages


def parts(file: bytes) -> list[tuple[bytes | None, bytes, bytes]]:
    return [(message.separator, message.content, message.ending) for message in checked(file)]


A, B = b"From a@b Thu Nov 29 22:33:52 2001\n", b"From c@d Fri Nov 30 22:33:52 2001\n"
ONE = b"Subject: 1\n\none\n"
CRLF = A.replace(b"\n", b"\r\n")


_file = filled(A=A, B=B, ONE=ONE, CRLF=CRLF)


def _messages(cell: str) -> list[tuple[bytes | None, bytes, bytes]]:
    """Between ` / `, the three pieces of each between ` ; `, in the first `-` for None."""
    pieces = [one.split(" ;") for one in cell.split(" / ") if one]
    return [
        (None if one == "-" else _file(one), _file(content.strip()), _file(ending.strip()))
        for one, content, ending in pieces
    ]


@cases(TABLES, "rule", file=_file, expected=_messages)
def test_rule(file: bytes, expected: list[tuple[bytes | None, bytes, bytes]]) -> None:
    assert parts(file) == expected


Z = b"From z Sat Dec  1 22:33:52 2001\n"
BODY = b"y\n\n" + Z + b"\n" + Z


def lengthened(length: object, body: bytes = BODY, name: str = "Content-Length") -> bytes:
    return A + f"{name}: {length}\n\n".encode() + body


@cases(TABLES, "true lengths", length=str, between=bytes, after=_file)
def test_a_true_content_length_is_followed(length: str, between: bytes, after: bytes) -> None:
    file = lengthened(length) + between + after
    first, *others = checked(file)
    assert first.length is not None
    assert int(first.content[first.length.start : first.length.end]) == int(length)
    assert first.content == lengthened(length)[len(A) :][: -len(BODY)] + BODY[: int(length)]
    assert [message.separator for message in others] == ([B] if after else [])


@cases(TABLES, "other lengths", head=bytes)
def test_any_other_content_length_is_not_followed(head: bytes) -> None:
    messages = checked(A + head + b"\n" + BODY + b"\n" + B + ONE)
    assert [message.separator for message in messages] == [A, Z, Z, B]
    assert [message.length for message in messages] == [None] * 4


@pytest.mark.parametrize(
    ("file", "separators"),
    [
        *((lengthened(len(BODY) + more), [A, Z, Z]) for more in (1, 2, 1000)),  # beyond the end
        (lengthened(1, b"y" + Z), [A]),  # within a line
        (A + b"X: y\n\nContent-Length: 8\n\ny\n\n" + Z, [A, Z]),  # in the body
    ],
)
def test_a_content_length_that_ends_nothing(file: bytes, separators: list[bytes]) -> None:
    messages = checked(file)
    assert [message.separator for message in messages] == separators
    assert [message.length for message in messages] == [None] * len(separators)


def test_content_length_counts_without_regard_to_case_and_line_ends() -> None:
    file = CRLF + b"cOnTeNt-LeNgTh : 5\r\n\r\ny\r\n\r\n\r\n" + CRLF
    assert parts(file) == [
        (CRLF, b"cOnTeNt-LeNgTh : 5\r\n\r\ny\r\n\r\n", b"\r\n"),
        (CRLF, b"", b""),
    ]
    assert checked(file)[0].length == Span(17, 18)


def test_a_content_length_counts_for_a_body_longer_than_what_is_read_at_a_time() -> None:
    body = b"\n\n" + Z + b"y\n" * LOOKED_AT_LINE
    assert checked(lengthened(len(body), body) + b"\n" + B)[-1].separator == B


@pytest.mark.parametrize("before", [b"no field\n", b"--x\n", b"X: y\n \n"])
def test_a_content_length_counts_wherever_others_see_the_header_end(before: bytes) -> None:
    message, last = checked(A + before + b"Content-Length: %d\n\n" % len(BODY) + BODY + B)
    assert message.length is not None
    assert last.separator == B


def test_what_looks_like_a_separator_without_an_empty_line_is_told() -> None:
    (message,) = checked(A + ONE + B + b"x\nFrom here\n" + B + ONE)
    assert message.doubtful == len(ONE)
    assert message.content[message.doubtful :].startswith(B)


def test_what_is_told_of_a_content_length_that_is_not_true() -> None:
    message, _ = checked(lengthened(9, b"x\n\n") + B)
    assert message.unproven == DeclaredLength(9, len(b"Content-Length: 9\n\n"))


def test_a_content_length_of_nothing() -> None:
    assert parts(A + b"Content-Length: 0\n\n\n" + B) == [
        (A, b"Content-Length: 0\n\n", b"\n"),
        (B, b"", b""),
    ]
    assert checked(A + b"Content-Length: 0\n\n")[0].length == Span(16, 17)


@pytest.mark.parametrize(("more", "followed"), [(-1, True), (0, True), (1, False)])
def test_limit_of_content_length(more: int, *, followed: bool) -> None:
    assert MAX_CONTENT_LENGTH == 32 << 20
    size = MAX_CONTENT_LENGTH + more
    body = (b"\n\n" + Z).ljust(size - 1, b"y") + b"\n"
    messages = list(split([lengthened(size, body), b"\n", B]))
    assert len(messages) == (2 if followed else 3)
    assert (messages[0].length is not None) == followed


TOKENS = st.sampled_from([
    b"\n", b"\n", b"\n\n", b"\r\n", b"\r\n\r\n", b"\r", b"From ", b"\n\n" + A, b"\nFrom ", b"\xff",
    b"\n\nFrom -\nX: y\n", b"\n" + B, b">From ", b"x", b"X: y\n", b"\0", b"Fro", b"m ", b" ",
    b"\xef\xbb\xbf", *(b"Content-Length: %d\n" % size for size in (0, 1, 2, 5, 7, 8, 9, 15, 30)),
])  # fmt: skip
TEXTS = st.lists(TOKENS, max_size=12).map(b"".join)


@st.composite
def measured(draw: st.DrawFn) -> bytes:
    """Draw a message with a Content-Length that is true, or nearly so."""
    body = draw(TEXTS)
    length = max(len(body) + draw(st.sampled_from([0, 0, 0, 1, -1])), 0)
    return lengthened(length, body) + draw(st.sampled_from([b"", b"\n", b"\r\n", b"\n\n"]))


FILES = st.one_of(
    st.lists(st.one_of(TEXTS, measured()), max_size=4).map(b"".join), st.binary(max_size=60)
)


@given(FILES, st.lists(st.integers(0, 12), max_size=40))
def test_the_pieces_change_nothing_and_the_messages_are_the_file(
    file: bytes, sizes: list[int]
) -> None:
    chunks = []
    rest = file
    for size in sizes:
        chunks.append(rest[:size])
        rest = rest[size:]
    messages = list(split([file]))
    event(f"{min(len(messages), 4)} messages")
    assert b"".join(message.data for message in messages) == file
    assert list(split([*chunks, rest])) == messages
    for message in messages:
        assert message.data == file[message.offset :][: len(message.data)]


@given(FILES)
def test_every_message_is_one_of_the_rule_or_of_its_length(file: bytes) -> None:
    for message in split([file]):
        before = file[: message.offset]
        if message.separator is None:
            assert message.offset == 0
            continue
        assert message.separator.startswith(b"From ")
        assert message.separator.find(b"\n") in (-1, len(message.separator) - 1)
        if not before.endswith((b"\n\n", b"\n\r\n")) and before not in (b"", b"\n", b"\r\n"):
            assert before == b"\xef\xbb\xbf" or b"Content-Length" in before
        if message.length is None:
            inside = message.data[len(message.separator) - 1 :]
            for separator in (A, b"From -\nX: y\n"):
                assert b"\n\n" + separator not in inside
                assert b"\n\r\n" + separator not in inside


def test_files_of_the_property_have_messages() -> None:
    """The files that the laws were tried on hold messages, and lengths that were followed."""
    seen: set[tuple[int, bool]] = set()

    @given(FILES)
    def look(file: bytes) -> None:
        messages = list(split([file]))
        seen.add((min(len(messages), 3), any(message.length for message in messages)))

    look()
    assert {count for count, _ in seen} >= {0, 1, 2, 3}
    assert any(followed for _, followed in seen)


# Time (threat M13)


def consume(chunks: list[bytes]) -> int:
    return sum(1 for _ in split(chunks))


def test_time_is_linear_in_small_pieces() -> None:
    message = A + ONE * 20 + b"\n"
    assert_linear_from_10_ms(consume, lambda size: list(pieces(message * (size // 400), 3)))


def test_memory_is_bounded_by_the_largest_message() -> None:
    message = A + ONE + b"x" * 70 * 1000 + b"\n\n"
    cut = list(pieces(message, 1 << 12))

    def peak(count: int) -> int:
        tracemalloc.start()
        assert sum(1 for _ in split(piece for _ in range(count) for piece in cut)) == count
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    assert peak(400) < 1.2 * peak(20) < 6 * len(message)


# Other people's mboxes, and another reader

MBOXES = [
    "MimeKit/mbox/content-length-summary.txt",
    "MimeKit/mbox/jwz-summary.txt",
    "MimeKit/mbox/unmunged.mbox.txt",
    "gmime/data/mbox/input/substring.mbox",
    "comm-central/mailnews/test/data/mbox_modern",
    *(
        "apache-tika/tika-parsers-standard-modules/tika-parser-mail-module/src/test/resources/"
        f"test-documents/{name}.mbox"
        for name in ("complex", "multiline", "quoted", "single_mail", "testMBOX_complex")
    ),
]


def of_the_library(path: Path) -> list[bytes]:
    """The messages as mailbox.mbox cuts them: at every line that begins with `From `."""
    box = mailbox.mbox(path, create=False)
    try:
        return [box.get_bytes(key) for key in box.keys()]  # noqa: SIM118 (no dictionary)
    finally:
        box.close()


# What mailbox.mbox finds other messages in, and why.
OTHERWISE = {
    # It asks for no empty line before a separator; here one message ends without.
    "gmime/data/mbox/input/substring.mbox": (3, 1),
    # After the byte order mark it does not see the first separator, and it takes prose for others.
    "MimeKit/mbox/unmunged.mbox.txt": (3, 2),
}


@pytest.mark.parametrize("name", MBOXES)
def test_against_mailbox(data: Path, name: str) -> None:
    path = data / "email" / name
    ours = [each.content for each in checked(path.read_bytes()) if each.separator]
    theirs = of_the_library(path)
    assert ours
    if name in OTHERWISE:
        assert (len(theirs), len(ours)) == OTHERWISE[name]
        return
    assert ours == theirs
