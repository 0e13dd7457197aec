"""html5lib-tests: the tags, trees and charsets that it expects are those that relbase's spans have.

relbase has no tokenizer that could be put into a state; the element that leads to the state is
written in front of the input. It yields no text, comments and end tags, so only start tags count,
but all of them: an input that has none must have none here either.

It keeps no tree either: what the adoption agency clones is one reference, and foster parents change
the order of the tree, not of the source. So trees are compared as sets of (namespace, element,
attribute, value), and the elements of SVG and MathML as multisets. Fragments have no document
around them: what the context element decides is not known here, and they are left out.
"""

import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import html5lib
from counts import Counts

import relbase
from relbase.html import tags, tokens
from relbase.view.charrefs import attribute_view
from relbase.view.charset import CharsetSource, lookup, sniff

FOLDER: Final = "html/html5lib-tests"


class Seen(NamedTuple):
    """A start tag, as relbase sees it."""

    start: int
    namespace: str
    name: str
    attributes: list[tuple[str, str]]


def seen(document: str) -> Iterator[Seen]:
    text = document.encode("utf-8", "surrogatepass")
    for element in tokens.elements(text, 0, len(text)):
        if isinstance(element, tokens.Element):
            attributes = []
            for attribute in tags.attributes(text, element.attributes, element.end).values():
                raw = text[attribute.start : attribute.end]
                inner = attribute_view(raw, attribute.quote or b"", "utf-8").inner
                attributes.append((_name(attribute.name), inner.decode("utf-8", "surrogatepass")))
            yield Seen(element.start, element.namespace, _name(element.name), attributes)


def _name(name: bytes) -> str:
    return name.decode("utf-8", "surrogatepass").replace("\0", "\ufffd")


# ---- tokenizer

# The element that leads to a state, where the test does not name one (`lastStartTag`).
ELEMENTS: Final = {
    "Data state": "",
    "RCDATA state": "<title>",
    "RAWTEXT state": "<style>",
    "Script data state": "<script>",
    "PLAINTEXT state": "<plaintext>",
    "CDATA section state": "<svg><![CDATA[",
}


def tokenized(data: Path) -> Iterator[tuple[str, object, list[Any]]]:
    """Yield every test in each of its initial states, the start tags seen, and those expected."""
    for path in sorted((data / FOLDER / "tokenizer").glob("*.test")):
        tables = json.loads(path.read_text("utf-8"))
        for test in tables.get("tests", tables.get("xmlViolationTests", [])):
            text, output = test["input"], test["output"]
            if test.get("doubleEscaped"):
                text, output = _unescaped(text), _unescaped(output)
            expected = [(token[1], token[2]) for token in output if token[0] == "StartTag"]
            for state in test.get("initialStates", ["Data state"]):
                prefix = ELEMENTS[state]
                if prefix and "lastStartTag" in test:
                    prefix = f"<{test['lastStartTag']}>"
                found = [tag for tag in seen(prefix + text) if tag.start >= len(prefix)]
                tags_ = [(tag.name, dict(tag.attributes)) for tag in found]
                yield f"{path.name}, {test['description']}, {state}", tags_, expected


def _unescaped(value: Any) -> Any:
    r"""Resolve the `\uXXXX` of a test that is marked as `doubleEscaped`."""
    if isinstance(value, str):
        return re.sub(r"\\u([0-9A-Fa-f]{4})", lambda found: chr(int(found[1], 16)), value)
    if isinstance(value, list):
        return [_unescaped(item) for item in value]
    if isinstance(value, dict):
        return {_unescaped(key): _unescaped(item) for key, item in value.items()}
    return value


def test_start_tags_are_those_of_the_tokenizer(data: Path, counts: Counts) -> None:
    rows = list(tokenized(data))
    assert sum(bool(expected) for _, _, expected in rows) > 50
    states = {case.rpartition(", ")[2] for case, *_ in rows}
    assert states >= {"Data state", "RCDATA state", "RAWTEXT state", "PLAINTEXT state"}
    counts.compare("html5lib: tokenizer", rows, least=4001)


