"""Web archives on the command line."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import brotli
import pytest
from archives import PACKED, gz, http, record, record_id, response, zstd
from extras import needed
from running import done, run, told

from relbase import storage
from relbase.cli import archives, streams
from relbase.session import run as session_run
from relbase.warc import Fault, Page, pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relbase.session.session import OpenedDocument

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


def test_a_terminal_gets_a_summary(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "is_terminal", lambda **_: True)
    for jobs in ("1", "2"):
        result = run("rewrite", crawl, "-o", "out.warc.gz", "-j", jobs)
        assert result.stderr.endswith(f"{crawl}: 3 pages, 1 conversion, 1 link made absolute\n")


@pytest.mark.parametrize("packed", PACKED)
def test_originals_follow_as_they_are(packed: str) -> None:
    path = Path(f"in.{packed.replace('one member', 'warc.gz')}")
    path.write_bytes(PACKED[packed](RECORDS))
    output = Path(f"out{path.name.removeprefix('in')}")
    result = run("rewrite", path, "-o", output, "--with-originals")
    assert (result.exit_code, result.stderr) == (0, "")
    assert output.read_bytes().endswith(path.read_bytes())
    assert len(made(output)) == 4


def test_an_output_in_zstandard_without_its_package(
    crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    result = run("rewrite", crawl, "-o", "out.warc.zst")
    assert result.exit_code == 3
    assert result.stderr.endswith("to write .zst: pip install 'relbase[warc]'\n")
    assert "defect" not in result.stderr


def test_another_run_in_the_directory_leaves_a_table_alone(crawl: Path, tmp_path: Path) -> None:
    parquet = needed("pyarrow.parquet")
    table = tmp_path / "x.parquet"
    left = tmp_path / ".x.parquet.0123456789abcdef.relbase-tmp"  # by a run that was killed
    left.touch()
    with archives.written(str(table), (), None, data_urls=True):
        assert not left.exists()
        assert run("rewrite", crawl, "-o", tmp_path / "out.warc.gz").exit_code == 0
    assert parquet.read_table(table).num_rows == 0
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("packed", PACKED)
def test_an_archive_is_known_by_its_first_bytes(packed: str) -> None:
    data = PACKED[packed](RECORDS)
    assert "http://h/d/: a/@href: x -> http://h/d/x [rewritten]" in done("links", stdin=data).stdout


def test_a_cut_archive_fails_and_the_rest_is_done(crawl: Path) -> None:
    whole = b"".join(map(gz, RECORDS))
    cut = crawl.with_name("cut.warc.gz")
    for size in range(len(gz(RECORDS[0])) + 1, len(whole), 7):
        if size == len(b"".join(map(gz, RECORDS[:2]))):
            continue
        cut.write_bytes(whole[:size])
        assert "error: at offset" in told(3, "rewrite", cut, "-o", "out.warc.gz", "--date", DATE)
        assert [page.url for page in made(Path("out.warc.gz"))] == ["http://h/d/"]


def test_parquet_holds_the_links_and_the_errors(crawl: Path, tmp_path: Path) -> None:
    parquet = needed("pyarrow.parquet")
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


TEXTS: Final = {"text": "a b", "rel": "next"}


def test_a_table_has_the_columns_asked_for(crawl: Path) -> None:
    parquet = needed("pyarrow.parquet")
    body = b"<a href=//H.example/x rel=next>a <b>b<img src='data:image/png;base64,xyz'></a>"
    crawl.write_bytes(gz(response(1, "http://h/d/", http(body))))
    path = Path("links.parquet")
    result = run("links", crawl, "--parquet", path, "--columns", "host,url", "--no-data-urls")
    assert (result.exit_code, result.stderr) == (0, "")
    assert parquet.read_table(path).to_pylist() == [
        {"host": "h.example", "url": "http://H.example/x"},
        {"host": None, "url": "data:image/png"},
    ]
    assert run("links", crawl, "--parquet", path, "--columns", "url,text,rel").exit_code == 0
    assert parquet.read_table(path).to_pylist()[0] == {"url": "http://H.example/x", **TEXTS}
    assert run("links", crawl, "--parquet", path, "--texts").exit_code == 0
    assert parquet.read_table(path).to_pylist()[0].items() >= TEXTS.items()
    shown = run("links", crawl, "--json", "--texts").stdout.splitlines()[0]
    assert json.loads(shown).items() >= TEXTS.items()


def test_a_column_of_a_table_has_statistics(crawl: Path) -> None:
    parquet = needed("pyarrow.parquet")
    path = Path("links.parquet")
    assert run("links", crawl, "--parquet", path).exit_code == 0
    statistics = parquet.ParquetFile(path).metadata.row_group(0).column(0)
    assert statistics.is_stats_set


def test_a_defect_costs_its_page_alone(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(given: OpenedDocument, **how: bool) -> Any:
            if given.document.data == b"<a href=x>":
                raise RuntimeError("oops")
            return function(given, **how)

        return called

    for name in ("rewrite", "references"):
        real = getattr(session_run, name)
        monkeypatch.setattr(f"relbase.session.run.{name}", broken(real))
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
    monkeypatch.setattr(streams, "_LARGE", 1)
    monkeypatch.setenv("TERM", "xterm")
    crawl.write_bytes(b"".join(map(gz, RECORDS)) * 20)
    for is_terminal, command in [
        (True, ["links"]),
        (True, ["base"]),
        (True, ["rewrite", "-o", "out.warc.gz"]),
        (False, ["links"]),
        (True, ["links", "-q"]),
        (True, ["rewrite", "-o", "out.warc.gz", "-q"]),
    ]:
        monkeypatch.setattr(
            streams, "is_terminal", lambda *, output=False, is_=is_terminal: is_ and not output
        )
        monkeypatch.setattr("click._termui_impl.isatty", lambda _: True)
        shown = run(*command, crawl).stderr
        has_bar = is_terminal and "-q" not in command
        assert bool(re.search(r"1/1 files  \[#+\]  100%", shown)) is has_bar
        assert bool(shown) is has_bar


# ---- object stores: a server that is compatible with S3

STORED: Final = [
    response(1, "http://h/a/", http(b"<a href=x>")),
    record(2, "revisit", b"", ("WARC-Refers-To", record_id(1)), ("WARC-Target-URI", "http://h/b/")),
]


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    """The options of a path to a bucket."""
    server, fs = needed("moto.server"), needed("pyarrow.fs")
    started = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    started.start()
    _, port = started.get_host_and_port()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        os.environ.setdefault(name, "test")
    query = f"?scheme=http&endpoint_override=127.0.0.1:{port}&region=us-east-1"
    filesystem, _ = fs.FileSystem.from_uri(f"s3://bucket/{query}&allow_bucket_creation=true")
    filesystem.create_dir("bucket")
    yield query
    started.stop()


def put(path: Path, url: str) -> None:
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    storage.put(str(copy), url)


def read(url: str) -> bytes:
    with storage.open_archive(url) as file:
        return file.read()


def test_an_object_is_read_and_written_as_a_file(store: str) -> None:
    path, output = Path("x.warc.gz"), Path("out.warc.gz")
    path.write_bytes(b"".join(map(gz, STORED)))
    stored, made = f"s3://bucket/x.warc.gz{store}", f"s3://bucket/out.warc.gz{store}"
    put(path, stored)
    listed = run("links", stored)
    assert (listed.exit_code, listed.stderr) == (0, "")
    assert [line.rpartition(" -> ")[2] for line in listed.stdout.splitlines()] == [
        "http://h/a/x [rewritten]",
        "http://h/b/x [rewritten]",
    ]
    for several in (f"s3://bucket/{store}", f"s3://bucket/x*.gz{store}"):
        assert done("links", several).stdout == listed.stdout
    for one, other in ((path, output), (stored, made)):
        assert run("rewrite", one, "-o", other, "--date", DATE).exit_code == 0
    assert read(made) == output.read_bytes()
    table = f"s3://bucket/links.parquet{store}"
    assert run("links", stored, "--parquet", table).exit_code == 0
    assert read(table)[:4] == read(table.replace("links.p", "links.errors.p"))[:4] == b"PAR1"


def test_an_input_that_is_not_there_has_no_output(store: str) -> None:
    made = f"s3://bucket/none.warc.gz{store}"
    assert run("rewrite", f"s3://bucket/missing.warc.gz{store}", "-o", made).exit_code == 3
    with pytest.raises(FileNotFoundError):
        storage.state_of(made)


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("oss://bucket/x.warc.gz", "cannot open oss://"),
        ("hdfs://h/x.warc.gz", "hdfs:// needs libhdfs"),
        ("s3://bucket/", "names no object: give a name"),
    ],
)
def test_an_output_that_nothing_opens_is_refused(output: str, why: str) -> None:
    needed("pyarrow")
    path = Path("x.warc.gz")
    path.write_bytes(gz(STORED[0]))
    assert why in told(2, "rewrite", path, "-o", output)
    if not output.endswith("/"):  # a prefix would be asked of the store
        assert run("links", output).exit_code == 3


# ---- what `wget --warc-file` makes of a server: every coding, redirects, lies

BODY: Final = b"<!doctype html><title>\xe9</title><a href=x>x</a><img srcset='../y 2x' src=/z>" * 60


class Kind(NamedTuple):
    """How the server answers: with a field, a body as it is sent, a status."""

    field: str = ""
    value: str = ""
    body: bytes = BODY
    status: int = 200
    chunked: bool = False
    short: int = 0  # how many bytes Content-Length promises too many


CODING: Final = "Content-Encoding"
KINDS: Final = {
    "plain": Kind(),
    "gzip": Kind(CODING, "gzip", gzip.compress(BODY)),
    "br": Kind(CODING, "br", brotli.compress(BODY, quality=5)),
    "zstd": Kind(CODING, "zstd", zstd(BODY)),
    "deflate": Kind(CODING, "deflate", zlib.compress(BODY)),
    "raw": Kind(CODING, "deflate", zlib.compress(BODY, wbits=-15)),
    "twice": Kind(CODING, "gzip, gzip", gzip.compress(gzip.compress(BODY))),
    "chunked": Kind(chunked=True),
    "chunked-gzip": Kind(CODING, "gzip", gzip.compress(BODY), chunked=True),
    "liar": Kind(CODING, "gzip"),  # says gzip, and is not
    "label": Kind("Content-Type", "text/html; charset=ISO-8859-1"),
    "location": Kind("Content-Location", "http://other.example/x/"),
    "missing": Kind(status=404),
    "short": Kind(short=500),
    "moved": Kind("Location", "/d/plain", status=301),
    "relative": Kind("Location", "../d/gzip", status=302),
}


class Handler(BaseHTTPRequestHandler):
    """Answers `/d/KIND`."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        kind = KINDS.get(self.path.rpartition("/")[2], KINDS["missing"])
        body, fields = kind.body, {"Content-Type": "text/html", kind.field: kind.value}
        self.send_response(kind.status)
        for name in filter(None, fields):
            self.send_header(name, fields[name])
        if kind.chunked:
            self.send_header("Transfer-Encoding", "chunked")
            pieces = [body[at : at + 999] for at in range(0, len(body), 999)]
            body = b"".join(b"%x;ext=1\r\n%b\r\n" % (len(one), one) for one in pieces)
            body += b"0\r\nX-Trailer: t\r\n\r\n"
        else:
            self.send_header("Content-Length", str(len(body) + kind.short))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = bool(kind.short)


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    if shutil.which("wget") is None:
        pytest.skip("needs wget")
    folder = tmp_path_factory.mktemp("wget")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        root = f"http://127.0.0.1:{server.server_address[1]}"
        urls = "\n".join(f"{root}/d/{kind}" for kind in KINDS)
        command = ["wget", "-q", "--tries=1", "--warc-file", "crawl", "-i", "-", "-O", "out"]
        subprocess.run(command, cwd=folder, input=urls.encode(), check=False, timeout=60)
        server.shutdown()
    return root, folder / "crawl.warc.gz"


