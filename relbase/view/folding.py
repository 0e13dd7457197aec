"""Views of a URL in a header field and of a calendar value; decoding of encoded words.

Line folds stay. An edit of a URL that contains an encoded word (RFC 2557 §4.4.3: "MUST decode")
rewrites the whole URL, percent-encoded.
"""

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

# Finds a byte of a raw URL in a header field that may not mean itself.
needs_folded_view: Final = regex(rb"[^!-~]|=\?").search
# New text that needs no escape in any field, nor can begin or end an encoded word.
plain_in_field: Final = regex(rb"[!#-%(-;@-\[\]-~]*+").fullmatch


def folded_view(raw: bytes, quote: bytes = b"", *, words: bool = True) -> View:
    """Return the view of a URL in a header field: no white space, encoded words decoded, if any."""
    if not words:
        return RunView(raw, _folds, lambda new: _spelled(new, quote, words=False))
    if b"=?" in raw and any(_words(raw)):
        return WordView(raw, quote)
    return RunView(raw, _folds, lambda new: _spelled(new, quote), _joins)


class WordView(View):
    """The view of a URL with encoded words in it; edits rewrite the whole URL."""

    def __init__(self, raw: bytes, quote: bytes) -> None:
        self._raw, self._quote = raw, quote
        self.inner = meant(raw)

    def places(self) -> Callable[[Span], Span]:
        return lambda _span: Span(0, len(self._raw))

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        if listed := list(edits):
            new = _spelled(splice(self.inner, listed), self._quote)
            yield Edit(0, len(self._raw), new)


# Bytes that do not mean themselves, apart from encoded words: white space and control characters
# mean nothing, and bytes that are not UTF-8 become surrogates.
_NOT_ITSELF: Final = regex(rb"[\0-\x20\x7f]++|" + unit_pattern("utf-8"))


def _runs(not_itself: re.Pattern[bytes], raw: bytes) -> Iterator[Run]:
    for match in not_itself.finditer(raw):
        unit = match[0]
        if unit[0] == _BACKSLASH:
            meaning = _MEANINGS.get(match[1], match[1]) or b"\\"
            yield Run(match.start(), match.end(), meaning, unended=match[1] is None)
        elif unit.isascii():
            yield Run(match.start(), match.end(), b"")
        elif (run := unit_run(unit, match.start(), "utf-8")) is not None:
            yield run


_folds: Final = partial(_runs, _NOT_ITSELF)
_BACKSLASH: Final = 0x5C
_MEANINGS: Final = {b"n": b"\n", b"N": b"\n"}


def meant(raw: bytes) -> bytes:
    decoded = read(raw, _words(raw))
    return read(decoded, _folds(decoded))


def _joins(raw: bytes, at: int) -> int:
    """RunView's `joins`: an `=` could begin an encoded word together with new text after it."""
    return at - 1 if raw[at - 1 : at] == b"=" else at


# Characters to escape; "=" only where it could begin an encoded word.
_UNSAFE: Final = regex(r"""[^!#-;=?-~]|=(?=\?|\Z)""")


class _Spelled(dict[int, str]):
    """A table for `str.translate` that percent-encodes what is not plain ASCII."""

    def __missing__(self, number: int) -> str:
        character = chr(number)
        if "\udc80" <= character <= "\udcff":  # a byte that is not UTF-8
            return f"%{number - 0xDC00:02X}"
        return "".join(f"%{octet:02X}" for octet in encode_inner(character))


_SPELLED: Final = _Spelled((number, chr(number)) for number in {*range(0x21, 0x7F)} - {*b'"<>'})


def _spelled(new: bytes, quote: bytes, *, words: bool = True) -> bytes:
    """Return new text as ASCII that cannot end the URL or line, or begin an encoded word."""
    text = decode_inner(new)
    spelled = new  # millions of edits may share it: it is not copied without need
    if _UNSAFE.search(text):
        text = text.translate(_SPELLED)
        if words:
            text = text.replace("=?", "%3D?")
            text = f"{text[:-1]}%3D" if text.endswith("=") else text
        spelled = text.encode("ascii")
    return spelled.replace(quote, b"%%%02X" % ord(quote)) if quote else spelled


# A line may be folded between a backslash and the character that it escapes.
_FOLD: Final = rb"\r?\n[ \t]"
_NOT_ITSELF_IN_TEXT: Final = regex(
    rb"%b|\\(?:%b)*+([\\;,nN])?+|" % (_FOLD, _FOLD) + unit_pattern("utf-8")
)
_UNSAFE_IN_TEXT: Final = regex(rb"[\\;,\r\n]")
_ESCAPED: Final = {b"\r": b"", b"\n": b"\\n"}


def calendar_view(raw: bytes) -> RunView:
    r"""Return the view of a value in a calendar: RFC 5545 §3.1 (folding), §3.3.11 (TEXT).

    New text is escaped again (`\,` is `,` and `\n` a new line), but not folded.
    """
    return RunView(
        raw,
        partial(_runs, _NOT_ITSELF_IN_TEXT),
        lambda new: _UNSAFE_IN_TEXT.sub(
            lambda match: _ESCAPED.get(match[0], b"\\" + match[0]), new
        ),
    )


# ---- Encoded words: RFC 2047, with the language of RFC 2231 §5. A word is decoded anywhere, even
# inside brackets and quotes, where §5 forbids it but mailers write it. If its charset is unknown,
# or does not decode its bytes, it stays as it is.

# encoded-word = "=?" charset "?" encoding "?" encoded-text "?="   (RFC 2047 §2, RFC 2231 §5)
_ENCODED_WORD: Final = regex(rb"=\?([^?\s*]{1,40})(?:\*[^?\s]{0,40})?\?([BbQq])\?([^?\s]*+)\?=")
# What `decode` returns for undecodable bytes.
_UNDECODABLE: Final = regex("[\udc80-\udcff\ufffd]")


def decoded_words(value: str) -> str:
    """Return a value with its encoded words decoded; white space between them stays."""
    if "=?" not in value:
        return value
    raw = encode_inner(value)
    return decode_inner(read(raw, _words(raw)))


def _words(raw: bytes) -> Iterator[Run]:
    for word in _ENCODED_WORD.finditer(raw):
        text = _decoded(*word.groups())
        if text is not None:
            yield Run(*word.span(), encode_inner(text))


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
