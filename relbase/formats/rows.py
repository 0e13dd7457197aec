"""One row for each kind of document: how it is named, recognised, read and visited.

A kind is a row of `_ROWS` and a member of `Kind`; code elsewhere does not depend on which kinds
there are. If the bytes of a document decide its kind, the rows are tried in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from relbase.expressions import loaded_later
from relbase.formats import sniffing
from relbase.formats.document import Format, Visit
from relbase.html.ahead import first_look, html_base, visit_html
from relbase.kind import Kind
from relbase.rewriting.outcomes import Batch, Outcome, batched
from relbase.view.charset import (
    Charset,
    CharsetSource,
    sniff,
    sniff_css,
)

if TYPE_CHECKING:
    from relbase.rewriting.context import Context
    from relbase.view.runs import View

# Mail is not retrieved from a URL.
_MAIL_ADVICE: Final = (
    "the message states no base URL (pass url= or message_urls= for the page or site that its "
    "links are meant for)"
)


def _text_view(escaped: Callable[[str], bytes], data: bytes, charset: str) -> View | None:
    from relbase.view.transcode import document_view, text_view

    view = document_view(data, charset, escaped)
    if view is None and charset != "utf-8" and not data.isascii():
        return text_view(data, charset, escaped)
    return view


def _in_batches(visit: Callable[..., Iterable[Outcome]]) -> Visit:
    return lambda text, context: batched(visit(text, context))


_JSON_CHARSET: Final = Charset("utf-8", CharsetSource.FORMAT)  # RFC 8259 §8.1


def _with_anchors(visit: Visit, *, is_xml: bool = False) -> Visit:
    """Return a visit that also finds the text of elements, if the context asks for that."""

    def visited(text: bytes, context: Context) -> Iterator[Batch]:
        batches = visit(text, context)
        if not context.texts or context.wanted.edits_only:
            return batches
        from relbase.html.anchors import with_anchors

        return with_anchors(text, context.charset, batches, is_xml=is_xml)

    return visited


_ROWS: Final = (
    Format(
        Kind.HTTP,
        ("message/http", "application/http"),
        looks=sniffing.is_http,
        visit=_in_batches(loaded_later("http.response.visit_http")),
        base=loaded_later("http.response.http_base"),
        doubts=True,  # of a media type: its bytes decide, whatever its name is
    ),
    Format(
        Kind.MBOX,
        ("application/mbox",),
        "mbox mbx",
        sniffing.is_mbox,
        visit=_in_batches(loaded_later("mail.mbox.visit_mbox")),
        entities=loaded_later("mail.mbox.mbox_entities"),
        streams=True,
        advice=_MAIL_ADVICE,
        messages=True,
        decoded=loaded_later("mail.mbox.decoded_in_mbox"),
        doubts=True,
        is_judged=True,
    ),
    Format(
        Kind.MAIL,
        ("message/rfc822", "message/global", "multipart/*"),
        "eml mht mhtml mhtm mim mime emlx rfc822",
        sniffing.is_mail,
        title="mail",
        visit=_in_batches(loaded_later("mail.message.visit_mail")),
        base=loaded_later("mail.message.mail_base"),
        entities=loaded_later("mail.message.mail_entities"),
        advice=_MAIL_ADVICE,
        messages=True,
        decoded=loaded_later("mail.message.decoded_in_mail"),
        doubts=True,
    ),
    Format(
        Kind.XML,
        # after the first three, what people send for feeds
        (
            *("application/xml", "text/xml", "*+xml", "application/x-xml", "text/rss"),
            *("application/rss", "application/atom", "text/x-opml", "application/x-opml"),
        ),
        "xml xhtml xht svg mml atom rss rdf opml smil opf ncx xsl xslt dbk docbook fb2 kml gpx",
        sniffing.is_xml,
        title="XML",
        charset=loaded_later("view.transcode.sniff_xml"),
        view=loaded_later("view.transcode.xml_view"),
        visit=_with_anchors(loaded_later("xml.document.visit_xml"), is_xml=True),
        base=loaded_later("xml.document.xml_base"),
        is_feed=sniffing.is_feed,
        is_certain=sniffing.is_mislabelled_feed,
        may_be=sniffing.may_be_xml,
        doubts=True,
    ),
    Format(
        Kind.JSON,
        ("application/feed+json",),
        looks=sniffing.is_json_feed,
        title="a JSON Feed",
        among=("application/json", "json"),
        charset=lambda _data, _label: _JSON_CHARSET,
        visit=_in_batches(loaded_later("xml.json_feed.visit_json_feed")),
        base=loaded_later("xml.json_feed.json_base"),
        is_feed=lambda _start: True,
        is_certain=sniffing.is_json_feed,
        is_judged=True,
        doubts=True,
    ),
    Format(
        Kind.JSON_LD,
        ("application/ld+json",),
        "jsonld",
        title="JSON-LD",
        charset=lambda _data, _label: _JSON_CHARSET,
        visit=_in_batches(loaded_later("html.json_ld.visit_json_ld_file")),
        is_judged=True,
    ),
    Format(
        Kind.HTML,
        # Newsletters carry the last two beside their HTML.
        ("text/html", "text/x-html", "text/x-amp-html", "text/watch-html"),
        "html htm shtml shtm asp aspx php jsp",
        sniffing.is_html,
        sniffing.is_only_html,
        title="HTML",
        charset=sniff,
        visit=_with_anchors(visit_html),
        base=html_base,
        marks=loaded_later("savers.marks.read_marks"),
        look=first_look,
        stating='<base href="{}">',
        doubts=True,
        may_be=sniffing.may_be_html,
        yields=True,
        makes_links=True,
    ),
    Format(
        Kind.CSS,
        ("text/css",),
        "css",
        sniffing.is_css,
        title="CSS",
        charset=sniff_css,
        view=partial(_text_view, loaded_later("css.escapes.css_escaped")),
        visit=_in_batches(loaded_later("css.visit.visit_css")),
        doubts=True,
    ),
    Format(
        Kind.MARKDOWN,
        ("text/markdown",),  # RFC 7763
        "md markdown mkd",
        title="Markdown",
        charset=loaded_later("view.charset.sniff_text"),
        view=partial(_text_view, loaded_later("view.transcode.reference")),
        visit=_in_batches(loaded_later("markdown.visit.visit_markdown")),
        may_be=sniffing.may_be_markdown,
        is_asked_for=True,  # most of it becomes pages elsewhere, whose links are relative to those
    ),
    # Files that people keep beside pages: text, data, scripts, archives, pictures. Left unchanged.
    Format(
        Kind.OTHER,
        ("application/octet-stream",),
        "js mjs cjs jsx ts tsx vue svelte json jsonl ndjson json5 map csv tsv yaml yml toml ini "
        "cfg conf mdx rst adoc asciidoc org tex textile wiki py pyw rb pl pm sh "
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


def _check() -> None:
    for kind in Kind:
        if kind not in FORMATS:
            raise TypeError(f"{kind!r} has no row: add one to _ROWS in relbase/formats/rows.py")


_check()

# What relbase reads, for notes.
*_titles, _last = (FORMATS[kind].title for kind in Kind if FORMATS[kind].title)
READ: Final = f"{', '.join(_titles)} or {_last}"
