"""Views decode a raw text, and lower edits of the decoded text to edits of the raw one.

    decode(splice(raw, view.lower(edits))) == splice(view.inner, edits)

`RunView` serves every encoding in which most bytes mean themselves and a few runs do not. It stores
no runs, but finds them again. An edit inside the decoded text of a run covers the whole run. Text
before an edit may combine with it (`&am` + `p;`): `unended` marks the runs that may, and `joins`
finds such text between runs.
"""

from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from relbase.edit import Edit, Span
from relbase.expressions import expression


class View(ABC):
    """A decoded text whose edits can be lowered to edits of the raw text around it."""

    inner: bytes  # the decoded text: UTF-8, undecodable bytes as surrogates (surrogatepass)

    @abstractmethod
    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """Turn sorted, disjoint edits of `inner` into sorted, disjoint edits of the raw text."""

    @abstractmethod
    def places(self) -> Callable[[Span], Span]:
        """Return a function that maps spans of `inner`, in order and disjoint, to raw spans."""

    def lower(self, edits: Iterable[Edit]) -> list[Edit]:
        return list(self.lowered(edits))


class Run(NamedTuple):
    """The raw bytes from `start` to `end` mean `inner`; between runs each byte means itself."""

    start: int
    end: int
    inner: bytes
    unended: bool = False  # its meaning depends on what follows, as of `&amp` without semicolon


