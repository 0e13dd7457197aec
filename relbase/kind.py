"""What these bytes are: explicit > Content-Type > file name (command line) > the bytes."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final


class Kind(Enum):
    """The kind of a document, by which its references are found.

    >>> Kind("html")
    <Kind.HTML: 'html'>
    """

    HTML = "html"
    CSS = "css"
    XML = "xml"
    MAIL = "mail"
    MBOX = "mbox"
    HTTP = "http"
    OTHER = "other"


_TYPES: Final = {
    "text/html": Kind.HTML,
    "text/css": Kind.CSS,
    "text/xml": Kind.XML,
    "application/xml": Kind.XML,
    "message/rfc822": Kind.MAIL,
    "message/global": Kind.MAIL,
    "application/mbox": Kind.MBOX,
    "message/http": Kind.HTTP,
    "application/http": Kind.HTTP,
}

_SUFFIXES: Final = {
    Kind.HTML: "html htm shtml shtm xht asp aspx php jsp",
    Kind.CSS: "css",
    Kind.XML: "xml xhtml svg atom rss rdf opml smil",
    Kind.MAIL: "eml mht mhtml mhtm mim mime emlx rfc822",
    Kind.MBOX: "mbox mbx",
}
_BY_SUFFIX: Final = {suffix: kind for kind, all_ in _SUFFIXES.items() for suffix in all_.split()}


def kind_of_type(content_type: str) -> Kind | None:
    """Return the kind that a media type names, None when it says nothing of use.

    Args:
        content_type: the value of a Content-Type field, with or without parameters.

    >>> kind_of_type("Text/HTML; charset=utf-8"), kind_of_type("text/plain")
    (<Kind.HTML: 'html'>, <Kind.OTHER: 'other'>)
    """
    type_ = content_type.partition(";")[0].strip().lower()
    if type_ in _TYPES:
        return _TYPES[type_]
    if type_.startswith("multipart/"):
        return Kind.MAIL
    if type_.endswith("+xml"):
        return Kind.XML
    # Servers and mailers say octet-stream when they do not know.
    if "/" not in type_ or type_ == "application/octet-stream":
        return None
    return Kind.OTHER


def kind_of_name(name: str) -> Kind | None:
    """Return the kind that a file's name suggests, None when it suggests none.

    >>> kind_of_name("page.HTM")
    <Kind.HTML: 'html'>
    """
    return _BY_SUFFIX.get(name.rpartition(".")[2].lower())


# RFC 4155: "From ", an address, a date that ends in a year (some write a zone behind it).
_dated: Final = re.compile(rb"From [^\r\n]*[0-9]{4}(?: [+-][0-9]{4})?[ \t]*\r?\n").match
# Others leave the date out (`From - ` of Mozilla) or write more behind it; then a heading tells.
_from_line: Final = re.compile(rb"From [^\n]*+\n").match

# A heading: fields one after the other, among them one that mail has.
_FIELD: Final = rb"[!-9;-~]++[ \t]*+:[^\n]*+\n(?:[ \t][^\n]*+\n)*+"
_heading: Final = re.compile(rb"(?:>?From [^\n]*+\n)?+(?:%b)++" % _FIELD).match
_mail_fields: Final = re.compile(
    rb"""^(?:from|to|cc|date|subject|sender|received|return-path|delivered-to|message-id|mime-version
    |content-(?:type|base|location|transfer-encoding)|base|reply-to|x-[\w-]+)[ \t]*:""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
).finditer


def _mail_field(heading: bytes) -> bool:
    return next(_mail_fields(heading), None) is not None


def _is_mbox(start: bytes) -> bool:
    if _dated(start):
        return True
    if line := _from_line(start):
        return _is_mail(start[line.end() :])
    # Text may stand before the first message, but no markup: there are pages of mail, too.
    first = _later_from(start)
    if first is None or _markup(start[: first.start()]):
        return False
    return _is_mail(start[first.end() :])


_later_from: Final = re.compile(rb"\n\r?\nFrom [^\n]*[0-9]{4}(?: [+-][0-9]{4})?[ \t]*\r?\n").search


def _is_mail(start: bytes) -> bool:
    # Without any LF it is CR that ends the lines, as in the containers.
    lines = start if b"\n" in start else start.replace(b"\r", b"\n")
    found = _heading(lines)
    return (found is not None and _mail_field(found[0])) or _goes_on(lines)


