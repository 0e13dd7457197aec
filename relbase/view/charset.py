"""The charset of a document, by its name in the WHATWG Encoding Standard, and what declared it.

Where a browser would guess by frequency or locale, valid UTF-8 counts as UTF-8 and everything else
as windows-1252. Python's own labels do not count, since `utf-7` turns plain text into markup.
"""

import codecs
import re
from collections.abc import Mapping
from enum import Enum
from functools import cache, lru_cache
from typing import Final, NamedTuple, cast

from relbase.expressions import expression

# "User agents are encouraged to only prescan the first 1024 bytes" (WHATWG HTML §13.2.3.2).
PRESCAN_LENGTH: Final = 1024

# Large enough to keep calls few, small enough to need no second copy of a large document.
_CHUNK: Final = 1 << 16

# The charsets with code units of two bytes, and Python's codecs for them (Encoding Standard §14).
WIDE: Final = {"utf-16be": "utf-16-be", "utf-16le": "utf-16-le"}
# Beside those: a byte of ASCII may stand for another character.
ISO_2022_JP: Final = "iso-2022-jp"

# The charset of labels that must not be decoded (§4.3).
UNREADABLE: Final = frozenset({"replacement"})

# Encoding Standard §6 "BOM sniff".
WIDE_BOMS: Final = {name: "\ufeff".encode(codec) for name, codec in WIDE.items()}
_BOMS: Final = {codecs.BOM_UTF8: "utf-8", **{mark: name for name, mark in WIDE_BOMS.items()}}


def after_mark(text: bytes) -> int:
    """Return where a text begins: after the byte order mark of UTF-8, if there is one."""
    return len(codecs.BOM_UTF8) if text.startswith(codecs.BOM_UTF8) else 0


class CharsetSource(Enum):
    BOM = "byte order mark"
    TRANSPORT = "transport"
    META = "meta"  # or an XML declaration in its place
    AT_CHARSET = "@charset"
    GUESS = "valid UTF-8"
    DEFAULT = "default"
    FORMAT = "the format's own rule"  # XML without a declaration
    CONTRADICTED = "valid UTF-8, whatever it declares"  # XML that says UTF-16


class Charset(NamedTuple):
    """A charset: its WHATWG `name` in lower case, and its `source`."""

    name: str
    source: CharsetSource


def lookup(label: str) -> str | None:
    """Return the lower-case name of the charset that a label stands for, or None (§4.2)."""
    if not label.isascii():
        return None
    return _labels().get(label.strip(_SPACE).lower())


def named_in(declaration: re.Match[bytes] | None) -> str | None:
    if declaration is None or not declaration.lastindex:
        return None
    return _named(declaration[declaration.lastindex][:_LONGEST])


@lru_cache(maxsize=16)
def _named(label: bytes) -> str | None:
    return lookup(label.decode("latin-1"))


@cache
def _labels() -> Mapping[str, str]:
    # Costs a millisecond that a document with a byte order mark need not pay.
    from webencodings.labels import LABELS

    return cast("Mapping[str, str]", LABELS)


# Charsets outside the Encoding Standard in which markup is not ASCII. Browsers do not read them,
# some mail programs do (RFC 2152, Unicode §3.10, RFC 1345's tables of IBM).
_OTHERS: Final = (
    ("utf-7", expression(r"(?:x-|cs)?unicode-?\d-?\d-?utf-?7|(?:x-)?utf-?7(?:-imap)?")),
    ("utf-32", expression(r"utf-?32(?:-?[bl]e)?|ucs-?4(?:-?[bl]e)?|iso-10646-ucs-4")),
    (
        "EBCDIC",
        expression(
            r"(?:cs)?(?:ibm|cp)-?0?(?:037|273|27[78]|280|284|285|297|420|424|500|87[015])"
            r"|(?:cs)?(?:ibm|cp)-?0?(?:1026|1047|114\d)|(?:cs)?ebcdic-?[a-z-]*"
        ),
    ),
)
NOT_ASCII: Final = frozenset(name for name, _ in _OTHERS)
UTF_32: Final = (b"\xff\xfe\0\0", b"\0\0\xfe\xff", b"<\0\0\0", b"\0\0\0<")


def not_ascii(data: bytes, label: str | None) -> str | None:
    """Return the name of a charset that relbase does not read: its markup is not ASCII. Or None."""
    if data.startswith(UTF_32):
        return "utf-32"
    if not label or _transport(label.strip(_SPACE)[:_LONGEST]):
        return None
    spelling = label.strip(_SPACE).lower().replace("_", "-")
    return next((name for name, written in _OTHERS if written.fullmatch(spelling)), None)


