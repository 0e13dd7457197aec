"""RFC 1738 §5: what a host is, and what a schemepart that may begin with one."""

# ruff: noqa: ERA001 - the grammar stands above what implements it
from __future__ import annotations

from typing import TYPE_CHECKING, Final

from relbase.expressions import expression
from relbase.url.grammar.characters import ALPHA, DIGIT, XCHAR, expected, finding, of_characters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.url.grammar.characters import Violation

# alphadigit     = alpha | digit
# domainlabel    = alphadigit | alphadigit *[ alphadigit | "-" ] alphadigit
# toplabel       = alpha | alpha *[ alphadigit | "-" ] alphadigit
# hostname       = *[ domainlabel "." ] toplabel
# hostnumber     = digits "." digits "." digits "." digits
# host           = hostname | hostnumber
_LABEL: Final = "[A-Za-z0-9]++(?:-++[A-Za-z0-9]++)*+"
_host: Final = expression(
    rf"(?:{_LABEL}\.)*+(?=[A-Za-z]){_LABEL}|[0-9]++\.[0-9]++\.[0-9]++\.[0-9]++"
)
# What can only be meant as a hostnumber: it begins with a digit, and has no letter.
_number: Final = expression(r"[0-9][^A-Za-z\x80-\U0010FFFF-]*+")
_number_digits: Final = of_characters("hostnumber", DIGIT, escapes=False)
_domainlabel: Final = of_characters("domainlabel", ALPHA + DIGIT + "-", escapes=False)
_toplabel: Final = of_characters("toplabel", ALPHA + DIGIT + "-", escapes=False)

_HOSTNUMBER_GROUPS: Final = 4

# That a later RFC decided otherwise, and that no escapes stand for the brackets.
_BRACKETS: Final = "RFC 3986 §3.2.2 allows an address in brackets"


def check_host(text: str, start: int, end: int) -> Iterator[Violation]:
    """Search a host."""
    if _host.fullmatch(text, start, end):
        return
    if start == end:
        yield expected(text, start, "host", "a host")
    elif text[start] == "[" and text.find("]", start, end) == end - 1:
        message = f"a host is a hostname or a hostnumber; {_BRACKETS}"
        yield finding(text, start, end, "host", message)
    elif _number.fullmatch(text, start, end):
        yield from _hostnumber(text, start, end)
    else:
        yield from _hostname(text, start, end)


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


# schemepart     = *xchar | ip-schemepart
check_schemepart: Final = of_characters("schemepart", XCHAR)


def check_slashes_schemepart(text: str, start: int, end: int) -> Iterator[Violation]:
    """Search a schemepart that begins with "//": an escaped bracket would make no address."""
    found = _path.search(text, start + 2, end)
    authority = found.start() if found else end
    for fault in check_schemepart(text, start, end):
        if fault.start < authority and fault.character in {"[", "]"}:
            message = f"{fault.message}; {_BRACKETS}"
            yield fault._replace(message=message, replacement=None)
        else:
            yield fault


_path: Final = expression("[/?]")
