"""Rule 12: each limit works up to its number, and with one more the rest is left, with a note."""

import re
from itertools import chain
from pathlib import Path
from typing import Any, Final

from rows import cases, filled

from relbase import Result, Status, rewrite

TABLES: Final = Path(__file__).with_name("limits.txt")

_XLINK: Final = b'<b xmlns:xlink="http://www.w3.org/1999/xlink">'
_read: Final = filled(xlink=_XLINK, fields=b"Content-ID: y\n" * 1000)


def both(cell: str) -> list[bytes]:
    """The document of a limit, and that of one more."""
    pieces = re.split(r"\{(\d+)\+\}", cell)
    counts = [[f"{{{int(count) + more}}}" for count in pieces[1::2]] for more in (0, 1)]
    return [_read("".join(chain(*zip(pieces[::2], [*one, ""], strict=True)))) for one in counts]


def results(kind: Any, documents: list[bytes]) -> list[Result]:
    return [rewrite(one, url="http://h.example/d/p", kind=kind) for one in documents]


def summary(result: Result) -> str:
    rewritten = sum(link.status is Status.REWRITTEN for link in result.links)
    return " ".join([str(rewritten), *sorted({note.reason.value for note in result.notes})])


@cases(TABLES, "links", kind=str, documents=both, within=str, beyond=str)
def test_links_up_to_a_limit(kind: str, documents: list[bytes], within: str, beyond: str) -> None:
    assert [summary(one) for one in results(kind, documents)] == [within, beyond]


@cases(TABLES, "notes", kind=str, documents=both, within=str, beyond=str)
def test_notes_up_to_a_limit(kind: str, documents: list[bytes], within: str, beyond: str) -> None:
    found = [f"{one.notes[0].text}$" for one in results(kind, documents)]
    assert [text in note for text, note in zip((within, beyond), found, strict=True)] == [True] * 2
