"""What the compiled scanner and Python both know: numbers, limits, classes of bytes, prefixes.

The build writes it as C (`header`). The compiled scanner keeps it as a text (`facts`), and is not
used if that differs: it was built from other tables. A whole number in capitals here is a constant
of the same name there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Final

from relbase.expressions import regex
from relbase.url.plain import ABSOLUTE, SAFE, SPECIAL, WEB


class PlainForm(IntEnum):
    """The form of a plain reference: its URL ends in the reference as written, without its dots."""

    DOT = 5  # a dot alone: the directory
    ROOT = 6  # /path
    FRAGMENT = 7  # #fragment
    QUERY = 8  # ?query
    NETWORK = 9  # //host/path
    PATH = 10  # path
    EMPTY = 11  # nothing: the base itself
    HERE = 12  # ./path; the forms after it are ../path, ../../path, ...


ABSOLUTE_FORM: Final = 0

# Forms have smaller numbers: they are bits of 32.
FORMS: Final = 32

# Where new text may stand as it is, besides in quotes.
IN_QUOTES: Final = 0
UNQUOTED: Final = 1
IN_CSS: Final = 2

# What a walk makes: edits; edits and references as written; records of all references.
EDITS, WRITTEN, ALL = range(3)

# What the caller of a walk allows, as bits: see `ProfileRow.normalizes`; CSS resolves as the rest
# does; each ASCII byte is a character.
NORMALIZES: Final = 1
CSS_TOO: Final = 2
ASCII_STANDS: Final = 4
# The document's own URL is its base.
OWN_IS_BASE: Final = 8
# The `<base>` that counts is known: any that is absolute changes nothing.
PAST_BASE: Final = 16
# It is the tag of that `<base>` that is read, against the base around it.
IN_BASE: Final = 32

# What the walk of XML may read, as bits: HTML in texts; references with flaws.
READS_MARKUP: Final = 1
TELLS_FLAWS: Final = 2

# What a first look at a page tells, as bits: it may state a charset; it has other bytes than those
# of ASCII; these are not UTF-8; it may have a mark of a program that saves pages; it may state a
# base.
MAY_STATE_CHARSET: Final = 1
BEYOND_ASCII: Final = 2
NOT_UNICODE: Final = 4
MAY_BE_MARKED: Final = 8
MAY_STATE_BASE: Final = 16

# What an element is to the walk.
PLAIN, LOOK, RAW, SCRIPT, STYLE, NOSCRIPT, TEMPLATE, SVG, MATH, BASE, KINDS = range(11)

# What an at-rule is to the walk of CSS: it needs a closer look; it imports; it loads nothing. The
# text of a script needs a closer look, too, or is JSON-LD.
UNREAD, IMPORTS, UNLOADED = range(3)
JSON_LD: Final = 1

# What an attribute or a text holds. `ANYTHING` gets a closer look; in XML, a start tag may decide
# what the text after it holds, and an attribute may state a base.
NOTHING, URL, CSS, SRCSET, LIST, REFRESH = range(6)  # the first are those of `held.HELD`
DECIDES, MAYBE, ANYTHING, MARKUP, BY_TAG, SCOPE, ON_CODEBASE, HOLDS = range(6, 14)
HOLDS_MASK: Final = 15
# And besides, of a value that is one URL: what an empty one is; whether a fragment alone is local.
EMPTY_IS_BASE: Final = 16
EMPTY_LOOK: Final = 32
LOCAL: Final = 64
FRAGMENT_LOOK: Final = 128

# What became of a reference in a finished link.
IS_ABSOLUTE, IS_REWRITTEN, IS_KEPT = range(3)

# Limits: of names; of what is found in one call; of start tags that are looked up whole.
MAX_NAME: Final = 63
MAX_ATTRIBUTES: Final = 255
MAX_TAG: Final = 255
BATCH: Final = 4096

# Classes of bytes, each a class of a regular expression.
CLASSES: Final[Mapping[str, str]] = {
    "WS": r"[\t\n\f\r ]",  # white space of HTML; of CSS too
    "NAME_END": r"[\t\n\f\r />]",  # what ends the name of a tag
    "ATTR_END": r"[\t\n\f\r />=]",  # what ends the name of an attribute
    "XML_WS": r"[\t\n\r ]",
    "XML_NAME": r"""[^\x00-\x20/>=<&"']""",  # of a name, as far as it takes to find its end
    # Plain within a reference; what may belong to a placeholder is not.
    "REST": r"""[^\x00-\x20\x7f"'<>&\\./{|\[%]""",
    "SAFE_REST": rf"[{SAFE}:?#]",  # likewise in a profile that normalizes
    "BLANK": r"[ ]",  # within a URL of an attribute, or in quotes in CSS
    "SCHEME": r"[A-Za-z0-9+.-]",
    "HOST": r"[a-z0-9]",  # of a name that the WHATWG parser leaves as it is
    "HOST_START": r"[a-z]",  # of the last label of one
    "ALPHA": r"[A-Za-z]",
    "ALNUM": r"[A-Za-z0-9]",
    "HEX": r"[A-Fa-f0-9]",
    "WORD": r"[A-Za-z0-9_\x00\x80-\xff-]",  # of a name in CSS
    "CSS_PLAIN": r"""[^\x00-\x20\x7f-\xff"&'()<>\\^`{}]""",  # means itself in any url()
    "CSS_EVENT": r"""["'\\/()\[\]{};<&]""",  # may change how CSS is read
    "QUOTE": r"""["']""",
    "TRAIL": r"[0-9\x40-\x7e]",  # may follow a byte outside ASCII as part of its character
}

