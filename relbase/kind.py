"""The kinds of documents. `relbase.formats.rows` describes each of them in a row."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, get_args


class Kind(StrEnum):
    """The kind of a document, which decides how its references are found.

    >>> Kind("html")
    <Kind.HTML: 'html'>
    """

    HTML = "html"
    CSS = "css"
    XML = "xml"
    JSON = "json"  # JSON Feed only
    JSON_LD = "jsonld"
    MAIL = "mail"
    MBOX = "mbox"
    HTTP = "http"
    MARKDOWN = "markdown"
    OTHER = "other"

    __hash__ = str.__hash__  # in C


# Type checkers find misspelt names; importing this module compares them with the members.
KindName = Literal[
    "html", "css", "xml", "json", "jsonld", "mail", "mbox", "http", "markdown", "other"
]

if get_args(KindName) != tuple(Kind):
    raise TypeError(f"KindName in relbase/kind.py is not {[*map(str, Kind)]}")
