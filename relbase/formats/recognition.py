"""Which kind a document is: by its media type, its name, its bytes (rule 15)."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from relbase.expressions import expression
from relbase.formats import sniffing
from relbase.formats.rows import FORMATS, READ
from relbase.html.vocabulary import AMP, AMP_TYPE
from relbase.kind import Kind
from relbase.notes import Note, Reason

if TYPE_CHECKING:
    from relbase.formats.document import Document, Format, Visit
    from relbase.rewriting.context import Context

_BY_TYPE: Final = {type_: row.kind for row in FORMATS.values() for type_ in row.types}
_BY_SUFFIX: Final = {
    suffix: row.kind for row in FORMATS.values() for suffix in row.suffixes.split()
}


# The media types and suffixes that several kinds share.
_AMONG: Final = {name: row for row in FORMATS.values() for name in row.among}


def kind_of_type(content_type: str) -> Kind | None:
    """Return the kind that a media type names, None if it says nothing of use."""
    return _known(content_type)[1]


def _known(content_type: str) -> tuple[str, Kind | None]:
    """Return a media type in lower case, and the kind that it names."""
    # Most documents are of the same few types.
    return (_remembered if len(content_type) <= _SHORT else _read)(content_type)


def _read(content_type: str) -> tuple[str, Kind | None]:
    type_ = sniffing.known_type(content_type)
    if not type_:
        return type_, None
    major, _, minor = type_.partition("/")
    _, plus, syntax = minor.rpartition("+")
    for known in (type_, f"{major}/*", f"*+{syntax}" if plus else ""):
        if known in _BY_TYPE:
            return type_, _BY_TYPE[known]
    return type_, Kind.OTHER


_SHORT: Final = 1 << 8
_remembered: Final = lru_cache(maxsize=128)(_read)


_SETTLING: Final = tuple(row for row in FORMATS.values() if row.settles is not None)

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
    if not named_text:
        for row in _SETTLING:
            if row.settles is not None and row.settles(start):
                return row.kind
    if _binary.match(start):
        return Kind.OTHER
    for row in FORMATS.values():
        if row.looks is not None and (row.messages or not named_text) and row.looks(start):
            return row.kind
    return Kind.OTHER


def kind_of_file(name: str, data: bytes) -> Kind:
    """Return the kind of a file: its name decides, and otherwise its bytes do (rule 15)."""
    suffix = _suffix(name)
    if (row := _among(suffix, data)) is not None:
        return row.kind
    # `wget --save-headers` names files as if they contained no header.
    if suffix in _BY_SUFFIX and not sniffing.is_http(data):
        return _BY_SUFFIX[suffix]
    return kind_of_bytes(data, named_text=suffix in _TEXT_SUFFIXES)


def _among(named: str, data: bytes) -> Format | None:
    """The row for a type or suffix that several kinds share, if the bytes look like it."""
    row = _AMONG.get(named)
    if row is None or row.looks is None:
        return None
    # If the members are sorted, the one that tells the kind (`version`) comes last.
    return row if row.looks(sniffing.beginning(data) + sniffing.ending(data)) else None


def _type_of_bytes(content_type: str, data: bytes) -> Kind | None:
    """The kind that a media type names; the bytes decide if several kinds share the type."""
    type_, kind = _known(content_type)
    row = _among(type_, data) if type_ in _AMONG else None
    return kind if row is None else row.kind


# The kind that a document is read as, and notes on that.
Recognized: TypeAlias = tuple[Kind, tuple[Note, ...]]


def recognized(kind: Kind | None, content_type: str, name: str, data: bytes) -> Recognized:
    """Return the kind of a document, as given or by its type, its name, or its bytes; and notes."""
    if kind is not None:
        return _unless_binary(kind, "", data, name)
    typed = _type_of_bytes(content_type, data) if content_type else None
    suffix = _suffix(name) if name else ""
    known = typed or (kind_of_file(name, data) if suffix else kind_of_bytes(data))
    by = "first bytes"
    if typed is not None:
        by = f"media type, {content_type[:_SHOWN]}"
    elif suffix in _BY_SUFFIX or suffix in _TEXT_SUFFIXES:
        by = f"name, *.{suffix[:_SHOWN]}"
    if data and FORMATS[known].visit is None:
        return known, (_passed_note(f"by its {by}, this", suffix, data),)
    if by == "first bytes":
        return known, ()
    return _judged(known, by, data, _OTHER)


def _judged(kind: Kind, by: str, data: bytes, advice: str = "") -> Recognized:
    """The kind of a document with a label, or the one that its root element states; and notes."""
    row, start = FORMATS[kind], sniffing.beginning(data)
    if row.yields:  # of HTML
        if sniffing.is_plain_html(start):
            return kind, ()
        whole = start + sniffing.ending(data)
        for other in FORMATS.values():
            if other.is_certain(whole):
                text = (
                    f"by its {by}, it is {kind.value}, but its root says that it is {{}}: read so"
                )
                note = Note(Reason.KIND_MISLABELLED, "", None, text.format(other.kind.value))
                return other.kind, (note,)
    seems = "" if row.is_judged else _seems(row, data, start)
    if not seems and _of_feeds.search(by) and sniffing.is_page(start):  # of XHTML
        seems = Kind.HTML.value
    if not seems:
        return kind, ()
    if row.charset is not None and _binary.match(start):
        return _unless_binary(kind, by, data)
    text = f"by its {by}, it is taken for {kind.value}, but it begins like {seems}{advice}"
    return kind, (Note(Reason.KIND_DOUBTFUL, "", None, text),)


_of_feeds: Final = expression(r"rss|atom|rdf|opml", re.IGNORECASE)
_OTHER: Final = ": pass kind= (--kind) if it is another"


def _unless_binary(kind: Kind, by: str, data: bytes, name: str = "") -> Recognized:
    """The kind that was stated, unless that is a text, and edits would destroy a binary file."""
    is_text = FORMATS[kind].charset is None or data.startswith(b"<")
    if is_text or not _binary.match(sniffing.beginning(data)):
        return kind, ()
    told = f"although its {by}, says {kind.value}, this" if by else f"kind {kind.value}: this"
    return Kind.OTHER, (_passed_note(told, _suffix(name), data),)


def _passed_note(told: str, suffix: str, data: bytes) -> Note:
    start = sniffing.beginning(data)
    fix = _CONTAINERS.get(suffix)
    if fix is None:
        fix = next((fix for mark, fix in _MARKS if mark.match(start)), _HINT)
    text = f"{told} is not {READ}: left unchanged{fix and '; '}{fix}"
    return Note(Reason.KIND_UNSUPPORTED, "", None, text)


_SHOWN: Final = 40


def _seems(row: Format, data: bytes, start: bytes) -> str:
    """What a document begins like, for people, if it does not begin like its kind; otherwise ""."""
    if row.visit is None:
        return ""
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
    return other.value if FORMATS[other].doubts and not row.may_be(start) else ""


# How files begin that are not text, and then JSON, which could be read as a page.
_COMPRESSED: Final = rb"\x1f\x8b|BZh[1-9]|\xfd7zXZ|\x28\xb5\x2f\xfd"  # gzip, bzip2, xz, zstd
_binary: Final = expression(
    _COMPRESSED + rb"|PK\x03\x04|bplist00|%PDF-|\x89PNG|GIF8|\xd8\xff|\{\\rtf|WARC/[01]\."
    rb"|\xd0\xcf\x11\xe0"
)
_BEGINNINGS: Final = (
    (_binary, "a compressed or binary file"),
    (expression(rb'\[?[\t\n\r ]*+\{[\t\n\r ]*+"[^"\\]*+"[\t\n\r ]*+:'), "JSON"),
)

# What to do with a document that is left unchanged: by its suffix, by its first bytes, or else.
_HINT: Final = "if it is HTML, pass kind='html' (--kind html)"
_UNZIP: Final = "unzip it, and give the pages in it"
_HELD: Final = "it contains pages: 'relbase rewrite FILE -o DIR/' extracts them with absolute links"
_CONTAINERS: Final = {
    **dict.fromkeys(("webarchive", "har", "maff", "enex"), _HELD),
    "epub": "it is a ZIP archive of XHTML: " + _UNZIP,
    **dict.fromkeys(
        ("doc", "docx", "odt", "ods", "odp", "ppt", "pptx", "rtf", "xls", "xlsx"),
        "save it as HTML to get a page",
    ),
}
_MARKS: Final = (
    (expression(_COMPRESSED), "it is compressed: decompress it first"),
    (expression(rb"PK\x03\x04"), f"it is a ZIP archive: {_UNZIP}"),
    (expression(rb"bplist00(?=.*WebMainResource)", re.DOTALL), _HELD),
    (expression(rb"(?:<[?!][^>]*+>\s*+)*+<en-export[\s>]"), _HELD),
    (expression(rb"\{\\rtf|\xd0\xcf\x11\xe0"), "save it as HTML or .eml to get a page"),
    (_binary, ""),
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


class _Labelled(NamedTuple):
    """How a nested document with a label is read: as its kind, or as what its root says."""

    row: Format
    by: str  # what the label is, for people
    visit: Visit | None  # that of its row
    is_amp: bool = False  # by its media type

    def read(self, data: bytes, label: str | None, context: Context) -> Document:
        kind, notes = _judged(self.row.kind, self.by, data)
        if self.is_amp:
            context = context._replace(extended=context.extended | AMP)
        document = FORMATS[kind].opened(data, label, context.in_charset)
        if notes:
            notes = tuple(note._replace(part=context.part) for note in notes)
            document = document._replace(remarks=notes)
        return document


def reader(content_type: str, name: str) -> _Labelled | None:
    """Return how a nested document is read; None if its kind has no text to read."""
    (type_, kind), by = _known(content_type), f"media type, {content_type[:_SHOWN]}"
    if kind is None:
        kind, by = kind_of_name(name) or Kind.OTHER, f"name, *.{_suffix(name)[:_SHOWN]}"
    row, is_amp = FORMATS[kind], type_ == AMP_TYPE
    return None if row.charset is None else _Labelled(row, by, row.visit, is_amp)
