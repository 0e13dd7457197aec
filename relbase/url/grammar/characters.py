"""The characters of a URL, what a place that fails is called, and how a component is searched.

Strategy: a URL is first cut into components at its delimiters (`rfc1808`, `rfc1738`), then each
component is searched by the `Check` of its production. A check of characters is one regular
expression that matches whatever the production cannot take: it finds the first place where the
production cannot go on, and every further one, in one pass.

Mind that a `%` without two hex digits after it *inside its component* is a bad escape, and that
the search therefore always has the bounds of the component, never a slice of the text.
"""

# ruff: noqa: ERA001 - the grammar stands above what implements it
from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RFC_1808: Final = "RFC 1808 §2.2"
RFC_1738: Final = "RFC 1738 §5"

# RFC 1738 §5 and RFC 1808 §2.2, the same in both:
#
# lowalpha    = "a" | "b" | ... | "z"
# hialpha     = "A" | "B" | ... | "Z"
# alpha       = lowalpha | hialpha
# digit       = "0" | "1" | ... | "9"
# safe        = "$" | "-" | "_" | "." | "+"
# extra       = "!" | "*" | "'" | "(" | ")" | ","
# national    = "{" | "}" | "|" | "\" | "^" | "~" | "[" | "]" | "`"
# reserved    = ";" | "/" | "?" | ":" | "@" | "&" | "="
# punctuation = "<" | ">" | "#" | "%" | <">
# hex         = digit | "A" | ... | "F" | "a" | ... | "f"
# escape      = "%" hex hex
# unreserved  = alpha | digit | safe | extra
# uchar       = unreserved | escape
# xchar       = unreserved | reserved | escape
ALPHA: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGIT: Final = "0123456789"
SAFE: Final = "$-_.+"
EXTRA: Final = "!*'(),"
NATIONAL: Final = "{}|\\^~[]`"
RESERVED: Final = ";/?:@&="
PUNCTUATION: Final = '<>#%"'
UNRESERVED: Final = ALPHA + DIGIT + SAFE + EXTRA


class CharacterClass(StrEnum):
    """What a character is by the two grammars, or by RFC 2396 §2.4.3 where they have no name."""

    ALPHA = "alpha"
    DIGIT = "digit"
    SAFE = "safe"
    EXTRA = "extra"
    NATIONAL = "national"
    RESERVED = "reserved"
    PUNCTUATION = "punctuation"
    ESCAPE = "escape"  # a good one, where the production has none
    BAD_ESCAPE = "bad escape"
    CONTROL = "control"
    SPACE = "space"
    NON_ASCII = "non-ASCII"
    SURROGATE = "lone surrogate"  # a byte that was not UTF-8, or half a character
    END = "end"  # the text ends where the production wants more


class Severity(StrEnum):
    """How much a finding weighs: only a VIOLATION makes a text no URL."""

    VIOLATION = "violation"  # the grammar cannot go on
    REMARK = "remark"  # the RFCs differ, and RFC 1808 accepts it
    PRACTICE = "practice"  # a URL, but against recommended practice
    LIMIT = "limit"  # more violations were left out


