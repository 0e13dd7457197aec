"""The insertion mode "in body" of the tree construction (WHATWG HTML §13.2.6.4.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final

from relbase.html import stack
from relbase.html.foreign import FOREIGN_ROOTS, HTML, MATH, SVG, SVG_HTML, VOID
from relbase.html.stack import HEADINGS, KINDS, Open, OpenElements, copy_of, element
from relbase.html.tags import RAW_TEXT
from relbase.html.vocabulary import keyword


def _words(text: bytes) -> frozenset[bytes]:
    return frozenset(text.split())


VOID_IN_HEAD: Final = _words(b"base basefont bgsound link meta")
_BLOCKS: Final = _words(
    b"address article aside blockquote center details dialog dir div dl fieldset figcaption figure "
    b"footer header hgroup main menu nav ol p search section summary ul pre listing"
)
_FORMATTING: Final = KINDS[stack.FORMATTING]
_MARKED: Final = _words(b"applet marquee object")
_IGNORED: Final = VOID_IN_HEAD | _words(
    b"body caption col colgroup frame frameset head html param source tbody td tfoot th thead tr "
    b"track"
)
_IMPLIED: Final = _words(b"dd dt li optgroup option p rb rp rt rtc")
_OUTER_LOOPS, _INNER_LOOPS = 8, 3  # of the adoption agency


class Tag:
    """What a start tag states, as far as it matters."""

    __slots__ = ("_stated", "is_self_closing")

    def __init__(
        self, stated: Callable[[], Mapping[bytes, bytes]], *, is_self_closing: bool
    ) -> None:
        self._stated = stated
        self.is_self_closing = is_self_closing

    @property
    def stated(self) -> Mapping[bytes, bytes]:
        """The attributes as written, by their names."""
        return self._stated()

    def says(self, attribute: bytes, *values: bytes) -> bool:
        return keyword(self.stated.get(attribute, b"")) in values


IN_BODY, IN_TABLE, IN_TABLE_BODY, IN_ROW, IN_CELL, IN_CAPTION, IN_COLUMN_GROUP, IN_TEMPLATE = range(
    8
)


def _by_name(*rules: tuple[Iterable[bytes], Any]) -> dict[bytes, Any]:
    return {name: rule for names, rule in rules for name in names}


class InBody(OpenElements):
    """What is open, and how tags change it in the mode "in body"."""

    __slots__ = ("_form", "_is_quirky", "_template_modes")

    def __init__(self, *, is_quirky: bool) -> None:
        super().__init__()
        self._is_quirky = is_quirky
        self._template_modes: list[int] = []
        self._form: Open | None = None

    @property
    def templates(self) -> int:
        """How many template elements of HTML are open."""
        return len(self._template_modes)

    def _open_foreign(self, name: bytes, namespace: str, tag: Tag) -> str:
        if not tag.is_self_closing:
            holds_html = namespace == SVG and name in SVG_HTML
            if namespace == MATH and name == b"annotation-xml":
                holds_html = tag.says(b"encoding", b"text/html", b"application/xhtml+xml")
            self.push(element(name, namespace, holds_html))
        return namespace

    def _insert(self, name: bytes, *, marker: bool = False) -> None:
        self.push(element(name))
        if marker:
            self.formatting.append(None)

    def _close(self, name: bytes, scope: int = stack.SCOPE, *names: bytes) -> bool:
        """Close an element that is in scope, and what its end tag implies; True if there is one."""
        names = names or (name,)
        if not self.is_in(scope, *names):
            return False
        self.pop_while(_IMPLIED - {name})
        self.pop_until(*names)
        return True

    def start_in_body(self, name: bytes, tag: Tag) -> str:
        if name in FOREIGN_ROOTS:
            self.reconstruct()
            return self._open_foreign(name, FOREIGN_ROOTS[name], tag)
        self._starts_in_body.get(name, InBody._start_other)(self, name, tag)
        return HTML

    def end_in_body(self, name: bytes) -> None:
        self._ends_in_body.get(name, InBody._end_other)(self, name)

    # ---- Start tags

    def _ignore(self, *_: object) -> None:
        """Leave what is open as it is."""

    def _start_template(self, name: bytes, _tag: Tag | None = None) -> None:
        self._insert(name, marker=True)
        self._template_modes.append(IN_TEMPLATE)

    def _start_block(self, name: bytes, _tag: Tag) -> None:
        self._close(b"p", stack.BUTTON)
        if name in HEADINGS and self.current.namespace == HTML and self.current.name in HEADINGS:
            self.pop()
        self._insert(name)

    def _start_form(self, name: bytes, _tag: Tag) -> None:
        if self._form is None or self.templates:
            self._close(b"p", stack.BUTTON)
            form = Open(name)
            self.push(form)
            self._form = self._form if self.templates else form

    def _start_item(self, name: bytes, _tag: Tag) -> None:
        """Close the item that is open, unless something special is open in it."""
        at = max(map(self.depth, (b"li",) if name == b"li" else (b"dd", b"dt")))
        if at >= 0 and at >= self.depth(stack.NOT_IN_LIST):
            item = self.elements[at].name
            self.pop_while(_IMPLIED - {item})
            self.pop_until(item)
        self._close(b"p", stack.BUTTON)
        self._insert(name)

    def _start_button(self, name: bytes, _tag: Tag) -> None:
        self._close(b"", stack.SCOPE, name)
        self.reconstruct()
        self._insert(name)

    def _start_formatting(self, name: bytes, tag: Tag) -> None:
        links = [one for one in self.since_marker() if one.name == name] if name == b"a" else []
        if links:
            self._adopt(name)
            self._drop(links[-1])
        self.reconstruct()
        if name == b"nobr" and self.is_in(stack.SCOPE, name):
            self._adopt(name)
            self.reconstruct()
        self.push_formatting(Open(name, stated=tag.stated or None))

    def _start_marked(self, name: bytes, _tag: Tag) -> None:
        self.reconstruct()
        self._insert(name, marker=True)

    def _start_table(self, name: bytes, _tag: Tag) -> None:
        if not self._is_quirky:
            self._close(b"p", stack.BUTTON)
        self._insert(name)

    def _start_void(self, name: bytes, _tag: Tag) -> None:
        if name == b"input" and self.is_in(stack.SCOPE, b"select"):
            self.pop_until(b"select")
        self.reconstruct()

    def _start_after_p(self, name: bytes, _tag: Tag) -> None:
        self._close(b"p", stack.BUTTON)
        if name == b"hr" and self.is_in(stack.SCOPE, b"select"):
            self.pop_while(_IMPLIED)
        elif name == b"xmp":
            self.reconstruct()

    def _start_select(self, name: bytes, _tag: Tag) -> None:
        if self.is_in(stack.SCOPE, name):
            self.pop_until(name)
        else:
            self.reconstruct()
            self._insert(name)

    def _start_option(self, name: bytes, _tag: Tag) -> None:
        if self.is_in(stack.SCOPE, b"select"):
            self.pop_while(_IMPLIED - ({b"optgroup"} if name == b"option" else set()))
        elif self.current.namespace == HTML and self.current.name == b"option":
            self.pop()
        self.reconstruct()
        self._insert(name)

    def _start_ruby(self, name: bytes, _tag: Tag) -> None:
        if self.is_in(stack.SCOPE, b"ruby"):
            self.pop_while(_IMPLIED - ({b"rtc"} if name in {b"rp", b"rt"} else set()))
        self._insert(name)

    def _start_other(self, name: bytes, _tag: Tag) -> None:
        self.reconstruct()
        self._insert(name)

    # ---- End tags

    def _end_block(self, name: bytes) -> None:
        self._close(name)

    def _end_scoped(self, name: bytes) -> None:
        self._close(name, stack.BUTTON if name == b"p" else stack.LIST)

    def _end_heading(self, name: bytes) -> None:
        self._close(name, stack.SCOPE, b"h")

    def _end_marked(self, name: bytes) -> None:
        if self._close(name):
            self.clear_to_marker()

    def _end_br(self, _name: bytes) -> None:
        self.reconstruct()

    def _end_form(self, _name: bytes) -> None:
        if self.templates:
            self._close(b"form")
            return
        form, self._form = self._form, None
        if form is None or not form.is_open:
            return
        at = self.index(form)
        if at >= self.depth(stack.SCOPE):
            self.pop_while(_IMPLIED)
            self.replace(at, at + 1)

    def _end_other(self, name: bytes) -> None:
        """Any other end tag."""
        at = self.depth(name)
        if at >= 0 and at >= self.depth(stack.SPECIAL):
            self.cut(at)

    # ---- Formatting elements

    def _drop(self, dropped: Open) -> None:
        if any(one is dropped for one in self.formatting):
            self.forget(dropped)
        if dropped.is_open:
            at = self.index(dropped)
            self.replace(at, at + 1)

    def _adopt(self, name: bytes) -> None:
        """Run the adoption agency algorithm."""
        current = self.current
        if (current.namespace, current.name) == (HTML, name) and not self._is_listed(current):
            self.pop()
            return
        for _ in range(_OUTER_LOOPS):
            listed = [open_ for open_ in self.since_marker() if open_.name == name]
            if not listed:
                self._end_other(name)
                return
            formatting = listed[-1]
            if not formatting.is_open:
                self.forget(formatting)
                return
            at = self.index(formatting)
            if at < self.depth(stack.SCOPE):
                return
            furthest = self._special_above(at)
            if furthest < 0:
                self.cut(at)
                self.forget(formatting)
                return
            self._move(formatting, at, furthest)

    def _is_listed(self, asked: Open) -> bool:
        return any(one is asked for one in self.since_marker())

    def _special_above(self, at: int) -> int:
        if self.depth(stack.SPECIAL) <= at:
            return -1
        above = at + 1
        while stack.SPECIAL not in self.elements[above].keys:
            above += 1
        self.spend(above - at)
        return above

    def _move(self, formatting: Open, at: int, furthest: int) -> None:
        """Put copies of the formatting elements into the furthest block."""
        kept: list[Open] = []
        bookmark = formatting
        for inner, node in enumerate(reversed(self.elements[at + 1 : furthest]), 1):
            self.spend(1)
            is_listed = self._is_listed(node)
            if inner > _INNER_LOOPS and is_listed:
                self.forget(node)
            elif is_listed:
                copied = copy_of(node)
                self.formatting[self._place(node)] = copied
                bookmark = copied if not kept else bookmark
                kept.append(copied)
        copied = copy_of(formatting)
        place = self._place(bookmark) + (bookmark is not formatting)
        self.formatting.insert(place, copied)
        self.forget(formatting)
        block = self.elements[furthest]
        self.replace(at, furthest + 1, *reversed(kept), block, copied)

    def _place(self, sought: Open) -> int:
        return next(i for i, one in enumerate(self.formatting) if one is sought)

    _starts_in_body: ClassVar[Mapping[bytes, Callable[[Any, bytes, Tag], None]]] = _by_name(
        (_IGNORED | RAW_TEXT, _ignore),
        ([b"template"], _start_template),
        (_BLOCKS | HEADINGS, _start_block),
        ([b"form"], _start_form),
        ([b"li", b"dd", b"dt"], _start_item),
        ([b"button"], _start_button),
        (_FORMATTING, _start_formatting),
        (_MARKED, _start_marked),
        ([b"table"], _start_table),
        ((VOID | {b"image"}) - _IGNORED, _start_void),
        ([b"hr", b"plaintext", b"xmp"], _start_after_p),
        ([b"select"], _start_select),
        ([b"optgroup", b"option"], _start_option),
        ([b"rb", b"rp", b"rt", b"rtc"], _start_ruby),
    )
    _ends_in_body: ClassVar[Mapping[bytes, Callable[[Any, bytes], None]]] = _by_name(
        ([b"body", b"html"], _ignore),
        (_BLOCKS | {b"button", b"dd", b"dt", b"select"}, _end_block),
        ([b"p", b"li"], _end_scoped),
        ([b"form"], _end_form),
        (HEADINGS, _end_heading),
        (_FORMATTING, _adopt),
        (_MARKED, _end_marked),
        ([b"br"], _end_br),
    )
