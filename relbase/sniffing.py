"""What bytes look like, kind by kind: what begins as such a document does.

Each question is asked of the first bytes of a document (`beginning`), and answered by a row of
`relbase.formats`, in the order of the rows.
"""

from __future__ import annotations

import re
from typing import Final

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


def is_mbox(start: bytes) -> bool:
    """Whether an mbox begins so."""
    if _dated(start):
        return True
    if line := _from_line(start):
        return is_mail(start[line.end() :])
    # Text may stand before the first message, but no markup: there are pages of mail, too.
    first = _later_from(start)
    if first is None or _markup(start[: first.start()]):
        return False
    return is_mail(start[first.end() :])


_later_from: Final = re.compile(rb"\n\r?\nFrom [^\n]*[0-9]{4}(?: [+-][0-9]{4})?[ \t]*\r?\n").search


def is_mail(start: bytes) -> bool:
    """Whether a message begins so."""
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


def is_html(start: bytes) -> bool:
    """Whether a page begins so."""
    if _xml(start) and (root := _root(start)):
        # With an XML declaration in front a page is HTML to browsers, unless a type says otherwise.
        return root[1].lower() == b"html"
    return _html(_bare(start) if is_css(start) else start) is not None


# Feeds often come without an XML declaration, and hold HTML (WHATWG MIME Sniffing §7.3).
_FEEDS: Final = frozenset((b"feed", b"rss", b"rdf", b"opml"))


def is_xml(start: bytes) -> bool:
    """Whether an XML document begins so that is not a page to browsers."""
    root = _root(start)
    if root is not None and root[1].lower() in _FEEDS:
        return True
    return _xml(start) is not None and not is_html(start)


def is_http(start: bytes) -> bool:
    """Whether an HTTP message begins so."""
    return start.startswith(b"HTTP/1.")


def has_markup(data: bytes) -> bool:
    """Whether there is anything in a text that may be a tag."""
    return _markup(data) is not None


def is_css(start: bytes) -> bool:
    """Whether a style sheet begins so."""
    return _css(_bare(start)) is not None


def _bare(start: bytes) -> bytes:
    return _css_opaque.sub(b"", start)


# How much of the bytes is looked at: more than any prologue of comments and licences is long.
_LOOKED_AT: Final = 16_384


def beginning(data: bytes) -> bytes:
    """Return the start of a document as the marks look at it, in an ASCII-compatible form."""
    start = data[:_LOOKED_AT]
    if start.startswith((b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")):
        start = start.replace(b"\0", b"")
    return start.lstrip(b"\xef\xbb\xbf\xff\xfe\t\n\r\f ")
