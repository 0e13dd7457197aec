"""One row for each kind of document: how it is named, recognised, read and visited.

A kind is a row of `_ROWS` and a member of `Kind`; code elsewhere does not depend on which kinds
there are. If the bytes of a document decide its kind, the rows are tried in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from relbase.bases.marks import NONE, Marks, read_marks
from relbase.containers import sniffing
from relbase.edit import Span
from relbase.expressions import expression
from relbase.kind import Kind
from relbase.notes import Note, Reason
from relbase.references.css_functions import css_escaped
from relbase.results import Entity
from relbase.rewriting.context import Context, Task
from relbase.rewriting.html import visit_css, visit_html
from relbase.rewriting.html_base import html_base
from relbase.rewriting.items import Item, lower
from relbase.view.charset import (
    DEFAULT,
    NOT_ASCII,
    PRESCAN_LENGTH,
    UNREADABLE,
    WIDE,
    Charset,
    CharsetSource,
    not_ascii,
    sniff,
    sniff_css,
)
from relbase.view.transcode import document_view, text_view

if TYPE_CHECKING:
    import re

    from relbase.bases.layers import Base
    from relbase.mail.documents import DecodedBody
    from relbase.view.runs import View

# Mail is not retrieved from a URL.
_MAIL_ADVICE: Final = (
    "the message states no base URL (pass url= for the page or site that its links are meant for)"
)

Visit: TypeAlias = Callable[[bytes, Context], Iterator[Item]]
# Finds the charset of a document from its bytes and the label in the header, if there is one.
CharsetRule: TypeAlias = Callable[[bytes, str | None], Charset]
# Shows bytes of a charset as UTF-8; None if the bytes themselves can be scanned.
ViewRule: TypeAlias = "Callable[[bytes, str], View | None]"


class Format(NamedTuple):
    """All that relbase knows about one kind of document."""

    kind: Kind
    # its media types, also `x/*` and `*+x`; the first is the one that entities show
    types: tuple[str, ...]
    suffixes: str = ""  # of its file names, without the dot
    # whether a document with these first bytes (`sniffing.beginning`) is of this kind
    looks: Callable[[bytes], bool] | None = None
    # media types and suffixes that it shares with other kinds, so that the bytes decide
    among: tuple[str, ...] = ()
    # finds its charset; None if its bytes are visited as they are
    charset: CharsetRule | None = None
    view: ViewRule = document_view  # shows its text as UTF-8
    # yields the items of a text, with offsets in it; None if the kind is never rewritten
    visit: Visit | None = None
    # finds the base of a text: its own, or else that of its container
    base: Callable[[bytes, Context], Base] = lambda _text, context: context.base
    # reads the marks of programs that save pages
    marks: Callable[[bytes, str], Marks] | None = None
    # lists the entities inside; None if the document is the only one
    entities: Callable[[bytes, Context], Iterator[Entity]] | None = None
    # whether it can be larger than memory, so that its documents are processed one at a time
    streams: bool = False
    # what a note says if no base is known
    advice: str = "the document's URL is unknown (pass url=)"
    # yields the encoded bodies in a text, decoded, for `explain`; None if there are none
    decoded: Callable[[bytes, Context], Iterator[DecodedBody]] | None = None
    # whether a document that begins with these bytes is a feed or a sitemap
    is_feed: Callable[[bytes], bool] = lambda _start: False
    # whether it holds messages: they have senders, may be compressed, and files named as text
    # may hold them
    messages: bool = False
    doubts: bool = False  # whether to note files that begin like this kind but are named as another
    is_judged: bool = False  # whether its visit notes documents of another kind
    stating: str = ""  # markup that states a base (`{}`) at the start of a text, if any
    # whether its visit can yield lists of links if the bytes themselves are scanned
    makes_links: bool = False

    def read(self, data: bytes, label: str | None, context: Context) -> Document:
        """Open a document: find its charset and the text to scan."""
        if self.charset is None:
            return Document(self, data, data, None, None, context)
        charset = read_charset(data, label, self.charset)
        if why := _unreadable(data, charset):
            note = Note(Reason.CHARSET_UNSUPPORTED, context.part, None, f"{why}: left unchanged")
            return Document(self, data, data, None, charset, context, (note,))
        view = self.view(data, charset.name)
        inside = context.having(
            charset=charset.name if view is None else "utf-8",
            encoding=charset.name,
            unstated=_unstated(data, charset),
        )
        return Document(self, data, data if view is None else view.inner, view, charset, inside)


class Document(NamedTuple):
    """A document that has been opened."""

    format: Format  # the row of its kind
    data: bytes  # its bytes
    text: bytes  # what is visited: the bytes, or the text that the view shows
    view: View | None  # shows the text; None if the bytes themselves are visited
    charset: Charset | None  # of the document; None if the kind has none
    context: Context  # of its container, with the charset of the text
    notes: tuple[Note, ...] = ()  # why its references cannot be looked for

    def visit(self, task: Task | None = None) -> Iterator[Item]:
        """The items of the document, with offsets in its bytes."""
        if self.format.visit is None or self.notes:
            return iter(())
        context = self.context if task is None else self.context.asking(task)
        items = self.format.visit(self.text, context)
        return items if self.view is None else lower(items, self.view, 0)

    def base(self) -> Base:
        """The base of the document: its own, or that of its container."""
        return self.context.base if self.notes else self.format.base(self.text, self.context)

    def marks(self) -> Marks:
        """What programs that save pages left in the document."""
        read = self.format.marks
        return NONE if self.notes or read is None else read(self.text, self.context.charset)

    def within(self, base: Base, task: Task, marks: Marks | None) -> Document:
        """The same document with another base around it, and with its marks if they were read."""
        return self._replace(context=self.context.having(base=base, task=task, marks=marks))

    def entities(self, type_: str) -> Iterator[Entity]:
        """The entities of the document, itself first."""
        if self.format.entities is not None:
            return self.format.entities(self.text, self.context)
        span = Span(0, len(self.data))
        return iter((Entity(self.context.part, type_, span, self.base()),))

    def moves_charset(self, output: bytes, label: str | None) -> bool:
        """Whether the rewritten document would be read in another charset (threat E6)."""
        rule = self.format.charset
        if rule is None or self.charset is None or self.charset.source is not CharsetSource.META:
            return False
        if output.startswith(self.data[:PRESCAN_LENGTH]):
            return False
        return read_charset(output, label, rule).name != self.charset.name


def read_charset(data: bytes, label: str | None, rule: CharsetRule) -> Charset:
    """Return the charset of a document."""
    other = not_ascii(data, label)
    if other:
        return Charset(other, CharsetSource.TRANSPORT if label else CharsetSource.BOM)
    charset = rule(data, label)
    if charset.source is CharsetSource.GUESS and data.isascii():
        # ASCII reads the same in all. Queries and new text follow the default of browsers [C].
        return DEFAULT
    return charset


def _unreadable(data: bytes, charset: Charset) -> str:
    """Why a text with this charset cannot be read; "" if it can."""
    if charset.name in UNREADABLE:
        return "the charset that the document states is not read"
    if charset.name in NOT_ASCII:
        return f"the charset is {charset.name!r}, which is not read"
    # In these charsets each ASCII character, and so `<` and `{`, has a zero byte.
    if charset.name in WIDE and data and b"\0" not in data:
        return f"the charset is stated as {charset.name}, but no byte is zero, so it has no markup"
    return ""


def _unstated(data: bytes, charset: Charset) -> re.Pattern[str] | None:
    """An expression for references whose meaning depends on the charset, if none is stated."""
    if charset.source not in _GUESSED:
        return None
    return _QUERY_NOT_ASCII if data.isascii() else _NOT_ASCII


_GUESSED: Final = (CharsetSource.GUESS, CharsetSource.DEFAULT, CharsetSource.CONTRADICTED)
_NOT_ASCII: Final = expression(r"[\0-\x7f]*+[^\0-\x7f]")
_QUERY_NOT_ASCII: Final = expression(r"[^?#]*+\?[\0-\x22\x24-\x7f]*+[^\0-\x7f]")


def _css_view(data: bytes, charset: str) -> View | None:
    found = document_view(data, charset, css_escaped)
    if found is None and charset != "utf-8" and not data.isascii():
        return text_view(data, charset, css_escaped)
    return found


def _loaded_later(name: str) -> Callable[..., Any]:
    module, _, function = name.rpartition(".")

    def call(*args: object) -> object:
        return getattr(import_module(f"relbase.{module}"), function)(*args)

    return call


_ROWS: Final = (
    Format(
        Kind.HTTP,
        ("message/http", "application/http"),
        looks=sniffing.is_http,
        visit=_loaded_later("http.response.visit_http"),
        # No `doubts`: its bytes decide, whatever its name is.
        base=_loaded_later("http.response.http_base"),
    ),
    Format(
        Kind.MBOX,
        ("application/mbox",),
        "mbox mbx",
        sniffing.is_mbox,
        visit=_loaded_later("mail.mbox.visit_mbox"),
        entities=_loaded_later("mail.mbox.mbox_entities"),
        streams=True,
        advice=_MAIL_ADVICE,
        messages=True,
        decoded=_loaded_later("mail.mbox.decoded_in_mbox"),
        doubts=True,
        is_judged=True,
    ),
    Format(
        Kind.MAIL,
        ("message/rfc822", "message/global", "multipart/*"),
        "eml mht mhtml mhtm mim mime emlx rfc822",
        sniffing.is_mail,
        visit=_loaded_later("mail.message.visit_mail"),
        base=_loaded_later("mail.message.mail_base"),
        entities=_loaded_later("mail.message.mail_entities"),
        advice=_MAIL_ADVICE,
        messages=True,
        decoded=_loaded_later("mail.message.decoded_in_mail"),
        doubts=True,
    ),
    Format(
        Kind.XML,
        ("application/xml", "text/xml", "*+xml"),
        "xml xhtml xht svg mml atom rss rdf opml smil opf ncx xsl xslt dbk docbook fb2 kml gpx",
        sniffing.is_xml,
        charset=_loaded_later("view.transcode.sniff_xml"),
        view=_loaded_later("view.transcode.xml_view"),
        visit=_loaded_later("rewriting.xml.visit_xml"),
        base=_loaded_later("rewriting.xml.xml_base"),
        is_feed=sniffing.is_feed,
        is_judged=True,  # by whether it is well-formed. No `doubts`: many pages are XML
    ),
    Format(
        Kind.JSON,
        ("application/feed+json",),
        looks=sniffing.is_json_feed,
        among=("application/json", "json"),
        charset=lambda _data, _label: Charset("utf-8", CharsetSource.FORMAT),  # RFC 8259 §8.1
        visit=_loaded_later("rewriting.feeds.visit_json_feed"),
        is_feed=lambda _start: True,
        is_judged=True,
    ),
    Format(
        Kind.HTML,
        # Newsletters carry the last two beside their HTML.
        ("text/html", "text/x-html", "text/x-amp-html", "text/watch-html"),
        "html htm shtml shtm asp aspx php jsp",
        sniffing.is_html,
        charset=sniff,
        visit=visit_html,
        base=html_base,
        marks=read_marks,
        stating='<base href="{}">',
        doubts=True,
        makes_links=True,
    ),
    Format(
        Kind.CSS,
        ("text/css",),
        "css",
        sniffing.is_css,
        charset=sniff_css,
        view=_css_view,
        visit=visit_css,
        doubts=True,
    ),
    # Files that people keep beside pages: text, data, scripts, archives, pictures. Left unchanged.
    Format(
        Kind.OTHER,
        ("application/octet-stream",),
        "js mjs cjs jsx ts tsx vue svelte json jsonl ndjson json5 map csv tsv yaml yml toml ini "
        "cfg conf md markdown mkd mdx rst adoc asciidoc org tex textile wiki py pyw rb pl pm sh "
        "bash zsh bat ps1 c h cc cpp hpp cs go rs java kt swift scala lua r sql diff patch scss "
        "sass less styl gz bz2 xz zst br zip 7z rar tar tgz jar war warc arc wacz har epub odt "
        "ods odp docx xlsx pptx doc xls ppt rtf pdf ps webarchive maff htz enex mobi azw azw3 png "
        "jpg jpeg gif webp avif bmp ico tif tiff heic mp3 mp4 m4a m4v ogg oga ogv webm wav flac "
        "mov avi mkv woff woff2 ttf otf eot wasm exe dll so bin iso db sqlite parquet pickle pyc "
        "ics vcf",
        is_feed=sniffing.is_feed,
    ),
)

FORMATS: Final = {row.kind: row for row in _ROWS}
