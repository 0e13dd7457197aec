"""What readers of files that hold pages yield, and how decoded text becomes bytes again."""

from __future__ import annotations

import codecs
from contextlib import suppress
from typing import Final, NamedTuple

from relbase.containers.content_type import parameters
from relbase.view.charset import UNREADABLE, WIDE, CharsetSource, sniff
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


def in_own_charset(text: bytes, type_: str) -> bytes:
    """Return UTF-8 in the charset that the text or its type states, else with a byte order mark."""
    if text.isascii():
        return text
    name, source = sniff(text, parameters(type_).get("charset"))
    is_stated = source in {CharsetSource.META, CharsetSource.TRANSPORT}
    if source is CharsetSource.BOM or (is_stated and name == "utf-8"):
        return text
    if is_stated and name not in {*WIDE, *UNREADABLE}:
        with suppress(LookupError):
            return encode(text.decode(), name, _lacking)
    return codecs.BOM_UTF8 + text


def _lacking(character: str) -> bytes:
    raise LookupError(character)
