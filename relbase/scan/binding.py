"""Which scanner reads HTML, and the tables of the compiled one.

The exact tokenizer (`html.tokens`) and the compiled scanner differ only in speed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from relbase.css.functions import (
    CONTAINER,
    DOCUMENTS,
    FUNCTIONS,
    IMPORT,
    NAMESPACE,
    SUPPORTS,
    Form,
)
from relbase.edit import Edit, splice
from relbase.html.foreign import HTML, IN_HEAD, MATH, RAW_TEXT, SVG, base_tag
from relbase.html.places import ANY, PLACES, VML, attributes_of
from relbase.html.vocabulary import EXTENDED, JSON_LD_NAMES, LOCAL_WORD, TEXT_ROWS, Nested
from relbase.scan import tables
from relbase.scan.held import Summaries, deciders, held_attributes, row_of
from relbase.scan.tables import EDITS, PlainForm, facts
from relbase.view.charset import PRESCAN_LENGTH

if TYPE_CHECKING:
    from relbase.html import tags as html_tags

# The levels up that have their own forms: HERE + 1, HERE + 2, ... Documentation climbs five.
MAX_UP: Final = 8

# A sample of each form, which stands for any other reference of that form.
SAMPLES: Final[Mapping[int, str]] = {
    PlainForm.ROOT: "/x",
    PlainForm.FRAGMENT: "#x",
    PlainForm.QUERY: "?x",
    PlainForm.NETWORK: "//x/",
    PlainForm.PATH: "x",
    PlainForm.EMPTY: "",
    PlainForm.HERE: "./",  # nothing or more follows
    **{PlainForm.HERE + levels: "../" * levels for levels in range(1, MAX_UP + 1)},
}


class Prefix(NamedTuple):
    until: int  # the length of what it replaces
    new: bytes
    cost: int  # of the budget
    fits: int  # UNQUOTED, IN_CSS


# By the number of the form; None if its references need a closer look, one by one.
PrefixesByForm: TypeAlias = "Mapping[int, Prefix | None]"

# Called with a text, where to begin, where to end, and whether that is the inside of a noscript, or
# of a conditional comment. It returns what it found up to the next place that needs a closer look,
# and that place, or -1 if there is none.
Scan: TypeAlias = "Callable[[bytes, int, int, bool, bool], tuple[Any, int]]"

EXACT: Final = "exact"
COMPILED: Final = "compiled"

_VARIABLE: Final = "RELBASE_SCANNER"


def _load() -> tuple[Any, str]:
    """Return the compiled scanner, or None, and why one that is there is not used."""
    wanted = os.environ.get(_VARIABLE, "")
    if wanted not in {"", EXACT, COMPILED}:
        raise ValueError(f"{_VARIABLE} is {wanted!r}: set it to {EXACT} or {COMPILED}, or unset it")
    if wanted == EXACT:
        return None, f"{_VARIABLE} is {EXACT}"
    module, why = _built()
    if wanted == COMPILED and module is None:
        raise ValueError(
            f"{_VARIABLE} is {COMPILED}, and {why or 'this relbase has no compiled scanner'}:"
            f" install it where there is a C compiler, or set {_VARIABLE} to {EXACT}"
        )
    return module, why


def _built() -> tuple[Any, str]:
    try:
        scanner: Any = import_module("relbase.scan._scanner")
    except ModuleNotFoundError:
        return None, ""
    except ImportError as error:
        return None, f"the compiled one does not load: {error}"
    # A stale module, in an editable install whose source has changed, is not used.
    if scanner.SOURCE != _SOURCE or facts() != scanner.FACTS:
        return None, "the compiled one was built from other source code"
    return scanner, ""


# The CRC-32 of _scanner.c and _walk.c, which the build compiles into the module. A test compares
# it with the files.
_SOURCE: Final = 0xE0CAAA39

# The compiled scanner, or None if the exact one reads everything. Only tests change it.
compiled: Any
# And why one that is there is not used, or "".
compiled, UNUSED = _load()

# The value of `relbase.scanner`.
NAME: Final = EXACT if compiled is None else COMPILED


# Elements of SVG and MathML that contain only each other and text, so that their tags do not change
# what is markup. Their attributes may still hold references.
SVG_NAMES: Final = (
    b"path g circle rect line polygon polyline ellipse symbol defs use text tspan stop mask "
    b"pattern marker filter clipPath linearGradient radialGradient feBlend feColorMatrix "
    b"feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap "
    b"feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge "
    b"feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile "
    b"feTurbulence image feImage animate set animateTransform animateMotion mpath textPath "
    b"switch view"
).split()
MATH_NAMES: Final = (
    b"mi mo mn ms mrow mstyle msup msub msubsup mover munder munderover mfrac msqrt mroot mtable "
    b"mtr mtd mspace mpadded mfenced merror mphantom mtext semantics annotation"
).split()


# ---- The compiled scanner

# The names of its walks.
HTML_WALK: Final = "scan"
CSS_WALK: Final = "css"
XML_WALK: Final = "xml"
LINKS_WALK: Final = "links"

_KINDS: Final[Mapping[bytes, int]] = {
    **dict.fromkeys(RAW_TEXT, tables.RAW),
    b"script": tables.SCRIPT,
    b"style": tables.STYLE,
    b"noscript": tables.NOSCRIPT,
    b"svg": tables.SVG,
    b"math": tables.MATH,
    b"base": tables.BASE,
    b"template": tables.TEMPLATE,
    # These change what is markup: the exact tokenizer keeps track of them.
    **dict.fromkeys((b"frameset", b"plaintext"), tables.LOOK),
}


# The flags for most documents.
USUAL: Final = tables.CSS_TOO | tables.ASCII_STANDS


@cache
def scanning(
    walk: str = HTML_WALK, mode: int = EDITS, flags: int = USUAL, extended: int = 0
) -> Callable[..., Any]:
    """Return a scan to the next place that needs a closer look; it takes `PrefixesByForm` first.

    `flags` are those of `scan.tables`. By `mode` it makes edits, with their cost or with the
    references as written. Or it lists references: where each begins and ends, its `PlainForm` (0:
    absolute), the number of its attribute in `attribute_names` (-1: the text of an element), what
    that holds (`HELD`, `is_local`), and where the element's name begins and ends.
    """
    return partial(getattr(compiled, walk), _tables(extended=extended), mode, flags, Edit)


def head(text: bytes) -> tuple[int, bytes]:
    """Return where the last of the head's tokens ends, and the head without its raw text."""
    if compiled is not None:
        ended: tuple[int, bytes] = compiled.head(_tables(extended=0), text)
        return ended
    if len(text) <= _SHORT:  # searching it takes less time than reading its tokens
        return len(text), text
    from relbase.html.tags import head_tokens

    pieces: list[bytes] = []
    end = 0
    for token in head_tokens(text):
        pieces.append(text[end : token.after])
        end = token.raw_end
    return end, b"".join(pieces)


