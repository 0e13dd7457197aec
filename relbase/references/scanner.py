"""Which scanner reads HTML, and the tables of the compiled one.

There are three: the exact tokenizer (`html`), the regular expression of `skim`, and the compiled
scanner, where it was built. They differ in speed alone. What a process did before decides when the
expression is compiled, which takes as long as the exact tokenizer takes for a large page.

The compiled scanner knows no name of its own. `_tables` makes its tables from the vocabulary: for
each element a row, with what each attribute holds there.
"""

from __future__ import annotations

import os
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from relbase.edit import Edit
from relbase.references.css_functions import FUNCTIONS, Form
from relbase.references.foreign import HTML, MATH, SVG
from relbase.references.skim_names import MATH_NAMES, SCRIPT_TYPES, STYLE_TYPES, SVG_NAMES, decider
from relbase.references.tags import IN_HEAD, RAW_TEXT
from relbase.references.values import Syntax
from relbase.references.vocabulary import ANY, PLACES, VML, Nested, Row, held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from relbase.references.shapes import Becomes, Keeps, Skim

EXACT: Final = "exact"
SKIMMED: Final = "skimmed"
COMPILED: Final = "compiled"

# In the time in which the expression of skimming is compiled, the exact tokenizer walks so many
# bytes. So the first page of a process is walked, unless it is large; after that skimming pays.
SKIMMED_FROM: Final = 1 << 18


def _load() -> Any:  # noqa: ANN401 (a module of C)
    """The compiled scanner; None where it was not built, is not wanted, or is of another source."""
    if os.environ.get("RELBASE_SCANNER") == "python":
        return None
    try:
        from relbase.references import _scanner  # type: ignore[attr-defined]  # noqa: PLC0415
    except ImportError:
        return None
    # An editable install goes stale when the source changes: then it is not used.
    return _scanner if _scanner.SOURCE == _SOURCE else None


# The CRC-32 of _scanner.c, which the build writes into what it makes of it. A test knows the file.
_SOURCE: Final = 0xC3F9FCB5

_compiled: Final = _load()

# What `relbase.scanner` tells.
NAME: Final = "python" if _compiled is None else COMPILED


class _Choice:
    """Which scanner is next: how many bytes of HTML came before, and what a test asked for."""

    __slots__ = ("forced", "seen")

    def __init__(self) -> None:
        self.forced: str | None = None
        self.seen = 0


_choice: Final = _Choice()


def choose_scanner(size: int) -> str:
    """Return which scanner reads a document.

    Args:
        size: how many bytes it has.
    """
    if _choice.forced is not None:
        return _choice.forced
    if _compiled is not None:
        return COMPILED
    _choice.seen = min(_choice.seen + size, SKIMMED_FROM)
    return SKIMMED if max(size, _choice.seen) >= SKIMMED_FROM else EXACT


def force(name: str | None) -> None:
    """Have everything read by one scanner, or by the fastest again: for tests.

    Args:
        name: `EXACT`, `SKIMMED`, `COMPILED` or None.

    Raises:
        ValueError: if the compiled scanner is asked for, and there is none.
    """
    if name == COMPILED and _compiled is None:
        raise ValueError("the compiled scanner was not built, or RELBASE_SCANNER is python")
    _choice.forced = name


# ---- The compiled scanner: the numbers are those of _scanner.c

_EDITS, _RELATIVE, _ALL = range(3)
_PLAIN, _LOOK, _RAW, _SCRIPT, _STYLE, _NOSCRIPT, _SVG, _MATH = range(8)
_NOTHING, _URL, _CSS, _SRCSET, _LIST, _DECIDES, _MAYBE, _ANYTHING, _IF, _DECIDES_IF = range(10)
_EMPTY_IS_BASE, _EMPTY_LOOK, _LOCAL, _FRAGMENT_LOOK = 16, 32, 64, 128

# Elements that change what is markup: the exact tokenizer counts them.
_LOOKED_AT: Final = frozenset((b"base", b"template", b"frameset", b"plaintext"))
_KINDS: Final[Mapping[bytes, int]] = {
    **dict.fromkeys(RAW_TEXT, _RAW),
    b"script": _SCRIPT,
    b"style": _STYLE,
    b"noscript": _NOSCRIPT,
    b"svg": _SVG,
    b"math": _MATH,
    **dict.fromkeys(_LOOKED_AT, _LOOK),
}
_HELD: Final[Mapping[Syntax | Nested, int]] = {
    Syntax.URL: _URL,
    Nested.CSS: _CSS,
    Syntax.SRCSET: _SRCSET,
    Syntax.SPACE_LIST: _LIST,
}
_SYNTAXES: Final = {number: syntax for syntax, number in _HELD.items()}
_KIND: Final = 15


