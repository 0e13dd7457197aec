"""Memory: by how much the peak of a process grows while it rewrites a document, beside the input.

Each is done in a process of its own, which has imported all it needs and rewritten a small document
before the one that is measured. The input itself is not counted: whoever calls holds it.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_URL: Final = "http://example.com/a/page.html"
# ru_maxrss is in KB, but for macOS.
_UNIT: Final = 1 if sys.platform == "darwin" else 1024


class Row(NamedTuple):
    """What is measured: a document, and by whom it is rewritten.

    Args:
        name: for people.
        document: the module and the function that make it, of `--data`.
        ways: the contenders, each a module and a function of `benchmarks` from bytes to bytes.
    """

    name: str
    document: Callable[[Path | None], bytes]
    ways: tuple[str, ...]


def run(data: Path | None, rounds: int) -> Iterator[str]:  # noqa: ARG001 (all have the same)
    """Yield the table."""
    lines = [
        "Memory: peak while rewriting, beyond the input",
        f"  {'':34}  {'MB':>6}  {'x input':>7}",
    ]
    with tempfile.TemporaryDirectory() as directory:
        for name, make, ways in _ROWS:
            path = Path(directory) / "document"
            document = make(data)
            path.write_bytes(document)
            for way in ways:
                used = _used(way, path)
                label = f"{name}, {way.partition('_')[0]}"
                lines.append(f"  {label:34}  {used / 1e6:6.0f}  {used / len(document):7.2f}")
    yield "\n".join(lines)


def _used(way: str, path: Path) -> int:
    code = "import sys; from benchmarks import memory; memory.child(*sys.argv[1:])"
    ran = subprocess.run(
        [sys.executable, "-c", code, way, str(path)], check=True, capture_output=True, text=True
    )
    return int(ran.stdout)


def child(way: str, path: str) -> None:
    """Rewrite a document, and print by how many bytes the peak of this process has grown."""
    document = Path(path).read_bytes()
    rewrite = _ways()[way]
    rewrite(_SMALL[way.partition("_")[2]])
    before = _peak()
    rewrite(document)
    print(_peak() - before)


def _peak() -> int:
    # What Linux says in ru_maxrss may be of the process that this one was forked from.
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text("utf-8").splitlines())
        return int(fields["VmHWM"].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


# ---- the contenders: who, and what is rewritten


def _ways() -> Mapping[str, Callable[[bytes], object]]:
    import lxml.html  # in the process that is measured alone

    import relbase
    from benchmarks import mail, xml

    def by_lxml(page: bytes) -> object:
        tree = lxml.html.fromstring(page)
        tree.make_links_absolute(_URL, handle_failures="ignore")
        return lxml.html.tostring(tree)

    return {
        "relbase_html": lambda page: relbase.rewrite(page, url=_URL, kind="html").data,
        "lxml_html": by_lxml,
        "relbase_xml": lambda feed: relbase.rewrite(feed, url=_URL, kind="xml").data,
        "lxml_xml": xml.feed_by_lxml,
        "relbase_mail": lambda message: relbase.rewrite(message, kind="mail").data,
        "email_mail": mail.by_email,
    }


_SMALL: Final = {
    "html": b"<a href=x>",
    "xml": b"<rss><channel><description>&lt;a href=x&gt;</description></channel></rss>",
    "mail": b"Content-Base: http://h/\nContent-Type: text/html\n"
    b"Content-Transfer-Encoding: base64\n\nPGEgaHJlZj14Pg==\n",
}


def _page(_data: Path | None) -> bytes:
    item = b'<p>Some words. <a href="/a/%d">one</a> <a href="http://h/%d">two</a></p>\n'
    return b"<!doctype html>" + b"".join(item % (number, number) for number in range(130_000))


def _feed(data: Path | None) -> bytes:
    from benchmarks import xml  # as above

    return xml.feed(data)


def _message(data: Path | None) -> bytes:
    from benchmarks import mail

    return mail.message_of(_page(data), "base64")


_ROWS: Final = (
    Row("HTML of 10 MB", _page, ("relbase_html", "lxml_html")),
    Row("a feed of 10 MB", _feed, ("relbase_xml", "lxml_xml")),
    Row("a message of 13 MB", _message, ("relbase_mail", "email_mail")),
)
