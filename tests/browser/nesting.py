"""Foreign content nested with tables, templates and select, as relbase and Chromium read it.

`python tests/browser/nesting.py [--documents 50000] [--seed 1]` makes documents of a grammar, and
compares the namespace of each start tag with what Chromium's DOMParser makes of it. Each tag has a
number in its attribute `n`. A difference is unexplained unless the tree ignores the tag.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator
from typing import Any, Final

import browsing
from served import Site

from relbase.html import tokens

BATCH: Final = 250

# Those that count more often stand twice.
_NAMES: Final = (
    *("svg math g use image a style title desc foreignObject mi mtext mrow annotation-xml",) * 2,
    "div p ul li dl dd h1 h2 form button pre section address center fieldset font mglyph",
    "a b i nobr font span em code u q audio video marquee applet object ruby rt rp label x-y big",
    *("table caption colgroup col tbody thead tfoot tr td th",) * 2,
    "select option optgroup",
    "template br img hr input textarea title style script xmp iframe body html head meta link",
)
_GROUPS: Final = [names.split() for names in _NAMES]
# End tags are mostly those of elements that are open, so that most of them count.
_OPEN: Final = 0.7
_ATTRIBUTES: Final = {
    "annotation-xml": ("", " encoding=text/html", " encoding='application/xhtml+xml'"),
    "font": ("", " color=x", " id=x"),
    "input": ("", " type=hidden"),
    "b": ("", " id=x", " id=y"),
}
# What a tree ignores or moves to elsewhere: it is not there, or is there once for all.
IGNORED: Final = frozenset(
    b"body caption col colgroup form frame frameset head html select tbody td tfoot th thead "
    b"tr".split()
)


class Grammar:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._number = 0

    def document(self) -> str:
        choice, self._number = self._random.choice, 0
        self._open: list[str] = []
        doctype = choice(("", "<!doctype html>"))
        return doctype + "".join(self._piece() for _ in range(self._random.randrange(3, 14)))

    def _piece(self) -> str:
        random_ = self._random
        kind = random_.random()
        name = random_.choice(random_.choice(_GROUPS))
        if kind < 0.04:
            return random_.choice(("x", " ", "<!--c-->", "<![CDATA[x]]>", "\0"))
        if kind < 0.42:
            if self._open and random_.random() < _OPEN:
                name = random_.choice(self._open)
            return f"</{name}>"
        if kind < 0.50:
            return self._start(name) + self._start("style") + self._start("a") + "</style>"
        if kind < 0.62:
            return self._start(random_.choice(("svg", "math")))
        return self._start(name)

    def _start(self, name: str) -> str:
        self._number += 1
        self._open.append(name)
        attributes = self._random.choice(_ATTRIBUTES.get(name, ("",)))
        slash = "/" if self._random.random() < 0.05 else ""
        return f"<{name}{attributes} n={self._number} {slash}>"


def namespaces(document: str) -> tuple[dict[str, tuple[str, bytes]], bool]:
    """Return the namespace of each numbered tag, as relbase reads it; whether it is unsure."""
    text = document.encode()
    found: dict[str, tuple[str, bytes]] = {}
    unsure = False
    for element in tokens.elements(text, 0, len(text)):
        assert isinstance(element, tokens.Element)
        unsure = unsure or element.namespace == tokens.UNSURE
        number = _number.search(text[element.attributes : element.end])
        if number:
            found[number[1].decode()] = (element.namespace, element.name)
    return found, unsure


_number: Final = re.compile(rb" n=(\d+) ")

_SCRIPT: Final = """
const names = {'http://www.w3.org/1999/xhtml': 'html', 'http://www.w3.org/2000/svg': 'svg',
  'http://www.w3.org/1998/Math/MathML': 'math'};
function walk(node, found) {
  for (const child of node.children) {
    const number = child.getAttribute('n');
    if (number) found[number] = names[child.namespaceURI];
    walk(child, found);
    if (child.content instanceof DocumentFragment) walk(child.content, found);
  }
  return found;
}
return arguments[0].map(text => walk(new DOMParser().parseFromString(text, 'text/html'), {}));
"""


def differences(browser: Any, documents: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each document that is read differently, and what differs."""
    for at in range(0, len(documents), BATCH):
        batch = documents[at : at + BATCH]
        for document, shown in zip(batch, browser.execute_script(_SCRIPT, batch), strict=True):
            read, unsure = namespaces(document)
            if unsure:
                continue
            wrong = [
                f"{number}: {shown.get(number)} is read as {read.get(number)}"
                for number in sorted({*read, *shown}, key=int)
                if not _agree(document, shown.get(number), read.get(number))
            ]
            if wrong:
                yield document, "; ".join(wrong)


def _agree(document: str, shown: str | None, read: tuple[str, bytes] | None) -> bool:
    if _columns.search(document):
        return True  # a tree ignores all but columns after a column in a template: relbase does not
    if read is None or shown is not None:
        return read is not None and read[0] == shown
    in_template = read[1] == b"table"
    return read[0] == "html" and (read[1] in IGNORED or ("<template" in document and in_template))


_columns: Final = re.compile("<template.*<col ")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    grammar = Grammar(arguments.seed)
    documents = [grammar.document() for _ in range(arguments.documents)]
    with Site() as site:
        browser = browsing.start(site)
        try:
            found = list(differences(browser, documents))
        finally:
            browser.quit()
    for document, wrong in sorted(found, key=lambda row: len(row[0]))[:15]:
        sys.stdout.write(f"{document!r}\n    {wrong}\n")
    unsure = sum(namespaces(document)[1] for document in documents)
    sys.stdout.write(f"{len(documents)} documents, {unsure} unsure, {len(found)} unexplained\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
