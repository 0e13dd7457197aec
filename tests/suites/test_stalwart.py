"""stalwart's mail-parser: the tree that it expects of each message, with the offsets of its parts.

Each message has two expectations, one with its lines ended by LF and one by CR LF. What is
compared: media type, charset, number of parts, and where header and body begin and the body ends.
What relbase does not enter (rule 11) is compared as a leaf.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import webencodings
from counts import Counts
from mime import Entity, decoded
from tables import assert_known

from relbase.containers.mail import Part, walk

Row = dict[str, Any]

_PREFIX: Final = "stalwart compares the beginnings of delimiters; here the whole line"
# Messages, with either line end, of which another tree is expected, with the reason.
KNOWN_DIFFERENCES: Final[dict[str, str]] = {
    "malformed/000": "delimiters one after the other: parts here and in Dovecot, none in stalwart",
    "malformed/001": _PREFIX,
    "malformed/007": _PREFIX,
    "malformed/012": "no closing delimiter: one of an outer level ends what is inside, as in email",
    "malformed/014": "a delimiter ends the message: an empty part after it, as in email",
    "malformed/016": _PREFIX,
    "malformed/020": "two Content-Type: the first counts, as in email; to stalwart the last",
    "malformed/022": "message/rfc822 without a header: entered, as in email",
    "thirdparty/015": "a delimiter ends a header, as in email; stalwart wants an empty line",
}


class Seen(NamedTuple):
    """One entity, as both sides tell it."""

    number: str
    type: str
    charset: str | None
    header: int
    body: int
    end: int
    inside: int


def messages(data: Path) -> Iterator[tuple[str, bytes, Row]]:
    """Yield the name of a message, the message with one line end, and what is expected of it."""
    root = data / "email/stalwart-mail-parser/eml"
    for path in sorted(root.rglob("*.json")):
        name = str(path.relative_to(root)).partition(".")[0]
        message = (root / f"{name}.eml").read_bytes()
        message = (
            re.sub(rb"\r?\n", b"\r\n", message)
            if ".crlf" in path.name
            else message.replace(b"\r", b"")
        )
        yield name, message, json.loads(path.read_text("utf-8"))


class Pair(NamedTuple):
    """An entity of relbase's, and the message and part of theirs that it stands for."""

    ours: Entity
    message: Row
    theirs: Row


def differences(data: bytes, expected: Row) -> Iterator[str]:
    """Yield what is expected otherwise, by part numbers."""
    parts = walk(data)
    left = [Pair(Entity.of(data), expected, expected["parts"][0])]
    while left:
        (part, inner), message, theirs = left.pop()
        around = parts[part.parent] if part.parent is not None else None
        ours = ours_of(part, len(inner))
        want = theirs_of(part, theirs, around)
        if ours != want:
            yield f"{ours}, not {want}"
        elif part.message:
            message = theirs["body"]["Message"]
            left.append(Pair(inner[0], message, message["parts"][0]))
        elif inner:
            pairs = zip(inner, theirs["body"]["Multipart"], strict=True)
            left += [Pair(one, message, message["parts"][other]) for one, other in pairs]


def ours_of(part: Part, children: int) -> Seen:
    charset = part.charset.lower() if part.charset else None
    start = part.header.start
    return Seen(part.number, part.type, charset, start, part.body.start, part.body.end, children)


def theirs_of(part: Part, theirs: Row, around: Part | None) -> Seen:
    """Return an entity of theirs; what states no type has the default one (RFC 2046 §5.1.5)."""
    body = theirs["body"]
    children = 0
    if part.opaque is None and "Multipart" in body:
        children = len(body["Multipart"])
    elif part.opaque is None and "Message" in body:
        children = 1
    type_ = "message/rfc822" if around and around.type == "multipart/digest" else "text/plain"
    charset = None
    for field in theirs["headers"]:
        stated = field["value"]
        if field["name"] == "content_type" and "ContentType" in stated:
            stated = stated["ContentType"]
            type_ = f"{stated['c_type']}/{stated['c_subtype']}".lower()
            attributes = {one["name"]: one["value"] for one in stated["attributes"] or []}
            charset = attributes["charset"].lower() if "charset" in attributes else None
    start, at, end = (theirs[f"offset_{name}"] for name in ("header", "body", "end"))
    return Seen(part.number, type_, charset, start, at, end, children)


def test_trees(data: Path, counts: Counts) -> None:
    run, differ, count = 0, {}, 0
    for name, message, expected in messages(data):
        run += 1
        if seen := list(differences(message, expected)):
            differ[name] = seen
            count += 1
    assert_known(differ, KNOWN_DIFFERENCES)
    assert run > 100
    counts("mail: stalwart's trees", run, count, "LF and CR LF")


# base64 with text after its padding, which readers decode otherwise: it stays as it is written.
NOT_DECODED: Final = {"thirdparty/002 2"}


def test_texts(data: Path, counts: Counts) -> None:
    """Transfer encoding and charset; stalwart reads UTF-7, which the Encoding Standard has not."""
    run = known = 0
    differ = set()
    for name, message, expected in messages(data):
        if name in KNOWN_DIFFERENCES:
            continue
        parts = {(part.body.start, part.body.end): part for part in walk(message)}
        for theirs in texts(expected):
            part = parts[theirs["offset_body"], theirs["offset_end"]]
            encoding = webencodings.lookup(part.charset or "utf-8")
            if encoding is None:
                assert part.charset is not None
                assert part.charset.lower() == "utf-7"
                continue
            text, _ = encoding.codec_info.decode(decoded(message, part), "replace")
            (wanted,) = theirs["body"].values()
            run += 1
            if text.replace("\r\n", "\n") != wanted.replace("\r\n", "\n"):
                differ.add(f"{name} {part.number}")
                known += 1
    assert differ == NOT_DECODED
    assert run > 140
    counts("mail: stalwart's texts", run, known, "LF and CR LF")


def texts(message: Row) -> Iterator[Row]:
    """Yield the parts of a message that are text, those of messages inside of it too."""
    for part in message["parts"]:
        if "Message" in part["body"]:
            yield from texts(part["body"]["Message"])
        elif part["body"].keys() & {"Text", "Html"}:
            yield part
