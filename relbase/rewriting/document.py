"""The text of a document: its bytes as they are, or what a view of its charset shows of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from relbase.expressions import expression
from relbase.notes import Note, Reason
from relbase.view.charset import (
    DEFAULT,
    NOT_ASCII,
    UNREADABLE,
    WIDE,
    Charset,
    CharsetSource,
    not_ascii,
)
from relbase.view.transcode import document_view, text_view

if TYPE_CHECKING:
    from relbase.rewriting.context import Context
    from relbase.view.runs import View

# How the charset of a kind is found: in the bytes, with the label of a header or None.
CharsetRule: TypeAlias = Callable[[bytes, str | None], Charset]
# How the text of a kind is shown in UTF-8, by its charset; None where the bytes are scanned.
ViewRule: TypeAlias = "Callable[[bytes, str], View | None]"


class Text(NamedTuple):
    """What is scanned of a document."""

    inner: bytes  # its bytes, or what the view shows of them
    view: View | None  # what shows the text, None where the bytes are scanned themselves
    charset: Charset  # of the document, and what that was taken from
    context: Context  # of the container, with the charset of this text


def read_charset(data: bytes, label: str | None, rule: CharsetRule) -> Charset:
    """Return the charset of a document."""
    other = not_ascii(data, label)
    if other:
        return Charset(other, CharsetSource.TRANSPORT if label else CharsetSource.BOM)
    charset = rule(data, label)
    if charset.source is CharsetSource.GUESS and data.isascii():
        # What is read is the same. What is written, and queries, are as browsers take it [C].
        return DEFAULT
    return charset


def escaping(escape: Callable[[str], bytes]) -> ViewRule:
    """The view of a text where characters missing from the charset are not written as in HTML."""

    def view(data: bytes, charset: str) -> View | None:
        found = document_view(data, charset, escape)
        if found is None and charset != "utf-8" and not data.isascii():
            return text_view(data, charset, escape)
        return found

    return view


def read_text(data: bytes, charset: Charset, rule: ViewRule, context: Context) -> Text | Note:
    """Return the text of a document, or a note on why nobody can read it."""
    if charset.name in UNREADABLE or charset.name in NOT_ASCII:
        text = f"the charset is {charset.name!r}, which is not read"
        if charset.name == "replacement":  # what WHATWG calls one that is not to be read
            text = "the charset that the document states is not read"
        return Note(Reason.CHARSET_UNSUPPORTED, context.part, None, f"{text}: passed through")
    # Each character of ASCII, `<` and `{` among them, has a byte of zero.
    if charset.name in WIDE and data and b"\0" not in data:
        text = f"the charset is stated as {charset.name}, but no byte is zero, so it has no markup"
        return Note(Reason.CHARSET_UNSUPPORTED, context.part, None, f"{text}: passed through")
    view = rule(data, charset.name)
    name = charset.name if view is None else "utf-8"
    unstated = None
    if charset.source in _GUESSED:  # in a reference it decides what is read, and queries
        unstated = _QUERY_NOT_ASCII if data.isascii() else _NOT_ASCII
    inside = context.having(charset=name, encoding=charset.name, unstated=unstated)
    return Text(data if view is None else view.inner, view, charset, inside)


_GUESSED: Final = (CharsetSource.GUESS, CharsetSource.DEFAULT, CharsetSource.CONTRADICTED)


_NOT_ASCII: Final = expression(r"[\0-\x7f]*+[^\0-\x7f]")
_QUERY_NOT_ASCII: Final = expression(r"[^?#]*+\?[\0-\x22\x24-\x7f]*+[^\0-\x7f]")