class Grown(NamedTuple):
    """An edit, and the range that it rewrites, in the raw text and in the inner text."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    edit: Edit


_NO_RUN = Run(0, 0, b"")
_GREATEST_I = 1 << 32  # offsets below it need 4 bytes


class GrownView(View):
    """A view that grows each edit to the range it has to rewrite; `_spell` encodes new text."""

    _spell: Callable[[bytes], bytes]

    @abstractmethod
    def _grower(self) -> Callable[[Edit], Grown]:
        """Return a function that grows edits, given in order, to the ranges they rewrite."""

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        for (start, end, *_), new in merge(self.inner, edits, self._grower()):
            # Most edits are insertions, maybe millions: both ends share one int object.
            yield Edit(start, start if start == end else end, self._spell(new))

    def places(self) -> Callable[[Span], Span]:
        grow = self._grower()
        return lambda span: Span(*grow(Edit(*span, b"/"))[:2])


class RunView(GrownView):
    """The view of a raw text in which all bytes outside of runs mean themselves.

    `find` returns sorted, disjoint runs. `spell` encodes new text so that it decodes to itself at
    any place. `joins` returns the offset, inside no run, from which text combines with new text.
    `rows` finds the runs for reading only: neighbours may be one run there.
    """

    def __init__(
        self,
        raw: bytes,
        find: Callable[[bytes], Iterable[Run]],
        spell: Callable[[bytes], bytes],
        joins: Callable[[bytes, int], int] = lambda _raw, at: at,
        rows: Callable[[bytes], Iterable[Run]] | None = None,
    ) -> None:
        self._raw = raw
        self._find = find
        self._spell = spell
        self._joins = joins
        self.inner, self._end = _meant(raw, (rows or find)(raw))

    def _grower(self) -> Callable[[Edit], Grown]:
        grow = _RunWalk(self._raw, self._find(self._raw), self._joins).grow
        whole = 0, len(self.inner)  # what most edits cover: no need to walk
        return lambda edit: Grown(0, self._end, *whole, edit) if edit[:2] == whole else grow(edit)


class _RunWalk:
    """A walk over the runs; after the passed ones, raw and inner offsets differ by `_shift`."""

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
        # Only LF combines with a CR before it.
        if self._raw[start - 1 : start] != b"\r" or edit.new[:1] in b"\n":
            start, inner_start = self._joined(start, inner_start, left)
        self._pass_to(edit.end)
        end = max(edit.end + self._shift, self._passed.end)
        return Grown(start, end, inner_start, end - self._shift, edit)

    def _pass_to(self, offset: int) -> None:
        """Pass the runs whose inner text begins before the inner offset, not those at it."""
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
        # It is before the last passed run, and inside no run.
        index = bisect_left(self._starts, joined)
        return joined, self._inner_starts[index] - (self._starts[index] - joined)


def merge(
    inner: bytes, edits: Iterable[Edit], grow: Callable[[Edit], Grown] | None = None
) -> Iterator[tuple[Grown, bytes]]:
    """Merge edits that touch; yield what the result covers (`edit`: its last) and its new text.

    Without `grow` they cover their own range, and those that change nothing are dropped.
    """
    opened: Grown | None = None
    pieces: list[bytes] = []
    for edit in edits:
        start, end, new = edit
        if grow is not None:
            each = grow(edit)
        elif new or start < end:
            each = Grown(start, end, start, end, edit)
        else:
            continue
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
    # Without empty pieces: `join` does not copy a single one.
    return b"".join(filter(None, (*pieces, inner[opened.edit.end : opened.inner_end])))


def read(raw: bytes, runs: Iterable[Run]) -> bytes:
    """Decode `raw`, which means itself without runs; `re.sub` would keep all runs in memory."""
    return _meant(raw, runs)[0]


def _meant(raw: bytes, runs: Iterable[Run]) -> tuple[bytes, int]:
    """Return the decoded text, and the end of the raw text without empty runs at its end."""
    inner = bytearray()
    at = last = 0
    for start, end, text, _ in runs:
        inner += raw[at:start]
        inner += text
        last = end if text else start if start > at else last
        at = end
    if not at:
        return bytes(raw), len(raw)  # the same object, unless it is a memoryview
    inner += raw[at:]
    return bytes(inner), len(raw) if at < len(raw) else last


# ---- Text of XML in pieces: plain text and CDATA sections, with comments between them


class Piece(NamedTuple):
    """A range of a text: plain text, or the inside of a CDATA section."""

    start: int
    end: int
    is_cdata: bool


_between: Final = expression(rb"<(?:(!\[CDATA\[)|(!--)|\?)")
_CDATA, _COMMENT = 1, 2


def pieces(raw: bytes) -> Iterator[Piece]:
    """Yield the pieces of a text, without comments and processing instructions."""
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
    """The view of a text in `pieces`; new text goes into the first piece that its edit touches."""

    def __init__(
        self,
        raw: bytes,
        find: Callable[[bytes], Iterator[Piece]],
        view_of: Callable[[bytes, Piece], View],
    ) -> None:
        self._raw, self._find, self._view_of = raw, find, view_of
        # There may be very many pieces: each is found again, and its view rebuilt if it is edited.
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
                if at < end or end == all_:  # nothing follows the very end
                    within = within or self._view_of(self._raw, piece).places()
                    inside = within(Span(at - start, min(span.end, end) - start))
                    first = first if first >= 0 else inside.start + piece.start
                    if span.end <= end:
                        return Span(first, inside.end + piece.start)
                    at = end
                start, within = end, None
                piece, size = next(left)
                end += size

        return place

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        cut, start = _Cut(edits), 0
        for index, (piece, size) in enumerate(
            zip(self._find(self._raw), self._sizes, strict=True), 1
        ):
            end = start + size
            # An edit at the very end belongs to the last piece.
            until = end + (index == len(self._sizes))
            if cut.ahead is not None and cut.ahead.start < until:
                view = self._view_of(self._raw, piece)
                for at, stop, new in view.lowered(cut.inside(start, end, until)):
                    placed = at + piece.start
                    yield Edit(placed, placed if at == stop else stop + piece.start, new)
            start = end


class _Cut:
    """Edits of a text, cut where its pieces end."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self._left = iter(edits)
        self.ahead = next(self._left, None)

    def inside(self, start: int, end: int, until: int) -> Iterator[Edit]:
        """The edits that begin before `until`, as offsets from `start`, cut at `end`."""
        while (edit := self.ahead) is not None and edit.start < until:
            at = edit.start - start
            yield Edit(at, at if edit.start == edit.end else min(edit.end, end) - start, edit.new)
            self.ahead = Edit(end, edit.end, b"") if edit.end > end else next(self._left, None)
            if edit.end > end:
                return


class SameView(View):
    """The view of a text that means itself."""

    def __init__(self, raw: bytes) -> None:
        self.inner = raw

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        return iter(edits)

    def places(self) -> Callable[[Span], Span]:
        return lambda span: span


class CdataView(SameView):
    """The view of the inside of a CDATA section; edits never create a `]]>`."""

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        tail, at = b"", 0
        for edit in edits:
            tail = (tail + self.inner[max(at, edit.start - 2) : edit.start])[-2:]
            at = edit.end
            # Percent-encode whatever would close the section, also together with text around it.
            new = edit.new.replace(b"]]>", b"]]%3E")
            if b"]]>" in tail + new:
                new = new.replace(b">", b"%3E", 1)
            if new.endswith(b"]") and b"]]>" in new[-2:] + self.inner[at : at + 2]:
                new = new[:-1] + b"%5D"
            yield edit._replace(new=new)
            tail = (tail + new[-2:])[-2:]
