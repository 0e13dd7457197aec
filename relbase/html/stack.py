"""The stack of open elements and the list of active formatting elements (WHATWG HTML §13.2.4).

Each question about a scope is answered from the depths at which elements of a kind are open, so
that its time does not depend on how many are open.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Container
from functools import lru_cache
from typing import Final, TypeAlias

from relbase.html.foreign import HTML, MATH, MATH_TEXT, MIXED_CASE, POINTS

# The name of an element of HTML, that of another one in a tuple, or a kind.
Key: TypeAlias = "int | bytes | tuple[bytes, str]"

# ---- Kinds of elements: each is a key of the stack, as is the name of each element of HTML.

ANY_HTML, FOREIGN, SPECIAL, NOT_IN_LIST, SCOPE, LIST, BUTTON, TABLE, ROW, BODY, MODE, FORMATTING = (
    range(12)
)

HEADINGS: Final = frozenset(b"h1 h2 h3 h4 h5 h6".split())
_SPECIAL: Final = HEADINGS | frozenset(
    b"address applet area article aside base basefont bgsound blockquote body br button caption "
    b"center col colgroup dd details dir div dl dt embed fieldset figcaption figure footer form "
    b"frame frameset head header hgroup hr html iframe img input keygen li link listing main "
    b"marquee menu meta nav noembed noframes noscript object ol p param plaintext pre script "
    b"search section select source style summary table tbody td template textarea tfoot th thead "
    b"title tr track ul wbr xmp".split()
)
_SCOPE: Final = frozenset(
    b"applet body caption html table td th marquee object select template".split()
)
# What decides the insertion mode ("reset the insertion mode appropriately").
_MODES: Final = frozenset(b"body caption table tbody td template tfoot th thead tr".split())
KINDS: Final[dict[int, frozenset[bytes]]] = {
    SPECIAL: _SPECIAL,
    NOT_IN_LIST: _SPECIAL - {b"address", b"div", b"p"},
    SCOPE: _SCOPE,
    LIST: _SCOPE | {b"ol", b"ul"},
    BUTTON: _SCOPE | {b"button"},
    TABLE: frozenset((b"body", b"table", b"template")),
    ROW: frozenset((b"body", b"tr", b"template")),
    BODY: frozenset((b"body", b"tbody", b"thead", b"tfoot", b"template")),
    MODE: _MODES,
    FORMATTING: frozenset(b"a b big code em font i nobr s small strike strong tt u".split()),
}
_MARKERS: Final = frozenset(
    (b"applet", b"caption", b"marquee", b"object", b"td", b"template", b"th")
)


class Open:
    """An open element, with its name in lower case."""

    __slots__ = ("holds_html", "is_open", "keys", "name", "namespace", "stated")

    def __init__(
        self, name: bytes, namespace: str = HTML, *, stated: object = None, holds_html: bool = False
    ) -> None:
        self.name, self.namespace = name, namespace
        self.stated = stated  # the attributes of a formatting element
        self.holds_html = holds_html  # an integration point of HTML
        self.is_open = False  # of formatting elements and forms; others are shared
        self.keys = _keys(name, namespace)

    @property
    def is_text_point(self) -> bool:
        return self.namespace == MATH and self.name in MATH_TEXT


@lru_cache(maxsize=1024)
def element(name: bytes, namespace: str = HTML, holds_html: bool = False) -> Open:  # noqa: FBT001, FBT002 (fast)
    return Open(name, namespace, holds_html=holds_html)


@lru_cache(maxsize=1024)
def _keys(name: bytes, namespace: str) -> tuple[Key, ...]:
    if namespace == HTML:
        kinds = (kind for kind, names in KINDS.items() if name in names)
        return (name, ANY_HTML, *kinds, *((b"h",) if name in HEADINGS else ()))
    return (
        foreign_key(name, namespace),
        FOREIGN,
        *((SPECIAL, NOT_IN_LIST, SCOPE, LIST, BUTTON) if name in POINTS[namespace] else ()),
    )


def foreign_key(name: bytes, namespace: str) -> Key:
    """Return the key of elements that are not of HTML and that an end tag there closes."""
    return (name, namespace if name in MIXED_CASE else "")


# The most formatting elements that may be open: each takes memory of its own.
MAX_FORMATTING: Final = 50_000


class Unsure(Exception):  # noqa: N818 (no error: it ends a simulation)
    """What is open is not known any more."""


class OpenElements:
    """The stack of open elements, above a body, and the list of active formatting elements.

    What is moved in the middle of the stack costs work, which is limited by `allow`.
    """

    __slots__ = ("_depths", "_work", "elements", "formatting")

    def __init__(self) -> None:
        self.elements: list[Open] = []
        self._depths: defaultdict[Key, array[int]] = defaultdict(lambda: array("L"))
        self.formatting: list[Open | None] = []  # None: a marker
        self._work = 0
        self.push(element(b"body"))

    @property
    def current(self) -> Open:
        return self.elements[-1]

    def allow(self, work: int) -> None:
        self._work += work

    def spend(self, work: int) -> None:
        self._work -= work
        if self._work < 0:
            raise Unsure

    def depth(self, key: Key) -> int:
        """Return where the last element of a name or kind is open, -1 if none is."""
        depths = self._depths.get(key)
        return depths[-1] if depths else -1

    def is_in(self, scope: int, *names: bytes) -> bool:
        """Return whether one of these is open above all elements that end a scope, or ends it."""
        return max(map(self.depth, names)) >= max(self.depth(scope), 0)

    def insert(self, name: bytes, *_: object) -> None:
        """Open an element of HTML."""
        self.push(element(name))
        if name in _MARKERS:
            self.formatting.append(None)

    def close(self, scope: int, *names: bytes) -> bool:
        """Close an element with what is in it, if one is in scope; True if there is one."""
        if not self.is_in(scope, *names):
            return False
        self.pop_until(*names)
        if names[0] in _MARKERS:
            self.clear_to_marker()
        return True

    def push(self, opened: Open) -> None:
        opened.is_open = True
        at = len(self.elements)
        for key in opened.keys:
            self._depths[key].append(at)
        self.elements.append(opened)

    def cut(self, at: int) -> list[Open]:
        """Close all elements from a depth on."""
        closed = self.elements[at:]
        for opened in closed:
            opened.is_open = False
            for key in opened.keys:
                self._depths[key].pop()
        del self.elements[at:]
        return closed

    def pop(self) -> None:
        self.cut(len(self.elements) - 1)

    def pop_until(self, *names: bytes) -> None:
        self.cut(max(map(self.depth, names)))

    def clear_to(self, kind: int) -> None:
        """Clear the stack back to a context: of a table, a table body or a row."""
        self.cut(self.depth(kind) + 1)

    def pop_while(self, names: Container[bytes]) -> None:
        while self.current.namespace == HTML and self.current.name in names:
            self.pop()

    def replace(self, at: int, until: int, *opened: Open) -> None:
        """Replace elements within the stack."""
        above = self.cut(at)
        self.spend(len(above) + 1)
        for element in (*opened, *above[until - at :]):
            self.push(element)

    def index(self, sought: Open) -> int:
        at = len(self.elements) - 1
        while self.elements[at] is not sought:
            at -= 1
        self.spend(len(self.elements) - at)
        return at

    # ---- The list of active formatting elements (§13.2.4.3)

    def push_formatting(self, opened: Open) -> None:
        """Push it; of three that are equal since the last marker the first one goes."""
        if len(self._depths.get(FORMATTING, ())) >= MAX_FORMATTING:
            raise Unsure
        since = self.since_marker()
        equal = [
            listed
            for listed in since
            if (listed.name, listed.stated) == (opened.name, opened.stated)
        ]
        if len(equal) >= 3:  # noqa: PLR2004 ("the Noah's Ark clause")
            self.forget(equal[0])
        self.formatting.append(opened)
        self.push(opened)

    def since_marker(self) -> list[Open]:
        since = []
        for opened in reversed(self.formatting):
            if opened is None:
                break
            since.append(opened)
        self.spend(len(since))
        return since[::-1]

    def forget(self, listed: Open) -> None:
        at = len(self.formatting) - 1
        while self.formatting[at] is not listed:
            at -= 1
        self.spend(len(self.formatting) - at)
        del self.formatting[at]

    def clear_to_marker(self) -> None:
        while self.formatting and self.formatting.pop() is not None:
            continue

    def reconstruct(self, *_: object) -> None:
        """Reconstruct the active formatting elements."""
        last = self.formatting[-1] if self.formatting else None
        if last is None or last.is_open:
            return
        at = len(self.formatting) - 1
        while at and (before := self.formatting[at - 1]) is not None and not before.is_open:
            at -= 1
        self.spend(len(self.formatting) - at)
        for i, closed in enumerate(self.formatting[at:], at):
            assert closed is not None
            self.formatting[i] = opened = copy_of(closed)
            self.push(opened)


def copy_of(formatting: Open) -> Open:
    return Open(formatting.name, stated=formatting.stated)
