"""Which kind a document is: by its media type, its name, its bytes (rule 15)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from relbase.expressions import expression
from relbase.formats import sniffing
from relbase.formats.rows import FORMATS, READ
from relbase.kind import Kind
from relbase.notes import Note, Reason

if TYPE_CHECKING:
    from relbase.formats.document import Format

_BY_TYPE: Final = {type_: row.kind for row in FORMATS.values() for type_ in row.types}
_BY_SUFFIX: Final = {
    suffix: row.kind for row in FORMATS.values() for suffix in row.suffixes.split()
}


# The media types and suffixes that several kinds share.
_AMONG: Final = {one: row for row in FORMATS.values() for one in row.among}


def kind_of_type(content_type: str) -> Kind | None:
    """Return the kind that a media type names, None if it says nothing of use."""
    type_ = content_type.partition(";")[0].strip().lower()
    major, slash, minor = type_.partition("/")
    if not slash or type_ == "application/octet-stream":  # means that the type is unknown
        return None
    _, plus, syntax = minor.rpartition("+")
    for known in (type_, f"{major}/*", f"*+{syntax}" if plus else ""):
        if known in _BY_TYPE:
            return _BY_TYPE[known]
    return Kind.OTHER


# Suffixes that only mean text: these files may be mail, but never pages.
_TEXT_SUFFIXES: Final = frozenset(("txt", "text", "log"))


def _suffix(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else ""


def kind_of_name(name: str) -> Kind | None:
    """Return the kind that a file's name states, None if it states none."""
    return _BY_SUFFIX.get(_suffix(name))


def kind_of_bytes(data: bytes, *, named_text: bool = False) -> Kind:
    """Return the kind that the bytes look like; `Kind.OTHER` if none is recognised."""
    start = sniffing.beginning(data)
    if _binary.match(start):
        return Kind.OTHER
    for row in FORMATS.values():
        if row.looks is not None and (row.messages or not named_text) and row.looks(start):
            return row.kind
    return Kind.OTHER


def kind_of_file(name: str, data: bytes) -> Kind:
    """Return the kind of a file: its name decides, and otherwise its bytes do (rule 15)."""
    if (row := _among(_suffix(name), data)) is not None:
        return row.kind
    # `wget --save-headers` names files as if they contained no header.
    if not sniffing.is_http(data):
        kind = kind_of_name(name)
        if kind is not None:
            return kind
    return kind_of_bytes(data, named_text=_suffix(name) in _TEXT_SUFFIXES)


def _among(named: str, data: bytes) -> Format | None:
    """The row for a type or suffix that several kinds share, if the bytes look like it."""
    row = _AMONG.get(named)
    if row is None or row.looks is None:
        return None
    # If the members are sorted, the one that tells the kind (`version`) comes last.
    return row if row.looks(sniffing.beginning(data) + sniffing.ending(data)) else None


def _type_of_bytes(content_type: str, data: bytes) -> Kind | None:
    """The kind that a media type names; the bytes decide if several kinds share the type."""
    row = _among(content_type.partition(";")[0].strip().lower(), data)
    return kind_of_type(content_type) if row is None else row.kind


# The kind that a document is read as, and notes on that.
Recognized: TypeAlias = tuple[Kind, tuple[Note, ...]]


def recognized(kind: Kind | None, content_type: str, name: str, data: bytes) -> Recognized:
    """Return the kind of a document, as given or by its type, its name, or its bytes; and notes."""
    if kind is not None:
        return kind, ()
    typed = _type_of_bytes(content_type, data) if content_type else None
    found = typed or (kind_of_file(name, data) if name else kind_of_bytes(data))
    doubts = _doubts(name, data) if name and typed is None else ()
    if data and FORMATS[found].visit is None:
        return found, (_passed_note(content_type, name, data), *doubts)
    return found, doubts


def _passed_note(type_: str, name: str, data: bytes) -> Note:
    by = "first bytes"
    if type_ and kind_of_type(type_) is not None:
        by = f"media type, {type_[:_SHOWN]}"
    elif name and (kind_of_name(name) or _suffix(name) in _TEXT_SUFFIXES):
        by = f"name, *.{_suffix(name)[:_SHOWN]}"
    fix = "if it is HTML, pass kind='html' (--kind html)"
    if _compressed.match(data):
        fix = "it is compressed: decompress it first"
    text = f"by its {by}, this is not {READ}: left unchanged; {fix}"
    return Note(Reason.KIND_UNSUPPORTED, "", None, text)


_SHOWN: Final = 40


def _doubts(name: str, data: bytes) -> tuple[Note, ...]:
    """The note on a file whose name decides (rule 15), although its bytes suggest another kind."""
    kind = kind_of_name(name)
    if kind is None or FORMATS[kind].is_judged:
        return ()
    row = FORMATS[kind]
    seems = "" if row.visit is None else _seems(row, data)
    if not seems:
        return ()
    by = f"by its name, *.{_suffix(name)[:_SHOWN]}, it is taken for {kind.value}"
    text = f"{by}, but it begins like {seems}: pass kind= (--kind) if it is another"
    return (Note(Reason.KIND_DOUBTFUL, "", None, text),)


def _seems(row: Format, data: bytes) -> str:
    """What a file begins like, for people, if it does not begin like its kind; otherwise ""."""
    start = sniffing.beginning(data)
    if row.looks is not None and row.looks(start):
        if not data.startswith(b"From "):
            return ""
        from relbase.containers import mbox  # start-up time: few files begin so

        # a file with a From_ line may also be a single message
        return Kind.MBOX.value if sum(1 for _ in islice(mbox.split([data]), 2)) > 1 else ""
    for marks, what in _BEGINNINGS:
        if marks.match(start):
            return what
    other = kind_of_bytes(data)
    return other.value if FORMATS[other].doubts else ""


# How files begin that are not text, and then JSON, which could be read as a page.
_COMPRESSED: Final = rb"\x1f\x8b|BZh[1-9]|\xfd7zXZ|\x28\xb5\x2f\xfd"  # gzip, bzip2, xz, zstd
_compressed: Final = expression(_COMPRESSED)
_binary: Final = expression(
    _COMPRESSED + rb"|PK\x03\x04|%PDF-|\x89PNG|GIF8|\xd8\xff|\{\\rtf|WARC/[01]\.|\xd0\xcf\x11\xe0"
)
_BEGINNINGS: Final = (
    (_binary, "a compressed or binary file"),
    (expression(rb'\[?[\t\n\r ]*+\{[\t\n\r ]*+"[^"\\]*+"[\t\n\r ]*+:'), "JSON"),
)


def may_hold_references(content_type: str, data: bytes | None = None) -> bool:
    kind = _type_of_bytes(content_type, data or b"")
    if kind is None:
        if data is None:
            return True
        kind = kind_of_bytes(data)
    return FORMATS[kind].visit is not None


def name_may_hold(name: str) -> bool:
    kind = kind_of_name(name)
    return kind is not None and FORMATS[kind].visit is not None


def reader(content_type: str, name: str) -> Format | None:
    """Return how a nested document is read; None if its kind has no text to read."""
    kind = kind_of_type(content_type) or kind_of_name(name) or Kind.OTHER
    row = FORMATS[kind]
    return None if row.charset is None else row