_SHORT: Final = 1 << 13


def head_base(text: bytes) -> tuple[int, int, bool] | None:
    """Return where the href of the first `<base>` begins and ends, and whether it has quotes.

    None if a closer look has to tell: it is not in the head, or there is no compiled scanner.
    """
    if compiled is None:
        return None
    href: tuple[int, int, bool] | None = compiled.base(_tables(extended=0), text)
    return href


def may_have_base(text: bytes) -> bool:
    """Whether a `<base>` may be in a text; compiled, the search takes next to nothing."""
    if compiled is None:
        return base_tag.search(text) is not None
    return bool(compiled.look(_tables(extended=0), text, b"charset", 0, None, 0, "<base"))


Words: TypeAlias = tuple[bytes, ...]


class Marks(NamedTuple):
    """Words of which a page with a mark has one: in comments or tags of its head, ..."""

    in_comments: Words
    in_tags: Words
    in_head: Words
    at_end: Words


def marked(marks: Marks, text: bytes) -> Iterable[html_tags.HeadToken]:
    """Return the tokens of a head that may hold a mark, in order."""
    from relbase.html import tags

    if compiled is None:
        return tags.head_tokens(text)
    tokens = compiled.marked(_tables(extended=0), text, marks)
    return [tags.head_token(text, *places) for places in tokens]


def first_look(
    marks: Marks, last: int, data: bytes, *, labelled: bool, for_marks: bool, for_base: bool
) -> int:
    """Return what a first look at a page tells, as bits; marks may be in the `last` bytes.

    If it is `labelled`, its charset is known. For its base, no bits mean that nothing in it states
    one.
    """
    if compiled is not None:
        first, tag = 0 if labelled else PRESCAN_LENGTH, "<base" if for_base else None
        words = b"charset", first, marks if for_marks else None, last, tag
        told: int = compiled.look(_tables(extended=0), data, *words)
        return told
    looked = 0
    if for_marks:
        end, markup = head(data)
        places = markup, markup, data[:end], data[max(0, len(data) - last) :]
        if any(word in place for place, of in zip(places, marks, strict=True) for word in of):
            looked = tables.MAY_BE_MARKED
    # In UTF-16 and ISO-2022-JP, which have these bytes, a tag is written in others.
    if for_base and (base_tag.search(data) or b"\0" in data or b"\x1b" in data):
        looked |= tables.MAY_STATE_BASE
    return looked | tables.MAY_STATE_CHARSET if looked or not for_base else 0


