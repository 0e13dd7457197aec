"""Evernote's exports (.enex): the notes in one file of XML, each a page in a language like HTML.

A note is yielded as soon as it has been read. What is attached to it, in base64, is never kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Final
from xml.parsers import expat

from relbase.compression.codings import MAX_DECODED
from relbase.containers.saved import Saved, xml_parser
from relbase.containers.warc import MAX_HEAD, Fault, Trouble
from relbase.expressions import expression

begins: Final = expression(
    rb"(?:\xEF\xBB\xBF)?\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!DOCTYPE\s++en-export[^>]*+>\s*+)?+"
    rb"<en-export[\s>]"
)

# evernote-export4.dtd
_NOTE: Final = ("en-export", "note")
_TITLE, _CONTENT, _CREATED = ((*_NOTE, name) for name in ("title", "content", "created"))
_URL: Final = (*_NOTE, "note-attributes", "source-url")
_KEPT: Final = frozenset((_TITLE, _CONTENT, _CREATED, _URL))
_LONGER: Final = 5  # steps of a path, one more than those have
MAX_DEPTH: Final = 100  # of elements in elements: the format has five
_TYPE: Final = "text/html; charset=utf-8"
_CHUNK: Final = 1 << 12  # the most text for a callback: a larger buffer is slow to allocate


def saved(pieces: Iterable[bytes]) -> Iterator[Saved | Fault]:
    """Yield the notes of an export while it is read."""
    export, size, at = _Export(), 0, 0
    try:
        for piece in chain(filter(None, pieces), (b"",)):
            export.parser.Parse(piece, not piece)
            yield from export.taken()
            # expat may return -1, and reads a long tag from its beginning for each piece.
            at = max(at, export.parser.CurrentByteIndex)
            if size - at > MAX_HEAD:
                raise ValueError(f"a tag has more than {MAX_HEAD:,} bytes")  # noqa: TRY301
            size += len(piece)
    except (expat.ExpatError, ValueError) as error:
        yield from export.taken()
        at = max(at, export.parser.CurrentByteIndex)
        yield Fault(at, "", "", Trouble.DAMAGED, f"the export is not read from here on: {error}")


class _Export:
    def __init__(self) -> None:
        self._opened: list[str] = []
        self._made: list[Saved] = []
        self.parser = parser = xml_parser()
        parser.buffer_text, parser.buffer_size = True, _CHUNK
        parser.StartElementHandler, parser.EndElementHandler = self._begin, self._end
        parser.SkippedEntityHandler = self._skip
        self._begin_note()

    def taken(self) -> list[Saved]:
        made, self._made = self._made, []
        return made

    def _begin_note(self) -> None:
        self._texts: dict[tuple[str, ...], list[bytes]] = {}
        self._offset, self._left, self._fault = 0, MAX_DECODED, ""

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._opened.append(name)
        if len(self._opened) > MAX_DEPTH or self._opened[0] != _NOTE[0]:
            raise ValueError(f"it has no en-export, or elements nest deeper than {MAX_DEPTH}")
        path = (*self._opened[:_LONGER],)
        if path == _NOTE:
            self._begin_note()
        elif path in _KEPT and path not in self._texts:
            self._texts[path] = []
            self.parser.CharacterDataHandler = partial(self._read, self._texts[path])
            if path == _CONTENT:
                self._offset = self.parser.CurrentByteIndex
                if "encoding" in attributes:
                    self._fault = f"its content is encoded: {attributes['encoding'][:40]}"
        elif path[: len(_CONTENT)] == _CONTENT:
            self._fault = "its content is not a single text"

    def _read(self, pieces: list[bytes], text: str) -> None:
        pieces.append(text.encode())
        self._left -= len(pieces[-1])
        if self._left < 0:
            self._fault = f"it has more than {MAX_DECODED >> 20} MiB"
            pieces.clear()

    def _skip(self, name: str, _is_parameter: bool) -> None:  # noqa: FBT001 (as expat calls it)
        if (*self._opened[: len(_CONTENT)],) == _CONTENT:
            self._fault = f"the entity {name[:40]!r} in its content is not defined"

    def _end(self, _name: str) -> None:
        path = (*self._opened[:_LONGER],)
        self._opened.pop()
        if path in _KEPT:
            self.parser.CharacterDataHandler = None
        elif path == _NOTE:
            title, content, date, url = map(self._text, (_TITLE, _CONTENT, _CREATED, _URL))
            if content or self._fault:
                name = title.decode().replace("/", "_")  # a title has no folders
                document = Saved(self._offset, url.decode(), _TYPE, content, date=date.decode())
                self._made.append(document._replace(fault=self._fault, name=name))
            self._begin_note()

    def _text(self, path: tuple[str, ...]) -> bytes:
        return b"".join(self._texts.get(path, ())).strip()
