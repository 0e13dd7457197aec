"""The list of references: what each resolves to, by which step, and why those that stay do."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from relbase.explaining.markup import badge, text, url
from relbase.rewriting.items import Status
from relbase.url.resolver import Resolver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relbase.call import Call
    from relbase.notes import Note
    from relbase.results import Link
    from relbase.url.step import Step

# All are marked in the source. A page that is read has fewer than this to list and to show the
# steps of, and a browser takes long to open one of a million elements.
MAX_LISTED: Final = 5_000
MAX_STEPS: Final = 500

# Nobody reads the steps of a longer URL, and a hostile one has millions of segments.
MAX_TAKEN: Final = 10_000

# References in one list: a browser lays out only the lists that are in sight.
_GROUP: Final = 100


def listing(links: Sequence[Link], notes: Sequence[Note], call: Call, encoding: str) -> str:
    """Return the list of references."""
    writer = _Writer(notes, call, encoding)
    items = [writer.item(number, link) for number, link in enumerate(links[:MAX_LISTED], 1)]
    pieces = [
        f'<ol class="links" start="{at + 1}">{"".join(items[at : at + _GROUP])}</ol>'
        for at in range(0, len(items), _GROUP)
    ]
    if len(links) > MAX_LISTED:
        more = len(links) - MAX_LISTED
        pieces.append(f"<p>{more:,} more are marked in the source and not listed.</p>")
    return "".join(pieces)


class _Writer:
    def __init__(self, notes: Sequence[Note], call: Call, encoding: str) -> None:
        self._notes = {note.span: note for note in notes if note.span}
        self._call = call
        self._encoding = encoding
        self._resolver = lru_cache(maxsize=1)(Resolver)  # many in a row have one base
        self._explained = 0

    def item(self, number: int, link: Link) -> str:
        """One reference."""
        # The element, or the header field, that it stands in.
        place = "/@".join(filter(None, (link.element, link.attribute))) or "text"
        where = f"{f'part {link.part}, ' if link.part else ''}{place} ({link.syntax})"
        target = "" if link.url is None else f'<p class="to"><span>to</span> {url(link.url)}</p>'
        return (
            f'<li id="r{number}" class="{link.status.value}">'
            f'<a class="number" href="#s{number}">{number:,}</a>'
            f'<p class="from"><span class="status">{link.status.value}</span> '
            f"{url(link.reference)}</p>{target}"
            f'<div class="why">{self._why(link)}</div>'
            f'<p class="where">line {link.line:,}, column {link.column:,}: {text(where)}</p></li>'
        )

    def _why(self, link: Link) -> str:
        if link.status is Status.ABSOLUTE:
            return "<p>absolute as it stands: not a byte of it is changed</p>"
        note = self._notes.get(link.span)
        said = f"<p>{text(note.text)}</p>" if note else ""
        if link.status is Status.KEPT:
            said = f"<p>{self._why_kept(link.reference)}</p>{said}"
        elif link.status is Status.REWRITTEN:
            said = self._steps(link) + said
        no_base = "<p>relative, and there is no base URL that it could be resolved on</p>"
        return f"<p>{badge(link.base)} {text(link.base.source)}</p>{said or no_base}"

    def _why_kept(self, reference: str) -> str:
        places = self._call.origin.places if self._call.origin else None
        if reference.startswith("#"):
            return "a fragment that stays: it is meant for this document"
        if reference == "":
            return "it means the document itself, or nothing is fetched for it: it stays"
        if self._call.policy.keeps(reference):
            return "the policy keeps references like this"
        if places is not None and places(reference) is not None:
            return "it leads to a file that was saved with the page"
        return "it stays as it is"

    def _steps(self, link: Link) -> str:
        """The step that decides, and after it all of them."""
        steps = self._taken(link)
        if not steps or steps[-1].value != link.url:
            return "<p>resolved</p>"  # too long, or the document's own URL
        step = [one for one in steps if not one.number.startswith(_FOLLOWING)][-1]
        decides = f"{_OF[self._call.profile.value]}{text(step.number)}: {text(step.text)}"
        if self._explained >= MAX_STEPS:
            return f"<p>{decides}</p>"
        self._explained += 1
        listed = "".join(
            f"<li><b>{text(one.number)}</b> {text(one.text)}"
            f"{'' if one.value is None else f' {url(one.value)}'}</li>"
            for one in steps
        )
        return f"<details><summary>{decides}</summary><ol>{listed}</ol></details>"

    def _taken(self, link: Link) -> list[Step]:
        if len(link.reference) + len(link.base.url) > MAX_TAKEN:
            return []
        try:
            resolver = self._resolver(link.base.url, self._call.profile, self._encoding)
        except ValueError:
            return []
        return resolver.steps(link.reference)


_OF: Final = {"rfc1808": "RFC 1808 §4 step ", "rfc3986": "RFC 3986 §", "whatwg": "URL Standard, "}

# What follows from a decision that was made before: merging, and putting together again, in RFC
# 1808 §4, RFC 3986 and WHATWG.
_FOLLOWING: Final = ("7", "6a", "6b", "6c", "6d", "5.2.4", "5.3", "URL serializer")
