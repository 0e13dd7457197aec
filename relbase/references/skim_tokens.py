"""The tokens of HTML that skimming passes over, as expressions, made of the vocabulary.

Which names hold references is asked of the vocabulary (`skim_names`). The names that stand here are
those that are frequent: whether they hold references is asked too.

To mind: an arm reads a token exactly as the tokenizer does, or fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from relbase.references.bytesets import all_but
from relbase.references.css_functions import Form, after, last_letters, not_after
from relbase.references.foreign import HTML, MATH, SVG
from relbase.references.skim_names import (
    MATH_NAMES,
    SCRIPT_TYPES,
    SVG_NAMES,
    Watched,
    local,
    watched,
    without_rows,
)
from relbase.references.skim_rows import SPECIAL
from relbase.references.tags import WS, any_case, any_of

if TYPE_CHECKING:
    from collections.abc import Iterable


def _other_letters(names: Iterable[bytes]) -> bytes:
    """The letters, as a set, that none of the names begins with: so no other test is needed."""
    firsts = {name[:1] for name in names}
    letters = (b"%c" % letter for letter in range(ord("a"), ord("z") + 1))
    return b"".join(any_case(letter)[1:-1] for letter in letters if letter not in firsts)


def _other_starts(names: Iterable[bytes]) -> bytes:
    """What a name may begin with that is none of some, told by its first two letters."""
    seconds: dict[bytes, set[bytes]] = {}
    for name in names:
        second = any_case(name[1:2]) or _AFTER_NAME
        seconds.setdefault(name[:1], set()).add(second[1:-1])
    arms = [
        rb"%b(?![%b])" % (first, b"".join(sorted(after)))
        for first, after in sorted(seconds.items())
    ]
    return b"|".join(arms) or rb"(?!)"


_AFTER_NAME: Final = rb"[\t\n\f\r =/>]"


def _none_of(names: Iterable[bytes]) -> bytes:
    """A look ahead at what is none of some names."""
    return rb"(?!%b)" % any_of(names) if names else b""


# Elements that change what is markup. Others may be passed over whatever they are.
_SPECIAL: Final = any_of(SPECIAL)
_NAME_BYTES: Final = all_but(b"\t\n\f\r />")
# It is read once: what follows may fail, and each way to read it would try that again.
TAG_NAME: Final = rb"(?>[%b]|%b|(?!%b)[a-zA-Z])%b*+" % (
    _other_letters(SPECIAL),
    _other_starts(SPECIAL),
    _SPECIAL,
    _NAME_BYTES,
)
_UNQUOTED: Final = all_but(b"\t\n\f\r >") + rb"*+"
_VALUE: Final = rb"(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])" + all_but(b"\t\n\f\r >") + rb"++)"
_ABSOLUTE: Final = rb"(?:https?://|mailto:|javascript:|data:)"
# Those of programs begin with a sign: `_ngcontent-c1`, `@click.prevent`, `:class`.
_SIGNS: Final = b"_:@"
_NAME_REST: Final = rb"[a-zA-Z0-9:_@.-]*+"
_ANY: Final = (
    rb"[a-zA-Z"
    + _SIGNS
    + rb"]"
    + _NAME_REST
    + rb"(?:"
    + WS
    + rb"*+="
    + WS
    + rb"*+"
    + _VALUE
    + rb")?+"
)

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
_FREQUENT_HOLDING: Final = (b"href", b"src", b"style", b"srcset")
# What the attributes of elements with longer text usually are: to try all would make the regex, and
# the time to compile it, four times as long.
_FREQUENT_OF_TEXTS: Final = (b"language", b"id", b"class", b"media", b"nonce", b"charset")


def _data_name(names: Iterable[bytes]) -> bytes:
    """The names that begin with `data-` and are none of those that hold references."""
    held = [name.removeprefix(b"data-") for name in names if name.startswith(b"data-")]
    return rb"data-" + _none_of(held) + rb"[a-z-]*+"


def boring_attribute(html: Watched) -> bytes:
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
            rb"[%b%b]%b=\"[^\"]*+\"" % (_other_letters(html.names), _SIGNS, _NAME_REST),
            *others,
            _data_name(html.names) + rb"=\"[^\"]*+\"",
            *(name + rb"=" + _PLAIN_CSS for name in sorted(html.css)),
            *(name + rb"=" + _PLAIN_SRCSET for name in sorted(html.srcset)),
            rb"(?:%b)%b=\"[^\"]*+\"" % (_other_starts(html.names), _NAME_REST),
            *deciding,
            _usually_none_of(html.names) + _none_of(html.names) + _ANY,
        ]
    )


def _usually_none_of(names: Iterable[bytes]) -> bytes:
    """A look ahead at what is none of the most frequent of some names, as it is mostly written."""
    frequent = [name for name in _FREQUENT_HOLDING if name in names]
    return rb"(?!(?:%b)=)" % b"|".join(frequent) if frequent else b""


def _absolute(name: bytes) -> bytes:
    """An attribute whose reference is absolute in every profile, whatever follows."""
    value = rb"(?:\"%b[^\"]*+\"|'%b[^']*+'|%b%b)"
    return name + b"=" + value % (_ABSOLUTE, _ABSOLUTE, _ABSOLUTE, _UNQUOTED)


def passed(html: Watched) -> bytes:
    """Attributes that hold nothing to rewrite."""
    arms = [_absolute(name) for name in _FREQUENT_URLS if name in html.url]
    arms += [name + rb'=""' for name in _FREQUENT_URLS if name in html.url_unless_empty]
    return rb"(?:" + WS + rb"++(?:" + b"|".join([*arms, boring_attribute(html)]) + rb"))*+"


TAG_CLOSE: Final = WS + rb"*+/?+>"

# A script whose text is not data with references; their types may be spelled with character
# references, and have white space around them.
_SCRIPT_TYPE: Final = (
    rb"type=(?=[\"']?[^&\"'<>\t\n\f\r "
    + b"".join(sorted({any_case(name[:1])[1:-1] for name in SCRIPT_TYPES}))
    + rb"])" + _VALUE
)  # fmt: skip
SCRIPT: Final = (
    rb"script(?=(?:" + WS + rb"++(?:" + _SCRIPT_TYPE
    + rb"|(?![tT][yY][pP][eE][\t\n\f\r =/>])" + _ANY + rb"))*+" + TAG_CLOSE + rb")"
)  # fmt: skip


def _usual(html: Watched) -> bytes:
    """The attributes and the end of a tag of an element with longer text, as they usually are."""
    names = [name for name in _FREQUENT_OF_TEXTS if name not in html.names]
    names.append(_data_name(html.names))
    names.append(rb"[%b%b]%b" % (_other_letters({*html.names, b"type"}), _SIGNS, _NAME_REST))
    return (
        rb"(?:" + WS + rb"++(?:" + _SCRIPT_TYPE + rb"|(?:" + b"|".join(names) + rb")="
        + _VALUE + rb"))*+" + TAG_CLOSE
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


def _foreign(
    namespace: str, names: Iterable[bytes], *, extended: bool, listing: bool = False
) -> bytes:
    """A whole element of SVG or MathML in which there is nothing to rewrite, or to list."""
    root = namespace.encode()
    held = watched(namespace, extended=extended)
    spelled = {case for name in without_rows(namespace, names) for case in (name, name.lower())}
    attributes = (
        []
        if listing
        else [
            *(name + rb"=\"#[^\"<>&]*+\"" for name in sorted(local(namespace, extended=extended))),
            *(name + rb"=" + _PLAIN_CSS for name in sorted(held.css)),
        ]
    )
    attributes += [
        _none_of(held.names) + rb"[a-zA-Z][a-zA-Z0-9:_-]*+(?:=" + _VALUE + rb")?+",
    ]
    plain_attributes = rb"(?:" + WS + rb"++(?:" + b"|".join(attributes) + rb"))*+"
    tag = rb"/?+(?:" + b"|".join(sorted(spelled)) + rb")" + plain_attributes + TAG_CLOSE
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
        (SCRIPT, b"script"),
    )
)


def _unlisted(html: Watched) -> bytes:
    """Attributes that hold no reference at all."""
    css = [name + rb"=\"" + all_but(b'"(\\&@') + rb"*+\"" for name in sorted(html.css)]
    others = html._replace(css=frozenset(), srcset=frozenset())
    return rb"(?:" + WS + rb"++(?:" + b"|".join([*css, boring_attribute(others)]) + rb"))*+"


def passed_over(*, extended: bool, listing: bool = False) -> bytes:
    """Return an expression for what is passed over after a `<`."""
    html = watched(HTML, extended=extended)
    attributes = _unlisted(html) if listing else passed(html)
    return (
        # </a>; that of a template is counted
        rb"/(?![tT][eE][mM][pP])[a-zA-Z]" + _NAME_BYTES + rb"*+" + WS + rb"*+>"
        # <p class="x">, <title>
        rb"|(?:" + TAG_NAME + rb"|" + _WITH_TEXT + rb")" + attributes + TAG_CLOSE
        # elements with what is in them
        + rb"|script" + _usual(html) + _SCRIPT_TEXT + rb"|" + _NOSCRIPT
        + rb"|" + _foreign(SVG, SVG_NAMES, extended=extended, listing=listing)
        + rb"|" + _foreign(MATH, MATH_NAMES, extended=extended, listing=listing)
        # <!-- comment -->, <!doctype html>
        + rb"|!--(?:-?+>|(?!\[)(?:[^-]++|-(?!-!?>))*+--!?>)|![^>-][^>]*+>|" + _CONDITIONAL
        # not markup
        + rb"|(?![a-zA-Z!?/])"
    )  # fmt: skip


def tag_with_one(attributes: Iterable[bytes], *, extended: bool) -> bytes:
    """Return an expression for a tag with one attribute that may hold a reference.

    Its groups are the name of the element, that of the attribute, and the value: in the third one
    an absolute reference that means itself as it is written, in the fourth any other.
    """
    others = _unlisted(watched(HTML, extended=extended))
    itself = rb"https?://(?:" + all_but(bytes(range(0x21)) + b'\x7f"&') + rb"++|&amp;)*+"
    return (
        rb"(" + TAG_NAME + rb")" + others + WS + rb"++(" + b"|".join(attributes)
        + rb")=\"(?:(" + itself + rb")(?=\")|([^\"]*+))\"" + others + TAG_CLOSE
    )  # fmt: skip


def style_tag(*, extended: bool) -> bytes:
    """Return an expression for the tag of a style sheet; a group begins with it."""
    return rb"()style" + _usual(watched(HTML, extended=extended))
