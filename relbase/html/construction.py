"""The tree construction of HTML, as far as it decides which elements are open (WHATWG §13.2.6).

Nodes are not made, only opened and closed. The insertion mode is what "reset the insertion mode
appropriately" would give, from the elements that are open; only a template keeps one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from relbase.html import stack
from relbase.html.foreign import BREAKOUT, FONT_BREAKOUT, HTML, MATH, MIXED_CASE, SVG
from relbase.html.in_body import (
    IN_BODY,
    IN_CAPTION,
    IN_CELL,
    IN_COLUMN_GROUP,
    IN_ROW,
    IN_TABLE,
    IN_TABLE_BODY,
    IN_TEMPLATE,
    VOID_IN_HEAD,
    InBody,
    Tag,
)
from relbase.html.stack import Open, foreign_key

_BODIES: Final = (b"tbody", b"tfoot", b"thead")
_PARTS: Final = frozenset(b"caption col colgroup tbody td tfoot th thead tr".split())
_TABLE_CURRENT: Final = frozenset(b"table tbody template tfoot thead tr".split())
_MODES: Final = {
    b"body": IN_BODY,
    b"table": IN_TABLE,
    **dict.fromkeys(_BODIES, IN_TABLE_BODY),
    b"tr": IN_ROW,
    b"td": IN_CELL,
    b"th": IN_CELL,
    b"caption": IN_CAPTION,
    b"colgroup": IN_COLUMN_GROUP,
}
# What a start tag in a template switches its insertion mode to.
_TEMPLATE_MODES: Final = {
    **dict.fromkeys((b"caption", b"colgroup", *_BODIES), IN_TABLE),
    b"col": IN_COLUMN_GROUP,
    b"tr": IN_TABLE_BODY,
    b"td": IN_ROW,
    b"th": IN_ROW,
}


class Construction(InBody):
    """What is open at a place in a document."""

    __slots__ = ()

    @property
    def is_foreign(self) -> bool:
        return self.current.namespace != HTML

    def start_tag(self, name: bytes, tag: Tag) -> str:
        """Open an element, if one is to open, and return its namespace ("tree construction")."""
        current = self.current
        if current.namespace == HTML or self._reads_html(name):
            return self._start(name, tag)
        breaks_out = name in BREAKOUT
        if name == b"font":
            breaks_out = not FONT_BREAKOUT.isdisjoint(tag.stated)
        if breaks_out:
            self._pop_to_html()
            return self._start(name, tag)
        return self._open_foreign(name, current.namespace, tag)

    def end_tag(self, name: bytes) -> None:
        namespace = self.current.namespace
        if namespace != HTML:
            if name in {b"br", b"p"}:
                self._pop_to_html()
            elif (at := self.depth(foreign_key(name, namespace))) > self.depth(stack.ANY_HTML):
                self.cut(at)
                return
            elif name in MIXED_CASE and namespace == SVG:
                return
        self._end(name)

    def characters(self, *, are_space: bool) -> None:
        current, mode = self.current, self._mode
        if current.namespace != HTML and not (current.is_text_point or current.holds_html):
            return
        if mode in {IN_TABLE, IN_TABLE_BODY, IN_ROW} and current.name in _TABLE_CURRENT:
            if are_space:
                return
        elif mode == IN_COLUMN_GROUP:
            if not are_space and current.name == b"colgroup":
                self.pop()
                self.characters(are_space=are_space)
            return
        self.reconstruct()

    # ---- Foreign content (§13.2.6.5)

    def _reads_html(self, name: bytes) -> bool:
        current = self.current
        if current.is_text_point:
            return name not in {b"mglyph", b"malignmark"}
        return current.holds_html or (
            current.namespace == MATH and current.name == b"annotation-xml" and name == b"svg"
        )

    def _pop_to_html(self) -> None:
        while not (
            self.current.namespace == HTML or self.current.is_text_point or self.current.holds_html
        ):
            self.pop()

    # ---- The insertion modes

    @property
    def _mode(self) -> int:
        name = self.elements[self.depth(stack.MODE)].name
        return self._template_modes[-1] if name == b"template" else _MODES[name]

    def _start(self, name: bytes, tag: Tag) -> str:
        return self._starts[self._mode](self, name, tag)

    def _end(self, name: bytes) -> None:
        if name == b"template":
            if self.depth(b"template") >= 0:
                self.pop_until(b"template")
                self.clear_to_marker()
                self._template_modes.pop()
        else:
            self._ends[self._mode](self, name)

    def _again(self, name: bytes, tag: Tag | None) -> str:
        """Reprocess a token, a start tag if it is given."""
        if tag is not None:
            return self._start(name, tag)
        self._end(name)
        return HTML

    # ---- In tables (§13.2.6.4.9 to 15); for an end tag `tag` is None

    def _start_in_table(self, name: bytes, tag: Tag) -> str:
        if name in {b"caption", b"colgroup", b"col", *_BODIES}:
            self.clear_to(stack.TABLE)
            self._insert(b"colgroup" if name == b"col" else name, marker=name == b"caption")
        elif name in {b"td", b"th", b"tr"}:
            self.clear_to(stack.TABLE)
            self._insert(b"tbody")
            return self._start(name, tag)
        elif name == b"table":
            if self.is_in(stack.TABLE, name):
                self.pop_until(name)
                return self._start(name, tag)
        elif name == b"input" and tag.says(b"type", b"hidden"):
            pass
        elif name == b"form":
            if self._form is None and not self.templates:
                self._form = Open(name, HTML)
        elif name in {b"style", b"script"}:
            pass
        else:
            return self.start_in_body(name, tag)
        return HTML

    def _end_in_table(self, name: bytes) -> None:
        if name == b"table":
            if self.is_in(stack.TABLE, name):
                self.pop_until(name)
        elif name not in _PARTS and name not in {b"body", b"html"}:
            self.end_in_body(name)

    def _start_in_table_body(self, name: bytes, tag: Tag) -> str:
        if name in {b"tr", b"td", b"th"}:
            self.clear_to(stack.BODY)
            self._insert(b"tr")
            return HTML if name == b"tr" else self._start(name, tag)
        if name in _PARTS:
            return self._leave(stack.BODY, _BODIES, name, tag)
        return self._start_in_table(name, tag)

    def _end_in_table_body(self, name: bytes) -> None:
        if name in _BODIES:
            if self.is_in(stack.TABLE, name):
                self.clear_to(stack.BODY)
                self.pop()
        elif name == b"table":
            self._leave(stack.BODY, _BODIES, name, None)
        else:
            self._end_in_table(name)

    def _leave(self, kind: int, names: tuple[bytes, ...], name: bytes, tag: Tag | None) -> str:
        """Close the row or the body of a table, and reprocess; without one the tag is ignored."""
        if not self.is_in(stack.TABLE, *names):
            return HTML
        self.clear_to(kind)
        self.pop()
        return self._again(name, tag)

    def _start_in_row(self, name: bytes, tag: Tag) -> str:
        if name in {b"td", b"th"}:
            self.clear_to(stack.ROW)
            self._insert(name, marker=True)
            return HTML
        if name in _PARTS:
            return self._leave(stack.ROW, (b"tr",), name, tag)
        return self._start_in_table(name, tag)

    def _end_in_row(self, name: bytes) -> None:
        if name == b"tr":
            if self.is_in(stack.TABLE, name):
                self.clear_to(stack.ROW)
                self.pop()
        elif name == b"table" or (name in _BODIES and self.is_in(stack.TABLE, name)):
            self._leave(stack.ROW, (b"tr",), name, None)
        elif name not in _BODIES:
            self._end_in_table(name)

    def _start_in_cell(self, name: bytes, tag: Tag) -> str:
        return self._start_in_part((b"td", b"th"), name, tag)

    def _start_in_caption(self, name: bytes, tag: Tag) -> str:
        return self._start_in_part((b"caption",), name, tag)

    def _start_in_part(self, parts: tuple[bytes, ...], name: bytes, tag: Tag) -> str:
        if name not in _PARTS:
            return self.start_in_body(name, tag)
        return self._start(name, tag) if self._close_part(*parts) else HTML

    def _close_part(self, *names: bytes) -> bool:
        is_closed = self._close(b"", stack.TABLE, *names)
        if is_closed:
            self.clear_to_marker()
        return is_closed

    def _end_in_cell(self, name: bytes) -> None:
        if name in {b"td", b"th"}:
            self._close_part(name)
        elif name in {b"table", b"tr", *_BODIES}:
            if self.is_in(stack.TABLE, name) and self._close_part(b"td", b"th"):
                self._end(name)
        elif name not in _PARTS and name not in {b"body", b"html"}:
            self.end_in_body(name)

    def _end_in_caption(self, name: bytes) -> None:
        if name == b"caption":
            self._close_part(name)
        elif name == b"table":
            if self._close_part(b"caption"):
                self._end(name)
        elif name not in _PARTS and name not in {b"body", b"html"}:
            self.end_in_body(name)

    def _start_in_column_group(self, name: bytes, tag: Tag) -> str:
        if name == b"template":
            self._start_template(name)
        elif name not in {b"col", b"html"} and self.current.name == b"colgroup":
            self.pop()
            return self._start(name, tag)
        return HTML

    def _end_in_column_group(self, name: bytes) -> None:
        if name != b"col" and self.current.name == b"colgroup":
            self.pop()
            if name != b"colgroup":
                self._end(name)

    # ---- In template (§13.2.6.4.18)

    def _start_in_template(self, name: bytes, tag: Tag) -> str:
        if name == b"template":
            self._start_template(name)
        elif name not in VOID_IN_HEAD | {b"noframes", b"script", b"style", b"title"}:
            self._template_modes[-1] = _TEMPLATE_MODES.get(name, IN_BODY)
            return self._start(name, tag)
        return HTML

    def _end_in_template(self, name: bytes) -> None:
        """Ignore it: that of a template has been read."""

    _starts: ClassVar[Mapping[int, Callable[[Any, bytes, Tag], str]]] = {
        IN_BODY: InBody.start_in_body,
        IN_TABLE: _start_in_table,
        IN_TABLE_BODY: _start_in_table_body,
        IN_ROW: _start_in_row,
        IN_CELL: _start_in_cell,
        IN_CAPTION: _start_in_caption,
        IN_COLUMN_GROUP: _start_in_column_group,
        IN_TEMPLATE: _start_in_template,
    }
    _ends: ClassVar[Mapping[int, Callable[[Any, bytes], None]]] = {
        IN_BODY: InBody.end_in_body,
        IN_TABLE: _end_in_table,
        IN_TABLE_BODY: _end_in_table_body,
        IN_ROW: _end_in_row,
        IN_CELL: _end_in_cell,
        IN_CAPTION: _end_in_caption,
        IN_COLUMN_GROUP: _end_in_column_group,
        IN_TEMPLATE: _end_in_template,
    }
