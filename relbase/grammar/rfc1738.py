"""RFC 1738 §5, production by production: what a URL of each scheme is.

The delimiters in a URL choose the alternative (`@` in a news URL makes it an article), so that a
violation is reported where a reader would look for it. A quoted literal matches in either case
(RFC 822 §2.1): `;TYPE=A` is a type. An empty user differs from none (§3.1): `//@h/` has one.
"""

# ruff: noqa: ERA001 - the grammar stands above what implements it

import re
from collections.abc import Callable, Iterator
from functools import partial
from string import ascii_letters
from typing import Final

from relbase.expressions import expression
from relbase.grammar.characters import (
    RFC_1738,
    RFC_1808,
    XCHAR,
    Check,
    Component,
    Cut,
    Difference,
    Severity,
    Violation,
    check_host,
    check_schemepart,
    check_slashes_schemepart,
    components,
    cut_by,
    expected,
    fault,
    finding,
    missing,
    of_characters,
    printable,
    searched,
)
from relbase.grammar.rfc1808 import scheme_match

NOTE: Final = "RFC 1808 §2.3 NOTE"

_DIFFERENCES: Final = {
    "fpath": Difference(
        "?",
        NOTE,
        '"?" is part of an fsegment by RFC 1738 §5; RFC 1808 believes that to be an error, and'
        " begins the query here",
        escaped=True,
    ),
    "hpath": Difference(
        ";",
        NOTE,
        '";" is part of an hsegment by RFC 1738 §5; by RFC 1808 it begins the params',
        escaped=False,
    ),
    # RFC 1808 allows them in its query, and `g?y/./x` is one of its examples.
    "search": Difference(
        "/?",
        RFC_1808,
        '"/" and "?" must be escaped in a search by RFC 1738 §5; the query of RFC 1808 has them',
        escaped=True,
    ),
}

# By these productions, gopher text that is no search is still a selector.
_CHECKS: Final = components(
    """
    urlpath        = *xchar
    user           = *[ uchar | ";" | "?" | "&" | "=" ]
    password       = *[ uchar | ";" | "?" | "&" | "=" ]
    port           = 1*digit
    fsegment       = *[ uchar | "?" | ":" | "@" | "&" | "=" ]
    fpath          = fsegment *[ "/" fsegment ]
    hsegment       = *[ uchar | ";" | ":" | "@" | "&" | "=" ]
    hpath          = hsegment *[ "/" hsegment ]
    search         = *xchar
    selector       = *xchar
    gopher+_string = *xchar
    encoded822addr = 1*xchar
    group          = alpha *[ alpha | digit | "-" | "." | "+" | "_" ]
    article        = 1*[ uchar | ";" | "/" | "?" | ":" | "&" | "=" ]
    digits         = 1*digit
    database       = *uchar
    wtype          = *uchar
    wpath          = *uchar
    psegment       = *[ uchar | "?" | ":" | "@" | "&" | "=" ]
    ppath          = psegment *[ "/" psegment ]
    fieldname      = *[ uchar | "?" | ":" | "@" | "&" ]
    fieldvalue     = *[ uchar | "?" | ":" | "@" | "&" ]
    """,
    RFC_1738,
    _DIFFERENCES,
)
_check_urlpath: Final = _CHECKS["urlpath"]


def _check_ftptype(text: str, start: int, end: int) -> Iterator[Violation]:
    # ftptype        = "A" | "I" | "D" | "a" | "i" | "d"
    if start == end or text[start] not in "AIDaid":
        yield expected(text, start, "ftptype", '"A", "I" or "D"')
    elif start + 1 < end:
        yield expected(text, start + 1, "ftpurl", "the end")
    yield from _check_urlpath(text, start, end)


def _no_ftptype(text: str, start: int, end: int) -> Iterator[Violation]:
    literal = ";type="
    written = text[start : min(start + len(literal), end)].lower()
    at = start + next(at for at in range(len(literal)) if written[at : at + 1] != literal[at])
    yield expected(text, at, "ftpurl", '";type="')
    yield from _check_urlpath(text, start, end)


def _check_group(text: str, start: int, end: int) -> Iterator[Violation]:
    if start == end or text[start] not in ascii_letters:
        yield expected(text, start, "group", "an alpha")
    yield from _CHECKS["group"](text, start, end)


def _check_fieldspecs(text: str, start: int, end: int) -> Iterator[Violation]:
    # fieldspec      = ";" fieldname "=" fieldvalue
    for at, equals, stop in fieldspecs(text, start, end):
        yield from _CHECKS["fieldname"](text, at, equals)
        if equals == stop:
            yield expected(text, stop, "fieldspec", '"="')
        yield from _CHECKS["fieldvalue"](text, equals + 1, stop)


