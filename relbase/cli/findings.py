"""What `rewrite --check` reports: each relative link at its place, for people or for programs."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import quote

from relbase import pipeline
from relbase.cli import jsonl, remarks, streams
from relbase.cli.documents import link_in, note_in
from relbase.cli.streams import excerpt, printable
from relbase.notes import Reason
from relbase.policy import begins_with_placeholder
from relbase.rewriting.items import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relbase.call import Call
    from relbase.cli.documents import InputDocument
    from relbase.results import Link, Result

Format: TypeAlias = Literal["text", "json", "github", "sarif"]

# Documents that cannot be read for their links: to check them is no success.
UNCHECKED: Final = frozenset((Reason.XML_UNSOUND, Reason.JSON_UNSOUND, Reason.CHARSET_UNSUPPORTED))
FAILING: Final = UNCHECKED | {Reason.BASE_NONE, Reason.PLACEHOLDER_CHANGED}


class Finding(NamedTuple):
    """A relative link, or why a document could not be checked (then without a link)."""

    file: str
    message: str
    link: Link | None = None
    column: int = 1  # in characters, as `end` is; `link.column` counts bytes
    end: int | None = None  # of a link on one line


def findings(file: str, document: InputDocument, result: Result, call: Call) -> Iterator[Finding]:
    """Yield what is to be reported of a document."""
    for note in result.notes:
        if note.reason in UNCHECKED:
            yield Finding(file, f"not checked: {remarks.sentence(note_in(document, note))}")
        elif note.reason is Reason.PLACEHOLDER_CHANGED:
            yield Finding(file, remarks.sentence(note_in(document, note)))
    for link in pipeline.links_called(document.data, call):
        # A message of a mailbox may stay as it is as a whole.
        is_changed = link.status is Status.REWRITTEN and (result.edits or not document.number)
        if is_changed or link.status is Status.UNRESOLVED:
            data, (start, end) = document.data, link.span
            column = _characters(data[start - link.column + 1 : start]) + 1
            until = None if b"\n" in data[start:end] else column + _characters(data[start:end])
            yield Finding(file, _message(link), link_in(document, link), column, until)


def _characters(data: bytes) -> int:
    """How many characters of a line some bytes are: a byte that is not UTF-8 counts as one."""
    if b"\0" in data:  # UTF-16
        return len(data) // 2
    return len(data.decode("utf-8", "surrogateescape"))


def _message(link: Link) -> str:
    where = remarks.place_of(link.element, link.attribute, link.syntax)
    text = f"relative link {excerpt(link.reference)} in {where}"
    if begins_with_placeholder(link.reference):
        return f"{text}: write the site's URL before it"
    return f"{text}: {excerpt(link.url)}" if link.url else text


def _text(found: Finding) -> str:
    file, link = printable(found.file), found.link
    place = f"{file}:{link.line}:{link.column}" if link else file
    return f"{place}: {printable(found.message)}"


def _json(found: Finding) -> str:
    if found.link is None:
        return jsonl.object_line({"file": found.file, "message": found.message})
    return jsonl.line(found.file, found.link, message=found.message)


def _github(found: Finding) -> str:
    values: dict[str, object] = {"file": found.file}
    if found.link is not None:
        values |= {"line": found.link.line, "col": found.column}
    escaped = ((name, _escaped(str(value), "%\r\n:,")) for name, value in values.items())
    properties = ",".join(f"{name}={value}" for name, value in escaped)
    return f"::error {properties}::{_escaped(printable(found.message))}"


def _escaped(text: str, escaped: str = "%\r\n") -> str:
    """A text of GitHub's workflow commands."""
    return text.translate({ord(one): f"%{ord(one):02X}" for one in escaped})


def _sarif(found: Finding) -> str:
    uri = quote(os.fsencode(found.file).replace(os.fsencode(os.sep), b"/"))
    place: dict[str, object] = {"artifactLocation": {"uri": uri}}
    if found.link is not None:
        end = {} if found.end is None else {"endColumn": found.end}
        place["region"] = {"startLine": found.link.line, "startColumn": found.column, **end}
    rule = "not-checked" if found.link is None else "relative-link"
    message = {"text": printable(found.message)}
    locations = [{"physicalLocation": place}]
    result = {"ruleId": rule, "level": "error", "message": message, "locations": locations}
    return json.dumps(result)


# The lines of SARIF are results, which the run puts into one object.
LINES: Final[dict[Format, Callable[[Finding], str]]] = {
    "text": _text,
    "json": _json,
    "github": _github,
    "sarif": _sarif,
}


_SARIF: Final = (
    '{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", '
    '"runs": [{"tool": {"driver": {"name": "relbase", "rules": [{"id": "relative-link"}, '
    '{"id": "not-checked"}]}}, "columnKind": "unicodeCodePoints", "results": ['
)


class Printer:
    """Prints lines to standard output; those of SARIF within one object."""

    def __init__(self, form: Format = "text") -> None:
        self._is_sarif = form == "sarif"
        self._before = _SARIF

    def show(self, text: str) -> None:
        if self._is_sarif:
            text = f"{self._before}{text}"
            self._before = ","
        streams.say(text)

    def close(self) -> None:
        if self._is_sarif:
            streams.say("]}]}" if self._before == "," else f"{_SARIF}]}}]}}")
