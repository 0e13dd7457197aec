"""The characters of URLs and hosts, the findings on them, and the checks that make findings.

A `%` is a bad escape unless two hex digits follow it within its component.
"""

from __future__ import annotations

# ruff: noqa: ERA001 - the grammar stands above what implements it
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import chain
from string import ascii_letters, digits
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from relbase.expressions import expression, regex

RFC_1808: Final = "RFC 1808 §2.2"
RFC_1738: Final = "RFC 1738 §5"


class CharacterClass(StrEnum):
    """The class of a character in the two grammars, or in RFC 2396 §2.4.3 if they name none."""

    ALPHA = "alpha"
    DIGIT = "digit"
    SAFE = "safe"
    EXTRA = "extra"
    NATIONAL = "national"
    RESERVED = "reserved"
    PUNCTUATION = "punctuation"
    ESCAPE = "escape"  # a good one, where the production allows none
    BAD_ESCAPE = "bad escape"
    CONTROL = "control"
    SPACE = "space"
    NON_ASCII = "non-ASCII"
    SURROGATE = "lone surrogate"  # a byte that was not UTF-8, or half a character
    END = "end"  # the text ends where the production wants more


class Severity(StrEnum):
    """How serious a finding is; only a VIOLATION means that a text is not a URL."""

    VIOLATION = "violation"  # the text does not match the grammar
    REMARK = "remark"  # the RFCs differ, and RFC 1808 accepts it
    PRACTICE = "practice"  # a URL, but against recommended practice
    LIMIT = "limit"  # more violations were left out


class Violation(NamedTuple):
    """One flaw of a URL: where it is, and what is wrong.

    Args:
        start: Offset of the first character that does not match the production.
        end: End of the place; equal to `start` if something is missing.
        kind: A violation of the grammar, or only a remark.
        production: Name of the production that failed, as in the RFC.
        character: The character at `start`; "" at the end of the text.
        character_class: Class of that character.
        section: The section that says so, such as "RFC 1738 §5".
        message: A sentence for people, in printable ASCII and `§`.
        replacement: What to write from `start` to `end` instead, if anything is known.
        alternative: A second remedy, less recommended than the first.
    """

    start: int
    end: int
    kind: Severity
    production: str
    character: str
    character_class: CharacterClass
    section: str
    message: str
    replacement: str | None = None
    alternative: str | None = None


Check: TypeAlias = "Callable[[str, int, int], Iterator[Violation]]"


class Component(NamedTuple):
    """A component: its field of `Url` (or ""), its bounds, and its check."""

    name: str
    start: int
    end: int
    check: Check


class Cut(NamedTuple):
    """A URL cut into parts: its production and its components."""

    production: str
    parts: list[Component]


class Difference(NamedTuple):
    """Characters on which the RFCs differ here; RFC 1808 accepts the URL."""

    characters: str
    section: str
    message: str
    escaped: bool  # whether an escape in their place means the same


# RFC 1738 §5 and RFC 1808 §2.2, the same in both; an escape is "%" hex hex
_SETS: Final[dict[str, str]] = {
    CharacterClass.ALPHA: ascii_letters,
    CharacterClass.DIGIT: digits,
    CharacterClass.SAFE: "$-_.+",
    CharacterClass.EXTRA: "!*'(),",
    CharacterClass.NATIONAL: "{}|\\^~[]`",
    CharacterClass.RESERVED: ";/?:@&=",
    CharacterClass.PUNCTUATION: '<>#%"',
    CharacterClass.CONTROL: "".join(map(chr, (*range(0x20), 0x7F))),
    CharacterClass.SPACE: " ",
}
_CLASSES: Final = {
    character: CharacterClass(name) for name, known in _SETS.items() for character in known
}
_SETS["uchar"] = "".join([_SETS[name] for name in ("alpha", "digit", "safe", "extra")]) + "%"
XCHAR: Final = _SETS["uchar"] + _SETS["reserved"]
_SETS["xchar"] = XCHAR