def fieldspecs(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield where each fieldspec of a Prospero URL begins (after ";"), has its "=", and ends."""
    while start < end:
        stop = _find(text, ";", start + 1, end)
        yield start + 1, _find(text, "=", start + 1, stop), stop
        start = stop


def _find(text: str, delimiter: str, at: int, end: int) -> int:
    index = text.find(delimiter, at, end)
    return end if index < 0 else index


def _no_slash(production: str, never_right: str, text: str, at: int, _: int) -> Iterator[Violation]:
    # This can only stand in a path or after one: go on as if the slash were there.
    remedies = [] if text[at] in never_right else [f"/{text[at]}"]
    yield expected(text, at, production, '"/"', *remedies)


def _no_user(production: str, text: str, at: int, end: int) -> Iterator[Violation]:
    yield finding(text, at, end, production, "no user name or password is allowed here")


# For each group of the patterns, its field of `Url` and its check.
_GROUPS: Final[dict[str, tuple[str, Check]]] = {
    **{name: (name, check) for name, check in _CHECKS.items()},
    "host": ("host", check_host),
    "no_host": ("host", _check_urlpath),
    "fpath": ("path", _CHECKS["fpath"]),
    "hpath": ("path", _CHECKS["hpath"]),
    "ftptype": ("ftptype", _check_ftptype),
    "no_ftptype": ("", _no_ftptype),
    "gtype": ("gtype", _CHECKS["selector"]),
    "gopher_search": ("search", of_characters("search", XCHAR)),
    "gopher_string": ("gopher_string", _CHECKS["gopher+_string"]),
    "group": ("group", _check_group),
    "every_group": ("group", _check_urlpath),
    "after_every_group": ("", missing("grouppart", "the end")),
    "no_wpath": ("", missing("waisdoc", '"/"')),
    "fieldspecs": ("fieldspecs", _check_fieldspecs),
    "no_fpath": ("", missing("fileurl", '"/"')),
    "after_telnet": ("", missing("telneturl", "the end")),
    "rest": ("", _check_urlpath),
}

# hostport       = host [ ":" port ]
# login          = [ user [ ":" password ] "@" ] hostport
#
# An address in brackets contains colons; no other host can contain a bracket. "?" and ";" without
# a "/" before them begin what can only follow one.
_HOSTPORT: Final = r"(?P<host>(?:\[[^]/?;]*+\])?+[^:/?;]*+)(?::(?P<port>[^/?;]*+))?+"
_LOGIN: Final = rf"//(?:(?P<user>[^:@/]*+)(?::(?P<password>[^@/]*+))?+@)?+{_HOSTPORT}"
_NO_LOGIN: Final = (
    rf"//(?:(?P<user>[^:@/?;]*+)(?::(?P<password>[^@/?;]*+))?+(?P<no_user>@))?+{_HOSTPORT}"
)


def _scheme(
    production: str, pattern: str, never_right: str = ""
) -> tuple[str, Callable[[str, int, int], list[Component]]]:
    """Return the production of a scheme's URLs, and the function that cuts them."""
    groups: dict[str, tuple[str, Check]] = {
        **_GROUPS,
        "no_slash": ("", partial(_no_slash, production, never_right)),
        "end": ("", missing(production, '"/"')),
        "no_user": ("", partial(_no_user, production)),
    }
    return production, partial(cut_by, expression(pattern, re.DOTALL), groups)


def _optional(path: str) -> str:
    """Return the pattern of what follows a "/", where both may be missing."""
    return rf"(?:(?:/|(?P<no_slash>(?=[?;]))){path})?+"


def _required(path: str) -> str:
    return rf"(?:/|(?P<no_slash>(?=[?;]))|(?P<end>\Z)){path}"


# url            = httpurl | ftpurl | newsurl |
#                  nntpurl | telneturl | gopherurl |
#                  waisurl | mailtourl | fileurl |
#                  prosperourl | otherurl
_SCHEMES: Final = {
    # httpurl        = "http://" hostport [ "/" hpath [ "?" search ]]
    "http": _scheme("httpurl", _NO_LOGIN + _optional(r"(?P<hpath>[^?]*+)(?:\?(?P<search>.*+))?+")),
    # ftpurl         = "ftp://" login [ "/" fpath [ ";type=" ftptype ]]
    "ftp": _scheme(
        "ftpurl",
        _LOGIN
        + _optional(r"(?P<fpath>[^;]*+)(?:(?i:;type=)(?P<ftptype>.*+)|(?P<no_ftptype>;.*+))?+"),
    ),
    # newsurl        = "news:" grouppart
    # grouppart      = "*" | group | article
    "news": _scheme(
        "newsurl",
        r"(?P<article>[^@]*+)@(?P<host>.*+)"
        r"|(?P<every_group>\*)(?:(?P<after_every_group>(?=.))(?P<rest>.++))?+|(?P<group>.*+)",
    ),
    # nntpurl        = "nntp://" hostport "/" group [ "/" digits ]
    #
    # "?" and ";" are wrong even after a "/": a group begins with an alpha.
    "nntp": _scheme(
        "nntpurl",
        _NO_LOGIN + _required(r"(?P<group>[^/]*+)(?:/(?P<digits>.*+))?+"),
        never_right="?;",
    ),
    # telneturl      = "telnet://" login [ "/" ]
    "telnet": _scheme(
        "telneturl",
        _LOGIN + _optional("(?:(?P<after_telnet>(?=.))(?P<rest>.++))?+"),
        never_right="?;",
    ),
    # gopherurl      = "gopher://" hostport [ / [ gtype [ selector
    #                  [ "%09" search [ "%09" gopher+_string ] ] ] ] ]
    "gopher": _scheme(
        "gopherurl",
        _NO_LOGIN
        + _optional(
            r"(?:(?P<gtype>%[0-9A-Fa-f]{2}|.)(?P<selector>(?:[^%]|%(?!09))*+)"
            r"(?:%09(?P<gopher_search>(?:[^%]|%(?!09))*+)(?:%09(?P<gopher_string>.*+))?+)?+)?+"
        ),
    ),
    # waisurl        = waisdatabase | waisindex | waisdoc
    # waisdatabase   = "wais://" hostport "/" database
    # waisindex      = "wais://" hostport "/" database "?" search
    # waisdoc        = "wais://" hostport "/" database "/" wtype "/" wpath
    "wais": _scheme(
        "waisurl",
        _NO_LOGIN
        + _required(
            r"(?P<database>[^?/]*+)(?:\?(?P<search>.*+)"
            r"|/(?P<wtype>[^/]*+)(?:/(?P<wpath>.*+)|(?P<no_wpath>)))?+"
        ),
        never_right=";",
    ),
    # mailtourl      = "mailto:" encoded822addr
    "mailto": _scheme("mailtourl", "(?P<encoded822addr>.*+)"),
    # fileurl        = "file://" [ host | "localhost" ] "/" fpath
    "file": _scheme(
        "fileurl", "//(?:(?P<host>[^/]++)|(?P<no_host>))(?:/(?P<fpath>.*+)|(?P<no_fpath>))"
    ),
    # prosperourl    = "prospero://" hostport "/" ppath *[ fieldspec ]
    "prospero": _scheme(
        "prosperourl", _NO_LOGIN + _required("(?P<ppath>[^;]*+)(?P<fieldspecs>.*+)")
    ),
}
# ip-schemepart  = "//" login [ "/" urlpath ]
_IP_SCHEMEPART: Final = _scheme("ip-schemepart", f"{_LOGIN}{_optional('(?P<urlpath>.*+)')}")
_WAIS: Final = {"database": "waisdatabase", "search": "waisindex"}


def url(text: str, start: int, end: int) -> Cut:
    """Cut a URL, without its fragment, by this grammar alone, which has no relative URLs."""
    if scheme := scheme_match(text, start, end):
        return absolute_url(text, scheme.end(), end)
    message = 'a scheme and ":" are expected: RFC 1738 has no relative URLs'
    rest = Component("", start, end, _check_urlpath)
    return Cut("url", [fault(finding(text, start, start, "url", message)), rest])


def by_itself(violation: Violation) -> Violation | None:
    """Return a finding as RFC 1738 alone would judge it; None if it is no fault there."""
    if violation.section == NOTE:  # RFC 1738 says what RFC 1808 believes to be an error
        return None
    if violation.kind is Severity.REMARK and violation.section == RFC_1808:
        message = f"{printable(violation.character)} must be escaped in a search"
        return violation._replace(kind=Severity.VIOLATION, section=RFC_1738, message=message)
    return violation


def absolute_url(text: str, colon: int, end: int) -> Cut:
    """Cut an absolute URL without its fragment; its scheme ends at `colon`."""
    written = text[:colon]
    at = colon + 1
    scheme = _SCHEMES.get(written.lower())
    if scheme is None:
        cut = _otherurl(text, at, end)
    else:
        production, parts_of = scheme
        cut = Cut(production, parts_of(text, at, end))
        if not cut.parts:
            at += text.startswith("/", at, end)
            missing = fault(expected(text, at, production, '"//"'))
            return Cut(production, [missing, Component("", at, end, _check_urlpath)])
        if production == "waisurl":
            cut = cut._replace(production=_WAIS.get(cut.parts[-1].name, "waisdoc"))
    # scheme         = 1*[ lowalpha | digit | "+" | "-" | "." ]
    # ; the scheme is in lower case; interpreters should use case-ignore
    if written != written.lower():
        message = "a scheme is in lower case by RFC 1738 §5; RFC 1808 accepts either case"
        violation = finding(written, 0, len(written), "scheme", message, written.lower())
        cut.parts.append(fault(violation._replace(kind=Severity.REMARK)))
    return cut


def _otherurl(text: str, at: int, end: int) -> Cut:
    # otherurl       = genericurl
    # genericurl     = scheme ":" schemepart
    if not text.startswith("//", at, end):
        return Cut("otherurl", [Component("schemepart", at, end, check_schemepart)])
    whole = Component("schemepart", at, end, check_slashes_schemepart)
    parts = _IP_SCHEMEPART[1](text, at, end)
    failed = next(searched(text, parts), None)
    if failed is None:
        return Cut("otherurl", [whole, *parts])
    # By *xchar it may still be a URL, so this is not a violation.
    message = f"no ip-schemepart, only *xchar: {failed.message}"
    remark = failed._replace(kind=Severity.REMARK, message=message)
    return Cut("otherurl", [fault(remark), whole])
