"""html5lib-tests/tree-construction: the references in the expected trees are those relbase sees.

relbase keeps no tree: what the adoption agency clones is one reference, and foster parents change
the order of the tree, not of the source. So both sides are compared as sets of (namespace, element,
attribute, value), and the elements of SVG and MathML as multisets. Fragments have no document
around them: what the context element decides is not known here, and they are left out.
"""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import html5lib
from counts import Counts
from tables import assert_known

import relbase
from relbase.references import html, tags
from relbase.view.charrefs import attribute_view

Seen = tuple[str, str, str, str]


class Case(NamedTuple):
    """One test: its file and number, the document, and the tree of it."""

    name: str
    document: str
    tree: str


_IGNORED: Final = "a tag that the tree builder ignores is a tag all the same"
_FRAMESET: Final = "the frameset removes the body from the tree, with what is in it"

# Tests whose attributes differ, with the reason.
ATTRIBUTES_DIFFER: Final = {
    "ark.dat 1": "a script changes the attribute",
    "noscript01.dat 13": _IGNORED,
    "noscript01.dat 14": "noscript does not nest (rule 14)",
    "pending-spec-changes.dat 1": _FRAMESET,
    "template.dat 64": _IGNORED,
    "template.dat 65": _IGNORED,
    "template.dat 66": _IGNORED,
    "template.dat 67": _IGNORED,
}

# Tests whose elements of SVG and MathML differ, with the reason.
FOREIGN_DIFFER: Final = {
    "tests19.dat 73": _FRAMESET,
    "tests19.dat 74": _FRAMESET,
    "tests19.dat 75": _FRAMESET,
    "tests19.dat 77": _FRAMESET,
}


def cases(data: Path) -> Iterator[Case]:
    """Yield the tests of whole documents."""
    for path in sorted((data / "html/html5lib-tests/tree-construction").rglob("*.dat")):
        tests = re.split(r"(?:\A|\n\n)#data\n", path.read_bytes().decode())
        for number, test in enumerate(tests[1:], 1):
            document, _, rest = test.partition("\n#errors\n")
            if test.startswith("#errors\n"):
                document, rest = "", test
            head, _, tree = rest.partition("#document\n")
            if "#document-fragment" not in head:
                yield Case(f"{path.name} {number}", document, tree)


# An element, an attribute or a text:  | <svg a>   |   href="x"   |   "text"
_LINE: Final = re.compile(r"\| ( *)(.*)")


def expected(tree: str) -> Iterator[Seen]:
    """Yield the attributes of a tree with the element they are on."""
    element = ("", "")
    for line in tree.rstrip("\n").split("\n"):
        found = _LINE.fullmatch(line)
        if not found:
            continue  # goes on with a text that has a newline
        rest = found[2]
        if rest.startswith(('"', "<!")):
            continue
        if rest.startswith("<"):
            namespace, _, name = rest[1:-1].rpartition(" ")
            element = (namespace or "html", name.lower())
        elif "=" in rest:
            name, _, value = rest.partition("=")
            yield (*element, name.lower().replace(" ", ":"), value[1:-1])


def seen(document: str) -> Iterator[Seen]:
    """Yield the attributes that relbase sees, with the element they are on."""
    text = document.encode("utf-8", "surrogatepass")
    for element in html.elements(text, 0, len(text)):
        assert isinstance(element, html.Element)
        name = {b"image": b"img"}.get(element.name, element.name)
        name = element.name if element.namespace != "html" else name
        for attribute in tags.attributes(text, element.attributes, element.end):
            raw = text[attribute.start : attribute.end]
            inner = attribute_view(raw, attribute.quote or b"", "utf-8").inner
            yield (
                element.namespace,
                name.decode("utf-8"),
                attribute.name.decode("utf-8").replace("\0", "\ufffd"),
                inner.decode("utf-8", "surrogatepass"),
            )


