"""The page: what it begins with, its sections in order, and what it forbids itself."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.layers import Layer
from relbase.edit import Span
from relbase.explaining.boxes import boxes, summed
from relbase.explaining.decoding import decoder
from relbase.explaining.layers import SHOWN
from relbase.explaining.listing import listing
from relbase.explaining.markup import counted, text, url
from relbase.explaining.source import Body, source
from relbase.explaining.style import STYLE
from relbase.opening.door import open_input, prepare
from relbase.pipeline import entities_called, rewrite_called
from relbase.results import Entity
from relbase.view.charset import sniff

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relbase.bases.layers import Base
    from relbase.call import Call
    from relbase.formats import Document
    from relbase.notes import Note
    from relbase.rewriting.items import Status


class Summary(NamedTuple):
    """What an index says of a document."""

    title: str
    type: str  # its media type
    base: Base  # of the outermost entity
    counts: Counter[Status]  # of its references
    notes: int


def page(data: bytes, call: Call, title: str = "") -> tuple[str, Summary]:
    """Return the page on a document, and what an index says of it."""
    result = rewrite_called(data, call)
    links = result.links
    found = list(entities_called(data, call))
    document = open_input(data, prepare(call)).document
    if not found or found[0].part:  # of a mailbox its messages are listed, not itself
        type_ = document.format.types[0]
        found.insert(0, Entity("", type_, Span(0, len(data)), result.base))
    show = decoder(data, document.charset, call.charset)
    encoding = document.charset.name if document.charset else document.context.charset
    listed = listing(links, result.notes, call, encoding)
    sections = (
        _section("boxes", "Where the base URL comes from", _BOXES + boxes(found, links)),
        _notes(result.notes),
        _section("source", "The source, before and after", _SOURCE_HEAD)
        + '<div class="source" tabindex="0" role="region" aria-labelledby="source">'
        + source(data, result.edits, links, show, _bodies(document))
        + "</div>",
        _section("references", "Every reference", listed or "<p>There are none.</p>"),
    )
    name = title or call.name or "document"
    counts = Counter(link.status for link in links)
    summary = Summary(name, found[0].type, result.base, counts, len(result.notes))
    head = _head(summary, len(found), call.profile.value)
    return whole(f"{name}: what its links mean", head, "\n".join(sections)), summary


def whole(title: str, head: str, main: str) -> str:
    """Return a page around its content."""
    return _PAGE.format(title=text(title), csp=_CSP, style=STYLE, head=head, main=main)


# The page may use its own style sheet, and nothing else in the world.
_HASH: Final = b64encode(sha256(STYLE.encode()).digest()).decode()
_CSP: Final = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{csp}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>{head}</header>
<main id="main">
{main}
</main>
<footer><p>Made by relbase, which changes nothing but relative links. The sections are those of
RFC 1808, Relative Uniform Resource Locators.</p></footer>
</body>
</html>
"""

_BOXES: Final = (
    '<p class="quiet">As RFC 1808 §3 draws it: the innermost box that states a base decides.</p>'
)

_SOURCE_HEAD: Final = """<ul class="key" aria-label="What the marks mean">
<li><b class="rewritten embedded">3.1</b> by the document itself</li>
<li><b class="rewritten entity">3.2</b> by a header</li>
<li><b class="rewritten retrieval">3.3</b> by its URL</li>
<li><b class="kept">dashed</b> kept</li>
<li><b class="unresolved none">double</b> unresolved</li>
<li><b class="absolute">dotted</b> absolute</li></ul>
<fieldset><legend>Show</legend>
<label><input type="radio" name="show" id="both" checked> both</label>
<label><input type="radio" name="show" id="before"> before</label>
<label><input type="radio" name="show" id="after"> after</label></fieldset>"""


def _section(identity: str, title: str, inner: str) -> str:
    return f'<h2 id="{identity}">{title}</h2>\n{inner}'


def _head(summary: Summary, within: int, profile: str) -> str:
    base = summary.base
    if base.layer is Layer.NONE:
        verdict = "Nothing states a base URL for it (RFC 1808 §3.4): give the URL it came from."
    else:
        section = SHOWN[base.layer].section
        verdict = f"Its base URL is {url(base.url)}: {text(base.source)} (RFC 1808 §{section})."
    inside = f", {counted(within, 'entity', 'entities')}" if within > 1 else ""
    return (
        f'<h1>{text(summary.title)}</h1><p class="lead">{verdict}</p>'
        f'<p class="quiet">{text(summary.type)}{inside}; {summed(summary.counts)}; '
        f"profile {profile}</p>"
    )


# A reader goes through no more of them; the command line's warnings have all.
_MAX_NOTES: Final = 200


def _notes(notes: Sequence[Note]) -> str:
    if not notes:
        return ""
    listed = "".join(
        f"<li><code>{note.reason.value}</code> "
        f"{text(f'part {note.part}: ' if note.part else '')}{text(note.text)}</li>"
        for note in notes[:_MAX_NOTES]
    )
    more = len(notes) - _MAX_NOTES
    rest = f"<p>{counted(more, 'more note')}.</p>" if more > 0 else ""
    return _section("notes", "Notes", f'<ul class="notes">{listed}</ul>{rest}')


def _bodies(document: Document) -> Iterator[Body]:
    data = document.data
    decoded = document.format.decoded
    for one in () if decoded is None else decoded(data, document.context):
        if one.found:
            name = f"Part {text(one.part)}" if one.part else "The body"
            yield Body(
                f"{name}, decoded from {text(one.encoding)}",
                one.span,
                one.part,
                one.inner,
                [found.span for found in one.found],
                one.edits,
                decoder(one.inner, sniff(one.inner, one.label), one.label),
            )
