"""Messages of other projects: the bytes divide without rest, and Python's `email` sees one tree.

`email` (policy compat32) is asked for the media types, the nesting and the undecoded payloads.
Where relbase does not enter a part by rule 11, what `email` sees inside of it is not compared; that
the next part begins at the same byte is.

Then each file goes through `relbase.rewrite`, as it is and with a URL. Since hardly any link in
real mail is relative, each file with HTML in it has a twin in which links lack their scheme, and
with more links. `email` has to see the same parts, headers and decoded payloads before and after; a
document in a part has to be what `rewrite` makes of that document alone, on the base of its part.
"""

import email
import email.policy
import re
from collections.abc import Iterator
from email.message import Message
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from counts import Counts, known
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_laws
from mime import Entity, assert_lossless

import relbase
from relbase import Result
from relbase.containers.mail import MESSAGES, Part, walk
from relbase.containers.mbox import split
from relbase.formats.recognition import kind_of_bytes, kind_of_type
from relbase.kind import Kind
from relbase.values.headers import FIELDS

# No messages: what the projects expect of theirs, keys, pictures.
_OTHER: Final = frozenset(
    [".json", ".xml", ".md", ".png", ".gif", ".wav", ".aiff", ".tiff", ".pub", ".crt"]
)


def files(data: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of every file that may be a message."""
    root = data / "email"
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix not in _OTHER:
            yield str(path.relative_to(root)), path.read_bytes()


def pairs(data: bytes) -> Iterator[tuple[Entity, Message]]:
    """Pair the entities of a message with those of `email`, as far as it sees as many."""
    left = [(Entity.of(data), email.message_from_bytes(data, policy=email.policy.compat32))]
    while left:
        entity, message = left.pop()
        yield entity, message
        if len(entity.inside) == len(inside := messages_in(message)):
            left += zip(entity.inside, inside, strict=True)


def messages_in(message: Message) -> list[Message]:
    payload = message.get_payload() if message.is_multipart() else []
    return [one for one in payload if isinstance(one, Message)]


def differences(data: bytes) -> Iterator[str]:
    """Yield what `email` sees otherwise, by part numbers."""
    for (part, inner), theirs in pairs(data):
        if part.type != theirs.get_content_type():
            yield f"{part.number}: {part.type}, not {theirs.get_content_type()}"
        elif part.opaque is None and not is_other_message(part):
            if len(inside := messages_in(theirs)) != len(inner):
                yield f"{part.number}: {len(inner)} parts, not {len(inside)}"
            elif not (inner or part.multipart) and data[slice(*part.body)] != (body := raw(theirs)):
                yield f"{part.number}: {data[slice(*part.body)][-80:]!r}, not {body[-80:]!r}"


def is_other_message(part: Part) -> bool:
    """Whether a part is one of the message types that hold no message, which `email` enters."""
    return part.type.startswith("message/") and part.type not in MESSAGES


def raw(message: Message) -> bytes:
    """Return the payload without decoding it."""
    del message["content-transfer-encoding"]
    return payload(message)


def payload(message: Message) -> bytes:
    decoded = message.get_payload(decode=True)
    return decoded if isinstance(decoded, bytes) else b""


def test_every_byte_belongs_to_one_piece(data: Path) -> None:
    count = 0
    for _, message in files(data):
        parts = walk(message)
        assert_lossless(message, parts)
        count += len(parts) > 1
    assert count > 200


def test_email_sees_the_same_tree(data: Path, counts: Counts) -> None:
    messages = ((name, text) for name, text in files(data) if not name.endswith(".html"))
    rows = ((name, [*differences(text)], list[str]()) for name, text in messages)
    counts.compare("mail: trees of Python's email", rows, least=601)


# ---- Messages that nobody wrote

_lines = st.lists(
    st.sampled_from(("", "text", " - --b1", "-", "- --", "--none", "--b11", "--b1-", "A: b", "é"))
).map("\n".join)
_fields = st.sampled_from(
    (
        "Content-Type: text/html; charset=utf-8",
        "content-type:text/css",
        "Content-Type: message/rfc822",
        "Content-Type: multipart/alternative",
        "Content-Type: bad",
        "X: y\n fold\nContent-Type:\n image/png;\n\tname=x",
        "Subject: x",
    )
)


@st.composite
def _entity(draw: st.DrawFn, depth: int = 0) -> str:
    """Draw a part: every boundary is that of one level, and all that is open is closed."""
    kind = draw(
        st.sampled_from(("leaf", "multipart", "multipart", "message") if depth < 3 else ("leaf",))
    )
    if kind == "leaf":
        return f"{draw(_fields)}\n\n{draw(_lines)}"
    if kind == "message":
        return f"Content-Type: message/rfc822\n\n{draw(_entity(depth + 1))}"
    subtype = draw(st.sampled_from(("mixed", "related", "digest", "signed")))
    written = draw(
        st.sampled_from((f"b{depth}", f'"b{depth}"', f'"b{depth} "; type=x', f" b{depth} ;"))
    )
    parts = draw(st.lists(_entity(depth + 1), min_size=1, max_size=3))
    space = draw(st.sampled_from(("", "", " ", "\t ")))
    delimiter = f"\n--b{depth}{space}\n"
    inner = delimiter.join((draw(_lines), *(part or "\n" for part in parts)))
    return (
        f"Content-Type: multipart/{subtype}; boundary={written}\n\n"
        f"{inner}\n--b{depth}--{space}\n{draw(_lines)}"
    )


def test_email_sees_the_same_tree_of_any_message() -> None:
    counts = []

    @given(_entity(), st.sampled_from(("\n", "\r\n")))
    def check(text: str, eol: str) -> None:
        data = text.replace("\n", eol).encode()
        parts = walk(data)
        assert_lossless(data, parts)
        assert list(differences(data)) == []
        counts.append(len(parts))

    check()
    assert sum(number > 2 for number in counts) > len(counts) / 3


# ---- Rewritten

URL: Final = "http://h.example/d/"

# The fields whose values may change: references, and what follows a body.
_MAY_CHANGE: Final = {*FIELDS} | {"content-length", "lines", "content-md5"}


class Case(NamedTuple):
    """A file or its twin, and what becomes of it with a URL."""

    name: str
    data: bytes
    kind: Kind
    result: Result


_scheme: Final = re.compile(rb"""(=(?:3D)?["'])https?://""")
# Without its encoding a reference `3Dx/y` is relative as well.
_LINK: Final = rb"<a href=3Dx/y>z</a>\g<0>"
_tag: Final = re.compile(rb"(?i)<(?:br|p|div|td|/h[1-6]|/body)\b")


@cache
def cases(data: Path) -> list[Case]:
    found = []
    for name, message in files(data):
        kind = kind_of_bytes(message)
        kind = kind if kind is Kind.MBOX else Kind.MAIL
        twin = _tag.sub(_LINK, _scheme.sub(rb"\1", message))
        texts = (message,) if twin == message else (message, twin)
        found += [
            Case(name, text, kind, relbase.rewrite(text, kind=kind, url=URL)) for text in texts
        ]
    assert len(found) > 700
    assert sum(case.kind is Kind.MBOX for case in found) > 20
    assert sum(case.result.changed for case in found) > 60
    return found


def test_as_it_is_a_message_comes_back_identical(data: Path) -> None:
    changed = set()
    for name, message in files(data):
        kind = Kind.MBOX if kind_of_bytes(message) is Kind.MBOX else Kind.MAIL
        result = relbase.rewrite(message, kind=kind)
        assert result.changed == (result.data is not message), name
        if result.changed:
            changed.add(name)
            assert any(entity.base.url for entity in relbase.entities(message, kind=kind)), name
    there = {name for name in known("mail: messages") if (data / "email" / name).exists()}
    assert len(there) > 4  # two of them stand in no repository that can be fetched
    assert changed == there


def test_laws(data: Path, counts: Counts) -> None:
    count = 0
    for case in cases(data):
        after = assert_laws(case.data, case.result, kind=case.kind, url=URL)
        for old, new in zip(case.result.links, after, strict=True):
            if old.status.value == "rewritten":
                count += 1
                assert new.url == old.url, case.name
    assert count > 1000
    counts("mail: messages", len(cases(data)), 0, "the laws hold")


# ---- What Python's email sees of messages that were rewritten


def headers_of(message: Message) -> list[tuple[str, str]]:
    return [
        (name, "" if name.lower() in _MAY_CHANGE else str(value)) for name, value in message.items()
    ]


def test_email_sees_the_same_headers_and_payloads(data: Path, counts: Counts) -> None:
    compared = documents = 0
    other_trees = known("mail: trees of Python's email")
    for case in cases(data):
        if case.kind is Kind.MBOX or case.name in other_trees or not case.result.changed:
            continue
        bases = {
            entity.part: entity.base
            for entity in relbase.entities(case.data, kind=case.kind, url=URL)
        }
        both = zip(pairs(case.data), pairs(case.result.data), strict=True)
        for ((old, inside), message), ((new, _), other) in both:
            assert (old.number, old.type) == (new.number, new.type), case.name
            assert len(inside) in {0, len(messages_in(message))}, case.name
            assert headers_of(message) == headers_of(other), case.name
            compared += 1
            if message.is_multipart():
                continue
            before, after = payload(message), payload(other)
            if before != after:
                documents += 1
                assert after == _alone(old, before, bases[old.number]), case.name
    assert compared > 150
    assert documents > 40
    counts("mail: headers and payloads of Python's email", compared, 0, "parts, rewritten")


def _alone(part: Part, document: bytes, base: relbase.Base) -> bytes:
    """Rewrite a document that was taken out of its part."""
    outer = base.outer if base.layer is relbase.Layer.EMBEDDED else base
    assert outer is not None
    kind = kind_of_type(part.type)
    assert kind in {Kind.HTML, Kind.CSS, Kind.MARKDOWN}
    content_type = f"x/y; charset={part.charset}" if part.charset else "x/y"
    result = relbase.rewrite(
        document, kind=kind, url=outer.url, headers={"Content-Type": content_type}
    )
    return result.data


def test_no_line_of_quoted_printable_is_longer_than_76(data: Path) -> None:
    """Lines that were longer before stay longer."""
    lines = 0
    for case in cases(data):
        longest = {line for line in case.data.split(b"\n") if len(line.rstrip(b"\r")) > 76}
        for _, _, new in case.result.edits:
            for line in re.split(rb"\r?\n", new)[1:-1]:
                lines += 1
                assert len(line) <= 76 or line in longest, case.name
    assert lines > 10


def test_mboxes_hold_the_same_messages(data: Path) -> None:
    count = 0
    for case in cases(data):
        if case.kind is Kind.MBOX:
            before, after = list(split([case.data])), list(split([case.result.data]))
            assert [one.separator for one in before] == [one.separator for one in after], case.name
            count += len(before)
    assert count > 45


@pytest.mark.long
@pytest.mark.parametrize("profile", relbase.Profile)
def test_every_profile_reads_every_message(data: Path, profile: relbase.Profile) -> None:
    changed = 0
    for case in cases(data):
        result = relbase.rewrite(case.data, kind=case.kind, url=URL, profile=profile)
        assert (
            relbase.rewrite(result.data, kind=case.kind, url=URL, profile=profile).data
            is result.data
        ), case.name
        changed += result.changed
    assert changed > 40
