"""Recognises each kind of document by its `beginning`."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from relbase.containers.from_line import begins_file, has_date
from relbase.expressions import expression


def is_mbox(start: bytes) -> bool:
    if start.startswith(_FROM):
        after = start.find(b"\n") + 1
        return bool(has_date.match(start)) or (
            after > 0 and begins_file(start) and is_mail(start[after:])
        )
    # Text may precede the first message, but no markup: some web pages show mail.
    for line in _later_from.finditer(start):
        if has_date.match(start[line.end() - len(_FROM) :]):
            text, message = start[: line.start()], start[start.find(b"\n", line.end()) + 1 :]
            return not (_markup.search(text) or b"\0" in text) and is_mail(message)
    return False


_FROM: Final = b"From "
_later_from: Final = expression(rb"\n\r?\nFrom ")


def is_mail(start: bytes) -> bool:
    """Whether this looks like a message: a header with at least one field of mail."""
    if _tag.match(start):  # settles most pages, whose first paragraph may be long
        return False
    from relbase.containers.fields import (  # start-up time: most files have a name
        eol_of,
        fields_of_paragraph,
    )

    eol = eol_of(start, 0, len(start))
    if b"\0" in start.partition(eol)[0]:
        return False  # an archive with an uncompressed message: a TAR or ZIP file
    at = start.find(eol) + 1 if start.startswith((_FROM, b">" + _FROM)) else 0
    empty = _empty_lines[eol].search(start, at)
    end = empty.start() if empty else len(start)
    fields = fields_of_paragraph(start, at, end, eol, of_any_name=True)
    names = [field.name for field in fields]
    for count, field in enumerate(fields):
        if field.span.start != at:
            break
        if _is_of_mail(names[count]):
            return True
        at = field.span.end
    # As in `fields`, a header may go on after lines that are not fields.
    is_of_mime = any(name.startswith("content-") or name == "mime-version" for name in names)
    is_mixed = at < end and is_of_mime and sum(map(_is_of_mail, {*names})) > 1
    return is_mixed and not _tag_line.search(start, 0, end)


_empty_lines: Final = {
    b"\n": expression(rb"^\r?$", re.MULTILINE),
    b"\r": expression(rb"\A\r|(?<=\r)\r"),
}


def _is_of_mail(name: str) -> bool:
    return name in _of_mail() or name.startswith("x-")


@cache
def _of_mail() -> frozenset[str]:
    from relbase.containers.header_fields import FIELDS

    return frozenset(row.name.lower() for row in FIELDS if row.of_mail)


_tag_line: Final = expression(rb"^[ \t]*<", re.MULTILINE)
# But not the name of a field, which may begin with `<`, too.
_tag: Final = expression(rb"<[^\t\n\r :]*+[ \t]*+(?!:)")

_xml: Final = expression(rb"<\?xml[\t\n\r ]")
_markup: Final = expression(rb"<[a-zA-Z!?/]")
# The root element after white space, comments, instructions and a doctype.
_root: Final = expression(  # its prefix, its name
    rb"""(?:[\t\n\f\r ]++|<!--(?:[^-]++|-(?!->))*+-->|<\?[^>]*+>
    |<![^>\[]*+(?:\[[^\]]*+\][^>]*+)?+>)*+ <(?:([\w.-]++):)?+([\w.-]++)""",
    re.VERBOSE,
)


def _root_of(start: bytes) -> bytes:
    root = _root.match(start)
    return root[2].lower() if root else b""


# What may precede the first tag of a page or a template (rule 15): white space, front matter,
# comments, and instructions of servers, XML and template languages.
_PROLOGUE: Final = rb"""(?:---[ \t]*+\r?\n (?:(?!---[ \t]*+\r?$)[^\n]*+\n)*+ ---[ \t]*+\r?\n)?+
    (?:[\t\n\f\r ]++ | <!--(?!\[if)(?:-?>|(?:[^-]++|-(?!-!?>))*+--!?>)
    | <\?(?:php\b|=)(?:[^?]++|\?(?!>))*+\?> | <\?(?!php\b|=)[^>]*+> | <%(?:[^%]++|%(?!>))*+%>
    | \{%(?:[^%]++|%(?!\}))*+%\} | \{\{(?:[^}]++|\}(?!\}))*+\}\}
    | \{\#(?:[^#]++|\#(?!\}))*+\#\})*+"""

# The elements of HTML, including obsolete ones. An svg or math root makes a document of its own.
_ELEMENTS: Final = (
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big "
    "blink blockquote body br button canvas caption center cite code col colgroup command data "
    "datalist dd del details dfn dialog dir div dl dt em embed fencedframe fieldset figcaption "
    "figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i "
    "iframe ilayer image img input ins isindex kbd keygen label layer legend li link listing "
    "main map mark marquee menu menuitem meta meter model nav nobr noembed noframes noscript "
    "object ol optgroup option output p param picture plaintext portal pre progress q rb rp rt "
    "rtc ruby s samp script search section select slot small source spacer span strike strong "
    "style sub summary sup table tbody td template textarea tfoot th thead time title tr track "
    "tt u ul var video wbr xmp "
)

# How most pages begin. Compiling `_html` takes longer than rewriting a small page.
_usual: Final = expression(
    rb"<(?:!doctype[\t\n\f\r ]+(html)\b|/?+([a-z][a-z0-9]*+)[\t\n\f\r />])", re.IGNORECASE
)
_NAMES: Final = frozenset(_ELEMENTS.encode().split())

# The name of a custom element contains a hyphen. A comment that is conditional or does not end is
# a sign of HTML.
_html: Final = expression(
    rb"""%b(?:<!doctype[\t\n\f\r ]+html\b | <!--
    | </?+(?:(?:%b)|(?!en-export[\t\n\f\r />])[a-z][a-z0-9._]*+-[a-z0-9._-]*+)[\t\n\f\r />])"""
    % (_PROLOGUE, "|".join(_ELEMENTS.split()).encode()),
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)

# An at-rule that sheets begin with, or a selector, its brace, and then a declaration, a nested rule
# or nothing. A statement of a script is not a selector.
_css: Final = expression(
    rb"""(?:[\t\n\f\r ]++|/\*(?:[^*]++|\*(?!/))*+\*/|<!--)*+
    (?:@(?:charset|import|namespace|media|font-face|page|supports|layer|container|property
        |(?:-[a-z]++-)?keyframes|-moz-document|viewport|-ms-viewport)\b
    |(?!(?:function|var|let|const|import|export|if|for|while|class|return|async|try|switch|do)\b)
    (?:[^{}<;=()\[\]"']++|\[[^\]{};<]*+\]|\((?:[^(){};<]++|\([^(){};<]*+\))*+\))++
    \{[\t\n\f\r ]*+(?:[\w-]++[\t\n\f\r ]*+:|[}&.#]))""",
    re.VERBOSE | re.IGNORECASE,
)
# What may contain tags in CSS: comments and strings.
_css_opaque: Final = expression(rb"""/\*(?:[^*]++|\*(?!/))*+\*/|"[^"\r\n]*+"|'[^'\r\n]*+'""")


def is_plain_html(start: bytes) -> bool:
    """Whether this begins as most pages do: with a doctype or a tag of HTML."""
    usual = _usual.match(start)
    return usual is not None and (usual[1] is not None or usual[2].lower() in _NAMES)


def is_only_html(start: bytes) -> bool:
    """Whether this begins so, and not like mail, whose first field may have any name."""
    return is_plain_html(start) and _tag.match(start) is not None


def is_html(start: bytes) -> bool:
    """Whether this looks like a page or a part of one: with a doctype or a tag (rule 15)."""
    if is_plain_html(start):
        return True
    if _xml.match(start) and (root := _root_of(start)):
        # Browsers read a page with an XML declaration as HTML, unless a type says otherwise.
        return root == b"html"
    return _html.match(start) is not None


# Feeds often have no XML declaration, and contain HTML (WHATWG MIME Sniffing §7.3). The other roots
# occur in one vocabulary only: sitemaps, EPUB's packages, SVG, MathML.
_ROOTS: Final = frozenset(
    b"feed rss rdf opml urlset sitemapindex package ncx svg math kml gpx "
    b"opensearchdescription".split()
)

_doctype_html: Final = expression(
    rb"(?:[\t\n\f\r ]++|<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+--!?>))*+<!doctype[\t\n\f\r ]+html\b",
    re.IGNORECASE,
)


def is_xml(start: bytes) -> bool:
    """Whether this looks like XML that browsers do not read as HTML."""
    if _doctype_html.match(start):
        return False  # `<!doctype html><svg>`
    root = _root_of(start)
    if root in _ROOTS:
        return True
    # An export of Evernote has pages in it, and no text of XML.
    return root != b"en-export" and _xml.match(start) is not None and not is_html(start)


_FEEDS: Final = frozenset((b"rss", b"feed", b"rdf", b"urlset", b"sitemapindex"))


def is_feed(start: bytes) -> bool:
    return _root_of(start) in _FEEDS


# WHATWG MIME Sniffing §7.3, "sniffing a mislabeled feed", but with whole names, which XML compares
# by case, and with OPML and sitemaps.
_FEED_ROOTS: Final = frozenset(b"rss feed opml urlset sitemapindex".split())
# Names that others use too, or with a prefix: RSS 1.0, its drafts and RSS 0.90; Atom 1.0 and 0.3.
_FEED_NAMESPACES: Final = {
    b"RDF": expression(rb"://(?:purl\.org/rss/1\.0/|[a-z.]++\.netscape\.com/rdf/simple/)"),
    b"feed": expression(rb"://(?:www\.w3\.org/2005/Atom|purl\.org/atom/ns#)"),
}


def is_mislabelled_feed(start: bytes) -> bool:
    """Whether the root element makes this a feed or a sitemap, even if it is labelled as HTML."""
    root = None if _doctype_html.match(start) else _root.match(start)
    if root is None:
        return False
    prefix, name = root.groups()
    if prefix is None and name in _FEED_ROOTS:
        return True
    namespace = _FEED_NAMESPACES.get(name)
    return namespace is not None and namespace.search(start) is not None


def may_be_html(start: bytes) -> bool:
    """Whether a document that looks like XML means the same as HTML."""
    root = _root_of(start)
    return root in _NAMES or root in {b"svg", b"math", b"en-note"}  # Evernote's XHTML


def may_be_xml(start: bytes) -> bool:
    """Whether a document that looks like HTML may be XML, by its root element and namespace."""
    root = _root.match(start)
    if root is None or b"//DTD XHTML " in start:
        return root is not None
    if _default_namespace.match(start, root.end()):
        return True
    return root[2].lower() not in _NAMES and not _doctype_html.match(start)


def may_be_markdown(start: bytes) -> bool:
    """Whether this may be Markdown, which may begin with HTML, or like a message; no whole page."""
    return not (is_page(start) or is_feed(start))


def is_page(start: bytes) -> bool:
    return _root_of(start) == b"html" or _doctype_html.match(start) is not None


def not_read(data: bytes) -> str:
    """Return what a note says of a page or a feed whose type is not read; "" of anything else."""
    start = beginning(data)
    seems = "HTML" if is_page(start) else "a feed" if is_mislabelled_feed(start) else ""
    return seems and f"is not read, but begins like {seems}: left unchanged"


_default_namespace: Final = expression(rb"[^>]*?[\t\n\r ]xmlns[\t\n\r ]*+=")

# Media types that mean that the type is unknown. Others say nothing at all: rule 15.
UNKNOWN_TYPES: Final = frozenset(
    ("*/*", "application/octet-stream", "application/unknown", "unknown/unknown")
)
# type "/" subtype, and then parameters, perhaps without the semicolon before them
_media_type: Final = expression(r"[\t\n\r ]*+([\w!#$&^.+*-]++/[\w!#$&^.+*-]++)(?=[\t\n\r ;,(]|\Z)")


def known_type(content_type: str) -> str:
    """Return a media type in lower case, "" if it is empty, malformed or unknown."""
    match = _media_type.match(content_type)
    type_ = match[1].lower() if match else ""
    return "" if type_ in UNKNOWN_TYPES else type_


def is_http(start: bytes) -> bool:
    return start.startswith(b"HTTP/1.")


# JSON Feed 1.1: its version is a URL that begins so. JSON may escape a slash.
_json_feed: Final = expression(
    rb"""\{[^\x00]*?"version"[\t\n\r ]*+:[\t\n\r ]*+
    "https?:\\?/\\?/jsonfeed\.org\\?/version\\?/""",
    re.VERBOSE,
)


def is_json_feed(start: bytes) -> bool:
    return start.startswith(b"{") and _json_feed.match(start) is not None


def is_css(start: bytes) -> bool:
    return (b"{" in start or b"@" in start) and _css.match(_css_opaque.sub(b"", start)) is not None


# Byte order marks and white space at the start.
NOT_TEXT: Final = b"\xef\xbb\xbf\xff\xfe\t\n\r\f "
# How many bytes are looked at: no prologue of comments and licences is longer.
LOOKED_AT: Final = 16_384


def beginning(data: bytes) -> bytes:
    """Return the start of a document to recognise it by, in an ASCII-compatible form."""
    start = data[:LOOKED_AT]
    if start.startswith((b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")):
        start = start.replace(b"\0", b"")
    return start.lstrip(NOT_TEXT)


def ending(data: bytes) -> bytes:
    """Return the last bytes of a document, without those that are in its beginning."""
    return data[max(LOOKED_AT, len(data) - LOOKED_AT) :]