class Violation(NamedTuple):
    """One place of a text, and what is the matter with it.

    Args:
        start: the first character where the production cannot go on, an offset in characters.
        end: the end of the place; equal to `start` where something is missing.
        kind: a violation of the grammar, or only a remark.
        production: the name, as in the RFC, of the production that failed.
        character: the character at `start`, "" at the end of the text.
        character_class: what that character is.
        section: where it is written, "RFC 1738 §5".
        message: a sentence for people, printable ASCII and `§`.
        replacement: what could be written from `start` to `end` instead; None: nothing is known.
        alternative: a second remedy, less recommended than the first.
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
    """A component: the field of `Url` that it is (or ""), its bounds, what searches it."""

    name: str
    start: int
    end: int
    check: Check


class Cut(NamedTuple):
    """A URL cut into components: its production, the parts, and where the cutting failed."""

    production: str
    parts: list[Component]
    faults: list[Violation]


class Difference(NamedTuple):
    """Characters that one of the RFCs does not take here, while RFC 1808 accepts the URL."""

    characters: str
    section: str
    message: str
    escaped: bool  # whether an escape in their place means the same


_CLASSES: Final = {
    character: character_class
    for characters, character_class in (
        (map(chr, (*range(0x20), 0x7F)), CharacterClass.CONTROL),
        (" ", CharacterClass.SPACE),
        (ALPHA, CharacterClass.ALPHA),
        (DIGIT, CharacterClass.DIGIT),
        (SAFE, CharacterClass.SAFE),
        (EXTRA, CharacterClass.EXTRA),
        (NATIONAL, CharacterClass.NATIONAL),
        (RESERVED, CharacterClass.RESERVED),
        (PUNCTUATION, CharacterClass.PUNCTUATION),
        (("",), CharacterClass.END),
    )
    for character in characters
}

# The remark that a later RFC decided otherwise belongs to the character, not to the production.
_LATER: Final = {"~": "RFC 2396 §2.3 allows it"}

_escape_match: Final = re.compile("%[0-9A-Fa-f]{2}").match

_FIRST_SURROGATE: Final = "\ud800"
_LAST_SURROGATE: Final = "\udfff"


def class_of(character: str) -> CharacterClass:
    """Return the class of one character, or of "" for the end of the text."""
    known = _CLASSES.get(character)
    if known is not None:
        return known
    if _FIRST_SURROGATE <= character <= _LAST_SURROGATE:
        return CharacterClass.SURROGATE
    return CharacterClass.NON_ASCII


def printable(character: str) -> str:
    r"""Write one character so that any terminal shows it, and nothing but it."""
    if character == '"':
        return '<">'  # as the RFCs write it
    return f'"{character}"' if " " < character <= "~" else f"U+{ord(character):04X}"


def escape(character: str) -> str:
    r"""Return the escapes that stand for a character: of its UTF-8, of a lone byte as it is."""
    try:
        data = character.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character: what decoders put in its place
        data = "\ufffd".encode()
    return "".join(f"%{byte:02X}" for byte in data)


def expected(
    text: str,
    at: int,
    production: str,
    what: str,
    *,
    section: str = RFC_1738,
    replacement: str | None = None,
) -> Violation:
    """Return the violation that `what` ought to stand at the offset `at` of the text."""
    character = text[at : at + 1]
    instead = f"not {printable(character)}" if character else "but the text ends"
    return Violation(
        at,
        at + len(character),
        Severity.VIOLATION,
        production,
        character,
        class_of(character),
        section,
        f"{what} is expected, {instead}",
        replacement,
    )


def of_characters(
    production: str,
    allowed: str,
    *,
    escapes: bool = True,
    section: str = RFC_1738,
    difference: Difference | None = None,
) -> Check:
    """Return the check of a component that may have any of the `allowed` characters, repeated."""
    percent = "%(?![0-9A-Fa-f]{2})" if escapes else "%"
    bad = re.compile(f"[^{re.escape(allowed)}%]|{percent}")
    differing = re.compile(f"[{re.escape(difference.characters)}]") if difference else None

    def check(text: str, start: int, end: int) -> Iterator[Violation]:
        if difference and differing and (found := differing.search(text, start, end)):
            yield _remark(found, production, difference)
        for found in bad.finditer(text, start, end):
            yield _bad_character(text, found.start(), production, section, escapes=escapes)

    return check


def _remark(found: re.Match[str], production: str, difference: Difference) -> Violation:
    return Violation(
        found.start(),
        found.end(),
        Severity.REMARK,
        production,
        found[0],
        class_of(found[0]),
        difference.section,
        difference.message,
        escape(found[0]) if difference.escaped else None,
    )


def _bad_character(
    text: str, at: int, production: str, section: str, *, escapes: bool
) -> Violation:
    character = text[at]
    character_class = class_of(character)
    message = f"{printable(character)} is {character_class}: {production} does not allow it"
    if character == "%":
        character_class, message = _bad_percent(text, at, production)
    if later := _LATER.get(character):
        message = f"{message}; {later}"
    return Violation(
        at,
        at + 1,
        Severity.VIOLATION,
        production,
        character,
        character_class,
        section,
        message,
        escape(character) if escapes else None,
    )


def _bad_percent(text: str, at: int, production: str) -> tuple[CharacterClass, str]:
    if _escape_match(text, at):
        return CharacterClass.ESCAPE, f"{production} does not allow an escape"
    return CharacterClass.BAD_ESCAPE, '"%" begins no escape: two hex digits must follow it'
