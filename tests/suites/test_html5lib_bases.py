"""A tree builder against relbase: where the base of a document is, and which links it has.

A `<base href>` and links are written after each document of tree-construction, wherever that is:
in raw text, in a comment, in SVG, in a frameset. html5lib (the parser, scripting on) says whether
they become elements. It is older than `<template>`: documents with one are left out.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Final

import html5lib
from test_html5lib_trees import cases

import relbase

if TYPE_CHECKING:
    from pathlib import Path

    from counts import Counts

URL: Final = "http://h.example/d/"
TAIL: Final = '<base href="/added/"><a href="added"><img src="added.png">'

_SELECT: Final = "since 2025 the standard parses what is in a select, and so do browsers"
_FRAMESET: Final = "the frameset removes the body from the tree; what follows stays a tag"
_NOSCRIPT: Final = "links in noscript count (rule 14)"
_BREAKS_OUT: Final = "</p> and </br> end SVG and MathML, which html5lib does not know yet"

# Tests, by file and number, in which relbase sees more.
KNOWN_DIFFERENCES: Final[dict[str, str]] = {
    "noscript01.dat 18": _NOSCRIPT,
    "pending-spec-changes.dat 1": _FRAMESET,
    **dict.fromkeys((f"tests17.dat {number}" for number in range(6, 13)), _SELECT),
    **dict.fromkeys((f"tests19.dat {number}" for number in (28, 29)), _SELECT),
    **dict.fromkeys((f"tests26.dat {number}" for number in range(17, 21)), _BREAKS_OUT),
    **dict.fromkeys((f"webkit02.dat {number}" for number in range(26, 37)), _SELECT),
    **dict.fromkeys((f"webkit02.dat {number}" for number in range(45, 49)), _SELECT),
}

# Whether the first base of the document is the one that was added, and the links added.
Seen = tuple[bool, set[str]]


def theirs(document: str) -> Seen:
    parser = html5lib.HTMLParser(html5lib.getTreeBuilder("etree"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = parser.parse(document, scripting=True)
    elements = [element for element in tree.iter() if isinstance(element.tag, str)]
    bases = [each.get("href") for each in elements if each.tag.endswith("xhtml}base")]
    links = {value for each in elements for value in each.attrib.values()}
    stated = [href for href in bases if href is not None]
    return stated[:1] == ["/added/"], links & {"added", "added.png"}


def ours(document: str) -> Seen:
    data = document.encode("utf-8", "surrogatepass")
    links = relbase.links(data, url=URL, kind="html", charset="utf-8", profile="whatwg")
    references = {link.reference for link in links}
    base = relbase.base(data, url=URL, kind="html", charset="utf-8", profile="whatwg")
    return base.url == "http://h.example/added/", references & {"added", "added.png"}


def test_bases_and_links_are_those_of_the_tree(data: Path, counts: Counts) -> None:
    run = with_base = 0
    differ = {}
    for case in cases(data):
        if "<template" in case.document.lower():
            continue
        document = case.document + TAIL
        want, got = theirs(document), ours(document)
        run += 1
        with_base += want[0]
        if want != got:
            differ[case.name] = (document, want, got)
    assert {name: differ[name] for name in differ.keys() - KNOWN_DIFFERENCES.keys()} == {}
    assert KNOWN_DIFFERENCES.keys() - differ.keys() == set(), "these pass: take them off the list"
    assert run > 600
    assert 500 < with_base < run - 50
    counts("html5lib: base and links of its parser", run, len(differ))
