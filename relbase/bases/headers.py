"""Which fields of a header state a base URL, and how: `Base: <URL:http://a/ b>` is `http://a/b`.

RFC 1808 §3.1 writes `<URL:...>` and ignores white space inside; RFC 2110 and real mailers write
`"..."`, `<...>` or the bare URL, fold it, and put it into encoded words (RFC 2047).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from relbase.bases.layers import Layer, Statement, retrieval
from relbase.notes import Note, Reason
from relbase.references.headers import find_url
from relbase.registry import FieldRow, States, bases
from relbase.view.characters import inner as encode_inner
from relbase.view.characters import text as decode_inner
from relbase.view.folding import decoded_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from relbase.edit import Span

_WHITE_SPACE: Final = re.compile(r"[\x00-\x20\x7f]+")


def http_statements(fields: Iterable[tuple[str, str]]) -> tuple[list[Statement], list[Note]]:
    """Return what an HTTP header states as the base of its entity, strongest first.

    Content-Location is none: RFC 9110 §8.7 says that it does not affect the base, and it is noted
    so that nobody looks for it.
    """
    given = [(name.strip().lower(), value, None) for name, value in fields]
    if not given:
        return [], []
    notes = [
        Note(
            Reason.CONTENT_LOCATION_HTTP,
            "",
            None,
            f"{row.name} of the HTTP header: {_url_or_value(value)!a} is not a base in HTTP "
            "(RFC 9110 §8.7)",
        )
        for row in bases(States.MAIL)
        if States.HTTP not in row.states
        for name, value, _ in given
        if name == row.name.lower()
    ]
    return _statements(given, States.HTTP, "the HTTP header"), notes


def mime_statements(fields: Iterable[tuple[str, str, Span | None]], name: str) -> list[Statement]:
    """Return what the header of a MIME entity states as its base, strongest first.

    A Content-Location serves as base too (RFC 2557 §5), unless it only names the part for links
    to it (`cid:`).
    """
    return _statements(list(fields), States.MAIL, name)


def _statements(
    given: Sequence[tuple[str, str, Span | None]], where: States, name: str
) -> list[Statement]:
    return [
        statement
        for row in bases(where)
        for field, value, span in given
        if field == row.name.lower()
        and (statement := _statement(row, value, f"{row.name} of {name}", span)) is not None
    ]


# RFC 2392: links name parts by such URLs.
_NAMES: Final = ("cid:", "mid:")
_NO_URL: Final = "is not one URL, perhaps wrapped, with comments around it"


def _statement(row: FieldRow, value: str, source: str, span: Span | None) -> Statement | None:
    """Return what a field states; None when it is empty, or only names the part."""
    url = url_of(value)
    if url is None:
        return Statement(Layer.ENTITY, value.strip(), source, span, _NO_URL)
    if not url or (row.names_part and url.lower().startswith(_NAMES)):
        return None
    return Statement(Layer.ENTITY, url, source, span)


def _url_or_value(value: str) -> str:
    url = url_of(value)
    return value.strip() if url is None else url


def snapshot_statements(value: str | None) -> tuple[list[Statement], list[Note]]:
    """Return the retrieval URL that Chromium leaves in the messages that it saves pages as.

    It is a detected mark: `file:` is refused (rule 5), and credentials are removed.
    """
    source = "Snapshot-Content-Location of the message"
    found, notes = retrieval(url_of(value or "") or "", ())
    statements = [statement._replace(source=source) for statement in found]
    remarks = [note._replace(text=note.text.replace(found[0].source, source)) for note in notes]
    if statements and statements[0].value[:5].lower() == "file:":
        text = f"{source}: a file: URL that was only detected does not count"
        return [], [Note(Reason.BASE_UNSUITABLE, "", None, text)]
    return statements, remarks


def url_of(value: str) -> str | None:
    r"""Return the URL that a field's value states, without wrapper, comments and white space.

    Returns:
        "" when the value holds nothing but wrappers and comments, None when it holds more than one
        URL or quotes and brackets that wrap none: nobody knows what it states.
    """
    raw = encode_inner(decoded_words(value))
    span = find_url(raw)
    if span is None:
        return None
    return _WHITE_SPACE.sub("", decode_inner(raw[span.start : span.end]))
