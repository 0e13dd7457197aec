"""Records of web archives: chunks of bytes in, records with their offsets out.

The length of a record is right if another record follows it, or its member or the archive ends.
Otherwise the record is a fault, and reading goes on at the next start of a record, which may be
inside what the wrong length covered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from relbase.compression.members import (
    ARC,
    ARC_STARTS,
    BREAKS_OFF,
    MAX_ARC_LINE,
    Buffer,
    Piece,
    arc_fields,
    arc_line,
    begins_record,
    pieces,
)
from relbase.expressions import regex

# Of the header of a record: real ones have one or two KB, and a URL of some MB is a `data:` URL.
MAX_HEAD: Final = 1 << 20

# Of a block that is kept, in bytes: crawlers cut documents off at some MB.
MAX_BLOCK: Final = 128 << 20

# A block that is not wanted is kept up to this length, too: if its length is wrong, it may cover
# other records.
_LOOKED_THROUGH: Final = 16 << 20


class Trouble(StrEnum):
    """Why a record, or a piece of an archive, cannot be read. The values are stable."""

    CUT = "cut"  # the archive breaks off
    DAMAGED = "damaged"  # a member that does not decode, or bytes that are not a record
    LENGTH = "length"  # Content-Length is not the length of the block
    TOO_LARGE = "too-large"
    UNDECODABLE = "undecodable"  # the codings of its body cannot be undone
    PARTIAL = "partial"  # a response that holds a range of a document
    TRUNCATED = "truncated"  # a page is incomplete: it gets no conversion
    SEGMENTED = "segmented"  # the block is in several records (WARC/1.1 §8)
    ELSEWHERE = "elsewhere"  # a revisit of a payload that is not in the archive
    NOT_AGAIN = "not-again"  # a revisit of a payload that is there, but cannot be read again
    REVISIT_LIMIT = "revisit-limit"  # a revisit beyond what revisits may read again or yield
    UNREADABLE = "unreadable"  # the archive cannot be opened
    DEFECT = "defect"  # a bug in relbase: report it with the record
    DIED = "died"  # the process that worked on it ended


class Record(NamedTuple):
    version: str  # "WARC/1.1"; "ARC" for a record of an ARC file
    # Names in lower case, those of an ARC line as in WARC; of several values the first.
    fields: Mapping[str, str]
    offset: int  # where it begins in the archive; if compressed, where its member begins
    size: int  # of its block, in bytes
    block: bytes | None  # None if it was not wanted, or is longer than `MAX_BLOCK`
    type: str  # in lower case, since the case does not matter (RFC 2616 §2.1)
    url: str  # the target URI, without the brackets that WARC/1.0 and wget write
    remark: str = ""  # what is wrong with it, although all of it is there

    def get(self, name: str) -> str:
        return self.fields.get(name, "")

    def fault(self, trouble: Trouble, text: str) -> Fault:
        return Fault(self.offset, self.fields.get("warc-record-id", ""), self.url, trouble, text)


class Fault(NamedTuple):
    """A record, or a piece of an archive, that cannot be read.

    Args:
        offset: Where it (if compressed, its member) begins in the archive.
        record_id: Id of the record, or "".
        url: URL of the record, or "".
        trouble: Why, in one word.
        text: Why, as a sentence for people.
        salvaged: The record, with as much of its block as there is.
    """

    offset: int
    record_id: str
    url: str
    trouble: Trouble
    text: str
    salvaged: Record | None = None


class Unfolded(Buffer):
    """The text of an archive, joined from its pieces up to the end of the current member."""

    def __init__(
        self, chunks: Iterable[bytes], charge: Callable[[int], None] | None = None
    ) -> None:
        super().__init__()
        self._pieces = pieces(chunks)
        self._ahead: list[Piece | None] = []  # decoded only when it is asked for
        self._charge = charge  # called with the size of each piece
        self._member = 0  # where the member begins
        self.over = True  # whether all of the member was read
        self.fault = ""  # of the member, known when it is over
        self.remark = ""  # on the member, or on an earlier one with the same record
        self.packed = False  # whether the member was compressed

    @property
    def offset(self) -> int:
        """The offset of the next byte in the archive; if compressed, of its member."""
        return self._member if self.packed else super().offset

    @property
    def consumed(self) -> int:
        """How many bytes of text were consumed so far."""
        return self._read - len(self.data) + self.pos

    def _look_ahead(self) -> Piece | None:
        if not self._ahead:
            self._ahead.append(next(self._pieces, None))
        return self._ahead[0]

    def _next(self) -> bytes | None:
        piece = self._look_ahead()
        if piece is None:
            return None
        self._ahead.clear()
        self._read += len(piece.data)
        if self._charge is not None:
            self._charge(len(piece.data))
        self.packed, self.fault = piece.packed, piece.fault
        self.remark = piece.remark or self.remark
        is_last = piece.is_last or bool(piece.fault)
        self.over = is_last if piece.packed else self._look_ahead() is None
        return piece.data

    def more(self) -> bytes | None:
        """Return the next piece of the member, None if it is over."""
        return None if self.over else self._next()

    def goes_on(self) -> bool:
        """Whether the next member begins no record: some records span several members."""
        ahead = self._look_ahead()
        return not (ahead is None or ahead.fault or self.fault or begins_record(ahead.data))

    def enter(self) -> bool:
        """Enter the next member; False if there is none."""
        if (ahead := self._look_ahead()) is not None:
            self._member = ahead.at
        piece = self._next()
        self.data, self.pos = piece or b"", 0
        return piece is not None

    def begin(self) -> bool:
        """Move to the next byte that is not a line end, or to a fault; False if there is none."""
        while True:
            blank = _line_ends(self.data, self.pos)
            self.pos = blank.end() if blank else self.pos
            if self.pos < len(self.data) or (self.fault and self.over):
                return True
            if not self.fill():
                self.remark = ""
                if not self.enter():
                    return False

    def block(self, size: int, most: int) -> tuple[bytes | None, int]:
        """Take bytes of the member; return them, None if they are too many, and their number."""
        kept: list[bytes] = []
        count = 0
        while True:
            taken = self.data[self.pos : self.pos + size - count]
            count += len(taken)
            self.pos += len(taken)
            kept.append(taken)
            if count > most:
                kept.clear()
            if count == size or not (self.fill() or (self.goes_on() and self.enter())):
                break
        try:
            return b"".join(kept) if count <= most else None, count
        except MemoryError:  # also too many
            return None, count


_line_ends: Final = regex(rb"[\r\n]*+").match


def records(
    chunks: Iterable[bytes], wanted: Callable[[Record], bool] = lambda _: True
) -> Iterator[Record | Fault]:
    """Yield the records of an archive in order, and a `Fault` for what cannot be read."""
    return records_of(Unfolded(chunks), wanted)


def records_of(text: Unfolded, wanted: Callable[[Record], bool]) -> Iterator[Record | Fault]:
    """Yield the records of an archive whose text is shared with the caller."""
    is_empty = True
    while text.begin():
        is_empty = False
        if text.pos >= len(text.data):
            yield _fault_of_member(text, None)
        else:
            yield from _read(text, wanted)
    if is_empty:
        yield Fault(0, "", "", Trouble.CUT, "the archive is empty")


def _read(text: Unfolded, wanted: Callable[[Record], bool]) -> Iterator[Record | Fault]:
    offset = text.offset
    head = _head(text, offset)
    if head is None:
        yield _no_record(text, offset)
        return
    record, length, why = head
    if length is None:
        yield record.fault(Trouble.LENGTH, why)
        _resume(text, b"")
        return
    is_wanted = wanted(record)
    if is_wanted and length > MAX_BLOCK:
        is_wanted = False
        why = f"the block has {length} bytes, more than {MAX_BLOCK}: not read"
    most = MAX_BLOCK if is_wanted else _LOOKED_THROUGH
    block, count = text.block(length, most)
    fault = _checked(text, record._replace(size=length), count)
    if fault is not None:
        if is_wanted and block:
            is_whole = len(block) == length and fault.trouble is Trouble.CUT
            following = _starts(block)
            there = block[: following.start()].rstrip(b"\r\n") if following else block
            salvaged = record._replace(size=len(there), block=there)
            if not (is_whole or record.fields.get("warc-truncated")):
                fields = {"warc-truncated": "unspecified", **record.fields}
                salvaged = salvaged._replace(fields=fields)
            fault = fault._replace(salvaged=salvaged)
        is_seen = _resume(text, block or b"") or count == 0
        yield fault if is_seen else fault._replace(text=fault.text + _UNSEEN)
    elif why or (is_wanted and block is None):
        yield record.fault(Trouble.TOO_LARGE, why or "the block does not fit into memory")
    else:
        kept = block if is_wanted else None
        yield record._replace(size=length, block=kept, remark=text.remark)
    if fault is None and not (text.packed or record.version == ARC):
        # the line ends that follow a record (WARC/1.1 §4)
        after = text.peek(_BETWEEN)
        if text.over and not after.strip(b"\r\n") and after.count(b"\n") < len("\n\n"):
            yield record.fault(Trouble.CUT, "the archive ends after the block")


def _checked(text: Unfolded, record: Record, count: int) -> Fault | None:
    if count < record.size:
        if text.fault:
            return _fault_of_member(text, record)
        what = f"Content-Length is {record.size}, but there are {count} bytes"
        return record.fault(Trouble.LENGTH if text.packed else Trouble.CUT, what)
    after = text.peek(_BETWEEN)
    follows = after.lstrip(b"\r\n")
    is_start = follows[:5].upper() == b"WARC/"[: len(follows)] or (
        record.version == ARC and arc_line(text.peek(MAX_ARC_LINE).lstrip(b"\r\n")) is not None
    )
    if text.over and text.fault and not (is_start and len(after) == _BETWEEN):
        return _fault_of_member(text, record)
    if is_start:
        return None
    what = f"Content-Length is {record.size}, and no record begins after that number of bytes"
    return record.fault(Trouble.LENGTH, what)


# Two line ends and the start of a version.
_BETWEEN: Final = 9


def _fault_of_member(text: Unfolded, record: Record | None) -> Fault:
    what, text.fault = text.fault, ""
    trouble = Trouble.CUT if what == BREAKS_OFF else Trouble.DAMAGED
    if record is None:
        return Fault(text.offset, "", "", trouble, what)
    return record.fault(trouble, what)


def _no_record(text: Unfolded, offset: int) -> Fault:
    is_begun = b"WARC/".startswith(text.peek(len(b"WARC/")).upper())
    is_cut = text.over and is_begun and not _head_end(text.data, text.pos)
    if text.fault:
        fault = _fault_of_member(text, None)
    elif is_cut:
        fault = Fault(offset, "", "", Trouble.CUT, "the archive ends inside a header")
    else:
        fault = Fault(offset, "", "", Trouble.DAMAGED, "no record begins here")
    text.pos += 1
    _resume(text, b"")
    return fault


# The start of a record, after a wrong length or after bytes that are not a record.
_starts: Final = regex(rb"(?<=\n)(?i:WARC)/[01]\.[0-9]+\r?\n|%b" % ARC_STARTS).search


def _resume(text: Unfolded, block: bytes) -> bool:
    """Move to the next record, in a block or after it; return whether the block was searched."""
    head_start = _starts(block)
    back = block[head_start.start() :] if head_start else block[-len("\nWARC/1.1\r\n") :]
    is_seen = bool(block) and text.look_again(back)
    while not (head_start and is_seen):
        head_start, is_seen = _starts(text.data, text.pos), True
        if head_start:
            text.pos = head_start.start()
        else:
            # A start may lie across two pieces, with the line end in front of it. Of short pieces,
            # such as lines, several are read at once: what is in front is searched again for each.
            text.pos = max(text.pos, len(text.data) - MAX_ARC_LINE)
            known = len(text.data) - text.pos
            if len(text.peek(2 * MAX_ARC_LINE)) == known:
                text.pos = len(text.data)
                break
    return bool(block) and is_seen


_UNSEEN: Final = "; what it covers was not looked through"

# Where a header ends, or breaks off before another record: no field looks like a version.
_head_end: Final = regex(rb"\n(?:\r?\n|((?i:WARC)/[01]\.[0-9]+\r?\n))").search
# The literals of the grammar are not case-sensitive (RFC 2616 §2.1).
_version: Final = regex(rb"((?i:WARC)/[0-9]+\.[0-9]+)[ \t]*+\r?\n").match
# named-field = field-name ":" [ field-value ]; a value may be folded   (WARC/1.1 §4)
_fields: Final = regex(r"(?<![^\0-\x20:])([^\0-\x20:]++)[ \t]*+:[ \t]*+([^\r\n]*+)").findall
_fold: Final = regex(r"(?:(?<![ \t])[ \t]++)?+\r?\n[ \t]++").sub
_number: Final = regex(r"[0-9]{1,18}").fullmatch


def _head(text: Unfolded, offset: int) -> tuple[Record, int | None, str] | None:
    """The record without its block, the length of that, and why the length is unknown."""
    if text.peek(len(b"WARC/")).upper() != b"WARC/":
        return _arc_head(text, offset)
    searched = text.pos
    while (head_end := _head_end(text.data, searched)) is None:
        searched = max(0, len(text.data) - text.pos - len(b"\n\r"))
        if searched > MAX_HEAD or not text.fill():
            return None
    version = _version(text.data, text.pos)
    if version is None or head_end[1] or head_end.end() - text.pos > MAX_HEAD:
        return None
    lines = text.data[version.end() : head_end.end()].decode("utf-8", "surrogateescape")
    if "\n " in lines or "\n\t" in lines:
        lines = _fold(" ", lines)
    fields = [(name.lower(), value.rstrip(" \t")) for name, value in _fields(lines)]
    text.pos = head_end.end()
    lengths = {value for name, value in fields if name == "content-length"}
    record = _begun(version[1].decode().upper(), dict(reversed(fields)), offset)
    if len(lengths) != 1:
        return record, None, f"{len(lengths)} different values of Content-Length"
    length = lengths.pop()
    if _number(length) is None or not length.isascii():
        is_number = length.isascii() and length.isdigit()
        why = "more than any block has" if is_number else "which is not a number"
        return record, None, f"Content-Length is {length[:40]!r}, {why}"
    return record, int(length), ""


def _arc_head(text: Unfolded, offset: int) -> tuple[Record, int, str] | None:
    while b"\n" not in text.data[text.pos : text.pos + MAX_ARC_LINE]:
        if len(text.data) - text.pos > MAX_ARC_LINE or not text.fill():
            return None
    line = arc_line(text.data[text.pos : text.pos + MAX_ARC_LINE])
    if line is None:
        return None
    text.pos += line.end()
    fields = dict(arc_fields(line))
    return _begun(ARC, fields, offset), int(fields["content-length"]), ""


def _begun(version: str, fields: Mapping[str, str], offset: int) -> Record:
    """Return a record whose block is not read yet."""
    url = fields.get("warc-target-uri", "")
    url = url[1:-1] if url.startswith("<") and url.endswith(">") else url
    return Record(version, fields, offset, 0, None, fields.get("warc-type", "").lower(), url)
