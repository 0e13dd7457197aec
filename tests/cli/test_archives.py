"""Web archives on the command line."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from archives import PACKED, gz, http, record, record_id, response, zstd
from pyarrow import parquet
from running import done, run, told

from relbase import pipeline
from relbase.cli import streams, tables
from relbase.warc import Fault, Page, pages, rows, writing

if TYPE_CHECKING:
    from collections.abc import Callable

DATE: Final = "2026-01-02T03:04:05Z"
RECORDS: Final = [
    response(1, "http://h/d/", http(b"<a href=x>")),
    response(2, "http://h/e/", http(b"<a href=http://x/>")),
    response(3, "http://h/f/", http(b"<a href=y>", status="404 No")),
]


@pytest.fixture
def crawl() -> Path:
    path = Path("crawl.warc.gz")
    path.write_bytes(b"".join(map(gz, RECORDS)))
    return path


def made(path: Path) -> list[Page]:
    found = list(pages([path.read_bytes()]))
    assert not any(isinstance(one, Fault) for one in found)
    return [one for one in found if isinstance(one, Page)]


def test_rewrite_writes_conversions(crawl: Path) -> None:
    output = Path("out.warc.gz")
    result = done("rewrite", crawl, "-o", output, "--date", DATE, "-v")
    assert [(page.url, page.body, page.date) for page in made(output)] == [
        ("http://h/d/", b"<a href=http://h/d/x>", DATE)
    ]
    assert result.stderr == f"{crawl}: 3 pages, 1 conversion, links made absolute in 1 place\n"
    assert b"WARC-Filename: out.warc.gz" in gzip.decompress(output.read_bytes())


def test_a_terminal_gets_a_summary(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "is_terminal", lambda **_: True)
    for jobs in ("1", "2"):
        result = run("rewrite", crawl, "-o", "out.warc.gz", "-j", jobs)
        assert result.stderr.endswith(
            f"{crawl}: 3 pages, 1 conversion, links made absolute in 1 place\n"
        )


def test_a_truncated_page_is_converted_only_where_asked_for(crawl: Path) -> None:
    body = gz(b"<a href=x>" + bytes(range(256)))[:60]
    cut = response(4, "http://h/g/", http(body, "Content-Encoding: gzip"))
    crawl.write_bytes(b"".join(map(gz, [*RECORDS, cut])))
    listed = done("links", crawl, "--json")
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    assert [row["payload"] for row in rows] == ["", "", "", "truncated"]
    assert "not all of the page is there, gzip: it breaks off at byte 60 [coding]" in listed.stderr
    output = Path("out.warc.gz")
    result = run("rewrite", crawl, "-o", output)
    assert (result.exit_code, len(made(output))) == (3, 1)
    assert "1 page of which not all is there: not converted: --salvage" in result.stderr
    assert run("rewrite", crawl, "-o", output, "--salvage").exit_code == 0
    salvaged = made(output)[1]
    assert (salvaged.url, salvaged.truncated) == ("http://h/g/", "unspecified")
    assert salvaged.body.startswith(b"<a href=http://h/g/x>")


def test_all_status_converts_what_failed_too(crawl: Path) -> None:
    run("rewrite", crawl, "-o", "out.warc.gz", "--all-status")
    assert [page.url for page in made(Path("out.warc.gz"))] == ["http://h/d/", "http://h/f/"]


@pytest.mark.parametrize("suffix", ["warc", "warc.gz", "warc.zst"])
def test_the_name_of_the_output_says_how_it_is_packed(crawl: Path, suffix: str) -> None:
    output = Path(f"out.{suffix}")
    run("rewrite", crawl, "-o", output, "--date", DATE)
    start = {"warc": b"WARC/1.1", "warc.gz": b"\x1f\x8b", "warc.zst": b"\x28\xb5\x2f\xfd"}[suffix]
    assert output.read_bytes().startswith(start)
    assert len(made(output)) == 1


def test_equal_input_and_date_give_equal_bytes(crawl: Path) -> None:
    command = [sys.executable, "-m", "relbase", "rewrite", str(crawl)]
    env = {"PYTHONPATH": ":".join(sys.path), "SOURCE_DATE_EPOCH": "1767323045"}
    runs = {
        subprocess.run(
            command, capture_output=True, check=True, env={**env, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert runs == {run("rewrite", crawl, "--date", "2026-01-02T03:04:05Z").stdout_bytes}


@pytest.mark.parametrize("packed", PACKED)
def test_originals_follow_as_they_are(packed: str) -> None:
    path = Path(f"in.{packed.replace('one member', 'warc.gz')}")
    path.write_bytes(PACKED[packed](RECORDS))
    output = Path(f"out{path.name.removeprefix('in')}")
    result = run("rewrite", path, "-o", output, "--with-originals")
    assert (result.exit_code, result.stderr) == (0, "")
    assert output.read_bytes().endswith(path.read_bytes())
    assert len(made(output)) == 4


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("-o", "{0}/out.warc", "--with-originals"), "keeps the compression of the input"),
        (("--diff",), "--diff shows no archives"),
    ],
)
def test_what_cannot_be_is_told_with_the_fix(
    crawl: Path, tmp_path: Path, arguments: tuple[str, ...], text: str
) -> None:
    result = run("rewrite", crawl, *(one.format(tmp_path) for one in arguments))
    assert result.exit_code in (2, 3)
    assert text in result.stderr


REVISIT: Final = record(
    9, "revisit", http(b""), ("WARC-Target-URI", "http://h/z/"), ("WARC-Refers-To", record_id(1))
)


def test_what_can_be_read_once_is_not_read_twice(crawl: Path) -> None:
    data = crawl.read_bytes() + gz(REVISIT)
    crawl.write_bytes(data)
    assert "http://h/z/: a/@href: x -> http://h/z/x" in run("links", crawl).stdout
    pipe = Path("pipe")
    os.mkfifo(pipe)
    for arguments, error in (
        (["links"], "1 revisit of payloads that cannot be read once more: give an archive in a"),
        (["rewrite", "--with-originals"], "reads the archive twice: give a file"),
    ):
        for name in ("-", str(pipe)):
            with subprocess.Popen(
                [sys.executable, "-m", "relbase", *arguments, name],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            ) as ran:
                assert ran.stdin is not None
                if name == "-":
                    _, told = ran.communicate(data, timeout=60)
                else:
                    pipe.write_bytes(data)
                    _, told = ran.communicate(timeout=60)
            assert (ran.returncode, error in told.decode()) == (3, True)


@pytest.mark.parametrize("command", ["rewrite", "links", "base"])
def test_options_of_one_document_say_nothing_of_an_archive(command: str, crawl: Path) -> None:
    result = run(command, crawl, "--url", "http://x/", "--charset", "utf-8", "--strict")
    assert result.exit_code == 1
    for option in ("--url", "--charset"):
        assert f"{crawl}: warning: {option} says nothing of an archive" in result.stderr
    assert run(command, crawl, "--strict").stderr == ""


def test_warnings_on_pages_are_shown_counted_or_not_at_all(crawl: Path) -> None:
    said = http(b"<base href=data:x><a href=x>", "Content-Encoding: gzip")
    crawl.write_bytes(b"".join(gz(response(number, "http://h/", said)) for number in range(5)))
    for flags, shown, more in (((), 1, 1), (("-v",), 5, 0), (("-q",), 0, 0)):
        result = run("rewrite", crawl, "-o", "out.warc.gz", "--strict", *flags)
        assert result.exit_code == 1
        for end in ("stands [coding]", "count [base-unsuitable]"):
            assert result.stderr.count(f"{end}\n") == shown
            kind = end.partition(" ")[2]
            assert result.stderr.count(f"4 more warnings like it {kind}; -v shows all") == more


def test_the_report_counts_what_is_in_an_archive(crawl: Path) -> None:
    page = http(b"<base href=data:x><a href=x><a href=http://h/>", "Content-Encoding: gzip")
    crawl.write_bytes(b"".join(gz(response(number, "http://h/", page)) for number in range(5)))
    report = Path("report")
    run("rewrite", crawl, "-o", "out.warc.gz", "--report", report, "-q")
    row = json.loads(report.read_text())
    assert row["notes"] == {"coding": 5, "base-unsuitable": 5}
    assert row["links"] == {"absolute": 10, "rewritten": 5}


def test_an_archive_with_errors_is_not_done(crawl: Path, tmp_path: Path) -> None:
    crawl.write_bytes(crawl.read_bytes()[:-5])
    again = ("--report", tmp_path / "report", "--resume", tmp_path / "report")
    for _ in range(2):
        assert "breaks off" in told(3, "rewrite", crawl, "-o", f"{tmp_path}/out/", *again)
    for row in map(json.loads, (tmp_path / "report").read_text().splitlines()):
        assert (row["state"], row["error"]) == ("rewritten", "1 record cannot be read")


def test_an_output_in_zstandard_without_its_package(
    crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    result = run("rewrite", crawl, "-o", "out.warc.zst")
    assert result.exit_code == 3
    assert result.stderr.endswith("to write .zst: pip install 'relbase[warc]'\n")
    assert "defect" not in result.stderr


@pytest.mark.parametrize("epoch", ["abc", "-1", "9" * 20, "\N{SUPERSCRIPT TWO}"])
def test_an_epoch_that_is_no_time(epoch: str, crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    result = run("rewrite", crawl, "-o", "out.warc.gz")
    assert result.exit_code == 3
    assert "SOURCE_DATE_EPOCH=" in result.stderr
    assert "give seconds since 1970, as 1767323045" in result.stderr
    assert run("rewrite", crawl, "-o", "out.warc.gz", "--date", DATE).exit_code == 0
    Path("page.html").write_bytes(b"<a href=x>")
    assert run("rewrite", "page.html", "--url", "http://h/").exit_code == 0


def test_violations_of_the_grammar(crawl: Path) -> None:
    crawl.write_bytes(gz(response(1, "http://h/d/", http(b"<a href='a b'><a href=ok>"))))
    result = run("links", crawl, "--violations")
    assert result.exit_code == 1
    assert f"{crawl}:0: http://h/d/: a/@href:\na b\n ^\n" in result.stdout
    [row] = map(json.loads, run("links", crawl, "--violations", "--json").stdout.splitlines())
    assert (row["reference"], [one["character"] for one in row["violations"]]) == ("a b", [" "])


def test_a_table_takes_the_place_of_a_table_alone(crawl: Path) -> None:
    before = crawl.read_bytes()
    table, link = Path("x.parquet"), Path("link.parquet")
    other = Path("other.warc.gz")
    other.write_bytes(before)
    link.symlink_to(crawl)
    Path("y.errors.parquet").write_bytes(b"somebody else's")
    for name, why in (
        (crawl, "is the input"),
        (link, "is the input"),
        (other, "is there, and is not a table"),
        (Path("y.parquet"), "is there, and is not a table"),
        ("/dev/null", "is not a regular file"),
    ):
        assert why in told(2, "links", crawl, "--parquet", name)
    assert (crawl.read_bytes(), other.read_bytes()) == (before, before)
    table.touch()
    for _ in range(2):
        assert run("links", crawl, "--parquet", table).exit_code == 0
    assert parquet.read_table(table).num_rows == 3


def test_another_run_in_the_directory_leaves_a_table_alone(crawl: Path, tmp_path: Path) -> None:
    table = tmp_path / "x.parquet"
    left = tmp_path / ".x.parquet.0123456789abcdef.relbase-tmp"  # by a run that was killed
    left.touch()
    with tables.written(str(table)) as made:
        assert made is not None
        assert not left.exists()
        assert run("rewrite", crawl, "-o", tmp_path / "out.warc.gz").exit_code == 0
        made.flush()
    assert parquet.read_table(table).num_rows == 0
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("pack", [bytes, gz])
def test_originals_of_arc_do_not_follow_whatever_its_name(pack: Callable[[bytes], bytes]) -> None:
    page = http(b"<a href=x>")
    line = b"http://h/d/ 1.2.3.4 20080101000000 text/html %d\n" % len(page)
    crawl = Path("crawl")
    crawl.write_bytes(pack(line + page + b"\n"))
    assert run("rewrite", crawl, "-o", "out").exit_code == 0
    assert "ARC and WARC do not mix" in told(3, "rewrite", crawl, "-o", "both", "--with-originals")


@pytest.mark.parametrize("packed", PACKED)
def test_an_archive_is_known_by_its_first_bytes(packed: str) -> None:
    data = PACKED[packed](RECORDS)
    assert "http://h/d/: a/@href: x -> http://h/d/x [rewritten]" in done("links", stdin=data).stdout


def test_kind_warc_says_it_all() -> None:
    path = Path("x")
    path.write_bytes(b"nothing")
    assert "at offset 0: no record begins here [damaged]" in told(
        3, "links", path, "--kind", "warc"
    )


def test_a_cut_archive_fails_and_the_rest_is_done(crawl: Path) -> None:
    whole = b"".join(map(gz, RECORDS))
    cut = crawl.with_name("cut.warc.gz")
    for size in range(len(gz(RECORDS[0])) + 1, len(whole), 7):
        if size == len(b"".join(map(gz, RECORDS[:2]))):
            continue
        cut.write_bytes(whole[:size])
        assert "error: at offset" in told(3, "rewrite", cut, "-o", "out.warc.gz", "--date", DATE)
        assert [page.url for page in made(Path("out.warc.gz"))] == ["http://h/d/"]


def test_links_in_json_are_rows_of_the_table(crawl: Path) -> None:
    rows = [json.loads(line) for line in run("links", crawl, "--json").stdout.splitlines()]
    assert [(row["page"], row["status"], row["url"]) for row in rows] == [
        ("http://h/d/", 200, "http://h/d/x"),
        ("http://h/e/", 200, "http://x/"),
        ("http://h/f/", 404, "http://h/f/y"),
    ]
    assert rows[0]["record_id"] == record_id(1)
    assert rows[0]["warc"] == str(crawl)


def test_parquet_holds_the_links_and_the_errors(crawl: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.warc.zst"
    cut.write_bytes(b"".join(map(zstd, RECORDS))[:-3])
    path = tmp_path / "links.parquet"
    assert run("links", crawl, cut, "--parquet", path).exit_code == 3
    rows = parquet.read_table(path).to_pylist()
    assert [(row["warc"], row["url"]) for row in rows] == [
        (str(crawl), "http://h/d/x"),
        (str(crawl), "http://x/"),
        (str(crawl), "http://h/f/y"),
        (str(cut), "http://h/d/x"),
        (str(cut), "http://x/"),
    ]
    [error] = parquet.read_table(tmp_path / "links.errors.parquet").to_pylist()
    assert (error["warc"], error["trouble"]) == (str(cut), "cut")
    assert not list(tmp_path.glob(".*tmp"))


def test_a_table_has_the_columns_asked_for(crawl: Path) -> None:
    body = b"<a href=//H.example/x><img src='data:image/png;base64,xyz'>"
    crawl.write_bytes(gz(response(1, "http://h/d/", http(body))))
    path = Path("links.parquet")
    result = run("links", crawl, "--parquet", path, "--columns", "host,url", "--no-data-urls")
    assert (result.exit_code, result.stderr) == (0, "")
    assert parquet.read_table(path).to_pylist() == [
        {"host": "h.example", "url": "http://H.example/x"},
        {"host": None, "url": "data:image/png"},
    ]
    statistics = parquet.ParquetFile(path).metadata.row_group(0).column(0)
    assert statistics.is_stats_set


def test_wat_has_the_links_of_a_page_where_jobs_read_them(crawl: Path) -> None:
    body = b"<base href=/b/><link href=s.css><a href=x><img src=y><script src=z></script>"
    crawl.write_bytes(gz(response(1, "http://h/d/", http(body))))
    [told] = map(json.loads, run("links", crawl, "--wat").stdout.splitlines())
    envelope = told["Envelope"]
    assert envelope["WARC-Header-Metadata"]["WARC-Target-URI"] == "http://h/d/"
    message = envelope["Payload-Metadata"]["HTTP-Response-Metadata"]
    assert message["Headers"]["Content-Type"] == "text/html"
    assert message["HTML-Metadata"] == {
        "Head": {
            "Base": "http://h/b/",
            "Link": [{"path": "LINK@/href", "url": "http://h/b/s.css"}],
            "Scripts": [{"path": "SCRIPT@/src", "url": "http://h/b/z"}],
        },
        "Links": [
            {"path": "A@/href", "url": "http://h/b/x"},
            {"path": "IMG@/src", "url": "http://h/b/y"},
        ],
    }


def test_parquet_is_for_archives() -> None:
    Path("page.html").write_bytes(b"<p>")
    assert "--parquet is for those" in told(3, "links", "page.html", "--parquet", "x.parquet")


def test_a_table_that_cannot_be_written_stops_the_run(crawl: Path) -> None:
    assert run("links", crawl, "--parquet", "none/x.parquet").exit_code == 4


def test_base_tells_that_of_each_page(crawl: Path) -> None:
    lines = run("base", crawl).stdout.splitlines()
    assert len(lines) == 3
    assert lines[0].endswith("http://h/d/: http://h/d/ (retrieval URL)")
    first = json.loads(run("base", crawl, "--json").stdout.splitlines()[0])
    assert (first["page"], first["base"]["layer"]) == ("http://h/d/", "retrieval")


def test_check_lists_an_archive_that_would_have_conversions(crawl: Path) -> None:
    result = run("rewrite", crawl, "--check")
    assert (result.exit_code, result.stdout) == (1, f"{crawl}: has pages with relative links\n")


def test_check_lists_an_archive_where_a_placeholder_would_change() -> None:
    path = Path("x.warc")
    flags = ("--check", "--keep-templates", "--profile", "whatwg")
    for page, expected in (
        (b"<a href='a/{{ x }}'>", (1, f"{path}: has pages with relative links\n")),
        (b"<a href='{{x}}'>", (0, "")),
    ):
        path.write_bytes(response(1, "http://h/d/", http(page)))
        result = run("rewrite", path, *flags)
        assert (result.exit_code, result.stdout) == expected


FIXTURES: Final = Path(__file__).parents[2] / "fixtures" / "warc"
# Ids and the first record name the version of relbase.
_named: Final = re.compile(rb"<urn:uuid:(?!0000)[-0-9a-f]{36}>|relbase/\S+").sub


def test_the_archive_of_the_fixtures() -> None:
    output = Path("crawl.expected.warc")
    done("rewrite", FIXTURES / "crawl.warc.gz", "-o", output, "--date", DATE)
    expected = (FIXTURES / output.name).read_bytes()
    assert _named(b"", output.read_bytes()) == _named(b"", expected)
    assert expected.count(b"WARC-Type: conversion") == 3


def test_a_defect_costs_its_page_alone(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(data: bytes, *arguments: Any, **named: Any) -> Any:
            if data == b"<a href=x>":
                raise RuntimeError("oops")
            return function(data, *arguments, **named)

        return called

    monkeypatch.setattr(writing, "rewrite", broken(pipeline.rewrite))
    monkeypatch.setattr(rows, "found_called", broken(pipeline.found_called))
    output = Path("out.warc.gz")
    assert "RuntimeError: oops [defect]" in told(3, "rewrite", crawl, "-o", output, "--all-status")
    assert [page.url for page in made(output)] == ["http://h/f/"]
    listed = run("links", crawl)
    assert listed.exit_code == 3
    assert "oops" in listed.stderr
    assert "http://h/f/y" in listed.stdout


def test_who_waits_at_a_terminal_sees_how_far_it_is(
    crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relbase.cli.files.PIECE", 100)
    crawl.write_bytes(b"".join(map(gz, RECORDS)) * 20)
    times = iter(range(1000))
    monkeypatch.setattr("time.monotonic", lambda: next(times))
    for is_terminal in (True, False):
        monkeypatch.setattr(streams, "is_terminal", lambda *, shown=is_terminal, **_: shown)
        shown = run("links", crawl).stderr
        assert bool(re.search(rf"{crawl}: [1-9]\d* pages, 0.0 MB read", shown)) is is_terminal
        assert bool(shown) is is_terminal
