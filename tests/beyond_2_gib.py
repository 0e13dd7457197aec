"""`python tests/beyond_2_gib.py [--of html,mbox,warc] [--mib 2200] [--in DIRECTORY]`: long inputs.

Each is longer than 2 GiB, so that an offset that is kept in 32 bits would be wrong: a page as a
whole, a mailbox, and a web archive, with a link in each MiB. The command line rewrites each, and
lists its links. The output must be the one that is made beside it, and each link be where it is
said to be. Needs twice as much disk, and for the page as much memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Final, NamedTuple

URL: Final = "http://h.example/"
_MIB: Final = 1 << 20
_FIELDS: Final = b"Content-Type: text/html\nContent-Base: %b\n\n" % URL.encode()
_FROM: Final = b"From a@h.example Thu Jan  1 00:00:00 2026\n"
_HTTP: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
_TEXT: Final = b"<p>text, and more of it, but not a single link to anything</p>\n"
_COUNT: Final = _MIB // len(_TEXT)
_REFERENCE, _RESULT = b"x.html", URL.encode() + b"x.html"


class Form(NamedTuple):
    """How one MiB of an input begins and ends; `%d` is its number."""

    suffix: str
    before: bytes
    after: bytes = b""
    options: tuple[str, ...] = ()

    def pieces(self, count: int, reference: bytes) -> Iterator[bytes]:
        link = b'<a href="%b">\n' % reference
        for number in range(count):
            before = self.before.replace(b"%d", b"%06d" % number)
            yield before + _TEXT * _COUNT + link + self.after


def _record() -> bytes:
    size = len(_HTTP) + len(_TEXT) * _COUNT + len(_REFERENCE) + len('<a href="">\n')
    fields = (
        "WARC/1.1",
        "WARC-Type: response",
        "WARC-Record-ID: <urn:x:%d>",
        "WARC-Date: 2026-01-02T03:04:05Z",
        f"WARC-Target-URI: {URL}",
        "Content-Type: application/http",
    )
    return "\r\n".join([*fields, f"Content-Length: {size}", "", ""]).encode() + _HTTP


FORMS: Final = {
    "html": Form(".html", b"", options=("--url", URL)),
    "mbox": Form(".mbox", _FROM + _FIELDS, b"\n"),
    "warc": Form(".warc", _record(), b"\r\n\r\n"),
}


def _run(*arguments: str) -> Iterator[bytes]:
    """Yield the lines that the command prints; it has to succeed."""
    command = [sys.executable, "-m", "relbase", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        yield from process.stdout
    assert process.returncode == 0, f"{arguments[0]}: exit status {process.returncode}"


def _is_output(path: Path, expected: Iterator[bytes]) -> bool:
    with path.open("rb") as file:
        return all(file.read(len(piece)) == piece for piece in expected) and not file.read(1)


def _links(name: str, path: Path) -> Iterator[bool]:
    """For each relative link that is listed: whether it is there."""
    with path.open("rb") as file:
        for line in _run("links", "--json", str(path), *FORMS[name].options):
            row = json.loads(line)
            if row["reference"] != _REFERENCE.decode():
                continue
            if "offset" in row:
                file.seek(row["offset"])
                record = file.read(2 * _MIB)
                start = record.index(_HTTP) + len(_HTTP)
                yield record.startswith(b"WARC/") and (
                    record[start + row["start"] : start + row["end"]] == _REFERENCE
                )
                continue
            file.seek(row["start"])
            yield file.read(row["end"] - row["start"]) == _REFERENCE


def judged(name: str, count: int, folder: Path) -> bool:
    form = FORMS[name]
    given, output = folder / f"given{form.suffix}", folder / f"output{form.suffix}"
    with given.open("wb") as file:
        file.writelines(form.pieces(count, _REFERENCE))
    size = given.stat().st_size
    for _ in _run("rewrite", str(given), "-o", str(output), *form.options):
        pass
    if name == "warc":  # the output holds the pages as conversions
        with output.open("rb") as file:
            is_right = sum(line.count(_RESULT) for line in file if b"<a" in line) == count
    else:
        is_right = _is_output(output, form.pieces(count, _RESULT))
    output.unlink()
    found = [*_links(name, given)]
    given.unlink()
    are_right = len(found) == count and all(found)
    peak = getrusage(RUSAGE_CHILDREN).ru_maxrss >> 10
    told = f"output {'right' if is_right else 'WRONG'}, {sum(found)} of {count} links right"
    print(f"{name}: {size} bytes, {told}, at most {peak} MiB of memory", flush=True)
    return is_right and are_right


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/beyond_2_gib.py", description=__doc__)
    parser.add_argument("--of", default=",".join(reversed(FORMS)), help="formats, by commas")
    parser.add_argument("--mib", type=int, default=2200, help="how long they are")
    parser.add_argument("--in", dest="folder", help="where they are made")
    own = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=own.folder) as folder:
        results = [judged(name, own.mib, Path(folder)) for name in own.of.split(",")]
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
