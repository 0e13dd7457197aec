"""Documents of other people under labels at random: read as with the right one, or with a note.

Each feed, page and message is labelled with media types and file names that people send for others,
or that say nothing (rule 15), and compared with what the right kind makes of it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import relbase
from relbase.formats.recognition import kind_of_bytes
from relbase.kind import Kind

URL: Final = "http://h.example/d/page"
DOCUMENTS: Final = 1000
LARGEST: Final = 200_000
PLACES: Final = ("xml", "real-pages", "email")
LABELS: Final = (
    *("text/html", "text/html; charset=utf-8", "text/html charset=utf-8", "text/css", "text/xml"),
    *("application/xml", "application/rss+xml", "application/xhtml+xml", "message/rfc822"),
    *("text/x-opml", "application/x-opml", "application/x-xml", "text/rss", "application/rss"),
    *("application/x-rss+xml", "application/atom", "*/*", "unknown/unknown", "text/plain"),
    *("application/unknown", "application/octet-stream", "", "text/", "application/json"),
    *("a.html", "a.htm", "a.php", "a.asp", "a.aspx", "a.jsp", "a.shtml", "a.xml", "a.css", "a.eml"),
)
XHTML: Final = b'xmlns="http://www.w3.org/1999/xhtml"'  # which is HTML and XML: both are right
SAYING_SO: Final = (
    *("kind-mislabelled", "kind-doubtful", "kind-unsupported", "xml-unsound", "json-unsound"),
)


def documents(data: Path) -> Iterator[tuple[bytes, Kind]]:
    """Yield documents whose bytes say what they are: feeds, pages, messages."""
    paths = [path for place in PLACES for path in sorted((data / place).rglob("*"))]
    chosen = random.Random(43)
    chosen.shuffle(paths)
    for path in paths:
        if not path.is_file() or path.stat().st_size > LARGEST:
            continue
        document = path.read_bytes()
        kind = kind_of_bytes(document)
        if relbase.rewrite(document, url=URL, kind=kind).changed:
            yield document, kind


@pytest.mark.long
def test_no_label_changes_a_result_in_silence(data: Path) -> None:
    labels = random.Random(15)
    silent: list[tuple[bytes, str]] = []
    count = noted = 0
    for document, kind in documents(data):
        label = labels.choice(LABELS)
        told: Any = {"name": label} if "." in label else {"headers": {"Content-Type": label}}
        right = relbase.rewrite(document, url=URL, kind=kind)
        result = relbase.rewrite(document, url=URL, **told)
        is_noted = any(note.reason.value in SAYING_SO for note in result.notes)
        noted += is_noted
        as_xml = (
            relbase.rewrite(document, url=URL, kind="xml") if XHTML in document[:2000] else right
        )
        if result.data not in {right.data, as_xml.data} and not is_noted:
            silent.append((document[:60], label))
        count += 1
        if count == DOCUMENTS:
            break
    assert silent == []
    assert count == DOCUMENTS
    assert noted > count // 4
