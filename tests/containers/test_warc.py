"""The records of web archives, sound, cut and broken (threats W1, W2, W4 and N10)."""

from __future__ import annotations

import io
import random
import tracemalloc
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
import zstandard
from archives import PACKED, chunks, gz, http, others, record, record_id, response, zstd
from extras import needed
from growth import assert_linear_from_10_ms
from hypothesis import event, given
from hypothesis import strategies as st
from rows import cases, filled, rows
from test_growth import repeated

from relbase.containers import warc
from relbase.containers.warc import Fault, Record, Trouble, Unfolded, records

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

TABLES: Final = Path(__file__).with_name("warc.txt")

SMALL: Final = [
    record(1, "warcinfo", b"software: x\r\n"),
    response(2, "http://h/a", http(b"<a href=x>")),
    record(3, "request", b"GET / HTTP/1.1\r\n\r\n"),
    response(4, "http://h/b", http(bytes(range(256)) * 4)),
]
BLOCKS: Final = [one.split(b"\r\n\r\n", 1)[1][:-4] for one in SMALL]


def read(data: bytes, size: int = 1 << 16) -> tuple[list[Record], list[Fault]]:
    found = list(records(chunks(data, size)))
    good = [one for one in found if isinstance(one, Record)]
    return good, [one for one in found if isinstance(one, Fault)]


def ids(found: list[Record]) -> list[str]:
    return [one.get("warc-record-id") for one in found]


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_records_are_read_whatever_they_are_packed_in(packed: str, size: int) -> None:
    good, bad = read(PACKED[packed](SMALL), size)
    assert bad == []
    assert ids(good) == [record_id(number) for number in (1, 2, 3, 4)]
    assert [one.block for one in good] == BLOCKS
    assert [one.size for one in good] == list(map(len, BLOCKS))
    assert good[1].get("warc-target-uri") == "http://h/a"


@pytest.mark.parametrize("size", [1, 100, 1 << 16])
@pytest.mark.parametrize("pack", [gz, zstd])
def test_a_record_may_lie_in_several_members(pack: Callable[[bytes], bytes], size: int) -> None:
    """Some writers begin a member for the head of HTTP, and one for its body."""
    first, split, last = SMALL[1], SMALL[3], SMALL[2]
    cut = split.index(b"HTTP/1.1 200") + 20
    parts = [first, split[:cut], split[cut:-300], split[-300:], last]
    good, bad = read(b"".join(map(pack, parts)), size)
    assert bad == []
    assert [one.block for one in good] == [BLOCKS[1], BLOCKS[3], BLOCKS[2]]


def test_offsets_are_those_of_records_or_of_their_members() -> None:
    starts = [sum(map(len, SMALL[:count])) for count in range(4)]
    assert [one.offset for one in read(b"".join(SMALL))[0]] == starts
    members = [gz(one) for one in SMALL]
    starts = [sum(map(len, members[:count])) for count in range(4)]
    assert [one.offset for one in read(b"".join(members))[0]] == starts


def test_blocks_that_nobody_wants_are_not_kept() -> None:
    wanted = lambda one: one.get("warc-type") == "response"  # noqa: E731 (a table of one)
    for packed in PACKED.values():
        found = [one for one in records([packed(SMALL)], wanted) if isinstance(one, Record)]
        assert [one.block is not None for one in found] == [False, True, False, True]


# ---- archives that are cut: nothing is lost in silence


@pytest.mark.parametrize("packed", PACKED)
def test_an_archive_cut_at_any_byte_says_so(packed: str) -> None:
    data = PACKED[packed](SMALL)
    packs: dict[str, Callable[[bytes], bytes]] = {"warc": bytes, "warc.gz": gz, "warc.zst": zstd}
    pack = packs.get(packed)
    ends = [0]
    if pack is not None:
        ends = [sum(len(pack(one)) for one in SMALL[:count]) for count in range(5)]
    for size in range(len(data)):
        good, bad = read(data[:size])
        whole = sum(end <= size for end in ends) - 1
        assert ids(good)[:whole] == [record_id(number) for number in range(1, whole + 1)]
        # Only between two records nobody can tell that there were more.
        assert bool(bad) == (size not in ends[1:]), size
        assert len(good) + len(bad) >= whole + (size not in ends[1:])