# Characters that a later RFC decided on otherwise, in whatever production.
_LATER: Final = {"~": "RFC 2396 §2.3 allows it"}

_escape_match: Final = regex("%[0-9A-Fa-f]{2}").match


def class_of(character: str) -> CharacterClass:
    """Return the class of one character, or of "" for the end of the text."""
    if not character:
        return CharacterClass.END
    is_surrogate = "\ud800" <= character <= "\udfff"
    other = CharacterClass.SURROGATE if is_surrogate else CharacterClass.NON_ASCII
    return _CLASSES.get(character, other)


def printable(character: str) -> str:
    r"""Return one character so that any terminal shows it."""
    if character == '"':
        return '<">'  # as the RFCs write it
    return f'"{character}"' if " " < character <= "~" else f"U+{ord(character):04X}"


def escape(character: str) -> str:
    r"""Return the escapes of a character: of its UTF-8, or of the byte that a surrogate means."""
    try:
        data = character.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character: decoders replace it by this
        data = "\ufffd".encode()
    return "".join(f"%{byte:02X}" for byte in data)


def finding(
    text: str,
    start: int,
    end: int,
    production: str,
    message: str,
    *remedies: str,
    kind: Severity = Severity.VIOLATION,
    section: str = RFC_1738,
) -> Violation:
    """Return a finding on a place of the text, with at most two remedies."""
    character = text[start : start + 1]
    known = class_of(character)
    return Violation(start, end, kind, production, character, known, section, message, *remedies)


def expected(
    text: str, at: int, production: str, what: str, *remedies: str, section: str = RFC_1738
) -> Violation:
    """Return the violation that the text should have `what` at the offset `at`."""
    character = text[at : at + 1]
    instead = f"not {printable(character)}" if character else "but the text ends"
    message = f"{what} is expected, {instead}"
    return finding(text, at, at + len(character), production, message, *remedies, section=section)


def components(
    bnf: str, section: str, differences: Mapping[str, Difference] = MappingProxyType({})
) -> dict[str, Check]:
    """Return the checks of components, given the productions as the RFCs write them.

    Each follows those that it names. One that repeats another reports findings by the other's name.
    """
    sets, checks = dict(_SETS), {}
    for line in bnf.strip().splitlines():
        name, rule = map(str.strip, line.split(" = ", 1))
        terms = _terms(rule)
        sets[name] = "".join([character or sets[word] for character, word in terms])
        last = terms[-1][1]
        production = last if last in checks and rule[0].isalpha() else name
        first = next(word for _, word in terms if word)
        least = f"a{'n' * first.startswith('x')} {first}" if rule.startswith("1") else ""
        difference = differences.get(name)
        checks[name] = of_characters(production, sets[name], least, section, difference)
    return checks


_terms: Final = regex('"(.)"|([A-Za-z]+)').findall


def of_characters(
    production: str,
    allowed: str,
    least: str = "",
    section: str = RFC_1738,
    difference: Difference | None = None,
) -> Check:
    """Return the check of a component of `allowed` characters; with `least`, of one or more."""
    escapes = "%" in allowed
    percent = "%(?![0-9A-Fa-f]{2})" if escapes else "%"
    bad = expression(f"[^{re.escape(allowed)}%]|{percent}")
    differing = expression(f"[{difference.characters}]") if difference else None

    def check(text: str, start: int, end: int) -> Iterator[Violation]:
        if least and start == end:
            yield expected(text, start, production, least, section=section)
        if difference and differing and (match := differing.search(text, start, end)):
            at = match.start()
            instead = (escape(text[at]),) if difference.escaped else ()
            remark = finding(text, at, at + 1, production, difference.message, *instead)
            yield remark._replace(kind=Severity.REMARK, section=difference.section)
        for match in bad.finditer(text, start, end):
            at = match.start()
            known, message = _bad_character(text, at, production)
            remedies = (escape(match[0]),) if escapes else ()
            fault = finding(text, at, at + 1, production, message, *remedies, section=section)
            yield fault._replace(character_class=known)

    return check


