"""Every XML document of other projects: lxml sees the same before and after, but for links."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from counts import Counts
from xml_referee import differences, parsed

import relbase
from relbase.url.profiles import ProfileName

SUFFIXES: Final = frozenset(
    (".xml", ".svg", ".xhtml", ".opf", ".ncx", ".rss", ".atom", ".rdf", ".opml", ".xht")
)
URL: Final = "http://h.example/d/e/feed.xml?q#f"

# lxml refuses it for a namespace with a space in it, which XML allows.
LXML_ALONE: Final = frozenset({"xml/rome/rome/src/test/resources/issue137-rss.xml"})
PASSED: Final = frozenset(("xml-unsound", "charset-unsupported"))


def documents(data: Path) -> Iterator[Path]:
    """Yield the documents of a tree that are called XML."""
    for folder in ("xml", "html"):
        yield from (path for path in sorted((data / folder).rglob("*")) if path.suffix in SUFFIXES)


def flaws(document: bytes, result: relbase.Result, profile: ProfileName) -> list[str] | None:
    """What is not as it should be in a rewritten document; None where nobody can say."""
    # lxml skips no blank line before a declaration; relbase notes such flaws, and goes on.
    start = len(document) - len(document.lstrip(b" \r\n"))
    before, after = parsed(document[start:]), parsed(result.data[start:])
    if before is None or any(note.reason.value in PASSED for note in result.notes):
        return None
    if after is None:
        return ["it can no longer be parsed"]
    return list(differences(before, after, URL, profile))[:3]


@pytest.mark.long
@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
def test_infosets(data: Path, counts: Counts, profile: ProfileName) -> None:
    rows: list[tuple[str, list[str], list[str]]] = []
    changed = unsound = 0
    for number, path in enumerate(documents(data)):
        document = path.read_bytes()
        # The profiles differ in what a base is: all documents with one, and a part of the others.
        if profile != "rfc1808" and number % 8 and b"base" not in document:
            continue
        result = relbase.rewrite(document, url=URL, kind="xml", profile=profile)
        name = str(path.relative_to(data))
        changed += result.changed
        found = flaws(document, result, profile)
        if found is None:
            unsound += 1
            assert not result.changed or name in LXML_ALONE, name
        else:
            rows.append((name, found, []))
    assert len(rows) + unsound > (2500 if profile == "rfc1808" else 400)
    assert changed > (700 if profile == "rfc1808" else 100)
    counts.compare("XML: infosets", rows, least=400, note="3 profiles", variant=profile)
