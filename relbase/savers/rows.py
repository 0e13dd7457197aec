"""The marks that programs leave in the pages that they save, a row for each program."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from relbase.expressions import expression
from relbase.scan import binding

if TYPE_CHECKING:
    from relbase.bases.layers import Statement
    from relbase.notes import Note

AT_END: Final = b"Mirrored from "


class Marks(NamedTuple):
    # the URL of the page by each mark that counts, in document order
    pages: tuple[Statement, ...] = ()
    base: Statement | None = None  # the page's own base, if a program disabled it
    stand_in: int | None = None  # the offset of the "." that replaces it, if there is one
    notes: tuple[Note, ...] = ()  # on marks that do not count or are doubtful


NONE: Final = Marks()


class CommentMark(NamedTuple):
    """A row: the comment of a program, and how to read its URL and any doubt about that."""

    program: str
    word: bytes  # occurs in each of its comments, byte for byte
    comment: re.Pattern[bytes]
    url: Callable[[re.Match[bytes]], tuple[str, str]]


def _decoded(raw: bytes) -> str:
    from relbase.view.characters import decode_inner

    return decode_inner(raw)


def _plain(mark: re.Match[bytes]) -> tuple[str, str]:
    return _decoded(mark[1]), ""


def _counted(mark: re.Match[bytes]) -> tuple[str, str]:
    """The URL of ` saved from url=(0010)http://a/b `, where the number is its length in bytes."""
    url, stated = mark[2], int(mark[1])
    if stated > len(url):
        return "", f"it states a length of {stated} bytes, but has only {len(url)}"
    doubt = f"it has {len(url)} bytes, not {stated} as it says" if stated < len(url) else ""
    # "--" may not occur in a comment: every second "-" of a run is written as %2D.
    return _decoded(url.replace(b"-%2D", b"--")), doubt


def _mirrored(mark: re.Match[bytes]) -> tuple[str, str]:
    url = _decoded(mark[1])
    if _has_scheme.match(url):
        return url, ""
    return f"http://{url}", "it has no scheme: http is assumed"


_has_scheme: Final = expression(r"[A-Za-z][A-Za-z0-9+.-]*://")


COMMENTS: Final = (
    # Chrome, Edge, IE, after the doctype.
    CommentMark(
        "a browser (saved from url)",
        b" saved from url=(",
        expression(rb" saved from url=\(([0-9]{4,9})\)([^\s]*+) "),
        _counted,
    ),
    # SingleFile, and Zotero, which uses it: the first child of <html>.
    CommentMark(
        "SingleFile",
        b"SingleFile",
        expression(
            rb"\s*+(?:Page saved with|Archive processed by) SingleFile[ \t]*+\r?\n"
            rb"[ \t]*+url:[ \t]*+(\S++)[ \t]*+(?:\r?\n.*+)?",
            re.DOTALL,
        ),
        _plain,
    ),
    # HTTrack: the URL has raw non-ASCII characters, and ends at the last " by HTTrack". First check
    # that the comment is one line, to avoid backtracking.
    CommentMark(
        "HTTrack",
        AT_END,
        expression(rb"(?=[^\r\n]*+\Z) Mirrored from (\S.*) by HTTrack Website Copier/[^\r\n]*+"),
        _mirrored,
    ),
    # monolith: at byte 0. For a file it writes "local source", whose blank does not match.
    CommentMark(
        "monolith",
        b"using monolith ",
        expression(rb" Saved from (\S++) at \S++ using monolith v[^\r\n]*+"),
        _plain,
    ),
)


class AttributeMark(NamedTuple):
    """A row: the element and the attribute in which a program writes the URL."""

    program: str
    element: bytes
    attribute: bytes
    when: tuple[bytes, bytes] | None = None  # another attribute that it must have, and its value


ATTRIBUTES: Final = (
    AttributeMark("WebScrapBook", b"html", b"data-scrapbook-source"),
    AttributeMark("Save Page WE", b"meta", b"content", (b"name", b"savepage-url")),
    AttributeMark("Evernote", b"meta", b"content", (b"itemprop", b"source-url")),
)

FIREFOX: Final = b"<!-- base href="
CHROME: Final = b"<!--<base"


@cache
def words() -> binding.Marks:
    """Return words of which a page with a mark has one; looking for them costs next to nothing."""
    return binding.Marks(
        (*(row.word for row in COMMENTS), CHROME, FIREFOX),
        tuple(row.when[1] if row.when else row.attribute for row in ATTRIBUTES),
        (b"__wm.wombat(",),
        (AT_END,),
    )


# Where a mark at the end of a page is sought.
END: Final = 4096  # bytes, more than any URL that a server takes


# ---- Files beside a page, and removing what a web archive wrote around its references. The Wayback
# Machine writes `/web/20120611024252im_/http://h.example/x.png`, with or without its host in front.
# Authors link to web archives, too: these references are wrapped twice, and only one wrapper is
# removed. An absolute reference is unwrapped only if it has the stamp of the page itself.


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
