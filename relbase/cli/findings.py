"""What `links`, --check and --diff show: links with their places, and what rewriting changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from relbase.cli import streams
from relbase.cli.documents import InputDocument, in_input, sentence
from relbase.cli.hyperlinks import help_url
from relbase.cli.origins.paths import quoted
from relbase.cli.streams import Tally, excerpt, object_line, printable
from relbase.edit import Edit, splice
from relbase.notes import Reason
from relbase.policy import begins_with_placeholder, placeholders
from relbase.results import Link, Result
from relbase.rewriting.outcomes import Status
from relbase.session import run
from relbase.url.resolver import is_absolute

if TYPE_CHECKING:
    from relbase.cli.jobs import Format
    from relbase.cli.judging.verdicts import Judgement, Tallied
    from relbase.warc.rows import LinkRow

# Documents and parts whose links cannot be read, or not all: --check does not pass them. What is
# signed or encrypted only gets a warning, since its author cannot mend that.
UNCHECKED: Final = {
    *(Reason.XML_UNSOUND, Reason.JSON_UNSOUND, Reason.CHARSET_UNSUPPORTED),
    *(Reason.ENCODING_UNSUPPORTED, Reason.ENCODING_DISPUTED, Reason.MIME_ENCODED),
    *(Reason.MIME_BOUNDARY, Reason.MIME_HEADER, Reason.MIME_PARTIAL, Reason.BODY_PARTIAL),
    *(reason for reason in Reason if reason.value.startswith("limit-")),
}
FAILING: Final = UNCHECKED | {Reason.BASE_NONE, Reason.PLACEHOLDER_CHANGED}


# The fields of a judgement, in tables and objects.
JUDGED: Final = ("verdict", "target")


class LinkPrinter(NamedTuple):
    tally: Tally
    as_json: bool = False
    violations: bool = False
    texts: bool = False
    add: Callable[[Iterable[Any]], None] | None = None  # adds rows to a table
    tallied: Tallied | None = None  # with --judge

    def show(
        self, place: str, row: Link | LinkRow, file: str = "", judgement: Judgement | None = None
    ) -> None:
        """Print a link: `place` is its file and line for people, `file` that of a `Link`."""
        if judgement is not None and self.tallied and not self.tallied.is_listed(judgement):
            return
        base, status, fields = self._fields_of(row)
        of_file = {"file": file} if file else {}
        is_object = self.add is not None or self.as_json
        more: dict[str, object] = judgement._asdict() if judgement and is_object else {}
        if self.add is not None:
            self.add([{**of_file, **fields, **more}])
            return
        where = f"{place}{place_of(row.element, row.attribute, row.syntax)}"
        text = f"{where}: {excerpt(row.reference)}"
        if row.url is not None and row.url != row.reference:
            text += f" -> {excerpt(row.url)}"
        text += f" [{status}]" if judgement is None else f" [{judgement.verdict}]"
        if judgement is not None and judgement.target:
            text += f" {printable(judgement.target)}"
        if self.texts and row.text:
            text += f" {excerpt(row.text)}"
        if self.texts and row.rel:
            text += f" (rel {excerpt(row.rel)})"
        if self.violations:
            from relbase.cli.urls import report
            from relbase.grammar.characters import Severity
            from relbase.grammar.urls import violations

            flaws = violations(row.reference, base or None)
            self.tally.findings += any(flaw.kind is Severity.VIOLATION for flaw in flaws)
            if not flaws:
                return
            more = {"violations": flaws}
            text = f"{where}:\n{report(row.reference, flaws)}"
        if self.as_json:
            text = object_line(of_file, fields, more)
        streams.say(text)

    def _fields_of(self, row: Link | LinkRow) -> tuple[str, str, dict[str, Any]]:
        if isinstance(row, Link):
            return row.base.url, row.status.value, row.as_dict(texts=self.texts)
        fields = row._asdict()
        if not self.texts:
            del fields["text"], fields["rel"]
        return row.base, row.outcome, fields


def place_of(element: str, attribute: str, syntax: str) -> str:
    """Return what holds a reference; a header field is an attribute without an element."""
    where = element or attribute or syntax
    return printable(f"{where}/@{attribute}" if element and attribute else where)


class Finding(NamedTuple):
    """A relative link, or why a document could not be checked (then without a link)."""

    file: str
    message: str
    link: Link | None = None
    column: int = 1  # in characters, as `end` is; `link.column` counts bytes
    end: int | None = None  # of a link on one line


def findings(file: str, document: InputDocument, result: Result) -> Iterator[Finding]:
    for note in result.notes:
        is_unchecked = note.reason in UNCHECKED
        if is_unchecked or note.reason is Reason.PLACEHOLDER_CHANGED:
            text = sentence(in_input(document, note), document.number)
            yield Finding(file, f"not checked: {text}" if is_unchecked else text)
    for link in run.links(document.given):
        # A message of a mailbox may be left unchanged as a whole.
        is_changed = link.status is Status.REWRITTEN and (result.edits or not document.number)
        if is_changed or link.status is Status.UNRESOLVED:
            data, (start, end) = document.data, link.span
            column = _characters(data[start - link.column + 1 : start]) + 1
            until = None if b"\n" in data[start:end] else column + _characters(data[start:end])
            where = place_of(link.element, link.attribute, link.syntax)
            shown, line = link.reference, data[start : start + _LONG].decode("utf-8", "replace")
            for first, last in islice(placeholders(line.splitlines()[0]), 1):
                # A reference in srcset ends at the first space, and so inside `{{ url }}`.
                if first == 0 and line.startswith(f"{shown} "):
                    shown = line[:last]
            is_replaced = is_absolute(link.reference, document.given.call.options.profile)
            text = f"{'' if is_replaced else 'relative '}link {excerpt(shown)} in {where}"
            if begins_with_placeholder(link.reference):
                text += ": write the site's URL before it, or give --keep-templates"
            elif link.url:
                kept = " (--keep-fragments leaves it)" * link.reference.startswith("#")
                text += f": {excerpt(link.url)}{kept}"
            yield Finding(file, text, in_input(document, link), column, until)


def _characters(data: bytes) -> int:
    """How many characters some bytes of a line are; a byte that is not UTF-8 counts as one."""
    if b"\0" in data:  # UTF-16
        return len(data) // 2
    return len(data.decode("utf-8", "surrogateescape"))


def _text(finding: Finding) -> str:
    file, link = printable(finding.file), finding.link
    place = f"{file}:{link.line}:{link.column}" if link else file
    return f"{place}: {printable(finding.message)}"


def _json(finding: Finding) -> str:
    link = finding.link.as_dict() if finding.link else {}
    return object_line({"file": finding.file, **link, "message": finding.message})


def _github(finding: Finding) -> str:
    file, place = _escaped(printable(finding.file.removeprefix("./")), ":,"), ""
    if finding.link is not None:
        place = f",line={finding.link.line},col={finding.column}"
    return f"::error file={file}{place}::{_escaped(printable(finding.message))}"


def _escaped(text: str, more: str = "") -> str:
    return text.translate({ord(letter): f"%{ord(letter):02X}" for letter in f"%\r\n{more}"})


def _sarif(finding: Finding) -> str:
    import json

    uri = quoted(finding.file.removeprefix("./").replace(os.sep, "/"))
    place: dict[str, object] = {"artifactLocation": {"uri": uri}}
    if finding.link is not None:
        end = {} if finding.end is None else {"endColumn": finding.end}
        place["region"] = {"startLine": finding.link.line, "startColumn": finding.column, **end}
    result = {
        "ruleId": "not-checked" if finding.link is None else "relative-link",
        "level": "error",
        "message": {"text": printable(finding.message)},
        "locations": [{"physicalLocation": place}],
    }
    return json.dumps(result)


def sarif_before() -> str:
    """Return what precedes the results of SARIF."""
    import json

    pages = {word: help_url(word) for word in ("relative-link", "not-checked")}
    rules = [{"id": word, **({"helpUri": page} if page else {})} for word, page in pages.items()]
    driver = json.dumps({"name": "relbase", "rules": rules})
    return (
        '{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": '
        f'[{{"tool": {{"driver": {driver}}}, "columnKind": "unicodeCodePoints", "results": ['
    )


SARIF_AFTER: Final = "]}]}"

LINES: Final[dict[Format, Callable[[Finding], str]]] = {
    "text": _text,
    "json": _json,
    "github": _github,
    "sarif": _sarif,
}


_T = TypeVar("_T")
_CONTEXT: Final = 3

# Two rows of a wide terminal. A longer line is shown in excerpts, or cut if it is context.
_LONG: Final = 240

_AROUND: Final = 48  # bytes on each side of an edit in an excerpt

# Bytes shown of what an edit itself removes or inserts; a base may be megabytes long.
_CHANGED: Final = 400
_CUT: Final = b"..."
_CONTINUATION: Final = range(0x80, 0xC0)  # bytes within a UTF-8 sequence


class _Block(NamedTuple):
    """Whole lines, the edits that touch them, and what they become."""

    start: int
    end: int
    edits: list[Edit]
    old: list[bytes]
    new: list[bytes]


def diff(
    name: str, data: bytes, edits: Sequence[Edit], above: int = 0, moved: int = 0
) -> Iterator[str]:
    if not edits:
        return
    shown = printable(name)
    yield f"--- {shown}"
    yield f"+++ {shown} (rewritten)"
    hunk: list[str] = []
    first = at = 0  # the line that the hunk begins with, and the end of the block before
    for block in chain(_blocks(data, edits), (_Block(len(data), len(data), [], [], []),)):
        gap = data.count(b"\n", at, block.start)
        is_long = any(len(line) > _LONG for line in chain(block.old, block.new))
        if hunk and (is_long or not block.edits or gap > 2 * _CONTEXT):
            hunk += _context(data[at : block.start], _CONTEXT)
            old, new = (sum(line[0] in signs for line in hunk) for signs in (" -", " +"))
            yield f"@@ -{_range(first, old)} +{_range(first + moved, new)} @@"
            yield from hunk
            hunk, moved = [], moved + new - old
        above += gap
        if is_long:
            yield from _excerpts(data, block, above, moved)
            moved += len(block.new) - len(block.old)
        elif block.edits:
            first = first if hunk else above - min(gap, _CONTEXT)
            hunk += _context(data[at : block.start], gap if hunk else -_CONTEXT)
            hunk += (f"-{_line(line)}" for line in block.old)
            hunk += (f"+{_line(line)}" for line in block.new)
        above += len(block.old)
        at = block.end


def _blocks(data: bytes, edits: Iterable[Edit]) -> Iterator[_Block]:
    at = 0
    for group in _grouped(
        edits, lambda group, edit: data.find(b"\n", group[-1].end, edit.start) >= 0
    ):
        start = data.rfind(b"\n", at, group[0].start) + 1 or at
        # The last line is the one in which an edit ends, even at its very start: then the edit
        # removes the newline before it.
        at = data.find(b"\n", group[-1].end) + 1 or len(data)
        new = splice(data[start:at], group, start)
        yield _Block(start, at, group, _split(data[start:at]), _split(new))


def _grouped(items: Iterable[_T], is_apart: Callable[[list[_T], _T], bool]) -> Iterator[list[_T]]:
    """Group items; an item that is apart from those before it begins a new group."""
    group: list[_T] = []
    for item in items:
        if group and is_apart(group, item):
            yield group
            group = []
        group.append(item)
    if group:
        yield group


def _split(text: bytes) -> list[bytes]:
    return text.removesuffix(b"\n").split(b"\n")


def _context(gap: bytes, count: int) -> list[str]:
    """The first lines of what is between two blocks; the last ones if `count` is negative."""
    text = gap.removesuffix(b"\n")
    lines = text.split(b"\n", count)[:count] if count >= 0 else text.rsplit(b"\n", -count)[count:]
    shown = lines if gap else []
    return [f" {_line(line[:_LONG])}{'...' if len(line) > _LONG else ''}" for line in shown]


def _range(first: int, count: int) -> str:
    return f"{first + 1}" if count == 1 else f"{first + 1},{count}"


def _excerpts(data: bytes, block: _Block, number: int, moved: int) -> Iterator[str]:
    line = at = block.start  # excerpts do not overlap
    for group, following in pairwise(chain(_grouped(block.edits, _is_far), ([],))):
        until = following[0].start if following else block.end
        start = max(at, _boundary(data, group[0].start - _AROUND))
        end = max(group[-1].end, _boundary(data, min(until, group[-1].end + _AROUND)))
        number += data.count(b"\n", line, start)
        line = data.rfind(b"\n", line, start) + 1 or line
        yield f"@@ -{number + 1} +{number + 1 + moved} @@ column {start - line + 1}"
        before = _CUT if start > block.start else b""
        after = _CUT if end < block.end else b""
        olds = [edit._replace(new=data[edit.start : edit.end]) for edit in group]
        for sign, edits in (("-", olds), ("+", group)):
            shown = (edit._replace(new=_cut(edit.new)) for edit in edits)
            side = before + splice(data[start:end], shown, start) + after
            yield from (f"{sign}{_line(piece)}" for piece in _split(side))
        at = group[-1].end


def _is_far(group: list[Edit], edit: Edit) -> bool:
    """Whether an edit is too far from a group for one excerpt, or would make it too long."""
    return edit.start - group[-1].end > 2 * _AROUND or edit.end - group[0].start > _LONG


def _cut(changed: bytes) -> bytes:
    if len(changed) <= _CHANGED:
        return changed
    return changed[: _CHANGED // 2] + _CUT + changed[-_CHANGED // 2 :]


def _boundary(data: bytes, offset: int) -> int:
    """The offset, or the start of the UTF-8 sequence that it would cut."""
    for start in range(offset, max(0, offset - 4), -1):
        if start < len(data) and data[start] not in _CONTINUATION:
            return start
    return offset


def _line(line: bytes) -> str:
    """A line for people, without the CR of its end."""
    return printable(line.removesuffix(b"\r").decode("utf-8", "backslashreplace"))
