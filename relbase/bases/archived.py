"""What a web archive wrote around the references of a page, taken away again.

The Wayback Machine writes `/web/20120611024252im_/http://h.example/x.png`, with or without its host
before it. Authors link to web archives, too: such a reference is wrapped once more, so that it is
unwrapped once; where it is absolute, it counts only with the stamp of the page itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.marks import Placed
from relbase.expressions import expression

if TYPE_CHECKING:
    from relbase.bases.marks import Places

_archived: Final = expression(
    r"((?:https?:)?//web\.archive\.org)?/web/([0-9]{4,14})(?:[a-z]{2}_)?/(https?:)/{1,2}([^/].*)",
    re.DOTALL | re.IGNORECASE,
)
_HOST: Final = "https://web.archive.org"
_OWN: Final = "/_static/"


class Archived(NamedTuple):
    """A page that a web archive holds."""

    url: str  # of the page
    stamp: str  # when the archive took it
    host: str = _HOST  # what was before that, "" for nothing


def archived(reference: str) -> Archived | None:
    """Return what a reference into a web archive is for, None for any other."""
    found = _archived.fullmatch(reference)
    return found and Archived(f"{found[3]}//{found[4]}", found[2], found[1] or "")


class Unarchived:
    """What becomes of a page's references when it counts as the page that was archived."""

    __slots__ = ("_places", "_stamp")

    def __init__(self, stamp: str, places: Places | None) -> None:
        self._stamp = stamp
        self._places = places  # asked of references that the archive did not write

    def __call__(self, reference: str) -> Placed | None:
        """Return what a relative reference is for, None to leave it to the base."""
        found = archived(reference)
        if found is not None:
            return Placed(found.url)
        if reference.startswith(_OWN):  # the archive's own file: the page never had it
            return Placed(f"{_HOST}{reference}")
        return self._places(reference) if self._places else None

    def inside(self, reference: str) -> str | None:
        """Return what an absolute reference is for, None where it is not the archive's."""
        found = archived(reference)
        return None if found is None or found.stamp != self._stamp else found.url

    def base(self, stated: str) -> str | None:
        """Return what the value of a `<base>` is for, None where it is not the archive's."""
        found = archived(stated)
        return None if found is None or (found.host and found.stamp != self._stamp) else found.url
