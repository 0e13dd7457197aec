"""`--only`: which inputs of many are processed."""

from __future__ import annotations

from typing import Final

from relbase.containers.sniffing import beginning
from relbase.expressions import expression
from relbase.formats import FORMATS
from relbase.kind import Kind

# Of XML those that feed readers read.
FEEDS: Final = "feeds"
_FEED_ROOTS: Final = frozenset((b"rss", b"feed", b"rdf"))

# The root element after white space, comments, instructions and a doctype without a subset.
_root: Final = expression(
    rb"(?:[\t\n\f\r ]++|<!--(?:[^-]++|-(?!->))*+-->|<[?!][^>]*+>)*+<(?:[\w.-]++:)?+([\w.-]++)"
)

CHOICES: Final = (*(kind.value for kind in Kind), FEEDS)


def is_wanted(kind: Kind, start: bytes, only: frozenset[str]) -> bool:
    """Return whether an input is to be processed."""
    if not only or kind.value in only:
        return True
    if FEEDS not in only or not FORMATS[kind].feeds:
        return False
    root = _root.match(beginning(start))
    return root is not None and root[1].lower() in _FEED_ROOTS
