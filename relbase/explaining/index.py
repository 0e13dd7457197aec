"""The index of several pages: a line for each document, and totals."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import quote

from relbase.bases.layers import Layer
from relbase.explaining.layers import SHOWN
from relbase.explaining.markup import attribute, counted, text, url
from relbase.explaining.page import whole
from relbase.rewriting.items import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relbase.explaining.page import Summary


def index(rows: Sequence[tuple[str, Summary]]) -> str:
    """Return the index."""
    total: Counter[Status] = Counter()
    for _, summary in rows:
        total.update(summary.counts)
    columns = "".join(f'<th scope="col">{status.value}</th>' for status in Status)
    listed = "".join(_row(file, summary) for file, summary in rows)
    table = (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Documents">'
        f'<table class="index"><thead><tr><th scope="col">document</th>{columns}'
        f'<th scope="col">base URL</th></tr></thead><tbody>{listed}'
        f'<tr><th scope="row">all</th>{_cells(total)}<td></td></tr></tbody></table></div>'
    )
    without = sum(summary.base.layer is Layer.NONE for _, summary in rows)
    head = (
        f'<h1>What the links of {counted(len(rows), "document")} mean</h1><p class="lead">'
        f"{counted(total.total(), 'reference')}, of which {total[Status.REWRITTEN]:,} become "
        f"absolute. {without:,} of the documents have no base URL.</p>"
    )
    return whole("What links mean", head, f'<h2 id="documents">Documents</h2>{table}')


def _row(file: str, summary: Summary) -> str:
    shown = SHOWN[summary.base.layer]
    base = f'<span class="badge {shown.name}">{shown.section}</span> '
    base += url(summary.base.url) if summary.base.url else "none"
    name = file.encode("utf-8", "surrogateescape")
    link = f'<a href="{attribute("./" + quote(name))}">{text(summary.title)}</a>'
    return (
        f'<tr><th scope="row">{link}</th>{_cells(summary.counts)}<td class="base">{base}</td></tr>'
    )


def _cells(counts: Counter[Status]) -> str:
    return "".join(f"<td>{counts[status]:,}</td>" for status in Status)
