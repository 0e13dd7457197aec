"""Apache James mime4j: the structure that it expects of each message, to the bytes of each part.

A `.xml` beside a message holds its fields, preambles, bodies and epilogues as they are written, a
`_decoded_1_2.txt` the body of its second part decoded. Compared are nesting, number of parts, all
fields that relbase keeps, the bytes between them, and what the views decode, line ends apart.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from counts import Counts
from lxml import etree
from mime import Entity, decoded
from tables import assert_known

from relbase.containers.mail import Part, walk
from relbase.edit import Span

_NO_FIELD: Final = "a line that is not a field begins the body, as in email; mime4j reads on"
KNOWN_DIFFERENCES: Final[dict[str, str]] = {
    "mimetools-testmsgs/hdr-fakeout.xml": _NO_FIELD,
    "testmsgs/base64encoded-rfc822message.xml": "RFC 2045 §6.4: not entered in base64",
    "testmsgs/ending-boundaries.xml": "--b and more: no delimiter, as in email",
    "testmsgs/malformedHeader-nocrlfcrlf.xml": _NO_FIELD,
    "testmsgs/malformedHeader-noheader.xml": _NO_FIELD,
    "testmsgs/malformedHeaderStartsBody-nocrlfcrlf.xml": _NO_FIELD,
    "testmsgs/malformedHeaderStartsBody-noheader.xml": _NO_FIELD,
}


class Seen(NamedTuple):
    """One entity: its fields, the texts around its parts or its body, and what is in it."""

    fields: tuple[str, ...]
    kind: str
    texts: tuple[str, ...]
    inside: int


def messages(data: Path) -> Iterator[tuple[str, bytes, etree._Element]]:
    """Yield the name of a message, the message, and its structure."""
    root = data / "email/apache-james-mime4j"
    # The files hold the bytes of the messages, whatever their charset: each is a character.
    parser = etree.XMLParser(encoding="iso-8859-1")
    for path in sorted(root.rglob("*.xml")):
        message = path.with_suffix(".msg").read_bytes()
        yield str(path.relative_to(root)), message, etree.fromstring(path.read_bytes(), parser)


def text(raw: str | None) -> str:
    """Return a text with its line ends as LF, without those at its ends, which the XML adds."""
    return (raw or "").replace("\r\n", "\n").replace("\r", "\n").strip("\n")


def differences(data: bytes, expected: etree._Element) -> Iterator[str]:
    """Yield what is expected otherwise."""
    left = [(Entity.of(data), expected)]
    while left:
        (part, inner), element = left.pop()
        body = element[1]
        entities = [body] if body.tag == "message" else body.findall("body-part")
        ours, theirs = ours_of(data, part, len(inner)), theirs_of(element, part)
        if ours != theirs:
            yield f"{part.number}: {ours}, not {theirs}"
        elif inner:
            left += zip(inner, entities, strict=True)


def ours_of(data: bytes, part: Part, inside: int) -> Seen:
    def of(span: Span) -> str:
        return text(data[slice(*span)].decode("latin-1"))

    fields = tuple(of(field.span) for field in part.header.fields)
    if part.multipart is not None:
        texts = part.multipart.preamble, part.multipart.epilogue
        return Seen(fields, "multipart", tuple(of(span) for span in texts), inside)
    if part.message:
        return Seen(fields, "message", (), inside)
    return Seen(fields, "body", (of(part.body),), 0)


def theirs_of(element: etree._Element, part: Part) -> Seen:
    """Return an entity of theirs, with the fields that relbase keeps."""
    header, body = element[:2]
    names = {field.name for field in part.header.fields}
    fields = tuple(
        text(field.text)
        for field in header
        if field.text.partition(":")[0].strip().lower() in names
    )
    if body.tag == "multipart":
        texts = tuple(text(body.findtext(tag)) for tag in ("preamble", "epilogue"))
        return Seen(fields, "multipart", texts, len(body.findall("body-part")))
    if body.tag == "message":
        return Seen(fields, "message", (), 1)
    return Seen(fields, "body", (text(body.text),), 0)


def test_trees(data: Path, counts: Counts) -> None:
    run, differ = 0, {}
    for name, message, expected in messages(data):
        run += 1
        if seen := list(differences(message, expected)):
            differ[name] = seen
    assert_known(differ, KNOWN_DIFFERENCES)
    assert run > 45
    counts("mail: mime4j's trees", run, len(differ))


# An empty part, which the name of the file numbers otherwise than the structure does.
NO_SUCH_PART: Final = {"multipartemptypart_decoded_1_2.txt"}


def test_decoded_bodies(data: Path, counts: Counts) -> None:
    run, missing = 0, set()
    for path in sorted((data / "email/apache-james-mime4j").rglob("*_decoded_1*.txt")):
        stem, _, number = path.stem.rpartition("_decoded_1")
        file = path.with_name(f"{stem}.msg")
        if not file.exists():
            continue
        message = file.read_bytes()
        numbered = {part.number: part for part in walk(message)}
        part = numbered.get(number.strip("_").replace("_", "."))
        if part is None:
            missing.add(path.name)
            continue
        expected = text(path.read_bytes().decode("latin-1"))
        assert text(decoded(message, part).decode("latin-1")) == expected, path.name
        run += 1
    assert missing == NO_SUCH_PART
    assert run > 15
    counts("mail: mime4j's decoded bodies", run + len(missing), len(missing))