def sniff(data: bytes, label: str | None = None, *, meta: bool = True) -> Charset:
    """Determine the charset of an HTML document or of plain text (WHATWG HTML §13.2.3.2)."""
    stated = _outside(data, label)
    if stated is None and meta and (name := _prescan(data[:PRESCAN_LENGTH])):
        stated = _by_meta(name)
    if stated is not None:
        return stated
    return GUESSED if is_utf_8(data) else DEFAULT


@cache
def _by_meta(name: str) -> Charset:
    return Charset(name, CharsetSource.META)


def sniff_text(data: bytes, label: str | None = None) -> Charset:
    """Determine the charset of text that is UTF-8 wherever nothing else is stated."""
    known = Charset("utf-8", CharsetSource.FORMAT) if is_utf_8(data) else DEFAULT
    return _outside(data, label) or known


GUESSED: Final = Charset("utf-8", CharsetSource.GUESS)
# What browsers assume if a document states no charset (§13.2.3.2 step 9) [C].
DEFAULT: Final = Charset("windows-1252", CharsetSource.DEFAULT)


def sniff_css(data: bytes, label: str | None = None) -> Charset:
    """Determine the charset of a style sheet (CSS Syntax 3 §3.2)."""
    if stated := _outside(data, label):
        return stated
    name = _readable_as_ascii(named_in(_AT_CHARSET.match(data, 0, PRESCAN_LENGTH)))
    if name:
        return Charset(name, CharsetSource.AT_CHARSET)
    return Charset("utf-8", CharsetSource.DEFAULT)


# `@charset "`, any bytes but a quote, `";`, in the first 1024 bytes.
_AT_CHARSET: Final = expression(rb'@charset "([^"]*+)";')


def _outside(data: bytes, label: str | None) -> Charset | None:
    if not data[:1].isascii():
        for mark, name in _BOMS.items():
            if data.startswith(mark):
                return Charset(name, CharsetSource.BOM)
    return _transport(label.strip(_SPACE)[:_LONGEST]) if label else None


@lru_cache(maxsize=16)
def _transport(label: str) -> Charset | None:
    stated = lookup(label)
    return Charset(stated, CharsetSource.TRANSPORT) if stated else None


_SPACE: Final = "\t\n\f\r "
_LONGEST: Final = 64  # no label is that long, and hostile ones must not stay in memory


def _readable_as_ascii(name: str | None) -> str | None:
    """Return the charset of a document whose label was readable as ASCII: never UTF-16."""
    return "utf-8" if name in WIDE else name


def wide_start(data: bytes, start: str) -> str | None:
    """Return the UTF-16 charset in which a document begins with the text `start`, or None."""
    names = (name for name, codec in WIDE.items() if data.startswith(start.encode(codec)))
    return next(names, None)


