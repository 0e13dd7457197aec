"""What the revisits of an archive may cost: what is kept, read again, and yielded (rule 12)."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING, Final

import pytest
from archives import PACKED, chunks, gz, http, record, record_id, response
from growth import assert_linear
from running import run

from relbase.warc import Fault, Page, Trouble, pages, revisits
from relbase.warc.work import wacz_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_BODY: Final = b"<a href=x>" * 100


def page(number: int, body: bytes = _BODY) -> bytes:
    return response(number, f"http://h/{number}", http(body))


def revisit(number: int, of: int) -> bytes:
    head = http(b"")
    names = ("WARC-Refers-To", record_id(of)), ("WARC-Target-URI", f"http://r/{number}")
    return record(number, "revisit", head, *names)


def one_by_one(count: int) -> list[bytes]:
    """Pages, then a revisit of each."""
    return [*map(page, range(1, count)), *(revisit(at + count, at) for at in range(1, count))]


def wacz(content: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("archive/a.warc", content, method)
    return file.getvalue()


class Reading:
    """Reads an archive, and counts how often and how much is read again."""

    def __init__(self, data: bytes, size: int = 1 << 18) -> None:
        self.data, self.size, self.times = data, size, 0
        self.found = list(pages(chunks(data, size), self._again))
        self.pages = [one for one in self.found if isinstance(one, Page)]
        self.troubles = [one.trouble for one in self.found if isinstance(one, Fault)]

    def _again(self, offset: int) -> Iterable[bytes]:
        self.times += 1
        return chunks(self.data[offset:], self.size)


@pytest.mark.parametrize("packed", PACKED)
def test_a_payload_that_is_asked_for_again_is_kept(packed: str) -> None:
    """As in an honest crawl that finds one page unchanged every day."""
    body = _BODY * 1000
    archive = [page(1, body), *(revisit(number, 1) for number in range(2, 52))]
    reading = Reading(PACKED[packed](archive))
    assert [one.body for one in reading.pages] == [body] * 51
    assert reading.times == 1


def test_payloads_are_kept_within_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [page(1), page(2), *(revisit(at, 1 + at % 2) for at in range(3, 13))]
    [size] = {revisits.size_of(one) for one in Reading(b"".join(both)).pages[:2]}
    for room, times in ((2 * size, 2), (2 * size - 1, 10), (size - 1, 10)):
        monkeypatch.setattr(revisits, "MAX_KEPT", room)
        reading = Reading(b"".join(both))
        assert (len(reading.pages), reading.times) == (12, times)


def test_what_was_used_last_is_kept_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    order = [1, 2, 1, 3, 1, 2]
    archive = [*map(page, (1, 2, 3)), *(revisit(9 + at, of) for at, of in enumerate(order))]
    size = revisits.size_of(Reading(page(1)).pages[0])
    monkeypatch.setattr(revisits, "MAX_KEPT", 2 * size)
    assert Reading(b"".join(archive)).times == 4


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("size", [100, 1 << 18])
def test_reading_again_has_a_limit(packed: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = PACKED[packed](one_by_one(9))
    monkeypatch.setattr(revisits, "MAX_KEPT", 0)
    allowed = []

    def spent(self: revisits.Allowance) -> bool:
        allowed.append(self.again - self.once)
        return False

    with monkeypatch.context() as patched:
        patched.setattr(revisits.Allowance, "is_spent", property(spent))
        assert len(Reading(data, size).pages) == 16
    most = max(allowed)
    for limit in (most, most + 1):
        monkeypatch.setattr(revisits, "MAX_AGAIN", limit)
        assert Reading(data, size).troubles == []
    monkeypatch.setattr(revisits, "MAX_AGAIN", most - 1)
    assert set(Reading(data, size).troubles) == {Trouble.REVISIT_LIMIT}


@pytest.mark.parametrize("packed", PACKED)
def test_results_do_not_depend_on_the_pieces_of_the_input(
    packed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = PACKED[packed]([page(1), *(revisit(at, 1) for at in range(2, 9)), *one_by_one(9)])
    monkeypatch.setattr(revisits, "MAX_AGAIN", 100)
    monkeypatch.setattr(revisits, "MAX_GROWTH", 3)
    monkeypatch.setattr(revisits, "MAX_GROWTH_BYTES", 9000)
    whole = Reading(data).found
    assert len({type(one) for one in whole}) == 2
    for size in (7, 1000, 4096):
        assert Reading(data, size).found == whole


@pytest.mark.parametrize(("limit", "count"), [(2999, 2), (3000, 3), (3001, 3)])
def test_the_pages_of_all_revisits_have_a_limit(
    limit: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revisits, "MAX_GROWTH", 1)
    monkeypatch.setattr(revisits, "MAX_GROWTH_BYTES", limit)
    archive = page(1), *(revisit(number, 1) for number in range(2, 8))
    reading = Reading(b"".join(archive))
    assert len(reading.pages) == 1 + count
    assert reading.troubles == [Trouble.REVISIT_LIMIT] * (6 - count)
    # It is shared by all archives in a WACZ, and by the size of that.
    monkeypatch.setattr(revisits, "MAX_GROWTH", 2)
    found = list(wacz_pages(io.BytesIO(wacz(b"".join(archive), zipfile.ZIP_STORED))))
    assert sum(isinstance(one, Page) for one in found) == 1 + max(3, count)


def test_a_payload_at_the_end_of_a_deflated_wacz_is_charged_from_its_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else each revisit would inflate the whole member once more."""
    monkeypatch.setattr(revisits, "MAX_KEPT", 0)
    monkeypatch.setattr(revisits, "MAX_AGAIN", 1 << 16)
    content = b"".join([page(1, bytes(1 << 20)), *one_by_one(30)])
    found = list(wacz_pages(io.BytesIO(wacz(content))))
    troubles = [one.trouble for one in found if isinstance(one, Fault)]
    assert troubles == [Trouble.REVISIT_LIMIT] * 28


