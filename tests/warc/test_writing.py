"""Conversion records: what they hold, that they derive from their input, that others agree."""

from __future__ import annotations

import gzip
import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO, Final

import pytest
from archives import http, pages_of, record_id, response
from extras import needed
from warcio.archiveiterator import ArchiveIterator as Warcio

import relbase
from relbase.version import __version__
from relbase.warc import Fault, Page, Trouble, conversion, link_rows, pack, pages, warcinfo
from relbase.warc.rows import wat
from relbase.warc.work import Job, Part, items

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


def moved(link: relbase.Link) -> str | None:
    return link.url and link.url.replace("//h/", "//new.example/")


def test_a_function_replaces_the_urls_of_a_page() -> None:
    of = page(b"<a href=http://h/x><a href=y><a href=http://o/>")
    record = converted(of, replace=moved)
    assert record.endswith(
        b"<a href=http://new.example/x><a href=http://new.example/d/y><a href=http://o/>\r\n\r\n"
    )
    urls = ["http://new.example/x", "http://new.example/d/y", "http://o/"]
    assert [row.url for row in link_rows(of, replace=moved)] == urls
    # What a function does is known only by its result.
    ids = {
        dict(fields_of(converted(of, **more)))["WARC-Record-ID"]
        for more in ({}, {"replace": moved}, {"replace": lambda _: "http://x/"})
    }
    assert len(ids) == 3


def test_a_function_replaces_urls_in_the_work_of_any_engine(tmp_path: Path) -> None:
    archive = tmp_path / "a.warc"
    archive.write_bytes(response(1, "http://h/d/", http(b"<a href=y>")))

    def opened(path: str) -> BinaryIO:
        return Path(path).open("rb")

    job = Job(opened, replace=moved, packed=True)
    [(_, rows)] = items(job, [Part(str(archive))])
    assert isinstance(rows, list)
    assert [row.url for row in rows] == ["http://new.example/d/y"]
    [(_, made)] = items(job._replace(converts=True, date=DATE), [Part(str(archive))])
    assert isinstance(made, tuple)
    assert isinstance(made[0], bytes)
    assert b"http://new.example/d/y" in gzip.decompress(made[0])


def test_an_id_derives_from_what_went_in() -> None:
    def id_of(**more: object) -> str:
        return dict(fields_of(converted(page(), **more)))["WARC-Record-ID"]

    keep = re.compile("nothing")
    ids = [
        id_of(),
        id_of(profile="whatwg"),
        id_of(policy=relbase.Policy(extended=True)),
        id_of(policy=relbase.Policy(keep=keep)),
        id_of(policy=relbase.Policy(keep=re.compile("nothing", re.IGNORECASE))),
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


FAULT: Final = Fault(0, "", "", Trouble.CUT, "")
PAGE: Final = page()
AT: Final = {"date": DATE}
# (a function, its arguments, the error, what its text says to do)
WRONG: Final[list[tuple[Any, tuple[Any, ...], dict[str, Any], type[Exception], str]]] = [
    (
        conversion,
        (FAULT,),
        AT,
        TypeError,
        "must be a Page, not Fault: skip what is not a Page",
    ),
    (conversion, (PAGE,), {"date": 5}, TypeError, "date must be a str, not int: give one as 2026-"),
    (conversion, (PAGE,), {**AT, "info": ("x", b"")}, TypeError, "not tuple: give the id that"),
    (conversion, (PAGE,), {**AT, "policy": "x"}, TypeError, "policy must be a Policy, not str"),
    (link_rows, (FAULT,), {}, TypeError, "page must be a Page, not Fault"),
    (link_rows, (3,), {}, TypeError, "page must be a Page, not int"),
    (link_rows, (PAGE,), {"profile": "x"}, ValueError, "one of rfc1808"),
    (wat, (FAULT,), {}, TypeError, "page must be a Page, not Fault"),
    (warcinfo, (3,), AT, TypeError, "name must be a str, not int: give the archive's name, or ''"),
    (warcinfo, ("",), {"date": None}, TypeError, "date must be a str, not NoneType"),
    (warcinfo, ("",), {**AT, "policy": 3}, TypeError, "policy must be a Policy, not int"),
    (pack, (b"x", "gzip"), {}, ValueError, "'gzip' is not a packing: give 'gz', 'zst' or ''"),
    (pack, (b"x", None), {}, ValueError, "None is not a packing"),
    (pack, (None,), {}, TypeError, "record must be bytes, not NoneType: give the record of a"),
    (pack, ("x", ""), {}, TypeError, "record must be bytes, not str"),
    (pages, (b"WARC/1.0",), {}, TypeError, r"not bytes: give open\(path, 'rb'\) or \[data\]"),
    (
        pages,
        ("x.warc.gz",),
        {},
        TypeError,
        "a binary file or an iterable of bytes, not str",
    ),
    (pages, (Path("x.warc.gz"),), {}, TypeError, "not PosixPath: give open"),
    (pages, (io.StringIO(),), {}, TypeError, "not StringIO: give open"),
    (pages, (3,), {}, TypeError, "not int: give open"),
]


@pytest.mark.parametrize(("function", "args", "given", "error", "fix"), WRONG)
def test_a_wrong_call_raises_at_once(
    function: Any, args: tuple[Any, ...], given: dict[str, Any], error: type[Exception], fix: str
) -> None:
    with pytest.raises(error, match=fix):
        function(*args, **given)


def test_the_pages_of_an_open_file(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(pack(response(1, "http://h/d/", http(BODY))))
    with path.open("rb") as file:
        assert [one.body for one in pages(file) if isinstance(one, Page)] == [BODY]


@pytest.mark.parametrize("packing", ["", "gz", "zst"])
def test_other_readers_read_what_is_written(packing: str) -> None:
    fastwarc = needed("fastwarc.warc")
    info, first = warcinfo("x.warc", date=DATE)
    records = [first, converted(page(), info=info), converted(page(b"<img src=y>"))]
    data = b"".join(pack(one, packing) for one in records)  # type: ignore[arg-type]
    others = list(
        fastwarc.ArchiveIterator(
            io.BytesIO(data), parse_http=False, func_filter=fastwarc.has_valid_block_digest
        )
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
    assert f"software: relbase/{__version__}\r\n".encode() in warcinfo("x", date=DATE)[1]
    assert relbase.__version__ == __version__
