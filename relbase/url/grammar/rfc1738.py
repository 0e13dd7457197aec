"""RFC 1738 §5, production by production: what a URL of each scheme is.

Strategy: `absolute_url` reads the scheme and hands what is after it to the function of that scheme
in `_SCHEMES`; a scheme that is not there is an otherurl. Each function has the RFC's production
above it, cuts at its delimiters into `Component`s, and notes as faults where a delimiter is missing
or must not stand. What the parts consist of is searched later, by the check that each part carries.

Three things to mind. An alternative is chosen by the delimiter that is there (`@` in a news URL
makes it an article), so that a violation stands where a reader would look for it. After a fault
the rest is still searched, for the characters that stand in no URL. And a quoted literal matches
in either case (RFC 822 §2.1): `;TYPE=A` is a type.
"""

# ruff: noqa: ERA001 - the grammar stands above what implements it
from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.url.grammar.characters import (
    ALPHA,
    DIGIT,
    RESERVED,
    RFC_1738,
    RFC_1808,
    UNRESERVED,
    Component,
    Cut,
    Difference,
    Severity,
    Violation,
    class_of,
    expected,
    of_characters,
    printable,
)
from relbase.url.grammar.host import (
    BRACKETS,
    after_required_slash,
    after_slash,
    check_host,
    cut_authority,
    find,
)
from relbase.url.grammar.rfc1808 import scheme_match

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOTE: Final = "RFC 1808 §2.3 NOTE"

# xchar          = unreserved | reserved | escape
_XCHAR: Final = UNRESERVED + RESERVED

# schemepart     = *xchar | ip-schemepart
_check_schemepart: Final = of_characters("schemepart", _XCHAR)

# urlpath        = *xchar    ; depends on protocol see section 3.1
_check_urlpath: Final = of_characters("urlpath", _XCHAR)

# fpath          = fsegment *[ "/" fsegment ]
# fsegment       = *[ uchar | "?" | ":" | "@" | "&" | "=" ]
_check_fpath: Final = of_characters(
    "fsegment",
    UNRESERVED + "?:@&=/",
    difference=Difference(
        "?",
        NOTE,
        '"?" is part of an fsegment by RFC 1738 §5; RFC 1808 believes that to be an error, and'
        " begins the query here",
        escaped=True,
    ),
)

# hpath          = hsegment *[ "/" hsegment ]
# hsegment       = *[ uchar | ";" | ":" | "@" | "&" | "=" ]
_check_hpath: Final = of_characters(
    "hsegment",
    UNRESERVED + ";:@&=/",
    difference=Difference(
        ";",
        NOTE,
        '";" is part of an hsegment by RFC 1738 §5; by RFC 1808 it begins the params',
        escaped=False,
    ),
)

# search         = *[ uchar | ";" | ":" | "@" | "&" | "=" ]
#
# "/" and "?" are taken too: RFC 1808 has them in its query, and `g?y/./x` among its examples.
_check_search: Final = of_characters(
    "search",
    _XCHAR,
    difference=Difference(
        "/?",
        RFC_1808,
        '"/" and "?" must be escaped in a search by RFC 1738 §5; the query of RFC 1808 has them',
        escaped=True,
    ),
)

# gtype          = xchar
# selector       = *xchar
# gopher+_string = *xchar
#
# What is not a search is still a selector, so that the grammar takes any xchar in it as well.
_check_selector: Final = of_characters("selector", _XCHAR)
_check_gopher_search: Final = of_characters("search", _XCHAR)
_check_gopher_string: Final = of_characters("gopher+_string", _XCHAR)
_gtype_match: Final = re.compile(r"%[0-9A-Fa-f]{2}|.", re.DOTALL).match

# encoded822addr = 1*xchar               ; further defined in RFC822
_check_address: Final = of_characters("encoded822addr", _XCHAR)

# group          = alpha *[ alpha | digit | "-" | "." | "+" | "_" ]
_group_characters: Final = of_characters("group", ALPHA + DIGIT + "-.+_", escapes=False)

# article        = 1*[ uchar | ";" | "/" | "?" | ":" | "&" | "=" ] "@" host
_check_article: Final = of_characters("article", UNRESERVED + ";/?:&=")

# digits         = 1*digit
_check_digits: Final = of_characters("digits", DIGIT, escapes=False)

# database       = *uchar
# wtype          = *uchar
# wpath          = *uchar
_check_database: Final = of_characters("database", UNRESERVED)
_check_wtype: Final = of_characters("wtype", UNRESERVED)
_check_wpath: Final = of_characters("wpath", UNRESERVED)

