"""Skimming: one regex that passes over the HTML tokens that hold nothing to rewrite.

Strategy: most tokens of a page are end tags, or tags without an attribute that holds a reference,
or with absolute references only. One loop within the regex passes over such tokens and the text
between them. It ends in front of anything else: a tag whose one reference has a plain `Shape`, so
that its edit is an insertion in front of it; a style sheet, which is asked for relative references
as a whole; or just a place, where `html` goes on with the exact tokenizer.

To mind: an arm reads a token exactly as the tokenizer does, or fails. What a failed arm has read is
no more than what the exact tokenizer then passes in one go, so that the time stays linear. Only
HTML with the default policy can be skimmed: `extended` adds rows, `keep` asks about each reference.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from relbase.references.bytesets import all_but
from relbase.references.css_skim import is_settled
from relbase.references.foreign import HTML
from relbase.references.tags import RAW_TEXT, WS, any_case, raw_text_end
from relbase.references.vocabulary import attributes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Shape(IntEnum):
    """A plain reference: what it resolves to ends in it as it is written.

    The values are the groups of the regex, empty ones where the reference begins.
    """

    ROOT = 6  # /path
    FRAGMENT = 7  # #fragment
    QUERY = 8  # ?query
    NETWORK = 9  # //host/path
    PATH = 10  # path
    EMPTY = 11  # nothing: the base itself


_LAST_SHAPE: Final = int(max(Shape))

# One of each shape, in which any other of that shape could stand.
SAMPLES: Final = {
    Shape.ROOT: "/x",
    Shape.FRAGMENT: "#x",
    Shape.QUERY: "?x",
    Shape.NETWORK: "//x/",
    Shape.PATH: "x",
    Shape.EMPTY: "",
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
    groups = b"|".join(any_case(letter) + b"(?:%b)" % b"|".join(rests[letter]) for letter in rests)
    return rb"(?:%b)(?=[\t\n\f\r =/>])" % groups


def _other_letters(names: frozenset[bytes]) -> bytes:
    """The letters, as a set, that none of the names begins with: so no other test is needed."""
    return b"".join(
        any_case(b"%c" % letter)[1:-1]
        for letter in range(ord("a"), ord("z") + 1)
        if not any(name.startswith(b"%c" % letter) for name in names)
    )


# Elements that change what is markup. Others may be passed over whatever they are.
_SPECIAL_NAMES: Final = RAW_TEXT | {b"svg", b"math", b"template", b"frameset", b"base"}
_SPECIAL: Final = _names(_SPECIAL_NAMES)
_NAME_BYTES: Final = all_but(b"\t\n\f\r />")
_NAME: Final = rb"(?:[%b]|span|(?!%b)[a-zA-Z])%b*+" % (
    _other_letters(_SPECIAL_NAMES),
    _SPECIAL,
    _NAME_BYTES,
)
# Attributes that hold references; <meta content> does with http-equiv alone.
_REFERENCE_NAMES: Final = (attributes(HTML, extended=False) - {b"content"}) | {b"http-equiv"}
_REFERENCES: Final = _names(_REFERENCE_NAMES)

_UNQUOTED: Final = all_but(b"\t\n\f\r >") + rb"*+"
_VALUE: Final = rb"(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])" + all_but(b"\t\n\f\r >") + rb"++)"
_ABSOLUTE: Final = rb"(?:https?://|mailto:|javascript:|data:)"
_ANY: Final = rb"[a-zA-Z][a-zA-Z0-9:_-]*+(?:" + WS + rb"*+=" + WS + rb"*+" + _VALUE + rb")?+"

# CSS without an escape, an at-rule, a character reference of a letter, or a function that takes a
# URL (their names end in l, c or t), but for `url()` of what is local or absolute. So no reference
# comes about however the rest is to be read.
_NO_URL: Final = (
    rb"|(?<![lLcCtT])\((?!#)|\((?=#)|(?<=[lL])\((?=(?:['\"]|&quot;)?+(?:https?://|data:))"
    rb"|&(?:quot|amp|\#39);)*+"
)
_PLAIN_CSS: Final = (
    rb"(?:\"(?:" + all_but(b'"(\\&@') + rb"++" + _NO_URL + rb"\""
    rb"|'(?:" + all_but(b"'(\\&@") + rb"++" + _NO_URL + rb"')"
)  # fmt: skip

# Attributes without a reference, whatever else the tag has. Each arm begins with a letter, which
# the engine tests before it tries the arm; the most frequent come first.
_BORING_ATTRIBUTE: Final = (
    rb"class=\"[^\"]*+\""
    rb"|[" + _other_letters(_REFERENCE_NAMES) + rb"][a-zA-Z0-9:_-]*+=\"[^\"]*+\""
    rb"|id=\"[^\"]*+\""
    rb"|alt=\"[^\"]*+\""
    rb"|height=\"[^\"]*+\""
    rb"|content=\"[^\"]*+\""
    rb"|data-[a-z-]*+=\"[^\"]*+\""
    rb"|style=" + _PLAIN_CSS
    + rb"|srcset=\"(?:" + WS + rb"*+https?://(?:" + all_but(b'"&,\t\n\f\r ')
    + rb"++|,(?![,\"\t\n\f\r ])|&amp;)++" + all_but(b'"&,(') + rb"*+(?:,|(?=\")))*+\""
    # no refresh, no link
    rb"|http-equiv=\"[a-km-qs-zA-KM-QS-Z][^\"&]*+\""
    rb"|(?!" + _REFERENCES + rb")" + _ANY
)  # fmt: skip


def _absolute(name: bytes) -> bytes:
    """An attribute whose reference is absolute in every profile, whatever follows."""
    value = rb"(?:\"%b[^\"]*+\"|'%b[^']*+'|%b%b)"
    return name + b"=" + value % (_ABSOLUTE, _ABSOLUTE, _ABSOLUTE, _UNQUOTED)


# All attributes before the one that is looked for, which is the first of its name.
_BEFORE: Final = rb"(?:" + WS + rb"++(?:" + _BORING_ATTRIBUTE + rb"))*+"
_PASSED: Final = (
    rb"(?:" + WS + rb"++(?:" + _absolute(b"href") + rb"|" + _absolute(b"src")
    + rb"|src=\"\"|" + _absolute(b"action") + rb"|" + _BORING_ATTRIBUTE + rb"))*+"
)  # fmt: skip
_CLOSE: Final = WS + rb"*+/?+>"

# A script whose text is no data block with references (`importmap`, `speculationrules`, which may
# be spelled with character references).
_SCRIPT_TYPE: Final = rb"type=(?=[\"']?[^iIsS&\"'<>\t\n\f\r ])" + _VALUE
_SCRIPT: Final = (
    rb"script(?=(?:" + WS + rb"++(?:" + _SCRIPT_TYPE
    + rb"|(?![tT][yY][pP][eE][\t\n\f\r =/>])" + _ANY + rb"))*+" + _CLOSE + rb")"
)  # fmt: skip
# What the attributes of elements with longer text usually are: to try all would make the regex,
# and the time to compile it, four times as long.
_USUAL: Final = (
    rb"(?:" + WS + rb"++(?:" + _SCRIPT_TYPE
    + rb"|(?:language|id|class|media|nonce|charset|data-[a-z-]++)=" + _VALUE + rb"))*+" + _CLOSE
)  # fmt: skip
# Without `<!--` or without `<script`, the first end tag ends it.
_SCRIPT_TAG: Final = any_case(b"script") + rb"[\t\n\f\r />]"
_SCRIPT_TEXT: Final = (
    rb"(?:(?:[^<]++|<(?!!--|/" + _SCRIPT_TAG + rb"))*+|(?:[^<]++|<(?!/?+" + _SCRIPT_TAG
    + rb"))*+)(?=</" + _SCRIPT_TAG + rb")"
)  # fmt: skip

# Tags that are the same tags wherever they stand: none holds `<` or `>`, ends in `-->`, changes
# what is markup, or is a <base>. What is around nothing but them is passed over by its own tags.
_SAFE_ATTRIBUTES: Final = (
    rb"(?:" + WS + rb"++[a-zA-Z][a-zA-Z0-9:_-]*+(?:=(?:\"" + all_but(b'"<>') + rb"*+\"|'"
    + all_but(b"'<>") + rb"*+'|" + all_but(b"\t\n\f\r \"'<>/!") + rb"++))?+)*+" + WS
    + rb"*+/?+(?<!--)>"
)  # fmt: skip
_SAFE_TAG: Final = (
    rb"<(?:/(?!noscript)[a-zA-Z0-9]++>|(?!" + _SPECIAL + rb")[a-zA-Z][a-zA-Z0-9:]*+"
    + _SAFE_ATTRIBUTES + rb"|script" + _SAFE_ATTRIBUTES + rb"</script>"
    rb"|iframe" + _SAFE_ATTRIBUTES + rb"</iframe>)"
)  # fmt: skip
_NOSCRIPT: Final = rb"noscript>(?=[^<]*+(?:" + _SAFE_TAG + rb"[^<]*+)*+</noscript>)"
# <!--[if IE]> ... <![endif]-->, <!--[if !IE]><!-->
_CONDITIONAL: Final = (
    rb"!--\[if[^\]>]*+\]>(?:<!-->|(?=" + all_but(b"<>") + rb"*+(?:" + _SAFE_TAG + all_but(b"<>")
    + rb"*+)*+<!\[endif\]-->))"
)  # fmt: skip

_COMMENT: Final = rb"!--(?!-?>|\[)[^<>-]*+(?:-(?!-!?>)[^<>-]*+)*+-->"

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
    + rb"|(?!(?i:href|xlink:href|src|style|fill|stroke|filter|clip-path|mask|marker[a-z-]*+|cursor"
    rb"|ping|to|from|by|values|altimg|definitionurl|cdgroup)[\t\n\f\r =/>])"
    rb"[a-zA-Z][a-zA-Z0-9:_-]*+(?:=" + _VALUE + rb")?+"
    rb"))*+"
)


def _plain(root: bytes, names: bytes) -> bytes:
    """A whole element in which there is nothing to rewrite."""
    tag = rb"/?+" + names + _PLAIN_FOREIGN_ATTRIBUTES + _CLOSE
    return (
        root + _PLAIN_FOREIGN_ATTRIBUTES + WS + rb"*+>"
        rb"(?:[^<]++|<(?:" + tag + rb"|title>[^<]*+</title>|" + _COMMENT + rb"))*+</" + root + rb">"
    )


# Elements whose text has no `<`, nor their tag, so that they are tags like others.
_WITH_TEXT: Final = b"|".join(
    name + rb"(?=" + _SAFE_ATTRIBUTES + rb"[^<]*+</" + end + b">)"
    for name, end in (
        (b"title", b"title"),
        (b"textarea", b"textarea"),
        (b"iframe", b"iframe"),
        (_SCRIPT, b"script"),
    )
)

_BORING: Final = (
    # </a>
    rb"/[a-zA-Z]" + _NAME_BYTES + rb"*+" + WS + rb"*+>"
    # <p class="x">, <title>
    rb"|(?:" + _NAME + rb"|" + _WITH_TEXT + rb")" + _PASSED + _CLOSE
    # elements with what is in them
    + rb"|script" + _USUAL + _SCRIPT_TEXT + rb"|" + _NOSCRIPT
    + rb"|" + _plain(rb"svg", _PLAIN_SVG) + rb"|" + _plain(rb"math", _PLAIN_MATH)
    # <!-- comment -->, <!doctype html>
    + rb"|!--(?:-?+>|(?!\[)(?:[^-]++|-(?!-!?>))*+--!?>)|![^>-][^>]*+>|" + _CONDITIONAL
    # no markup
    + rb"|(?![a-zA-Z!?/])"
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


def _simple(plain: _Plain, quote: bytes) -> bytes:
    """A tag with one reference, of a plain shape: no dot segments, no colon before a slash."""
    rest = rb"(?:" + plain.rest + rb"|/(?!\.)|\.)*+"
    return (
        rb"(?:(img|(" + _SCRIPT + rb"|iframe))|(form)|(a|area)|link)" + _BEFORE
        + WS + rb"++(?(1)src|(?(3)action|href))=(" + quote + rb")(?![\t\n\f\r >])(?:"
        rb"()/(?![/.])" + rest
        + rb"|()#" + rest
        + rb"|()\?(?![\"'#\t\n\f\r >])" + rest
        + rb"|()" + plain.network + rest
        + rb"|()(?![\"'/.?#;])(?:" + plain.segment + rb"|\.)*+(?!:)" + rest
        + rb"|(?(4)(?<=[\"'])()|(?!))"
        rb")\5" + _PASSED + _CLOSE + rb"(?(2)[^<]*+</\2>)"
    )  # fmt: skip


# As many groups, none of which ever matches.
_NO_SIMPLE: Final = rb"(?!)" + rb"()" * _LAST_SHAPE

Skim: TypeAlias = "Callable[[bytes, int, int], tuple[Insertions, int]]"


@cache
def skimming(*, insertions: bool, whatwg: bool, unquoted: bool = False) -> Skim:
    """The way to the next place that has to be looked at.

    Called with a text, where to begin and where to end, it returns the insertions on the way, and
    the place, -1 when there is none.

    Args:
        insertions: whether references of plain shape are to be found as such.
        whatwg: whether they resolve by the WHATWG parser.
        unquoted: whether what is inserted may be inserted without quotes around it, too.
    """
    quote = rb"[\"']?" if unquoted else rb"[\"']"
    simple = _simple(_WHATWG if whatwg else _RFC, quote) if insertions else _NO_SIMPLE
    style = rb"()style" + _USUAL
    pattern = re.compile(
        rb"[^<]*+(?:<(?:" + _BORING + rb")[^<]*+)*+(?:<(?:" + simple + rb"|" + style + rb")|)"
    )
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
                pos = found.end()
                return batch, pos if pos < end else -1
            if shape > _LAST_SHAPE:
                pos = _style_end(text, found.end(), end)
                if pos < 0:
                    return batch, found.start(shape) - 1
                break
            batch.append((found.start(shape), shape))
            if len(batch) == _BATCH:
                return batch, found.end()


def _style_end(text: bytes, pos: int, end: int) -> int:
    """The end of a style sheet without a relative reference; -1 when it may have one."""
    stop = raw_text_end(b"style", text, pos, end)
    return stop if is_settled(text[pos:stop]) else -1
