"""What programs leave in the pages that they save: the URL of the page, and the base it had.

The head is read token by token, so that text in a script or a title is never taken for a mark.
Anybody can write a mark. So it is used only if no URL was given, and its URL has to be `http:` or
`https:`, since a `file:` URL names a file on somebody else's disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from relbase.bases.layers import Layer, Statement, found_url
from relbase.edit import Span
from relbase.expressions import expression
from relbase.html import tags
from relbase.html.tags import Attribute, HeadToken, head_tokens
from relbase.notes import Note, Reason
from relbase.savers.rows import AT_END, ATTRIBUTES, COMMENTS
from relbase.scan import binding
from relbase.scan.binding import head
from relbase.values.syntaxes import clean
from relbase.view.characters import decode_inner
from relbase.view.charset import Lines


class Marks(NamedTuple):
    # the URL of the page by each mark that counts, in document order
    pages: tuple[Statement, ...] = ()
    base: Statement | None = None  # the page's own base, if a program disabled it
    stand_in: int | None = None  # the offset of the "." that replaces it, if there is one
    notes: tuple[Note, ...] = ()  # on marks that do not count or are doubtful


NONE: Final = Marks()


class LocalFile(NamedTuple):
    """What becomes of a reference to a file that was saved beside a page (rule 17)."""

    # the URL of that file; None if the reference stays unchanged
    url: str | None = None
    note: Note | None = None


# Called with each relative reference and its element; None if it leads away, so that the base
# decides. A `<base>` stays if references that stay relative depend on it.
LocalFiles: TypeAlias = "Callable[[str, str], LocalFile | None]"

_FIREFOX: Final = b"<!-- base href="
_CHROME: Final = b"<!--<base"


def read_marks(text: bytes, charset: str = "utf-8") -> Marks:
    """Return what the marks of a page state."""
    reader = _Found(text, charset, Lines(text, "utf-8"))
    for token in head_tokens(text):
        reader.read(token)
    marks = reader.marks()
    return NONE if marks == NONE else marks


_ELEMENTS: Final = frozenset(row.element for row in ATTRIBUTES)
_ASKED: Final = frozenset(
    name for row in ATTRIBUTES for name in (row.attribute, *(row.when or ())[:1])
)

# A page without any of these words has no mark. Looking for them costs next to nothing.
_WORDS: Final = binding.Marks(
    (*(row.word for row in COMMENTS), _CHROME, _FIREFOX),
    tuple(row.when[1] if row.when else row.attribute for row in ATTRIBUTES),
    (b"__wm.wombat(",),
    (AT_END,),
)

_END: Final = 4096  # bytes, more than any URL that a server takes

# Returns what a first look at a page tells, as bits of `scan.tables`.
first_look: Final = partial(binding.first_look, _WORDS, _END)

# Firefox, "complete": ` base href="URL" `, the resolved base of the page, in place of <base>.
_firefox_base: Final = expression(rb' base href="([^"]*+)" ')

# Chrome, "complete": the whole tag in a comment, directly followed by another <base>.
_chrome_base: Final = expression(rb"<[bB][aA][sS][eE](?=[\t\n\f\r />])")
_chrome_stand_in: Final = expression(rb'<base href="(\.)"(?: target="[^"]*+")?>')

# Wayback Machine: the arguments of its script. Its pages contain /web/... and /_static/...
_wombat: Final = expression(
    rb"""__wm\.wombat\([ ]*+"([^"\\\s]++)"[ ]*+,[ ]*+"([0-9]{4,14})"[ ]*+,[ ]*+
    "(https?://[^"\\/\s]++/)"[ ]*+,[ ]*+"(\w++)\"""",
    re.VERBOSE,
)

# HTTrack writes its mark before </html>, too: the only one if a page has no head.
_last_comment: Final = expression(rb"<!--( Mirrored from [^\r\n]*+)(?:\r?\n[ \t]*+)?</html>")


@dataclass(slots=True, eq=False, repr=False)
class _Found:
    _text: bytes
    _charset: str
    _lines: Lines
    _pages: dict[str, Statement] = field(default_factory=dict)
    _base: Statement | None = None
    _stand_in: int | None = None
    _notes: list[Note] = field(default_factory=list)

    def marks(self) -> Marks:
        start = max(0, len(self._text) - _END)
        if not self._pages and (last := _last_comment.search(self._text, start)):
            end = last.end(1) - len("-->") * last[1].endswith(b"-->")
            self._url_comment(Span(last.start(1), end))
        notes = tuple(dict.fromkeys(self._notes))
        return Marks(tuple(self._pages.values()), self._base, self._stand_in, notes)

    def read(self, token: HeadToken) -> None:
        if not token.name:
            self._comment(token)
        elif token.name == b"script":
            self._script(token)
        elif token.name in _ELEMENTS:
            self._attributes(token)

    def _comment(self, token: HeadToken) -> None:
        inside = self._text[token.start : token.end]
        if base := _firefox_base.fullmatch(inside):
            at = token.start
            self._own_base(decode_inner(base[1]), Span(at + base.start(1), at + base.end(1)))
        elif base := _chrome_base.match(inside):
            self._commented_base(token, base.end())
        else:
            self._url_comment(Span(token.start, token.end))

    def _url_comment(self, inside: Span) -> None:
        text = self._text[inside.start : inside.end]
        for row in COMMENTS:
            if mark := row.comment.fullmatch(text):
                self._page(*row.url(mark), f"the mark of {row.program}", inside)
                return

    def _commented_base(self, token: HeadToken, at: int) -> None:
        """Chrome's `<!--<base href="http://o/">--><base href=".">`."""
        follows = _chrome_stand_in.match(self._text, token.after)
        if follows is None:
            return
        stated = tags.attributes(self._text, token.start + at, token.end, {b"href"})
        for href in stated.values():
            self._own_base(self._value(href), Span(href.start, href.end))
            if self._base is not None:
                self._stand_in = follows.start(1)

    def _own_base(self, url: str, span: Span) -> None:
        if self._base is None and url:
            source = f"<base href> in a comment at {self._lines.of(span.start)}"
            self._base = Statement(Layer.EMBEDDED, url, source, span)

    def _attributes(self, token: HeadToken) -> None:
        attributes = tags.attributes(self._text, token.start, token.end, _ASKED)
        for row in ATTRIBUTES:
            attribute = attributes.get(row.attribute)
            if row.element != token.name or attribute is None:
                continue
            name, value = row.when or (row.attribute, None)
            other = attributes.get(name)
            if other is not None and (
                value is None or self._text[other.start : other.end].lower() == value
            ):
                span = Span(attribute.start, attribute.end)
                self._page(self._value(attribute), "", f"the mark of {row.program}", span)

    def _script(self, token: HeadToken) -> None:
        wombat = _wombat.search(self._text, token.after, token.raw_end)
        if wombat is None:
            return
        page, stamp, prefix, collection = (decode_inner(group) for group in wombat.groups())
        url = f"{prefix}{collection}/{stamp}/{page}"
        self._page(url, "", "the mark of the Wayback Machine", Span(*wombat.span()))

    def _value(self, attribute: Attribute) -> str:
        return clean(tags.attribute_text(self._text, attribute, self._charset))

    def _page(self, url: str, doubt: str, program: str, span: Span) -> None:
        source = f"{program} at {self._lines.of(span.start)}"
        url, why, notes = found_url(url, source)
        if doubt:
            verdict = "" if url else ": it does not count"
            text = f"{source}: {doubt}{verdict}"
            self._notes.append(Note(Reason.MARK_DOUBTFUL, "", span, text))
        elif why:
            self._notes.append(Note(Reason.MARK_REFUSED, "", span, f"{source}: {why}"))
        self._notes += notes
        if url and url not in self._pages:
            self._pages[url] = Statement(Layer.RETRIEVAL, url, source, span)


