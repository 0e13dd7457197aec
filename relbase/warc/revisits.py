"""Finds the payloads of revisits: where each name stood in the archive, and the page there.

A payload is read once more from where its record (if compressed, its member) begins, and kept as
long as there is room, since others may revisit it. What all this costs is limited for the archive
as a whole, or else a few bytes could make one payload be inflated or written without end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from relbase.compression.members import Buffer
from relbase.containers.warc import Fault, Record, Trouble, Unfolded, records_of
from relbase.rewriting.budget import MAX_GROWTH, MAX_GROWTH_BYTES
from relbase.warc.page import Page

Again = Callable[[int], Iterable[bytes]]
PageOf = Callable[[Record], Page | Fault | None]

_UNREAD: Final = 1 << 63  # in an offset: the record there was a fault

# How many records of a member are searched for the payload of a revisit. A well-made archive has
# one record per member.
_LOOKED_AT: Final = 64

# How much may be read again in addition to as many bytes as were read once, decompressed: no
# well-made archive comes near, since payloads that are asked for often are kept.
MAX_AGAIN: Final = 64 << 20

# Of the payloads that are kept, in bytes; and what each takes besides its body.
MAX_KEPT: Final = 16 << 20
_OVERHEAD: Final = 1 << 11

# In what pieces an archive is read again: the first one is as long as most records.
_FIRST_PIECE: Final = 1 << 12
_LAST_PIECE: Final = 1 << 18


class SpentError(Exception):
    """Raised where an archive may not be read again any further."""


class Allowance:
    """What all revisits of an archive may cost.

    Args:
        size: Of the archive in bytes; None if it is known only as far as it was read.
    """

    __slots__ = ("_given", "_size", "again", "once")

    def __init__(self, size: int | None = None) -> None:
        self._size, self._given = size, 0
        self.once = self.again = 0  # how many bytes were read once, and again, decompressed

    def read_again(self, size: int) -> None:
        self.again += size
        if self.is_spent:
            raise SpentError

    @property
    def is_spent(self) -> bool:
        return self.again > self.once + MAX_AGAIN

    def give(self, size: int, offset: int) -> bool:
        """Pay for a page at an offset; False if the pages of revisits exceed rule 12's limit."""
        read = offset if self._size is None else self._size
        self._given += size
        return self._given <= max((MAX_GROWTH - 1) * read, MAX_GROWTH_BYTES)


class Revisits:
    """The payloads that the revisits of an archive may name, which precede them."""

    def __init__(
        self,
        again: Again | None,
        allowance: Allowance,
        holds_page: Callable[[Record], bool],
        page_of: PageOf,
    ) -> None:
        self._again, self._allowance = again, allowance
        self._holds_page, self._page_of = holds_page, page_of
        # From hashes of names to offsets: 110 bytes for a name, of which a gigabyte of records has
        # some hundred thousand. Two names can have one hash, so the record there is checked.
        self._places: dict[int, int] = {}
        self._kept: dict[str, Page | Fault | None] = {}  # by name, the longest unused first
        self._room = MAX_KEPT

    def add(self, record: Record, *, unread: bool) -> None:
        """Remember where a record is that revisits may name, and whether it could be read."""
        for name in _names(record):
            self._places.setdefault(hash(name), record.offset | (_UNREAD if unread else 0))

    def payload(self, record: Record) -> Page | Fault | None:
        """Return the page that a record revisits, or why it is missing; None if it is no page."""
        # The names by which it refers to its payload, the most reliable first.
        fields = record.fields
        names = [*filter(None, map(fields.get, ("warc-refers-to", "warc-payload-digest")))]
        uri, date = fields.get("warc-refers-to-target-uri"), fields.get("warc-refers-to-date")
        names += [f"{uri.strip('<>')} {date}"] if uri and date else []
        name = next((name for name in names if self._places.get(hash(name)) is not None), "")
        trouble, text = Trouble.NOT_AGAIN, ""
        if not name:
            trouble = Trouble.ELSEWHERE
            text = "the record that it revisits does not precede it in the archive"
        elif self._again is None:
            text = "the record that it revisits has passed, and this input cannot be read again"
        elif (
            self._places.get(hash(name)) or 0
        ) & _UNREAD:  # it would cost as much for each revisit
            text = "the record that it revisits could not be read"
        elif name not in self._kept and self._allowance.is_spent:
            trouble, text = Trouble.REVISIT_LIMIT, _AGAIN
        if text:
            return record.fault(trouble, text)
        try:
            page = self._take(name) if name in self._kept else self._read(name, self._again)
        except SpentError:
            return record.fault(Trouble.REVISIT_LIMIT, _AGAIN)
        self._keep(name, page)
        if isinstance(page, Fault):
            return record.fault(page.trouble, page.text)
        if page is not None and not self._allowance.give(len(page.body), record.offset):
            return record.fault(Trouble.REVISIT_LIMIT, _GIVEN)
        return page

    def _read(self, name: str, again: Again | None) -> Page | Fault | None:
        offset = self._places.get(hash(name))
        if again is None or offset is None:
            return None
        text = Unfolded(_growing(again(offset)), self._allowance.read_again)

        def is_wanted(record: Record) -> bool:
            return self._holds_page(record) and name in _names(record)

        for payload in islice(records_of(text, is_wanted), _LOOKED_AT):
            if isinstance(payload, Record) and payload.block is not None:
                page = self._page_of(payload)
                if not text.packed:  # what was read ahead is no work
                    self._allowance.again -= len(text.data) - text.pos
                if isinstance(page, Fault):
                    return page._replace(text=f"the record that it revisits: {page.text}")
                return page
        what = f"its payload is not among the first {_LOOKED_AT} records of its member: not read"
        return Fault(offset, "", "", Trouble.NOT_AGAIN, what)

    def _take(self, name: str) -> Page | Fault | None:
        page = self._kept.pop(name)
        self._room += size_of(page)
        return page

    def _keep(self, name: str, page: Page | Fault | None) -> None:
        self._kept[name] = page
        self._room -= size_of(page)
        while self._room < 0:
            self._take(next(iter(self._kept)))


def size_of(page: Page | Fault | None) -> int:
    if page is None or isinstance(page, Fault):
        return _OVERHEAD
    return _OVERHEAD + len(page.body) + sum(len(name) + len(value) for name, value in page.fields)


def _growing(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Divide chunks anew, so that not much more is charged than a short record takes."""
    source, size = Buffer(chunks), _FIRST_PIECE
    while piece := source.take(size):
        yield piece
        size = min(2 * size, _LAST_PIECE)


_AGAIN: Final = (
    f"revisits had over {MAX_AGAIN} bytes more read again than the archive has so far: not read"
)
_GIVEN: Final = (
    f"the pages of revisits are over {MAX_GROWTH} times as long as the archive, or over "
    f"{MAX_GROWTH_BYTES} bytes longer: not read"
)


def _names(record: Record) -> list[str]:
    fields = record.fields
    names = filter(None, (fields.get("warc-record-id"), fields.get("warc-payload-digest")))
    return [*names, f"{record.url} {fields.get('warc-date', '')}"]
