"""Charsets other than ASCII: how a document in one is scanned, and what one value means.

Strategy: UTF-8, the single-byte charsets and the multi-byte ones whose ASCII bytes always mean
ASCII where it matters are scanned as they are. Their trail bytes never are a quote, white space,
`<`, `=`, `>` or `&`, because the decoder gives back an ASCII byte that completes no character.
They may be letters or a backslash: `text_view` and the view of attribute values make a run of
every character outside ASCII. UTF-16 and ISO-2022-JP need a view of the whole document. The
"replacement" charset cannot be read at all.

To mind: undecodable bytes are carried as the surrogates U+DC80 to U+DCFF, so that encoding gives
back the bytes. Where an edit puts such bytes beside others they may become a character: the view
law holds for what the bytes say then.
"""

from __future__ import annotations

import codecs
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from relbase.edit import Edit
from relbase.expressions import expression
from relbase.view.characters import bytes_of, characters, is_multi_byte, text
from relbase.view.characters import inner as encode_inner
from relbase.view.charset import DEFAULT, UNREADABLE, WIDE, lookup
from relbase.view.runs import Grown, RunView, merge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relbase.view.runs import View

_ISO_2022_JP: Final = "iso-2022-jp"

# Bytes of text converted at a time: few calls, and no second copy of a large document.
_CHUNK: Final = 1 << 16


def reference(character: str) -> bytes:
    """Return a decimal character reference, as WHATWG's "encode or fail" callers in HTML do."""
    return b"&#%d;" % ord(character)


def document_view(
    data: bytes, charset: str, unencodable: Callable[[str], bytes] = reference
) -> View | None:
    """Return the view that a document has to be scanned in, None where it is scanned as it is.

    Inside of the view the charset is UTF-8.

    Raises:
        ValueError: if no document in this charset can be read (`UNREADABLE`) or it is none.
    """
    if not _is_scanned(charset):
        raise ValueError(f"no document is scanned as {charset!r}: pass it through")
    if charset in WIDE:
        return Utf16View(data, charset)
    if charset == _ISO_2022_JP:
        from relbase.view import iso2022jp  # noqa: PLC0415 (start-up time: it is rare)

        return iso2022jp.Iso2022JpView(data, unencodable)
    return None


@lru_cache(maxsize=64)  # there are 39 names
def _is_scanned(charset: str) -> bool:
    # Most documents are in these, and to load all names takes longer than to rewrite a small one.
    if charset in {"utf-8", DEFAULT.name}:
        return True
    return charset not in UNREADABLE and lookup(charset) == charset


def text_view(raw: bytes, charset: str, unencodable: Callable[[str], bytes] = reference) -> RunView:
    """Return the view of text in an ASCII-compatible charset, `inner` in UTF-8.

    An undecodable byte in new text is written as U+FFFD where the letter or backslash after it
    could complete a character: a style sheet would lose the backslash of an escape.
    """

    def spell(new: bytes) -> bytes:
        string = text(new)
        if is_multi_byte(charset):
            bad = unencodable("\ufffd").decode("ascii")
            string = _COMPLETED.sub(lambda _: bad, string)
        return encode(string, charset, unencodable)

    return RunView(raw, partial(characters, charset), spell)


# The trail bytes of ASCII in any of the multi-byte charsets, and what may be written with one.
_COMPLETED: Final = expression("[\udc80-\udcff](?=[0-9@-~]|[^\0-\x7f\udc80-\udcff])")


def writes_all(charset: str) -> bool:
    """Whether every character can be written in a charset."""
    return charset in _UNICODE


_UNICODE: Final = frozenset({"utf-8", *WIDE})


def escaped_view(raw: bytes, charset: str, unencodable: Callable[[str], bytes]) -> RunView:
    """Return the view of text within `document_view`, where edits hold what the charset has.

    What the charset does not have would else be written by the view of the document, which does
    not know in what it stands.
    """

    def spell(new: bytes) -> bytes:
        string = text(new)
        if string.isascii():
            return new
        return b"".join(
            encode_inner(character)
            if encode(character, charset, _nothing)
            else unencodable(character)
            for character in string
        )

    return RunView(raw, lambda _raw: (), spell)


def _nothing(_character: str) -> bytes:
    return b""


