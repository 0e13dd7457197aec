"""What a text of XML may not hold: undefined entities, bare ampersands, characters it forbids.

None of it changes where markup begins and ends, so that it can be masked byte for byte by U+007F,
which XML allows in text and in values, and nowhere in markup. Readers agree on what a bare `&`
means, and on nothing else (`doubts`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from relbase.expressions import expression
from relbase.view.characters import code_of

if TYPE_CHECKING:
    from collections.abc import Iterator

# A reference to an entity that XML itself does not define.
UNDEFINED: Final = rb"&(?!(?:amp|lt|gt|quot|apos);)[^\x00-\x20<>&\"'=;#/]++;"

_MASK: Final = b"\x7f"
# What [2] Char excludes. NUL, ESC, SO and SI are not masked: where they stand, the charset is not
# what it seems to be.
_CONTROLS: Final = bytes(sorted(set(range(0x20)) - set(b"\0\t\n\r\x0e\x0f\x1b")))
_controls: Final = bytes.maketrans(_CONTROLS, _MASK * len(_CONTROLS))
_noncharacter: Final = expression(rb"\xef\xbf[\xbe\xbf]")
_not_utf_8: Final = expression("[\udc80-\udcff]")

# `&` that begins no reference, and one to a number that may be no character.
_bare: Final = expression(
    rb"&(?!(?:\#(?:[0-9]++|x[0-9A-Fa-f]++)|amp|lt|gt|quot|apos);)", re.VERBOSE
)
_number: Final = expression(
    rb"&\#(?:x(?P<hex>0*+1?[0-9A-Fa-f]|[DFdf][0-9A-Fa-f]{3}|[0-9A-Fa-f]{6,})"
    rb"|(?P<decimal>0*+[1-3]?[0-9]|[0-9]{5,}));",
    re.VERBOSE,
)


def masked(text: bytes) -> bytes:
    """Replace what XML does not allow, and the `&` of undefined entities, by U+007F."""
    copy = bytearray(text.translate(_controls))
    # There may be a million: they are not kept.
    for found in _bare.finditer(text):
        copy[found.start()] = _MASK[0]
    for found in _number.finditer(text):
        if not _is_character(found):
            copy[found.start()] = _MASK[0]
    text = bytes(copy)
    if b"\xef\xbf" in text:
        text = _noncharacter.sub(_MASK * 3, text)
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        decoded = text.decode("utf-8", "surrogateescape")
        text = _not_utf_8.sub(_MASK.decode(), decoded).encode("utf-8")
    return text


def _is_character(found: re.Match[bytes]) -> bool:
    kind = found.lastgroup or ""
    code = code_of(found[kind], 16 if kind == "hex" else 10)
    return code in _WHITE_SPACE or (code >= ord(" ") and code not in _NONCHARACTERS)


_WHITE_SPACE: Final = (0x09, 0x0A, 0x0D)
_NONCHARACTERS: Final = (0xFFFE, 0xFFFF)

_masked_at: Final = expression(_MASK)
_reference: Final = expression(UNDEFINED + rb"|&\#(?:x[0-9A-Fa-f]++|[0-9]++);")


def spots(text: bytes, copy: bytes) -> Iterator[int]:
    """Where a text differs from a copy of it that is masked."""
    for found in _masked_at.finditer(copy):
        at = found.start()
        if text[at : at + 1] != _MASK:
            yield at


def doubts(text: bytes, *, is_cdata: bool = False) -> list[int]:
    """Return where readers may disagree on what a text means: not on a bare `&`."""
    places = spots(text, masked(text))
    return [
        at for at in places if text[at] != _AND or (not is_cdata and _reference.match(text, at))
    ]


_AND: Final = ord("&")