def scanning(
    becomes: Becomes,
    *,
    whatwg: bool,
    unquoted: bool,
    in_css: bool,
    utf8: bool,
    extended: bool = False,
    keeps: Keeps | None = None,
) -> Skim:
    """Return the way to the next place that has to be looked at, as `skim.skimming` does.

    Args:
        becomes: what becomes of plain references.
        whatwg: whether they resolve by the WHATWG parser.
        unquoted: whether what is inserted may be inserted without quotes around it, too.
        in_css: whether it may be inserted into CSS.
        utf8: whether bytes outside ASCII are UTF-8.
        extended: whether rows of the policy `extended` count.
        keeps: which references stay as they are.
    """
    flags = whatwg | unquoted << 1 | in_css << 2 | utf8 << 3
    scan = partial(_scan, _compiled.scan, _tables(extended=extended), flags, becomes)
    return scan if keeps is None else partial(_scan_kept, scan, becomes, keeps)


class Listed(NamedTuple):
    """A reference that the compiled scanner lists.

    Args:
        start: where it begins in the text.
        end: where it ends.
        shape: of `skim`; 0 for an absolute one.
        attribute: its number in `attribute_names`; -1 for the text of an element.
        holds: what `held_syntax` and `is_local` know.
        name: where the element's name begins.
        name_end: where that ends.
    """

    start: int
    end: int
    shape: int
    attribute: int
    holds: int
    name: int
    name_end: int


def listing(
    becomes: Becomes, *, whatwg: bool, in_css: bool, utf8: bool, extended: bool
) -> Callable[[bytes, int, int, bool], tuple[list[tuple[int, ...]], int]]:
    """Return what lists references up to the next place that has to be looked at.

    The compiled scanner alone does so. What it lists are the tuples of `Listed`.

    Args:
        becomes: which shapes may be listed: those that have an edit.
        whatwg: whether they resolve by the WHATWG parser.
        in_css: whether they resolve likewise in CSS.
        utf8: whether bytes outside ASCII are UTF-8.
        extended: whether rows of the policy `extended` count.
    """
    flags = whatwg | True << 1 | in_css << 2 | utf8 << 3
    scan = partial(_scan, _compiled.scan, _tables(extended=extended), flags, becomes)
    return partial(scan, mode=_ALL)


@cache
def attribute_names(*, extended: bool) -> tuple[str, ...]:
    """The attributes by their numbers; the last one, of number -1, is none."""
    return (*(name.decode() for name in _attributes(extended=extended)), "")


def held_syntax(holds: int) -> Syntax | Nested:
    """The syntax of a value by what the scanner says that it holds."""
    return _SYNTAXES[holds & _KIND]


def is_local(holds: int) -> bool:
    """Whether a fragment alone is local there."""
    return bool(holds & _LOCAL) or holds & _KIND == _CSS


def head(text: bytes) -> tuple[int, bytes] | None:
    """Return what `heads.head` does; None without the compiled scanner.

    Args:
        text: the page, in an ASCII-compatible charset.
    """
    if _choice.forced not in {None, COMPILED} or _compiled is None:
        return None
    found: tuple[int, bytes] = _compiled.head(_tables(extended=False), text)
    return found


def _scan(  # noqa: PLR0917 (called often: by position)
    scan: Any,  # noqa: ANN401
    tables: object,
    flags: int,
    becomes: Becomes,
    text: bytes,
    pos: int,
    end: int,
    in_noscript: bool,  # noqa: FBT001
    mode: int = _EDITS,
) -> tuple[list[Any], int]:
    found: tuple[list[Any], int, int]
    found = scan(tables, text, pos, end, mode, flags | in_noscript << 4, becomes, Edit)
    return found[0], found[1]


def _scan_kept(  # noqa: PLR0917 (likewise)
    scan: Any,  # noqa: ANN401
    becomes: Becomes,
    keeps: Keeps,
    text: bytes,
    pos: int,
    end: int,
    in_noscript: bool,  # noqa: FBT001
) -> tuple[list[Edit], int]:
    records, pos = scan(text, pos, end, in_noscript, _RELATIVE)
    edits: list[Edit] = []
    for start, stop, shape, *_ in records:
        edit = becomes[shape]
        if edit and not keeps(text[start:stop]):
            edits.append(Edit(start + edit[0], start + edit[1], edit[2]))
    return edits, pos


