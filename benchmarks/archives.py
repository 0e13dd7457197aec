"""Web archives: whole commands, their processor time and memory, in interleaved rounds.

An archive is made of the real pages as crawlers store them: request, response and metadata of each,
one record a gzip member; the bodies without codings as in Common Crawl, or every second one in gzip
as it was transferred. Each contender is a process of its own, start-up included, as a
task of a crawl is; its processor time is what the system counts for it.
"""

from __future__ import annotations

import gzip
import shutil
import sys
import tempfile
import uuid
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.timing import Timing, spent, table

if TYPE_CHECKING:
    from collections.abc import Iterator

# How often the pages are in the large archive: some 100 MB, seconds for each contender.
_COPIES: Final = 3
_TEN_MEGABYTES: Final = 10 << 20
_GIGABYTE: Final = 1 << 30
_DATE: Final = "2026-01-02T03:04:05Z"


def run(data: Path | None, rounds: int) -> Iterator[str]:
    """Yield the tables."""
    if data is None:
        yield "archives: give --data, the directory that has real-pages/"
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive, mixed = folder / "crawl.warc.gz", folder / "mixed.warc.gz"
        size = make(archive, data, _COPIES)
        yield _rewriting(archive, size, rounds)
        yield _rewriting(mixed, make(mixed, data, _COPIES, mixed=True), rounds)
        yield _links(archive, size, rounds)
        yield _memory(folder, data)


def make(
    archive: Path, data: Path, copies: int, *, mixed: bool = False, most: int = 1 << 40
) -> int:
    """Write an archive of the real pages; return how many bytes its pages have.

    Args:
        archive: its path.
        data: the directory that has real-pages/.
        copies: how often each page is in it.
        mixed: whether every second body is in gzip.
        most: how many bytes of pages are enough.
    """
    pages = [page for page in sorted((data / "real-pages").rglob("*.htm*")) if page.is_file()]
    total = number = 0
    with archive.open("wb") as file:
        for copy in range(copies):
            for page in pages:
                body = page.read_bytes()
                total += len(body)
                url = f"http://host{number % 97}.example/{copy}/{page.name}"
                for record in _records(url, body, number, packed=mixed and number % 2 == 0):
                    file.write(gzip.compress(record, mtime=0))
                number += 1
                if total >= most:
                    return total
    return total


def _records(url: str, body: bytes, number: int, *, packed: bool) -> Iterator[bytes]:
    stored = gzip.compress(body, mtime=0) if packed else body
    coding = b"Content-Encoding: gzip\r\n" if packed else b""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nServer: x\r\n" + coding
    length = b"Content-Length: %d\r\n\r\n" % len(stored)
    yield _record("request", url, b"GET / HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n", number)
    yield _record("response", url, head + length + stored, number)
    yield _record("metadata", url, b"fetchTimeMs: 12\r\ncharset-detected: utf-8\r\n", number)