# ppath          = psegment *[ "/" psegment ]
# psegment       = *[ uchar | "?" | ":" | "@" | "&" | "=" ]
_check_ppath: Final = of_characters("psegment", UNRESERVED + "?:@&=/")

# fieldspec      = ";" fieldname "=" fieldvalue
# fieldname      = *[ uchar | "?" | ":" | "@" | "&" ]
# fieldvalue     = *[ uchar | "?" | ":" | "@" | "&" ]
_check_fieldname: Final = of_characters("fieldname", UNRESERVED + "?:@&")
_check_fieldvalue: Final = of_characters("fieldvalue", UNRESERVED + "?:@&")


def _ftpurl(text: str, at: int, end: int) -> Cut:
    # ftpurl         = "ftp://" login [ "/" fpath [ ";type=" ftptype ]]
    authority = cut_authority(text, at, end, "ftpurl", users=True)
    parts, faults, _ = authority
    path = after_slash(text, authority, end, "ftpurl")
    if path is not None:
        semicolon = find(text, ";", path, end)
        parts.append(Component("path", path, semicolon, _check_fpath))
        if semicolon < end:
            _ftptype(text, semicolon, end, parts, faults)
    return Cut("ftpurl", parts, faults)


def _ftptype(text: str, at: int, end: int, parts: list[Component], faults: list[Violation]) -> None:
    # ftptype        = "A" | "I" | "D" | "a" | "i" | "d"
    for literal in ";type=":
        if at == end or text[at].lower() != literal:
            faults.append(expected(text, at, "ftpurl", '";type="'))
            parts.append(Component("", at, end, _check_urlpath))
            return
        at += 1
    if at == end or text[at] not in "AIDaid":
        faults.append(expected(text, at, "ftptype", '"A", "I" or "D"'))
    elif at + 1 < end:
        faults.append(expected(text, at + 1, "ftpurl", "the end"))
    parts.append(Component("ftptype", at, end, _check_urlpath))


def _fileurl(text: str, at: int, end: int) -> Cut:
    # fileurl        = "file://" [ host | "localhost" ] "/" fpath
    slash = find(text, "/", at, end)
    parts = [Component("host", at, slash, check_host if slash > at else _check_urlpath)]
    if slash == end:
        return Cut("fileurl", parts, [expected(text, end, "fileurl", '"/"')])
    return Cut("fileurl", [*parts, Component("path", slash + 1, end, _check_fpath)], [])


def _httpurl(text: str, at: int, end: int) -> Cut:
    # httpurl        = "http://" hostport [ "/" hpath [ "?" search ]]
    authority = cut_authority(text, at, end, "httpurl", users=False)
    parts, faults, _ = authority
    path = after_slash(text, authority, end, "httpurl")
    if path is not None:
        question = find(text, "?", path, end)
        parts.append(Component("path", path, question, _check_hpath))
        if question < end:
            parts.append(Component("search", question + 1, end, _check_search))
    return Cut("httpurl", parts, faults)


def _gopherurl(text: str, at: int, end: int) -> Cut:
    # gopherurl      = "gopher://" hostport [ / [ gtype [ selector
    #                  [ "%09" search [ "%09" gopher+_string ] ] ] ] ]
    authority = cut_authority(text, at, end, "gopherurl", users=False)
    parts, faults, _ = authority
    path = after_slash(text, authority, end, "gopherurl")
    if path is not None and (gtype := _gtype_match(text, path, end)):
        parts.append(Component("gtype", path, gtype.end(), _check_selector))
        selector = gtype.end()
        tab = find(text, "%09", selector, end)
        parts.append(Component("selector", selector, tab, _check_selector))
        if tab < end:
            tab2 = find(text, "%09", tab + 3, end)
            parts.append(Component("search", tab + 3, tab2, _check_gopher_search))
            if tab2 < end:
                parts.append(Component("gopher_string", tab2 + 3, end, _check_gopher_string))
    return Cut("gopherurl", parts, faults)


def _mailtourl(text: str, at: int, end: int) -> Cut:
    # mailtourl      = "mailto:" encoded822addr
    faults = [expected(text, at, "encoded822addr", "an xchar")] if at == end else []
    return Cut("mailtourl", [Component("encoded822addr", at, end, _check_address)], faults)


