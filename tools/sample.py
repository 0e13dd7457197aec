"""The first page's example: a page before and after, with its links in colour."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import pairwise
from typing import Final

import relbase

URL: Final = "http://h.example/d/p.html"
PAGE: Final = """\
<link rel=stylesheet href="/site.css">
<p style="background: url(c.png)">
  <a HREF='../x?a=1&amp;b=2'>caf&eacute;</a>
  <img srcset="a.png, /b.png 2x">
  <a href="https://other.example/">bye</A>
"""


def before_and_after() -> str:
    """Return the page before and after as two figures of HTML: what differs is marked in each."""
    result = relbase.rewrite(PAGE.encode(), url=URL)
    relative = [link.span for link in result.links if link.status is relbase.Status.REWRITTEN]
    grown, inserted = 0, []
    for start, end, new in result.edits:
        inserted.append((start + grown, start + grown + len(new)))
        grown += len(new) - (end - start)
    after = _figure("after", "ins", result.data.decode(), inserted)
    return _figure("before", "mark", PAGE, relative) + after


def _figure(title: str, element: str, page: str, spans: Iterable[tuple[int, int]]) -> str:
    ends = [0, *(end for span in spans for end in span), len(page)]
    pieces = [escape(page[start:end], quote=False) for start, end in pairwise(ends)]
    pieces[1::2] = [f"<{element}>{piece}</{element}>" for piece in pieces[1::2]]
    # Markdown would read an empty line as the end of the block.
    code = "".join(pieces).replace("\n", "&#10;")
    return (
        f'<figure class="sample"><figcaption>{title}</figcaption>'
        f'<pre tabindex="0"><code>{code}</code></pre></figure>'
    )
