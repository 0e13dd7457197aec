"""Skimming: one regex that passes over the HTML tokens that hold nothing to rewrite.

Strategy: most tokens of a page are end tags, or tags without an attribute that holds a reference,
or with absolute references only. At each `<` the regex asks first whether such a token stands there
whole; then it does not match, and the search goes on at the next `<`. Everything else is a match:
either a tag whose one reference has a plain `Shape`, so that its edit is an insertion in front of
it, or just the place, where `html` goes on with the exact tokenizer.

To mind: what is passed over holds no `<` but its first. So a failed try costs no more than the way
to the next one, and the time stays linear. Only HTML with the default policy can be skimmed:
`extended` adds rows, `keep` asks about each reference.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from relbase.references.tags import RAW_TEXT, WS, any_case, comment_end, raw_text_end
from relbase.references.vocabulary import DEFAULT_ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Shape(IntEnum):
    """A plain reference: what it resolves to ends in it as it is written.

    The values are the groups of the regex, empty ones where the reference begins.
    """

    ROOT = 5  # /path
    FRAGMENT = 6  # #fragment
    QUERY = 7  # ?query
    NETWORK = 8  # //host/path
    PATH = 9  # path


_LAST_SHAPE: Final = int(max(Shape))

# One of each shape, in which any other of that shape could stand.
SAMPLES: Final = {
    Shape.ROOT: "/x",
    Shape.FRAGMENT: "#x",
    Shape.QUERY: "?x",
    Shape.NETWORK: "//x/",
    Shape.PATH: "x",
}


# Where references of a plain shape begin, and which.
Insertions: TypeAlias = "list[tuple[int, int]]"

# So many insertions are handed over at once: a list of all would outgrow a hostile document.
_BATCH: Final = 4096


def _names(names: frozenset[bytes]) -> bytes:
    """Names in any case, by their first letters: one test of a letter rules out most of them."""
    rests: dict[bytes, list[bytes]] = {}
    for name in sorted(names):
        rests.setdefault(name[:1], []).append(any_case(name[1:]))
    first = b"".join(any_case(letter)[1:-1] for letter in rests)
    groups = b"|".join(any_case(letter) + b"(?:%b)" % b"|".join(rests[letter]) for letter in rests)
    return b"(?=[%b])(?:%b)" % (first, groups) + rb"(?=[\t\n\f\r =/>])"


# Elements that change what is markup. Others may be passed over whatever they are.
_SPECIAL: Final = _names(RAW_TEXT | {b"svg", b"math", b"template", b"frameset"})
# Attributes that hold references; <meta content> does with http-equiv alone.
_REFERENCES: Final = _names((DEFAULT_ATTRIBUTES - {b"content"}) | {b"http-equiv"})

_VALUE: Final = rb"(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\t\n\f\r \"'<>=`]++)"
_ABSOLUTE: Final = rb"(?:https?://|mailto:|javascript:|data:)"
# CSS without an escape, an at-rule, a character reference, or a function that takes a URL (their
# names end in l, c or t), but for `url(#local)`.
_PLAIN_CSS: Final = (
    rb"(?:\"(?:[^\"<>(\\&@]++|(?<![lLcCtT])\(|\((?=#))*+\""
    rb"|'(?:[^'<>(\\&@]++|(?<![lLcCtT])\(|\((?=#))*+')"
)
_PASSED: Final = (
    rb"(?:" + WS + rb"++(?:"
    rb"class=\"[^\"<>]*+\""
    # Absolute in every profile, whatever follows.
    rb"|(?:href|src|action)=(?:\"" + _ABSOLUTE + rb"[^\"<>]*+\"|'" + _ABSOLUTE + rb"[^'<>]*+')"
    rb"|srcset=\"(?:" + WS + rb"*+https?://(?:[^\"<>&,\t\n\f\r ]++|,(?![,\"\t\n\f\r ])|&amp;)++"
    rb"[^\"<>&,(]*+(?:,|(?=\")))*+\""
    rb"|style=" + _PLAIN_CSS + rb"|src=\"\""
    # no refresh, no link
    rb"|http-equiv=\"[a-km-qs-zA-KM-QS-Z][^\"<>&]*+\""
    rb"|(?!" + _REFERENCES + rb")[a-zA-Z][a-zA-Z0-9:_-]*+(?:=" + _VALUE + rb")?+"
    rb"))*+"
)
_CLOSE: Final = WS + rb"*+/?+>"

# A script whose text is no data block with references; its type may be spelled `import&#109;ap`.
_SCRIPT: Final = rb"script(?![^<>]*?(?:&|(?i:importmap|speculationrules)))"

_COMMENT: Final = rb"!--(?!-?>|\[)[^<>-]*+(?:-(?!-!?>)[^<>-]*+)*+-->"

_BORING: Final = (
    # </a>
    rb"/[a-zA-Z][a-zA-Z0-9:-]*+" + WS + rb"*+>"
    # <p class="x">
    rb"|(?!" + _SPECIAL + rb")[a-zA-Z][a-zA-Z0-9:-]*+" + _PASSED + _CLOSE
    # <!-- no markup -->, <!doctype html>
    + rb"|" + _COMMENT + rb"|![^<>-][^<>]*+>"
)  # fmt: skip


class _Plain(NamedTuple):
    """What plain references are made of: `segment` outside of `.` and `/`, `rest` after it."""

    segment: bytes
    rest: bytes
    network: bytes


# `&amp;` needs no decoding to be classified, and a name without semicolon is no delimiter.
_AMPERSAND: Final = rb"&(?:amp;|[a-zA-Z0-9]++(?!;))"
_RFC: Final = _Plain(
    rb"[^\"'<>&\\\x00-\x20./:?#]++|" + _AMPERSAND,
    rb"[^\"'<>&\\\x00-\x20./]++|" + _AMPERSAND,
    rb"//(?=[A-Za-z0-9])",
)
# What the WHATWG parser leaves as it is; a host it may change.
_WHATWG: Final = _Plain(
    rb"[A-Za-z0-9_~=+;,@!$*()-]++|%(?!2[eE])|" + _AMPERSAND,
    rb"[A-Za-z0-9_~=+;,@!$*():?#-]++|%(?!2[eE])|" + _AMPERSAND,
    rb"(?!)",
)


def _simple(plain: _Plain) -> bytes:
    """A tag with one reference, of a plain shape: no dot segments, no colon before a slash."""
    rest = rb"(?:" + plain.rest + rb"|/(?!\.)|\.)*+"
    return (
        rb"(?:(img|(" + _SCRIPT + rb"))|(form)|a|link|area)" + _PASSED
        + WS + rb"++(?(1)src|(?(3)action|href))=([\"'])(?:"
        rb"()/(?![/.])" + rest
        + rb"|()#" + rest
        + rb"|()\?(?![\"'#])" + rest
        + rb"|()" + plain.network + rest
        + rb"|()(?![\"'/.?#;])(?:" + plain.segment + rb"|\.)*+(?!:)" + rest
        + rb")\4" + _PASSED + _CLOSE + rb"(?(2)[^<]*+</script>)"
    )  # fmt: skip


# As many groups, none of which ever matches.
_NO_SIMPLE: Final = rb"(?!)" + rb"()" * _LAST_SHAPE

# The start of a script without references, and of a comment that is no conditional one; raw text
# that is passed over together with its tag.
_WHOLE: Final = (
    rb"(?:" + _SCRIPT + _PASSED + _CLOSE + rb"()|!--(?!-?>|\[)()"
    rb"|(title|textarea|iframe)" + _PASSED + _CLOSE + rb"[^<]*+</\%d>())"
) % (_LAST_SHAPE + 3)

# By the group of each, where to go on.
_BEHIND: Final = {
    _LAST_SHAPE + 1: partial(raw_text_end, b"script"),
    _LAST_SHAPE + 2: comment_end,
    _LAST_SHAPE + 4: lambda _text, pos, _end: pos,
}

Skim: TypeAlias = "Callable[[bytes, int, int], tuple[Insertions, int]]"


@cache
def skimming(*, insertions: bool, whatwg: bool) -> Skim:
    """The way to the next place that has to be looked at.

    Called with a text, where to begin and where to end, it returns the insertions on the way, and
    the place, -1 when there is none.

    Args:
        insertions: whether references of plain shape are to be found as such.
        whatwg: whether they resolve by the WHATWG parser.
    """
    simple = (_simple(_WHATWG if whatwg else _RFC) if insertions else _NO_SIMPLE) + rb"|"
    pattern = re.compile(rb"<(?!" + _BORING + rb")(?:" + simple + _WHOLE + rb"|(?=[a-zA-Z!?/]))")
    return partial(_skim, pattern.finditer)


def _skim(
    finditer: Callable[[bytes, int, int], Iterator[re.Match[bytes]]],
    text: bytes,
    pos: int,
    end: int,
) -> tuple[Insertions, int]:
    batch: Insertions = []
    while True:
        for found in finditer(text, pos, end):
            shape = found.lastindex
            if shape is None:
                return batch, found.start()
            if shape > _LAST_SHAPE:
                pos = _BEHIND[shape](text, found.end(), end)
                break
            batch.append((found.start(shape), shape))
            if len(batch) == _BATCH:
                return batch, found.end()
        else:
            return batch, -1


# Names in SVG and MathML that hold nothing but each other and text.
_PLAIN_SVG: Final = (
    rb"(?:path|g|circle|rect|line|polygon|polyline|ellipse|symbol|defs|use|text|tspan|stop|mask"
    rb"|pattern|marker|filter|fe[A-Z][A-Za-z]++|clip[pP]ath|(?:linear|radial)[gG]radient)"
)
_PLAIN_MATH: Final = (
    rb"(?:m(?:i|o|n|s|row|style|sup|sub|subsup|over|under|underover|frac|sqrt|root|table|tr|td|space"
    rb"|padded|fenced|error|phantom|text)|semantics|annotation)"
)
_PLAIN_FOREIGN_ATTRIBUTES: Final = (
    rb"(?:" + WS + rb"++(?:"
    rb"(?:xlink:)?+href=\"#[^\"<>&]*+\""
    rb"|(?:fill|stroke|filter|clip-path|mask|style)="
    + _PLAIN_CSS
    + rb"|(?!(?i:href|xlink:href|src|style|fill|stroke|filter|clip-path|mask|marker[a-z-]*+|cursor|ping"
    rb"|to|from|by|values|altimg|definitionurl|cdgroup)[\t\n\f\r =/>])"
    rb"[a-zA-Z][a-zA-Z0-9:_-]*+(?:=" + _VALUE + rb")?+"
    rb"))*+"
)


def _plain(root: bytes, names: bytes) -> bytes:
    tag = rb"/?+" + names + _PLAIN_FOREIGN_ATTRIBUTES + _CLOSE
    return (
        rb"<" + root + _PLAIN_FOREIGN_ATTRIBUTES + WS + rb"*+>"
        rb"(?:[^<]++|<(?:" + tag + rb"|title>[^<]*+</title>|" + _COMMENT + rb"))*+</" + root + rb">"
    )


@cache
def plain_foreign() -> Callable[[bytes, int, int], re.Match[bytes] | None]:
    """The match of a whole `<svg>` or `<math>` in which there is nothing to rewrite.

    It may look far ahead and fail; then what it looked at is walked once, without asking again.
    """
    return re.compile(_plain(rb"svg", _PLAIN_SVG) + rb"|" + _plain(rb"math", _PLAIN_MATH)).match
