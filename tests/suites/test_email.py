"""Messages of other projects through `relbase.rewrite`: the laws, and what Python's `email` sees.

Each file is rewritten as it is and with a URL. Since hardly any link in real mail is relative, each
file with HTML in it has a twin in which links lack their scheme, and with more links. `email`
(policy compat32) has to see the same parts, headers and decoded payloads before and after; a
document in a part has to be what `rewrite` makes of that document alone, on the base of its part.
"""

import email
import email.policy
import re
from collections.abc import Iterator
from email.message import Message
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, cast

import pytest
from counts import Counts
from laws import assert_laws
from mime import Entity
from test_email_tree import KNOWN_DIFFERENCES, files

import relbase
from relbase import Result
from relbase.containers.mail import Part
from relbase.kind import Kind
from relbase.opening.recognition import kind_of_bytes, kind_of_type
from relbase.references.headers import FIELDS

URL: Final = "http://h.example/d/"

# Changed although no URL is given: a header or a `<base>` states one.
_SNAPSHOT: Final = "Snapshot-Content-Location of Chromium"
CHANGED_AS_IT_IS: Final[dict[str, str]] = {
    "apache-tika/tika-parsers-standard-integration-tests/src/test/resources/test-documents/"
    "testMHTMLFirefox.mhtml": "absolute Content-Location in each part",
    "chromium-webkit-mhtml/relative_url.mht": "absolute Content-Location of the part",
    "msindwan-mhtml2html/templates/portfolio.mhtml": "absolute Content-Location of the part",
    "rfc-examples/rfc2110-9.3.eml": "Content-Base of the message",
    "testimio-mhtml-parser/demos/github.node.mhtml": _SNAPSHOT,
    "testimio-mhtml-parser/demos/marketwatch.mhtml": _SNAPSHOT,
    "testimio-mhtml-parser/demos/wikipedia.mhtml": _SNAPSHOT,
}

# The fields whose values may change: references, and what follows a body.
_MAY_CHANGE: Final = {name.decode() for name in FIELDS} | {"content-length", "lines", "content-md5"}


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
    there = {name for name in CHANGED_AS_IT_IS if (data / "email" / name).exists()}
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


# ---- What Python's email sees


def pairs(data: bytes) -> Iterator[tuple[Part, Message]]:
    """Pair the entities of a message; of what relbase does not enter `email` sees more."""
    left = [(Entity.of(data), email.message_from_bytes(data, policy=email.policy.compat32))]
    while left:
        entity, message = left.pop()
        yield entity.part, message
        if entity.inside:
            messages = cast("list[Message]", message.get_payload())
            left += zip(entity.inside, messages, strict=True)


def payload(message: Message) -> bytes:
    decoded = message.get_payload(decode=True)
    return decoded if isinstance(decoded, bytes) else b""


def _fields(message: Message) -> list[tuple[str, str]]:
    return [
        (name, "" if name.lower() in _MAY_CHANGE else str(value)) for name, value in message.items()
    ]


def test_email_sees_the_same_headers_and_payloads(data: Path, counts: Counts) -> None:
    compared = documents = 0
    for case in cases(data):
        if case.kind is Kind.MBOX or case.name in KNOWN_DIFFERENCES or not case.result.changed:
            continue
        bases = {
            entity.part: entity.base
            for entity in relbase.entities(case.data, kind=case.kind, url=URL)
        }
        for (old, message), (new, other) in zip(
            pairs(case.data), pairs(case.result.data), strict=True
        ):
            assert (old.number, old.type) == (new.number, new.type), case.name
            assert _fields(message) == _fields(other), case.name
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
    assert kind in {Kind.HTML, Kind.CSS}
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
    from relbase.containers.mbox import split  # noqa: PLC0415 (of this test alone)

    count = 0
    for case in cases(data):
        if case.kind is Kind.MBOX:
            before, after = list(split([case.data])), list(split([case.result.data]))
            assert [one.separator for one in before] == [one.separator for one in after], case.name
            count += len(before)
    assert count > 45


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
