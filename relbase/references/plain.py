"""Plain references in values: which they are, and of which `Shape`, told without decoding them.

Strategy: one expression for each syntax of a value reads one reference at a time, its beginning in
a group: what that begins with is the shape. Each errs on one side only: what it does not read is
looked at. What is read here is what `_scanner.c` reads, in Python.

To mind: a reference is plain where what it resolves to ends in it as it is written. In CSS no
escape may be needed either, whatever is around it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from relbase.records import NamedTuple
from relbase.references.bytesets import all_but, one_of, others
from relbase.references.css_escapes import WORD
from relbase.references.shapes import DOTS, MAX_UP, Shape
from relbase.references.tags import WS, any_case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Plain(NamedTuple):
    """What plain references are made of: their first `segment`, all the `rest`, and `//host`."""

    segment: bytes
    rest: bytes
    network: bytes


def _made_of(allowed: bytes, others: bytes, network: bytes) -> Plain:
    """Plain references of some bytes."""
    allowed = bytes(set(allowed) - set(b"/:?#"))
    # No dot segment begins in the rest. Runs end at dots, which are rarer than slashes.
    without_dot = bytes(set(allowed + b"/:?#") - set(b"."))
    return Plain(
        one_of(allowed) + b"++|" + others,
        rb"(?:" + one_of(without_dot) + rb"++|(?<!/)\.|" + others + rb")*+",
        network,
    )


# `&amp;` needs no decoding to be classified, and a name without semicolon is not a delimiter.
_AMPERSAND: Final = rb"&(?:amp;|[a-zA-Z0-9]++(?!;))"
# U+007F is percent-encoded in what is written. What may belong to a placeholder is looked at:
# `{`, `[`, `|`, an escape of `{`, and a `%` that begins no escape.
_ESCAPE: Final = rb"%(?!7[bB])[0-9A-Fa-f]{2}"
_NETWORK: Final = rb"//(?=[A-Za-z0-9])"
_CONTROLS: Final = bytes(range(0x21)) + b"\x7f"
_IN_RFC: Final = others(_CONTROLS + b"\"'<>&\\{|[%")
_OTHERS: Final = _ESCAPE + rb"|" + _AMPERSAND
RFC: Final = _made_of(_IN_RFC, _OTHERS, _NETWORK)
_RFC_WITH_SPACES: Final = _made_of(_IN_RFC + b" ", _OTHERS, _NETWORK)
# What the WHATWG parser leaves as it is. Of hosts: lower case, no number at the end, no two hyphens
# together, as in what IDNA decodes, and a slash after it.
_LABEL: Final = rb"[a-z0-9]*+(?:-[a-z0-9]++)*+"
_PLAIN_HOST: Final = rb"//(?=(?:[a-z0-9]" + _LABEL + rb"\.)*+[a-z]" + _LABEL + rb"/)"
_WHATWG_ESCAPE: Final = rb"(?!%2[eE])" + _ESCAPE
_ALPHANUMERIC: Final = bytes(byte for byte in range(0x80) if chr(byte).isalnum())
_IN_CSS_WHATWG: Final = _ALPHANUMERIC + b"_~=+;,@!$*.-"
WHATWG: Final = _made_of(_IN_CSS_WHATWG + b"()", _WHATWG_ESCAPE + rb"|" + _AMPERSAND, _PLAIN_HOST)

_NOT_ASCII: Final = bytes(range(0x80, 0x100))
# What does not mean itself in a url(), with or without quotes, and what is not plain anyway.
_NOT_IN_CSS: Final = _CONTROLS + _NOT_ASCII + b"\"&'()<>\\^`{}" + b"|[%"
_CSS: Final = _made_of(others(_NOT_IN_CSS), _ESCAPE, _NETWORK)
_CSS_WHATWG: Final = _made_of(_IN_CSS_WHATWG, _WHATWG_ESCAPE, _PLAIN_HOST)


# By what stands in the group that a reference begins with.
BEGINNINGS: Final = {
    b"/": int(Shape.ROOT),
    b"#": int(Shape.FRAGMENT),
    b"?": int(Shape.QUERY),
    b"//": int(Shape.NETWORK),
    b"": int(Shape.PATH),
    **{dots.encode(): shape for shape, dots in DOTS.items()},
}
_DOTS: Final = rb"(?:\.\./){1,%d}+|\./" % MAX_UP


def _reference(plain: Plain, ends: bytes, *, fragments: bool = True) -> bytes:
    """Match a reference of plain shape, its beginning in the last group that matches."""
    rest = plain.rest
    segment = rb"(?![\"'/.?\#;:-]|" + ends + rb")(?:" + plain.segment + rb")++(?!:)"
    begin = rb"/(?![/.])|\?(?!\#|" + ends + rb")|" + plain.network + (rb"|\#" if fragments else b"")
    return (
        rb"(?:(" + begin + rb")" + rest + rb"|(" + _DOTS + rb"|)" + segment + rest
        + rb"|(" + _DOTS + rb")(?=" + ends + rb"))"
    )  # fmt: skip


_SPECIAL_SCHEMES: Final = (b"https?", b"ftp", b"file", b"wss?")
# Absolute in every profile, whatever follows; see `absolute` in _scanner.c.
absolute: Final = re.compile(
    rb"https?://|(?!(?:%b):(?!//))[a-zA-Z][a-zA-Z0-9+.-]*+:"
    % b"|".join(any_case(name) for name in _SPECIAL_SCHEMES)
).match

_ABSOLUTE_TOKEN: Final = rb"https?://(?:" + all_but(b"\t\n\f\r &") + rb"++|&amp;)++"
# URLs between white space, which stay when all are absolute.
absolute_list: Final = re.compile(
    rb"(?:" + WS + rb"*+" + _ABSOLUTE_TOKEN + rb")*+" + WS + rb"*+"
).fullmatch


@cache
def url_matcher(*, whatwg: bool) -> Callable[[bytes], re.Match[bytes] | None]:
    """Return what matches a value that is one plain reference, without white space around it."""
    # White space in it stays, but to the WHATWG parser.
    plain = WHATWG if whatwg else _RFC_WITH_SPACES
    return re.compile(_reference(plain, rb"\Z")).fullmatch


@cache
def candidates_of(
    *, whatwg: bool, listing: bool = False
) -> Callable[[bytes, int, int], Iterator[re.Match[bytes]]]:
    """Return what finds the candidates of a srcset one after another, plain or absolute ones.

    The last match is empty, or it ends where something else stands.
    """
    absolutes = rb"(" + _ABSOLUTE_TOKEN + rb")" if listing else _ABSOLUTE_TOKEN
    plain = WHATWG if whatwg else RFC
    reference = _reference(plain, rb"[,\t\n\f\r ]|\Z")
    return re.compile(
        rb"[\t\n\f\r ,]*+(?:" + absolutes + rb"|" + reference + rb")(?=" + WS + rb"|\Z)"
        rb"(?:(?<=,)|" + all_but(b",(&") + rb"*+(?:,|\Z))|[\t\n\f\r ,]*+"
    ).finditer


class CssGroups(NamedTuple):
    """The groups of `css_urls` that are no beginnings: the text ends, or is to be looked at."""

    ends: int
    stuck: int


_CSS_WS: Final = rb"[ \t\n\r\f]*+"
_CSS_ENDS: Final = rb"[\"')\ \t\n\r\f]"


# Declarations in which no reference can begin, whatever is around them.
_PLAIN_DECLARATIONS: Final = (
    rb"(?:" + all_but(b"\"'(\\&@/<[-" + _NOT_ASCII + b"\0") + rb"++|-(?!-))*+"
)


def one_url(*, whatwg: bool) -> bytes:
    """Return an expression for declarations with one `url()`, what that begins with in a group."""
    reference = _reference(_CSS_WHATWG if whatwg else _CSS, _CSS_ENDS, fragments=False)
    name = any_case(b"url")
    return (
        _PLAIN_DECLARATIONS + rb"(?<![%b\#@]%b)(?<=%b)\(" % (WORD, name, name) + _CSS_WS
        + rb"(?:'" + reference + rb"'|" + reference + rb")" + _CSS_WS + rb"\)"
        + _PLAIN_DECLARATIONS
    )  # fmt: skip


# As it stands in XHTML; in HTML that opens two brackets.
_SECTION: Final = rb"<!\[CDATA\["
_SECTION_ENDS: Final = rb"\]\]>" + _CSS_WS + rb"\Z|\Z"

# What of CSS stays as it is.
_STAYS: Final = rb"(?:\#|%b://|%b://|%b:)" % tuple(map(any_case, (b"http", b"https", b"data")))
_STAYING_STRING: Final = rb"\"%b%b*+\"|'%b%b*+'" % (
    _STAYS,
    all_but(b'"\\\n\r\f'),
    _STAYS,
    all_but(b"'\\\n\r\f"),
)
_ABSOLUTE_SCHEME: Final = rb"(?:https?://|data:)(?=.)"
_STAYING_URL: Final = _STAYS + all_but(_CONTROLS + b"\"'()\\") + rb"*+"


def _one_of_css(*, whatwg: bool, listing: bool) -> bytes:
    """Match one `url()` from its bracket on: with a group where it is plain, or listed."""
    plain = _CSS_WHATWG if whatwg else _CSS
    reference = _reference(plain, _CSS_ENDS, fragments=listing)
    quoted, bare = _STAYING_STRING, _STAYING_URL
    if listing:
        absolute_ = rb"(" + _ABSOLUTE_SCHEME + rb")" + plain.rest
        quoted, bare = rb"\"" + absolute_ + rb"\"|'" + absolute_ + rb"'", absolute_
    name = any_case(b"url")
    return (
        rb"(?<![%b\#@]%b)(?<=%b)\(" % (WORD, name, name) + _CSS_WS
        + rb"(?:\"" + reference + rb"\"|'" + reference + rb"'|" + reference + rb"|\"\"|''|"
        + quoted + rb"|" + bare + rb"|)" + _CSS_WS + rb"\)"
    )  # fmt: skip


@cache
def css_begins(*, listing: bool = False) -> Callable[[bytes, int, int], re.Match[bytes] | None]:
    """Return what matches the beginning of CSS; with a group where a section of XHTML opens."""
    from relbase.references.css_skips import BEGINNING  # noqa: PLC0415 (its regexes: start-up time)

    section, imported = rb"(" + _CSS_WS + _SECTION + rb")", _imported(listing=listing)
    return re.compile(section + rb"|" + imported + rb"|" + BEGINNING.pattern, re.VERBOSE).match


@cache
def css_urls(
    *, whatwg: bool, section: bool = False, listing: bool = False
) -> tuple[Callable[[bytes, int, int], Iterator[re.Match[bytes]]], CssGroups]:
    """Return what finds the `url()` of CSS one after another, after its beginning.

    A match without a group is of a reference that stays, local or absolute, or of an empty one.
    """
    from relbase.references.css_skips import INSIDE_SECTION, OUTSIDE  # noqa: PLC0415 (their regexes: start-up time)

    skip, ends = (INSIDE_SECTION, _SECTION_ENDS) if section else (OUTSIDE, rb"\Z")
    imported = rb"" if section else rb"|[;{}]" + _imported(listing=listing)
    one = _one_of_css(whatwg=whatwg, listing=listing)
    pattern = re.compile(
        skip.pattern + rb"(?:" + one + imported + rb"|(" + ends + rb")|())", re.VERBOSE
    )
    return pattern.finditer, CssGroups(pattern.groups - 1, pattern.groups)


def _imported(*, listing: bool) -> bytes:
    """Match an `@import` that stays; of a `url()` to be found what is before it."""
    from relbase.references.css_skips import SPACE  # noqa: PLC0415 (its regexes: start-up time)

    name = any_case(b"url")
    before = SPACE + rb"@%b(?![%b\\])" % (any_case(b"import"), WORD) + SPACE
    found = rb"(?=%b\()" % name
    if listing:
        return before + found
    return before + (
        rb"(?:" + _STAYING_STRING + rb"|" + name + rb"\(" + _CSS_WS + rb"(?:" + _STAYING_STRING
        + rb"|" + _STAYING_URL + rb")" + _CSS_WS + rb"\)|" + found + rb")"
    )  # fmt: skip


_brackets_end: Final = re.compile(rb"[\"') \t\n\r\f]").search


def in_brackets(rest: bytes) -> bytes:
    """What a text begins with that is in the brackets of a `url()`, or in quotes there."""
    found = _brackets_end(rest)
    return rest[: found.start()] if found else rest
