"""html5lib-tests/tokenizer: the start tags and attributes that relbase's spans stand for.

relbase has no tokenizer that could be put into a state; the element that leads to the state is
written in front of the input. It yields no text, comments and end tags, so only start tags count,
but all of them: an input that has none must have none here either.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from counts import Counts

from relbase.references import html, tags
from relbase.view.charrefs import attribute_view
from relbase.view.charset import CharsetSource, lookup, sniff

# The element that leads to a state, where the test does not name one (`lastStartTag`).
ELEMENTS: Final = {
    "Data state": "",
    "RCDATA state": "<title>",
    "RAWTEXT state": "<style>",
    "Script data state": "<script>",
    "PLAINTEXT state": "<plaintext>",
    "CDATA section state": "<svg><![CDATA[",
}

# (file, description, state) of tests that are not run or fail, with the reason.
KNOWN_FAILURES: Final[dict[tuple[str, str, str], str]] = {}

Tag = tuple[str, dict[str, str]]


class Case(NamedTuple):
    """One test in one of its initial states."""

    file: str
    description: str
    state: str
    prefix: str
    input: str
    expected: list[Tag]

    @property
    def place(self) -> tuple[str, str, str]:
        """What `KNOWN_FAILURES` names the test by."""
        return self.file, self.description, self.state


def cases(data: Path) -> Iterator[Case]:
    """Yield every test of every file, once for each of its initial states."""
    for path in sorted((data / "html/html5lib-tests/tokenizer").glob("*.test")):
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
                yield Case(path.name, test["description"], state, prefix, text, expected)


def _unescaped(value: Any) -> Any:
    r"""Resolve the `\uXXXX` of a test that is marked as `doubleEscaped`."""
    if isinstance(value, str):
        return re.sub(r"\\u([0-9A-Fa-f]{4})", lambda found: chr(int(found[1], 16)), value)
    if isinstance(value, list):
        return [_unescaped(item) for item in value]
    if isinstance(value, dict):
        return {_unescaped(key): _unescaped(item) for key, item in value.items()}
    return value


def seen(case: Case) -> list[Tag]:
    """Return the start tags after the prefix, as the tokenizer would emit them."""
    text = (case.prefix + case.input).encode("utf-8", "surrogatepass")
    return [
        (_name(element.name), dict(_attributes(text, element)))
        for element in html.elements(text, 0, len(text))
        if isinstance(element, html.Element) and element.start >= len(case.prefix)
    ]


def _name(name: bytes) -> str:
    return name.decode("utf-8", "surrogatepass").replace("\0", "\ufffd")


def _attributes(text: bytes, element: html.Element) -> Iterator[tuple[str, str]]:
    for attribute in tags.attributes(text, element.attributes, element.end):
        raw = text[attribute.start : attribute.end]
        inner = attribute_view(raw, attribute.quote or b"", "utf-8").inner
        yield _name(attribute.name), inner.decode("utf-8", "surrogatepass")


def test_start_tags_are_those_of_the_tokenizer(data: Path, counts: Counts) -> None:
    run = with_tags = 0
    failures = {}
    for case in cases(data):
        run += 1
        with_tags += bool(case.expected)
        found = seen(case)
        if found != case.expected:
            failures[case.place] = (case.prefix + case.input, found, case.expected)
    unexpected = {place: row for place, row in failures.items() if place not in KNOWN_FAILURES}
    assert not unexpected
    assert not KNOWN_FAILURES.keys() - failures.keys(), "these pass: take them off the list"
    assert run > 4000
    assert with_tags > 50
    counts("html5lib: tokenizer", run, len(failures))


def test_most_states_are_run(data: Path) -> None:
    states = {case.state for case in cases(data)}
    assert states >= {"Data state", "RCDATA state", "RAWTEXT state", "PLAINTEXT state"}


def test_character_references(data: Path, counts: Counts) -> None:
    """The values of attributes, and references alone, which mean the same in a value as in text."""
    run = 0
    for path in sorted((data / "html/html5lib-tests/tokenizer").glob("*.test")):
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


# ---- html5lib-tests/encoding: the charset of a document that states one, or none

_case: Final = re.compile(rb"#data\n(.*?)\n#encoding\n(.*?)\n", re.DOTALL)


def documents(path: Path) -> Iterator[tuple[int, bytes, str]]:
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
        for number, document, encoding in documents(path):
            run += 1
            if charset_of(document) != encoding:
                wrong.append(number)
        assert wrong == [], path.name
    assert run > 20
    counts("html5lib: encoding", run, 0)
