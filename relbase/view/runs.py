"""Views: a text as it means, and the way back to the text as it is written.

    decode(splice(raw, view.lower(edits))) == splice(view.inner, edits)

`RunView` serves every encoding in which most bytes mean themselves and a few runs do not; it keeps
no run but finds them anew. An edit inside of what one run decodes to covers the whole run. What
stands before an edit may read on into it (`&am` + `p;`): `unended` says so of runs, `joins` of
other bytes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from relbase.edit import Edit, Span
from relbase.expressions import expression


class View(ABC):
    """A decoded text whose edits can be lowered to edits of the raw text around it."""

    __slots__ = ("inner",)

    inner: bytes  # the decoded text: UTF-8, undecodable bytes as surrogates (surrogatepass)

    @abstractmethod
    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """Turn sorted, disjoint edits of `inner` into such edits of the raw text."""

    @abstractmethod
    def places(self) -> Callable[[Span], Span]:
        """Return what tells where spans of `inner` are that are asked for in order, and apart."""

    def lower(self, edits: Iterable[Edit]) -> list[Edit]:
        return list(self.lowered(edits))


class Run(NamedTuple):
    """The raw bytes from `start` to `end` mean `inner`; between runs each byte means itself."""

    start: int
    end: int
    inner: bytes
    unended: bool = False  # how it is read depends on what follows: `&amp` without its semicolon


class Grown(NamedTuple):
    """An edit, and from where to where it is written anew, in the raw and in the inner text."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    edit: Edit


_NO_RUN = Run(0, 0, b"")
_GREATEST_I = 1 << 32  # offsets below it need 4 bytes


class GrownView(View):
    """A view that tells of each edit what it covers; `_spell` writes what decodes to itself."""

    __slots__ = ("_spell",)

    _spell: Callable[[bytes], bytes]

    @abstractmethod
    def _grower(self) -> Callable[[Edit], Grown]:
        """Return what tells, of edits in order, from where to where they are written anew."""

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        for (start, end, *_), new in merge(self.inner, map(self._grower(), edits)):
            # Most are insertions: there may be millions, and one number serves for both ends.
            yield Edit(start, start if start == end else end, self._spell(new))

    def places(self) -> Callable[[Span], Span]:
        grow = self._grower()
        return lambda span: Span(*grow(Edit(*span, b"/"))[:2])


class RunView(GrownView):
    """The view of a raw text in which only `runs` differ from what they mean.

    `find` returns sorted, disjoint runs; `spell` writes what decodes to itself wherever it is put.
    `joins` gives the offset, within no run, from which on text is read together with what follows.
    """

    __slots__ = ("_find", "_joins", "_raw")

    def __init__(
        self,
        raw: bytes,
        find: Callable[[bytes], Iterable[Run]],
        spell: Callable[[bytes], bytes],
        joins: Callable[[bytes, int], int] = lambda _raw, at: at,
    ) -> None:
        self._raw = raw
        self._find = find
        self._spell = spell
        self._joins = joins
        self.inner = read(raw, find(raw))

    def _grower(self) -> Callable[[Edit], Grown]:
        return _RunWalk(self._raw, self._find(self._raw), self._joins).grow


class _RunWalk:
    """How far the runs have been walked; after the passed ones raw and inner differ by `shift`."""

    __slots__ = (
        *("_ahead", "_before", "_inner_starts", "_joins", "_passed"),
        *("_raw", "_runs", "_shift", "_starts"),
    )

    def __init__(self, raw: bytes, runs: Iterable[Run], joins: Callable[[bytes, int], int]) -> None:
        offsets = "I" if len(raw) < _GREATEST_I else "Q"
        self._starts, self._inner_starts = array(offsets), array(offsets)
        self._raw, self._runs, self._joins = raw, iter(runs), joins
        self._ahead = next(self._runs, None)
        self._before = self._passed = _NO_RUN
        self._shift = 0

    def grow(self, edit: Edit) -> Grown:
        self._pass_to(edit.start)
        start, inner_start, left = edit.start + self._shift, edit.start, self._passed
        if start < left.end:  # the edit splits that run
            start, inner_start, left = self._starts[-1], self._inner_starts[-1], self._before
        # After CR only LF is read otherwise.
        if self._raw[start - 1 : start] != b"\r" or edit.new[:1] in b"\n":
            start, inner_start = self._joined(start, inner_start, left)
        self._pass_to(edit.end)
        end = max(edit.end + self._shift, self._passed.end)
        return Grown(start, end, inner_start, end - self._shift, edit)

    def _pass_to(self, offset: int) -> None:
        """Pass the runs whose inner text begins before the inner offset: no empty one at it."""
        while self._ahead is not None and self._ahead.start - self._shift < offset:
            run = self._ahead
            self._starts.append(run.start)
            self._inner_starts.append(run.start - self._shift)
            self._shift += run.end - run.start - len(run.inner)
            self._before, self._passed, self._ahead = self._passed, run, next(self._runs, None)

    def _joined(self, start: int, inner_start: int, left: Run) -> tuple[int, int]:
        """Move the start of an edit before the text that the edit could complete."""
        if left.unended and left.end == start:
            return left.start, inner_start - len(left.inner)
        joined = self._joins(self._raw, start)
        if joined >= left.end:
            return joined, inner_start - (start - joined)
        # Before the last passed run, within none.
        index = bisect_left(self._starts, joined)
        return joined, self._inner_starts[index] - (self._starts[index] - joined)


