"""`python -m tests.slopes [--of CALL,...] [--only TEXT]`: how time and memory of each call grow.

Each generator of a hostile document (those of the tests of growth) goes through each public call
in sizes that double, each in a process of its own, until one takes long enough. The slopes are of
the last four sizes: of time on the log scale, of memory in bytes of what goes in and out. Speed is
that of the greatest size, beside a benign document. What exceeds a bar is measured again.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from math import inf, log
from pathlib import Path
from statistics import linear_regression
from sys import getsizeof
from time import process_time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
_FOLDERS: Final = (".", "support", "mail", "rewriting", "containers")
sys.path[:0] = [str(ROOT / "tests" / name) for name in _FOLDERS]

import lxml.html
import test_json_feed
import test_message_growth
import test_rewriting_xml
import test_warc
from archives import http, record, response
from test_growth import ROWS, URL, numbered

import relbase
from relbase import warc
from relbase.cli import main as command_line
from relbase.trees import make_links_absolute

if TYPE_CHECKING:
    from collections.abc import Callable

    Make = Callable[[int], bytes]

# The greatest slope of time on the log scale; bytes of memory for each in and out; how many times
# slower than a benign document.
BARS: Final = {"time": 1.15, "memory": 6.0, "slower": 20.0}
ATTEMPTS: Final = 3
SIZES: Final = [1 << power for power in range(15, 24)]
# In seconds: which size is the last one; what is noise; and how long one may take.
ENOUGH, NOISE, PATIENCE = 0.12, 0.003, 30
SLACK: Final = 2 << 20  # a slope of memory says nothing of less

_SITE: Final = b"<div class='a'>text, quite much of it <a href='/x/%d'>text</a></div>\n"
_ITEM: Final = b"<item><link>/%d</link><description>&lt;a href='x'&gt;text</description></item>\n"
_JSON: Final = b'{"url":"%d","content_html":"<p>text <a href=x>text</a>"},\n'
_MAIL: Final = test_message_growth.FROM + test_message_growth.HTML + b"\n" + _SITE * 9 % (*[1] * 9,)

# kind: a benign document, and hostile ones.
KINDS: Final[dict[str, tuple[Make, dict[str, Make]]]] = {
    "html": (numbered(_SITE), ROWS),
    "xml": (numbered(_ITEM, b"<rss>", b"</rss>"), test_rewriting_xml.HOSTILE),
    "json": (numbered(_JSON, test_json_feed.HTML[:-17], b"{}]}"), test_json_feed.HOSTILE),
    "mail": (numbered(_MAIL + b"<p>%d\n"), test_message_growth.ROWS),
    "warc": (lambda size: record(1, "resource", _SITE) * (size // 230), test_warc.HOSTILE),
}
_DOCUMENTS: Final = "html xml json mail"
# call: the kinds that it takes.
CALLS: Final = {
    **dict.fromkeys(("rewrite", "links", "base", "explain"), _DOCUMENTS),
    "entities": "mail",
    **dict.fromkeys(("rewrite_response", "make_links_absolute", "conversion", "link_rows"), "html"),
    "pages": "warc",
    "command": f"{_DOCUMENTS} warc",
}


def called(call: str, data: Any, kind: str) -> object:
    match call:
        case "rewrite_response":
            fields = {"Content-Type": "text/html"}
            answer = SimpleNamespace(content=data, url=URL, headers=fields, history=())
            return relbase.rewrite_response(answer)
        case "make_links_absolute":
            return make_links_absolute(data, URL)
        case "conversion" | "link_rows":
            (page,) = warc.pages([response(1, URL, http(data))])
            assert isinstance(page, warc.Page)
            if call == "conversion":
                return warc.conversion(page, date=page.date).record
            return warc.link_rows(page)
        case "pages":
            return warc.pages([data])
        case "command":
            return by_command(data, kind)
    return getattr(relbase, call)(data, url=URL, kind=kind)


def by_command(data: bytes, kind: str) -> bytes:
    with tempfile.TemporaryDirectory() as name:
        given, output = Path(name, "given"), Path(name, "output")
        given.write_bytes(data)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.argv = ["relbase", "rewrite", str(given), "-o", str(output), "--kind", kind]
        sys.argv += ["--url", URL] if kind in {"html", "xml", "json"} else []
        with suppress(SystemExit):
            command_line()
        return output.read_bytes() if output.exists() else b""


def size_of(value: object) -> int:
    """Take what comes out; return its size, of links one by one that of the longest."""
    if isinstance(value, relbase.Result):
        return len(value.data) if value.changed else 0
    if isinstance(value, Iterator):
        texts = ((getattr(one, "reference", ""), getattr(one, "url", "")) for one in value)
        return max((len(reference) + len(url or "") for reference, url in texts), default=0)
    if isinstance(value, list):
        return sum(map(getsizeof, (part for link in value for part in (link, *link[2:5], link[0]))))
    return len(value) if isinstance(value, str | bytes) else 0


class Used(NamedTuple):
    """What a call took: bytes in, bytes in and out, seconds, bytes of memory."""

    given: int
    moved: int
    seconds: float
    memory: int


def _peak() -> int:
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split(None, 1)[0]) << 10


def _tree(document: bytes) -> Any:
    parser = lxml.html.HTMLParser(huge_tree=True)
    return lxml.html.document_fromstring(b"<p>" + document, parser=parser)


def _measure(call: str, kind: str, make: Make, size: int, pipe: Any) -> None:
    read = _tree if call == "make_links_absolute" else bytes
    with suppress(ValueError):
        size_of(called(call, read(make(999)), kind))  # what is loaded once
    signal.alarm(PATIENCE)
    made = make(size)
    document = read(made)
    gc.freeze()
    before, started = _peak(), process_time()
    moved = len(made) + size_of(called(call, document, kind))
    pipe.send(Used(len(made), moved, process_time() - started, _peak() - before))


def measured(call: str, kind: str, make: Make, size: int) -> Used | None:
    """Measure a call in a process of its own; None if it lost patience."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    child = fork.Process(target=_measure, args=(call, kind, make, size, there))
    child.start()
    there.close()
    used: Used | None = None
    with suppress(EOFError):
        used = here.recv()
    child.join()
    assert child.exitcode in {0, -signal.SIGALRM}, (call, kind, size)
    return used