_FOREIGN: Final = re.compile(r"^\| *<((?:svg|math) [^>]+)>$", re.MULTILINE)


def foreign_seen(document: str) -> list[str]:
    """Return the elements of SVG and MathML that relbase sees."""
    text = document.encode("utf-8", "surrogatepass")
    return sorted(
        f"{element.namespace} {element.name.decode()}"
        for element in html.elements(text, 0, len(text))
        if isinstance(element, html.Element) and element.namespace != "html"
    )


def test_attributes_are_those_of_the_tree(data: Path, counts: Counts) -> None:
    rows = [(case, set(expected(case.tree)), set(seen(case.document))) for case in cases(data)]
    differ = {case.name: (case.document, want, got) for case, want, got in rows if want != got}
    assert_known(differ, ATTRIBUTES_DIFFER)
    assert len(rows) > 700
    assert sum(bool(want) for _, want, _ in rows) > 40
    counts("html5lib: trees, attributes", len(rows), len(differ))


def test_elements_of_svg_and_mathml_are_those_of_the_tree(data: Path, counts: Counts) -> None:
    rows = [
        (case, sorted(_FOREIGN.findall(case.tree.lower())), foreign_seen(case.document))
        for case in cases(data)
    ]
    differ = {case.name: (case.document, want, got) for case, want, got in rows if want != got}
    assert_known(differ, FOREIGN_DIFFER)
    assert sum(bool(want) for _, want, _ in rows) > 90
    counts("html5lib: trees, SVG and MathML", len(rows), len(differ))


# ---- A tree builder: where the base of a document is, and which links it has
#
# A `<base href>` and links are written after each document, wherever that is: in raw text, in a
# comment, in SVG, in a frameset. html5lib (the parser, scripting on) says whether they become
# elements. It is older than `<template>`: documents with one are left out.

URL: Final = "http://h.example/d/"
TAIL: Final = '<base href="/added/"><a href="added"><img src="added.png">'

_SELECT: Final = "since 2025 the standard parses what is in a select, and so do browsers"
_STAYS_A_TAG: Final = "the frameset removes the body from the tree; what follows stays a tag"
_NOSCRIPT: Final = "links in noscript count (rule 14)"
_BREAKS_OUT: Final = "</p> and </br> end SVG and MathML, which html5lib does not know yet"

# Tests, by file and number, in which relbase sees more.
KNOWN_DIFFERENCES: Final[dict[str, str]] = {
    "noscript01.dat 18": _NOSCRIPT,
    "pending-spec-changes.dat 1": _STAYS_A_TAG,
    **dict.fromkeys((f"tests17.dat {number}" for number in range(6, 13)), _SELECT),
    **dict.fromkeys((f"tests19.dat {number}" for number in (28, 29)), _SELECT),
    **dict.fromkeys((f"tests26.dat {number}" for number in range(17, 21)), _BREAKS_OUT),
    **dict.fromkeys((f"webkit02.dat {number}" for number in range(26, 37)), _SELECT),
    **dict.fromkeys((f"webkit02.dat {number}" for number in range(45, 49)), _SELECT),
}

# Whether the first base of the document is the one that was added, and the links added.
BaseAndLinks = tuple[bool, set[str]]


def theirs(document: str) -> BaseAndLinks:
    parser = html5lib.HTMLParser(html5lib.getTreeBuilder("etree"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = parser.parse(document, scripting=True)
    elements = [element for element in tree.iter() if isinstance(element.tag, str)]
    bases = [each.get("href") for each in elements if each.tag.endswith("xhtml}base")]
    links = {value for each in elements for value in each.attrib.values()}
    stated = [href for href in bases if href is not None]
    return stated[:1] == ["/added/"], links & {"added", "added.png"}


def ours(document: str) -> BaseAndLinks:
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
    assert_known(differ, KNOWN_DIFFERENCES)
    assert run > 600
    assert 500 < with_base < run - 50
    counts("html5lib: base and links of its parser", run, len(differ))
