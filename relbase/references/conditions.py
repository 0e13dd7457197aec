"""On what a row of the vocabulary counts: what other attributes of the element say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from relbase.expressions import expression
from relbase.view.charrefs import attribute_view, needs_view

if TYPE_CHECKING:
    from collections.abc import Callable

# What an attribute of an element says, decoded and in lower case; b"" where the element has none.
Says: TypeAlias = "Callable[[bytes], bytes]"


class Condition(NamedTuple):
    """When a row counts.

    Args:
        asks: the attributes that it depends on.
        holds: whether it holds, by what those attributes say.
        values: what the one attribute asked has to say, one of these; empty for other conditions.
    """

    asks: tuple[bytes, ...]
    holds: Callable[[Says], bool]
    values: tuple[bytes, ...] = ()


def keyword(raw: bytes) -> bytes:
    """What a value as written says where a keyword is asked for: `Ref&#114;esh` is `refresh`."""
    meant = attribute_view(raw, b'"', "utf-8").inner if needs_view(raw) else raw
    return meant.lower()


def of_type(name: bytes) -> Condition:
    """The type of a script is this, white space around it left out."""
    return Condition((b"type",), lambda says: says(b"type").strip(_ASCII_SPACE) == name, (name,))


def one_of(attribute: bytes, *values: bytes) -> Condition:
    """The attribute has one of the values, in any case."""
    return Condition((attribute,), lambda says: says(attribute) in values, values)


_ASCII_SPACE: Final = b"\t\n\f\r "

# Names of <meta> whose content is a URL: Open Graph, Twitter cards, Windows tiles, microdata.
_meta_url: Final = expression(
    rb"""og:(?:url|image|audio|video|see_also)(?::(?:url|secure_url))?
    | twitter:(?:url|image(?::src)?|player(?::stream)?)
    | msapplication-(?:tileimage|starturl|config|\w*logo)
    | (?:image|url|logo|thumbnail|thumbnailurl|contenturl|embedurl|sameas)""",
    re.VERBOSE | re.IGNORECASE,
)


_META_NAMES: Final = (b"property", b"name", b"itemprop")
is_url_meta: Final = Condition(
    _META_NAMES, lambda says: any(_meta_url.fullmatch(says(name)) for name in _META_NAMES)
)

# Open Graph's `article:author` is the URL of a profile, where it is not a name of a person.
_path: Final = expression(rb"[^\s/]*+/\S*+")
is_author: Final = Condition(
    (*_META_NAMES, b"content"),
    lambda says: (
        any(says(name) == b"article:author" for name in _META_NAMES)
        and _path.fullmatch(says(b"content").strip()) is not None
    ),
)

# <param> values that players took for URLs; HTML 4.01 §13.3.2 passes them "as is".
_PARAM_NAMES: Final = (b"movie", b"src", b"url", b"filename", b"data", b"base")


is_url_param: Final = Condition(
    (b"valuetype", b"name"),
    lambda says: says(b"valuetype") == b"ref" or says(b"name") in _PARAM_NAMES,
)


def has_token(attribute: bytes, token: bytes) -> Condition:
    """The attribute is a list of tokens with this one among them."""
    return Condition((attribute,), lambda says: token in says(attribute).split(), (token,))


def not_a_curie(attribute: bytes) -> Condition:
    """RDFa Core §7.4: `[prefix:name]` is a safe CURIE, `_:name` a blank node; neither is a URL."""
    return Condition(
        (attribute,), lambda says: not says(attribute).lstrip().startswith((b"[", b"_:"))
    )


animates_href: Final = one_of(b"attributename", b"href", b"xlink:href")

# SVG's presentation attributes that take a url() (SVG 2 §6.6); they are animated like any other.
PRESENTATION: Final = (
    "fill stroke filter clip-path mask cursor marker marker-start marker-mid marker-end"
)
animates_css: Final = one_of(b"attributename", *PRESENTATION.encode().split())