def decode(raw: bytes, charset: str) -> str:
    """Decode one value; undecodable bytes become surrogates that `encode` turns back.

    Implements the decoders of the Encoding Standard.
    """
    if charset in WIDE:
        return raw.decode(WIDE[charset], "replace")
    if charset == _ISO_2022_JP:
        from relbase.view import iso2022jp  # noqa: PLC0415 (start-up time: it is rare)

        return iso2022jp.decode(raw)
    if raw.isascii():
        return raw.decode("ascii")
    if charset == "utf-8":
        return raw.decode("utf-8", "surrogateescape")
    return text(text_view(raw, charset).inner)


def encode(string: str, charset: str, unencodable: Callable[[str], bytes] = reference) -> bytes:
    """Encode one value, the reverse of `decode`."""
    if string.isascii() and charset not in WIDE and charset != _ISO_2022_JP:
        return string.encode("ascii")
    if charset in WIDE:
        return string.encode(WIDE[charset], "surrogatepass")
    if charset == _ISO_2022_JP:
        from relbase.view import iso2022jp  # noqa: PLC0415 (start-up time: it is rare)

        return iso2022jp.encode(string, unencodable=unencodable)
    if charset == "utf-8":
        return _UNPAIRED.sub("\ufffd", string).encode("utf-8", "surrogateescape")
    encoded = bytearray()
    for part in _PARTS.finditer(string):
        if part[0].isascii():
            encoded += part[0].encode("ascii")
        else:
            encoded += bytes_of(part[0], charset) or unencodable(part[0])
    return bytes(encoded)


# A surrogate that is not a byte, and the parts that are encoded at once.
_UNPAIRED: Final = expression("[\ud800-\udc7f\udd00-\udfff]")
_PARTS: Final = expression("[\0-\x7f]++|[^\0-\x7f]")


class Utf16View:
    r"""The view of a document in UTF-16: single surrogates stay, an odd last byte stays outside."""

    __slots__ = ("_codec", "inner")

    def __init__(self, raw: bytes, charset: str) -> None:
        self._codec = WIDE[charset]
        decoder = codecs.getincrementaldecoder(self._codec)("surrogatepass")
        parts = (raw[at : at + _CHUNK] for at in range(0, len(raw), _CHUNK))
        pieces = [decoder.decode(part).encode("utf-8", "surrogatepass") for part in parts]
        pieces.append(_last_unit(decoder.getstate()[0], self._codec))
        self.inner: bytes = b"".join(pieces)

    def lower(self, edits: Sequence[Edit]) -> list[Edit]:
        """Turn sorted, disjoint edits of `inner` into such edits of the raw text."""
        lowered: list[Edit] = []
        at = units = 0
        for grown, new in merge(self.inner, (whole_characters(self.inner, edit) for edit in edits)):
            start = units + _count_units(self.inner, at, grown.start)
            at, units = grown.end, start + _count_units(self.inner, grown.start, grown.end)
            raw = text(new).encode(self._codec, "surrogatepass")
            lowered.append(Edit(2 * start, 2 * units, raw))
        return lowered


def _last_unit(rest: bytes, codec: str) -> bytes:
    """Return a high surrogate that the decoder still holds at the end of the text."""
    whole = rest[: len(rest) // 2 * 2]
    return whole.decode(codec, "surrogatepass").encode("utf-8", "surrogatepass")


_CONTINUATION: Final = bytes(range(0x80, 0xC0))
_LEAD_OF_FOUR: Final = bytes(range(0xF0, 0xF8))


def whole_characters(inner: bytes, edit: Edit) -> Grown:
    """Grow an edit to the whole of the characters that it splits."""
    start, end = edit.start, edit.end
    while start < len(inner) and inner[start] in _CONTINUATION:
        start -= 1
    while end < len(inner) and inner[end] in _CONTINUATION:
        end += 1
    return Grown(start, end, start, end, edit)


def _count_units(inner: bytes, start: int, end: int) -> int:
    """Return how many units of UTF-16 a range of the inner text is."""
    units = 0
    for at in range(start, end, _CHUNK):
        part = inner[at : min(at + _CHUNK, end)]
        units += len(part)
        if not part.isascii():
            pairs = len(part) - len(part.translate(None, _LEAD_OF_FOUR))
            units += pairs - (len(part) - len(part.translate(None, _CONTINUATION)))
    return units