def merge(inner: bytes, grown: Iterable[Grown]) -> Iterator[tuple[Grown, bytes]]:
    """Make one edit of those that touch: what it covers (`edit` is the last), and the new text."""
    opened: Grown | None = None
    pieces: list[bytes] = []
    for each in grown:
        edit = each.edit
        if opened is not None and each.inner_start <= opened.inner_end:
            pieces += (inner[opened.edit.end : edit.start], edit.new)
            opened = opened._replace(
                end=max(opened.end, each.end),
                inner_end=max(opened.inner_end, each.inner_end),
                edit=edit,
            )
            continue
        if opened is not None:
            yield opened, _joined(inner, opened, pieces)
        opened, pieces = each, [inner[each.inner_start : edit.start], edit.new]
    if opened is not None:
        yield opened, _joined(inner, opened, pieces)


def _joined(inner: bytes, opened: Grown, pieces: list[bytes]) -> bytes:
    # Of what is not empty: one alone is not copied.
    return b"".join(filter(None, (*pieces, inner[opened.edit.end : opened.inner_end])))


def read(raw: bytes, runs: Iterable[Run]) -> bytes:
    """Return what `raw` means, itself without runs; `re.sub` keeps each of a million of them."""
    inner = bytearray()
    at = 0
    for start, end, text, _ in runs:
        inner += raw[at:start]
        inner += text
        at = end
    if not at:
        return bytes(raw)  # itself, unless it is a view of what is around it
    inner += raw[at:]
    return bytes(inner)


# ---- Text of XML that comes in pieces: CDATA sections, with comments and other text between them


class Piece(NamedTuple):
    """A part of a text, as a range of it: plain text, or the inside of a CDATA section."""

    start: int
    end: int
    is_cdata: bool


_between: Final = expression(rb"<(?:(!\[CDATA\[)|(!--)|\?)")
_CDATA, _COMMENT = 1, 2


def pieces(raw: bytes) -> Iterator[Piece]:
    """The pieces of a text: what is neither a comment nor a processing instruction."""
    at = 0
    while markup := _between.search(raw, at):
        if at < markup.start():
            yield Piece(at, markup.start(), is_cdata=False)
        group = markup.lastindex
        closing = b"]]>" if group == _CDATA else b"-->" if group == _COMMENT else b"?>"
        end = raw.find(closing, markup.end())
        at = len(raw) if end < 0 else end + len(closing)
        end = len(raw) if end < 0 else end
        if group == _CDATA and markup.end() < end:
            yield Piece(markup.end(), end, is_cdata=True)
    if at < len(raw):
        yield Piece(at, len(raw), is_cdata=False)


class PiecesView(View):
    """The view of a text in `pieces`; what an edit writes goes into the first that it touches."""

    __slots__ = ("_find", "_raw", "_sizes", "_view_of")

    def __init__(
        self,
        raw: bytes,
        find: Callable[[bytes], Iterator[Piece]],
        view_of: Callable[[bytes, Piece], View],
    ) -> None:
        self._raw, self._find, self._view_of = raw, find, view_of
        # There may be very many: a piece is found anew, and its view made anew where it is edited.
        self._sizes = array("Q")
        inner = bytearray()
        for piece in find(raw):
            meant = view_of(raw, piece).inner
            self._sizes.append(len(meant))
            inner += meant
        self.inner = bytes(inner)

    def places(self) -> Callable[[Span], Span]:
        left = zip(self._find(self._raw), self._sizes, strict=True)
        piece, start, end, all_ = Piece(0, 0, is_cdata=False), 0, 0, len(self.inner)
        within: Callable[[Span], Span] | None = None

        def place(span: Span) -> Span:
            nonlocal piece, start, end, within
            at, first = span.start, -1
            while True:
                if at < end or end == all_:  # at the very end nothing follows
                    within = within or self._view_of(self._raw, piece).places()
                    found = within(Span(at - start, min(span.end, end) - start))
                    first = first if first >= 0 else found.start + piece.start
                    if span.end <= end:
                        return Span(first, found.end + piece.start)
                    at = end
                start, within = end, None
                piece, size = next(left)
                end += size

        return place

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        left = iter(edits)
        ahead = next(left, None)
        start = 0
        for index, (piece, size) in enumerate(
            zip(self._find(self._raw), self._sizes, strict=True), 1
        ):
            end = start + size
            parts: list[Edit] = []
            # At the very end nothing follows that an edit could belong to.
            while ahead is not None and (ahead.start < end or index == len(self._sizes)):
                parts.append(ahead._replace(end=min(ahead.end, end)))
                if ahead.end > end:
                    ahead = Edit(end, ahead.end, b"")
                    break
                ahead = next(left, None)
            if parts:
                view = self._view_of(self._raw, piece)
                yield from _moved(view.lower(_moved(parts, -start)), piece.start)
            start = end


def _moved(edits: Sequence[Edit], by: int) -> list[Edit]:
    return [Edit(start + by, end + by, new) for start, end, new in edits]


class SameView(View):
    """The view of a text that means itself."""

    __slots__ = ()

    def __init__(self, raw: bytes) -> None:
        self.inner = raw

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        return iter(edits)

    def places(self) -> Callable[[Span], Span]:
        return lambda span: span


class CdataView(SameView):
    """The view of the inside of a CDATA section: what is written never makes a `]]>`."""

    __slots__ = ()

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        tail, at = b"", 0
        for edit in edits:
            tail = (tail + self.inner[max(at, edit.start - 2) : edit.start])[-2:]
            at = edit.end
            # What would close the section between its neighbours is percent-encoded.
            new = edit.new.replace(b"]]>", b"]]%3E")
            if b"]]>" in tail + new:
                new = new.replace(b">", b"%3E", 1)
            if new.endswith(b"]") and b"]]>" in new[-2:] + self.inner[at : at + 2]:
                new = new[:-1] + b"%5D"
            yield edit._replace(new=new)
            tail = (tail + new[-2:])[-2:]
