"""What readers of files that hold pages yield, and what they share: XML, text that was decoded."""

from __future__ import annotations

import codecs
from contextlib import suppress
from typing import Final, NamedTuple
from xml.parsers import expat

from relbase.containers.content_type import parameters
from relbase.view.charset import UNREADABLE, WIDE, CharsetSource, lookup, sniff
from relbase.view.transcode import encode

# Of a file, which is read as a whole.
MAX_FILE: Final = 256 << 20


class Saved(NamedTuple):
    """A document in such a file."""

    offset: int  # of its body, or what stands for it, in the file
    url: str
    type: str  # its Content-Type, with the charset as a parameter
    body: bytes | memoryview
    status: int | None = None
    date: str = ""
    fields: tuple[tuple[str, str], ...] = ()  # header fields that matter, names in lower case
    redirects: tuple[str, ...] = ()  # the absolute URLs that led to `url`, which is the last one
    fault: str = ""  # why its body cannot be read
    name: str = ""  # the path of its file, or its title
    files: frozenset[str] = frozenset()  # paths of those saved with it, and of their folders


def xml_parser(separator: str | None = None) -> expat.XMLParserType:
    """Return a parser of UTF-8 that raises ValueError at entities and other encodings."""
    parser = expat.ParserCreate("utf-8", separator)
    parser.EntityDeclHandler, parser.XmlDeclHandler = _entity, _declaration
    return parser


def _entity(name: str, *_declaration: object) -> None:
    raise ValueError(f"it declares the entity {name[:40]!r}")


def _declaration(_version: str, encoding: str | None, _standalone: int) -> None:
    if encoding and lookup(encoding) != "utf-8":
        raise ValueError(f"it states the encoding {encoding[:40]!r}: only UTF-8 is read")


def in_own_charset(text: bytes, type_: str) -> bytes:
    """Return UTF-8 in the charset that the text or its type states, else with a byte order mark."""
    if text.isascii():
        return text
    name, source = sniff(text, parameters(type_).get("charset"))
    is_stated = source in {CharsetSource.META, CharsetSource.TRANSPORT}
    if source is CharsetSource.BOM or (is_stated and name == "utf-8"):
        return text
    if is_stated and name not in {*WIDE, *UNREADABLE}:
        with suppress(LookupError, UnicodeDecodeError):
            return encode(text.decode(), name, _lacking)
    return codecs.BOM_UTF8 + text


def _lacking(character: str) -> bytes:
    raise LookupError(character)
