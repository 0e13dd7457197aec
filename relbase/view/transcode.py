"""Charsets other than ASCII: views of documents, and decoding and encoding of values.

Documents in most charsets are scanned as they are, since no trail byte is a quote, white space,
`<`, `=`, `>` or `&`. Trail bytes may be letters or a backslash, so views make each non-ASCII
character a run. UTF-16 and ISO-2022-JP need a view of the whole document.

Undecodable bytes may become a character if an edit puts them beside others.
"""

import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from relbase.edit import Edit
from relbase.expressions import expression
from relbase.view.characters import (
    MULTI_BYTE,
    bytes_of,
    characters,
    decode_inner,
    encode_inner,
    single_bytes,
)
from relbase.view.charset import (
    ISO_2022_JP,
    UTF_32,
    WIDE,
    Charset,
    CharsetSource,
    is_utf_8,
    named_in,
    wide_start,
)
from relbase.view.charset import sniff as sniff_html
from relbase.view.runs import Grown, GrownView, RunView, View

# Bytes of text converted at a time: keeps calls few without a second copy of a large document.
_CHUNK: Final = 1 << 16


def reference(character: str) -> bytes:
    """Return a decimal character reference, as WHATWG's "encode or fail" callers in HTML do."""
    return b"&#%d;" % ord(character)


def document_view(
    data: bytes, charset: str, unencodable: Callable[[str], bytes] = reference
) -> View | None:
    if charset in WIDE:
        return utf16_view(data, charset)
    if charset == ISO_2022_JP:
        from relbase.view import iso2022jp  # start-up time: it is rare

        return iso2022jp.Iso2022JpView(data, unencodable)
    return None


def text_view(raw: bytes, charset: str, unencodable: Callable[[str], bytes] = reference) -> RunView:
    """Return the view of text in an ASCII-compatible charset, `inner` in UTF-8."""

    def spell(new: bytes) -> bytes:
        string = decode_inner(new)
        if charset in MULTI_BYTE:  # what follows an undecodable byte could complete it
            bad = unencodable("\ufffd").decode("ascii")
            string = _COMPLETED.sub(lambda match: bad * len(match[0]), string)
        return encode(string, charset, unencodable)

    return RunView(raw, partial(characters, charset), spell)


# Undecodable bytes before an ASCII trail byte of some charset, or a character written with one.
_COMPLETED: Final = expression("[\udc80-\udcff]++(?=[0-9@-~]|[^\0-\x7f\udc80-\udcff])")


# Charsets that can encode every character.
UNICODE: Final = frozenset({"utf-8", *WIDE})


def escaped_view(raw: bytes, charset: str, unencodable: Callable[[str], bytes]) -> RunView:
    """Return the view of text inside `document_view`; edits escape what the charset lacks."""

    def spell(new: bytes) -> bytes:
        string = decode_inner(new)
        if string.isascii():
            return new
        return b"".join(
            encode_inner(character)
            if encode(character, charset, lambda _: b"")
            else unencodable(character)
            for character in string
        )

    return RunView(raw, lambda _raw: (), spell)


def decode(raw: bytes, charset: str) -> str:
    """Decode one value; undecodable bytes become surrogates, which `encode` turns back."""
    if charset in WIDE:
        return raw.decode(WIDE[charset], "replace")
    if charset == ISO_2022_JP:
        from relbase.view import iso2022jp  # start-up time: it is rare

        return iso2022jp.decode(raw)
    if raw.isascii():
        return raw.decode("ascii")
    if charset == "utf-8":
        return raw.decode("utf-8", "surrogateescape")
    return decode_inner(text_view(raw, charset).inner)


