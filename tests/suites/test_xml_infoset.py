"""Every XML document of other projects: lxml sees the same before and after, but for links."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from counts import Counts
from xml_referee import differences, parsed

import relbase
from relbase.url.resolver import ProfileName

SUFFIXES: Final = frozenset(
    (".xml", ".svg", ".xhtml", ".opf", ".ncx", ".rss", ".atom", ".rdf", ".opml", ".xht")
)
URL: Final = "http://h.example/d/e/feed.xml?q#f"

_UNSUITABLE: Final = (
    "no base to resolve anything on (RFC 1808 §2.3): what is around counts, or none"
)
KNOWN: Final[dict[str, dict[str, str]]] = {
    "rfc1808": {
        "html/feedparser-base/wellformed/base/malformed_base.xml": _UNSUITABLE,
        "html/feedparser-base/wellformed/base/unsafe_base.xml": _UNSUITABLE,
    },
    "rfc3986": {
        "html/feedparser-base/wellformed/base/malformed_base.xml": _UNSUITABLE,
        "html/feedparser-base/wellformed/base/unsafe_base.xml": _UNSUITABLE,
    },
    "whatwg": {"html/feedparser-base/wellformed/base/unsafe_base.xml": _UNSUITABLE},
}
# lxml refuses it for a namespace with a space in it, which XML allows.
LXML_ALONE: Final = frozenset({"xml/rome/rome/src/test/resources/issue137-rss.xml"})
PASSED: Final = frozenset(("xml-unsound", "charset-unsupported"))


def documents(data: Path) -> Iterator[Path]:
    """Yield the documents of a tree that are called XML."""
    for folder in ("xml", "html"):
        yield from (path for path in sorted((data / folder).rglob("*")) if path.suffix in SUFFIXES)


@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
def test_infosets(data: Path, counts: Counts, profile: ProfileName) -> None:
    wrong: dict[str, list[str]] = {}
    run = changed = unsound = 0
    for number, path in enumerate(documents(data)):
        document = path.read_bytes()
        # The profiles differ in what a base is: all documents with one, and a part of the others.
        if profile != "rfc1808" and number % 8 and b"base" not in document:
            continue
        result = relbase.rewrite(document, url=URL, kind="xml", profile=profile)
        # lxml skips no blank line before a declaration; relbase notes such flaws, and goes on.
        start = len(document) - len(document.lstrip(b" \r\n"))
        before = parsed(document[start:])
        run += 1
        changed += result.changed
        name = str(path.relative_to(data))
        if before is None or any(note.reason.value in PASSED for note in result.notes):
            unsound += 1
            if result.changed and name not in LXML_ALONE:
                wrong[name] = ["it is not sound, and changed"]
            continue
        after = parsed(result.data[start:])
        if after is None:
            wrong[name] = ["it can no longer be parsed"]
        elif found := list(differences(before, after, URL, profile)):
            wrong[name] = found[:3]
    known = KNOWN[profile]
    assert {name: found for name, found in wrong.items() if name not in known} == {}
    assert known.keys() <= wrong.keys(), "these pass: take them off the list"
    assert run > (2500 if profile == "rfc1808" else 400)
    assert changed > (700 if profile == "rfc1808" else 100)
    counts("XML: infosets", run - unsound, len(known), "3 profiles")
