"""What a value is that only some readers take for a URL: told by the value itself.

Pages put anything into the attributes of lazy loading, into param and metadata: URLs, srcsets, CSS,
JSON, numbers, colours, keywords. A value counts where it can be nothing else than a reference.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from relbase.expressions import expression
from relbase.references.values import Syntax

if TYPE_CHECKING:
    from typing import Literal

# `url(` where a function of CSS may begin.
_css: Final = expression(rb"(?:\A|[\s,;:(])url\(", re.IGNORECASE)
# Candidates with descriptors or without; one at least has some.
_CANDIDATE: Final = rb"[^\s,]\S*(?<!,)(?:\s++[0-9.]++[wxh])*+"
_srcset: Final = expression(_CANDIDATE + rb"(?:\s*+,\s*+" + _CANDIDATE + rb")*+[\s,]*+")
_descriptor: Final = expression(rb"\s[0-9.]++[wxh](?=[\s,]|\Z)")
_scheme: Final = expression(rb"[A-Za-z][A-Za-z0-9+.-]*+:")

# Markup, JSON and other data, media queries, functions, addresses (but `x@2x.png`); numbers, dates,
# ratios; sizes; colours.
_other: Final = expression(
    rb"""
      [^<>]*+[<>].*+
    | [{\[(].*+
    | [a-z-]++\(.*+
    | [^/?\#@]*+@(?![0-9.]++x\b).*+
    | [+-]?\.?\d[\d.,:/%\s+-]*+
    | [+-]?\d*+\.?\d*+[a-z%]{1,4}
    | \#[0-9a-f]{3,8}
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
# One word has a slash, a dot before something, or a query; several end in a file's name.
_one: Final = expression(rb"\?.|[^\s/]*+/|[^\s?\#]*?\.\w|[^\s?\#]++\?[^\s=]++=", re.DOTALL)
_several: Final = expression(rb"\.{0,2}/[^?\#]*\.[a-z0-9]{2,5}(?:[?\#]\S*+)?", re.IGNORECASE)


def guessed(value: bytes) -> Syntax | Literal["css"] | None:
    """Return how a value holds references; None where it may hold none."""
    if _css.search(value):
        return "css"
    text = value.strip(_SPACE)
    is_one = len(text.split(None, 1)) == 1
    if not is_one and _descriptor.search(text) and _srcset.fullmatch(text):
        return Syntax.SRCSET
    if _scheme.match(text) or text.startswith(b"//"):
        return Syntax.URL
    if _other.fullmatch(text):
        return None
    is_url = _one.match(text) if is_one else _several.fullmatch(text)
    return Syntax.URL if is_url else None


_SPACE: Final = bytes(range(0x21))
