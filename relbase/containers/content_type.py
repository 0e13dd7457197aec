"""What MIME fields state about a body; comments may occur anywhere between their tokens."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from itertools import count, takewhile
from typing import Final, NamedTuple

from relbase.expressions import regex
from relbase.view.charset import UNREADABLE, lookup
from relbase.view.folding import decoded_words
from relbase.view.transcode import decode, encode

MAX_PARAMETERS: Final = 1_000  # of one field; each section of RFC 2231 counts

# token := 1*<any (US-ASCII) CHAR except SPACE, CTLs, or tspecials>   (RFC 2045 §5.1)
_token: Final = regex(r"[!#$%&'*+.0-9A-Z^_`a-z{|}~-]++").match
_separators: Final = regex(r"[\t\n\r ;]*+").match
_white_space: Final = regex(r"[\t\n\r ]*+").match
# A quote that is not closed extends to the end.
_QUOTED: Final = r'"((?:[^"\\]++|\\.)*+)(?:"|\\?\Z)'
_quoted: Final = regex(_QUOTED, re.DOTALL).match
# However, unquoted values contain tspecials in practice (`boundary=----=_Part/1`).
_unquoted: Final = regex(r"[^\t\n\r ;(]*+").match
_attribute: Final = regex(r'[^\t\n\r ;=("]*+').match
_passed_over: Final = regex(r'(?:[^;"(]++|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z))*+', re.DOTALL).match
_parenthesis: Final = regex(r"\\.|[()]", re.DOTALL).finditer
_unfold: Final = {ord("\r"): None, ord("\n"): None}
_unescape: Final = regex(r"\\(.)", re.DOTALL).sub
# In pieces, since `sub` needs eight bytes of memory for each pair.
_apart_from_pairs: Final = regex(r"(?:[^\\]|\\.){1,4096}+", re.DOTALL).findall

# parameter := attribute "*" / attribute "*" section ["*"]   (RFC 2231 §7; three digits suffice for
# `MAX_PARAMETERS`)
_section: Final = regex(r"([^*]++)\*(?:(0|[1-9][0-9]{0,2})(\*)?+)?+").fullmatch


def token(value: str) -> str:
    """Return the first token of a value in lower case, "" when it begins with none."""
    match = _token(value, _skip(value, 0))
    return match[0].lower() if match else ""


def is_lone(value: str) -> bool:
    match = _token(value, _skip(value, 0))
    return match is not None and _skip(value, match.end()) == len(value)


def media_type(value: str) -> str:
    """Return the media type that a Content-Type states (RFC 2045 §5.1), lower case; "" for none."""
    major = _token(value, _skip(value, 0))
    slash = _skip(value, major.end()) if major else len(value)
    if major is None or not value.startswith("/", slash):
        return ""
    minor = _token(value, _skip(value, slash + 1))
    return f"{major[0]}/{minor[0]}".lower() if minor else ""


def effective_type(values: Iterable[str]) -> str:
    """Return the Content-Type of several fields: Fetch Standard, "extract a MIME type".

    If no value is valid, it is the first one.
    """
    stated = list(values)
    if len(stated) < 2 and "," not in "".join(stated):  # noqa: PLR2004 (nearly all)
        return "".join(stated)
    effective = essence = charset = ""
    for value in (item for field in stated for item in _apart(field)):
        type_ = media_type(value)
        if not type_ or type_ == "*/*":
            continue
        label = parameters(value).get("charset", "")
        charset = label or (charset if type_ == essence else "")
        carried = f'; charset="{_escape(charset)}"' if charset and not label else ""
        effective, essence = value.strip(" \t\r\n;") + carried, type_
    return effective or next(iter(stated), "")


# A comma inside quotes does not separate values (RFC 9110 §5.6.1).
_escape: Final = partial(regex(r'(["\\])').sub, r"\\\1")
_apart: Final = regex(r'(?:[^",]++|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z))++', re.DOTALL).findall


def parameters(value: str) -> dict[str, str]:
    """Return the parameters of a field (RFC 2045 §5.1, RFC 2231 §3 and §4), names in lower case.

    The first parameter of a name wins. A plain one wins over one that RFC 2231 splits or encodes,
    as in readers that do not know RFC 2231.
    """
    plain: dict[str, str] = {}
    split: dict[str, dict[int, tuple[str, bool]]] = {}
    bare = _without_semicolon(value)
    pos = bare.end() if bare else _next(value, 0)
    for _ in range(MAX_PARAMETERS):
        if pos >= len(value):
            break
        pos, name, text = _parameter(value, pos)
        if section := _section(name):
            extended = section[2] is None or section[3] is not None
            split.setdefault(section[1], {}).setdefault(int(section[2] or 0), (text, extended))
        elif name:
            plain.setdefault(name, text)
    return {name: _joined(pieces) for name, pieces in split.items() if 0 in pieces} | plain


# A type, and then a parameter without the semicolon before it: `text/html charset=utf-8`.
_without_semicolon: Final = regex(
    r"[\t\n\r ]*+[^\t\n\r ;,=\"(/]++/[^\t\n\r ;,=\"(/]++[\t\n\r ]++(?=[\w-]++[\t ]*+=)"
).match


def _parameter(value: str, pos: int) -> tuple[int, str, str]:
    """Return where `; a = "b"` ends (at the next `;`), its name and its value; "" for no name."""
    pos = _past(_separators, value, pos)
    attribute = _attribute(value, pos)
    assert attribute is not None
    pos = _skip(value, attribute.end())
    # ASCII only: U+212A is not a "k" (rule 13)
    if not attribute[0].isascii() or not value.startswith("=", pos):
        return _next(value, pos), "", ""
    pos = _skip(value, pos + 1)
    if quoted := _quoted(value, pos):
        text = quoted[1].translate(_unfold)
        if "\\" in text:
            text = "".join([_unescape(r"\1", piece) for piece in _apart_from_pairs(text)])
        return _next(value, quoted.end()), attribute[0].lower(), text
    unquoted = _unquoted(value, pos)
    assert unquoted is not None
    return _next(value, unquoted.end()), attribute[0].lower(), unquoted[0]


def _past(passes: Callable[[str, int], re.Match[str] | None], value: str, pos: int) -> int:
    while True:
        passed = passes(value, pos)
        assert passed is not None
        pos = passed.end()
        if not value.startswith("(", pos):
            return pos
        pos = _comment_end(value, pos)


_skip: Final = partial(_past, _white_space)
_next: Final = partial(_past, _passed_over)  # to the next `;`, or the end


def _comment_end(value: str, pos: int) -> int:
    """Return where the comment at `pos` ends; one that is not closed extends to the end."""
    depth = 0
    for parenthesis in _parenthesis(value, pos):
        depth += {"(": 1, ")": -1}.get(parenthesis[0], 0)
        if depth == 0:
            return parenthesis.end()
    return len(value)


# In pieces, since decoding needs eighty bytes for each escape. No piece ends inside an escape.
_apart_from_escapes: Final = regex(rb".{1,4096}(?<!%)(?<!%.)|.++", re.DOTALL).findall


def _joined(sections: dict[int, tuple[str, bool]]) -> str:
    """Join the sections 0, 1, 2, ... of a parameter (RFC 2231 §3) and decode them (§4)."""
    from urllib.parse import unquote_to_bytes

    text, extended = sections[0]
    label = ""
    if extended and text.count("'") > 1:
        label, _, text = text.split("'", 2)
        sections[0] = text, extended
    encoded: list[bytes] = []
    for number in takewhile(sections.__contains__, count()):
        text, extended = sections[number]
        section = encode(text, "utf-8")
        encoded += map(unquote_to_bytes, _apart_from_escapes(section)) if extended else (section,)
    charset = lookup(label)
    if charset is None or charset in UNREADABLE:
        charset = "utf-8"
    return decode(b"".join(encoded), charset)


class Stated(NamedTuple):
    type: str  # in lower case, "" for none
    charset: str | None  # the label, None for none
    boundary: bytes | None  # as it stands in delimiters, None for none
    name: str  # of the file, "" for none


def read_type(content_type: str) -> Stated:
    # Many parts and messages have the same value.
    return (_read if len(content_type) > _REMEMBERED else _remembered)(content_type)


# What some programs write instead of a type.
_MISSPELT: Final = {"html": "text/html"}


def _read(content_type: str) -> Stated:
    stated = parameters(content_type)
    type_ = media_type(content_type) or _MISSPELT.get(token(content_type), "")
    charset = stated.get("charset", "").strip() or None
    # RFC 2046 §5.1.1: a boundary does not end with a space.
    boundary = encode(stated.get("boundary", ""), "utf-8").rstrip(b"\t ") or None
    return Stated(type_, charset, boundary, decoded_words(stated.get("name", "")))


_REMEMBERED: Final = 1_000
_remembered: Final = lru_cache(maxsize=128)(_read)


def file_name(disposition: str) -> str:
    """Return the file name that a Content-Disposition states, "" for none (RFC 2183 §2.3)."""
    if "filename" not in disposition.lower():
        return ""
    # RFC 2047 §5 forbids encoded words there, but mailers write them.
    return decoded_words(parameters(disposition).get("filename", ""))