def encode(string: str, charset: str, unencodable: Callable[[str], bytes] = reference) -> bytes:
    """Encode text in any charset but UTF-16, which only views of whole documents write."""
    if charset == ISO_2022_JP:
        from relbase.view import iso2022jp  # start-up time: it is rare

        return iso2022jp.encode(string, unencodable=unencodable)
    if string.isascii():
        return string.encode("ascii")
    if charset == "utf-8":
        return _UNPAIRED.sub("\ufffd", string).encode("utf-8", "surrogateescape")
    encoded = bytearray()
    for part in _PARTS.finditer(string):
        if part[0].isascii():
            encoded += part[0].encode("ascii")
        else:
            encoded += bytes_of(part[0], charset) or unencodable(part[0])
    return bytes(encoded)


# A surrogate that stands for no byte, and the parts that are encoded in one step.
_UNPAIRED: Final = expression("[\ud800-\udc7f\udd00-\udfff]")
_PARTS: Final = expression("[\0-\x7f]++|[^\0-\x7f]")


@dataclass(eq=False)
class CountedView(GrownView):
    """A view in which `_length` computes how long a range of `inner` is in the raw text."""

    inner: bytes
    _length: Callable[[bytes, int, int], int]
    _spell: Callable[[bytes], bytes]

    def _grower(self) -> Callable[[Edit], Grown]:
        inner, length = self.inner, self._length
        at = raw = 0

        def grow(edit: Edit) -> Grown:
            """Grow an edit to whole characters; the previous edit may already cover the first."""
            nonlocal at, raw
            start, end, _ = edit
            while at < start < len(inner) and inner[start] in _CONTINUATION:
                start -= 1
            while end < len(inner) and inner[end] in _CONTINUATION:
                end += 1
            begin = raw + length(inner, at, start)
            at, raw = end, begin + length(inner, start, end)
            return Grown(begin, raw, start, end, edit)

        return grow


def _in_parts(count: Callable[[bytes], int], inner: bytes, start: int, end: int) -> int:
    parts = range(start, end, _CHUNK)
    return sum(count(inner[at : min(at + _CHUNK, end)]) for at in parts)


