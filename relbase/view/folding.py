"""The views of a URL in a field of a header, and of a value in a calendar; encoded words.

What a line was folded by stays. A URL that has an encoded word (RFC 2557 §4.4.3: "MUST decode") is
written anew as a whole, percent-encoded, when edited.
"""

from __future__ import annotations

import base64
import quopri
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from relbase.edit import Edit, Span, splice
from relbase.expressions import regex
from relbase.view.characters import decode_inner, encode_inner, unit_pattern, unit_run
from relbase.view.charset import UNREADABLE, lookup
from relbase.view.runs import Run, RunView, View, read
from relbase.view.transcode import decode


def folded_view(raw: bytes, quote: bytes = b"") -> View:
    """Return the view of a URL in a field, without white space and with encoded words decoded."""
    if b"=?" in raw:
        return WordView(raw, quote)
    return RunView(raw, _folds, lambda new: _spelled(new, quote), _joins)


class WordView(View):
    """The view of a URL with encoded words in it, which is written anew as a whole."""

    __slots__ = ("_quote", "_raw")

    def __init__(self, raw: bytes, quote: bytes) -> None:
        self._raw, self._quote = raw, quote
        self.inner = meant(raw)

    def places(self) -> Callable[[Span], Span]:
        return lambda _span: Span(0, len(self._raw))

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        if found := list(edits):
            new = _spelled(splice(self.inner, found), self._quote)
            yield Edit(0, len(self._raw), new)


# What means something else than itself, apart from encoded words: white space and control
# characters mean nothing, bytes that are not UTF-8 are surrogates.
_NOT_ITSELF: Final = regex(rb"[\0-\x20\x7f]++|" + unit_pattern("utf-8"))
_IS_ITSELF: Final = regex(rb"[!-~]*+").fullmatch


def _folds(raw: bytes) -> Iterator[Run]:
    # The first test costs a hundredth of the search.
    return iter(()) if _IS_ITSELF(raw) else _runs(_NOT_ITSELF, raw)


def _runs(not_itself: re.Pattern[bytes], raw: bytes) -> Iterator[Run]:
    for found in not_itself.finditer(raw):
        unit = found[0]
        if unit[0] == _BACKSLASH:
            meaning = _MEANINGS.get(found[1], found[1]) or b"\\"
            yield Run(found.start(), found.end(), meaning, unended=found[1] is None)
        elif unit.isascii():
            yield Run(found.start(), found.end(), b"")
        elif (run := unit_run(unit, found.start(), "utf-8")) is not None:
            yield run


_BACKSLASH: Final = 0x5C
_MEANINGS: Final = {b"n": b"\n", b"N": b"\n"}


def meant(raw: bytes) -> bytes:
    decoded = read(raw, _words(raw))
    return read(decoded, _folds(decoded))


def _joins(raw: bytes, at: int) -> int:
    """RunView's `joins`: an `=` before new text could begin an encoded word with it."""
    return at - 1 if raw[at - 1 : at] == b"=" else at


# What does not stand for itself; "=" only where an encoded word could begin with it.
_UNSAFE: Final = regex(r"""[^!#-;=?-~]|=(?=\?|\Z)""")


class _Spelled(dict[int, str]):
    """What characters are written as, for `str.translate`: in ASCII."""

    def __missing__(self, number: int) -> str:
        character = chr(number)
        if "\udc80" <= character <= "\udcff":  # a byte that is not UTF-8
            return f"%{number - 0xDC00:02X}"
        return "".join(f"%{octet:02X}" for octet in encode_inner(character))


_SPELLED: Final = _Spelled((number, chr(number)) for number in {*range(0x21, 0x7F)} - {*b'"<>'})


def _spelled(new: bytes, quote: bytes) -> bytes:
    """New text as ASCII that ends no URL, no line, and begins no encoded word."""
    text = decode_inner(new)
    spelled = new  # one for millions of edits: it is not copied without need
    if _UNSAFE.search(text):
        text = text.translate(_SPELLED).replace("=?", "%3D?")
        spelled = (f"{text[:-1]}%3D" if text.endswith("=") else text).encode("ascii")
    return spelled.replace(quote, b"%%%02X" % ord(quote)) if quote else spelled


# A line may end between a backslash and what it escapes.
_FOLD: Final = rb"\r?\n[ \t]"
_NOT_ITSELF_IN_TEXT: Final = regex(
    rb"%b|\\(?:%b)*+([\\;,nN])?+|" % (_FOLD, _FOLD) + unit_pattern("utf-8")
)
_UNSAFE_IN_TEXT: Final = regex(rb"[\\;,\r\n]")
_ESCAPED: Final = {b"\r": b"", b"\n": b"\\n"}


def calendar_view(raw: bytes) -> RunView:
    r"""Return the view of a value in a calendar: RFC 5545 §3.1 (folding), §3.3.11 (TEXT).

    What is written is escaped again (`\,` is `,` and `\n` a new line), and not folded.
    """
    return RunView(
        raw,
        partial(_runs, _NOT_ITSELF_IN_TEXT),
        lambda new: _UNSAFE_IN_TEXT.sub(lambda one: _ESCAPED.get(one[0], b"\\" + one[0]), new),
    )


# ---- Encoded words: RFC 2047, with the language of RFC 2231 §5. A word is decoded wherever it
# stands, between brackets and quotes too, where §5 forbids it and mailers write it. One whose
# charset is unknown, or whose bytes mean nothing in it, stands for itself.

# encoded-word = "=?" charset "?" encoding "?" encoded-text "?="   (RFC 2047 §2, RFC 2231 §5)
_ENCODED_WORD: Final = regex(rb"=\?([^?\s*]{1,40})(?:\*[^?\s]{0,40})?\?([BbQq])\?([^?\s]*+)\?=")
# What `decode` makes of bytes that mean nothing.
_UNDECODABLE: Final = regex("[\udc80-\udcff\ufffd]")


def decoded_words(value: str) -> str:
    """Return a value with its encoded words decoded; what is between two of them stays."""
    if "=?" not in value:
        return value
    raw = encode_inner(value)
    return decode_inner(read(raw, _words(raw)))


def _words(raw: bytes) -> Iterator[Run]:
    for found in _ENCODED_WORD.finditer(raw):
        text = _decoded(*found.groups())
        if text is not None:
            yield Run(*found.span(), encode_inner(text))


def _decoded(label: bytes, encoding: bytes, encoded: bytes) -> str | None:
    charset = lookup(label.decode("latin-1"))
    if charset is None or charset in UNREADABLE or not encoded.isascii():
        return None
    try:
        if encoding in b"Bb":
            text = decode(base64.b64decode(encoded, validate=True), charset)
        else:
            text = decode(quopri.decodestring(encoded, header=True), charset)
    except ValueError:
        return None
    return None if _UNDECODABLE.search(text) else text
