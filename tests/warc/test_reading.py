"""The pages of archives: HTTP undone, revisits with their payloads, what is left out."""

from __future__ import annotations

import io
import tracemalloc
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import brotli
import pytest
from archives import PACKED, chunks, gz, http, others, record, record_id, response, zstd
from rows import cases
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

import relbase
from relbase.containers.fields import MAX_HEADER
from relbase.warc import Fault, Page, Trouble, conversion, link_rows, pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TABLES: Final = Path(__file__).with_name("reading.txt")

BODY: Final = b"<a href=x>" * 20


def read(data: bytes, *, twice: bool = False) -> list[Page | Fault]:
    def again(offset: int) -> Iterable[bytes]:
        return chunks(data[offset:], 100)

    return list(pages([data], again if twice else None))


def only(data: bytes) -> Page:
    [page] = read(data)
    assert isinstance(page, Page)
    return page


def fault_of(data: bytes) -> Fault:
    [fault] = read(data)
    assert isinstance(fault, Fault)
    return fault


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (BODY, ()),
        (gz(BODY), ("Content-Encoding: gzip",)),
        (gz(gz(BODY)), ("Content-Encoding: gzip, gzip",)),
        (gz(gz(BODY)), ("Content-Encoding: gzip", "content-encoding: GZIP")),
        (zlib.compress(BODY), ("Content-Encoding: deflate",)),
        (zlib.compress(BODY)[2:-4], ("Content-Encoding: deflate",)),
        (brotli.compress(BODY), ("Content-Encoding: br",)),
        (zstd(BODY), ("Content-Encoding: zstd",)),
        (b"C8;ext=1\r\n" + BODY + b"\r\n0\r\n\r\n", ("Transfer-Encoding: chunked",)),
        (BODY, ("Transfer-Encoding: chunked", "Content-Encoding: gzip")),  # stored decoded
    ],
)
def test_bodies_are_what_the_server_had(body: bytes, fields: tuple[str, ...]) -> None:
    page = only(response(1, "http://h/d/", http(body, *fields)))
    assert (page.body, page.url, page.status) == (BODY, "http://h/d/", 200)
    assert page.record_id == record_id(1)


@pytest.mark.parametrize("packed", PACKED)
def test_offsets_find_the_records_again(packed: str) -> None:
    data = PACKED[packed]([response(number, f"http://h/{number}", http(BODY)) for number in (1, 2)])
    for page in read(data):
        assert isinstance(page, Page)
        found = {one.record_id for one in pages([data[page.offset :]]) if isinstance(one, Page)}
        assert page.record_id in found


@pytest.mark.parametrize(
    ("url", "expected"), [("<http://h/>", "http://h/"), ("http://h/<>", "http://h/<>")]
)
def test_brackets_around_a_target_are_not_of_it(url: str, expected: str) -> None:
    assert only(response(1, url, http(BODY))).url == expected


@cases(TABLES, "targets", target=str, url=str)
def test_a_target_without_a_scheme_is_read_as_http(target: str, url: str | None) -> None:
    marked = b"<!-- saved from url=(0014)http://m.example/ -->\r\n<a href=/x>"
    for body, mark in ((b"<a href=/x>", None), (marked, "http://m.example/x")):
        data = response(1, target, http(body, "Content-Type: text/html"))
        for page in (only(data), only(gz(data))):
            assert page.url == (target if url is None else url)
            assert len(page.remarks) == (page.url != target.strip("<>"))
            [row] = link_rows(page)
            assert row.page == page.url
            assert row.url == (
                mark if url is None else next(iter(relbase.links(b"<a href=/x>", url=url))).url
            )
            made = conversion(page, date="2026-01-02T03:04:05Z")
            assert (made.record is None) == (row.url is None)
            told = [note.text for note in made.notes if "target URI" in note.text]
            assert len(told) == (url is None)
            assert not [note for note in made.notes if "url=" in note.text]


@cases(TABLES, "responses", type_=str, body=bytes, count=int)
def test_responses_are_pages_by_their_types(type_: str, body: bytes, count: int) -> None:
    assert len(read(response(1, "http://h/", http(body, f"Content-Type: {type_}")))) == count


@cases(TABLES, "records", kind=str, type_=str, count=int)
def test_pages_are_what_links_are_looked_for_in(kind: str, type_: str, count: int) -> None:
    fields = [("Content-Type", type_)] if type_ else []
    assert len(read(record(1, kind, BODY, *fields))) == count


def test_a_response_of_any_status_is_a_page() -> None:
    page = only(response(1, "http://h/", http(BODY, "Location: /x", status="301 Moved")))
    assert (page.status, page.succeeded) == (301, False)
    assert ("location", "/x") in page.fields
    assert only(record(1, "resource", BODY, ("Content-Type", "text/html"))).succeeded


