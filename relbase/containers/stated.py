"""What the header of a part states of its body: type, charset, boundary, file name."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from relbase.containers.content_type import media_type, parameters, token
from relbase.view.encoded_words import decoded_words
from relbase.view.transcode import encode


class Stated(NamedTuple):
    """What a Content-Type states."""

    type: str  # in lower case, "" for none
    charset: str | None  # the label, None for none
    boundary: bytes | None  # as it stands in delimiters, None for none
    name: str  # of the file, "" for none


def read_type(content_type: str) -> Stated:
    """Read a Content-Type (RFC 2045 §5.1)."""
    # Few are new: many parts and messages share theirs.
    return (_read if len(content_type) > _REMEMBERED else _remembered)(content_type)


# What some programs write in the place of a type.
_MISSPELT: Final = {"html": "text/html"}


def _read(content_type: str) -> Stated:
    stated = parameters(content_type)
    type_ = media_type(content_type) or _MISSPELT.get(token(content_type), "")
    charset = stated.get("charset", "").strip() or None
    # RFC 2046 §5.1.1: a boundary ends in no space.
    boundary = encode(stated.get("boundary", ""), "utf-8").rstrip(b"\t ") or None
    return Stated(type_, charset, boundary, decoded_words(stated.get("name", "")))


_REMEMBERED: Final = 1_000
_remembered: Final = lru_cache(maxsize=128)(_read)


def file_name(disposition: str) -> str:
    """Return the file name that a Content-Disposition states, "" for none (RFC 2183 §2.3).

    However, its encoded words are decoded: RFC 2047 §5 forbids them there, and mailers write them.
    """
    if "filename" not in disposition.lower():
        return ""
    return decoded_words(parameters(disposition).get("filename", ""))
