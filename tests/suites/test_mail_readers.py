"""What other readers of mail expect: the parts of messages to the byte, and links of their HTML.

What is compared are nesting, types, charsets, where parts begin and end, and what views decode.
What relbase does not enter (rule 11) is compared as a leaf.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import webencodings
from counts import Counts, known
from lxml import etree
from mime import Entity, decoded

import relbase
from relbase.containers.mail import Part, walk
from relbase.edit import Span

# ---- Apache James mime4j: a `.xml` beside a message holds its fields, preambles, bodies and
# epilogues as they are written, a `_decoded_1_2.txt` the body of its second part decoded


class Texts(NamedTuple):
    """One entity: its fields, the texts around its parts or its body, and what is in it."""

    fields: tuple[str, ...]
    kind: str
    texts: tuple[str, ...]
    inside: int


def structures(data: Path) -> Iterator[tuple[str, bytes, etree._Element]]:
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


def other_texts(data: bytes, expected: etree._Element) -> Iterator[tuple[Texts, Texts]]:
    """Yield the entities that are expected otherwise."""
    left = [(Entity.of(data), expected)]
    while left:
        (part, inner), element = left.pop()
        body = element[1]
        entities = [body] if body.tag == "message" else body.findall("body-part")
        ours, theirs = our_texts(data, part, len(inner)), their_texts(element, part)
        if ours != theirs:
            yield ours, theirs
        elif inner:
            left += zip(inner, entities, strict=True)


def our_texts(data: bytes, part: Part, inside: int) -> Texts:
    def of(span: Span) -> str:
        return text(data[slice(*span)].decode("latin-1"))

    fields = tuple(of(field.span) for field in part.header.fields)
    if part.multipart is not None:
        texts = part.multipart.preamble, part.multipart.epilogue
        return Texts(fields, "multipart", tuple(of(span) for span in texts), inside)
    if part.message:
        return Texts(fields, "message", (), inside)
    return Texts(fields, "body", (of(part.body),), 0)


def their_texts(element: etree._Element, part: Part) -> Texts:
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
        return Texts(fields, "multipart", texts, len(body.findall("body-part")))
    if body.tag == "message":
        return Texts(fields, "message", (), 1)
    return Texts(fields, "body", (text(body.text),), 0)


def test_mime4j(data: Path, counts: Counts) -> None:
    rows = (
        (name, list(other_texts(message, expected)), list[Any]())
        for name, message, expected in structures(data)
    )
    counts.compare("mail: mime4j's trees", rows, least=46)


def decoded_bodies(data: Path) -> Iterator[tuple[str, str | None, str]]:
    for path in sorted((data / "email/apache-james-mime4j").rglob("*_decoded_1*.txt")):
        stem, _, number = path.stem.rpartition("_decoded_1")
        file = path.with_name(f"{stem}.msg")
        if file.exists():
            message = file.read_bytes()
            numbered = {part.number: part for part in walk(message)}
            part = numbered.get(number.strip("_").replace("_", "."))
            found = part and text(decoded(message, part).decode("latin-1"))
            yield path.name, found, text(path.read_bytes().decode("latin-1"))


def test_decoded_bodies_of_mime4j(data: Path, counts: Counts) -> None:
    counts.compare("mail: mime4j's decoded bodies", decoded_bodies(data), least=17)


# ---- stalwart's mail-parser: each message has two trees, one with its lines ended by LF, one by
# CR LF, with the offsets of its parts

Row = dict[str, Any]


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


def other_parts(data: bytes, expected: Row) -> Iterator[tuple[Seen, Seen]]:
    """Yield the entities that are expected otherwise."""
    parts = walk(data)
    left = [Pair(Entity.of(data), expected, expected["parts"][0])]
    while left:
        (part, inner), message, theirs = left.pop()
        around = parts[part.parent] if part.parent is not None else None
        ours = ours_of(part, len(inner))
        want = theirs_of(part, theirs, around)
        if ours != want:
            yield ours, want
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


def test_stalwart(data: Path, counts: Counts) -> None:
    rows = (
        (name, list(other_parts(message, expected)), list[Any]())
        for name, message, expected in messages(data)
    )
    counts.compare("mail: stalwart's trees", rows, least=101, note="LF and CR LF")


def texts_of_parts(data: Path) -> Iterator[tuple[str, str, str]]:
    """Transfer encoding and charset; stalwart reads UTF-7, which the Encoding Standard has not."""
    other_trees = known("mail: stalwart's trees")
    for name, message, expected in messages(data):
        if name in other_trees:
            continue
        parts = {(part.body.start, part.body.end): part for part in walk(message)}
        for theirs in texts(expected):
            part = parts[theirs["offset_body"], theirs["offset_end"]]
            encoding = webencodings.lookup(part.charset or "utf-8")
            if encoding is None:
                assert part.charset is not None
                assert part.charset.lower() == "utf-7"
                continue
            found, _ = encoding.codec_info.decode(decoded(message, part), "replace")
            (wanted,) = theirs["body"].values()
            unix = found.replace("\r\n", "\n"), wanted.replace("\r\n", "\n")
            yield f"{name} {part.number}", *unix


def texts(message: Row) -> Iterator[Row]:
    """Yield the parts of a message that are text, those of messages inside of it too."""
    for part in message["parts"]:
        if "Message" in part["body"]:
            yield from texts(part["body"]["Message"])
        elif part["body"].keys() & {"Text", "Html"}:
            yield part


def test_texts_of_stalwart(data: Path, counts: Counts) -> None:
    counts.compare("mail: stalwart's texts", texts_of_parts(data), least=141, note="LF and CR LF")


# ---- HTML: what MimeKit's tokenizer writes anew has the same links; Roundcube's base


def links(path: Path) -> list[tuple[str, str, str]]:
    found = relbase.links(path.read_bytes(), url="http://h.example/d/", kind="html")
    return [(link.element, link.attribute, link.reference) for link in found]


def test_mimekit_html(data: Path, counts: Counts) -> None:
    """`x.out.html` is the tokens of `x.html`, or of `x.utf-8.html`, written anew."""
    rows = [
        (page.name, links(page), links(path))
        for path in sorted((data / "email/MimeKit/html").glob("*.out.html"))
        for page in path.parent.glob(f"{path.name.removesuffix('out.html')}*html")
        if page != path
    ]
    assert sum(len(expected) for *_, expected in rows) > 100
    counts.compare("mail: HTML of MimeKit", rows, least=9)


# Roundcube's test of resolve_base: the sources of the images, in their order.
ROUNDCUBE: Final = [
    "http://alec.pl/dir/img1.gif",
    "http://alec.pl/dir/img2.gif",
    "http://alec.pl/img3.gif",
    "cid:theCID",
    "http://other.domain.tld/img3.gif",
]


def test_roundcube_base(data: Path, counts: Counts) -> None:
    document = (data / "email/roundcube/src/htmlbase.txt").read_bytes()
    result = relbase.rewrite(document, kind="html")
    sources = [link.reference for link in relbase.links(result.data, kind="html")]
    assert sources == ["http://alec.pl/dir/", *ROUNDCUBE]
    counts("mail: base of Roundcube", len(ROUNDCUBE), 0)