# ---- the page's own base


def own_base(
    text: bytes, element: Attribute | None, charset: str, known: Marks | None = None
) -> Statement | None:
    """Return the base that a page had before a program disabled it."""
    # If there is a <base>, only Chrome's stand-in matters; if there is none, only a comment does.
    if element is None:
        may_be = known is not None or _FIREFOX in head(text)[1]
    else:
        may_be = text[element.start : element.end] == b"."
    if not may_be:
        return None
    marks = read_marks(text, charset) if known is None else known
    return marks.base if marks.stand_in == (None if element is None else element.start) else None


def is_stand_in(text: bytes, start: int) -> bool:
    """Return whether the `<base>` at `start` is the one that Chrome writes for the page's own."""
    if _chrome_stand_in.match(text, start) is None or not text.endswith(b"-->", 0, start):
        return False
    comment = text.rfind(b"<!--", 0, start)
    return comment >= 0 and _chrome_base.match(text, comment + len(b"<!--")) is not None


# ---- removing what a web archive wrote around the references of a page. The Wayback Machine writes
# `/web/20120611024252im_/http://h.example/x.png`, with or without its host in front. Authors link
# to web archives, too: these references are wrapped twice, and only one wrapper is removed. An
# absolute reference is unwrapped only if it has the stamp of the page itself.

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
