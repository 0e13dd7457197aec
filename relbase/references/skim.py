"""Skimming: one regex that passes over the HTML tokens that hold nothing to rewrite.

Strategy: most tokens of a page are end tags, or tags without an attribute that holds a reference,
or with absolute references only. One loop within the regex passes over such tokens and the text
between them. It ends in front of anything else: a tag whose one reference has a plain `Shape`, so
that its edit is known without a look at it; a style sheet, which is asked for relative references
as a whole; or just a place, where `html` goes on with the exact tokenizer.

Which names hold references is asked of the vocabulary (`skim_names`) when the regex is made. The
names that stand here are those that are frequent: whether they hold references is asked too.

To mind: an arm reads a token exactly as the tokenizer does, or fails. What a failed arm has read is
no more than what the exact tokenizer then passes in one go, so that the time stays linear.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.edit import Edit
from relbase.references.bytesets import all_but
from relbase.references.css_functions import Form, after, last_letters, not_after
from relbase.references.css_skim import is_settled
from relbase.references.foreign import HTML, MATH, SVG
from relbase.references.shapes import DOTS, MAX_UP, SAMPLES, Shape
from relbase.references.skim_names import (
    MATH_NAMES,
    SCRIPT_TYPES,
    SVG_NAMES,
    Watched,
    local,
    plain,
    watched,
    without_rows,
)
from relbase.references.tags import RAW_TEXT, WS, any_case, raw_text_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from relbase.references.shapes import Becomes, Keeps, Skim


# The last group of a plain reference: `../`, as often as it stands there.
_LAST_GROUP: Final = Shape.HERE + 1

# So many edits are handed over at once: a list of all would outgrow a hostile document.
_BATCH: Final = 4096


def _names(names: Iterable[bytes]) -> bytes:
    """Names in any case, by their first letters: one test of a letter rules out most of them."""
    rests: dict[bytes, list[bytes]] = {}
    for name in sorted(names):
        rests.setdefault(name[:1], []).append(any_case(name[1:]))
    groups = b"|".join(any_case(letter) + b"(?:%b)" % b"|".join(rests[letter]) for letter in rests)
    return rb"(?:%b)(?=[\t\n\f\r =/>])" % groups


def _other_letters(names: Iterable[bytes]) -> bytes:
    """The letters, as a set, that none of the names begins with: so no other test is needed."""
    firsts = {name[:1] for name in names}
    letters = (b"%c" % letter for letter in range(ord("a"), ord("z") + 1))
    return b"".join(any_case(letter)[1:-1] for letter in letters if letter not in firsts)


def _none_of(names: Iterable[bytes]) -> bytes:
    """A look ahead at what is none of some names."""
    return rb"(?!%b)" % _names(names) if names else b""


def _either(frequent: Iterable[bytes], names: Iterable[bytes], fenced: Iterable[bytes]) -> bytes:
    """Names, those first that are frequent; in lower case, as they most often are.

    Those that are fenced have no value that begins with `#`.
    """
    order = dict.fromkeys(name for name in frequent if name in names)
    arms = (
        name + _NO_FRAGMENT if name in fenced else name
        for name in dict.fromkeys([*order, *sorted(names)])
    )
    return b"|".join(arms) or rb"(?!)"


_NO_FRAGMENT: Final = (
    rb"(?!(?:[^>\"'=]++|=" + WS + rb"*+(?![\"']?\#)(?:\"[^\"]*+\"|'[^']*+'|)|[\"'])*+="
    + WS + rb"*+[\"']?\#)"
)  # fmt: skip


# Elements that change what is markup. Others may be passed over whatever they are.
_SPECIAL_NAMES: Final = RAW_TEXT | {b"svg", b"math", b"template", b"frameset", b"base"}
_SPECIAL: Final = _names(_SPECIAL_NAMES)
_NAME_BYTES: Final = all_but(b"\t\n\f\r />")
_NAME: Final = rb"(?:[%b]|span|(?!%b)[a-zA-Z])%b*+" % (
    _other_letters(_SPECIAL_NAMES),
    _SPECIAL,
    _NAME_BYTES,
)
_UNQUOTED: Final = all_but(b"\t\n\f\r >") + rb"*+"
_VALUE: Final = rb"(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])" + all_but(b"\t\n\f\r >") + rb"++)"
_ABSOLUTE: Final = rb"(?:https?://|mailto:|javascript:|data:)"
_ANY: Final = rb"[a-zA-Z][a-zA-Z0-9:_-]*+(?:" + WS + rb"*+=" + WS + rb"*+" + _VALUE + rb")?+"

# CSS without an escape, an at-rule, a character reference of a letter, or a function that takes
# references, but for `url()` of what is local or absolute. So no reference comes about however the
# rest is to be read.
_NO_URL: Final = (
    rb"|(?<!["
    + last_letters()
    + rb"])\(|"
    + not_after()
    + rb"\(|"
    + after(Form.URL)
    + rb"\((?=#|(?:['\"]|&quot;)?+(?:https?://|data:))|&(?:quot|amp|\#39);)*+"
)
_PLAIN_CSS: Final = (
    rb"(?:\"(?:" + all_but(b'"(\\&@') + rb"++" + _NO_URL + rb"\""
    rb"|'(?:" + all_but(b"'(\\&@") + rb"++" + _NO_URL + rb"')"
)  # fmt: skip
# Candidates that are all absolute, with one descriptor each.
_PLAIN_SRCSET: Final = (
    rb"\"(?:" + WS + rb"*+https?://(?:" + all_but(b'"&,\t\n\f\r ')
    + rb"++|,(?![,\"\t\n\f\r ])|&amp;)++" + all_but(b'"&,(') + rb"*+(?:,|(?=\")))*+\""
)  # fmt: skip

# The attributes of real pages, the most frequent first.
_FREQUENT: Final = (b"class", b"id", b"alt", b"height", b"content")
_FREQUENT_URLS: Final = (b"href", b"src", b"action")
# What the attributes of elements with longer text usually are: to try all would make the regex, and
# the time to compile it, four times as long.
_FREQUENT_OF_TEXTS: Final = (b"language", b"id", b"class", b"media", b"nonce", b"charset")


def _data_name(names: Iterable[bytes]) -> bytes:
    """The names that begin with `data-` and are none of those that hold references."""
    held = [name.removeprefix(b"data-") for name in names if name.startswith(b"data-")]
    return rb"data-" + _none_of(held) + rb"[a-z-]*+"


def _boring_attribute(html: Watched) -> bytes:
    """Attributes without a reference, whatever else the tag has.

    Each arm begins with a letter, which the engine tests before it tries the arm; the most frequent
    come first.
    """
    first, *others = [
        rb"%b=\"[^\"]*+\"" % name for name in _FREQUENT if name not in html.names
    ] or [rb"(?!)"]
    deciding = [
        # what it says does not begin like what it would have to say
        rb"%b=\"[%b][^\"&]*+\"" % (name, _other_letters(values))
        for name, values in html.deciding.items()
    ]
    return b"|".join(
        [
            first,
            rb"[%b][a-zA-Z0-9:_-]*+=\"[^\"]*+\"" % _other_letters(html.names),
            *others,
            _data_name(html.names) + rb"=\"[^\"]*+\"",
            *(name + rb"=" + _PLAIN_CSS for name in sorted(html.css)),
            *(name + rb"=" + _PLAIN_SRCSET for name in sorted(html.srcset)),
            *deciding,
            _none_of(html.names) + _ANY,
        ]
    )


def _absolute(name: bytes) -> bytes:
    """An attribute whose reference is absolute in every profile, whatever follows."""
    value = rb"(?:\"%b[^\"]*+\"|'%b[^']*+'|%b%b)"
    return name + b"=" + value % (_ABSOLUTE, _ABSOLUTE, _ABSOLUTE, _UNQUOTED)


def _passed(html: Watched) -> bytes:
    """Attributes that hold nothing to rewrite."""
    arms = [_absolute(name) for name in _FREQUENT_URLS if name in html.url]
    arms += [name + rb'=""' for name in _FREQUENT_URLS if name in html.url_unless_empty]
    return rb"(?:" + WS + rb"++(?:" + b"|".join([*arms, _boring_attribute(html)]) + rb"))*+"


_CLOSE: Final = WS + rb"*+/?+>"

# A script whose text is not data with references; their types may be spelled with character
# references, and have white space around them.
_SCRIPT_TYPE: Final = (
    rb"type=(?=[\"']?[^&\"'<>\t\n\f\r "
    + b"".join(sorted({any_case(name[:1])[1:-1] for name in SCRIPT_TYPES}))
    + rb"])" + _VALUE
)  # fmt: skip
_SCRIPT: Final = (
    rb"script(?=(?:" + WS + rb"++(?:" + _SCRIPT_TYPE
    + rb"|(?![tT][yY][pP][eE][\t\n\f\r =/>])" + _ANY + rb"))*+" + _CLOSE + rb")"
)  # fmt: skip


def _usual(html: Watched) -> bytes:
    """The attributes and the end of a tag of an element with longer text, as they usually are."""
    names = [name for name in _FREQUENT_OF_TEXTS if name not in html.names]
    names.append(_data_name(html.names))
    return (
        rb"(?:" + WS + rb"++(?:" + _SCRIPT_TYPE + rb"|(?:" + b"|".join(names) + rb")="
        + _VALUE + rb"))*+" + _CLOSE
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


def _foreign(namespace: str, names: Iterable[bytes], *, extended: bool) -> bytes:
    """A whole element of SVG or MathML in which there is nothing to rewrite."""
    root = namespace.encode()
    held = watched(namespace, extended=extended)
    spelled = {case for name in without_rows(namespace, names) for case in (name, name.lower())}
    attributes = [
        *(name + rb"=\"#[^\"<>&]*+\"" for name in sorted(local(namespace, extended=extended))),
        *(name + rb"=" + _PLAIN_CSS for name in sorted(held.css)),
        _none_of(held.names) + rb"[a-zA-Z][a-zA-Z0-9:_-]*+(?:=" + _VALUE + rb")?+",
    ]
    plain_attributes = rb"(?:" + WS + rb"++(?:" + b"|".join(attributes) + rb"))*+"
    tag = rb"/?+(?:" + b"|".join(sorted(spelled)) + rb")" + plain_attributes + _CLOSE
    if not without_rows(namespace, [root]):
        return rb"(?!)"
    return (
        root + plain_attributes + WS + rb"*+>"
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


def _boring(html: Watched, *, extended: bool) -> bytes:
    """What is passed over after a `<`."""
    return (
        # </a>; that of a template is counted
        rb"/(?![tT][eE][mM][pP])[a-zA-Z]" + _NAME_BYTES + rb"*+" + WS + rb"*+>"
        # <p class="x">, <title>
        rb"|(?:" + _NAME + rb"|" + _WITH_TEXT + rb")" + _passed(html) + _CLOSE
        # elements with what is in them
        + rb"|script" + _usual(html) + _SCRIPT_TEXT + rb"|" + _NOSCRIPT
        + rb"|" + _foreign(SVG, SVG_NAMES, extended=extended)
        + rb"|" + _foreign(MATH, MATH_NAMES, extended=extended)
        # <!-- comment -->, <!doctype html>
        + rb"|!--(?:-?+>|(?!\[)(?:[^-]++|-(?!-!?>))*+--!?>)|![^>-][^>]*+>|" + _CONDITIONAL
        # not markup
        + rb"|(?![a-zA-Z!?/])"
    )  # fmt: skip


class _Plain(NamedTuple):
    """What plain references are made of: `segment` outside of `.` and `/`, `rest` after it."""

    segment: bytes
    rest: bytes
    network: bytes


# `&amp;` needs no decoding to be classified, and a name without semicolon is not a delimiter.
_AMPERSAND: Final = rb"&(?:amp;|[a-zA-Z0-9]++(?!;))"
# U+007F is percent-encoded in what is written. What may belong to a placeholder is looked at:
# `{`, `[`, `|`, an escape of `{`, and a `%` that begins no escape.
_ESCAPE: Final = rb"%(?!7[bB])[0-9A-Fa-f]{2}"
_RFC: Final = _Plain(
    rb"[^\"'<>&\\\x00-\x20\x7f./:?#{|\[%]++|" + _ESCAPE + rb"|" + _AMPERSAND,
    rb"[^\"'<>&\\\x00-\x20\x7f./{|\[%]++|" + _ESCAPE + rb"|" + _AMPERSAND,
    rb"//(?=[A-Za-z0-9])",
)
# What the WHATWG parser leaves as it is; a host it may change.
_WHATWG: Final = _Plain(
    rb"[A-Za-z0-9_~=+;,@!$*()-]++|(?!%2[eE])" + _ESCAPE + rb"|" + _AMPERSAND,
    rb"[A-Za-z0-9_~=+;,@!$*():?#-]++|(?!%2[eE])" + _ESCAPE + rb"|" + _AMPERSAND,
    rb"(?!)",
)

# The elements with plain references in real pages, the most frequent first.
_LINKING: Final = (b"img", b"a", b"link", b"form")


def _plain_elements(attribute: bytes, *, extended: bool) -> tuple[bytes, bytes]:
    """The elements with a plain reference in an attribute: with `empty` ones, and others."""
    found = plain(attribute, extended=extended)
    return (
        _either(_LINKING, found.empty - _SPECIAL_NAMES, found.fenced),
        _either(_LINKING, found.others - _SPECIAL_NAMES, found.fenced),
    )


def _simple(shapes: _Plain, quote: bytes, html: Watched, *, dots: bool, extended: bool) -> bytes:
    """A tag with one reference, of a plain shape: dot segments at its start only."""
    href_empty, href = _plain_elements(b"href", extended=extended)
    _, src = _plain_elements(b"src", extended=extended)
    _, action = _plain_elements(b"action", extended=extended)
    texts = plain(b"src", extended=extended).others
    raw = b"|".join(
        [_SCRIPT if b"script" in texts else rb"(?!)", *([b"iframe"] if b"iframe" in texts else [])]
    )
    before = rb"(?:" + WS + rb"++(?:" + _boring_attribute(html) + rb"))*+"
    rest = rb"(?:" + shapes.rest + rb"|/(?!\.)|\.)*+"
    segment = rb"(?![\"'/.?#;-])(?:" + shapes.segment + rb"|\.)*+"
    # A name ends where white space begins.
    return (
        rb"(?:(" + src + rb"|(" + raw + rb"))|(" + action + rb")|(" + href_empty + rb")|(?:" + href
        + rb"))(?=" + WS + rb")" + before
        + WS + rb"++(?(1)src|(?(3)action|href))=(" + quote + rb")(?![\t\n\f\r >])(?:"
        rb"()/(?![/.])" + rest
        + rb"|()#" + rest
        + rb"|()\?(?![\"'#\t\n\f\r >])" + rest
        + rb"|()" + shapes.network + rest
        + rb"|()" + segment + rb"(?!:)" + rest
        + rb"|(?(4)(?<=[\"'])()|(?!))|"
        + (rb"(?:()\./|((?:\.\./){1,%d}+))(?:(?=\5)|" % MAX_UP if dots else rb"(?!)()()(?:")
        + segment + rb"(?!:)" + rest + rb")"
        rb")\5" + _passed(html) + _CLOSE + rb"(?(2)[^<]*+</\2>)"
    )  # fmt: skip


# As many groups, none of which ever matches.
_NO_SIMPLE: Final = rb"(?!)" + rb"()" * _LAST_GROUP


def skimming(
    becomes: Becomes,
    *,
    whatwg: bool,
    unquoted: bool = False,
    extended: bool = False,
    keeps: Keeps | None = None,
) -> Skim:
    """Return the way to the next place that has to be looked at.

    Args:
        becomes: what becomes of plain references.
        whatwg: whether they resolve by the WHATWG parser.
        unquoted: whether what is inserted may be inserted without quotes around it, too.
        extended: whether rows of the policy `extended` count.
        keeps: which references stay as they are.
    """
    insertions = all(becomes[shape] is not None for shape in SAMPLES)
    dots = insertions and all(becomes[shape] is not None for shape in DOTS)
    pattern = _pattern(
        insertions=insertions, whatwg=whatwg, unquoted=unquoted, dots=dots, extended=extended
    )
    return partial(_skim, pattern.finditer, becomes, keeps)


@cache
def _pattern(
    *, insertions: bool, whatwg: bool, unquoted: bool, dots: bool, extended: bool
) -> re.Pattern[bytes]:
    html = watched(HTML, extended=extended)
    quote = rb"[\"']?" if unquoted else rb"[\"']"
    shapes = _WHATWG if whatwg else _RFC
    simple = _NO_SIMPLE
    if insertions:
        simple = _simple(shapes, quote, html, dots=dots, extended=extended)
    style = rb"()style" + _usual(html)
    boring = _boring(html, extended=extended)
    return re.compile(
        rb"[^<]*+(?:<(?:" + boring + rb")[^<]*+)*+(?:<(?:" + simple + rb"|" + style + rb")|)"
    )


def _skim(  # noqa: PLR0917 (called often: by position)
    finditer: Callable[[bytes, int, int], Iterator[re.Match[bytes]]],
    becomes: Becomes,
    keeps: Keeps | None,
    text: bytes,
    pos: int,
    end: int,
    _in_noscript: bool = False,  # noqa: FBT001, FBT002 (there are no noscript elements in one)
) -> tuple[list[Edit], int]:
    batch: list[Edit] = []
    while True:
        for found in finditer(text, pos, end):
            shape = found.lastindex
            if shape is None:
                pos = found.end()
                return batch, pos if pos < end else -1
            if shape > _LAST_GROUP:
                pos = _style_end(text, found.end(), end)
                if pos < 0:
                    return batch, found.start(shape) - 1
                break
            start, stop = found.span(shape)
            if stop > start:
                shape += (stop - start) // len("../") - 1
            edit = becomes[shape]
            if edit and not (keeps and keeps(_value(text, start, found.end()))):
                batch.append(Edit(start + edit[0], start + edit[1], edit[2]))
                if len(batch) == _BATCH:
                    return batch, found.end()


_unquoted_value: Final = re.compile(all_but(b"\t\n\f\r >") + rb"*+").match


def _value(text: bytes, start: int, end: int) -> bytes:
    """The rest of a value that begins at `start`, in a tag that ends at `end`."""
    quote = text[start - 1 : start]
    if quote in {b'"', b"'"}:
        return text[start : text.index(quote, start, end)]
    found = _unquoted_value(text, start, end)
    return found[0] if found else b""


def _style_end(text: bytes, pos: int, end: int) -> int:
    """The end of a style sheet without a relative reference; -1 when it may have one."""
    stop = raw_text_end(b"style", text, pos, end)
    return stop if is_settled(text[pos:stop]) else -1
