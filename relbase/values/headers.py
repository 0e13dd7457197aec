"""The URLs of a header field, as spans of its raw, folded value."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple

from relbase.containers.header_fields import ValueKind
from relbase.containers.known_fields import ROWS
from relbase.edit import Span
from relbase.expressions import regex
from relbase.values import syntaxes
from relbase.values.syntaxes import C0_AND_SPACE_BYTES, Syntax, skip, trim
from relbase.view.folding import meant


class LinkingField(NamedTuple):
    syntax: Syntax  # how a URL is spelled there (`syntaxes.spell`) and what reports call it
    find: Callable[[bytes], Iterable[Span]]  # the spans of the URLs of a raw value


# FWS and comments   (RFC 5322 §3.2.2)
_WHITE_SPACE: Final = regex(rb"[\0-\x20]*+")
_COMMENT_DELIMITER: Final = regex(rb"[()]|\\.", re.DOTALL)


def _skip_blank(raw: bytes, at: int) -> int:
    at = skip(_WHITE_SPACE, raw, at)
    while raw.startswith(b"(", at):
        at = skip(_WHITE_SPACE, raw, _skip_comment(raw, at))
    return at


def _skip_comment(raw: bytes, at: int) -> int:
    depth = 0
    for delimiter in _COMMENT_DELIMITER.finditer(raw, at):
        depth += {b"(": 1, b")": -1}.get(delimiter[0], 0)
        if depth == 0:
            return delimiter.end()
    return len(raw)


# content-location = "Content-Location:" [CFWS] URI [CFWS]   (RFC 2557 §4.2)
# However, mailers wrap it as they wrap Base: "<URL:http://a/>" (RFC 1808 §3.1).
_WRAPPED: Final = regex(
    rb"""
    " [\0-\x20]*+ < ([^<>"]*+) > [\0-\x20]*+ "
    | " ([^<>"]*+) "
    | < ([^<>"]*+) >
    | < [\0-\x20]*+ " ([^<>"]*+) " [\0-\x20]*+ >
    """,
    re.VERBOSE,
)
_PREFIX: Final = regex(rb"[\0-\x20]*+ url:", re.VERBOSE | re.IGNORECASE)
_BARE: Final = regex(rb'[^<>"]*+')
_COMMENT_FOLLOWS: Final = regex(rb"[\0-\x20]\(")


def one_url(raw: bytes) -> tuple[Span, ...]:
    """Return the span of the one URL of Content-Location, if there is one."""
    span = find_url(raw)
    return () if span is None or span.start == span.end else (span,)


def find_url(raw: bytes) -> Span | None:
    """Return the span of the URL in a value, empty if there is none; None if it is uncertain.

    Only a comment that stands apart is left out: `x (1).png` is a URL, `x (1)` is `x`. Brackets or
    quotes that do not enclose the URL make it uncertain.
    """
    start, end = trim(raw, 0, len(raw))
    while raw.startswith(b"(", start):
        after = _skip_comment(raw, start)
        if after < end and raw[after] not in _AFTER_COMMENT:
            break  # `(1).png` is not a comment
        start = min(skip(_WHITE_SPACE, raw, after), end)
    wrapped = _WRAPPED.match(raw, start, end)
    if wrapped is None:
        comment = _COMMENT_FOLLOWS.search(raw, start, end)
        if comment is not None and _skip_blank(raw, comment.start()) >= end:
            start, end = trim(raw, start, comment.start())
        if _BARE.fullmatch(raw, start, end) is None:
            return None
    else:
        if _skip_blank(raw, wrapped.end()) < end:
            return None
        start, end = trim(raw, *wrapped.span(wrapped.lastindex or 0))
    prefix = _PREFIX.match(raw, start, end)
    return trim(raw, prefix.end(), end) if prefix else Span(start, end)


# What may follow a comment at the start: white space, another comment, or what wraps a URL.
_AFTER_COMMENT: Final = C0_AND_SPACE_BYTES + b'(<"'

_WORDS: Final = regex(rb"[^\0-\x20] [\t ]++ [^\0-\x20]", re.VERBOSE)


def one_word(raw: bytes) -> Iterator[Span]:
    """Yield the span of the URL of Location, if it is one word: in mail it may name a place."""
    for span in one_url(raw):
        if _WORDS.search(raw, span.start, span.end) is None:
            yield span


def brackets(raw: bytes) -> Iterator[Span]:
    """Yield the spans of a list of `<URL>`, up to what RFC 2369 §2 says to ignore."""
    at = _skip_blank(raw, 0)
    while raw.startswith(b"<", at):
        end = raw.find(b">", at)
        if end < 0:
            return
        span = trim(raw, at + 1, end)
        if span.start < span.end:
            yield span
        at = _skip_blank(raw, end + 1)
        if not raw.startswith(b",", at):
            return
        at = _skip_blank(raw, at + 1)


# URL-parameter := <"> URL-word *(*LWSP-char URL-word) <">   (RFC 2017 §3.1)
_PARAMETER_PIECE: Final = regex(rb'"((?:[^"\\]++|\\.)*+)"?|;|[^";(]++', re.DOTALL)


def external_body(raw: bytes) -> Iterator[Span]:
    url: Span | None = None
    is_url = False
    name = b""
    at = 0
    while at < len(raw):
        piece = _PARAMETER_PIECE.match(raw, at)
        if piece is None:
            at = _skip_comment(raw, at)
            continue
        at = piece.end()
        if piece[1] is None:
            name, _, value = (word.strip(C0_AND_SPACE_BYTES) for word in piece[0].partition(b"="))
        else:
            value = piece[1].strip(C0_AND_SPACE_BYTES)
            if name.lower() == b"url" and url is None and b"\\" not in value:
                url = trim(raw, *piece.span(1))
        is_url |= name.lower() == b"access-type" and value.lower() == b"url"
        name = b"" if value else name
    if is_url and url is not None and url.start < url.end:
        yield url


_Find = Callable[[bytes], Iterable[Span]]

# Python's `email` and others end a line at a bare CR. A URL written after it, which has a colon,
# would be a header field to them.
_BARE_CR: Final = regex(rb"\r(?![\n\t ]|\Z)")


def _certain(find: _Find) -> _Find:
    """Ignore values that some readers split into lines, and URLs that encoded words wrap."""

    def certain(raw: bytes) -> Iterable[Span]:
        if b"\r" in raw and _BARE_CR.search(raw):
            return ()
        return filter(partial(_is_bare, raw), find(raw)) if b"=?" in raw else find(raw)

    return certain


def _is_bare(raw: bytes, span: Span) -> bool:
    """Whether no encoded word wraps a URL: which part of it would be the URL?"""
    url = raw[span.start : span.end]
    return b"=?" not in url or not meant(url).startswith((b"<", b'"'))


# How to find what a row of the registry holds. A URL in brackets is spelled as a Link's target.
_FORMS: Final = {
    ValueKind.URL: LinkingField(Syntax.URL, _certain(one_url)),
    ValueKind.WORD: LinkingField(Syntax.URL, _certain(one_word)),
    ValueKind.LIST: LinkingField(Syntax.LINK, _certain(brackets)),
    ValueKind.LINK: LinkingField(Syntax.LINK, _certain(syntaxes.link)),
    ValueKind.REFRESH: LinkingField(Syntax.REFRESH, _certain(syntaxes.refresh)),
}

FIELDS: Final[Mapping[str, LinkingField]] = {
    name: _FORMS[row.holds] for name, row in ROWS.items() if row.holds is not None
}

# The Content-Type of a message/external-body.
EXTERNAL_BODY: Final = LinkingField(Syntax.URL, _certain(external_body))


def quote_before(raw: bytes, span: Span) -> bytes:
    r"""Return the quote around a URL, or b"": in a Refresh it may be `'`."""
    at = span.start
    while at and raw[at - 1] in C0_AND_SPACE_BYTES:
        at -= 1
    before = raw[at - 1 : at] if at else b""
    return before if before in (b"'", b'"') else b""
