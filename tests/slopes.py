"""`python -m tests.slopes [--of CALL,...] [--only TEXT] [--pairs]`: how time and memory grow.

Each generator of a hostile document (those of the tests of growth) goes through each public call
in sizes that double, each in a process of its own, until one takes long enough. The slopes are of
the last four sizes: of time on the log scale, of memory in bytes of what goes in and out. Speed, in
bytes that go in and out per second, is that of the greatest size, beside a benign document in the
exact scanner, which reads most hostile ones; it is printed behind that in the compiled one. What
exceeds a bar is measured again. Where a slower scanner takes over as a document grows, the pace has
a step: then the slope is the greater of those before and after it.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import redirect_stderr, suppress
from math import inf, log
from pathlib import Path
from resource import RLIMIT_CPU, RUSAGE_SELF, getrusage, setrlimit
from statistics import linear_regression
from sys import getsizeof
from time import process_time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from unittest.mock import patch

for _name in ("containers", "html", "xml", "mail", "markdown", "support", "."):
    sys.path.insert(0, str(Path(__file__).parent / _name))

import lxml.html
import test_enex
import test_feeds
import test_har
import test_json_ld
import test_maff
import test_markdown_visit
import test_message_growth
import test_warc
import test_webarchive
import test_xml_visit
from archives import DATE, http, record, response
from pairs import KINDS as PAIRED
from pairs import pairs
from test_growth import ROWS, URL, numbered

import relbase
from relbase import warc
from relbase.cli.group import run
from relbase.scan import binding
from relbase.trees import make_links_absolute
from relbase.warc.held import HOLDERS, pages_in

if TYPE_CHECKING:
    from test_growth import Make

# The greatest slope of time on the log scale; bytes of memory for each in and out; how many times
# slower than a benign document in the exact scanner.
BARS: Final = {"time": 1.15, "memory": 6.0, "slower": 20.0}
ATTEMPTS: Final = 3
SIZES: Final = [1 << power for power in range(15, 24)]
MOSTLY: Final = 8  # so many times as long as what does not grow is the least size
# In seconds of processor time: which size is the last one, of four or of three; what is noise;
# and how long one may take.
ENOUGH, PLENTY, NOISE, PATIENCE = 0.12, 1.0, 0.003, 120
AFTER_A_STEP: Final = 3  # as many sizes make a slope
SLACK: Final = 2 << 20  # a slope of memory says nothing of less

_SITE: Final = b"<div class='a'>text, quite much of it <a href='/x/%d'>text</a></div>\n"
_ITEM: Final = b"<item><link>/%d</link><description>&lt;a href='x'&gt;text</description></item>\n"
_JSON: Final = b'{"url":"%d","content_html":"<p>text <a href=x>text</a>"},\n'
_ITEM_OF_LD: Final = b'{"@context":"https://schema.org","@id":"%d","url":"/x"},'
_MARKDOWN: Final = b"# Text %d\n\nText, quite much of it, and a [link](/x/%d) to text.\n\n"
_MAIL: Final = test_message_growth.FROM + test_message_growth.HTML + b"\n" + _SITE * 9 % (*[1] * 9,)

# kind: a benign document, whose name is "", and hostile ones.
KINDS: Final[dict[str, dict[str, Make]]] = {
    "html": {"": numbered(_SITE), **ROWS},
    "xml": {"": numbered(_ITEM, b"<rss>", b"</rss>"), **test_xml_visit.HOSTILE},
    "json": {"": numbered(_JSON, test_feeds.HTML[:-17], b"{}]}"), **test_feeds.HOSTILE},
    "jsonld": {"": numbered(_ITEM_OF_LD, b"[", b"0]"), **test_json_ld.HOSTILE},
    "mail": {"": numbered(_MAIL + b"<p>%d\n"), **test_message_growth.ROWS},
    "markdown": {"": numbered(_MARKDOWN), **test_markdown_visit.HOSTILE},
    "warc": {"": lambda n: record(1, "resource", _SITE) * (n // 230), **test_warc.HOSTILE},
    "har": {"": test_har.HOSTILE["pages"], **test_har.HOSTILE},
    "maff": {"": test_maff.HOSTILE["pages"], **test_maff.HOSTILE},
    "enex": {"": test_enex.HOSTILE["notes"], **test_enex.HOSTILE},
    "webarchive": {"": test_webarchive.HOSTILE["resources"], **test_webarchive.HOSTILE},
}
_PIECE: Final = 1 << 18  # as files are read
HTML: Final = {"Content-Type": "text/html"}
_DOCUMENTS: Final = "html xml json jsonld mail markdown"
# call: the kinds that it takes.
CALLS: Final = {
    **dict.fromkeys(("rewrite", "links", "base", "explain"), _DOCUMENTS),
    "entities": "mail",
    **dict.fromkeys(("rewrite_response", "make_links_absolute", "conversion", "link_rows"), "html"),
    "pages": "warc har webarchive maff enex",
    "command": f"{_DOCUMENTS} warc",
}


def called(call: str, data: Any, kind: str) -> object:
    match call:
        case "rewrite_response":
            return relbase.rewrite_response(
                SimpleNamespace(content=data, url=URL, history=(), headers=HTML)
            )
        case "make_links_absolute":
            return make_links_absolute(data, URL, handle_failures="ignore")
        case "conversion" | "link_rows":
            page: Any = next(warc.pages([response(1, URL, http(data))]))
            rows = call == "link_rows"
            return warc.link_rows(page) if rows else warc.conversion(page, date=DATE).record
        case "pages":
            pieces = [data[at : at + _PIECE] for at in range(0, len(data), _PIECE)]
            if kind not in HOLDERS:
                return warc.pages([data])
            return pages_in(HOLDERS[kind], pieces if HOLDERS[kind].is_streamed else data)
        case "command":
            return by_command(data, kind)
    return getattr(relbase, call)(data, url=URL, kind=kind)


def by_command(data: bytes, kind: str) -> bytes:
    with tempfile.TemporaryDirectory() as name:
        given, output = Path(name, "given"), Path(name, "output")
        given.write_bytes(data)
        url = [] if kind in {"mail", "warc"} else ["--url", URL]
        with Path(os.devnull).open("w") as nowhere, redirect_stderr(nowhere):  # a line a defect
            run(["rewrite", "-q", str(given), "-o", str(output), "--kind", kind, *url])
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


def _tree(page: bytes) -> Any:
    return lxml.html.document_fromstring(b"<p>" + page, lxml.html.HTMLParser(huge_tree=True))


def _measure(call: str, kind: str, name: str, size: int) -> Used:
    make = KINDS[kind][name]
    read = _tree if call == "make_links_absolute" else bytes
    with suppress(ValueError):
        size_of(called(call, read(make(999)), kind))  # what is loaded once
    made = make(size)
    document = read(made)
    gc.freeze()
    with suppress(OSError):  # what was made took more than it is: its peak is forgotten
        Path("/proc/self/clear_refs").write_text("5")
    before, started = getrusage(RUSAGE_SELF).ru_maxrss, process_time()
    moved = len(made) + size_of(called(call, document, kind))
    grown = getrusage(RUSAGE_SELF).ru_maxrss - before
    return Used(len(made), moved, process_time() - started, grown << 10)


def measured(call: str, kind: str, name: str, size: int) -> Used | None:
    """Measure a call in a process of its own; None if it lost patience, of processor time."""
    context, limit = multiprocessing.get_context("fork"), (PATIENCE, PATIENCE)
    with (
        ProcessPoolExecutor(1, context, initializer=setrlimit, initargs=(RLIMIT_CPU, limit)) as one,
        suppress(BrokenProcessPool),
    ):
        return one.submit(_measure, call, kind, name, size).result()
    return None


def memory_slope(taken: list[Used]) -> float:
    first, *_, last = taken[-4:]
    grown = last.memory - first.memory
    return grown / max(last.moved - first.moved, 1) if grown > SLACK else 0.0


def time_slope(taken: list[Used]) -> float:
    growing = [(log(one.given), log(one.seconds)) for one in taken[-4:] if one.seconds > NOISE]
    has_slope = len(growing) > 2 and growing[0][0] < growing[-1][0]
    return linear_regression(*zip(*growing, strict=True)).slope if has_slope else 0.0


def grown(call: str, kind: str, name: str) -> list[Used]:
    taken: list[Used] = []
    # What does not grow is little of a document.
    sizes = (size for size in SIZES if size >= MOSTLY * len(KINDS[kind][name](1)))
    for size in sizes:
        used = measured(call, kind, name, size)
        if used is None:
            break
        taken.append(used)
        if used.seconds <= ENOUGH or len(taken) < (3 if used.seconds > PLENTY else 4):
            continue
        # What seems to take too much memory may be below a bound that is yet to come.
        if memory_slope(taken) <= BARS["memory"]:
            break
    return taken


def slopes(call: str, kind: str, name: str) -> tuple[float, float, float]:
    """Return the slopes of time and memory, and the speed in bytes per second."""
    taken = grown(call, kind, name)
    if len(taken) < 2:
        return inf, inf, 1.0
    time, last = time_slope(taken), taken[-1]
    if time > BARS["time"]:
        time = min(time, slope_beside_a_step(call, kind, name, taken))
    return time, memory_slope(taken), last.moved / max(last.seconds, NOISE)


def slope_beside_a_step(call: str, kind: str, name: str, taken: list[Used]) -> float:
    """Return the slope before or after the one step in the pace, the greater of both."""
    for _ in range(AFTER_A_STEP + 1):
        paces = [one.seconds / one.given for one in taken]
        step = max(range(1, len(paces)), key=lambda at: paces[at] / paces[at - 1])
        if len(taken) - step >= AFTER_A_STEP:
            return max(map(time_slope, (taken[:step], taken[step:])))
        used = measured(call, kind, name, taken[-1].given * 2)
        if used is None:
            break
        taken = [*taken, used]
    return inf


def judged(call: str, kind: str, only: str) -> bool:
    """Print the row of a call and a kind of document; return whether it is within the bars."""
    names = [name for name in KINDS[kind] if name and only in name]
    if not names:
        return True
    # These read little of a benign document: no pace to compare with.
    paced = "rewrite" if call in {"base", "entities"} else call
    compiled = slopes(paced, kind, "")[2]
    with patch.object(binding, "compiled", None):
        benign = slopes(paced, kind, "")[2]
    worst, is_good = dict.fromkeys(BARS, (0.0, "")), True
    for name in names:
        found = (inf, inf, inf)
        for _ in range(ATTEMPTS):
            time, memory, speed = slopes(call, kind, name)
            found = (min(found[0], time), min(found[1], memory), min(found[2], benign / speed))
            if found[0] <= BARS["time"] and found[1] <= BARS["memory"]:
                break
        for value, (bar, most) in zip(found, BARS.items(), strict=True):
            worst[bar] = max(worst[bar], (value, name))
            if value > most:
                is_good = False
                print(f"{call} {kind}, {name!r}: {bar} {value:.2f}", flush=True)
    cells = "  ".join(f"{value:6.2f} {name[:22]:22}" for value, name in worst.values())
    speeds = f"{compiled / 1e6:5.0f} {benign / 1e6:5.1f}"
    print(f"{call:19} {kind} {len(names):3} {speeds} {cells}".rstrip(), flush=True)
    return is_good


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.slopes", description=__doc__)
    parser.add_argument("--of", default=",".join(CALLS), help="calls, by commas")
    parser.add_argument("--only", default="", help="generators whose names have this text")
    parser.add_argument("--pairs", action="store_true", help="documents in two dimensions instead")
    arguments = parser.parse_args()
    if arguments.pairs:
        for kind, makers in KINDS.items():
            KINDS[kind] = {"": makers[""], **(pairs(kind, numbered) if kind in PAIRED else {})}
    print(f"{'call':19} kind    rows  MB/s exact", *(f"{bar:30}" for bar in BARS))
    calls = [(call, kind) for call in arguments.of.split(",") for kind in CALLS[call].split()]
    return int(0 in [judged(*call, arguments.only) for call in calls])


if __name__ == "__main__":
    sys.exit(main())
