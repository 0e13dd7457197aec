"""WARC files in a WACZ, or in another ZIP file."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import TYPE_CHECKING

import pytest
from archives import gz, http, pages_of, record, record_id, response
from held import zipped
from running import run

from relbase.storage import open_archive
from relbase.warc import Fault, Page, Trouble, pages
from relbase.warc.work import Job, Part, archive_ends, holds_archives, items, wacz_pages

if TYPE_CHECKING:
    from pathlib import Path

FIRST = [
    record(4, "warcinfo", b"software: x\r\n" * 9),
    response(1, "http://h/a/", http(b"<a href=x>")),
    record(2, "revisit", b"", ("WARC-Refers-To", record_id(1)), ("WARC-Target-URI", "http://h/b/")),
]
SECOND = [response(3, "http://h/c/", http(b"<a href=y>"))]


def wacz(method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("datapackage.json", "{}")
        made.writestr("archive/a.warc.gz", b"".join(map(gz, FIRST)), method)
        made.writestr("indexes/index.cdx", "")
        made.writestr("archive/b.warc", b"".join(SECOND), method)
    return file.getvalue()


@pytest.mark.parametrize("piece", [20, 1 << 18])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_pages_are_those_of_the_archives_in_it(
    method: int, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relbase.warc.work._PIECE", piece)
    found = list(wacz_pages(io.BytesIO(wacz(method))))
    assert [(page.url, page.body) for page in found if isinstance(page, Page)] == [
        ("http://h/a/", b"<a href=x>"),
        ("http://h/b/", b"<a href=x>"),
        ("http://h/c/", b"<a href=y>"),
    ]


def test_an_offset_is_one_in_the_whole_file() -> None:
    data = wacz()
    for page in wacz_pages(io.BytesIO(data)):
        [first, *_] = pages([data[page.offset :]], lambda _: [gz(FIRST[1])])
        assert isinstance(page, Page)
        assert first.record_id == page.record_id


# A name that claims to be UTF-8.
NOT_UTF_8 = zipped([("é.warc", b"")]).replace("é".encode(), b"\xff\xff")


def test_a_name_that_is_not_utf_8_raises_nothing() -> None:
    file = io.BytesIO(NOT_UTF_8)
    assert not holds_archives(file)
    assert archive_ends(file) == []


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"PK\3\4" + bytes(99), "the ZIP file cannot be read"),
        (wacz()[:-30], "the ZIP file cannot be read"),
        (wacz().replace(b".warc", b".txt_"), "the ZIP file contains no WARC file"),
        (wacz(zipfile.ZIP_BZIP2), "archive/a.warc.gz is encrypted or uses an unknown compression"),
        (wacz()[50:], "archive/a.warc.gz lies outside of the ZIP file: not read"),
        (NOT_UTF_8, "the ZIP file cannot be read: 'utf-8' codec can't decode byte 0xff"),
    ],
)
def test_what_is_no_wacz_is_a_fault(data: bytes, text: str) -> None:
    fault, *_ = wacz_pages(io.BytesIO(data))
    assert isinstance(fault, Fault)
    assert (fault.trouble, fault.text[: len(text)]) == (Trouble.DAMAGED, text)


@pytest.mark.parametrize("name", ["crawl.wacz", "crawl.zip"])
def test_commands_read_a_wacz(name: str, tmp_path: Path) -> None:
    path, output = tmp_path / name, tmp_path / "out.warc.gz"
    path.write_bytes(wacz())
    result = run("links", path)
    assert result.exit_code == 0
    assert [line.rpartition(" -> ")[2] for line in result.stdout.splitlines()] == [
        f"http://h/{place} [rewritten]" for place in ("a/x", "b/x", "c/y")
    ]
    assert run("rewrite", path, "-o", output).exit_code == 0
    assert len(pages_of(output)) == 3
    assert len(list(items(Job(open_archive), [Part(str(path))]))) == 3
    for more, why in (
        (("-o", output, "--with-originals"), "the rest of a WACZ is not rebuilt"),
        (("-o", f"{tmp_path}/d/"), "give -o FILE.warc.gz"),
        (("-o", f"{tmp_path}/out.wacz"), "the output is a WARC, not a ZIP file"),
    ):
        result = run("rewrite", path, *more)
        assert (result.exit_code, why in result.stderr) == (3, True)


def test_a_report_has_the_hash_of_the_whole_wacz(tmp_path: Path) -> None:
    path, report = tmp_path / "x.wacz", tmp_path / "report"
    path.write_bytes(wacz())
    with zipfile.ZipFile(path, "a") as made:
        made.writestr("logs/x", bytes(1 << 18))
    run("rewrite", path, "-o", tmp_path / "out.warc.gz", "--report", report)
    row, data = json.loads(report.read_bytes()), path.read_bytes()
    assert row["state"] == "rewritten"
    assert row["size_before"] == len(data)
    assert row["sha256_before"] == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("how", [("links", "--kind", "warc"), ("links",), ("rewrite",)])
def test_a_wacz_is_not_read_from_a_pipe(how: tuple[str, ...]) -> None:
    result = run(*how, stdin=wacz())
    assert (result.exit_code, "give a file, not a pipe" in result.stderr) == (3, True)
    assert not result.stdout_bytes


def test_a_zip_file_of_other_things_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(wacz().replace(b".warc", b".txt_"))
    assert run("rewrite", path).stdout_bytes == path.read_bytes()
