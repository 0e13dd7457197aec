"""The bytes of a document as text, for people: what is not a character in its charset is an escape.

To mind: pieces are decoded each on its own. In UTF-16 they must begin and end between two units;
in ISO-2022-JP each begins in ASCII, as every line does that mail programs write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.expressions import expression
from relbase.view.charset import DEFAULT, WIDE, lookup, sniff
from relbase.view.transcode import decode

if TYPE_CHECKING:
    import re

    from relbase.view.charset import Charset

# Bytes that are not a character: the view carries them as surrogates.
_BYTES: Final = expression("[\udc80-\udcff]")


class Decoder(NamedTuple):
    """What shows pieces of a document."""

    charset: str

    @property
    def unit(self) -> int:
        """How many bytes are never shown apart."""
        return 2 if self.charset in WIDE else 1

    def text(self, piece: bytes) -> str:
        r"""Return a piece as text."""
        return _BYTES.sub(_escape, decode(piece, self.charset))


def _escape(found: re.Match[str]) -> str:
    return f"\\x{ord(found[0]) & 0xFF:02x}"


def decoder(data: bytes, stated: Charset | None, label: str | None) -> Decoder:
    """Return what shows the pieces of a document."""
    name = (stated or sniff(data, label, meta=False)).name
    if lookup(name) is None:  # UTF-32 and the like, which browsers do not read
        name = DEFAULT.name
    # What says that it is Latin-1 is most often UTF-8 all the same, if it can be read as such.
    if name == DEFAULT.name and _is_utf_8(data):
        name = "utf-8"
    return Decoder(name)


def _is_utf_8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
