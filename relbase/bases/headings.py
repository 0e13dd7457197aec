"""Which fields of a heading state a base URL, and how: `Base: <URL:http://a/ b>` is `http://a/b`.

RFC 1808 §3.1 writes `<URL:...>` and ignores white space inside; RFC 2110 and real mailers write
`"..."`, `<...>` or the bare URL, fold it, and put it into encoded words (RFC 2047).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from relbase.bases.layers import Layer, Statement
from relbase.bases.retrieval import statements as retrieved
from relbase.notes import Note, Reason
from relbase.view.characters import inner as encode_inner
from relbase.view.characters import text as decode_inner
from relbase.view.encoded_words import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relbase.edit import Span

# In the order in which they count within one heading (design rule 2): RFC 1808 §3.1, RFC 2068
# §14.11 and RFC 2110 §4.2, RFC 2557 §4.
BASE_FIELDS: Final = ("Base", "Content-Base", "Content-Location")

_WHITE_SPACE: Final = re.compile(r"[\x00-\x20\x7f]+")
_WRAPPERS: Final = (('"', '"'), ("<", ">"), ('"', '"'))


def http_statements(fields: Iterable[tuple[str, str]]) -> tuple[list[Statement], list[Note]]:
    """Return what an HTTP heading states as the base of its entity, strongest first.

    Args:
        fields: names, in any case, and values.

    Content-Location is none: RFC 9110 §8.7 says that it does not affect the base, and it is noted
    so that nobody looks for it.

    >>> [statement.value for statement in http_statements([("BASE", "<URL:http://a/>")])[0]]
    ['http://a/']
    """
    given = [(name.strip().lower(), url_of(value)) for name, value in fields]
    statements = [
        Statement(Layer.ENTITY, url, f"{field} of the HTTP heading")
        for field in BASE_FIELDS[:2]
        for name, url in given
        if name == field.lower() and url
    ]
    notes = [
        Note(
            Reason.CONTENT_LOCATION_HTTP,
            "",
            None,
            f"Content-Location of the HTTP heading: {url!a} is no base in HTTP (RFC 9110 §8.7)",
        )
        for name, url in given
        if name == "content-location"
    ]
    return statements, notes


def mime_statements(fields: Iterable[tuple[str, str, Span | None]], name: str) -> list[Statement]:
    r"""Return what the heading of a MIME entity states as its base, strongest first.

    Args:
        fields: names in lower case, values, and where these are.
        name: of the entity, for people: "the message", "part 1.2".

    A Content-Location serves as base too (RFC 2557 §5), unless it only names the part for links
    to it (`cid:`).

    >>> found = mime_statements([("content-location", "http://a/b", None)], "part 1")
    >>> [(statement.value, statement.source) for statement in found]
    [('http://a/b', 'Content-Location of part 1')]
    """
    given = [(field, url_of(value), span) for field, value, span in fields]
    return [
        Statement(Layer.ENTITY, url, f"{wanted} of {name}", span)
        for wanted in BASE_FIELDS
        for field, url, span in given
        if field == wanted.lower()
        and url
        and not (wanted == "Content-Location" and url.lower().startswith(("cid:", "mid:")))
    ]


def snapshot_statements(value: str | None) -> tuple[list[Statement], list[Note]]:
    """Return the retrieval URL that Chromium leaves in the messages that it saves pages as.

    Args:
        value: of Snapshot-Content-Location, None when there is none.

    It is a detected mark: `file:` is refused (design rule 5), and credentials are removed.
    """
    source = "Snapshot-Content-Location of the message"
    found, notes = retrieved(url_of(value or ""), ())
    statements = [statement._replace(source=source) for statement in found]
    remarks = [note._replace(text=note.text.replace(found[0].source, source)) for note in notes]
    if statements and statements[0].value[:5].lower() == "file:":
        text = f"{source}: a file: URL that was only detected does not count"
        return [], [Note(Reason.BASE_UNSUITABLE, "", None, text)]
    return statements, remarks


def url_of(value: str) -> str:
    r"""Return the URL that a field's value states, without wrapper and white space; "" for none.

    Args:
        value: the field's body, folded or not.

    >>> url_of("<URL:http://www.ics.uci.edu/Test/a/\r\n b/c>")
    'http://www.ics.uci.edu/Test/a/b/c'
    """
    url = _WHITE_SPACE.sub("", _with_words(value) if "=?" in value else value)
    for opening, closing in _WRAPPERS:  # `"<URL:...>"` is seen too
        if len(url) > 1 and url.startswith(opening) and url.endswith(closing):
            url = url[1:-1]
    return url[4:] if url[:4].lower() == "url:" else url


def _with_words(value: str) -> str:
    """The value with its encoded words decoded."""
    raw = encode_inner(value)
    pieces: list[bytes] = []
    at = 0
    for word in words(raw):
        pieces += (raw[at : word.start], word.inner)
        at = word.end
    return decode_inner(b"".join((*pieces, raw[at:])))
