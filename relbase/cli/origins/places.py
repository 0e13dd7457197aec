"""What lies beside a saved page: which references lead to files that are there (rule 17).

Strategy: a reference is resolved as a browser does that opens the page by `file:`, on the page's
own `<base>` too. What is then a file inside of the tree is there: the saved page needs it so. A
query does not matter, and the path is percent-decoded.

To mind: names are looked at, nothing is read. A name that leads out of the tree, by `..` or over a
symbolic link, is not there.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from relbase.bases.marks import Placed
from relbase.notes import Note, Reason
from relbase.url import rfc3986

if TYPE_CHECKING:
    from collections.abc import Callable


def file_url(path: str) -> str:
    """Return the `file:` URL of a path."""
    from urllib.parse import quote  # noqa: PLC0415 (start-up time)

    absolute = os.path.abspath(path).replace(os.sep, "/")  # noqa: PTH100
    slash = "" if absolute.startswith("/") else "/"
    return f"file://{slash}{quote(os.fsencode(absolute), '/:')}"


def path_of(url: str, tree: str) -> str | None:
    """Return the file that a `file:` URL leads to, None where it is not there."""
    path = _named(url)
    if path is None:
        return None
    real, outer = os.path.realpath(path), os.path.realpath(tree)
    is_inside = real.startswith(os.path.join(outer, ""))  # noqa: PTH118
    return path if is_inside and os.path.isfile(real) else None  # noqa: PTH113


def _named(url: str) -> str | None:
    """The path that a `file:` URL names, None where it names none."""
    from urllib.parse import unquote_to_bytes  # noqa: PLC0415 (start-up time)

    components = rfc3986.split(url)
    if components.scheme != "file" or components.authority:
        return None
    path = os.fsdecode(unquote_to_bytes(components.path))
    if os.name == "nt":
        path = path.removeprefix("/").replace("/", os.sep)
    return None if "\0" in path else os.path.abspath(path)  # noqa: PTH100


# Most references of a page lead to the same few files.
_REMEMBERED: Final = 4096


class Beside:
    """Decides on the references of one page, `--local keep` or `--local resolve`.

    Args:
        page: its path.
        base: what its references are resolved on when it is opened by `file:`.
        tree: the directory that its files are inside of.
        url_of: the URL of a file, None where nobody knows it; None to keep all as they are.
    """

    __slots__ = ("_base", "_folder", "_remembered", "_tree", "_url_of")

    def __init__(
        self, page: str, base: str, tree: str, url_of: Callable[[str], str | None] | None
    ) -> None:
        self._base = base
        # Browsers save what belongs to page.html in page_files, and name what they did not get too.
        stem = os.path.splitext(os.path.abspath(page))[0]  # noqa: PTH100, PTH122
        self._folder = f"{stem}_files"
        self._tree = tree
        self._url_of = url_of
        self._remembered: dict[str, Placed | None] = {}

    def __call__(self, reference: str) -> Placed | None:
        """Return what becomes of a reference, None where it leads away."""
        if reference in self._remembered:
            return self._remembered[reference]
        placed = self._placed(reference)
        if len(self._remembered) < _REMEMBERED:
            self._remembered[reference] = placed
        return placed

    def _placed(self, reference: str) -> Placed | None:
        from relbase.url import whatwg  # noqa: PLC0415 (loads a C library: start-up time)

        try:
            resolved = whatwg.resolve(self._base, reference)
        except ValueError:
            return None
        path = path_of(resolved, self._tree)
        if path is None:
            if os.path.dirname(_named(resolved) or "") == self._folder:  # noqa: PTH120
                return Placed(None, Note(Reason.LOCAL_UNKNOWN, "", None, _NOT_SAVED))
            return None
        if self._url_of is None:
            return Placed()
        url = self._url_of(path)
        if url is None:
            text = "it leads to a file that was saved with the page, whose URL nobody states"
            return Placed(None, Note(Reason.LOCAL_UNKNOWN, "", None, text))
        return Placed(_with_query_and_fragment(url, reference))


_NOT_SAVED: Final = (
    "it leads into the folder of the files that were saved with the page, to one that is not there"
)


def _with_query_and_fragment(url: str, reference: str) -> str:
    """The URL of a file, with what the reference adds to it.

    A query in the URL stays: HTTrack leaves those of redirects in names that no longer mean them.
    """
    _, _, _, query, fragment = rfc3986.split(reference)
    components = rfc3986.split(url)
    if query is not None and components.query is None:
        components = components._replace(query=query)
    return rfc3986.unsplit(components._replace(fragment=fragment))
