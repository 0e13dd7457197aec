"""html5lib-tests/tree-construction: the references in the expected trees are those relbase sees.

relbase keeps no tree: what the adoption agency clones is one reference, and foster parents change
the order of the tree, not of the source. So both sides are compared as sets of (namespace, element,
attribute, value), and the elements of SVG and MathML as multisets. Fragments have no document
around them: what the context element decides is not known here, and they are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.references import html, tags
from relbase.view.charrefs import attribute_view

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from counts import Counts

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
    assert {name: differ[name] for name in differ.keys() - ATTRIBUTES_DIFFER.keys()} == {}
    assert ATTRIBUTES_DIFFER.keys() - differ.keys() == set(), "these pass: take them off the list"
    assert len(rows) > 700
    assert sum(bool(want) for _, want, _ in rows) > 40
    counts("html5lib: trees, attributes", len(rows), len(differ))


def test_elements_of_svg_and_mathml_are_those_of_the_tree(data: Path, counts: Counts) -> None:
    rows = [
        (case, sorted(_FOREIGN.findall(case.tree.lower())), foreign_seen(case.document))
        for case in cases(data)
    ]
    differ = {case.name: (case.document, want, got) for case, want, got in rows if want != got}
    assert {name: differ[name] for name in differ.keys() - FOREIGN_DIFFER.keys()} == {}
    assert FOREIGN_DIFFER.keys() - differ.keys() == set(), "these pass: take them off the list"
    assert sum(bool(want) for _, want, _ in rows) > 90
    counts("html5lib: trees, SVG and MathML", len(rows), len(differ))