# The lines before the first empty one.
_block: Final = re.compile(rb"(?:(?!\r?\n)[^\n]*+\n)++").match
_mime_field: Final = re.compile(
    rb"^(?:content-[\w-]+|mime-version)[ \t]*:", re.IGNORECASE | re.MULTILINE
).search
_tag_line: Final = re.compile(rb"^[ \t]*<", re.MULTILINE).search


def _goes_on(lines: bytes) -> bool:
    """Whether a heading goes on behind lines that are no fields, as in the containers."""
    block = _block(lines)
    if block is None or _tag_line(block[0]) or not _mime_field(block[0]):
        return False
    return len({field[0].lower() for field in _mail_fields(block[0])}) > 1


_xml: Final = re.compile(rb"<\?xml[\t\n\r ]").match
_html: Final = re.compile(
    rb"<(?:!doctype[\t\n\f\r ]+html|(?:html|head|body|title|meta|base|link|script|style|a|p|div"
    rb"|table|frameset|center|font|img|h[1-6]|ul|br|span)[\t\n\f\r />])",
    re.IGNORECASE,
).search
_markup: Final = re.compile(rb"<[a-zA-Z!?/]").search
# The root element behind white space, comments, instructions and a doctype.
_root: Final = re.compile(
    rb"""(?:[\t\n\f\r ]++|<!--(?:[^-]++|-(?!->))*+-->|<\?[^>]*+>
    |<![^>\[]*+(?:\[[^\]]*+\][^>]*+)?+>)*+ <(?:[\w.-]++:)?+([\w.-]++)""",
    re.VERBOSE,
).match
_css: Final = re.compile(
    rb"(?:[\t\n\f\r ]++|/\*(?:[^*]++|\*(?!/))*+\*/|<!--)*+"
    # An at-rule, or a selector with a declaration, nothing, or a nested rule after its brace.
    rb"(?:@[a-zA-Z-]+|[^{}<;]++\{[\t\n\f\r ]*+(?:[\w-]++[\t\n\f\r ]*+:|[}&.#]))"
).match
# What may hold tags in CSS: comments and strings.
_css_opaque: Final = re.compile(rb"""/\*(?:[^*]++|\*(?!/))*+\*/|"[^"\r\n]*+"|'[^'\r\n]*+'""")


def _is_html(start: bytes) -> bool:
    if _xml(start) and (root := _root(start)):
        # With an XML declaration in front a page is HTML to browsers, unless a type says otherwise.
        return root[1].lower() == b"html"
    return _html(_bare(start) if _is_css(start) else start) is not None


# Feeds often come without an XML declaration, and hold HTML (WHATWG MIME Sniffing §7.3).
_FEEDS: Final = frozenset((b"feed", b"rss", b"rdf", b"opml"))


def _is_feed(start: bytes) -> bool:
    root = _root(start)
    return root is not None and root[1].lower() in _FEEDS


def _is_css(start: bytes) -> bool:
    return _css(_bare(start)) is not None


def _bare(start: bytes) -> bytes:
    return _css_opaque.sub(b"", start)


# How much of the bytes is looked at: more than any prologue of comments and licences is long.
_LOOKED_AT: Final = 16_384


# Asked in this order; the first that recognises the start of the bytes names the kind.
_MARKS: Final = (
    (Kind.HTTP, re.compile(rb"HTTP/1\.").match),
    (Kind.MBOX, _is_mbox),
    (Kind.MAIL, _is_mail),
    (Kind.XML, _is_feed),
    (Kind.HTML, _is_html),
    (Kind.XML, _xml),
    (Kind.CSS, _is_css),
)


def kind_of_bytes(data: bytes) -> Kind:
    r"""Return the kind that the bytes look like; `Kind.OTHER` when nothing is recognised.

    >>> kind_of_bytes(b"Base: <URL:http://a/>\n\nText")
    <Kind.MAIL: 'mail'>
    """
    start = data[:_LOOKED_AT]
    if start.startswith((b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")):
        start = start.replace(b"\0", b"")
    start = start.lstrip(b"\xef\xbb\xbf\xff\xfe\t\n\r\f ")
    for kind, recognises in _MARKS:
        if recognises(start):
            return kind
    return Kind.HTML if _markup(data) else Kind.OTHER