def found(path: Path) -> dict[str, Page]:
    return {one.url.rpartition("/")[2]: one for one in made(path)}


def test_every_body_is_what_the_server_had(fetched: tuple[str, Path]) -> None:
    root, path = fetched
    read = found(path)
    assert read.keys() >= KINDS.keys() - {"short"}
    for name, page in read.items():
        assert page.body == BODY, name
        assert page.status == KINDS[name].status
        assert page.url == f"{root}/d/{name}"


@pytest.mark.parametrize("every", [False, True])
def test_conversions_are_whole_and_checked_by_warcio(
    fetched: tuple[str, Path],
    tmp_path: Path,
    every: bool,  # noqa: FBT001
) -> None:
    root, path = fetched
    output = tmp_path / "out.warc.gz"
    result = run("rewrite", path, "-o", output, *(["--all-status"] if every else []))
    # wget may store a body that is shorter than its Content-Length: then it is reported.
    assert result.exit_code == (3 if "short" in found(path) else 0), result.stderr
    converted = found(output)
    expected = (
        BODY.replace(b"=x", f"={root}/d/x".encode())
        .replace(b"'../y", f"'{root}/y".encode())
        .replace(b"=/z", f"={root}/z".encode())
    )
    wanted = {name for name, kind in KINDS.items() if every or kind.status == 200}
    assert converted.keys() | {"short"} == wanted | {"short"}
    for name, page in converted.items():
        assert page.body == expected, name
        assert page.content_type == found(path)[name].content_type
    checked = [sys.executable, "-m", "warcio.cli", "check", str(output)]
    assert subprocess.run(checked, check=False, capture_output=True).returncode == 0
