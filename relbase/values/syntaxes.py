"""The grammars inside one attribute value: where its URLs are, and how to write a new one there.

No span begins or ends with U+0000 to U+0020 (rule 6), since the URL parser drops them. Only `url`
yields an empty span: there the element decides whether an empty value is a reference.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Final, Literal, NamedTuple

from relbase.edit import Span
from relbase.expressions import expression


class Syntax(Enum):
    URL = "url"
    SPACE_LIST = "space list"
    COMMA_LIST = "comma list"
    SEMICOLON_LIST = "semicolon list"
    SRCSET = "srcset"
    REFRESH = "refresh"
    LINK = "link"
    TEMPLATE = "template"


C0_AND_SPACE_BYTES: Final = bytes(range(0x21))


def trim(value: bytes, start: int, end: int) -> Span:
    """Return the span of value[start:end] without U+0000 to U+0020 around it; at `end` if empty."""
    item = value[start:end].lstrip(C0_AND_SPACE_BYTES)
    start = end - len(item)
    return Span(start, start + len(item.rstrip(C0_AND_SPACE_BYTES)))


def url(value: bytes) -> Iterable[Span]:
    """Return the one span of a value that is one URL, or an empty span if nothing is left."""
    return (trim(value, 0, len(value)),)


def template(value: bytes) -> Iterator[Span]:
    """Yield the literal beginning of an OpenSearch template, if it decides how it resolves."""
    end = value.find(b"{")
    rest = trim(value, 0, len(value) if end < 0 else end)
    literal = value[rest.start : rest.end]
    # A value that is filled in may complete a dot segment.
    if literal and (end < 0 or not literal.endswith(b".")):
        yield rest


# HTML white space: TAB, LF, FF, CR, SPACE.
_SPACE_ITEM: Final = expression(rb"[^\t\n\f\r ]++")

# Link = #( "<" URI-Reference ">" *( OWS ";" OWS [ link-param ] ) )   (RFC 8288 §3)
# The parameters of one link, up to the comma before the next; a quoted string may hold commas.
_LINK_PARAMETERS: Final = expression(
    rb"""(?: [^",]++ | "(?:[^"\\]++|\\.)*+(?:"|\\?\Z) )*+""", re.VERBOSE | re.DOTALL
)
_BEFORE_LINK: Final = expression(rb"[\t\n\f\r ,]*+")


def link(value: bytes) -> Iterator[Span]:
    """Yield the spans of the targets of a Link field: between `<` and `>` (RFC 8288 §3)."""
    position = skip(_BEFORE_LINK, value, 0)
    while value.startswith(b"<", position):
        end = value.find(b">", position)
        if end < 0:
            return
        span = trim(value, position + 1, end)
        if span.start < span.end:
            yield span
        position = skip(_BEFORE_LINK, value, skip(_LINK_PARAMETERS, value, end + 1))


def _listed(delimiters: bytes) -> Callable[[bytes], Iterator[Span]]:
    # The search for an item passes over what is trimmed from its front.
    item = expression(rb"[^%b\x00-\x20][^%b]*+" % (delimiters, delimiters))

    def spans(value: bytes) -> Iterator[Span]:
        for match in item.finditer(value):
            start = match.start()
            yield Span(start, start + len(match[0].rstrip(C0_AND_SPACE_BYTES)))

    return spans


_SPACES_AND_COMMAS: Final = expression(rb"[\t\n\f\r ,]*+")
# The states "in descriptor", "in parens" and "after descriptor" of step 8: a comma ends the
# descriptors, but not in parentheses; an unclosed parenthesis takes all that follows.
_DESCRIPTORS: Final = expression(rb"(?: [^,(]++ | \( [^)]*+ \)?+ )*+ ,?+", re.VERBOSE)


def srcset(value: bytes) -> Iterator[Span]:
    """Yield the spans of URLs of a srcset or imagesrcset (WHATWG HTML "parse a srcset attribute").

    Candidates with descriptors in error are yielded too: a later browser may know them.
    """
    # Steps 1 to 3: input, position, candidates.
    position = 0
    # Step 4, splitting loop: collect white space and commas.
    while (start := skip(_SPACES_AND_COMMAS, value, position)) < len(value):  # Step 5
        # Step 6: collect what is not white space as the URL.
        position = skip(_SPACE_ITEM, value, start)
        # Step 7: descriptors is empty.
        # Step 8: a URL that ends with commas loses them and has no descriptors.
        end = start + len(value[start:position].rstrip(b","))
        if end == position:
            # Otherwise the descriptor tokenizer runs to the comma that ends the candidate.
            position = skip(_DESCRIPTORS, value, position)
        # Steps 9 to 15 read the descriptors, which do not change any span.
        span = trim(value, start, end)
        if span.start < span.end:
            yield span
        # Step 16: return to the splitting loop.


def skip(pattern: re.Pattern[bytes], value: bytes, position: int) -> int:
    """Return the end of what a pattern matches at a position, or the position."""
    match = pattern.match(value, position)
    return position if match is None else match.end()


# Steps 3 to 10. The time is ASCII digits, or nothing before a dot (6.1); more digits and dots
# follow (8). Unless the value ends there, ";", "," or white space must be next (10.1).
_REFRESH_TIME: Final = expression(
    rb"""
    [\t\n\f\r ]*+                                 # 3   skip white space
    (?: [0-9]++ | (?=\.) )                        # 5-7 time
    [0-9.]*+                                      # 8
    (?: (?=[;,\t\n\f\r ]) [\t\n\f\r ]*+           # 10.1, 10.2
        [;,]?+ [\t\n\f\r ]*+                      # 10.3, 10.4
      | \Z )
    """,
    re.VERBOSE,
)
# Steps 11.2 to 11.7. If a part of the keyword is missing, the URL begins before it (11.1), with a U
# and not with a quote.
_REFRESH_KEYWORD: Final = expression(
    rb"url [\t\n\f\r ]*+ = [\t\n\f\r ]*+", re.VERBOSE | re.IGNORECASE
)
_QUOTES: Final = (b"'", b'"')


def refresh(value: bytes) -> Iterator[Span]:
    """Yield the span of the URL of a refresh, of a `<meta>` or a header, if it is not empty."""
    time = _REFRESH_TIME.match(value)  # Steps 1 to 10
    if time is None:
        return
    start, end = skip(_REFRESH_KEYWORD, value, time.end()), -1  # Steps 11.1 to 11.7
    quote = value[start : start + 1]
    if quote in _QUOTES:
        start += 1
        end = value.find(quote, start)  # 11.10
    span = trim(value, start, len(value) if end < 0 else end)
    if span.start < span.end:
        yield span


_DROPPED: Final = str.maketrans("", "", "\t\r\n")


def clean(text: str) -> str:
    r"""Return a reference as the URL parser reads it: without tab, CR and LF (rule 6)."""
    if "\n" in text or "\r" in text or "\t" in text:
        return text.translate(_DROPPED)
    return text


C0_AND_SPACE: Final = C0_AND_SPACE_BYTES.decode()


def trimmed(value: str) -> str:
    return clean(value.strip(C0_AND_SPACE))


class _Unsafe(NamedTuple):
    """What is encoded in a URL, since it would be read as something else."""

    anywhere: re.Pattern[str]
    ends: str  # at its beginning and end


_QUOTED: Final = {
    b"'": _Unsafe(expression(r"[\0-\x1F\x7F']"), " "),
    b'"': _Unsafe(expression(r'[\0-\x1F\x7F"]'), " "),
}
# What the steps before 11.9 would remove from the front of a bare URL unless its last character is
# encoded: the keyword (11.6), a separator (10.3), a quote (11.8).
_FRONT: Final = expression(r"""url[ ]*+=|[;,'"]""", re.IGNORECASE)


def spell(syntax: Syntax, url: str, value: bytes, span: Span) -> str:
    """Spell a URL so that it is read as one whole URL at its place; itself if it already is."""
    before = value[: span.start].rstrip(C0_AND_SPACE_BYTES) if syntax is Syntax.REFRESH else b""
    if before.endswith(_QUOTES):
        return _encode(_QUOTED[before[-1:]], url)
    url = _encode(_ROWS[syntax].unsafe, url)
    front = _FRONT.match(url) if syntax is Syntax.REFRESH else None
    if front is None:
        return url
    last = front.end() - 1
    return url[:last] + _percent(url[last]) + url[front.end() :]


def _encode(unsafe: _Unsafe, url: str) -> str:
    body = url.strip(unsafe.ends)
    if len(body) < len(url):
        # A URL of nothing but `ends` has no body: all of it is at the front.
        front = len(url) - len(url.lstrip(unsafe.ends))
        back = front + len(body)
        url = _percent(url[:front]) + body + _percent(url[back:])
    if unsafe.anywhere.search(url) is None:
        return url
    return unsafe.anywhere.sub(lambda match: _percent(match[0]), url)


def _percent(text: str) -> str:
    return "".join(f"%{ord(character):02X}" for character in text)


class _Row(NamedTuple):
    spans: Callable[[bytes], Iterable[Span]]  # yields where the URLs of a value are
    unsafe: _Unsafe


# ASCII control characters are unsafe everywhere: the URL parser drops some of them, the HTML parser
# replaces U+0000, and none is read back as it was written.
_ROWS: Final[Mapping[Syntax, _Row]] = {
    Syntax.URL: _Row(url, _Unsafe(expression(r"[\0-\x1F\x7F]"), " ")),
    # ping, attributionsrc, archive of object
    Syntax.SPACE_LIST: _Row(_listed(rb"\t\n\f\r "), _Unsafe(expression(r"[\0-\x20\x7F]"), "")),
    # archive of applet
    Syntax.COMMA_LIST: _Row(_listed(b","), _Unsafe(expression(r"[\0-\x20\x7F,]"), "")),
    # values of SVG's animate
    Syntax.SEMICOLON_LIST: _Row(_listed(b";"), _Unsafe(expression(r"[\0-\x1F\x7F;]"), " ")),
    Syntax.SRCSET: _Row(srcset, _Unsafe(expression(r"[\0-\x20\x7F]"), ",")),
    Syntax.REFRESH: _Row(refresh, _Unsafe(expression(r"[\0-\x1F\x7F]"), " ")),
    Syntax.LINK: _Row(link, _Unsafe(expression(r"[\0-\x20\x7F<>]"), "")),
    Syntax.TEMPLATE: _Row(template, _Unsafe(expression(r"[\0-\x20\x7F{}]"), "")),
}


def _check() -> None:
    for syntax in Syntax:
        if syntax not in _ROWS:
            raise TypeError(f"{syntax} has no row: add one to _ROWS in relbase/values/syntaxes.py")


_check()

SYNTAXES: Final = {syntax: row.spans for syntax, row in _ROWS.items()}


# ---- Attributes of lazy loading, param and metadata, which may hold anything: URLs, CSS, JSON,
# numbers, colours, keywords. A value counts only if it can be nothing but a reference.

# `url(` where a function of CSS may begin.
_guess_css: Final = expression(rb"(?:\A|[\s,;:(])url\(", re.IGNORECASE)
# Candidates with descriptors or without; at least one has some.
_CANDIDATE: Final = rb"[^\s,]\S*(?<!,)(?:\s++[0-9.]++[wxh])*+"
_guess_srcset: Final = expression(_CANDIDATE + rb"(?:\s*+,\s*+" + _CANDIDATE + rb")*+[\s,]*+")
_guess_descriptor: Final = expression(rb"\s[0-9.]++[wxh](?=[\s,]|\Z)")
_guess_scheme: Final = expression(rb"[A-Za-z][A-Za-z0-9+.-]*+:")
# An absolute URL is not CSS, even with `;url(` from a base in its path.
_guess_absolute: Final = expression(rb"[A-Za-z][A-Za-z0-9+.-]*+://")

# No references: markup, JSON and other data, media queries, functions, addresses (not `x@2x.png`);
# numbers, dates, ratios; sizes; colours.
_guess_other: Final = expression(
    rb"""
      [^<>]*+[<>].*+
    | [{\[(].*+
    | [a-z-]++\(.*+
    | [^/?\#@]*+@(?![0-9.]++x\b).*+
    | [+-]?\.?\d[\d.,:/%\s+-]*+
    | [+-]?\d*+\.?\d*+[a-z%]{1,4}
    | \#[0-9a-f]{3,8}
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
# References: one word with a slash, inner dot or query; or several words that end in a file name.
_guess_one: Final = expression(rb"\?.|[^\s/]*+/|[^\s?\#]*?\.\w|[^\s?\#]++\?[^\s=]++=", re.DOTALL)
_guess_several: Final = expression(rb"\.{0,2}/[^?\#]*\.[a-z0-9]{2,5}(?:[?\#]\S*+)?", re.IGNORECASE)


def guessed(value: bytes) -> Syntax | Literal["css"] | None:
    """Return how a value holds references, or None if it may hold none."""
    text = value.strip(C0_AND_SPACE_BYTES)
    if _guess_css.search(text) and not _guess_absolute.match(text):
        return "css"
    is_one = len(text.split(None, 1)) == 1
    if not is_one and _guess_descriptor.search(text) and _guess_srcset.fullmatch(text):
        return Syntax.SRCSET
    if _guess_scheme.match(text) or text.startswith(b"//"):
        return Syntax.URL
    if _guess_other.fullmatch(text):
        return None
    is_url = _guess_one.match(text) if is_one else _guess_several.fullmatch(text)
    return Syntax.URL if is_url else None