@pytest.mark.parametrize(
    ("data", "trouble"),
    [
        (
            response(1, "http://h/", http(gz(BODY)[:10], "Content-Encoding: gzip")),
            Trouble.UNDECODABLE,
        ),
        (response(1, "http://h/", http(b"\0\1", "Content-Encoding: br")), Trouble.UNDECODABLE),
        (response(1, "http://h/", http(BODY), ("WARC-Segment-Number", "1")), Trouble.SEGMENTED),
        (response(1, "http://h/", http(BODY, status="206 Partial Content")), Trouble.PARTIAL),
        (response(1, "http://h/", BODY), Trouble.DAMAGED),  # no head
    ],
)
def test_what_cannot_be_read_is_a_fault_with_its_record(data: bytes, trouble: Trouble) -> None:
    fault = fault_of(data)
    assert (fault.trouble, fault.record_id, fault.url) == (trouble, record_id(1), "http://h/")


@cases(TABLES, "odd status lines", line=bytes, status=int)
def test_an_odd_status_line_is_read_with_a_remark(line: bytes, status: int | None) -> None:
    page = only(response(1, "http://h/", http(BODY).replace(b"HTTP/1.1 200 OK", line)))
    assert (page.body, page.status, page.content_type) == (BODY, status, "text/html")
    assert line.decode() in page.remarks[0]


def test_a_range_counts_where_the_status_says_so() -> None:
    ranged = http(BODY, "Content-Range: bytes 5-9/10")
    assert only(response(1, "http://h/", ranged)).body == BODY
    fault = fault_of(response(1, "http://h/", ranged.replace(b"HTTP/1.1 200 OK", b"HTTP/1.1")))
    assert fault.trouble is Trouble.PARTIAL
    whole = http(BODY, "Content-Range: bytes 0-199/200", status="206 Partial Content")
    assert only(response(1, "http://h/", whole)).body == BODY


def test_the_last_content_type_that_is_valid_counts() -> None:
    first, again, image = (
        f"Content-Type: {one}" for one in ("text/html; charset=x", "Text/HTML", "image/png, x")
    )
    page = only(response(1, "http://h/", http(BODY, first, again)))
    assert page.content_type == 'Text/HTML; charset="x"'
    assert read(response(1, "http://h/", http(BODY, first, image))) == []


def test_a_header_that_is_too_large_is_not_guessed_at() -> None:
    data = response(1, "http://h/", http(BODY, f"X: {'a' * MAX_HEADER}"))
    fault = fault_of(data)
    assert (fault.trouble, fault.record_id) == (Trouble.TOO_LARGE, record_id(1))


def test_the_type_of_a_record_is_in_any_case_and_there() -> None:
    data = response(1, "http://h/", http(BODY))
    assert only(data.replace(b"Type: response", b"Type: Response")).status == 200
    fault = fault_of(data.replace(b"WARC-Type:", b"X:"))
    assert (fault.trouble, fault.text) == (Trouble.DAMAGED, "it has no WARC-Type: not read")


ARCHIVE: Final = b"".join(response(number, "http://h/", http(BODY)) for number in (1, 2))
CHUNKED: Final = b"a\r\n<a href=x>\r\n" * 20


@pytest.mark.parametrize(
    ("body", "field", "size"),
    [
        (gz(BODY)[:-9], "Content-Encoding: gzip", 1),
        (zlib.compress(BODY)[:-6], "Content-Encoding: deflate", 1),
        (CHUNKED, "Transfer-Encoding: chunked", len(BODY)),  # without its last chunk
        (CHUNKED[:-5], "Transfer-Encoding: chunked", len(BODY) - 3),
        (BODY[:-3], f"Content-Length: {len(BODY)}", len(BODY) - 3),
    ],
)
def test_a_page_that_breaks_off_is_read_and_said_to_be_truncated(
    body: bytes, field: str, size: int
) -> None:
    page = only(response(1, "http://h/", http(body, field)))
    assert BODY.startswith(page.body)
    assert len(page.body) >= size
    assert (page.truncated, page.payload, len(page.remarks)) == ("unspecified", "truncated", 1)


@pytest.mark.parametrize(
    "body",
    [
        (gz(BODY)[:-8], "Content-Encoding: gzip"),
        (gz(BODY)[:-4] + b"abcd", "Content-Encoding: gzip"),
        (gz(BODY), "Content-Encoding: gzip", "Transfer-Encoding: chunked"),
    ],
)
def test_a_page_that_is_all_there_is_whole(body: tuple[bytes, str]) -> None:
    page = only(response(1, "http://h/", http(*body)))
    assert (page.body, page.truncated, page.payload) == (BODY, "", "recoded")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (BODY, ["Content-Length: 3"]),
        (BODY, ["Content-Length: 900", "Content-Length: 9"]),
        (BODY, ["Content-Length: 900, 9"]),
        (CHUNKED + b"0\r\n\r\n", ["Content-Length: 9000", "Transfer-Encoding: chunked"]),
        (b"", ["Content-Length: 900"]),  # of HEAD
    ],
)
def test_a_length_that_is_not_missed_counts_for_nothing(body: bytes, fields: list[str]) -> None:
    page = only(response(1, "http://h/", http(body, *fields)))
    assert (page.truncated, page.remarks) == ("", ())


