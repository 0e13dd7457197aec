"""Views of attribute values and text of XML.

Text may be the HTML of a whole article. expat decodes it, and since each character is usually
written in one way only, a `CountedView` maps its offsets. Line ends in text stay as they are.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final
from xml.parsers import expat

from relbase.expressions import expression, regex
from relbase.view.characters import code_of
from relbase.view.charset import is_utf_8
from relbase.view.runs import CdataView, Piece, PiecesView, Run, RunView, View, pieces
from relbase.view.transcode import CountedView

# [66] CharRef, [68] EntityRef with the names of §4.6.
_CODED: Final = (
    rb"&(?:\#x(?P<hex>[0-9A-Fa-f]++)|\#(?P<decimal>[0-9]++)|(?P<name>amp|lt|gt|quot|apos));"
)
_in_text: Final = expression(_CODED)
_in_value: Final = expression(_CODED + rb"|\r\n|[\r\n\t]")
# A reference to an entity that XML itself does not define.
UNDEFINED: Final = rb"&(?!(?:amp|lt|gt|quot|apos);)[^\x00-\x20<>&\"'=;#/]++;"
has_entities: Final = regex(UNDEFINED).search

_NAMED: Final = {b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"', b"apos": b"'"}

# Finds a byte of a raw attribute value that may not mean itself.
needs_xml_view: Final = regex(rb"[&\r\n\t]").search


def value_view(raw: bytes, quote: bytes) -> RunView:
    """Return the view of an attribute's value (XML 1.0 §3.3.3)."""
    unsafe = _unsafe_in_value[quote]
    return RunView(raw, partial(_runs, _in_value), lambda new: unsafe.sub(_spelled, new))


def _spelled(character: re.Match[bytes]) -> bytes:
    return _SPELLED[character[0]]


_SPELLED: Final = {
    b"&": b"&amp;",
    b"<": b"&lt;",
    b">": b"&gt;",
    b'"': b"&quot;",
    b"'": b"&#39;",
    b"\t": b"&#9;",
    b"\n": b"&#10;",
    b"\r": b"&#13;",
}
_unsafe_in_value: Final = {
    b'"': expression(rb"[&<>\"\t\n\r]"),
    b"'": expression(rb"[&<>'\t\n\r]"),
}
_unsafe_in_text: Final = expression(rb"[&<>\r]")


def spell_text(new: bytes) -> bytes:
    """Escape inner text so that it means itself anywhere in the text of an element."""
    spelled = _unsafe_in_text.sub(_spelled, new)
    # The author's text may go on with `>`, and `]]>` is not allowed in text (§2.4).
    return spelled[:-1] + b"&#93;" if spelled.endswith(b"]") else spelled


def _runs(coded: re.Pattern[bytes], raw: bytes) -> Iterator[Run]:
    for reference in coded.finditer(raw):
        # Other references mean themselves.
        if reference.lastgroup in {None, "name"} or _is_character(reference):
            yield Run(reference.start(), reference.end(), _meaning(reference))


def _meaning(reference: re.Match[bytes]) -> bytes:
    if reference.lastgroup is None:
        return b" "  # §3.3.3
    if reference.lastgroup == "name":
        return _NAMED[reference["name"]]
    code = code_of(reference[reference.lastgroup], 16 if reference.lastgroup == "hex" else 10)
    return chr(code).encode("utf-8")


def text_view(raw: bytes) -> View:
    if b"\r" not in raw and b"<" not in raw:
        bare = array("Q")
        inner = _parsed(raw)
        if inner is None:
            inner = _unmasked(raw, bare)
        longer = None if inner is None else _written_longer(raw)
        if inner is not None and longer is not None:
            return CountedView(inner, partial(_length, longer, bare), spell_text)
    return RunView(raw, partial(_runs, _in_text), spell_text)


def _unmasked(raw: bytes, bare: array[int]) -> bytes | None:
    """Decode a text with flaws, and append the inner offsets of bare `&` to `bare`."""
    copy = masked(raw)
    inner = _parsed(copy)
    # A reference such as `&#127;` decodes to the mask itself.
    if inner is None or inner.count(_MASK) > copy.count(_MASK):
        return None
    unmasked = bytearray(inner)
    for outside, inside in zip(_masks(copy), _masks(inner), strict=True):
        if raw[outside] != _MASK[0]:  # a flaw, as in `spots`
            unmasked[inside] = raw[outside]
            if raw.startswith(b"&", outside):
                bare.append(inside)
    return bytes(unmasked)


# The most text per callback; a larger buffer is slow to allocate.
_CHUNK: Final = 1 << 12


def _parsed(raw: bytes) -> bytes | None:
    """Decode text with expat, much faster than any loop; None if it is not well-formed."""
    if b"&" not in raw:
        return raw
    read: list[bytes] = []
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.buffer_size = min(len(raw), _CHUNK)
    parser.CharacterDataHandler = lambda text: read.append(text.encode("utf-8"))
    try:
        parser.Parse(b"<a>%b</a>" % raw, True)
    except expat.ExpatError as error:
        raise_if_out_of_memory(error)
        return None
    return b"".join(read)


def raise_if_out_of_memory(error: expat.ExpatError) -> None:
    """Raise MemoryError where expat had none: that says nothing about the document."""
    if error.code == _NO_MEMORY:
        raise MemoryError from error


# XML_ERROR_NO_MEMORY, whose number is stable; `expat.errors` has only its words.
_NO_MEMORY: Final = 1


