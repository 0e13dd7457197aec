"""Passing over what holds no relative reference, inside of one regular expression.

Made from the tables of `xml_vocabulary`, never beside them. It knows no namespaces: by any prefix a
name may be one that counts, and what could be of interest in one vocabulary is left to `xml`. So it
passes over text, comments, tags whose names and attributes are in no table, values and texts that
begin with `http://` or `https://`, and HTML without markup in it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from relbase.references.values import Syntax
from relbase.references.vocabulary import Nested
from relbase.references.xml_vocabulary import attribute_rows, text_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from relbase.references.vocabulary import Row

# What decides without being a reference: scopes, items of RSS, templates.
_SCOPES: Final = (b"base", b"codebase")
_OPENING: Final = (b"item", b"template")

# After `<` and maybe a prefix: a name of no interest; one of which the text is a URL or HTML.
_PLAIN: Final = rb"""(?!(?:%(texts)s)[ \t\r\n/>])%(local)s>[^<]*+(?:</[^>]*+>)?+
  | (?:%(urls)s)>[ \t\r\n]*+(?:https?://[^<]*+</[^>]*+>|(?=<[^!?]))
  | (?:%(markups)s)>[^<&]*+(?=<[^!?])"""

_TEMPLATE: Final = rb"""[^<]*+(?:<(?:
    /[^>]*+>
  | %(plain)s
  | %(prefix)s(?:%(plain)s)
  # with attributes of no interest, and no text, none of interest, or HTML without markup
  | %(name)s(?:%(attribute)s)*+[ \t\r\n]*+/>
  | (?!(?:%(prefix)s)?+(?:%(texts)s)[ \t\r\n/>])%(name)s(?:%(attribute)s)*+[ \t\r\n]*+>
  | (?:%(prefix)s)?+(?:%(markups)s)(?:%(attribute)s)++[ \t\r\n]*+>[^<&]*+(?=<[^!?])
  | !--(?:[^-]++|-(?!->))*+-->
)[^<]*+){0,1000}+"""

_ATTRIBUTE: Final = rb"""[ \t\r\n]++(?:
    (?!xmlns|(?:%(prefix)s)?+(?:%(asked)s)[ \t\r\n]*+=)%(name)s=(?:"[^"<]*+"|'[^'<]*+')
  | (?:%(prefix)s)?+(?:%(urls)s)=(?:"https?://[^"<]*+"|'https?://[^'<]*+')
  | (?:%(styles)s)=(?:"[^"<(&\\]*+"|'[^'<(&\\]*+')
)"""

_PREFIX: Final = rb"[^\x00-\x20/>=<&\"'!?:]++:"
_LOCAL: Final = rb"[^\x00-\x20/>=<&\"'!?:]++"
_NAME: Final = rb"[^\x00-\x20/>=<&\"'!?][^\x00-\x20/>=<&\"']*+"


@lru_cache(maxsize=1)
def skipping() -> Callable[[bytes, int], int]:
    """Return what passes over what holds no relative reference, from one offset to another."""
    found = _pattern().match

    def skip(text: bytes, pos: int) -> int:
        # A repeat keeps something for each time: a document of many small elements would cost.
        while (passed := found(text, pos)) is not None and passed.end() > pos:
            pos = passed.end()
        return pos

    return skip


def _pattern() -> re.Pattern[bytes]:
    texts, attributes = text_rows(), attribute_rows()
    parts = {b"prefix": _PREFIX, b"name": _NAME, b"local": _LOCAL}
    attribute = _ATTRIBUTE % {
        **parts,
        b"asked": _any_of([*attributes, *_SCOPES]),
        b"urls": _any_of(_only(attributes, Syntax.URL)),
        b"styles": _any_of(_only(attributes, Nested.CSS)),
    }
    parts |= {
        b"texts": _any_of([*texts, *_OPENING]),
        b"urls": _any_of(_only(texts, Syntax.URL)),
        b"markups": _any_of(_only(texts, Nested.HTML)),
    }
    plain = _PLAIN % parts
    return re.compile(_TEMPLATE % {**parts, b"plain": plain, b"attribute": attribute}, re.VERBOSE)


def _only(rows: Mapping[bytes, Iterable[Row]], syntax: Syntax | Nested) -> list[bytes]:
    """The names that hold references in one syntax alone, whatever the vocabulary."""
    return [
        name
        for name, all_ in rows.items()
        if name not in _SCOPES and all(row.syntax is syntax for row in all_)
    ]


def _any_of(names: Iterable[bytes]) -> bytes:
    return b"|".join(re.escape(name) for name in sorted(set(names)))