def test_character_references(data: Path, counts: Counts) -> None:
    """The values of attributes, and references alone, which mean the same in a value as in text."""
    run = 0
    for path in sorted((data / FOLDER / "tokenizer").glob("*.test")):
        for test in json.loads(path.read_text("utf-8")).get("tests", []):
            source, output = test["input"], test["output"]
            value = re.fullmatch(r"<h a=(['\"]?)([^'\">]*)\1>", source)
            if value and output and output[0][0] == "StartTag" and "doubleEscaped" not in test:
                view = attribute_view(value[2].encode(), value[1].encode(), "utf-8")
                assert view.inner.decode() == output[0][2]["a"], test["description"]
                run += 1
            elif re.fullmatch(r"&#?[0-9A-Za-z]+;", source) and output[0][0] == "Character":
                view = attribute_view(source.encode(), b'"', "utf-8")
                # In text a name may also be matched in part.
                if view.inner.decode() != source:
                    assert [["Character", view.inner.decode()]] == output, test["description"]
                    run += 1
    assert run > 2000
    counts("html5lib: character references", run, 0)


# ---- encoding: the charset of a document that states one, or none

_case: Final = re.compile(rb"#data\n(.*?)\n#encoding\n(.*?)\n", re.DOTALL)


def charset_of(document: bytes) -> str:
    """Return the charset found, or, where nothing is stated, the default of the suite."""
    found = sniff(document)
    name = found.name if found.source is not CharsetSource.GUESS else "windows-1252"
    return lookup(name) or ""


def test_charsets(data: Path, counts: Counts) -> None:
    rows = (
        (f"{path.name} {number}", charset_of(found[1]), found[2].decode("ascii").strip().lower())
        for path in sorted((data / FOLDER / "encoding").glob("*.dat"))
        for number, found in enumerate(_case.finditer(path.read_bytes()))
    )
    counts.compare("html5lib: encoding", rows, least=21)


# ---- tree-construction


class Case(NamedTuple):
    """One test: its file and number, the document, and the tree of it."""

    name: str
    document: str
    tree: str


def cases(data: Path) -> Iterator[Case]:
    """Yield the tests of whole documents."""
    for path in sorted((data / FOLDER / "tree-construction").rglob("*.dat")):
        tests = re.split(r"(?:\A|\n\n)#data\n", path.read_bytes().decode())
        for number, test in enumerate(tests[1:], 1):
            document, _, rest = test.partition("\n#errors\n")
            if test.startswith("#errors\n"):
                document, rest = "", test
            head, _, tree = rest.partition("#document\n")
            if "#document-fragment" not in head:
                yield Case(f"{path.name} {number}", document, tree)


Attribute = tuple[str, str, str, str]

# An element, an attribute or a text:  | <svg a>   |   href="x"   |   "text"
_LINE: Final = re.compile(r"\| ( *)(.*)")


def expected_attributes(tree: str) -> Iterator[Attribute]:
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


def seen_attributes(document: str) -> Iterator[Attribute]:
    """Yield the attributes that relbase sees, with the element they are on."""
    for _, namespace, name, attributes in seen(document):
        element = "img" if (namespace, name) == ("html", "image") else name
        yield from ((namespace, element, *attribute) for attribute in attributes)


_FOREIGN: Final = re.compile(r"^\| *<((?:svg|math) [^>]+)>$", re.MULTILINE)


def test_attributes_are_those_of_the_tree(data: Path, counts: Counts) -> None:
    rows = [
        (case.name, set(seen_attributes(case.document)), set(expected_attributes(case.tree)))
        for case in cases(data)
    ]
    assert sum(bool(expected) for *_, expected in rows) > 40
    counts.compare("html5lib: trees, attributes", rows, least=701)


def test_elements_of_svg_and_mathml_are_those_of_the_tree(data: Path, counts: Counts) -> None:
    rows = [
        (
            case.name,
            sorted(f"{t.namespace} {t.name}" for t in seen(case.document) if t.namespace != "html"),
            sorted(_FOREIGN.findall(case.tree.lower())),
        )
        for case in cases(data)
    ]
    assert sum(bool(expected) for *_, expected in rows) > 90
    counts.compare("html5lib: trees, SVG and MathML", rows, least=701)


# ---- A tree builder: where the base of a document is, and which links it has
#
# A `<base href>` and links are written after each document, wherever that is: in raw text, in a
# comment, in SVG, in a frameset. html5lib (the parser, scripting on) says whether they become
# elements. It is older than `<template>`: documents with one are left out.

URL: Final = "http://h.example/d/"
TAIL: Final = '<base href="/added/"><a href="added"><img src="added.png">'

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
    rows = [
        (case.name, ours(case.document + TAIL), theirs(case.document + TAIL))
        for case in cases(data)
        if "<template" not in case.document.lower()
    ]
    assert 500 < sum(has_base for *_, (has_base, _) in rows) < len(rows) - 50
    counts.compare("html5lib: base and links of its parser", rows, least=601)
