r"""ISO-2022-JP: a charset in which escape sequences decide how the bytes after them are read.

In the states ASCII and Roman, bytes mean themselves (except `\` and `~` in Roman); text in the
other states is one run. An escape sequence directly after another one is an error, so a run that
ends with one is `unended`, and new text omits its last one if another follows.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from relbase.edit import Edit
from relbase.expressions import regex
from relbase.view.characters import decode_inner, encode_inner, jis_0208, jis_0208_bytes
from relbase.view.runs import Run, RunView

_ASCII: Final = b"\x1b(B"
_ROMAN: Final = b"\x1b(J"
_KATAKANA: Final = b"\x1b(I"
_TWO_BYTE: Final = b"\x1b$B"

_ERROR: Final = "\ufffd"

# §12.2.1, Escape start and Escape: `$@` and `$B` are the same two-byte state.
_ESCAPE: Final = regex(rb"\x1b(?:\([BJI]|\$[@B])")
_TO_SINGLE: Final = regex(rb"\x1b\([BJ]")

# Bytes that do not mean themselves in the states ASCII and Roman. An ESC that begins no escape
# sequence is an error, but an edit could make it one.
_SPECIAL: Final = {
    _ASCII: regex(rb"\x1b[($]?+|[\x0e\x0f\x80-\xff]"),
    _ROMAN: regex(rb"\x1b[($]?+|[\x0e\x0f\x80-\xff\\~]"),
}
_ROMAN_SIGNS: Final = {b"\\": "\u00a5", b"~": "\u203e"}

# The units of the states Trail byte and Katakana up to the next ESC; bad ones are errors.
_PAIR: Final = regex(rb"[\x21-\x7e][^\x1b]?+|[^\x1b\x21-\x7e]")
_KATAKANA_FIRST: Final = 0xFF61 - 0x21
_KATAKANA_BYTES: Final = range(0x21, 0x60)
_katakana: Final = {byte: chr(_KATAKANA_FIRST + byte) for byte in _KATAKANA_BYTES}


class Iso2022JpView(RunView):
    def __init__(self, raw: bytes, unencodable: Callable[[str], bytes]) -> None:
        super().__init__(raw, _find, bytes)
        self._unencodable = unencodable
        self._flips = _flips(raw)

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        return map(self._spelled, super().lowered(edits))

    def _spelled(self, edit: Edit) -> Edit:
        followed = _ESCAPE.match(self._raw, edit.end)
        after = None if followed else self._state(edit.end)
        new = encode(decode_inner(edit.new), self._state(edit.start), after, self._unencodable)
        return Edit(edit.start, edit.end, new)

    def _state(self, at: int) -> bytes:
        return _ROMAN if bisect_right(self._flips, at) % 2 else _ASCII


def decode(raw: bytes) -> str:
    """Decode `raw` as the standard's decoder does; bytes from 0x80 on become surrogates."""
    return decode_inner(RunView(raw, _find, bytes).inner)


def encode(
    string: str,
    before: bytes = _ASCII,
    after: bytes | None = _ASCII,
    unencodable: Callable[[str], bytes] = lambda character: b"&#%d;" % ord(character),
) -> bytes:
    """Encode a string between two states (Encoding Standard §12.2.2); katakana stay half-width."""
    encoded = bytearray()
    state = before
    for character in string:
        coded = _coded(character, state)
        needed, code = coded or _plain(unencodable(character), state)
        if needed != state:
            encoded += needed
        encoded += code
        state = needed
    if after is not None and state != after:
        encoded += after
    return bytes(encoded)


def _plain(code: bytes, state: bytes) -> tuple[bytes, bytes]:
    """Return the state for ASCII bytes (Roman will do, except for two characters), and them."""
    stays = state == _ROMAN and b"\\" not in code and b"~" not in code
    return (_ROMAN if stays else _ASCII), code


def _coded(character: str, state: bytes) -> tuple[bytes, bytes] | None:
    """Return the state that a character needs and its bytes there, or None if it has none."""
    code = ord(character)
    if character.isascii():
        if character in "\x0e\x0f\x1b":
            return None
        return _plain(character.encode("ascii"), state)
    if 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004  the bytes 0x80 to 0xFF
        return (state if state == _ROMAN else _ASCII), bytes([code - 0xDC00])
    if character in _ROMAN_BYTES:
        return _ROMAN, _ROMAN_BYTES[character]
    if code - _KATAKANA_FIRST in _KATAKANA_BYTES:
        return _KATAKANA, bytes([code - _KATAKANA_FIRST])
    pair = jis_0208_bytes().get(character)
    return (_TWO_BYTE, pair) if pair else None


_ROMAN_BYTES: Final = {character: byte for byte, character in _ROMAN_SIGNS.items()}


def _find(raw: bytes) -> Iterator[Run]:
    at, state = 0, _ASCII
    while at < len(raw) and (special := _SPECIAL[state].search(raw, at)):
        start, at = special.span()
        if _ESCAPE.match(raw, start):
            at, state, meaning = _region(raw, start)
            yield Run(start, at, encode_inner(meaning), unended=True)
        else:
            yield Run(start, at, encode_inner(_meaning(special[0])), special[0][0] == 0x1B)  # noqa: PLR2004


def _meaning(special: bytes) -> str:
    """Decode a byte that does not mean itself, or an ESC with the byte after it."""
    if special[0] >= 0x80:  # noqa: PLR2004
        return special.decode("ascii", "surrogateescape")
    return _ROMAN_SIGNS.get(special) or _ERROR + special[1:].decode("ascii")


def _region(raw: bytes, at: int) -> tuple[int, bytes, str]:
    """Read until bytes mean themselves again; return the offset, the state and the text."""
    pieces: list[str] = []
    state, has_output = _ASCII, True
    while at < len(raw):
        escape = _ESCAPE.match(raw, at)
        if escape:
            # §12.2.1, Escape: a sequence directly after another one is an error.
            if not has_output:
                pieces.append(_ERROR)
            state, at, has_output = escape[0], escape.end(), False
        elif state in _SPECIAL:
            break
        elif raw[at] == 0x1B:  # noqa: PLR2004
            pieces.append(_ERROR)
            at, has_output = at + 1, True
        else:
            end = raw.find(b"\x1b", at)
            end = len(raw) if end == -1 else end
            if state == _KATAKANA:
                pieces += [_katakana.get(byte, _ERROR) for byte in raw[at:end]]
            else:
                units = _PAIR.finditer(raw, at, end)
                pieces += [jis_0208().get(unit[0]) or _ERROR for unit in units]
            at, has_output = end, True
    return at, state, "".join(pieces)


def _flips(raw: bytes) -> array[int]:
    """Return the offsets at which the state switches between ASCII and Roman."""
    flips = array("Q")
    state = _ASCII
    for escape in _TO_SINGLE.finditer(raw):
        if escape[0] != state:
            state = escape[0]
            flips.append(escape.end())
    return flips
