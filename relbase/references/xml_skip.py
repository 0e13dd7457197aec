"""Passes over XML in which no reference can stand: what `xml.elements` need not look at.

Strategy: one loop within one expression passes over text, comments, end tags, and start tags none
of whose attributes, and whose text, is in the vocabulary, or all of whose references are absolute.
It knows no namespaces: by any prefix a name may be one that counts, and one that is bound nowhere
is noted.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from relbase.references.values import Syntax
from relbase.references.xml_vocabulary import attribute_rows, text_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from relbase.references.vocabulary import Row
    from relbase.references.xml import Passed

# What decides without being a reference: scopes, items of feeds, templates.
_SCOPES: Final = (b"base", b"codebase")
_OPENING: Final = (b"item", b"entry", b"template")

_TEMPLATE: Final = rb"""[^<]*+(?:<(?:
    /[^>]*+>
  # most often without attributes
  | (?!%(counting)s)%(name)s(?:%(attribute)s)*+[ \t\r\n]*+/?>
  | (?:%(urls)s)>[ \t\r\n]*+(?:https?://(?:[^<&]++|&amp;)*+</[^>]*+>|(?=<[^!?]))
  | !--(?:[^-]++|-(?!->))*+-->
)[^<]*+){0,1000}+"""

_ATTRIBUTE: Final = rb"""[ \t\r\n]++(?:
    (?!xmlns|(?:%(prefix)s)?+(?:%(asked)s)[ \t\r\n]*+=)%(name)s=(?:"[^"<]*+"|'[^'<]*+')
  | (?:%(urls)s)=(?:"https?://(?:[^"<&]++|&amp;)*+"
    |'https?://(?:[^'<&]++|&amp;)*+')
)"""

_PREFIX: Final = rb"[^\x00-\x20/>=<&\"'!?:]++:"
_NAME: Final = rb"[^\x00-\x20/>=<&\"'!?][^\x00-\x20/>=<&\"']*+"


class Skip:
    """Goes ahead in a document, outside of scopes."""

    __slots__ = ()

    def __call__(
        self, text: bytes, pos: int, depth: int, floor: int | None
    ) -> tuple[Passed | None, int, int]:
        """Pass over what holds no reference."""
        # A repeat keeps something for each time: a document of many small elements would cost.
        while floor is None and (passed := _pattern().match(text, pos)) and passed.end() > pos:
            pos = passed.end()
        return None, pos, depth

    def learn(self, *_: object) -> None:
        """Nothing is to be known."""


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[bytes]:
    texts, attributes = text_rows(), attribute_rows()
    parts = {b"prefix": _PREFIX, b"name": _NAME}
    attribute = _ATTRIBUTE % {
        **parts,
        b"asked": _any_of([*attributes, *_SCOPES]),
        b"urls": _any_of(_urls(attributes)),
    }
    counting = rb"(?:%b)?+(?:%b)[ \t\r\n/>]" % (_PREFIX, _any_of([*texts, *_OPENING]))
    parts |= {b"counting": counting, b"urls": _any_of(_urls(texts)), b"attribute": attribute}
    return re.compile(_TEMPLATE % parts, re.VERBOSE)


def _urls(rows: Mapping[bytes, Iterable[Row]]) -> list[bytes]:
    """The names that hold URLs alone, whatever the vocabulary."""
    return [
        name
        for name, all_ in rows.items()
        if name not in _SCOPES and all(row.syntax is Syntax.URL for row in all_)
    ]


def _any_of(names: Iterable[bytes]) -> bytes:
    return b"|".join(re.escape(name) for name in sorted(set(names)))
