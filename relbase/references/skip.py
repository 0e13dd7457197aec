"""Passes over the HTML in which no reference can stand: what `html.elements` need not look at."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from relbase.references import tags
from relbase.references.foreign import HTML
from relbase.references.values import Syntax
from relbase.references.vocabulary import PLACES, TEXT_ROWS, Nested, attributes

if TYPE_CHECKING:
    from collections.abc import Callable

    from relbase.references.scanner import Scan

# Elements that change what is markup, and those with text of their own.
_SPECIAL: Final = (
    tags.RAW_TEXT
    | {b"svg", b"math", b"template", b"frameset", b"base"}
    | {element for namespace, element in TEXT_ROWS if namespace == HTML}
)

_NAME: Final = rb"[a-zA-Z][^\t\n\f\r />]*+"
# `</template>` counts: it closes what hides a `<base>`.
_END_TAG: Final = rb"/(?!" + tags.any_of([b"template"]) + rb")" + _NAME + tags.WS + rb"*+>"
# A comment that is not one of the conditional ones.
_COMMENT: Final = rb"!--(?!-?>|\[)[^-]*+(?:-(?!-!?>)[^-]*+)*+-->"

# CSS without one of these holds no reference, however it is encoded.
_CSS_WITHOUT: Final = rb"=\"[^\"(&\\@]*+\""
# Absolute in every profile.
_ABSOLUTE: Final = rb"=\"https?://[^\"]*+\""


def skipping(*, extended: bool, absolute: bool, named: frozenset[bytes] = frozenset()) -> Scan:
    """Return what passes over tokens without references, and over `absolute` ones if wanted."""
    return partial(_skip, _pattern(extended=extended, absolute=absolute, named=named).match)


def _skip(
    match: Callable[[bytes, int, int], re.Match[bytes] | None],
    text: bytes,
    pos: int,
    end: int,
    _in_noscript: bool,  # noqa: FBT001 (no noscript element is passed over
    _in_comment: bool,  # noqa: FBT001  nor a conditional comment)
) -> tuple[list[object], int]:
    found = match(text, pos, end)
    assert found is not None  # it matches nothing, too
    return [], found.end()


@lru_cache(maxsize=16)
def _pattern(*, extended: bool, absolute: bool, named: frozenset[bytes]) -> re.Pattern[bytes]:
    usual = attributes(HTML, extended=extended) - named
    names = usual | named
    without = [_any_lower(_only(usual, Nested.CSS)) + _CSS_WITHOUT]
    if absolute:
        without.append(_any_lower(_only(usual, Syntax.URL)) + _ABSOLUTE)
    attribute = b"|".join([*without, rb"(?!" + tags.any_of(names) + rb")" + tags.ATTRIBUTE])
    start_tag = (
        rb"(?!" + tags.any_of(_SPECIAL) + rb")" + _NAME
        + rb"(?:[\t\n\f\r /]++(?:" + attribute + rb")?+)*+>"
    )  # fmt: skip
    token = _END_TAG + rb"|" + start_tag + rb"|" + _COMMENT
    return re.compile(rb"[^<]*+(?:<(?:" + token + rb")[^<]*+)*+")


def _only(names: frozenset[bytes], syntax: Syntax | Nested) -> list[bytes]:
    """Of some attributes those that hold a syntax on whatever element they hold references."""
    others = {
        place[2] for place, rows in PLACES.items() if any(row.syntax != syntax for row in rows)
    }
    return sorted(names - others)


def _any_lower(names: list[bytes]) -> bytes:
    return rb"(?:" + rb"|".join(names) + rb")" if names else rb"(?!)"
