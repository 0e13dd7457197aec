"""Pages taken out of a file that holds them (a HAR, an export of Evernote), as files below -o.

The file itself is never rewritten. The name of a page is the last segment of its URL's path, or
that of the name that the file has for it. Letters, digits and a few signs of it stay (threat W7).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Final
from unicodedata import normalize
from urllib.parse import unquote

import click

from relbase.cli import windows
from relbase.cli.files import Output
from relbase.cli.streams import printable
from relbase.containers.content_type import parameters
from relbase.expressions import expression
from relbase.url import rfc3986
from relbase.view.charset import sniff
from relbase.warc.held import is_html

if TYPE_CHECKING:
    from relbase.cli.archives import Archive
    from relbase.cli.jobs import Outcome, Plan
    from relbase.cli.writing import Writer

_LONGEST: Final = 60  # characters of a name: of four bytes each, they fit into 255
_odd: Final = expression(r"[^\w.+ -]+")
_page_suffix: Final = expression(r"\.(?:[xs]?html?|xht)\Z", re.IGNORECASE)
_FIX: Final = "it contains pages, and is never rewritten itself: give -o DIR/ to extract them"


def take_out(archive: Archive, plan: Plan, outcome: Outcome, writer: Writer) -> int:
    """Write the pages of a file below -o, or only count them; return how long they are."""
    source, place, names, size = archive.source, _place(archive, plan, outcome), Names(), 0
    for page, result in archive.results(plan, outcome):
        if place is None or not is_html(page):
            continue
        output = place._replace(parts=(*place.parts, names.of(page.url, page.name)))
        written = writer.write(output, (result.data,), source.status)
        outcome.directory = written or outcome.directory
        size += len(result.data)
        charset = sniff(page.body, parameters(page.content_type).get("charset")).name
        if not page.body.isascii() and charset != sniff(page.body).name:
            text = f"the page does not state its charset, {charset}, itself [charset-unstated]"
            outcome.warned.add("charset-unstated", f"{printable(output.shown)}: warning: {text}")
    return size


def _place(archive: Archive, plan: Plan, outcome: Outcome) -> Output | None:
    """Return where pages go, as an output that lacks their names; None for --check."""
    own, output = plan.options, outcome.job.output
    if own.check:
        return None
    is_written = output is not None and not plan.uploads
    if output is not None and output.is_only:  # a directory only if nothing has that name yet
        is_written &= not (os.path.lexists(output.path) or os.path.splitext(output.path)[1])
    if output is None or not is_written:
        raise click.UsageError(f"{archive.source.shown}: {_FIX}")
    if output.is_only:
        return output._replace(is_only=False, replaces=False)
    named = os.path.splitext(output.parts[-1])[0]
    return output._replace(parts=(*output.parts[:-1], named) if plan.several else ())


class Names:
    """Names files after the URLs of pages; no two have the same name."""

    def __init__(self) -> None:
        self._used: Counter[str] = Counter()

    def of(self, url: str, own: str = "") -> str:
        scheme, _, path, *_ = rfc3986.split(url)
        last = _odd.sub("_", unquote(path.rstrip("/").rpartition("/")[2])) if scheme else ""
        last = (last.strip(" .-") or _odd.sub("_", own.rpartition("/")[2])).strip(" .-")
        suffix = _page_suffix.search(last)
        stem = (last[: suffix.start()] if suffix else last)[:_LONGEST] or "index"
        end, number = suffix[0] if suffix else ".html", 1
        while self._used[key := _key(name := f"{stem}{f'-{number}' * (number > 1)}{end}")]:
            number = max(number + 1, self._used[key])
            self._used[key] += 1
        self._used[key] = 1
        return f"_{name}" if windows.why_refused((name,)) else name


def _key(name: str) -> str:
    """What names have in common that are one name in some file systems."""
    return normalize("NFC", name.casefold())