@pytest.mark.parametrize(
    ("data", "body", "trouble"),
    [
        (response(1, "http://h/", http(BODY))[:-9], BODY[:-5], Trouble.CUT),
        (gz(response(1, "http://h/", http(BODY)))[:-1], BODY, Trouble.CUT),
        (gz(response(1, "http://h/", http(BODY)))[:-9], b"", Trouble.CUT),
        (ARCHIVE.replace(b"Length: 244", b"Length: 300", 1), BODY, Trouble.LENGTH),
        (ARCHIVE.replace(b"Length: 244", b"Length: 240", 1), BODY[:-4], Trouble.LENGTH),
    ],
)
def test_what_a_record_holds_that_is_not_whole_is_read(
    data: bytes, body: bytes, trouble: Trouble
) -> None:
    fault, page, *others = read(data)
    assert isinstance(fault, Fault)
    assert isinstance(page, Page)
    assert fault == Fault(0, record_id(1), "http://h/", trouble, fault.text)
    assert "looked through" not in fault.text
    assert BODY.startswith(page.body)
    assert page.body == body or not body
    is_whole = page.body == BODY and trouble is not Trouble.LENGTH
    assert page.payload == ("" if is_whole else "truncated")
    assert len(others) == (trouble is Trouble.LENGTH)


def test_how_a_page_was_truncated_is_known() -> None:
    page = only(response(1, "http://h/", http(BODY), ("WARC-Truncated", "length")))
    assert (page.truncated, page.payload, len(page.remarks)) == ("length", "truncated", 1)


@pytest.mark.parametrize("type_", ["", "application/octet-stream"])
def test_a_lie_about_what_nobody_calls_a_page_loses_nothing(type_: str) -> None:
    lie = http(b"\x89PNG\0\1", f"Content-Type: {type_}", "Transfer-Encoding: chunked")
    assert read(response(1, "http://h/", lie)) == []


def test_a_wrong_checksum_of_a_member_is_as_one_of_a_body() -> None:
    original, again = gz(ORIGINAL), gz(revisit(("WARC-Refers-To", record_id(1))))
    for page in read(original[:-8] + b"abcd" + original[-4:] + again[:-1] + b"x", twice=True):
        assert isinstance(page, Page)
        assert (page.body, page.truncated, page.payload) == (BODY, "", "recoded")
        assert "the checksum or the length of its gzip member is wrong" in page.remarks


# ---- revisits (WARC/1.1 §6.7)

ORIGINAL: Final = response(1, "http://h/a/", http(BODY), ("WARC-Payload-Digest", "sha1:X"))
HEAD: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\nContent-Base: http://b/\r\n\r\n"
)


def revisit(*more: tuple[str, str], head: bytes = HEAD) -> bytes:
    return record(2, "revisit", head, ("WARC-Target-URI", "http://h/b/"), *more)


@pytest.mark.parametrize(
    "more",
    [
        [("WARC-Refers-To", record_id(1))],
        [("WARC-Payload-Digest", "sha1:X")],
        [
            ("WARC-Refers-To-Target-URI", "http://h/a/"),
            ("WARC-Refers-To-Date", "2026-01-02T03:04:05Z"),
        ],
    ],
)
@pytest.mark.parametrize("packed", PACKED)
def test_a_revisit_is_its_payload_at_its_own_url(packed: str, more: list[tuple[str, str]]) -> None:
    found = read(PACKED[packed]([ORIGINAL, revisit(*more)]), twice=True)
    assert len(found) == 2
    page = found[1]
    assert isinstance(page, Page)
    assert (page.url, page.record_id, page.body) == ("http://h/b/", record_id(2), BODY)
    assert page.content_type == "text/html; charset=x"
    assert ("content-base", "http://b/") in page.fields


def test_a_revisit_without_a_scheme_is_read_as_http() -> None:
    said = [("WARC-Payload-Digest", "sha1:X")]
    original = response(1, "www.h.example/a/", http(BODY), *said)
    data = gz(original) + gz(revisit(*said)) + gz(original)
    found = [page for page in read(data, twice=True) if isinstance(page, Page)]
    urls = "http://www.h.example/a/", "http://h/b/", "http://www.h.example/a/"
    assert [(page.url, len(page.remarks)) for page in found] == [*zip(urls, (1, 0, 1), strict=True)]
    bare = revisit(*said).replace(b"http://h/b/", b"h.example/b/")
    page = read(gz(ORIGINAL) + gz(bare), twice=True)[1]
    assert isinstance(page, Page)
    assert (page.url, len(page.remarks)) == ("http://h.example/b/", 1)


