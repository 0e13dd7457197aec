"""Archives that `wget --warc-file` makes of a local server: every coding, redirects, lies."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final, NamedTuple

import brotli
import pytest
from archives import zstd
from running import run

from relbase.warc import Fault, Page, pages

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("wget") is None, reason="needs wget")

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
def crawl(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
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
    made = list(pages([path.read_bytes()]))
    assert [one for one in made if isinstance(one, Fault)] == []
    return {one.url.rpartition("/")[2]: one for one in made if isinstance(one, Page)}


def test_every_body_is_what_the_server_had(crawl: tuple[str, Path]) -> None:
    root, path = crawl
    read = found(path)
    assert read.keys() >= KINDS.keys() - {"short"}
    for name, page in read.items():
        assert page.body == BODY, name
        assert page.status == KINDS[name].status
        assert page.url == f"{root}/d/{name}"


@pytest.mark.parametrize("every", [False, True])
def test_conversions_are_whole_and_checked_by_warcio(
    crawl: tuple[str, Path],
    tmp_path: Path,
    every: bool,  # noqa: FBT001
) -> None:
    root, path = crawl
    output = tmp_path / "out.warc.gz"
    result = run("rewrite", path, "-o", output, *(["--all-status"] if every else []))
    # wget may store a body that is shorter than its Content-Length: then it is reported.
    assert result.exit_code == (3 if "short" in found(path) else 0), result.stderr
    made = found(output)
    expected = (
        BODY.replace(b"=x", f"={root}/d/x".encode())
        .replace(b"'../y", f"'{root}/y".encode())
        .replace(b"=/z", f"={root}/z".encode())
    )
    wanted = {name for name, kind in KINDS.items() if every or kind.status == 200}
    assert made.keys() | {"short"} == wanted | {"short"}
    for name, page in made.items():
        assert page.body == expected, name
        assert page.content_type == found(path)[name].content_type
    checked = [sys.executable, "-m", "warcio.cli", "check", str(output)]
    assert subprocess.run(checked, check=False, capture_output=True).returncode == 0
