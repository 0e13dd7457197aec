"""What a text of XML may not hold: undefined entities, bare ampersands, characters it forbids.

None of it changes where markup begins and ends, so that it can be masked byte for byte: a parser
then tells whether anything else is wrong (`xml_sound`). What it means is another question: readers
agree on a bare `&`, and on nothing else (`doubts`). U+007F is the mask, since XML allows it in text
and in values, and nowhere in markup.
"""

from __future__ import annotations

import re
from typing import Final

from relbase.expressions import expression
from relbase.view.xml_values import code_of

# A reference to an entity that XML itself does not define.
UNDEFINED: Final = rb"&(?!(?:amp|lt|gt|quot|apos);)[^\x00-\x20<>&\"'=;#/]++;"

_MASK: Final = b"\x7f"
# `&` with the reference that it begins, if any; what [2] Char excludes. NUL, ESC, SO and SI are not
# masked: where they stand, the charset is not what it seems to be.
_suspect: Final = expression(
    rb"""&(?:\#(?:x(?P<hex>[0-9A-Fa-f]++)|(?P<decimal>[0-9]++));|(?P<name>amp|lt|gt|quot|apos);)?+
    |[\x01-\x08\x0b\x0c\x10-\x1a\x1c-\x1f]|\xef\xbf[\xbe\xbf]""",
    re.VERBOSE,
)
_not_utf_8: Final = expression("[\udc80-\udcff]")


def masked(text: bytes) -> bytes:
    r"""Replace what XML does not allow in a text, and the `&` of undefined entities, by U+007F.

    >>> masked(b"a&b&amp;c&nbsp;\x01&#1;")
    b'a\x7fb&amp;c\x7fnbsp;\x7f\x7f#1;'
    """
    text = _suspect.sub(_mask, text)
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        decoded = text.decode("utf-8", "surrogateescape")
        text = _not_utf_8.sub(_MASK.decode(), decoded).encode("utf-8")
    return text


def _mask(found: re.Match[bytes]) -> bytes:
    kind = found.lastgroup
    if kind == "name" or (kind and _is_allowed(found[kind], 16 if kind == "hex" else 10)):
        return found[0]
    if found[0].startswith(b"&"):
        return _MASK + found[0][1:]
    return _MASK * len(found[0])


def _is_allowed(digits: bytes, radix: int) -> bool:
    code = code_of(digits, radix)
    return code in _WHITE_SPACE or (code >= ord(" ") and code not in _NONCHARACTERS)


_WHITE_SPACE: Final = (0x09, 0x0A, 0x0D)
_NONCHARACTERS: Final = (0xFFFE, 0xFFFF)

_masked_at: Final = expression(_MASK)
_reference: Final = expression(UNDEFINED + rb"|&\#(?:x[0-9A-Fa-f]++|[0-9]++);")


def doubts(text: bytes, *, is_cdata: bool = False) -> list[int]:
    """Return where readers may disagree on what a text means.

    >>> doubts(b"/x?a=1&b=2&nbsp;")
    [10]
    """
    places = (found.start() for found in _masked_at.finditer(masked(text)))
    return [at for at in places if _is_doubtful(text, at, is_cdata=is_cdata)]


def _is_doubtful(text: bytes, at: int, *, is_cdata: bool) -> bool:
    if text[at : at + 1] != b"&":
        return text[at : at + 1] != _MASK
    return not is_cdata and _reference.match(text, at) is not None