@pytest.mark.parametrize("packed", ["warc.gz", "warc.zst"])
def test_a_damaged_member_costs_itself_alone(packed: str) -> None:
    pack = gz if packed == "warc.gz" else zstd
    members = [pack(one) for one in SMALL]
    for at in range(12, len(members[1])):
        broken = members[1][:at] + bytes([members[1][at] ^ 0x55]) + members[1][at + 1 :]
        good, bad = read(members[0] + broken + members[2] + members[3])
        assert {record_id(1), record_id(3), record_id(4)} <= set(ids(good)), at
        # What is damaged unseen (a time, a name) is no damage.
        assert bad or good[1].remark or good[1].block == BLOCKS[1] or packed == "warc.zst"


def test_a_member_that_lost_bytes_costs_itself_alone() -> None:
    members = [gz(one) for one in SMALL]
    for lost in (1, 9, 30, 80):
        good, bad = read(members[0] + members[1][:-lost] + members[2] + members[3])
        assert ids(good) == [record_id(1), record_id(3), record_id(4)]
        assert [fault.offset for fault in bad] == [len(members[0])]
    # ... as what is no member
    good, bad = read(members[0] + b"garbage" * 999 + members[1], 100)
    assert ids(good) == [record_id(1), record_id(2)]
    assert [(fault.trouble, fault.offset) for fault in bad] == [(Trouble.DAMAGED, len(members[0]))]