def _newsurl(text: str, at: int, end: int) -> Cut:
    # newsurl        = "news:" grouppart
    # grouppart      = "*" | group | article
    sign = find(text, "@", at, end)
    if sign < end:
        faults = [expected(text, at, "article", "a uchar")] if sign == at else []
        parts = [Component("article", at, sign, _check_article)]
        return Cut("newsurl", [*parts, Component("host", sign + 1, end, check_host)], faults)
    if text.startswith("*", at, end):
        faults = [expected(text, at + 1, "grouppart", "the end")] if end > at + 1 else []
        return Cut("newsurl", [Component("group", at, end, _check_urlpath)], faults)
    return Cut("newsurl", [Component("group", at, end, _check_group)], [])


def _check_group(text: str, start: int, end: int) -> Iterator[Violation]:
    if start == end or text[start] not in ALPHA:
        yield expected(text, start, "group", "an alpha")
    yield from _group_characters(text, start, end)


def _nntpurl(text: str, at: int, end: int) -> Cut:
    # nntpurl        = "nntp://" hostport "/" group [ "/" digits ]
    authority = cut_authority(text, at, end, "nntpurl", users=False)
    parts, faults, stop = authority
    path = after_required_slash(text, authority, end, "nntpurl")
    if stop < end:
        slash = find(text, "/", path, end)
        parts.append(Component("group", path, slash, _check_group))
        if slash < end:
            parts.append(Component("digits", slash + 1, end, _check_digits))
            if slash + 1 == end:
                faults.append(expected(text, end, "digits", "a digit"))
    return Cut("nntpurl", parts, faults)


def _telneturl(text: str, at: int, end: int) -> Cut:
    # telneturl      = "telnet://" login [ "/" ]
    authority = cut_authority(text, at, end, "telneturl", users=True)
    parts, faults, _ = authority
    path = after_slash(text, authority, end, "telneturl")
    if path is not None and path < end:
        faults.append(expected(text, path, "telneturl", "the end"))
        parts.append(Component("", path, end, _check_urlpath))
    return Cut("telneturl", parts, faults)


def _waisurl(text: str, at: int, end: int) -> Cut:
    # waisurl        = waisdatabase | waisindex | waisdoc
    authority = cut_authority(text, at, end, "waisurl", users=False)
    parts, faults, _ = authority
    path = after_required_slash(text, authority, end, "waisurl")
    slash = find(text, "/", path, end)
    question = find(text, "?", path, slash)
    if question < slash:
        # waisindex      = "wais://" hostport "/" database "?" search
        parts.append(Component("database", path, question, _check_database))
        parts.append(Component("search", question + 1, end, _check_search))
        return Cut("waisindex", parts, faults)
    parts.append(Component("database", path, slash, _check_database))
    if slash == end:
        # waisdatabase   = "wais://" hostport "/" database
        return Cut("waisdatabase", parts, faults)
    # waisdoc        = "wais://" hostport "/" database "/" wtype "/" wpath
    slash2 = find(text, "/", slash + 1, end)
    parts.append(Component("wtype", slash + 1, slash2, _check_wtype))
    if slash2 == end:
        faults.append(expected(text, end, "waisdoc", '"/"'))
    else:
        parts.append(Component("wpath", slash2 + 1, end, _check_wpath))
    return Cut("waisdoc", parts, faults)


def _prosperourl(text: str, at: int, end: int) -> Cut:
    # prosperourl    = "prospero://" hostport "/" ppath *[ fieldspec ]
    authority = cut_authority(text, at, end, "prosperourl", users=False)
    parts, faults, _ = authority
    path = after_required_slash(text, authority, end, "prosperourl")
    semicolon = find(text, ";", path, end)
    parts.append(Component("ppath", path, semicolon, _check_ppath))
    parts.append(Component("fieldspecs", semicolon, end, _check_fieldspecs))
    return Cut("prosperourl", parts, faults)