def is_utf_8(data: bytes) -> bool:
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), _CHUNK):
            decoder.decode(data[at : at + _CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


# WHATWG HTML §13.2.3.2 "prescan a byte stream to determine its encoding".

# Steps 1 to 12 of "get an attribute": a `=` at the start belongs to the name, and an unquoted value
# ends at white space or `>`. If the bytes run out, nothing matches.
_ATTRIBUTE: Final = rb"""[\t\n\f\r /]*+ %b[^\t\n\f\r />][^\t\n\f\r />=]*+) [\t\n\f\r ]*+
    (?: (?=[^=]) | = [\t\n\f\r ]*+ (?:
        "%b[^"]*+)" | '%b[^']*+)' | %b(?:[^\t\n\f\r >"'][^\t\n\f\r >]*+)?+)(?=[\t\n\f\r >]) ) )"""
_attribute: Final = expression(_ATTRIBUTE.replace(b"%b", b"("), re.VERBOSE)
_tag_end: Final = expression(rb"[\t\n\f\r /]*+>")

# Step 3, up to a `<meta`: skips comments, other tags, text, and most <meta> without `charset`. The
# last lines read the usual `<meta charset=...>` and `<meta http-equiv=...>` at once.
_to_meta: Final = expression(
    rb"""(?: [^<]++
    | <(?: !(?=--)(?:[^-]++|-(?!->))*+--> | (?:!(?!--)|\?|/(?![a-z]))[^>]*+> | (?![a-z!?/])
        | (?!meta[\t\n\f\r /]) /?+ [a-z][^\t\n\f\r >]*+ (?: %b )*+ [\t\n\f\r /]*+ >
        | meta (?![^>]*charset) (?: [\t\n\f\r /]++ (?: [^\t\n\f\r <>"'=/]++
            (?:=(?:"[^"<>]*+"|'[^'<>]*+'|[^\t\n\f\r <>"'=]++))?+ )?+ )++ > ) )*+
    <meta (?: [ ]charset=(?:"([a-z0-9-]++)"|([a-z0-9-]++)(?=[ >])) [ ]?/?>
        | [ ]http-equiv=(?:"content-type"|content-type)
            [ ]content="text/html;[ ]?charset=([a-z0-9-]++)" [ ]?/?>
        | (?=[\t\n\f\r /]) )"""
    % _ATTRIBUTE.replace(b"%b", b"(?:"),
    re.VERBOSE | re.IGNORECASE,
)


def _prescan(data: bytes) -> str | None:
    # Step 2: Prescan for UTF-16 XML declarations.
    if b"\0" in data[:2] and (name := wide_start(data, "<?x")):
        return name
    # A <meta> that states a charset contains `charset`; most nested documents do not.
    if b"charset" not in data and b"charset" not in data.lower():
        return _xml_encoding(data)
    # Step 3: Loop.
    position: int | None = 0
    while position is not None and (meta := _to_meta.match(data, position)):
        position = meta.end()
        if meta.lastindex:
            name = _readable(named_in(meta))
        else:
            position, name = _meta(data, position)
        if name:
            return name
    return _xml_encoding(data)


def _meta(data: bytes, position: int) -> tuple[int | None, str | None]:
    """Return the end of the meta tag whose attributes begin at `position`, and its charset."""
    seen: set[bytes] = set()
    got_pragma = False
    need_pragma: bool | None = None
    charset: str | None = None
    # Step 6: Attributes.
    while attribute := _attribute.match(data, position):
        position = attribute.end()
        name = attribute[1].lower()
        value = attribute[attribute.lastindex or 0].lower() if attribute.lastindex != 1 else b""
        # Steps 7 and 8.
        if name in seen:
            continue
        seen.add(name)
        # Step 9.
        if name == b"http-equiv":
            got_pragma = value == b"content-type"
        elif name == b"content" and need_pragma is None:
            charset = named_in(_CONTENT.search(value))
            need_pragma = True if charset else None
        elif name == b"charset":
            charset, need_pragma = lookup(value.decode("latin-1")), False
    end = _tag_end.match(data, position)
    if end is None:  # the bytes ran out: an aborted prescan returns nothing
        return None, None
    # Steps 11 to 13: Processing.
    if need_pragma is None or (need_pragma and not got_pragma):
        return end.end(), None
    return end.end(), _readable(charset)


def _readable(charset: str | None) -> str | None:
    """Steps 14 to 16 of the prescan."""
    return "windows-1252" if charset == "x-user-defined" else _readable_as_ascii(charset)


# WHATWG HTML §2.6.5 "extracting a character encoding from a meta element". An unmatched quote
# leaves the label empty, which is unknown.
_CONTENT: Final = expression(
    rb"""charset[\t\n\f\r ]*+=[\t\n\f\r ]*+
    (?: "([^"]*+)" | '([^']*+)' | ([^\t\n\f\r ;"'][^\t\n\f\r ;]*+)?+ )""",
    re.VERBOSE,
)


# "get an XML encoding", steps 4 to 15: up to the first `>`.
_XML_ENCODING: Final = expression(
    rb"""encoding[\x00-\x20]*+=[\x00-\x20]*+(?: "([^"\x00-\x20]*+)" | '([^'\x00-\x20]*+)' )""",
    re.VERBOSE,
)


def _xml_encoding(data: bytes) -> str | None:
    # Steps 2 and 3.
    if not data.startswith(b"<?xml"):
        return None
    declaration = data[: data.find(b">") + 1]
    start = declaration.find(b"encoding")
    if start == -1:
        return None
    # Steps 16 to 18.
    return _readable_as_ascii(named_in(_XML_ENCODING.match(declaration, start)))


class Lines:
    """The lines and columns of offsets in a text; if asked in order, they take linear time."""

    def __init__(self, text: bytes, encoding: str) -> None:
        self._text = text
        self._at = self._line_start = 0
        self._line = 1
        self._encoding = encoding  # of the document: columns count its bytes
        self._is_ascii = True  # whether the line is, so far

    def of(self, at: int) -> str:
        """Return "12:5", or "line 12" if the column may differ in the document's own bytes."""
        if at < self._at:
            self._at, self._line, self._line_start, self._is_ascii = 0, 1, 0, True
        lines = self._text.count(b"\n", self._at, at)
        if lines:
            self._line += lines
            self._line_start = self._text.rfind(b"\n", self._at, at) + 1
            self._is_ascii = True
        if self._encoding != "utf-8":
            begin = max(self._at, self._line_start)
            self._is_ascii = self._is_ascii and self._text[begin:at].isascii()
        self._at = at
        if self._encoding in WIDE or not self._is_ascii:
            return f"line {self._line}"
        return f"{self._line}:{at - self._line_start + 1}"