DAMAGES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "a wrong checksum": lambda one: one[:-8] + bytes([one[-8] ^ 1]) + one[-7:],
    "a wrong length": lambda one: one[:-1] + bytes([one[-1] ^ 1]),
    "no end": lambda one: one[:-9],
    "no end of its checksum": lambda one: one[:-5],
    "a byte": lambda one: one[: len(one) // 2] + b"\xff\xff" + one[len(one) // 2 + 2 :],
    "a hole": lambda one: one[: len(one) // 2] + one[len(one) // 2 + 40 :],
    "an unknown flag": lambda one: one[:3] + b"\x20" + one[4:],
    "nothing": bytes,
}
LONG: Final = random.Random(1).randbytes(1_200_000)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("size", [10, 8_000, 30_000, 1_200_000])
def test_neither_chunks_nor_the_library_decide_what_is_read_of_a_damaged_member(
    damage: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = DAMAGES[damage](gz(response(5, "http://h/c", http(LONG[:size]))))
    data = gz(SMALL[0]) + damaged + gz(SMALL[1])
    first, *by_isal = [[*records(chunks(data, at))] for at in (999, 5000, 1 << 13, 1 << 18)]
    monkeypatch.setattr("relbase.compression.members.fast_zlib", lambda: zlib)
    by_zlib = [[*records(chunks(data, at))] for at in (999, 5000, 1 << 18)]
    assert by_isal == by_zlib == [first] * 3


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("damage", ["a wrong checksum", "a wrong length"])
def test_a_member_with_a_wrong_checksum_is_whole_with_a_remark(damage: str, size: int) -> None:
    damaged = [DAMAGES[damage](gz(SMALL[number])) for number in (1, 2)]
    good, bad = read(damaged[0] + gz(SMALL[3]) + damaged[1], size)
    assert bad == []
    assert [one.block for one in good] == [BLOCKS[1], BLOCKS[3], BLOCKS[2]]
    remark = "the checksum or the length of its gzip member is wrong"
    assert [one.remark for one in good] == [remark, "", remark]


def test_the_remark_on_a_member_is_on_the_record_that_ends_in_it() -> None:
    damaged = DAMAGES["a wrong length"]
    cut = SMALL[3].index(b"HTTP/1.1 200") + 20
    members = [damaged(gz(SMALL[3][:cut])), gz(SMALL[3][cut:]), damaged(gz(SMALL[1][:-9]))]
    good, bad = read(b"".join([*members, gz(SMALL[0])]))
    assert [bool(one.remark) for one in good] == [True, False]
    assert [fault.record_id for fault in bad] == [record_id(2)]


# More than is fed at a time, too.
@pytest.mark.parametrize("block", [BLOCKS[3], http(LONG[:20_000])])
def test_what_a_damaged_member_holds_before_the_damage_is_salvaged(block: bytes) -> None:
    packing = zlib.compressobj(wbits=31)
    start = response(4, "http://h/b", block)[:-500]
    member = packing.compress(start) + packing.flush(zlib.Z_FULL_FLUSH) + b"\xff" * 9
    _, (fault,) = read(member)
    assert fault.salvaged is not None
    assert fault.salvaged.block == block[:-496]


def frame_without_text(kind: bytes, content: bytes) -> bytes:
    return kind + b"\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content


@pytest.mark.parametrize("packed", [bytes, zstandard.compress])
def test_only_a_first_frame_is_a_dictionary(packed: Callable[[bytes], bytes]) -> None:
    """It may be compressed itself (the .warc.zst specification)."""
    known = zstandard.ZstdCompressionDict(b"".join(SMALL))
    members = map(zstandard.ZstdCompressor(dict_data=known).compress, SMALL)
    others = frame_without_text(b"\x50", b"index") + frame_without_text(b"\x5d", b"dictionary")
    first = frame_without_text(b"\x5d", packed(known.as_bytes()))
    good, bad = read(first + others.join(members))
    assert ([one.block for one in good], bad) == (BLOCKS, [])


def test_each_of_several_damaged_members_is_a_fault() -> None:
    damaged = [DAMAGES["no end"](gz(one)) for one in SMALL[1:]]
    good, bad = read(b"".join(damaged) + gz(SMALL[0]))
    assert [fault.record_id for fault in bad] == [record_id(2), record_id(3), record_id(4)]
    assert ids(good) == [record_id(1)]


@pytest.mark.parametrize(("start", "count"), [(b"WARC", 0), (b"WARC/", 1)])
def test_a_record_is_whole_where_another_one_begins_before_the_damage(
    start: bytes, count: int
) -> None:
    packing = zlib.compressobj(wbits=31)
    member = packing.compress(SMALL[0] + start) + packing.flush(zlib.Z_FULL_FLUSH) + b"\xff" * 9
    good, bad = read(member)
    assert (len(good), len(bad)) == (count, 1)


def test_a_member_after_damage_may_begin_across_two_chunks() -> None:
    member = zstd(SMALL[1])
    data = [zstd(SMALL[0]) + b"x" * 5000 + member[:3], member[3:]]
    assert ids([one for one in records(data) if isinstance(one, Record)]) == [
        record_id(1),
        record_id(2),
    ]


@pytest.mark.parametrize(("more", "text"), [(0, "ends inside"), (1, "more than 16777216")])
def test_the_limit_of_a_frame_without_text(more: int, text: str) -> None:
    _, (fault,) = read(
        zstd(SMALL[0]) + b"\x50\x2a\x4d\x18" + ((1 << 24) + more).to_bytes(4, "little")
    )
    assert text in fault.text


@pytest.mark.parametrize(("size", "count"), [(1 << 14, 1), ((1 << 14) + 1, 0)])
def test_the_limit_of_a_line_of_arc(size: int, count: int) -> None:
    line = b" 0 20081113213051 text/html 1\n"
    good, _ = read(b"http://h/".ljust(size - len(line), b"a") + line + b"x\n")
    assert len(good) == count


# ---- lengths that lie


def lying(length: str) -> bytes:
    url = ("WARC-Target-URI", "http://h/a")
    return record(2, "response", BLOCKS[1], url, length=length)


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize(
    "length",
    [
        str(len(BLOCKS[1]) + 5),  # threat W1: warcio swallows the next record
        *(str(len(BLOCKS[1]) + 300), str(10**17), str(len(BLOCKS[1]) - 1), "0", "-1", "+5", "12_0"),
        *("٣", "", "9" * 19, "1\r\nContent-Length: 2"),
    ],
)
@pytest.mark.parametrize("size", [100, 1 << 16])
def test_a_length_that_lies_costs_its_record_alone(packed: str, length: str, size: int) -> None:
    good, bad = read(PACKED[packed]([SMALL[0], lying(length), *SMALL[2:]]), size)
    assert ids(good) == [record_id(1), record_id(3), record_id(4)]
    assert [fault.record_id for fault in bad] == [record_id(2)]
    assert bad[0].trouble in (Trouble.LENGTH, Trouble.CUT)
    assert bad[0].url == "http://h/a"


def test_the_same_length_twice_is_one() -> None:
    good, bad = read(record(1, "resource", b"ab", ("Content-Length", "2")))
    assert (good[0].block, bad) == (b"ab", [])


# ---- headers


@cases(TABLES, "fields", head=bytes, name=str, value=str)
def test_fields(head: bytes, name: str, value: str) -> None:
    eol = b"\r\n" if b"\r" in head else b"\n"
    good, bad = read(head + b"Content-Length: 1" + eol * 2 + b"x" + b"\r\n\r\n")
    assert bad == []
    assert good[0].get(name) == value


@cases(TABLES, "targets", value=bytes, url=str)
def test_targets(value: bytes, url: str) -> None:
    head = b"WARC/1.0\r\nWARC-Target-URI: %b\r\nContent-Length: 0\r\n\r\n" % value
    assert read(head + b"\r\n\r\n")[0][0].url == url


@cases(TABLES, "no records", data=bytes, trouble=Trouble, text=str)
def test_no_records(data: bytes, trouble: Trouble, text: str) -> None:
    fault = read(data)[1][0]
    assert (fault.trouble, fault.text) == (trouble, text)


def test_a_header_is_so_long_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    head = b"WARC/1.1\r\nContent-Length: 0\r\nX: %b\r\n\r\n" % (b"x" * 500)
    for size in (-1, 0, 1):
        monkeypatch.setattr(warc, "MAX_HEAD", len(head) + size)
        good, bad = read(head + b"\r\n\r\n" + SMALL[1], 50)
        assert bool(bad) is (size < 0)
        assert ids(good)[-1:] == [record_id(2)]


def test_what_is_too_long_to_be_looked_through_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc, "_LOOKED_THROUGH", 4)
    found = list(records([SMALL[3][:-9]], lambda _: False))
    texts = [one.text for one in found if isinstance(one, Fault)]
    assert [text.partition("; ")[2] for text in texts] == ["what it covers was not looked through"]


@pytest.mark.parametrize("size", [-1, 0, 1])
@pytest.mark.parametrize("packed", PACKED)
def test_a_block_is_so_long_and_no_longer(
    packed: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warc, "MAX_BLOCK", len(BLOCKS[3]) + size)
    good, bad = read(PACKED[packed]([*SMALL, SMALL[0]]))
    assert [fault.trouble for fault in bad] == [Trouble.TOO_LARGE] * (size < 0)
    assert ids(good)[-1] == record_id(1)
    assert len(good) == 5 - (size < 0)


@pytest.mark.parametrize("pack", [gz, zstd])
def test_a_block_that_is_too_long_is_not_held(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threat W3: a few kilobytes may be a record of gigabytes."""
    monkeypatch.setattr(warc, "MAX_BLOCK", 1 << 20)
    peaks = []
    for size in (40 << 20, 80 << 20):
        packed = pack(record(1, "resource", bytes(size)))
        tracemalloc.start()
        _, bad = read(packed)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert [fault.trouble for fault in bad] == [Trouble.TOO_LARGE]
    assert peaks[1] - peaks[0] < 1 << 20


def test_a_block_that_the_memory_cannot_hold_costs_itself_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    joined = Unfolded.block

    def take(text: Unfolded, size: int, most: int) -> tuple[bytes | None, int]:
        block, count = joined(text, size, most)
        return (None if size == len(BLOCKS[3]) else block), count

    monkeypatch.setattr(Unfolded, "block", take)
    good, bad = read(b"".join([*SMALL, SMALL[0]]))
    assert ids(good) == [record_id(number) for number in (1, 2, 3, 1)]
    assert [fault.text for fault in bad] == ["the block does not fit into memory"]


# ---- ARC

ARC: Final = (
    b"filedesc://x.arc 0.0.0.0 20140216050221 text/plain 77\n1 0 x\n"
    b"URL IP-address Archive-date Content-type Archive-length\n              \n"
    b"http://h/a b 1.2.3.4 20140216050222 text/html; charset=x 5\nabcde\n"
    b"dns:h 1.2.3.4 20140216050223 text/dns 3\nxyz\n"
)


@pytest.mark.parametrize("pack", [bytes, gz])
@pytest.mark.parametrize("size", [1, 1000])
def test_arc_is_read_as_warc_is(pack: Callable[[bytes], bytes], size: int) -> None:
    good, bad = read(pack(ARC), size)
    assert bad == []
    assert [(one.get("warc-type"), one.get("warc-target-uri")) for one in good] == [
        ("warcinfo", "filedesc://x.arc"),
        ("response", "http://h/a b"),
        ("resource", "dns:h"),
    ]
    assert (good[1].block, good[1].get("content-type")) == (b"abcde", "text/html; charset=x")
    assert good[1].get("warc-date") == "2014-02-16T05:02:22Z"


@cases(TABLES, "lines of ARC", line=bytes)
def test_lines_of_arc_as_crawlers_write_them(line: bytes) -> None:
    good, bad = read(ARC + line + b"\nabcde\n")
    assert bad == []
    assert (good[-1].url, good[-1].block) == ("http://h/", b"abcde")
    assert good[-1].get("content-type") == ("text/html" if b"text" in line else "")


# ---- others' archives, and hostile ones


# What the other reader stops at: our faults, by the name of the archive.
FAULTS: Final = {
    "bad.arc": 2,
    "example-bad-length.warc": 1,
    "example-extra.warc": 1,
    "example-space-in-url.arc": 1,
    "pywb-sample_archive/example.warc": 1,
}


@pytest.mark.skipif(not others(), reason="RELBASE_DATA is not set")
def test_other_peoples_archives_are_read_as_fastwarc_reads_them() -> None:
    fastwarc = needed("fastwarc.warc")
    compared = 0
    for path in others():
        good, bad = read(path.read_bytes(), 5000)
        name = f"{path.parent.name}/{path.name}"
        assert len(bad) == FAULTS.get(name, FAULTS.get(path.name, 0)), name
        try:
            stream = io.BytesIO(path.read_bytes())
            theirs = [
                (one.record_id or "", one.content_length)
                for one in fastwarc.ArchiveIterator(stream, parse_http=False, auto_decode="none")
            ]
        except OSError:
            assert bad or ".arc" in path.name, name  # it reads no ARC
            continue
        assert [(one.get("warc-record-id"), one.size) for one in good] == theirs, name
        compared += len(theirs)
    assert compared > 500


_read: Final = filled(FIRST=gz(SMALL[0]), EMPTY=gz(b""))
HOSTILE: Final = {
    name: repeated(unit, before)
    for name, before, unit in rows(TABLES, "hostile", str, _read, _read)
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_take_linear_time(name: str) -> None:
    assert_linear_from_10_ms(lambda data: sum(1 for _ in records([data])), HOSTILE[name])


HEADS: Final = {
    "a name without a colon": lambda n: b"a" * n,
    "blanks in a folded value": lambda n: b"X: a" + b" " * n + b"b\r\n c",
    "blanks beside a folded value": lambda n: b"X: a" + b" " * n + b"b\r\nY: b\r\n c",
}


@pytest.mark.parametrize("name", HEADS)
def test_whole_headers_take_linear_time(name: str) -> None:
    assert_linear_from_10_ms(
        lambda data: sum(1 for _ in records([data])),
        lambda n: b"WARC/1.0\r\n" + HEADS[name](n) + b"\r\nContent-Length: 0" + b"\r\n" * 4,
    )


def test_what_follows_damage_is_searched_few_times_in_pieces_of_a_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts, searched = warc._starts, 0  # noqa: SLF001 (what is searched is counted)

    def counting(text: bytes, pos: int = 0) -> re.Match[bytes] | None:
        nonlocal searched
        searched += len(text) - pos
        return starts(text, pos)

    monkeypatch.setattr(warc, "_starts", counting)
    lines = [b"x\n"] * 100_000
    assert sum(1 for _ in records(lines)) == 1
    assert len(lines) < searched < 3 * sum(map(len, lines))


@given(st.binary(max_size=200), st.sampled_from(["", "warc", "warc.gz", "warc.zst"]))
def test_no_bytes_raise(data: bytes, packed: str) -> None:
    if packed:
        members = PACKED[packed](SMALL)
        at = int.from_bytes(data[:2]) % len(members)
        data = members[:at] + data[2:] + members[at:]
    good, bad = read(data)
    event("records" if good else "none")
    again, worse = read(data, 5)
    assert ids(again) == ids(good)
    assert bool(worse) == bool(bad)
