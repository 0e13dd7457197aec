"""`--only`: which inputs of many are processed."""

from __future__ import annotations

from typing import Final

from relbase.containers.sniffing import beginning
from relbase.formats import FORMATS
from relbase.kind import Kind

# What feed readers and search engines fetch, of whatever kind.
FEEDS: Final = "feeds"

CHOICES: Final = (*(kind.value for kind in Kind), FEEDS)


def is_wanted(kind: Kind, start: bytes, only: frozenset[str]) -> bool:
    """Return whether an input is to be processed."""
    if not only or kind.value in only:
        return True
    return FEEDS in only and FORMATS[kind].is_feed(beginning(start))
