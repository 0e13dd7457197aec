"""The kinds of documents. `relbase.formats.rows` describes each of them in a row."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """The kind of a document, which decides how its references are found.

    >>> Kind("html")
    <Kind.HTML: 'html'>
    """

    HTML = "html"
    CSS = "css"
    XML = "xml"
    JSON = "json"  # JSON Feed only
    MAIL = "mail"
    MBOX = "mbox"
    HTTP = "http"
    OTHER = "other"