@cache
def _tables(*, extended: bool) -> object:
    numbers = {name: number for number, name in enumerate(_attributes(extended=extended))}
    rows: dict[bytes, int] = {}

    def row(namespace: str, element: bytes) -> int:
        written = bytes(_row(namespace, element, numbers, extended=extended))
        return rows.setdefault(written, len(rows))

    named = {element for space, element, _ in PLACES if space == HTML} - {ANY, VML}
    elements = tuple(
        (name, _KINDS.get(name, _PLAIN), row(HTML, name)) for name in sorted(named | {*_KINDS})
    )
    foreign = [
        tuple((name, _PLAIN, row(space, name)) for name in sorted({*map(bytes.lower, names), root}))
        for space, root, names in ((SVG, b"svg", SVG_NAMES), (MATH, b"math", MATH_NAMES))
    ]
    foreign[0] += ((b"title", _RAW, 0),)  # text alone, or it is looked at
    deciding = {value for _, values in _deciding(extended=extended) for value in values}
    other, vml = row(HTML, ANY), (VML[:-1], _PLAIN, row(HTML, VML[:-1]))
    return _compiled.prepare(
        elements,
        *foreign,
        tuple((name, _PLAIN, number) for name, number in numbers.items()),
        vml,
        _words(deciding),
        _words(_deciding_one(extended=extended)),
        _words(SCRIPT_TYPES),
        _words(STYLE_TYPES),
        tuple(
            (function.name, function.form is Form.URL, 0)
            for function in FUNCTIONS
            if extended or not function.extended
        ),
        _words(IN_HEAD),
        b"".join(rows),
        len(numbers),
        other,
        numbers[b"type"],
    )


def _words(values: Iterable[bytes]) -> tuple[tuple[bytes, int, int], ...]:
    return tuple((value, 0, 0) for value in sorted(values))


def _counting(rows: tuple[Row, ...], *, extended: bool) -> tuple[Row, ...]:
    return tuple(row for row in rows if extended or not row.extended)


def _attributes(*, extended: bool) -> list[bytes]:
    named = {place[2] for place, rows in PLACES.items() if _counting(rows, extended=extended)}
    return sorted(named | {name for name, _ in _deciding(extended=extended)} | {b"type"})


def _deciding(*, extended: bool) -> list[tuple[bytes, tuple[bytes, ...]]]:
    """The attributes that decide whether another one holds references, and what they say then."""
    found = []
    for rows in PLACES.values():
        counting = _counting(rows, extended=extended)
        name = decider(counting)
        if name is not None:
            found += [(name, row.when.values) for row in counting if row.when]
    return found


@cache
def _deciding_one(*, extended: bool) -> frozenset[bytes]:
    """What decides whether an attribute is one URL, where that is the same wherever one decides."""
    counting = (_counting(rows, extended=extended) for rows in PLACES.values())
    values = {rows[0].when.values for rows in counting if _is_one_if(rows) and rows[0].when}
    return frozenset(values.pop() if len(values) == 1 else ())


def _is_one_if(rows: tuple[Row, ...]) -> bool:
    """Whether an attribute is one URL like any other, or nothing, as another decides."""
    return decider(rows) is not None and rows == (Row(Syntax.URL, when=rows[0].when),)


def _waits(rows: tuple[Row, ...], *, extended: bool) -> bool:
    one = _counting(rows, extended=extended)
    if not _is_one_if(one) or one[0].when is None:
        return False
    return {*one[0].when.values} == _deciding_one(extended=extended)


def _row(
    namespace: str, element: bytes, numbers: Mapping[bytes, int], *, extended: bool
) -> list[int]:
    """What each attribute holds on an element."""
    row = [_NOTHING] * len(numbers)
    rows_of = held(namespace, element).rows
    told = {name: _told(rows, extended=extended) for name, rows in rows_of.items()}
    for attribute, (by, holds) in told.items():
        if holds == _NOTHING:
            continue
        if by is None or told.get(by, (None, _NOTHING))[1] != _NOTHING:
            row[numbers[attribute]] = holds
        elif row[numbers[by]] == _NOTHING and _waits(rows_of[attribute], extended=extended):
            row[numbers[by]], row[numbers[attribute]] = _DECIDES_IF, _IF
        else:
            row[numbers[by]] = _DECIDES
    return row


# By the identity of the rows, which are those of the vocabulary: `*` has the same for each element.
_memo: Final[dict[tuple[int, bool], tuple[bytes | None, int]]] = {}


def _told(rows: tuple[Row, ...], *, extended: bool) -> tuple[bytes | None, int]:
    """What decides whether rows count, if one attribute does, and what they hold."""
    key = (id(rows), extended)
    if key not in _memo:
        counting = _counting(rows, extended=extended)
        _memo[key] = (decider(counting), _holds(counting)) if counting else (None, _NOTHING)
    return _memo[key]


def _holds(rows: tuple[Row, ...]) -> int:
    """What an attribute holds by its rows; what is not known holds anything."""
    first = rows[0]
    if first.when is not None or first.on_codebase:
        if any(row.syntax is not Syntax.URL for row in rows):
            return _ANYTHING | _EMPTY_LOOK
        return _MAYBE | (_EMPTY_LOOK if any(row.empty for row in rows) else 0)
    kind = _HELD.get(first.syntax, _ANYTHING)
    if kind == _ANYTHING:
        return kind if all(row.syntax is Nested.HTML for row in rows) else kind | _EMPTY_LOOK
    if kind != _URL:
        return kind
    empty = _EMPTY_LOOK if first.own_url else _EMPTY_IS_BASE
    local = _FRAGMENT_LOOK if first.local_when else _LOCAL if first.local else 0
    return kind | (empty if first.empty else 0) | local