# The names of HTML that need no semicolon (§13.5).
_NAMES: Final = (
    "AElig AMP Aacute Acirc Agrave Aring Atilde Auml COPY Ccedil ETH Eacute Ecirc Egrave Euml GT "
    "Iacute Icirc Igrave Iuml LT Ntilde Oacute Ocirc Ograve Oslash Otilde Ouml QUOT REG THORN "
    "Uacute Ucirc Ugrave Uuml Yacute aacute acirc acute aelig agrave amp aring atilde auml brvbar "
    "ccedil cedil cent copy curren deg divide eacute ecirc egrave eth euml frac12 frac14 frac34 "
    "gt iacute icirc iexcl igrave iquest iuml laquo lt macr micro middot nbsp not ntilde oacute "
    "ocirc ograve ordf ordm oslash otilde ouml para plusmn pound quot raquo reg sect shy sup1 "
    "sup2 sup3 szlig thorn times uacute ucirc ugrave uml uuml yacute yen yuml"
)
NAMES: Final = tuple(_NAMES.split())

# What may stand before the URL of a refresh.
REFRESH_KEYWORD: Final = "url"

# Texts of which a reference or a scheme begins with one.
PREFIXES: Final[Mapping[str, tuple[str, ...]]] = {"WEB": WEB, "ABSOLUTE": ABSOLUTE}

NUMBERS: Final[Mapping[str, int]] = {
    **{name: value for name, value in globals().items() if name.isupper() and type(value) is int},
    **PlainForm.__members__,
}


def facts() -> str:
    """Return all of it as one line of ASCII."""
    numbers = (f"{name}={int(value)}" for name, value in NUMBERS.items())
    classes = (f"{name}={text}" for name, text in CLASSES.items())
    return " ".join((*numbers, *classes, f"{PREFIXES} {SPECIAL} {NAMES} {REFRESH_KEYWORD}"))


def header() -> str:
    """Return all of it as C."""
    lines = ["/* Written by the build: see scan/tables.py. */", "#include <stdint.h>"]
    lines += _enum((name, int(value)) for name, value in NUMBERS.items())
    lines += _enum((name, 1 << bit) for bit, name in enumerate(CLASSES))
    patterns = [regex(text) for text in CLASSES.values()]
    bits = [
        sum(1 << bit for bit, pattern in enumerate(patterns) if pattern.match(chr(byte)))
        for byte in range(256)
    ]
    lines += ["static const uint32_t classes[256] = {", ", ".join(map(str, bits)), "};"]
    for name, texts in PREFIXES.items():
        tests = " || ".join(f"begins(p, e, {_quoted(text)})" for text in texts)
        lines.append(f"#define BEGINS_{name}(begins, p, e) ({tests})")
    lines.append(f"#define SPECIAL_SCHEMES {', '.join(map(_quoted, SPECIAL))}")
    lines.append(f"#define NAMES_ALONE {', '.join(map(_quoted, NAMES))}")
    lines.append(f"#define REFRESH_KEYWORD {_quoted(REFRESH_KEYWORD)}")
    lines.append(f"#define FACTS {_quoted(facts())}")
    return "\n".join((*lines, ""))


def _enum(numbers: Iterable[tuple[str, int]]) -> list[str]:
    return ["enum {", *(f"  {name} = {value}," for name, value in numbers), "};"]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
