"""Flaws written into sound documents: the links are those of before, or the document is unchanged.

Each document gets one flaw at a place at random. Only the value that the flaw stands in may come
out otherwise, since it has become another one.
"""

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest
from counts import Counts

import relbase
from relbase import Edit, Result
from relbase.xml import structure
from relbase.xml.well_formed import examine

URL: Final = "http://h.example/d/feed.xml"
FLAWS: Final = (
    *(b"&", b"&x=", b"&nbsp;", b"&colon;", b"&#2;"),
    *(b"\x01", b"\x0c", b"\xe9", b"\xef\xbf\xbe"),
)
MARKUP: Final = (b"<", b">", b"</a>", b"<a>", b"'", b'"', b"]]>", b"-->", b" a='b'", b"\x1b")
BEFORE: Final = (b"\n", b"\xef\xbb\xbf", b"<?xml version='1.0'?>", b"\n<?xml version='1.1'?>")
AFTER: Final = (b"</a>", b"<script src='x'></script>", b"&", b"x", b"<?xml version='1.0'?>")
# At the start, at the end, or anywhere.
PLACES: Final = ((0, BEFORE), (1, AFTER), *6 * ((None, FLAWS),), *2 * ((None, MARKUP),))
DOCUMENTS: Final = 1000
LARGEST: Final = 60_000
SUFFIXES: Final = frozenset((".xml", ".rss", ".atom", ".rdf"))


def rewritten(document: bytes) -> Result:
    return relbase.rewrite(document, url=URL, kind="xml")


def sound(data: Path) -> Iterator[bytes]:
    """Yield well-formed documents in UTF-8 in which what leads to their own host is relative."""
    for path in sorted((data / "xml").rglob("*")):
        if path.suffix not in SUFFIXES or path.stat().st_size > LARGEST:
            continue
        document = path.read_bytes()
        host = re.search(rb"<link>(https?://[^/<]+/)", document)
        relative = document.replace(host[1], b"/") if host else document
        if rewritten(relative).changed and examine(relative)[:2] == (None, ()):
            yield relative


def flawed(document: bytes, choose: random.Random) -> tuple[int, bytes]:
    """Where a flaw is written, and which."""
    where, flaws = choose.choice(PLACES)
    at = choose.randrange(len(document)) if where is None else where * len(document)
    return at, choose.choice(flaws)


def value_around(document: bytes, at: int) -> tuple[int, int]:
    """The tag, with its text, that a place is in."""
    for element in structure.elements(document):
        if isinstance(element, structure.Element) and element.start <= at <= element.text_end:
            return element.start, element.text_end
    return at, at


def moved(edits: Sequence[Edit], by: int, at: int, inside: tuple[int, int]) -> list[Edit]:
    """The edits outside of a value, in offsets of the document with a flaw in it."""
    apart = [edit for edit in edits if not inside[0] <= edit.start <= inside[1]]
    shifts = [by if edit.start >= at else 0 for edit in apart]
    return [
        edit._replace(start=edit.start + shift, end=edit.end + shift)
        for edit, shift in zip(apart, shifts, strict=True)
    ]


@pytest.mark.long
def test_flaws_at_random(data: Path, counts: Counts) -> None:
    choose = random.Random(24)
    documents = list(sound(data))
    left = passed_over = 0
    for number in range(DOCUMENTS):
        document = documents[number % len(documents)]
        at, flaw = flawed(document, choose)
        case = (number, at, flaw)
        broken = document[:at] + flaw + document[at:]
        after = rewritten(broken)
        noted = {note.reason.value for note in after.notes}
        if not after.changed:
            # What is in no known namespace any more has no references.
            statuses = {link.status.value for link in relbase.links(broken, url=URL, kind="xml")}
            is_noted = not noted.isdisjoint(("xml-unsound", "xml-flaw", "charset-unsupported"))
            assert is_noted or statuses <= {"absolute"}, case
            left += 1
        elif "xml-flaw" not in noted:
            assert examine(broken)[:2] == (None, ()), case
        else:
            start, end = value_around(document, at)
            expected = moved(rewritten(document).edits, len(flaw), at, (start, end))
            end += len(flaw)
            assert [e for e in after.edits if not start <= e.start <= end] == expected, case
            assert rewritten(after.data).data == after.data, case
            passed_over += 1
    assert min(left, passed_over) > DOCUMENTS // 8
    counts("XML: flaws at random", passed_over, 0, f"as before the flaw; {left} left unchanged")