@pytest.mark.parametrize("packing", ["one member", "deflated"])
def test_many_revisits_take_linear_time(packing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of it is one thing that is long, half of it are many revisits."""
    monkeypatch.setattr(revisits, "MAX_KEPT", 1 << 12)
    monkeypatch.setattr(revisits, "MAX_AGAIN", 1 << 16)

    def read(size: int) -> None:
        content = b"".join([page(99, bytes(size)), *one_by_one(size // 1200)])
        if packing == "deflated":
            found: Iterator[Page | Fault] = wacz_pages(io.BytesIO(wacz(content)))
        else:
            data = gz(content)
            found = pages([data], lambda offset: [data[offset:]])
        assert sum(1 for _ in found) > size // 600 - 5

    assert_linear(read, int, (1 << 18, 1 << 19))


def test_an_archive_in_a_wacz_that_overlaps_another_one_is_a_fault() -> None:
    data = wacz(page(1), zipfile.ZIP_STORED)
    start = data.index(b"PK\1\2")
    entry, end = data[start : data.index(b"PK\5\6")], data[data.index(b"PK\5\6") :]
    end = end[:8] + b"\3\0\3\0" + (3 * len(entry)).to_bytes(4, "little") + end[16:]
    first, *others = wacz_pages(io.BytesIO(data[:start] + 3 * entry + end))
    assert isinstance(first, Page)
    assert [(one.trouble, one.text) for one in others if isinstance(one, Fault)] == [
        (
            Trouble.DAMAGED,
            "archive/a.warc overlaps another member of the ZIP file: not read",
        )
    ] * 2


def test_revisits_beyond_the_limit_are_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revisits, "MAX_GROWTH", 1)
    monkeypatch.setattr(revisits, "MAX_GROWTH_BYTES", 2000)
    path = tmp_path / "x.warc"
    path.write_bytes(b"".join([page(1), *(revisit(number, 1) for number in range(2, 8))]))
    result = run("links", path)
    assert (result.exit_code, result.stdout.count("\n")) == (3, 300)
    assert "4 revisits beyond the limit" in result.stderr
    assert "[revisit-limit]" in result.stderr


def test_a_revisit_with_the_digest_of_its_payload_is_not_taken_for_it() -> None:
    """In an archive of one member all records have the same offset."""
    digest = "WARC-Payload-Digest", "sha1:X"
    early = record(1, "revisit", http(b""), digest, ("WARC-Target-URI", "http://r/1"))
    late = record(3, "revisit", http(b""), digest, ("WARC-Target-URI", "http://r/3"))
    original = response(2, "http://h/2", http(_BODY), digest)
    reading = Reading(gz(early + original + late))
    assert reading.troubles == [Trouble.ELSEWHERE]
    assert [one.url for one in reading.pages] == ["http://h/2", "http://r/3"]


def test_what_is_inflated_is_counted_to_the_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bomb behind a record in the same member is not inflated for each of its revisits."""
    monkeypatch.setattr(revisits, "MAX_KEPT", 0)
    bomb = gz(page(1) + record(2, "metadata", bytes(32 << 20)))
    inflated = [0]
    decompress = zlib.decompressobj(31)
    text = decompress.decompress(bomb)
    data = bomb + b"".join(gz(revisit(number, 1)) for number in range(3, 99))
    original = revisits.Allowance.read_again

    def counted(self: revisits.Allowance, size: int) -> None:
        inflated[0] += size
        original(self, size)

    monkeypatch.setattr(revisits.Allowance, "read_again", counted)
    reading = Reading(data)
    assert reading.troubles.count(Trouble.REVISIT_LIMIT) > 50
    assert inflated[0] < len(text) + revisits.MAX_AGAIN + (9 << 20)
