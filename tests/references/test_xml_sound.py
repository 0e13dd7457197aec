"""Whether an XML document is one, where expat has read some of its texts before."""

from __future__ import annotations

import pytest

from relbase.edit import Span
from relbase.references.xml_sound import examine

DOCUMENT = b"<a>\n<b>&lt;p&gt;one</b><c d='e'/><b>two &amp; three</b><b>four</b>\n</a>"
READ = [
    Span(DOCUMENT.index(text), DOCUMENT.index(text) + len(text))
    for text in (b"&lt;p&gt;one", b"two &amp; three", b"four")
]


def test_a_sound_document_is_sound_whatever_was_read() -> None:
    assert examine(DOCUMENT).unsound is None
    for count in range(len(READ) + 1):
        assert examine(DOCUMENT, READ[:count]) == examine(DOCUMENT)
        assert examine(DOCUMENT, READ[count:]) == examine(DOCUMENT)


@pytest.mark.parametrize("written", [b"<", b"&", b"</b>", b"<x>", b"\x01", b"]]>", b"<b d='", b""])
def test_why_and_where_are_the_same_whatever_was_read(written: bytes) -> None:
    """Something is written, or a byte taken away, at every place outside of what was read."""
    told = 0
    for at in range(len(DOCUMENT)):
        if any(start <= at <= end for start, end in READ):
            continue
        broken = DOCUMENT[:at] + written + DOCUMENT[at + (not written) :]
        shift = len(broken) - len(DOCUMENT)
        read = [Span(s, e) if e < at else Span(s + shift, e + shift) for s, e in READ]
        if not all(broken[s - 1 : s] == b">" and broken[e : e + 2] == b"</" for s, e in read):
            continue  # it is not the whole text of an element any more
        why = examine(broken)
        assert examine(broken, read) == why, broken
        told += why.unsound is not None or bool(why.flaws)
    assert told > 20
