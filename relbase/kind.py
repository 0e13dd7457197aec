"""The kinds of documents, by name. What is known of each is its row in `relbase.formats`."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """The kind of a document, by which its references are found.

    >>> Kind("html")
    <Kind.HTML: 'html'>
    """

    HTML = "html"
    CSS = "css"
    XML = "xml"
    JSON = "json"  # JSON Feed alone
    MAIL = "mail"
    MBOX = "mbox"
    HTTP = "http"
    OTHER = "other"
