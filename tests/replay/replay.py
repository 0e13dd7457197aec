"""Conversions replayed by pywb: `python tests/replay/replay.py PYTHON`, a command of its own.

PYTHON is the interpreter of an environment that has pywb (`pip install pywb 'setuptools<80'`) and
is not this one: pywb brings another `brotli`. An archive is made here, converted, given to pywb,
and each page is asked for as it is stored (`id_`): its bytes must be those of the conversion, its
links absolute, its status 200. Exit status 1 says that something differs.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from archives import gz, http, response  # noqa: E402 (the path is set above)

from relbase import Status  # noqa: E402
from relbase import links as links_of  # noqa: E402
from relbase.warc import Page, conversion, pack, pages, warcinfo  # noqa: E402

DATE: Final = "2026-01-02T03:04:05Z"
PAGES: Final = {
    "http://h.example/d/plain": http(b"<a href=x>x</a><img src=/y>"),
    "http://h.example/d/base": http(b"<base href=/q/><a href=x>x</a>"),
    "http://h.example/d/latin": http(
        b"<a href=x>\xe9</a>", "Content-Type: text/html; charset=ISO-8859-1"
    ),
    "http://h.example/d/sheet.css": http(b"a{background:url(x.png)}", "Content-Type: text/css"),
}


def main() -> int:
    scripts = Path(sys.argv[1]).parent
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "made.warc.gz").write_bytes(made())
        subprocess.run([scripts / "wb-manager", "init", "c"], cwd=folder, check=True)
        command: list[str | Path] = [scripts / "wb-manager", "add", "c", "made.warc.gz"]
        subprocess.run(command, cwd=folder, check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen(
            [scripts / "wayback", "-b", "127.0.0.1", "-p", str(port)],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": ""},
        )
        try:
            return replayed(f"http://127.0.0.1:{port}/c")
        finally:
            server.terminate()
            server.wait()


def archive() -> bytes:
    return b"".join(
        gz(response(number, url, message)) for number, (url, message) in enumerate(PAGES.items(), 1)
    )


def made() -> bytes:
    info, record = warcinfo("made.warc.gz", date=DATE)
    records = [record]
    for page in pages([archive()]):
        assert isinstance(page, Page)
        record_ = conversion(page, date=DATE, info=info).record
        assert record_ is not None
        records.append(record_)
    return b"".join(map(pack, records))


def replayed(root: str) -> int:
    wrong = 0
    converted = {page.url: page for page in pages([made()]) if isinstance(page, Page)}
    for url, page in converted.items():
        status, type_, body = asked(f"{root}/20260102030405id_/{url}")
        relative = [
            link.reference
            for link in links_of(body, url=url, headers={"Content-Type": type_})
            if link.status is not Status.ABSOLUTE
        ]
        same = (status, body, relative) == (200, page.body, []) and type_ == page.content_type
        wrong += not same
        print(  # noqa: T201 (its report)
            "same" if same else "DIFFERS", status, type_, url, relative
        )
    return 1 if wrong or len(converted) != len(PAGES) else 0


def asked(url: str) -> tuple[int, str, bytes]:
    """What the replay answers; it takes a while to start."""
    for _ in range(100):
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read()
        except urllib.error.HTTPError as error:
            return error.code, "", error.read()
        except OSError:
            time.sleep(0.3)
    raise SystemExit("pywb does not answer")


if __name__ == "__main__":
    sys.exit(main())
