"""What becomes of references to files beside a page, and of those that a web archive wrote.

The Wayback Machine writes `/web/20120611024252im_/http://h.example/x.png`, with or without its host
in front. Authors link to web archives, too: these references are wrapped twice, and only one
wrapper is removed. An absolute reference is unwrapped only if it has the stamp of the page itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from relbase.expressions import expression
from relbase.notes import Note


class LocalFile(NamedTuple):
    """What becomes of a reference to a file that was saved beside a page (rule 17)."""

    # the URL of that file; None if the reference stays unchanged
    url: str | None = None
    note: Note | None = None


# Called with each relative reference and its element; None if it leads away, so that the base
# decides. A `<base>` stays if references that stay relative depend on it.
LocalFiles: TypeAlias = "Callable[[str, str], LocalFile | None]"


_archived: Final = expression(
    r"((?:https?:)?//web\.archive\.org)?/web/([0-9]{4,14})(?:[a-z]{2}_)?/(https?:)/{1,2}([^/].*)",
    re.DOTALL | re.IGNORECASE,
)
_HOST: Final = "https://web.archive.org"
_OWN: Final = "/_static/"


class Archived(NamedTuple):
    """A page in a web archive."""

    url: str  # of the page
    stamp: str  # when the archive saved it
    host: str = _HOST  # the host in front of `/web/`, "" for none


def archived(reference: str) -> Archived | None:
    """Return the page that a reference into a web archive is for, None for other references."""
    address = _archived.fullmatch(reference)
    return address and Archived(f"{address[3]}//{address[4]}", address[2], address[1] or "")


@dataclass(frozen=True, slots=True)
class Unarchived:
    """What becomes of an archived page's references if it is treated as the original page."""

    stamp: str
    files: LocalFiles | None  # asked of references that the archive did not write

    def __call__(self, reference: str, element: str) -> LocalFile | None:
        """Return the URL that a relative reference is for, None to leave it to the base."""
        if element == "base":
            return LocalFile(self.base(reference))
        address = archived(reference)
        if address is not None:
            return LocalFile(address.url)
        if reference.startswith(_OWN):  # the archive's own file: the page never had it
            return LocalFile(f"{_HOST}{reference}")
        return self.files(reference, element) if self.files else None

    def inside(self, reference: str) -> str | None:
        """Return the URL that the archive wrapped in an absolute reference, None if it did not."""
        address = archived(reference)
        return None if address is None or address.stamp != self.stamp else address.url

    def base(self, stated: str) -> str | None:
        """Return the URL that the archive wrapped in a `<base>`, None if it did not."""
        address = archived(stated)
        if address is None or (address.host and address.stamp != self.stamp):
            return None
        return address.url
