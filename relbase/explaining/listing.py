"""The list of references: what each resolves to, by which step, and why those that stay do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from relbase.explaining.layers import SHOWN
from relbase.explaining.markup import text, url
from relbase.rewriting.items import Status
from relbase.url.resolver import Resolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from relbase.edit import Span
    from relbase.notes import Note
    from relbase.policy import Policy
    from relbase.results import Link
    from relbase.url.resolver import Profile
    from relbase.url.step import Step

# All are marked in the source. So many are listed, and of so many the steps are shown: a page that
# is read has fewer, and a browser takes long to open one of a million elements.
MAX_LISTED: Final = 5_000
MAX_STEPS: Final = 500

# Nobody reads the steps of a longer URL, and a hostile one has millions of segments.
MAX_TAKEN: Final = 10_000

# The list is laid out by the browser as far as it is in sight, so many at a time.
_GROUP: Final = 100

_ABSOLUTE: Final = "absolute as it stands: not a byte of it is changed"
_FRAGMENT: Final = "a fragment that stays: it is meant for this document"
_POLICY: Final = "the policy keeps references like this"
_OWN_URL: Final = "it means the document itself, or nothing is fetched for it: it stays"
_NO_BASE: Final = "relative, and there is no base URL that it could be resolved on"


def listing(
    links: Sequence[Link], notes: Sequence[Note], profile: Profile, policy: Policy, encoding: str
) -> str:
    """Return the list of references."""
    writer = _Writer(notes, profile, policy, encoding)
    pieces: list[str] = []
    for first in range(0, min(len(links), MAX_LISTED), _GROUP):
        group = links[first : min(first + _GROUP, MAX_LISTED)]
        items = "".join(writer.item(first + at, link) for at, link in enumerate(group, 1))
        pieces.append(f'<ol class="links" start="{first + 1}">{items}</ol>')
    if len(links) > MAX_LISTED:
        more = len(links) - MAX_LISTED
        pieces.append(f"<p>{more:,} more are marked in the source and not listed.</p>")
    return "".join(pieces)


class _Writer:
    """Writes items; resolvers are prepared once for each base."""

    def __init__(
        self, notes: Sequence[Note], profile: Profile, policy: Policy, encoding: str
    ) -> None:
        self._notes: Mapping[Span, Note] = {note.span: note for note in notes if note.span}
        self._profile = profile
        self._policy = policy
        self._encoding = encoding
        self._resolver: Resolver | None = None
        self._explained = 0

    def item(self, number: int, link: Link) -> str:
        """One reference."""
        where = f"part {link.part}, " if link.part else ""
        where += f"{_place(link)} ({link.syntax})"
        target = "" if link.url is None else f'<p class="to"><span>to</span> {url(link.url)}</p>'
        return (
            f'<li id="r{number}" class="{link.status.value}">'
            f'<a class="number" href="#s{number}">{number:,}</a>'
            f'<p class="from"><span class="status">{link.status.value}</span> '
            f"{url(link.reference)}</p>{target}"
            f'<div class="why">{_layer(link)}{self._why(link)}</div>'
            f'<p class="where">line {link.line:,}, column {link.column:,}: {text(where)}</p></li>'
        )

    def _why(self, link: Link) -> str:
        if link.status is Status.ABSOLUTE:
            return f"<p>{_ABSOLUTE}</p>"
        note = self._notes.get(link.span)
        said = f"<p>{text(note.text)}</p>" if note else ""
        if link.status is Status.UNRESOLVED:
            return said or f"<p>{_NO_BASE}</p>"
        if link.status is Status.KEPT:
            return f"<p>{self._why_kept(link)}</p>{said}"
        return self._steps(link) + said

    def _why_kept(self, link: Link) -> str:
        keep = self._policy.keep
        if link.reference.startswith("#"):
            return _FRAGMENT
        if link.reference == "":
            return _OWN_URL
        if keep is not None and _matches(keep, link.reference):
            return _POLICY
        return "it stays as it is"

    def _steps(self, link: Link) -> str:
        """The step that decides, and after it all of them."""
        steps = self._taken(link)
        if not steps or steps[-1].value != link.url:
            return "<p>resolved</p>"  # too long, or the document's own URL
        step = [one for one in steps if not one.number.startswith(_FOLLOWING)][-1]
        reported = f"{_numbered(self._profile.value, step)}: {text(step.text)}"
        if self._explained >= MAX_STEPS:
            return f"<p>{reported}</p>"
        self._explained += 1
        return f"<details><summary>{reported}</summary><ol>{''.join(_told(steps))}</ol></details>"

    def _taken(self, link: Link) -> list[Step]:
        if len(link.reference) + len(link.base.url) > MAX_TAKEN:
            return []
        if self._resolver is None or self._resolver.base != link.base.url:
            try:
                self._resolver = Resolver(link.base.url, self._profile, self._encoding)
            except ValueError:
                return []
        return list(self._resolver.steps(link.reference))


def _place(link: Link) -> str:
    """The element or the header field that a reference stands in."""
    if link.element and link.attribute:
        return f"{link.element}/@{link.attribute}"
    return link.element or link.attribute or "text"


def _layer(link: Link) -> str:
    """The layer that decided a relative reference."""
    if link.status is Status.ABSOLUTE:
        return ""
    shown = SHOWN[link.base.layer]
    badge = f'<span class="badge {shown.name}">{shown.section}</span>'
    return f"<p>{badge} {text(link.base.source)}</p>"


def _matches(keep: object, reference: str) -> bool:
    search: Callable[[str], object] = getattr(keep, "search", None) or keep  # type: ignore[assignment]
    return bool(search(reference))


_OF: Final = {"rfc1808": "RFC 1808 §4 step ", "rfc3986": "RFC 3986 §", "whatwg": "URL Standard, "}


# What follows from a decision that was made before: merging, and putting together again.
_FOLLOWING: Final = (
    *("7", "6a", "6b", "6c", "6d"),  # RFC 1808 §4
    *("5.2.4", "5.3"),  # RFC 3986
    "URL serializer",  # WHATWG
)


def _numbered(profile: str, step: Step) -> str:
    return f"{_OF[profile]}{text(step.number)}"


def _told(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        value = "" if step.value is None else f" {url(step.value)}"
        yield f"<li><b>{text(step.number)}</b> {text(step.text)}{value}</li>"
