"""Conversion records: what they hold, that they derive from their input, that others agree."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest
from archives import http, pages_of, record_id, response
from fastwarc.warc import ArchiveIterator, has_valid_block_digest
from warcio.archiveiterator import ArchiveIterator as Warcio

import relbase
from relbase.warc import Page, conversion, pack, warcinfo
from relbase.warc.writing import VERSION

if TYPE_CHECKING:
    from pathlib import Path

DATE: Final = "2026-01-02T03:04:05Z"
BODY: Final = b"<a href=x>\xe9"


def page(body: bytes = BODY, *fields: str, url: str = "http://h/d/") -> Page:
    return pages_of(response(1, url, http(body, *fields)))[0]


def fields_of(record: bytes) -> list[tuple[str, str]]:
    head = record.partition(b"\r\n\r\n")[0].decode("utf-8", "surrogateescape")
    lines = [line.partition(": ") for line in head.split("\r\n")[1:]]
    return [(name, value) for name, _, value in lines]


def converted(of: Page, **more: object) -> bytes:
    record = conversion(of, date=DATE, **more).record  # type: ignore[arg-type]
    assert record is not None
    return record


def test_a_conversion_holds_what_the_rules_say_and_no_more() -> None:
    record = converted(page(BODY, "Content-Type: text/html; charset=ISO-8859-1"))
    fields = dict(fields_of(record))
    digest = fields["WARC-Block-Digest"]
    assert fields == {  # WARC/1.1 §6.8 and §5
        "WARC-Type": "conversion",
        "WARC-Target-URI": "http://h/d/",
        "WARC-Date": DATE,
        "WARC-Record-ID": fields["WARC-Record-ID"],
        "WARC-Refers-To": record_id(1),
        "WARC-Block-Digest": digest,
        "WARC-Payload-Digest": digest,
        "Content-Type": "text/html; charset=ISO-8859-1",
        "Content-Length": str(len(b"<a href=http://h/d/x>\xe9")),
    }
    assert record.endswith(b"\r\n\r\n<a href=http://h/d/x>\xe9\r\n\r\n")


def test_nothing_relative_makes_no_record() -> None:
    assert conversion(page(b"<a href=http://x/>"), date=DATE).record is None


def test_an_id_derives_from_what_went_in() -> None:
    def id_of(**more: object) -> str:
        return dict(fields_of(converted(page(), **more)))["WARC-Record-ID"]

    keep = re.compile("nothing")
    ids = [
        id_of(),
        id_of(profile="whatwg"),
        id_of(policy=relbase.Policy(extended=True)),
        id_of(policy=relbase.Policy(keep=keep)),
        id_of(policy=relbase.Policy(keep=str.isspace)),
    ]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"<urn:uuid:[0-9a-f-]{36}>", one) for one in ids)
    assert id_of() == ids[0]
    source = (
        "from test_writing import *\n"
        "policy = relbase.Policy(keep=re.compile('nothing'))\n"
        "print(dict(fields_of(converted(page(), policy=policy)))['WARC-Record-ID'])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": "7"},
    )
    assert ran.stdout.strip() == ids[3]


@pytest.mark.parametrize(
    ("type_", "expected"),
    [("", "text/html"), ("text/html;\r\n charset=x\tb", "text/html;  charset=x b")],
)
def test_the_type_is_the_transports_on_one_line(type_: str, expected: str) -> None:
    record = converted(page(b"<!doctype html>" + BODY, f"Content-Type: {type_}"))
    assert dict(fields_of(record))["Content-Type"] == expected


@pytest.mark.parametrize("value", ["a\r\nX: y", "a\nX: y", "a\x00b", "a\rX: y"])
def test_no_value_begins_a_line_of_its_own(value: str) -> None:
    record = converted(page()._replace(record_id=value, truncated=value))
    assert "X" not in dict(fields_of(record))
    assert len(record.partition(b"\r\n\r\n")[0].splitlines()) == 11


def test_bytes_that_are_not_utf_8_come_back() -> None:
    record = converted(page(url="http://h/\udce9/"))
    assert b"WARC-Target-URI: http://h/\xe9/\r\n" in record


@pytest.mark.parametrize("url", ["", "x", "h:80/"])
def test_a_target_that_is_not_absolute_is_no_base(url: str) -> None:
    assert conversion(page()._replace(url=url), date=DATE).record is None


@pytest.mark.parametrize("date", ["", "2026-01-02", "2026-01-02T03:04:05", "x\r\n", DATE + "\n"])
def test_a_date_is_as_warc_writes_it(date: str) -> None:
    for make in (lambda: conversion(page(), date=date), lambda: warcinfo("", date=date)):
        with pytest.raises(ValueError, match="2026-01-02T03:04:05Z"):
            make()


@pytest.mark.parametrize("packing", ["", "gz", "zst"])
def test_other_readers_read_what_is_written(packing: str) -> None:
    info, first = warcinfo("x.warc", date=DATE)
    records = [first, converted(page(), info=info), converted(page(b"<img src=y>"))]
    data = b"".join(pack(one, packing) for one in records)  # type: ignore[arg-type]
    others = list(
        ArchiveIterator(io.BytesIO(data), parse_http=False, func_filter=has_valid_block_digest)
    )
    assert [one.headers["WARC-Type"] for one in others] == ["conversion"] * 2
    assert [one.headers.get("WARC-Warcinfo-ID") for one in others] == [info, None]
    again = pages_of(data)
    assert [one.body for one in again] == [b"<a href=http://h/d/x>\xe9", b"<img src=http://h/d/y>"]
    assert [conversion(one, date=DATE).record for one in again] == [None, None]
    if packing != "zst":  # warcio reads none
        found = [one.rec_type for one in Warcio(io.BytesIO(data))]
        assert found == ["warcinfo", "conversion", "conversion"]


def test_warcio_checks_the_digests(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(pack(warcinfo("x", date=DATE)[1]) + pack(converted(page())))
    command = [sys.executable, "-m", "warcio.cli", "check", "-v", str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    assert "digest pass" in ran.stdout


def test_records_name_the_version_of_the_package() -> None:
    assert relbase.__version__ == VERSION
