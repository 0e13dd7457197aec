"""The marks that programs leave in the pages that they save, a row for each program."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.expressions import expression
from relbase.view.characters import decode_inner

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


def _plain(mark: re.Match[bytes]) -> tuple[str, str]:
    return decode_inner(mark[1]), ""


def _counted(mark: re.Match[bytes]) -> tuple[str, str]:
    """The URL of ` saved from url=(0010)http://a/b `, where the number is its length in bytes."""
    url, stated = mark[2], int(mark[1])
    if stated > len(url):
        return "", f"it states a length of {stated} bytes, but has only {len(url)}"
    doubt = f"it has {len(url)} bytes, not {stated} as it says" if stated < len(url) else ""
    # "--" may not occur in a comment: every second "-" of a run is written as %2D.
    return decode_inner(url.replace(b"-%2D", b"--")), doubt


def _mirrored(mark: re.Match[bytes]) -> tuple[str, str]:
    url = decode_inner(mark[1])
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

# Where a mark at the end of a page is sought.
END: Final = 4096  # bytes, more than any URL that a server takes
