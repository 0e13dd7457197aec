"""Tests of relbase.view.iso2022jp; the decoder of the Encoding Standard is written out here."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import strategies as st
from rows import cases
from view_laws import assert_law

from relbase.edit import Edit, splice
from relbase.view.iso2022jp import Iso2022JpView, decode, encode

TABLES = Path(__file__).with_name("iso2022jp.txt")


def view_of(raw: bytes) -> Iso2022JpView:
    return Iso2022JpView(raw, lambda character: b"&#%d;" % ord(character))


# Where index jis0208 differs from Python's EUC-JP.
INDEX_JIS0208 = str.maketrans(
    "\u301c\u2016\u2212\xa2\xa3\xac", "\uff5e\u2225\uff0d\uffe0\uffe1\uffe2"
)


def standard(raw: bytes) -> str:  # noqa: C901, PLR0912, PLR0915  as the standard has it
    """WHATWG Encoding Standard §12.2.1 ISO-2022-JP decoder, byte by byte."""
    queue = list(raw)
    states = {b"(B": "ascii", b"(J": "roman", b"(I": "katakana", b"$@": "lead", b"$B": "lead"}
    state = output_state = "ascii"
    lead, output = 0, False
    decoded = ""
    while True:
        byte = queue.pop(0) if queue else -1
        error = False
        if state in {"ascii", "roman", "katakana", "lead"} and byte == -1:
            return decoded
        if state in {"ascii", "roman", "katakana", "lead"} and byte == 0x1B:
            state = "escape start"
        elif state in {"ascii", "roman"}:
            output = False
            if byte > 0x7F:
                decoded += chr(0xDC00 + byte)
            elif byte in (0x0E, 0x0F):
                error = True
            else:
                signs = {0x5C: "\xa5", 0x7E: "\u203e"} if state == "roman" else {}
                decoded += signs.get(byte, chr(byte))
        elif state == "katakana":
            output = False
            if 0x21 <= byte <= 0x5F:
                decoded += chr(0xFF61 - 0x21 + byte)
            else:
                error = True
        elif state == "lead":
            output = False
            if 0x21 <= byte <= 0x7E:
                lead, state = byte, "trail"
            else:
                error = True
        elif state == "trail":
            state = "lead"
            if byte == 0x1B:
                state, error = "escape start", True
            elif 0x21 <= byte <= 0x7E:
                try:
                    pair = bytes([lead | 0x80, byte | 0x80]).decode("euc_jp")
                    decoded += pair.translate(INDEX_JIS0208)
                except UnicodeDecodeError:
                    error = True
            else:
                error = True
        elif state == "escape start":
            if byte in (0x24, 0x28):
                lead, state = byte, "escape"
            else:
                queue[:0] = [byte] if byte != -1 else []
                output, state, error = False, output_state, True
        else:
            escaped = states.get(bytes([lead, max(byte, 0)]))
            if escaped:
                state = output_state = escaped
                error, output = output, True
            else:
                queue[:0] = [lead, byte] if byte != -1 else [lead]
                output, state, error = False, output_state, True
        decoded += "\ufffd" if error else ""


@cases(TABLES, "decoded", raw=bytes, meaning=str)
def test_decode(raw: bytes, meaning: str) -> None:
    assert decode(raw) == meaning
    if b"-!" not in raw:  # Python's EUC-JP does not have NEC's row
        assert hidden(standard(raw)) == hidden(meaning)


def hidden(string: str) -> str:
    """Within two-byte mode a bad byte is U+FFFD, in the other states a surrogate."""
    return re.sub("[\udc80-\udcff]", "\ufffd", string)


@cases(TABLES, "lowered", raw=bytes, at=int, new=str, expected=bytes)
def test_lower(raw: bytes, at: int, new: str, expected: bytes) -> None:
    assert splice(raw, view_of(raw).lower([Edit(at, at, new.encode())])) == expected


def test_encode() -> None:
    assert encode("あa\udce9~") == b'\x1b$B$"\x1b(Ba\xe9~'
    assert encode("\udc80\udcff") == b"\x80\xff"
    assert encode("é", unencodable=lambda _: b"?") == b"?"


PARTS = [
    *(b"\x1b(B", b"\x1b(J", b"\x1b(I", b"\x1b$B", b"\x1b$@", b"\x1b", b"\x1b(", b"\x1b$", b"a"),
    *(b"\\", b"~", b'$"', b"0!", b"$", b"(", b"B", b"\n", b" ", b"\x0e", b"\x80", b"\xe9", b"<"),
    b"=1",
]
NEW = st.text(st.sampled_from("a~\\\xa5\u203eあ亜ｱ(B$<é"), max_size=5)


def test_law() -> None:
    def oracle(raw: bytes) -> bytes:
        return decode(raw).encode("utf-8", "surrogatepass")

    def normal(inner: bytes) -> bytes:
        """References for what the charset does not have; an error in two-byte mode stays one."""
        return inner.replace("é".encode(), b"&#233;").replace("\ufffd".encode(), b"&#65533;")

    def also(*written: bytes) -> None:
        for raw in written:
            assert hidden(decode(raw)) == hidden(standard(raw))

    raws = st.lists(st.sampled_from(PARTS), max_size=8).map(b"".join)
    assert_law(raws, view_of, oracle, NEW.map(str.encode), normal, also=also, count=500)
