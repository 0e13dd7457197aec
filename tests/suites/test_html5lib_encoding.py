"""html5lib-tests/encoding: the charset of a document that states one, or none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from relbase.view.charset import CharsetSource, lookup, sniff

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from counts import Counts

_case: Final = re.compile(rb"#data\n(.*?)\n#encoding\n(.*?)\n", re.DOTALL)


def cases(path: Path) -> Iterator[tuple[int, bytes, str]]:
    """Yield the number, the document and the charset of each case of a file."""
    for number, found in enumerate(_case.finditer(path.read_bytes())):
        yield number, found[1], found[2].decode("ascii").strip().lower()


def charset_of(document: bytes) -> str:
    """Return the charset found, or, where nothing is stated, the default of the suite."""
    found = sniff(document)
    name = found.name if found.source is not CharsetSource.GUESS else "windows-1252"
    return lookup(name) or ""


def test_charsets(data: Path, counts: Counts) -> None:
    run = 0
    for path in sorted((data / "html/html5lib-tests/encoding").glob("*.dat")):
        wrong = []
        for number, document, encoding in cases(path):
            run += 1
            if charset_of(document) != encoding:
                wrong.append(number)
        assert wrong == [], path.name
    assert run > 20
    counts("html5lib: encoding", run, 0)
