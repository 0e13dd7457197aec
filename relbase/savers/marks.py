"""What programs leave in the pages that they save: the URL of the page, and the base it had.

The head is read token by token, so that text in a script or a title is never taken for a mark.
Anybody can write a mark. So it is used only if no URL was given, and its URL has to be `http:` or
`https:`, since a `file:` URL names a file on somebody else's disk.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from relbase.bases.layers import Layer, Statement, found_url
from relbase.edit import Span
from relbase.expressions import expression
from relbase.html import tags
from relbase.html.tags import Attribute, HeadToken
from relbase.notes import Note, Reason
from relbase.savers.rows import ATTRIBUTES, COMMENTS, END, FIREFOX, NONE, Marks, words
from relbase.scan.binding import head, marked
from relbase.values.syntaxes import clean
from relbase.view.characters import decode_inner
from relbase.view.charset import Lines


def read_marks(text: bytes, charset: str = "utf-8") -> Marks:
    """Return what the marks of a page state."""
    reader = _Found(text, charset, Lines(text, "utf-8"))
    for token in marked(words(), text):
        reader.read(token)
    marks = reader.marks()
    return NONE if marks == NONE else marks


_ELEMENTS: Final = frozenset(row.element for row in ATTRIBUTES)
_ASKED: Final = frozenset(
    name for row in ATTRIBUTES for name in (row.attribute, *(row.when or ())[:1])
)

# Firefox, "complete": ` base href="URL" `, the resolved base of the page, in place of <base>.
_firefox_base: Final = expression(rb' base href="([^"]*+)" ')

# Chrome, "complete": the whole tag in a comment, directly followed by another <base>.
_chrome_base: Final = expression(rb"<base(?=[\t\n\f\r />])")
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
        start = max(0, len(self._text) - END)
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
        may_be = known is not None or FIREFOX in head(text)[1]
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
