"""RFC 1738 §5: host, port, user and password, the part that the IP based schemes share.

Strategy: what stands between `//` and the next `/` is cut first, at its first `@` and at the first
`:` of each side; then each piece is searched by its own production. So the `@` alone decides
whether there is a user: `a:b` without one is a host and a port, even where a user could stand.

Mind that an empty user is not no user (§3.1): `//@h/` has one, `//h/` has none.
"""

# ruff: noqa: ERA001 - the grammar stands above what implements it
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.url.grammar.characters import (
    ALPHA,
    DIGIT,
    RFC_1738,
    UNRESERVED,
    Component,
    Severity,
    Violation,
    class_of,
    expected,
    of_characters,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# user           = *[ uchar | ";" | "?" | "&" | "=" ]
check_user: Final = of_characters("user", UNRESERVED + ";?&=")

# password       = *[ uchar | ";" | "?" | "&" | "=" ]
check_password: Final = of_characters("password", UNRESERVED + ";?&=")

# digits         = 1*digit
# port           = digits
_port_digits: Final = of_characters("port", DIGIT, escapes=False)

# alphadigit     = alpha | digit
# domainlabel    = alphadigit | alphadigit *[ alphadigit | "-" ] alphadigit
# toplabel       = alpha | alpha *[ alphadigit | "-" ] alphadigit
# hostname       = *[ domainlabel "." ] toplabel
# hostnumber     = digits "." digits "." digits "." digits
# host           = hostname | hostnumber
_LABEL: Final = "[A-Za-z0-9]++(?:-++[A-Za-z0-9]++)*+"
_host_match: Final = re.compile(
    rf"(?:{_LABEL}\.)*+(?=[A-Za-z]){_LABEL}|[0-9]++\.[0-9]++\.[0-9]++\.[0-9]++"
).fullmatch
# What can only be meant as a hostnumber: it begins with a digit, and has no letter.
_number_match: Final = re.compile(r"[0-9][^A-Za-z\x80-\U0010FFFF-]*+").fullmatch
_number_digits: Final = of_characters("hostnumber", DIGIT, escapes=False)
_domainlabel: Final = of_characters("domainlabel", ALPHA + DIGIT + "-", escapes=False)
_toplabel: Final = of_characters("toplabel", ALPHA + DIGIT + "-", escapes=False)

_HOSTNUMBER_GROUPS: Final = 4

# Without a "/" before them, these two begin what can only stand after one.
_delimiter_search: Final = re.compile("[?;]").search

# Where not even that "/" makes them right: a database has no ";", a group begins with an alpha, and
# after the "/" of telnet there is nothing.
_NEVER_RIGHT: Final = {"waisurl": ";", "nntpurl": "?;", "telneturl": "?;"}


# That a later RFC decided otherwise, and that no escapes stand for the brackets.
BRACKETS: Final = "RFC 3986 §3.2.2 allows an address in brackets"


class Authority(NamedTuple):
    """What stands after "//": its parts, its faults, and where it stops."""

    parts: list[Component]
    faults: list[Violation]
    stop: int


def check_port(text: str, start: int, end: int) -> Iterator[Violation]:
    """Search a port: at least one digit."""
    if start == end:
        yield expected(text, start, "port", "a digit")
    yield from _port_digits(text, start, end)


def check_host(text: str, start: int, end: int) -> Iterator[Violation]:
    """Search a host."""
    if _host_match(text, start, end):
        return
    if start == end:
        yield expected(text, start, "host", "a host")
    elif text[start] == "[" and text.find("]", start, end) == end - 1:
        yield _literal(text, start, end)
    elif _number_match(text, start, end):
        yield from _hostnumber(text, start, end)
    else:
        yield from _hostname(text, start, end)


def hostport(text: str, start: int, end: int) -> list[Component]:
    """Cut `host [ ":" port ]`; the host is there even when it is empty."""
    # An address in brackets has colons of its own; no other host can have a bracket.
    after = text.find("]", start, end) if text.startswith("[", start, end) else start
    colon = text.find(":", max(after, start), end)
    if colon < 0:
        return [Component("host", start, end, check_host)]
    return [
        Component("host", start, colon, check_host),
        Component("port", colon + 1, end, check_port),
    ]


def login(text: str, start: int, end: int) -> list[Component]:
    """Cut `[ user [ ":" password ] "@" ] hostport`."""
    at = text.find("@", start, end)
    if at < 0:
        return hostport(text, start, end)
    colon = text.find(":", start, at)
    parts = [Component("user", start, at if colon < 0 else colon, check_user)]
    if colon >= 0:
        parts.append(Component("password", colon + 1, at, check_password))
    return parts + hostport(text, at + 1, end)


def cut_authority(text: str, at: int, end: int, url: str, *, users: bool) -> Authority:
    """Cut a login, or, where the scheme has no `users`, a hostport."""
    slash = text.find("/", at, end)
    limit = end if slash < 0 else slash
    user_end = text.find("@", at, limit) if users else -1
    found = _delimiter_search(text, max(user_end, at), limit)
    stop = found.start() if found else limit
    faults: list[Violation] = []
    if not users and (user_end := text.find("@", at, stop)) >= 0:
        faults.append(_no_user(text, user_end, url))
    return Authority(login(text, at, stop), faults, stop)


def _no_user(text: str, at: int, url: str) -> Violation:
    message = "no user name or password is allowed here"
    return Violation(
        at, at + 1, Severity.VIOLATION, url, text[at], class_of(text[at]), RFC_1738, message
    )


def after_slash(text: str, authority: Authority, end: int, url: str) -> int | None:
    """Where what follows the "/" after the authority begins; None: there is nothing."""
    stop = authority.stop
    if stop == end:
        return None
    if text[stop] == "/":
        return stop + 1
    # What can only stand in a path or after it: take the slash as read and go on with it.
    remedy = None if text[stop] in _NEVER_RIGHT.get(url, "") else f"/{text[stop]}"
    authority.faults.append(expected(text, stop, url, '"/"', replacement=remedy))
    return stop


def after_required_slash(text: str, authority: Authority, end: int, url: str) -> int:
    """Where what follows the "/" begins, where the "/" is not optional."""
    after = after_slash(text, authority, end, url)
    if after is None:
        authority.faults.append(expected(text, end, url, '"/"'))
        return end
    return after


def find(text: str, delimiter: str, at: int, end: int) -> int:
    """Where the delimiter is, or the end."""
    found = text.find(delimiter, at, end)
    return end if found < 0 else found


def _literal(text: str, start: int, end: int) -> Violation:
    return Violation(
        start,
        end,
        Severity.VIOLATION,
        "host",
        text[start],
        class_of(text[start]),
        RFC_1738,
        f"a host is a hostname or a hostnumber; {BRACKETS}",
    )


def _hostnumber(text: str, start: int, end: int) -> Iterator[Violation]:
    groups = 0
    for at, stop in _labels(text, start, end):
        if groups == _HOSTNUMBER_GROUPS:
            yield expected(text, at - 1, "hostnumber", "the end after four groups of digits")
            return
        if at == stop:
            yield expected(text, at, "hostnumber", "a digit")
        yield from _number_digits(text, at, stop)
        groups += 1
    if groups < _HOSTNUMBER_GROUPS:
        yield expected(text, end, "hostnumber", '"." and a digit')


def _hostname(text: str, start: int, end: int) -> Iterator[Violation]:
    for at, stop in _labels(text, start, end):
        top = stop == end
        production = "toplabel" if top else "domainlabel"
        begin = text[at] if at < stop else ""
        if begin in {"", "-"} or (top and begin in DIGIT):
            yield expected(text, at, production, "an alpha" if top else "an alphadigit")
        yield from (_toplabel if top else _domainlabel)(text, at, stop)
        if stop - at > 1 and text[stop - 1] == "-":
            yield expected(text, stop, production, 'an alphadigit after "-"')


def _labels(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The bounds of the labels between dots: always one more than there are dots."""
    at = start
    while (dot := text.find(".", at, end)) >= 0:
        yield at, dot
        at = dot + 1
    yield at, end