def fieldspecs(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Where the fieldspecs of a Prospero URL begin (after ";"), have their "=", and end."""
    while start < end:
        stop = find(text, ";", start + 1, end)
        yield start + 1, find(text, "=", start + 1, stop), stop
        start = stop


def _check_fieldspecs(text: str, start: int, end: int) -> Iterator[Violation]:
    for at, equals, stop in fieldspecs(text, start, end):
        yield from _check_fieldname(text, at, equals)
        if equals == stop:
            yield expected(text, stop, "fieldspec", '"="')
        yield from _check_fieldvalue(text, equals + 1, stop)


def _otherurl(text: str, at: int, end: int) -> Cut:
    # otherurl       = genericurl
    # genericurl     = scheme ":" schemepart
    # ip-schemepart  = "//" login [ "/" urlpath ]
    if not text.startswith("//", at, end):
        return Cut("otherurl", [Component("schemepart", at, end, _check_schemepart)], [])
    parts = [Component("schemepart", at, end, _check_slashes_schemepart)]
    authority = cut_authority(text, at + 2, end, "ip-schemepart", users=True)
    path = after_slash(text, authority, end, "ip-schemepart")
    if path is not None:
        authority.parts.append(Component("urlpath", path, end, _check_urlpath))
    searched = chain.from_iterable(part.check(text, *part[1:3]) for part in authority.parts)
    failed = next(chain(authority.faults, searched), None)
    if failed is None:
        return Cut("otherurl", parts + authority.parts, [])
    # By *xchar it may still be a URL, so that this is not a violation.
    message = f"no ip-schemepart, only *xchar: {failed.message}"
    return Cut("otherurl", parts, [failed._replace(kind=Severity.REMARK, message=message)])


def _check_slashes_schemepart(text: str, start: int, end: int) -> Iterator[Violation]:
    """Search a schemepart that begins with "//": an escaped bracket would make no address."""
    authority = min(find(text, delimiter, start + 2, end) for delimiter in "/?")
    for found in _check_schemepart(text, start, end):
        if found.start < authority and found.character in {"[", "]"}:
            message = f"{found.message}; {BRACKETS}"
            yield found._replace(message=message, replacement=None)
        else:
            yield found


class _Scheme(NamedTuple):
    """The production of a scheme, and what cuts what is after its literal."""

    production: str
    slashes: bool
    cut: Callable[[str, int, int], Cut]


# url            = httpurl | ftpurl | newsurl |
#                  nntpurl | telneturl | gopherurl |
#                  waisurl | mailtourl | fileurl |
#                  prosperourl | otherurl
_SCHEMES: Final = {
    "http": _Scheme("httpurl", True, _httpurl),
    "ftp": _Scheme("ftpurl", True, _ftpurl),
    "news": _Scheme("newsurl", False, _newsurl),
    "nntp": _Scheme("nntpurl", True, _nntpurl),
    "telnet": _Scheme("telneturl", True, _telneturl),
    "gopher": _Scheme("gopherurl", True, _gopherurl),
    "wais": _Scheme("waisurl", True, _waisurl),
    "mailto": _Scheme("mailtourl", False, _mailtourl),
    "file": _Scheme("fileurl", True, _fileurl),
    "prospero": _Scheme("prosperourl", True, _prosperourl),
}
_OTHER: Final = _Scheme("otherurl", False, _otherurl)


def url(text: str, start: int, end: int) -> Cut:
    """Cut a URL by this grammar alone, which has no relative ones, without its fragment."""
    if scheme := scheme_match(text, start, end):
        return absolute_url(text, scheme.end(), end)
    fault = expected(text, start, "url", 'a scheme and ":"')
    message = 'a scheme and ":" are expected: RFC 1738 has no relative URLs'
    rest = Component("", start, end, _check_urlpath)
    return Cut("url", [rest], [fault._replace(end=start, message=message)])


def by_itself(found: Violation) -> Violation | None:
    """Return what a finding is where RFC 1738 alone is asked; None when it is nothing."""
    if found.section == NOTE:  # what RFC 1808 takes for an error is how it is
        return None
    if found.kind is Severity.REMARK and found.section == RFC_1808:
        message = f"{printable(found.character)} must be escaped in a search"
        return found._replace(kind=Severity.VIOLATION, section=RFC_1738, message=message)
    return found


def absolute_url(text: str, colon: int, end: int) -> Cut:
    """Cut an absolute URL without its fragment; its scheme ends at `colon`."""
    written = text[:colon]
    scheme = _SCHEMES.get(written.lower(), _OTHER)
    at = colon + 1
    while scheme.slashes and at < colon + 3:
        if not text.startswith("/", at, end):
            rest = Component("", at, end, _check_urlpath)
            return Cut(scheme.production, [rest], [expected(text, at, scheme.production, '"//"')])
        at += 1
    cut = scheme.cut(text, at, end)
    if written != written.lower():
        cut.faults.append(_upper_case(written))
    return cut


def _upper_case(written: str) -> Violation:
    # scheme         = 1*[ lowalpha | digit | "+" | "-" | "." ]
    # ; the scheme is in lower case; interpreters should use case-ignore
    message = "a scheme is in lower case by RFC 1738 §5; RFC 1808 takes either case"
    return Violation(
        0,
        len(written),
        Severity.REMARK,
        "scheme",
        written[0],
        class_of(written[0]),
        RFC_1738,
        message,
        written.lower(),
    )