def test_a_revisit_that_was_not_modified_has_the_status_of_its_payload() -> None:
    head = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    data = gz(ORIGINAL) + gz(revisit(("WARC-Refers-To", record_id(1)), head=head))
    page = read(data, twice=True)[1]
    assert isinstance(page, Page)
    assert (page.status, page.content_type) == (200, "text/html")


@pytest.mark.parametrize("twice", [True, False])
def test_a_revisit_whose_payload_is_elsewhere_says_so(twice: bool) -> None:  # noqa: FBT001
    first = revisit(("WARC-Refers-To", record_id(9)))
    fault = fault_of(first)
    assert fault.trouble is Trouble.ELSEWHERE
    found = read(ORIGINAL + revisit(("WARC-Refers-To", record_id(1))), twice=twice)
    assert isinstance(found[1], Page) is twice
    assert isinstance(found[1], Page) or found[1].trouble is Trouble.NOT_AGAIN


def test_the_first_record_with_a_digest_is_its_payload() -> None:
    digest = "WARC-Payload-Digest", "sha1:X"
    second = response(3, "http://h/c/", http(b"<a href=other>"), digest)
    page = read(gz(ORIGINAL) + gz(second) + gz(revisit(digest)), twice=True)[-1]
    assert isinstance(page, Page)
    assert page.body == BODY


def test_a_payload_far_inside_of_a_member_is_not_said_to_be_elsewhere() -> None:
    others = b"".join(response(number, f"http://o/{number}", http(b"")) for number in range(3, 67))
    data = gz(others + ORIGINAL + revisit(("WARC-Refers-To", record_id(1))))
    found = read(data, twice=True)[-1]
    assert isinstance(found, Fault)
    assert found.trouble is Trouble.NOT_AGAIN


def test_a_revisit_that_is_cut_has_no_page() -> None:
    data = (ORIGINAL + revisit(("WARC-Refers-To", record_id(1))))[:-10]
    page, fault = read(data, twice=True)
    assert isinstance(page, Page)
    assert isinstance(fault, Fault)
    assert (page.url, fault.url) == ("http://h/a/", "http://h/b/")


def test_a_revisit_of_what_could_not_be_read_says_so_and_reads_it_once() -> None:
    message = http(b"<p>", "Content-Range: bytes 3-5/9", status="206 Partial Content")
    data = response(1, "http://h/", message)
    data += revisit(("WARC-Refers-To", record_id(1))) * 2
    asked: list[int] = []

    def again(offset: int) -> list[bytes]:
        asked.append(offset)
        return [data[offset:]]

    first, *others = pages([data], again)
    assert isinstance(first, Fault)
    assert [fault.text for fault in others if isinstance(fault, Fault)] == [
        "the record that it revisits could not be read"
    ] * 2
    assert not asked
    # One that was skipped was not tried.
    *others, last = pages([data], again, skip=lambda one: one.get("warc-type") == "response")
    assert isinstance(last, Fault)
    assert last == (*last[:3], first.trouble, f"the record that it revisits: {first.text}", None)
    assert asked == [0]


def test_a_revisit_of_an_image_is_passed_over() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
    assert read(revisit(("WARC-Refers-To", record_id(9)), head=head)) == []


def test_nothing_is_kept_of_pages_but_numbers() -> None:
    def many() -> Iterator[bytes]:
        for number in range(2000):
            yield response(number, "http://h/", http(b"<p>" + b"x" * 5000))

    tracemalloc.start()
    count = sum(isinstance(page, Page) for page in pages(many()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 2000
    assert peak < 2_000_000


# ---- others' archives


def decoded_by_warcio(data: bytes) -> Iterator[bytes]:
    with suppress(ArchiveLoadFailed, AttributeError):  # it decodes no more pages then
        for one in ArchiveIterator(io.BytesIO(data), arc2warc=True):
            headers = one.http_headers or one.rec_headers
            is_page = "html" in (headers.get_header("Content-Type") or "").lower()
            if one.rec_headers.get_header("WARC-Segment-Number"):
                continue  # it does not join them either
            if is_page and one.rec_type in ("response", "resource", "conversion"):
                yield one.content_stream().read()


@pytest.mark.skipif(not others(), reason="RELBASE_DATA is not set")
def test_every_page_that_warcio_decodes_is_read() -> None:
    """Whatever else is put into the directory is compared, too."""
    count = 0
    for path in others():
        data = path.read_bytes()
        bodies = {page.body for page in read(data, twice=True) if isinstance(page, Page)}
        for body in decoded_by_warcio(data):
            assert body in bodies or not body, path
            count += 1
    assert count >= 108
