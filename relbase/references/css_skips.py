"""What the scanner of `css` skips between two events: text in which no reference can begin.

Strategy: one expression for each state of the scanner, what is outside of all brackets, in a
statement, in a bracket, in `image-set()`. Each goes on as far as it can and never fails.

To mind: a skip ends between two tokens. Names with escapes are skipped where they cannot spell
what the scanner looks for, and brackets where they are balanced and hold nothing of interest.

Specification: CSS Syntax Level 3, §4.3.
"""

from __future__ import annotations

import re
from typing import Final

from relbase.references.bytesets import all_but
from relbase.references.css_escapes import ESCAPE, INSIDE_DOUBLE, INSIDE_SINGLE, WORD
from relbase.references.css_functions import NAMES, not_after

# §4.3.2; an unclosed comment reaches to the end.
COMMENT: Final = rb"/\*(?:[^*]*+\*++(?:[^/*][^*]*+\*++)*+/|(?s:.)*+)"
SPACE: Final = rb"(?:[ \t\n\r\f]++|%b)*+" % COMMENT
_STRING: Final = rb"""(?:"%b"?+|'%b'?+)""" % (INSIDE_DOUBLE, INSIDE_SINGLE)
# What the names of interest may be written with, in any case, and the first hexadecimal digits of
# those characters. What is itself such a digit is not escaped by a backslash alone.
_NAME_CHARACTERS: Final = frozenset(b"".join((*NAMES, *map(bytes.upper, NAMES), b"-")))
_ESCAPED_ALONE: Final = b"".join(
    b"\\x%02x" % byte for byte in sorted(_NAME_CHARACTERS - set(b"0123456789abcdefABCDEF"))
)
_FIRST_DIGITS: Final = b"".join(
    b"%x" % digit for digit in sorted({byte >> 4 for byte in _NAME_CHARACTERS})
)
# A name with an escape that the names of interest have not; not a function's: its bracket counts.
_LETTER_ESCAPED: Final = rb"""(?: [%b]
    | 0{4}[%b][0-9A-Fa-f] | 0{0,3}[%b][0-9A-Fa-f](?![0-9A-Fa-f]) )""" % (
    _ESCAPED_ALONE,
    _FIRST_DIGITS,
    _FIRST_DIGITS,
)
_HARMLESS: Final = rb"(?=\\(?! %b | [\n\r\f])) (?:[%b]++|%b)++ (?!\()" % (
    _LETTER_ESCAPED,
    WORD,
    ESCAPE,
)
_TEXT: Final = all_but(b"\"'\\/()[]{};<")
_TEXT_IN_BRACKETS: Final = all_but(b"\"'\\/()[]{}<")


# `[href^="x"]`
_SQUARE: Final = rb"\[ (?: %b++ | %b )*+ \]" % (_TEXT_IN_BRACKETS, _STRING)


def _group(inside: bytes) -> bytes:
    """Match a balanced `(...)` that is not the argument of a function of interest."""
    return rb"""%b \( (?: %b++ | /(?!\*) | %b | %b%b )*+ \)""" % (
        not_after(),
        _TEXT_IN_BRACKETS,
        _STRING,
        _SQUARE,
        inside,
    )


# Four levels serve `@supports ((width:min(calc(1px))))`; what is deeper is stacked.
_GROUP: Final = _group(rb"|" + _group(rb"|" + _group(rb"|" + _group(rb""))))
# What a statement may begin with that is more than text: see `css._statement`.
_START: Final = (
    rb"(?: -- | -?\\(?:-|0{0,4}2[dD]) | <!-- | @(?: (?i:import|namespace|container) | [%b]*+\\ ) )"
    % WORD
)
# A name that begins so and is no property's: a selector, `--active a{}`.
_CUSTOM_ELSEWHERE: Final = rb"--[%b]++ [ \t\n\r\f]*+ (?![:/\\])" % WORD
_SIMPLE_CUSTOM: Final = rb"""--[%b]*+ [ \t\n\r\f]*+ :
    (?: %b++ | /(?!\*) | %b | %b )*+ (?=[;}])""" % (WORD, _TEXT, _STRING, _GROUP)
_SKIPPED: Final = rb"/(?!\*) | %b | <(?!!--) | %b" % (COMMENT, _HARMLESS)
# Most statements begin so, with nothing to look at more closely.
_PLAIN_START: Final = rb"[ \t\n\r\f]*+ (?=[a-zA-Z.\#*:;{}])"

_STATEMENT: Final = rb"(?: %b | %b (?:%b|%b)?+ (?!%b) )" % (
    _PLAIN_START,
    SPACE,
    _SIMPLE_CUSTOM,
    _CUSTOM_ELSEWHERE,
    _START,
)
OUTSIDE: Final = re.compile(
    rb"""(?: %b++ | [;{}] %b | %b | %b | %b | %b )*+"""
    % (all_but(b"\"'\\/([;{}<"), _STATEMENT, _SKIPPED, _STRING, _GROUP, _SQUARE),
    re.VERBOSE,
)
INSIDE_STATEMENT: Final = re.compile(
    rb"""(?: %b++ | %b | %b | %b )*+""" % (_TEXT, _SKIPPED, _STRING, _GROUP), re.VERBOSE
)
# Inside of a bracket a semicolon and a small block mean nothing.
INSIDE: Final = re.compile(
    rb"""(?: %b++ | \{ (?: %b++ | /(?!\*) | %b | %b )*+ \} | %b | %b | %b )*+"""
    % (_TEXT_IN_BRACKETS, _TEXT_IN_BRACKETS, _STRING, _GROUP, _SKIPPED, _STRING, _GROUP),
    re.VERBOSE,
)
INSIDE_IMAGE_SET: Final = re.compile(
    rb"""(?: %b++ | %b | %b )*+""" % (_TEXT, _SKIPPED, _GROUP), re.VERBOSE
)
