"""Web archives made by the tests: records, members, and what a server would have sent."""

import gzip
import os
import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import zstandard

from relbase.warc import Page, pages

DATE: Final = "2026-01-02T03:04:05Z"


def record_id(number: int) -> str:
    return f"<urn:uuid:{uuid.UUID(int=number)}>"


def record(
    number: int, type_: str, block: bytes, *more: tuple[str, str], length: str | None = None
) -> bytes:
    """A record of WARC/1.1; `length` may lie."""
    fields = [
        ("WARC-Type", type_),
        ("WARC-Record-ID", record_id(number)),
        ("WARC-Date", DATE),
        *more,
        ("Content-Length", str(len(block)) if length is None else length),
    ]
    head = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"WARC/1.1\r\n{head}\r\n".encode("utf-8", "surrogateescape") + block + b"\r\n\r\n"


def http(body: bytes, *fields: str, status: str = "200 OK") -> bytes:
    """A response; without a Content-Type it is a page."""
    if not any(field.lower().startswith("content-type:") for field in fields):
        fields = ("Content-Type: text/html", *fields)
    return "\r\n".join([f"HTTP/1.1 {status}", *fields, "", ""]).encode() + body


def response(number: int, url: str, message: bytes, *more: tuple[str, str]) -> bytes:
    type_ = ("Content-Type", "application/http; msgtype=response")
    return record(number, "response", message, ("WARC-Target-URI", url), type_, *more)


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def gz(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def pages_of(archive: bytes | str | Path) -> list[Page]:
    data = archive if isinstance(archive, bytes) else Path(archive).read_bytes()
    return [one for one in pages([data]) if isinstance(one, Page)]


# How the records of an archive become its bytes.
PACKED: Final[dict[str, Callable[[Iterable[bytes]], bytes]]] = {
    "warc": b"".join,
    "warc.gz": lambda records: b"".join(map(gz, records)),
    "warc.zst": lambda records: b"".join(map(zstd, records)),
    "one member": lambda records: gz(b"".join(records)),
}


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


def others() -> list[Path]:
    """Other people's archives: all below the directory warc of RELBASE_DATA."""
    folder = Path(os.environ.get("RELBASE_DATA", "/nonexistent")) / "warc"
    pattern = re.compile(r"\.w?arc(\.gz)?(\.bad)?$")
    return sorted(path for path in folder.rglob("*") if pattern.search(path.name))
