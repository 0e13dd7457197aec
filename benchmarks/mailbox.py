"""A mailbox of many senders by the command line: with a URL for each, and compressed.

The processor time and the peak memory of whole processes. The mbox has 100 MB, or what
`RELBASE_MAILBOX_MB` says, in messages of 10 KB from 10,000 senders, each with an URL in the map.
The time of gzip is what `gzip -d` and `gzip -6` take for the input and the output.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.timing import Spent, spent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SENDERS: Final = 10_000
_MESSAGE: Final = """\
From news@s{0}.example Mon Mar  2 10:00:00 2015
Date: Mon, 2 Mar 2015 10:00:00 +0000
From: A newsletter <news@s{0}.example>
To: reader@example.com
Subject: News {1}
Message-ID: <{1}@s{0}.example>
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

"""
_ITEM: Final = (
    """\
<p>Some words of news {0}, which go on for a while and say what there is to =
say. <a href=3D"/news/{1}.html">more</a> <a href=3D"http://h.example/{0}">a=
nd elsewhere</a> <img src=3D"../images/{1}.png" alt=3D"A picture"></p>
"""
    + "Some words more, of which a letter mostly consists, as everybody knows who =\ngets them.\n"
    * 9
)
_ITEMS: Final = 9


def run(data: Path | None, rounds: int) -> Iterator[str]:  # noqa: ARG001 (it makes its own)
    """Yield the table."""
    megabytes = int(os.environ.get("RELBASE_MAILBOX_MB", "100"))
    with tempfile.TemporaryDirectory() as name:
        box, map_ = Path(name, "box.mbox"), Path(name, "map.tsv")
        _write(box, megabytes * 1_000_000)
        map_.write_text(
            "".join(f"news@s{n}.example\thttp://s{n}.example/a/\n" for n in range(_SENDERS))
        )
        yield "\n".join(_lines(box, ["--message-map", str(map_)], min(rounds, 3)))


def _lines(box: Path, mapped: Sequence[str], rounds: int) -> Iterator[str]:
    done = box.with_suffix(".out.mbox")
    url = ["--url", "http://news.example/a/"]
    one = _rewritten(box, done, url, rounds)
    each = _rewritten(box, done, mapped, rounds)
    packed, again = (Path(f"{path}.gz") for path in (box, done))
    gzip = _least(["gzip", "-6", "-k", "-f", str(done)], rounds)
    spent(["gzip", "-6", "-k", str(box)])
    gunzip = _least(["gzip", "-d", "-k", "-f", str(packed)], rounds)
    compressed = _rewritten(packed, again, mapped, rounds)
    yield f"A mailbox of {_SENDERS:,} senders, {box.stat().st_size / 1e6:,.0f} MB: processor time"
    yield f"  {'':34}  {'s':>6}  {'MB':>5}  {'ratio':>5}"
    own = each.seconds + gzip.seconds + gunzip.seconds
    for name, used, peer in (
        ("one --url", one, one.seconds),
        ("--message-map", each, one.seconds),
        ("--message-map, .mbox.gz", compressed, own),
    ):
        memory, ratio = used.memory / 1e6, used.seconds / peer
        yield f"  {name:34}  {used.seconds:6.1f}  {memory:5.0f}  {ratio:5.2f}"
    yield f"  {'--message-map and gzip -d, gzip -6':34}  {own:6.1f}"


def _rewritten(box: Path, output: Path, options: Sequence[str], rounds: int) -> Spent:
    main = [sys.executable, "-c", "from relbase.cli import main; main()", "rewrite", "-q"]
    return _least([*main, str(box), "-o", str(output), *options], rounds, output)


def _least(command: Sequence[str], rounds: int, output: Path | None = None) -> Spent:
    done = []
    for _ in range(rounds):
        if output is not None:
            output.unlink(missing_ok=True)  # what replaces a file is checked first
        done.append(spent(command))
    return min(done)


def _write(path: Path, size: int) -> None:
    with path.open("w", newline="\n") as file:
        number = 0
        while file.tell() < size:
            file.write(_MESSAGE.format(number % _SENDERS, number))
            file.write("".join(_ITEM.format(number, item) for item in range(_ITEMS)) + "\n")
            number += 1