def _bad_character(text: str, at: int, production: str) -> tuple[CharacterClass, str]:
    character = text[at]
    if character == "%":
        if _escape_match(text, at):
            return CharacterClass.ESCAPE, f"{production} does not allow an escape"
        message = '"%" begins no escape: two hex digits must follow it'
        return CharacterClass.BAD_ESCAPE, message
    known = class_of(character)
    message = f"{printable(character)} is {known}: {production} does not allow it"
    later = _LATER.get(character)
    return known, f"{message}; {later}" if later else message


def cut_by(
    pattern: re.Pattern[str],
    groups: Mapping[str, tuple[str, Check]],
    text: str,
    start: int,
    end: int,
) -> list[Component]:
    """Cut the text between two offsets by the groups of a pattern; [] if it does not match.

    Groups that are no field of `Url` mark where the production fails, and come first.
    """
    match = pattern.fullmatch(text, start, end)
    if match is None:
        return []
    spans = ((groups[name], match.span(name)) for name in match.groupdict())
    parts = [Component(field, *span, check) for (field, check), span in spans if span[0] >= 0]
    return sorted(parts, key=lambda part: part.name != "")


def fault(violation: Violation) -> Component:
    """Return a part that stands for a violation."""
    return Component("", 0, 0, lambda *_: iter((violation,)))


def missing(production: str, what: str, section: str = RFC_1738) -> Check:
    """Return the check of a place where `what` is missing."""
    return lambda text, at, _end: iter([expected(text, at, production, what, section=section)])


def searched(text: str, parts: Iterable[Component]) -> Iterator[Violation]:
    """Yield the findings on the parts of a cut, part by part."""
    return chain.from_iterable(part.check(text, part.start, part.end) for part in parts)


# ---- hosts, and schemeparts that may begin with one (RFC 1738 §5)

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
# Text that must be meant as a hostnumber: it begins with a digit, and has no letter.
_number: Final = expression(r"[0-9][^A-Za-z\x80-\U0010FFFF-]*+")
_number_digits: Final = of_characters("hostnumber", digits)
_domainlabel: Final = of_characters("domainlabel", f"{ascii_letters}{digits}-")
_toplabel: Final = of_characters("toplabel", f"{ascii_letters}{digits}-")

_HOSTNUMBER_GROUPS: Final = 4

# A later RFC allows the brackets; escaping them would not help.
_BRACKETS: Final = "RFC 3986 §3.2.2 allows an address in brackets"


def check_host(text: str, start: int, end: int) -> Iterator[Violation]:
    """Yield the findings on a host."""
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
        if begin in {"", "-"} or (top and begin in digits):
            yield expected(text, at, production, "an alpha" if top else "an alphadigit")
        yield from (_toplabel if top else _domainlabel)(text, at, stop)
        if stop - at > 1 and text[stop - 1] == "-":
            yield expected(text, stop, production, 'an alphadigit after "-"')


def _labels(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of the labels between dots: always one more than there are dots."""
    at = start
    while (dot := text.find(".", at, end)) >= 0:
        yield at, dot
        at = dot + 1
    yield at, end


# schemepart     = *xchar | ip-schemepart
check_schemepart: Final = of_characters("schemepart", XCHAR)


def check_slashes_schemepart(text: str, start: int, end: int) -> Iterator[Violation]:
    """Yield the findings on a schemepart with "//"; an escaped bracket makes no address."""
    path = _path.search(text, start + 2, end)
    authority = path.start() if path else end
    for fault in check_schemepart(text, start, end):
        if fault.start < authority and fault.character in {"[", "]"}:
            message = f"{fault.message}; {_BRACKETS}"
            yield fault._replace(message=message, replacement=None)
        else:
            yield fault


_path: Final = expression("[/?]")