def _record(type_: str, url: str, block: bytes, number: int) -> bytes:
    types = {"metadata": "application/warc-fields"}
    media = types.get(type_, f"application/http; msgtype={type_}")
    name = uuid.uuid5(uuid.NAMESPACE_URL, f"{type_} {number}")
    head = (
        f"WARC/1.0\r\nWARC-Type: {type_}\r\nWARC-Record-ID: <urn:uuid:{name}>\r\n"
        f"WARC-Date: {_DATE}\r\nWARC-Target-URI: {url}\r\nContent-Type: {media}\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def _fastest(contenders: dict[str, list[str]], rounds: int) -> list[Timing]:
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, command in contenders.items():
            best[name] = min(best[name], spent(command).seconds)
    return [Timing(name, seconds) for name, seconds in best.items()]


_PYTHON: Final = sys.executable
_RELBASE: Final = [_PYTHON, "-m", "relbase"]


def _rewriting(archive: Path, size: int, rounds: int) -> str:
    peer = "warcio recompress"
    copy, made = str(archive.with_name("copy.warc.gz")), str(archive.with_name("made.warc.gz"))
    timings = _fastest(
        {
            peer: [_PYTHON, "-m", "warcio.cli", "recompress", str(archive), copy],
            "relbase rewrite": [*_RELBASE, "rewrite", str(archive), "-o", made, "--date", _DATE],
        },
        rounds,
    )
    title = f"{archive.name}: conversions of {size / 1e6:.0f} MB of pages (processor time)"
    return table(title, timings, size / 1e6, "MB", peer)


def _links(archive: Path, size: int, rounds: int) -> str:
    peer = "fastwarc + selectolax + urljoin"
    script = [_PYTHON, "-m", "benchmarks.archives", str(archive)]
    parquet = str(archive.with_name("links.parquet"))
    timings = _fastest(
        {
            peer: script,
            f"{peer} + pyarrow": [*script, f"{parquet}.peer"],
            "relbase links": [_PYTHON, "-c", _ROWS, str(archive)],
            "relbase links --parquet --columns": [
                *(*_RELBASE, "links", str(archive), "--parquet", parquet),
                *("--columns", ",".join(_COLUMNS)),
            ],
            "relbase links --parquet": [*_RELBASE, "links", str(archive), "--parquet", parquet],
        },
        rounds,
    )
    title = f"{archive.name}: links of {size / 1e6:.0f} MB of pages (processor time)"
    return table(title, timings, size / 1e6, "MB", peer)


_ROWS: Final = """
import sys
from relbase.warc import Page, link_rows, pages
with open(sys.argv[1], "rb") as file:
    for page in pages(iter(lambda: file.read(1 << 18), b"")):
        if isinstance(page, Page):
            for row in link_rows(page):
                pass
"""


def _memory(folder: Path, data: Path) -> str:
    """The memory for an archive of 10 MB of pages, and for one of 1 GB of the same."""
    part, whole = folder / "part.warc.gz", folder / "whole.warc.gz"
    size = make(part, data, 1, most=_TEN_MEGABYTES)
    piece = part.read_bytes()
    with whole.open("wb") as file:
        for _ in range(_GIGABYTE // size + 1):
            file.write(piece)
    lines = ["archives: memory in MB for 10 MB of pages and for 1 GB of the same"]
    for name, command in {
        "rewrite": ["-o", str(folder / "out.warc.gz"), "--date", _DATE],
        "links": ["--parquet", str(folder / "out.parquet")],
    }.items():
        few, many = (
            spent([*_RELBASE, name, str(archive), *command]).memory / 1e6
            for archive in (part, whole)
        )
        lines.append(f"  {name:8} {few:6.0f} {many:6.0f}   {many - few:+.0f}")
    shutil.rmtree(folder, ignore_errors=True)
    return "\n".join(lines)


_ATTRIBUTES: Final = (
    *("href", "src", "action", "formaction", "poster", "cite", "data", "background", "longdesc"),
)
_COLUMNS: Final = ("warc", "page", "element", "attribute", "reference", "url")
_ROWS_AT_ONCE: Final = 20_000


def peer(archive: str, output: str = "") -> None:
    """Write a table of the links of an archive as a program with the fastest tools would.

    Without an output only resolve them: what a table costs is not that of the links.
    """
    if not output:
        for _ in _rows_of_peer(archive):
            pass
        return
    import pyarrow as pa  # this process is a contender
    from pyarrow import parquet

    schema = pa.schema([(name, pa.string()) for name in _COLUMNS])
    with parquet.ParquetWriter(output, schema, compression="zstd") as writer:
        pages = chain(_rows_of_peer(archive), [None])
        rows: list[tuple[str | None, ...]] = []
        for page in pages:
            rows += page or ()
            if rows and (page is None or len(rows) >= _ROWS_AT_ONCE):
                columns = [pa.array(list(column)) for column in zip(*rows, strict=True)]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
                rows.clear()


def _rows_of_peer(archive: str) -> Iterator[list[tuple[str | None, ...]]]:
    from urllib.parse import urljoin

    from fastwarc.warc import ArchiveIterator, WarcRecordType
    from selectolax.lexbor import LexborHTMLParser

    selector = ", ".join(f"[{name}]" for name in _ATTRIBUTES)
    with Path(archive).open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            url = record.headers.get("WARC-Target-URI") or ""
            body = record.reader.read()
            coding = record.http_headers and record.http_headers.get("Content-Encoding")
            if "gzip" in (coding or "") and body[:2] == b"\x1f\x8b":
                body = gzip.decompress(body)
            tree = LexborHTMLParser(body)
            stated = tree.css_first("base[href]")
            base = urljoin(url, stated.attributes["href"] or "") if stated else url
            rows: list[tuple[str | None, ...]] = []
            for node in tree.css(selector):
                attributes = node.attributes
                for name in _ATTRIBUTES:
                    if value := attributes.get(name):
                        with suppress(ValueError):
                            rows.append((archive, url, node.tag, name, value, urljoin(base, value)))
            yield rows


if __name__ == "__main__":
    peer(*sys.argv[1:])
