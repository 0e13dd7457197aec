"""The page about a document, and the index of several: fills in their templates."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter, deque
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from importlib import resources
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple, Unpack
from urllib.parse import quote

from relbase.bases.layers import Base, Layer
from relbase.edit import Span
from relbase.explaining.markup import SHOWN, attribute, badge, boxes, counted, summed, text, url
from relbase.explaining.references import MAX_LISTED, lightened, listing, source
from relbase.explaining.steps import Comparison
from relbase.results import Entity
from relbase.rewriting.outcomes import Status
from relbase.session import run, texts
from relbase.session.session import Call, check
from relbase.view.characters import encode_inner

if TYPE_CHECKING:
    from relbase.notes import Note
    from relbase.session.options import Arguments

# Nobody reads more of them here, and the command line's warnings have all.
_MAX_NOTES: Final = 200


class Summary(NamedTuple):
    """What an index shows about a document."""

    title: str
    type: str  # its media type
    base: Base  # of the outermost entity
    counts: Counter[Status]  # of its references
    notes: int


def explain(data: bytes | str, **call: Unpack[Arguments]) -> str:
    """Return an HTML page that shows what each link of a document means, and why.

    Args:
        data: The document's bytes, or text as for `rewrite_text`.
        **call: The arguments of `rewrite`; `name` is also the title of the page.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the URL is not absolute, or the kind, charset or profile is unknown.

    The page loads nothing and runs no script. It draws the layers of RFC 1808 §3 as nested boxes,
    marks each reference in the source by the layer that decides it, and lists what it resolves to
    and by which step of §4 (or of the other algorithms).

    >>> page = explain(b'<base href="/d/"><a href=x>', url="http://h.example/")
    >>> "http://h.example/d/x" in page, "<script" in page
    (True, False)
    """
    if isinstance(data, str):
        return page(encode_inner(data), texts.text_call(check(**call)))[0]
    return page(data, check(**call))[0]


def page(
    data: bytes,
    call: Call,
    title: str = "",
    *,
    wording: Callable[[str], str] = str,
    compares: bool = False,
) -> tuple[str, Summary]:
    """Return the page about a document, and its summary.

    `wording` rewords the texts of notes, and `compares` adds what every profile makes of a link.
    """
    given = call.opened(data)
    result = run.rewrite(given)
    notes = [note._replace(text=wording(note.text)) for note in result.notes]
    base, edits = result.base, deque(result.edits)
    del result
    links = deque(lightened(run.links(given)))
    parts, document = list(run.entities(given)), given.document
    if not parts or parts[0].part:  # for a mailbox only its messages are parts
        type_ = document.format.types[0]
        parts.insert(0, Entity("", type_, Span(0, len(data)), base))
    encoding = document.charset.name if document.charset else document.context.charset
    name = title or call.name or "document"
    counts = Counter(link.status for link in links)
    summary = Summary(name, parts[0].type, base, counts, len(notes))
    profile = "all, marked by the first" if compares else call.options.profile.value
    head = _head(summary, parts, profile)
    main = _file("document.html").format(
        boxes=boxes(parts, links), notes=_notes(notes), source=_LATER, references=_LATER
    )
    start, middle, end = _whole(f"{name}: what its links mean", head, main).split(_LATER)
    comparison = Comparison(data, call, encoding, MAX_LISTED) if compares else None
    first = list(islice(links, MAX_LISTED))
    listed = listing(first, len(links), notes, call, encoding, comparison=comparison)
    # Edits and links take more memory than the page, so they are freed while it is written.
    shown = source(document, call.options.charset, edits, links)
    pieces = chain((start,), shown, (middle,), listed, (end,))
    return "".join(pieces), summary


_LATER: Final = "\0"  # occurs in no page


def _head(summary: Summary, parts: Sequence[Entity], profile: str) -> str:
    base, within = summary.base, len(parts)
    verdict = "Nothing states a base URL for it (RFC 1808 §3.4): give the URL it came from."
    if base.layer is Layer.NONE and any(part.base.url for part in parts):
        verdict = "Its parts state their base URLs."
    if base.layer is not Layer.NONE:
        section = SHOWN[base.layer].section
        verdict = f"Its base URL is {url(base.url)}: {text(base.source)} (RFC 1808 §{section})."
    inside = f", {counted(within, 'entity', 'entities')}" if within > 1 else ""
    return (
        f'<h1>{text(summary.title)}</h1><p class="lead">{verdict}</p>'
        f'<p class="quiet">{text(summary.type)}{inside}; {summed(summary.counts)}; '
        f"profile {profile}</p>"
    )


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
    return f'<h2 id="notes">Notes</h2>\n<ul class="notes">{listed}</ul>{rest}'


def index(rows: Sequence[tuple[str, Summary]]) -> str:
    """Return the index of several pages, given their files: a line for each, and totals."""
    total: Counter[Status] = Counter()
    for _, summary in rows:
        total.update(summary.counts)
    columns = "".join(f'<th scope="col">{status.value}</th>' for status in Status)
    table = (
        '<div class="scroll" tabindex="0" role="region" aria-label="Documents">'
        f'<table class="index"><thead><tr><th scope="col">document</th>{columns}'
        f'<th scope="col">base URL</th></tr></thead><tbody>{"".join(map(_row, rows))}'
        f'<tr><th scope="row">all</th>{_cells(total)}<td></td></tr></tbody></table></div>'
    )
    without = sum(summary.base.layer is Layer.NONE for _, summary in rows)
    head = (
        f'<h1>What the links of {counted(len(rows), "document")} mean</h1><p class="lead">'
        f"{counted(total.total(), 'reference')}, of which {total[Status.REWRITTEN]:,} become "
        f"absolute. {without:,} of the documents have no base URL.</p>"
    )
    return _whole("What links mean", head, f'<h2 id="documents">Documents</h2>{table}\n')


def _row(row: tuple[str, Summary]) -> str:
    file, (title, _, base, counts, _) = row
    name = quote(file.encode("utf-8", "surrogateescape"))
    return (
        f'<tr><th scope="row"><a href="{attribute(f"./{name}")}">{text(title)}</a></th>'
        f'{_cells(counts)}<td class="base">{badge(base)} {url(base.url) if base.url else "none"}'
        "</td></tr>"
    )


def _cells(counts: Counter[Status]) -> str:
    return "".join(f"<td>{counts[status]:,}</td>" for status in Status)


def _whole(title: str, head: str, main: str) -> str:
    """A page around its content. It can use its own style sheet, and nothing else."""
    style = f"\n{_file('page.css')}"
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return _file("page.html").format(
        title=text(title), digest=digest, style=style, head=head, main=main
    )


@cache
def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")