def spliced(data: bytes, edits: Sequence[Edit]) -> bytes:
    """Do what `edit.splice` does, in C if possible."""
    if not edits:
        return data
    done: bytes | None = None
    if compiled is not None and type(edits) is list:
        done = compiled.splice(data, edits)
    return splice(data, edits) if done is None else done


_AT_RULES: Final = {
    **dict.fromkeys((NAMESPACE, CONTAINER), tables.UNREAD),
    IMPORT: tables.IMPORTS,
    **dict.fromkeys((SUPPORTS, *DOCUMENTS), tables.UNLOADED),
}


@cache
def _tables(*, extended: int) -> object:
    numbers = {name: number for number, name in enumerate(held_attributes(extended=extended))}
    rows: dict[bytes, int] = {}
    # By the identity of what is known of an element: most elements share it.
    made: dict[int, int] = {}
    known: Summaries = {}

    def row(namespace: str, element: bytes) -> int:
        same = id(attributes_of(namespace, element))
        if same not in made:
            written = bytes(row_of(namespace, element, numbers, known, extended=extended))
            made[same] = rows.setdefault(written, len(rows))
        return made[same]

    plain = tables.PLAIN
    named = {element for space, element, _ in PLACES if space == HTML} - {ANY, VML}
    elements = tuple(
        (name, _KINDS.get(name, plain), row(HTML, name)) for name in sorted(named | {*_KINDS})
    )
    foreign = [
        tuple((name, plain, row(space, name)) for name in sorted({*map(bytes.lower, names), root}))
        for space, root, names in ((SVG, b"svg", SVG_NAMES), (MATH, b"math", MATH_NAMES))
    ]
    # These hold only text, or get a closer look.
    texts = (b"title", tables.RAW), (b"desc", tables.RAW), (b"style", tables.STYLE)
    foreign[0] += tuple((name, kind, row(SVG, name)) for name, kind in texts)
    deciding: dict[bytes, tuple[int, int]] = {}
    deciding_by = list(deciders(extended=extended))
    for (space, element), by, _ in deciding_by:
        for value in {value for _, name, those in deciding_by if name == by for value in those}:
            held = row_of(space, element, numbers, known, extended=extended, decided=(by, value))
            then = numbers[by] + 1, rows.setdefault(bytes(held), len(rows))
            # A value that decides differently elsewhere gets a closer look.
            deciding[value] = then if deciding.get(value, then) == then else (0, 0)
    other, vml = row(HTML, ANY), (VML[:-1], plain, row(HTML, VML[:-1]))
    return compiled.prepare(
        elements,
        *foreign,
        tuple((name, plain, number) for name, number in numbers.items()),
        vml,
        tuple((value, *then) for value, then in sorted(deciding.items())),
        tuple(_types(b"script", extended=extended)),
        tuple(_types(b"style", extended=extended)),
        tuple(
            (function.name, function.form is Form.URL, 0)
            for function in FUNCTIONS
            if extended & EXTENDED or not function.extended
        ),
        tuple((name, kind, 0) for name, kind in _AT_RULES.items()),
        _words(IN_HEAD),
        _words(name.lower() for name in JSON_LD_NAMES),
        (LOCAL_WORD[1], 0, numbers[LOCAL_WORD[0]]),
        b"".join(rows),
        len(numbers),
        other,
        *(numbers[name] for name in (b"type", b"href", b"codebase")),
    )


def _types(element: bytes, *, extended: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield the `type` of each script or style with text of interest, and whether it counts."""
    counts = bool(extended & EXTENDED)
    for row in TEXT_ROWS[HTML, element]:
        for value in row.when.values if row.when else ():
            yield value, tables.JSON_LD if row.syntax is Nested.JSON_LD else tables.UNREAD, counts


def _words(values: Iterable[bytes]) -> tuple[tuple[bytes, int, int], ...]:
    return tuple((value, 0, 0) for value in sorted(values))
