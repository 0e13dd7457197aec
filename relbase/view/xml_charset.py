"""Which charset an XML document is in, and the view that shows it in UTF-8.

The rules are those of XML: byte order mark, the transport's label (RFC 7303 §3), the first bytes
and the declaration (XML 1.0 §4.3.3 and appendix F), else UTF-8. ISO-8859-1 is windows-1252, as in
browsers, where XML parsers read C1 controls: what is written is never one of those bytes.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from relbase.expressions import expression
from relbase.view.characters import bytes_of, is_multi_byte, text
from relbase.view.characters import inner as encode_inner
from relbase.view.charset import (
    UTF_32,
    WIDE,
    Charset,
    CharsetSource,
    is_utf_8,
    lookup,
    wide_start,
)
from relbase.view.charset import sniff as sniff_html
from relbase.view.transcode import CONTINUATION, CountedView, document_view, reference, text_view

if TYPE_CHECKING:
    from relbase.view.runs import View

_EBCDIC: Final = b"\x4c\x6f\xa7\x94"

# What stands in a declaration before its encoding: [77] of XML 1.0. Encodings are short.
_declaration: Final = expression(
    rb"""(?:\xef\xbb\xbf|[ \t\r\n])*+<\?xml[ \t\r\n]++
    (?:version[ \t\r\n]*+=[ \t\r\n]*+(?:"[^"<>]{0,64}"|'[^'<>]{0,64}')[ \t\r\n]++)?+
    encoding[ \t\r\n]*+=[ \t\r\n]*+(?:"([^"<>]{0,200})"|'([^'<>]{0,200})')""",
    re.VERBOSE,
)

UNKNOWN: Final = Charset("replacement", CharsetSource.META)


def sniff_xml(data: bytes, label: str | None = None) -> Charset:
    r"""Determine the charset of an XML document; "replacement" for one that nobody can read.

    Implements RFC 7303 §3.2 and XML 1.0 §4.3.3.
    """
    if data.startswith((*UTF_32, _EBCDIC)):
        return UNKNOWN
    stated = sniff_html(data, label, meta=False)
    if stated.source in {CharsetSource.BOM, CharsetSource.TRANSPORT}:
        return stated
    name = wide_start(data, "<")
    if name is not None:
        return Charset(name, CharsetSource.FORMAT)
    found = _declaration.match(data)
    if found is None:
        return Charset("utf-8", CharsetSource.FORMAT)
    return _declared(found[found.lastindex or 0].decode("latin-1"), data)


def _declared(label: str, data: bytes) -> Charset:
    name = lookup(label)
    if name is None:
        return UNKNOWN
    # A declaration that can be read as ASCII has no code units of two bytes: "a fatal error".
    if name in WIDE:
        return Charset("utf-8", CharsetSource.CONTRADICTED) if is_utf_8(data) else UNKNOWN
    return Charset(name, CharsetSource.META)


def xml_view(data: bytes, charset: str) -> View | None:
    """Return the view of a document in UTF-8; None where it is in UTF-8 already.

    Raises:
        ValueError: if no document in this charset can be read.
    """
    view = document_view(data, charset)
    if view is not None or charset == "utf-8":
        return view
    return text_view(data, charset) if is_multi_byte(charset) else _byte_view(data, charset)


def _byte_view(data: bytes, charset: str) -> CountedView:
    """The view of a document in a single-byte charset."""
    decoded, _ = codecs.charmap_decode(data, "strict", _table(charset))
    return CountedView(
        encode_inner(decoded),
        lambda part: len(part.translate(None, CONTINUATION)),
        lambda new: b"".join(_spelled(character, charset) for character in text(new)),
    )


def _spelled(character: str, charset: str) -> bytes:
    if character.isascii():
        return character.encode("ascii")
    byte = bytes_of(character, charset)
    # XML parsers do not read bytes below A0 as browsers do, whatever of ISO 8859 they were called.
    return reference(character) if byte is None or byte < b"\xa0" else byte


@lru_cache(maxsize=64)  # the standard has 28 single-byte charsets
def _table(charset: str) -> str:
    single = (bytes([byte]) for byte in range(256))
    return "".join(text(text_view(byte, charset).inner) for byte in single)
