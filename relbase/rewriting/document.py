"""One document: its bytes in some charset, and the visit of what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.kind import Kind
from relbase.notes import Reason
from relbase.references.css_escapes import css_escaped
from relbase.rewriting.context import Room, allowed_growth
from relbase.rewriting.html import visit_css, visit_html
from relbase.rewriting.outward import lowered
from relbase.view.charset import Charset, Source, sniff, sniff_css
from relbase.view.transcode import UNREADABLE, document_view, text_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relbase.rewriting.context import Item, Scope
    from relbase.view.runs import View


class Document(NamedTuple):
    """A document, and what is known of it before it is looked into.

    Args:
        data: its bytes.
        kind: one of `VISITS`, or one whose references are not looked for.
        charset: its charset, and what that was taken from.
        view: what shows the text in it, None where the data are scanned themselves.
        text: what is scanned: the data, or what the view shows of them.
        scope: of the text.
    """

    data: bytes
    kind: Kind
    charset: Charset
    view: View | None
    text: bytes
    scope: Scope


# How the references of a kind are visited.
VISITS: Final[dict[Kind, Callable[[bytes, Scope], Iterator[Item]]]] = {
    Kind.HTML: visit_html,
    Kind.CSS: lambda text, scope: visit_css(text, scope.on(scope.base)),
}


def read_document(
    data: bytes, kind: Kind, label: str | None, scope: Scope
) -> tuple[Document, tuple[Reason, str] | None]:
    """Return a document, and what hinders its references from being looked for, if anything.

    Args:
        data: its bytes.
        kind: its kind.
        label: the charset label of the heading it came with.
        scope: of its container, without the charset.
    """
    charset = (sniff_css if kind is Kind.CSS else sniff)(data, label)
    if charset.source is Source.GUESS and data.isascii():
        # What is read is the same. What is written, and queries, are as browsers take it [C].
        charset = Charset("windows-1252", Source.DEFAULT)
    hindrance = _hindrance(kind, charset)
    view = _view(data, kind, charset) if kind in VISITS and hindrance is None else None
    name = charset.name if view is None else "utf-8"
    document = Document(
        data,
        kind if hindrance is None else Kind.OTHER,
        charset,
        view,
        data if view is None else view.inner,
        scope._replace(charset=name, encoding=charset.name),
    )
    return document, hindrance


def visit_document(document: Document, *, edits_only: bool) -> Iterator[Item]:
    """The items of a document, in offsets of its bytes.

    Args:
        document: of a kind in `VISITS`; others have none.
        edits_only: only edits, remarks and unresolved references are asked for.
    """
    if document.kind not in VISITS:
        return iter(())
    scope = document.scope._replace(edits_only=edits_only)
    if scope.room is None:
        # Where a view is between, edits take away up to the whole text around the inner one.
        size = len(document.data)
        scope = scope._replace(room=Room(allowed_growth(size) + size))
    items = VISITS[document.kind](document.text, scope)
    return items if document.view is None else lowered(items, document.view, 0)


def _hindrance(kind: Kind, charset: Charset) -> tuple[Reason, str] | None:
    if charset.name in UNREADABLE:
        return (
            Reason.CHARSET_UNSUPPORTED,
            f"the charset label stands for {charset.name!r}, which nobody can read: passed through",
        )
    if kind in VISITS or kind is Kind.OTHER:
        return None
    text = f"documents of kind {kind.value} are not rewritten yet: passed through"
    return Reason.KIND_UNSUPPORTED, text


def _view(data: bytes, kind: Kind, charset: Charset) -> View | None:
    """The view that a document is scanned in, None where it is scanned as it is."""
    view = document_view(data, charset.name)
    if view is None and kind is Kind.CSS and charset.name != "utf-8" and not data.isascii():
        return text_view(data, charset.name, css_escaped)
    return view
