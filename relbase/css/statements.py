"""The references of a style sheet or a style attribute, as byte spans.

The state is a stack of open brackets, with a custom property or an at-rule at its bottom, if any.
A skip ends between two tokens, and looking back for a name never goes beyond this point (`floor`):
`<!--url(x)` is a CDO and a url, `a--url(x)` a function with another name.

CSS Syntax 3 §4.3 and §5.4, CSS Values 4 §4.5, CSS Cascade 5 §2, CSS Images 4 §2.4. However, blocks
are not counted: `}` and `;` end any statement, and in a block `--x:hover{}` is a custom property.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from relbase.css.candidates import LAST_LETTERS, LONGEST_NAME, NAMES, NOT_AFTER, holds_none
from relbase.css.dropped import TopLevel
from relbase.css.escapes import (
    COMMENT,
    ESCAPE,
    INSIDE_DOUBLE,
    INSIDE_SINGLE,
    NAME,
    STRING,
    WORD,
    unescape,
)
from relbase.css.functions import (
    CONTAINER,
    DOCUMENTS,
    FUNCTIONS,
    IMPORT,
    NAMESPACE,
    SUPPORTS,
    URL_FORMS,
    Form,
)
from relbase.expressions import regex
from relbase.html.tags import all_but, any_case
from relbase.values.syntaxes import C0_AND_SPACE_BYTES
from relbase.view.charset import after_mark

if TYPE_CHECKING:
    # A url or a string without its quotes, its quote, and its form: a reference unless it is empty.
    Reference: TypeAlias = tuple[int, int, bytes, Form]

    # Reads ahead in a text from an offset. It returns what it found, the offset of the statement
    # that it did not read, or -1, and the offset in it of what needs a closer look, or -1.
    Scan: TypeAlias = Callable[[bytes, int, int], tuple[list[Any], int, int]]


class CssReference(NamedTuple):
    """A reference in CSS as written, without its quotes and the white space around it."""

    start: int
    end: int
    quote: bytes
    form: Form
    local: bool  # into the document itself: `url(#id)`
    custom: bool  # in the value of a custom property, or of one that a query compares


def references(text: bytes, *, is_sheet: bool = False) -> Iterator[CssReference]:
    """Yield the references in a text, in order; an empty url is none."""
    end = len(text)
    top = TopLevel(text) if is_sheet else None
    return iter(()) if holds_none(text) else _scan(text, after_mark(text), end, looked=end, top=top)


def scanned(text: bytes, scan: Scan, *, is_sheet: bool) -> Iterator[CssReference | Any]:
    """Yield the references of a text, and whatever `scan` finds when it reads ahead."""
    pos, end = after_mark(text), len(text)
    top = TopLevel(text) if is_sheet else None
    while pos >= 0:
        batch, pos, looked = scan(text, pos, end)
        if batch:
            yield batch
        if pos >= 0 and looked >= 0:
            pos = yield from _scan(text, pos, end, looked=looked, top=top)


# --- The scanner ---

_ENDS: Final = b";{}"  # of statements

# What can be open, as a byte of the stack. A bracket is known by what closes it, but that of an
# image set by a byte that plain text does not have (`_opened`). At the bottom is what the statement
# is, if it is read differently: a custom property, or an at-rule up to its block or semicolon.
_ROUND, _SQUARE, _CURLY, _IMAGE_SET = b")", b"]", b"}", b"'"
_CUSTOM, _UNLOADED, _CONTAINER = b"c", b"n", b"k"
_NOTHING: Final = b""
# `@container style(--x:url(q))` applies where `--x:url(q)` is set, so both must be treated alike.
_AT_RULES: Final = {
    **dict.fromkeys((NAMESPACE, SUPPORTS, *DOCUMENTS), _UNLOADED),
    CONTAINER: _CONTAINER,
}
_PRELUDES: Final = frozenset(_AT_RULES.values())
_COMPARED: Final = (_CUSTOM, _CONTAINER)

_SPACE: Final = rb"(?:[ \t\n\r\f]++|%b)*+" % COMMENT

# Text in which no reference can begin.
_PASSED: Final = rb"/(?!\*)|<(?!!--)|" + COMMENT
_TEXT: Final = b"\"'\\/()[]{};<"
# `rgb(0,0,0)`, `[href^="x"]`
_BRACKETS: Final = rb"%b\(%b*+\)|\[%b*+(?:%b%b*+)?+\]" % (
    *(NOT_AFTER, all_but(_TEXT), all_but(_TEXT), STRING, all_but(_TEXT)),
)
_TOKENS: Final = (_PASSED, STRING, _BRACKETS)
# How most statements begin: with nothing that needs a closer look.
_PLAIN_START: Final = rb"[;{}][ \t\n\r\f]*+(?=[a-zA-Z.#*:;{}])"


def _skipping(ends: bytes, *passed: bytes) -> re.Pattern[bytes]:
    """Return a pattern that skips as far as it can, never fails, and ends between two tokens."""
    return regex(rb"(?:%b++|%b)*+" % (all_but(ends), b"|".join(passed)))


_SKIPS: Final = {
    _NOTHING: _skipping(b"\"'\\/([;{}<", _PLAIN_START, *_TOKENS),
    _IMAGE_SET: _skipping(_TEXT, _PASSED, _BRACKETS),
    **dict.fromkeys((_CUSTOM, *_AT_RULES.values()), _skipping(_TEXT, *_TOKENS)),
}
_IN_BRACKETS: Final = b"\"'\\/()[]{}<"  # a semicolon means nothing there
_INSIDE: Final = _skipping(_IN_BRACKETS, *_TOKENS)
_IN_STATEMENT: Final = _skipping(b"\"'\\/([;{}<", *_TOKENS)


class _Step(NamedTuple):
    pos: int
    reference: Reference | None = None
    opens: bytes = b""
    closes: bool = False


def _scan(
    text: bytes, start: int, end: int, *, looked: int, top: TopLevel | None
) -> Generator[CssReference, None, int]:
    """Yield references; return where the first statement after `looked` begins, -1 at the end."""
    opened = bytearray()
    step = _statement(text, start, end)
    while True:
        while step.opens == _CUSTOM and top and (after := top.end_of_dropped(step.pos, end)) >= 0:
            step = _statement(text, after, end)
        if step.reference is not None:
            statement = opened[:1]
            reference = _reference(text, step.reference, custom=statement in _COMPARED)
            if reference is not None and statement != _UNLOADED:
                yield reference
        if step.closes:
            opened.pop()
        elif step.opens:
            opened += step.opens
        if step.pos >= end:
            return -1
        innermost = bytes(opened[-1:])
        skip = _IN_STATEMENT if not innermost and looked < end else _SKIPS.get(innermost, _INSIDE)
        at = _past(skip, text, step.pos, end)
        if at >= end:
            return -1
        if not innermost and at >= looked and text[at] in _ENDS:
            return at + 1
        step = _EVENTS[text[at]](text, step.pos, at, end, innermost)


def _past(skipped: re.Pattern[bytes], text: bytes, pos: int, end: int) -> int:
    match = skipped.match(text, pos, end)
    return match.end() if match else pos


# The inside of a string without white space at its end; `\41 ` and `\ ` end in none.
_TRIMMED: Final = regex(rb"(?:[^\\ \t]++|[ \t]++(?!\Z)|%b|\\)*+" % ESCAPE)
# What its first character may be written as: escaped newlines are nothing.
_FIRST: Final = regex(rb"(?:\\(?:\r\n|[\n\r\f]))*+(?s:%b|.)?+" % ESCAPE)


def _reference(text: bytes, reference: Reference, *, custom: bool) -> CssReference | None:
    """Return the reference that was found, without white space around it; None if empty."""
    start, end, quote, form = reference
    raw = text[start:end]
    # Usually enough: decoding all of it takes long if it has many escapes.
    first = unescape(raw[: _past(_FIRST, raw, 0, len(raw))], quote) if b"\\" in raw else raw
    if not first.strip(C0_AND_SPACE_BYTES) and not unescape(raw, quote).strip(C0_AND_SPACE_BYTES):
        return None
    if quote:
        start = end - len(raw.lstrip(b" \t"))
        end = _past(_TRIMMED, text, start, end)
    # White space counts here: Chromium resolves `url(" #id")` against the base of the sheet.
    return CssReference(start, end, quote, form, first.startswith(b"#"), custom)


# --- Statements: one may begin at `pos` ---

_BETWEEN: Final = regex(rb"(?:[ \t\n\r\f]++|<!--|-->|%b)*+" % COMMENT)
_SPACES: Final = regex(_SPACE)
_COLON: Final = regex(_SPACE + b":")
_BEGINNING: Final = regex(rb"(@?)(%b)" % NAME)


def _statement(text: bytes, pos: int, end: int) -> _Step:
    """Go past `@import x`, the name of an at-rule or `--x:` (§5.4.1, §5.4.2, §5.4.6)."""
    pos = _past(_BETWEEN, text, pos, end)
    match = _BEGINNING.match(text, pos, end)
    if match is None:
        return _Step(pos)
    name = unescape(match[2][:_LONGEST_WRITTEN]).lower()
    if match[1]:
        if name == IMPORT:
            step = _import(text, match.end(), end)
            # After it `supports()` may follow.
            return step if step.reference is None else step._replace(opens=_UNLOADED + step.opens)
        return _Step(match.end(), opens=_AT_RULES.get(name, b""))
    colon = _COLON.match(text, match.end(), end) if name.startswith(b"--") else None
    return _Step(colon.end(), opens=_CUSTOM) if colon else _Step(pos)


def _import(text: bytes, pos: int, end: int) -> _Step:
    pos = _past(_SPACES, text, pos, end)
    match = _FUNCTION.match(text, pos, end)
    if match is None:
        return _string(text, pos, end, Form.IMPORT)
    called = _CALLS.get(unescape(match[1]).lower())
    if called is None or called[0] not in URL_FORMS:
        return _Step(pos)
    return called[1](text, match.end(), end, Form.IMPORT)


# --- Functions: `pos` is after the bracket ---

_FUNCTION: Final = regex(rb"(%b)\(" % NAME)
_STRINGS: Final = {ord('"'): regex(INSIDE_DOUBLE), ord("'"): regex(INSIDE_SINGLE)}
_QUOTE_NEXT: Final = regex(rb"[ \t\n\r\f]*+(?=[\"'])")
# §4.3.6, §4.3.14
_URL: Final = regex(
    rb"[ \t\n\r\f]*+((?:%b++|%b)*+)[ \t\n\r\f]*+(?:\)|\Z)"
    % (all_but(bytes(range(1, 0x21)) + b"\x7f\"'()\\"), ESCAPE)
)
_BAD_URL: Final = regex(rb"(?:[^)\\]++|%b|\\)*+\)?+" % ESCAPE)


def _url(text: bytes, pos: int, end: int, form: Form) -> _Step:
    """Read a url token, or the string in a function of that name (§4.3.4, §4.3.6)."""
    quoted = _QUOTE_NEXT.match(text, pos, end)
    if quoted is not None:
        return _string(text, quoted.end(), end, form)._replace(opens=_ROUND)
    url = _URL.match(text, pos, end)
    if url is None:
        return _Step(_past(_BAD_URL, text, pos, end))
    return _Step(url.end(), (*url.span(1), b"", form))


def _src(text: bytes, pos: int, end: int, form: Form) -> _Step:
    return _string(text, _past(_SPACES, text, pos, end), end, form)._replace(opens=_ROUND)


def _filter(text: bytes, pos: int, end: int, form: Form) -> _Step:
    at = _past(_UP_TO_SRC, text, pos, end)
    return (
        _string(text, at, end, form)._replace(opens=_ROUND)
        if at > pos
        else _Step(pos, opens=_ROUND)
    )


_IS: Final = _SPACE + b"=" + _SPACE
_UP_TO_SRC: Final = regex(
    rb"(?:%b(?!(?i:src)%b)[%b]++%b(?:\"%b\"|'%b'|[^\"',()\t\n\f\r ]++)%b,)*+%b(?i:src)%b(?=[\"'])"
    % (_SPACE, _IS, WORD, _IS, INSIDE_DOUBLE, INSIDE_SINGLE, _SPACE, _SPACE, _IS)
)
_READERS: Final[Mapping[Form, Callable[[bytes, int, int, Form], _Step]]] = {
    Form.URL: _url,
    Form.SRC: _src,
    Form.IMAGE_SET: lambda text, pos, end, _form: _opened(text, pos, end, _IMAGE_SET),
    Form.FILTER: _filter,
}
# By name, since hashing an enum member takes longer.
_CALLS: Final = {call.name: (call.form, _READERS[call.form]) for call in FUNCTIONS}


def _call(text: bytes, pos: int, end: int, name: bytes) -> _Step:
    called = _CALLS.get(name)
    if called is None:
        return _Step(pos, opens=_ROUND)
    form, read = called
    return read(text, pos, end, form)


def _string(text: bytes, at: int, end: int, form: Form) -> _Step:
    """Read the string at `at`, if any; a bad one, ended by a newline, does not count (§4.3.5)."""
    inside = _STRINGS.get(text[at]) if at < end else None
    if inside is None:
        return _Step(at)
    stop = _past(inside, text, at + 1, end)
    if stop < end and text[stop] != text[at]:
        return _Step(stop)
    return _Step(min(stop + 1, end), (at + 1, stop, text[at : at + 1], form))


# --- Events: the byte at `at`, where the skip from `floor` ended ---

_CALL_BEFORE: Final = regex(rb"(?:\A|[^%b#@])(%b)\Z" % (WORD, b"|".join(NAMES)))
_LONGEST_WRITTEN: Final = 9 * (LONGEST_NAME + 1)  # an escape takes nine bytes at most
# How the names of all functions end in which a string is a reference.
_SET: Final = b"image-set"
_SETS: Final = [rb"(?<=[^%b#@]%b)" % (WORD, any_case(x)) for x in NAMES if x.endswith(_SET)]
# Brackets that open inside each other, with only plain text between them.
_OPENINGS: Final = regex(
    rb"(?:%b*+(?:[\[{]|(?:%b)\((?!%b*+\))))*+"
    % (all_but(_IN_BRACKETS), b"|".join((NOT_AFTER, *_SETS)), all_but(_IN_BRACKETS))
)
_CLOSERS: Final = bytes.maketrans(b"([{", _ROUND + _SQUARE + _CURLY)
_PLAIN: Final = bytes({*range(0x100)} - {*b"([{", *_IMAGE_SET})
_WHOLE_NAME: Final = regex(NAME)
_NAME_BYTES: Final = b"".join(re.findall(rb"[%b]" % WORD, bytes(range(0x100))))


def _on_round(text: bytes, floor: int, at: int, end: int, _innermost: bytes) -> _Step:
    if at > floor and text[at - 1] in LAST_LETTERS:
        before = text[max(floor, at - LONGEST_NAME - 1) : at].lower()
        called = _CALL_BEFORE.search(before)
        if called is not None:
            return _call(text, at + 1, end, called[1])
    return _opened(text, at + 1, end, _ROUND)


def _on_square(text: bytes, _floor: int, at: int, end: int, _innermost: bytes) -> _Step:
    return _opened(text, at + 1, end, text[at : at + 1].translate(_CLOSERS))


def _opened(text: bytes, pos: int, end: int, opened: bytes) -> _Step:
    """Open the bracket before `pos`, and at once those that directly follow inside it."""
    stop = _past(_OPENINGS, text, pos, end)
    if stop > pos:
        more = text[pos:stop].lower().replace(_SET + b"(", _IMAGE_SET)
        opened += more.translate(_CLOSERS, _PLAIN)
    return _Step(stop, opens=opened)


def _on_end(text: bytes, floor: int, at: int, end: int, innermost: bytes) -> _Step:
    """End a statement, unless inside brackets or at a `{` in the value of a custom property."""
    byte = text[at]
    if innermost == _NOTHING:
        return _statement(text, at + 1, end)
    if innermost in _PRELUDES or (innermost == _CUSTOM and byte != _OPEN):
        return _Step(at, closes=True)
    if byte == _OPEN:
        return _on_square(text, floor, at, end, innermost)
    return _Step(at + 1) if byte == _SEMICOLON else _on_closing(text, floor, at, end, innermost)


_OPEN, _SEMICOLON = b"{;"


def _on_closing(text: bytes, _floor: int, at: int, _end: int, innermost: bytes) -> _Step:
    """Close what this bracket closes; one that closes nothing is ignored (§5.4.8)."""
    closer = _ROUND if innermost == _IMAGE_SET else innermost
    return _Step(at + 1, closes=text.startswith(closer, at))


def _on_backslash(text: bytes, floor: int, at: int, end: int, _innermost: bytes) -> _Step:
    """Read the whole name that has an escape at `at`; a bare backslash is a delimiter."""
    start = floor + len(text[floor:at].rstrip(_NAME_BYTES))
    stop = _past(_WHOLE_NAME, text, start, end)
    if stop <= at:
        return _Step(at + 1)
    is_function = stop < end and text.startswith(b"(", stop)
    if not is_function or text[max(floor, start - 1) : start] in (b"#", b"@"):
        return _Step(stop)
    written = text[start : min(stop, start + _LONGEST_WRITTEN)]
    return _call(text, stop + 1, end, unescape(written).lower())


_EVENTS: Final[Mapping[int, Callable[[bytes, int, int, int, bytes], _Step]]] = {
    ord("("): _on_round,
    ord("["): _on_square,
    ord(")"): _on_closing,
    ord("]"): _on_closing,
    **dict.fromkeys(_ENDS, _on_end),
    ord("\\"): _on_backslash,
    ord("<"): lambda _text, _floor, at, *_: _Step(at + len(b"<!--")),
    # A skip ends at a string only directly inside `image-set()`.
    **dict.fromkeys(
        b"\"'", lambda text, _floor, at, end, _innermost: _string(text, at, end, Form.IMAGE_SET)
    ),
}
