"""Encoded words: RFC 2047, with the language of RFC 2231 §5.

A word is decoded wherever it stands, between brackets and quotes too, where §5 forbids it and
mailers write it. One whose charset is unknown, or whose bytes mean nothing in it, stands for
itself: no reader shows anything better. Charsets are those of the WHATWG table alone (rule
13).
"""

from __future__ import annotations

import base64
import quopri
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.view.characters import inner, text
from relbase.view.charset import UNREADABLE, lookup
from relbase.view.transcode import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

# encoded-word = "=?" charset "?" encoding "?" encoded-text "?="   (RFC 2047 §2, RFC 2231 §5)
_ENCODED_WORD: Final = re.compile(
    rb"=\?([^?\s*]{1,40})(?:\*[^?\s]{0,40})?\?([BbQq])\?([^?\s]*+)\?="
)
# What `decode` makes of bytes that mean nothing.
_UNDECODABLE: Final = re.compile("[\udc80-\udcff\ufffd]")


class Word(NamedTuple):
    """An encoded word."""

    start: int
    end: int
    inner: bytes  # what it means, in UTF-8


def words(raw: bytes) -> Iterator[Word]:
    """Yield the encoded words of a field that can be decoded.

    Implements RFC 2047 §2 to §4.
    """
    for found in _ENCODED_WORD.finditer(raw):
        text = _decoded(*found.groups())
        if text is not None:
            yield Word(*found.span(), inner(text))


def decoded_words(value: str) -> str:
    """Return a value with its encoded words decoded; what is between two of them stays."""
    if "=?" not in value:
        return value
    raw = inner(value)
    pieces: list[bytes] = []
    at = 0
    for word in words(raw):
        pieces += (raw[at : word.start], word.inner)
        at = word.end
    return text(b"".join((*pieces, raw[at:])))


def _decoded(label: bytes, encoding: bytes, encoded: bytes) -> str | None:
    charset = lookup(label.decode("latin-1"))
    if charset is None or charset in UNREADABLE or not encoded.isascii():
        return None
    try:
        if encoding in b"Bb":
            text = decode(base64.b64decode(encoded, validate=True), charset)
        else:
            text = decode(quopri.decodestring(encoded, header=True), charset)
    except ValueError:
        return None
    return None if _UNDECODABLE.search(text) else text