def utf16_view(raw: bytes, charset: str) -> CountedView:
    """Return the view of UTF-16; lone surrogates stay, an odd last byte is left out."""
    codec = WIDE[charset]
    decoder = codecs.getincrementaldecoder(codec)("surrogatepass")
    parts = (raw[at : at + _CHUNK] for at in range(0, len(raw), _CHUNK))
    pieces = [encode_inner(decoder.decode(part)) for part in parts]
    # The decoder still holds a high surrogate at the end of the text.
    rest = decoder.getstate()[0]
    pieces.append(encode_inner(rest[: len(rest) // 2 * 2].decode(codec, "surrogatepass")))
    length = partial(_in_parts, _utf16_length)
    return CountedView(
        b"".join(pieces), length, lambda new: decode_inner(new).encode(codec, "surrogatepass")
    )


_CONTINUATION: Final = bytes(range(0x80, 0xC0))
_LEAD_OF_FOUR: Final = bytes(range(0xF0, 0xF8))


def _utf16_length(part: bytes) -> int:
    if part.isascii():
        return 2 * len(part)
    pairs = len(part) - len(part.translate(None, _LEAD_OF_FOUR))
    return 2 * (len(part.translate(None, _CONTINUATION)) + pairs)


# ---- The encoders of the Encoding Standard, for link queries only. Their output need not decode
# to the same text, so documents are not written with them: in Shift_JIS a link to `?¥` would become
# a link to `?\`. In a query, that is what browsers make of it.

# §12.1.2, §12.2.2 and §12.3.2: "If codePoint is U+2212, then set codePoint to U+FF0D."
_MINUS: Final = str.maketrans("\u2212", "\uff0d")
# §12.1.2 EUC-JP encoder, §12.3.2 Shift_JIS encoder; ISO-2022-JP has these in its Roman state.
_SIGNS: Final = str.maketrans("\u00a5\u203e", "\\~")
# Index ISO-2022-JP katakana, from U+FF61 on.
_KATAKANA: Final = dict(
    enumerate(
        "。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテト"
        "ナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜",
        0xFF61,
    )
)
# §12.2.2: these would be read as a change of state.
_CONTROLS: Final = str.maketrans("\x0e\x0f\x1b", "\ufffd" * 3)
# §10.2.2 and index gb18030: GB 18030-2022 moved characters out of private use, and the encoder
# still accepts the old ones.
_PRIVATE_USE: Final = str.maketrans(
    "\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796"
    "\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
    "\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19"
    "\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb",
)

_NEAR: Final[Mapping[str, Mapping[int, int | str]]] = {
    "gbk": _PRIVATE_USE,
    "gb18030": _PRIVATE_USE,
    "euc-jp": {**_MINUS, **_SIGNS},
    "iso-2022-jp": {**_MINUS, **_KATAKANA, **_CONTROLS},
    "shift_jis": {**_MINUS, **_SIGNS},
}


def encode_query(string: str, charset: str, unencodable: Callable[[str], bytes]) -> bytes:
    """Encode text as a browser does for a query, replacing some characters by similar ones."""
    near = _NEAR.get(charset)
    return encode(string.translate(near) if near else string, charset, unencodable)


# ---- XML: byte order mark, the transport's label (RFC 7303 §3), the first bytes and the
# declaration (XML 1.0 §4.3.3 and appendix F), else UTF-8.

_EBCDIC: Final = b"\x4c\x6f\xa7\x94"

# A declaration up to its encoding: [77] of XML 1.0. Encodings are short.
_declaration: Final = expression(
    rb"""(?:\xef\xbb\xbf|[ \t\r\n])*+<\?xml[ \t\r\n]++
    (?:version[ \t\r\n]*+=[ \t\r\n]*+(?:"[^"<>]{0,64}"|'[^'<>]{0,64}')[ \t\r\n]++)?+
    encoding[ \t\r\n]*+=[ \t\r\n]*+(?:"([^"<>]{0,200})"|'([^'<>]{0,200})')""",
    re.VERBOSE,
)

UNKNOWN: Final = Charset("replacement", CharsetSource.META)


def sniff_xml(data: bytes, label: str | None = None) -> Charset:
    """Determine the charset of XML (RFC 7303 §3.2, XML 1.0 §4.3.3), or `UNKNOWN`."""
    if data.startswith((*UTF_32, _EBCDIC)):
        return UNKNOWN
    stated = sniff_html(data, label, meta=False)
    if stated.source in {CharsetSource.BOM, CharsetSource.TRANSPORT}:
        return stated
    if wide := wide_start(data, "<"):
        return Charset(wide, CharsetSource.FORMAT)
    declaration = _declaration.match(data)
    if declaration is None:
        return Charset("utf-8", CharsetSource.FORMAT)
    if (name := named_in(declaration)) is None:
        return UNKNOWN
    # A declaration that was readable as ASCII is not UTF-16: naming it is "a fatal error".
    if name in WIDE:
        return Charset("utf-8", CharsetSource.CONTRADICTED) if is_utf_8(data) else UNKNOWN
    return Charset(name, CharsetSource.META)


def xml_view(data: bytes, charset: str) -> View | None:
    view = document_view(data, charset)
    if view is not None or charset == "utf-8":
        return view
    if charset in MULTI_BYTE:
        return text_view(data, charset)
    decoded, _ = codecs.charmap_decode(data, "strict", single_bytes(charset)[0])
    return CountedView(
        encode_inner(decoded),
        partial(_in_parts, lambda part: len(part.translate(None, _CONTINUATION))),
        lambda new: b"".join(_xml_spelled(character, charset) for character in decode_inner(new)),
    )


def _xml_spelled(character: str, charset: str) -> bytes:
    if character.isascii():
        return character.encode("ascii")
    byte = bytes_of(character, charset)
    # In the charsets of ISO 8859, XML parsers read bytes below A0 differently from browsers.
    return reference(character) if byte is None or byte < b"\xa0" else byte