def _length(
    longer: Mapping[bytes, int], bare: Sequence[int], inner: bytes, start: int, end: int
) -> int:
    """Return the raw length of a range; `longer` has how much longer each character is raw."""
    length = end - start
    for character, more in longer.items():
        length += more * inner.count(character, start, end)
    if bare:
        length -= (bisect_left(bare, end) - bisect_left(bare, start)) * len("amp;")
    return length


# Each distinct reference takes a pass over the text.
_MOST_WAYS: Final = 24

_references: Final = expression(rb"&[#0-9A-Za-z]++;")


def _written_longer(raw: bytes) -> dict[bytes, int] | None:
    """Return how much longer each reference is raw; None if a character has two spellings."""
    longer: dict[bytes, int] = {}
    ways = {reference[0] for reference in _references.finditer(raw)}  # there may be a million
    if len(ways) > _MOST_WAYS:
        return None
    for spelled in ways:
        reference = _in_text.fullmatch(spelled)
        if reference is None or not (reference.lastgroup == "name" or _is_character(reference)):
            return None
        character = _meaning(reference)
        if character in longer or (character in raw and character != b"&"):
            return None
        longer[character] = len(spelled) - len(character)
    # `_length` counts a bare `&` as `&amp;`, then subtracts the difference.
    is_one = longer.setdefault(b"&", len("amp;")) == len("amp;")
    return longer if is_one else None


# ---- Flaws of XML text: undefined entities, bare ampersands, forbidden characters. They do not
# change where markup begins and ends, so they can be masked byte for byte by U+007F, which XML
# allows in text and values but nowhere in markup. Readers agree on what a bare `&` means, but on
# none of the others (`doubts`).

_MASK: Final = b"\x7f"
# Controls that [2] Char excludes. NUL, ESC, SO and SI are not masked, since they show that the
# charset is not what it seems to be.
_CONTROLS: Final = bytes(sorted(set(range(0x20)) - set(b"\0\t\n\r\x0e\x0f\x1b")))
_controls: Final = bytes.maketrans(_CONTROLS, _MASK * len(_CONTROLS))
_noncharacter: Final = expression(rb"\xef\xbf[\xbe\xbf]")
_not_utf_8: Final = expression("[\udc80-\udcff]")

# An `&` that begins no reference.
_bare: Final = expression(
    rb"&(?!(?:\#(?:[0-9]++|x[0-9A-Fa-f]++)|amp|lt|gt|quot|apos);)", re.VERBOSE
)


def masked(text: bytes) -> bytes:
    """Replace characters that XML forbids, and the `&` of undefined entities, with U+007F."""
    copy = bytearray(text.translate(_controls))
    # There may be a million, so they are not stored.
    for match in _bare.finditer(text):
        copy[match.start()] = _MASK[0]
    for match in _in_text.finditer(text):
        if match.lastgroup != "name" and not _is_character(match):
            copy[match.start()] = _MASK[0]
    return without_bad(bytes(copy), _MASK.decode())


def without_bad(text: bytes, mask: str) -> bytes:
    """Mask bytes that are not UTF-8, and noncharacters that XML forbids, byte for byte."""
    if b"\xef\xbf" in text:
        text = _noncharacter.sub(mask.encode("utf-8", "surrogateescape") * 3, text)
    if is_utf_8(text):
        return text
    decoded = text.decode("utf-8", "surrogateescape")
    return _not_utf_8.sub(mask, decoded).encode("utf-8", "surrogateescape")


def _is_character(reference: re.Match[bytes]) -> bool:
    kind = reference.lastgroup or ""
    code = code_of(reference[kind], 16 if kind == "hex" else 10)
    return code in _WHITE_SPACE or (code >= ord(" ") and code not in _NONCHARACTERS)


_WHITE_SPACE: Final = (0x09, 0x0A, 0x0D)
_NONCHARACTERS: Final = (0xFFFE, 0xFFFF)

_masked_at: Final = expression(_MASK)
_reference: Final = expression(UNDEFINED + rb"|&\#(?:x[0-9A-Fa-f]++|[0-9]++);")


def _masks(text: bytes) -> Iterator[int]:
    return (match.start() for match in _masked_at.finditer(text))


# A quick test for flaws; it also finds characters and some references that have none.
suspect: Final = regex(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x80-\xff]|&(?!(?:amp|lt|gt|quot|apos|\#[1-9][0-9]{2,3}|\#39);)"
).search


def spots(text: bytes, copy: bytes) -> Iterator[int]:
    return (at for at in _masks(copy) if text[at] != _MASK[0])


def doubts(raw: bytes, offset: int = 0, *, is_text: bool) -> array[int]:
    """Return where readers may disagree on a value or a text; on a bare `&` they agree."""
    doubtful = array("Q")
    for piece in pieces(raw) if is_text and b"<" in raw else (Piece(0, len(raw), False),):
        part = raw[piece.start : piece.end]
        for at in spots(part, masked(part)):
            is_bare = piece.is_cdata or _reference.match(part, at) is None
            if not part.startswith(b"&", at) or not is_bare:
                doubtful.append(offset + piece.start + at)
    return doubtful


def pieces_view(raw: bytes) -> PiecesView:
    return PiecesView(raw, pieces, piece_view)


def piece_view(raw: bytes, piece: Piece) -> View:
    part = raw[piece.start : piece.end]
    return CdataView(part) if piece.is_cdata else text_view(part)