def memory_slope(taken: list[Used]) -> float:
    first, *_, last = taken[-4:]
    grown = last.memory - first.memory
    return grown / max(last.moved - first.moved, 1) if grown > SLACK else 0.0


def slopes(call: str, kind: str, make: Make) -> tuple[float, float, float]:
    """Return the slopes of time and memory, and the speed in bytes per second."""
    taken: list[Used] = []
    for size in SIZES:
        used = measured(call, kind, make, size)
        taken += [] if used is None else [used]
        # What seems to take too much memory may be below a bound that is yet to come.
        if used is None or (
            used.seconds > ENOUGH and len(taken) > 3 and memory_slope(taken) <= BARS["memory"]
        ):
            break
    four = taken[-4:]
    growing = [(log(used.given), log(used.seconds)) for used in four if used.seconds > NOISE]
    has_slope = len(growing) > 2 and growing[0][0] < growing[-1][0]
    time = linear_regression(*zip(*growing, strict=True)).slope if has_slope else 0.0
    return time, memory_slope(taken), four[-1].given / max(four[-1].seconds, NOISE)


def judged(call: str, kind: str, only: str) -> tuple[str, bool]:
    """Return the row of a call and a kind of document, and whether it is within the bars."""
    benign, hostile = KINDS[kind]
    speed = slopes(call, kind, benign)[2]
    worst = dict.fromkeys(BARS, (0.0, ""))
    makers = {name: make for name, make in hostile.items() if only in name}
    for name, make in makers.items():
        found = dict.fromkeys(BARS, inf)
        for _ in range(ATTEMPTS):
            time, memory, fast = slopes(call, kind, make)
            values = zip(BARS, (time, memory, speed / fast), strict=True)
            found |= {bar: min(found[bar], value) for bar, value in values}
            if all(found[bar] <= BARS[bar] for bar in ("time", "memory")):
                break
        for bar in (bar for bar, most in BARS.items() if found[bar] > most):
            print(f"{call} {kind}, {name!r}: {bar} {found[bar]:.2f}", flush=True)
        worst |= {bar: max(worst[bar], (found[bar], name)) for bar in BARS}
    cells = "  ".join(f"{value:6.2f} {name[:22]:22}" for value, name in worst.values())
    is_good = all(worst[bar][0] <= most for bar, most in BARS.items())
    label = f"{call:19} {kind} {len(makers):3} {speed / 1e6:5.0f}"
    return f"{label} {cells}".rstrip(), is_good


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.slopes", description=__doc__)
    parser.add_argument("--of", default=",".join(CALLS), help="calls, by commas")
    parser.add_argument("--only", default="", help="generators whose names have this text")
    arguments = parser.parse_args()
    print(f"{'call':19} kind    rows  MB/s", *(f"{bar:30}" for bar in BARS))
    good = []
    for call in arguments.of.split(","):
        for kind in CALLS[call].split():
            row, is_good = judged(call, kind, arguments.only)
            print(row, flush=True)
            good.append(is_good)
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
