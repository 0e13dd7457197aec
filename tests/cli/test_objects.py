"""Inputs and outputs in object stores, on a server that is compatible with S3."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from archives import gz, http, record, record_id, response
from running import run, told

from relbase import storage

if TYPE_CHECKING:
    from collections.abc import Iterator

DATE = "2026-01-02T03:04:05Z"
RECORDS = [
    response(1, "http://h/a/", http(b"<a href=x>")),
    record(2, "revisit", b"", ("WARC-Refers-To", record_id(1)), ("WARC-Target-URI", "http://h/b/")),
]


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    """The options of a path to a bucket."""
    server = pytest.importorskip("moto.server", reason="a server of S3: moto")
    fs = pytest.importorskip("pyarrow.fs")
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
    path.write_bytes(b"".join(map(gz, RECORDS)))
    stored, made = f"s3://bucket/x.warc.gz{store}", f"s3://bucket/out.warc.gz{store}"
    put(path, stored)
    listed = run("links", stored)
    assert (listed.exit_code, listed.stderr) == (0, "")
    assert [line.rpartition(" -> ")[2] for line in listed.stdout.splitlines()] == [
        "http://h/a/x [rewritten]",
        "http://h/b/x [rewritten]",
    ]
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
        ("oss://bucket/x.warc.gz", "nothing opens oss://"),
        ("hdfs://h/x.warc.gz", "hdfs:// needs libhdfs"),
        ("s3://bucket/", "names no object: give a name"),
    ],
)
def test_an_output_that_nothing_opens_is_refused(output: str, why: str) -> None:
    path = Path("x.warc.gz")
    path.write_bytes(gz(RECORDS[0]))
    assert why in told(2, "rewrite", path, "-o", output)
    assert run("links", output).exit_code == 3
