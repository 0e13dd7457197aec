"""The insertion mode "in body" of the tree construction (WHATWG HTML §13.2.6.4.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, NamedTuple

from relbase.html import stack
from relbase.html.foreign import FOREIGN_ROOTS, HTML, MATH, RAW_TEXT, SVG, SVG_HTML, VOID
from relbase.html.stack import HEADINGS, KINDS, Open, OpenElements, copy_of, element
from relbase.html.vocabulary import keyword


def _words(text: bytes) -> frozenset[bytes]:
    return frozenset(text.split())


VOID_IN_HEAD: Final = _words(b"base basefont bgsound link meta")
_BLOCKS: Final = _words(
    b"address article aside blockquote center details dialog dir div dl fieldset figcaption figure "
    b"footer header hgroup main menu nav ol p search section summary ul pre listing"
)
_FORMATTING: Final = KINDS[stack.FORMATTING]
# The scope in which an end tag closes its element.
_SCOPES: Final = {
    **dict.fromkeys(
        _BLOCKS | HEADINGS | _words(b"applet button dd dt marquee object select"), stack.SCOPE
    ),
    b"p": stack.BUTTON,
    b"li": stack.LIST,
}
_IGNORED: Final = VOID_IN_HEAD | _words(
    b"body caption col colgroup frame frameset head html param source tbody td tfoot th thead tr "
    b"track"
)
_IMPLIED: Final = _words(b"dd dt li optgroup option p rb rp rt rtc")
_OUTER_LOOPS, _INNER_LOOPS = 8, 3  # of the adoption agency


class Tag(NamedTuple):
    """What a start tag states, as far as it matters."""

    stated: Callable[[], Mapping[bytes, bytes]]  # reads its attributes as written, by their names
    is_self_closing: bool

    def says(self, attribute: bytes, *values: bytes) -> bool:
        return keyword(self.stated().get(attribute, b"")) in values


def _by_name(*rules: tuple[Iterable[bytes], Any]) -> dict[bytes, Any]:
    return {name: rule for names, rule in rules for name in names}


class InBody(OpenElements):
    """What is open, and how tags change it in the mode "in body"."""

    __slots__ = ("_form", "_is_quirky", "_template_modes")

    def __init__(self, *, is_quirky: bool) -> None:
        super().__init__()
        self._is_quirky = is_quirky
        self._template_modes: list[bytes] = []
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

    def start_in_body(self, name: bytes, tag: Tag) -> str:
        if name in FOREIGN_ROOTS:
            self.reconstruct()
            return self._open_foreign(name, FOREIGN_ROOTS[name], tag)
        for step in self._starts.get(name, (InBody.reconstruct, InBody.insert)):
            step(self, name, tag)
        return HTML

    def end_in_body(self, name: bytes) -> None:
        if name in _SCOPES:
            self.close(_SCOPES[name], b"h" if name in HEADINGS else name)
        else:
            self._ends.get(name, InBody._end_other)(self, name)

    # ---- What start tags do

    def _close_p(self, *_: object) -> None:
        self.close(stack.BUTTON, b"p")

    def _close_p_in_standards_mode(self, *_: object) -> None:
        if not self._is_quirky:
            self._close_p()

    def _close_heading(self, *_: object) -> None:
        if self.current.namespace == HTML and self.current.name in HEADINGS:
            self.pop()

    def _close_same(self, name: bytes, _tag: Tag) -> None:
        self.close(stack.SCOPE, name)

    def _close_select(self, *_: object) -> None:
        self.close(stack.SCOPE, b"select")

    def _close_item(self, name: bytes, _tag: Tag) -> None:
        """Close the item that is open, unless something special is open in it."""
        at = max(map(self.depth, (b"li",) if name == b"li" else (b"dd", b"dt")))
        if at >= 0 and at >= self.depth(stack.NOT_IN_LIST):
            self.cut(at)

    def _close_option(self, name: bytes, _tag: Tag) -> None:
        if self.is_in(stack.SCOPE, b"select"):
            self.pop_while(_IMPLIED - ({b"optgroup"} if name == b"option" else set()))
        elif self.current.namespace == HTML and self.current.name == b"option":
            self.pop()

    def _close_implied(self, name: bytes, _tag: Tag) -> None:
        if self.is_in(stack.SCOPE, b"select" if name == b"hr" else b"ruby"):
            self.pop_while(_IMPLIED - ({b"rtc"} if name in {b"rp", b"rt"} else set()))

    def _start_select(self, name: bytes, _tag: Tag) -> None:
        if not self.close(stack.SCOPE, name):
            self.reconstruct()
            self.insert(name)

    def _start_form(self, name: bytes, _tag: Tag) -> None:
        if self._form is None or self.templates:
            self._close_p()
            form = Open(name)
            self.push(form)
            self._form = self._form if self.templates else form

    def _start_formatting(self, name: bytes, tag: Tag) -> None:
        listed = self.since_marker() if name == b"a" else []
        links = [opened for opened in listed if opened.name == name]
        if links:
            self._adopt(name)
            self._drop(links[-1])
        self.reconstruct()
        if name == b"nobr" and self.is_in(stack.SCOPE, name):
            self._adopt(name)
            self.reconstruct()
        self.push_formatting(Open(name, stated=tag.stated() or None))

    # ---- End tags

    def _ignore(self, _name: bytes) -> None:
        """Leave what is open as it is."""

    def _end_form(self, _name: bytes) -> None:
        if self.templates:
            self.close(stack.SCOPE, b"form")
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
        if any(listed is dropped for listed in self.formatting):
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
        return any(listed is asked for listed in self.since_marker())

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
        return next(i for i, listed in enumerate(self.formatting) if listed is sought)

    _starts: ClassVar[Mapping[bytes, tuple[Callable[[Any, bytes, Tag], object], ...]]] = _by_name(
        (_IGNORED | RAW_TEXT, ()),
        (_BLOCKS, (_close_p, OpenElements.insert)),
        (HEADINGS, (_close_p, _close_heading, OpenElements.insert)),
        ([b"form"], (_start_form,)),
        ([b"li", b"dd", b"dt"], (_close_item, _close_p, OpenElements.insert)),
        ([b"button"], (_close_same, OpenElements.reconstruct, OpenElements.insert)),
        (_FORMATTING, (_start_formatting,)),
        ([b"table"], (_close_p_in_standards_mode, OpenElements.insert)),
        ((VOID | {b"image"}) - _IGNORED, (OpenElements.reconstruct,)),
        ([b"input"], (_close_select, OpenElements.reconstruct)),
        ([b"hr"], (_close_p, _close_implied)),
        ([b"plaintext"], (_close_p,)),
        ([b"xmp"], (_close_p, OpenElements.reconstruct)),
        ([b"select"], (_start_select,)),
        ([b"optgroup", b"option"], (_close_option, OpenElements.reconstruct, OpenElements.insert)),
        ([b"rb", b"rp", b"rt", b"rtc"], (_close_implied, OpenElements.insert)),
    )
    _ends: ClassVar[Mapping[bytes, Callable[[Any, bytes], object]]] = _by_name(
        ([b"body", b"html"], _ignore),
        ([b"form"], _end_form),
        (_FORMATTING, _adopt),
        ([b"br"], OpenElements.reconstruct),
    )
