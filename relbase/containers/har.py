"""HAR 1.2, the log of HTTP that browsers' developer tools export: the documents in it.

It is JSON, which is walked once; of an entry only what is needed is kept.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterator
from typing import Final

from relbase.containers.saved import Saved, in_own_charset
from relbase.containers.warc import Fault, Trouble
from relbase.edit import Span
from relbase.expressions import expression
from relbase.url import rfc3986
from relbase.values.json_text import JsonKind, JsonString, strings, unescaped
from relbase.view.charset import after_mark

begins: Final = expression(rb'(?:\xEF\xBB\xBF)?\s*\{\s*"log"\s*:\s*\{')

_ENTRY: Final = [b"log", b"entries", None]
# What is kept of an entry, by the names from there: texts, numbers, and header fields.
_URL, _TO, _DATE = b"request url", b"response redirectURL", b"startedDateTime"
_TYPE, _TEXT, _ENCODING = (
    b"response content " + name for name in (b"mimeType", b"text", b"encoding")
)
_STATUS, _SIZE = b"response status", b"response content size"
_TEXTS: Final = frozenset((_URL, _TO, _DATE, _TYPE, _TEXT, _ENCODING))
_NUMBERS: Final = frozenset((_STATUS, _SIZE))
_HEADER: Final = [b"response", b"headers", None]
_FIELDS: Final = frozenset(("base", "content-base", "content-security-policy"))
_DEEPEST: Final = 7  # log, entries, an entry, response, headers, a header, its value

_FOLLOWED: Final = 20  # redirects, as many as browsers follow
_number: Final = expression(rb'"\s*+:\s*+([0-9]{1,18})')
_surrogates: Final = expression(rb"\xED[\xA0-\xBF][\x80-\xBF]")


def saved(data: bytes) -> Iterator[Saved | Fault]:
    """Yield the responses with the redirects that led to each; only 2xx have bodies."""
    start = after_mark(data)
    text = data[start:] if start else data
    led: dict[str, tuple[str, ...]] = {}  # redirects, by where they led
    entry, number, is_log = _Entry(text, 0), -1, False
    for string in strings(text):
        if string.kind is JsonKind.END and string.end == len(text):
            yield from entry.saved(led)
            if not is_log:
                yield Fault(0, "", "", Trouble.DAMAGED, "the JSON has no log.entries")
            return
        if string.kind is JsonKind.KEY and string.names[:-1] == _ENTRY[:1]:
            is_log = is_log or text[string.start : string.end] == _ENTRY[1]
        if string.names[:3] == _ENTRY and len(string.names) <= _DEEPEST:
            if string.places[2] != number:
                yield from entry.saved(led)
                entry, number = _Entry(text, string.start + start), string.places[2]
            entry.add(string)
    yield Fault(entry.offset, "", "", Trouble.DAMAGED, "the HAR is not JSON from here on")


class _Entry:
    def __init__(self, text: bytes, offset: int) -> None:
        self.offset, self._text = offset, text
        self._texts: dict[bytes, Span] = {}
        self._numbers: dict[bytes, int] = {}
        self._header = -1, ""
        self._fields: list[tuple[str, str]] = []

    def add(self, string: JsonString) -> None:
        kind, start, end, names, places = string
        name = self._text[start:end] if kind is JsonKind.KEY else names[-1]
        *around, last = *names[3:-1], name
        path = b" ".join(part or b"" for part in (*around, last))
        if kind is JsonKind.KEY:
            if path in _NUMBERS and (digits := _number.match(self._text, end)):
                self._numbers[path] = int(digits[1])
        elif kind is JsonKind.MEMBER and path in _TEXTS:
            self._texts[path] = Span(start, end)
        elif around == _HEADER and last == b"name":
            self._header = places[5], self._read(Span(start, end)).lower()
        elif around == _HEADER and last == b"value" and self._header[0] == places[5]:
            field = self._header[1]
            self._fields += [(field, self._read(Span(start, end)))] if field in _FIELDS else []

    def _read(self, span: Span | None) -> str:
        text = b"" if span is None else unescaped(self._text[span.start : span.end])
        return text.decode("utf-8", "replace")

    def saved(self, led: dict[str, tuple[str, ...]]) -> Iterator[Saved]:
        """Yield the response of the entry, and remember where it redirected to."""
        url, to, date, type_, encoding = (
            self._read(self._texts.get(name)) for name in (_URL, _TO, _DATE, _TYPE, _ENCODING)
        )
        status, redirects = self._numbers.get(_STATUS, 0), led.pop(url, ())
        if to:
            target = rfc3986.follow(url, [to])
            led[target] = (*redirects[-_FOLLOWED:], target)
        if not status:  # the request failed
            return
        is_read = status // 100 == 2  # noqa: PLR2004 (RFC 9110 §15.3)
        body, fault, span = b"", "", self._texts.get(_TEXT) if is_read else None
        if span is not None:
            try:
                body = _decoded(unescaped(self._text[span.start : span.end]), type_, encoding)
            except binascii.Error as error:
                fault = f"its content is not base64: {error}"
        elif is_read and self._numbers.get(_SIZE):
            fault = "its content was not saved: export the HAR with content"
        fields = tuple(self._fields)
        yield Saved(self.offset, url, type_, body, status, date, fields, redirects, fault)


def _decoded(text: bytes, type_: str, encoding: str) -> bytes:
    if encoding.lower() == "base64":
        return binascii.a2b_base64(text.translate(None, b"\t\n\r "), strict_mode=True)
    return in_own_charset(_surrogates.sub("\ufffd".encode(), text), type_)
