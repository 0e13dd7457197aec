"""The tree construction of HTML, as far as it decides which elements are open (WHATWG §13.2.6).

Nodes are not made, only opened and closed. The insertion mode is what "reset the insertion mode
appropriately" would give, from the elements that are open; only a template keeps one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from relbase.html import stack
from relbase.html.foreign import BREAKOUT, FONT_BREAKOUT, HTML, MATH, MIXED_CASE, SVG
from relbase.html.in_body import VOID_IN_HEAD, InBody, Tag
from relbase.html.stack import Open, foreign_key

_BODIES: Final = (b"tbody", b"tfoot", b"thead")
_PARTS: Final = frozenset(b"caption col colgroup tbody td tfoot th thead tr".split())


class _TableMode(NamedTuple):
    """An insertion mode of tables (§13.2.6.4.9 to 15): that in the elements `own`."""

    own: tuple[bytes, ...]
    # End tags that close these elements, and are then processed again.
    outer: tuple[bytes, ...]
    # Start tags for which the stack is cleared back to a context, and the element that they open. A
    # colgroup has only columns in it: it is closed at once, so that it needs no mode.
    opened: Mapping[bytes, bytes]
    context: int | None


_TABLE_MODES: Final = {
    name: mode
    for mode in (
        _TableMode(
            *((b"table",), ()),
            {
                **{name: name for name in (b"caption", *_BODIES)},
                **dict.fromkeys((b"td", b"th", b"tr"), b"tbody"),
                **dict.fromkeys((b"col", b"colgroup"), b""),
            },
            stack.TABLE,
        ),
        _TableMode(_BODIES, (b"table",), dict.fromkeys((b"td", b"th", b"tr"), b"tr"), stack.BODY),
        _TableMode((b"tr",), (b"table", *_BODIES), {b"td": b"td", b"th": b"th"}, stack.ROW),
        _TableMode((b"td", b"th"), (b"table", b"tr", *_BODIES), {}, None),
        _TableMode((b"caption",), (b"table",), {}, None),
    )
    for name in mode.own
}
# Modes in which white space is put where it is, and reconstructs nothing.
_KEEP_SPACE: Final = frozenset((b"table", *_BODIES, b"tr"))
# What a start tag in a template switches its insertion mode to.
_TEMPLATE_MODES: Final = {
    **dict.fromkeys((b"caption", b"colgroup", *_BODIES), b"table"),
    b"col": b"col",
    b"tr": b"tbody",
    b"td": b"tr",
    b"th": b"tr",
}
_IN_HEAD: Final = VOID_IN_HEAD | {b"noframes", b"script", b"style", b"title"}


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
            breaks_out = not FONT_BREAKOUT.isdisjoint(tag.stated())
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
        is_kept = mode in _KEEP_SPACE and current.name in _KEEP_SPACE | {b"template"}
        if mode != b"col" and not (is_kept and are_space):
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

    # ---- The insertion modes, each named after an element that it is the mode of

    @property
    def _mode(self) -> bytes:
        name = self.elements[self.depth(stack.MODE)].name
        return self._template_modes[-1] if name == b"template" else name

    def _start(self, name: bytes, tag: Tag) -> str:
        mode = self._mode
        if name == b"template":
            self.insert(name)
            self._template_modes.append(name)
        elif mode in _TABLE_MODES:
            return self._start_in_table(name, tag, _TABLE_MODES[mode])
        elif mode == b"template":
            if name not in _IN_HEAD:
                self._template_modes[-1] = _TEMPLATE_MODES.get(name, b"body")
                return self._start(name, tag)
        elif mode != b"col":
            return self.start_in_body(name, tag)
        return HTML

    def _start_in_table(self, name: bytes, tag: Tag, mode: _TableMode) -> str:
        if name in mode.opened:
            assert mode.context is not None
            self.clear_to(mode.context)
            opened = mode.opened[name]
            if opened:
                self.insert(opened)
            return HTML if opened in {name, b""} else self._start(name, tag)
        if name in _PARTS:
            return self._start(name, tag) if self.close(stack.TABLE, *mode.own) else HTML
        if mode.context is None:
            return self.start_in_body(name, tag)
        if name == b"table":
            return self._start(name, tag) if self.close(stack.TABLE, name) else HTML
        if name == b"form":
            if self._form is None and not self.templates:
                self._form = Open(name, HTML)
        elif not (name == b"input" and tag.says(b"type", b"hidden")):
            return self.start_in_body(name, tag)
        return HTML

    def _end(self, name: bytes) -> None:
        mode = self._mode
        if name == b"template":
            if self.depth(name) >= 0:
                self.pop_until(name)
                self.clear_to_marker()
                self._template_modes.pop()
        elif mode in _TABLE_MODES:
            self._end_in_table(name, _TABLE_MODES[mode])
        elif mode not in {b"template", b"col"}:
            self.end_in_body(name)

    def _end_in_table(self, name: bytes, mode: _TableMode) -> None:
        if name in mode.own:
            self.close(stack.TABLE, name)
        elif name in mode.outer:
            # In a template no table needs to be open; only a cell asks for it.
            is_open = name == b"table" and b"td" not in mode.own
            if (is_open or self.is_in(stack.TABLE, name)) and self.close(stack.TABLE, *mode.own):
                self._end(name)
        elif name not in _PARTS:
            self.end_in_body(name)
