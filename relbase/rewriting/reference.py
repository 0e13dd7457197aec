"""What becomes of one reference: the verdict, and the smallest edit."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from relbase.bases.archived import Unarchived
from relbase.bases.layers import Base, Layer
from relbase.bases.marks import Placed
from relbase.edit import Edit, Span
from relbase.notes import Note, Reason
from relbase.policy import is_template
from relbase.records import NamedTuple
from relbase.references.values import Syntax, clean, spell
from relbase.rewriting.context import resolver
from relbase.rewriting.items import Found, Status
from relbase.url import rfc3986
from relbase.url.resolver import Profile, has_net_loc, is_absolute, parses_alone
from relbase.view.characters import inner as encode_inner
from relbase.view.characters import text as decode_inner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relbase.bases.marks import Places
    from relbase.references.vocabulary import Row
    from relbase.rewriting.context import Context
    from relbase.rewriting.items import Item


class Codebase(NamedTuple):
    """What the references of an element with a `codebase` are resolved with, None for nothing.

    Args:
        resolve: the algorithm, on the codebase.
        base: what the codebase states; None where it does not count.
    """

    resolve: Callable[[str], str] | None
    base: Base | None = None


class Place(NamedTuple):
    """Where a text stands, and the row it is there by."""

    element: str
    attribute: str
    row: Row
    codebase: Codebase | None = None


# Absolute in every profile, whatever follows; data URLs may be as long as the document.
ABSOLUTE: Final = (b"http://", b"https://", b"data:")


class Kept(NamedTuple):
    """A relative reference is to stay so, with a note on it, if anything is to be said."""

    note: Note | None


def visit_url(
    text: bytes,
    span: Span,
    context: Context,
    place: Place,
    keeps: Callable[[str], Kept | None] | None = None,
) -> Iterator[Item]:
    """One URL as it was found, what is to be noted on it, and the edit that makes it absolute."""
    task = context.task
    is_full = task.room is not None and task.room.left < 0
    if task.edits_only and (is_full or text.startswith(ABSOLUTE, span.start, span.end)):
        return
    written = decode_inner(text[span.start : span.end])
    reference = clean(written)
    if reference == "" and not place.row.empty:
        return
    if is_full and not is_absolute(reference, task.profile, context.base.url):
        verdict = _TOO_MUCH
    else:
        verdict = verdict_of(reference, context, place)
    if keeps is not None and verdict.status is not Status.ABSOLUTE and (kept := keeps(reference)):
        verdict = Verdict(Status.KEPT, verdict.url, kept.note)
    status, url, note = verdict
    if not task.edits_only or (status is Status.UNRESOLVED and note is None):
        yield Found(
            span,
            place.element,
            place.attribute,
            place.row.syntax.value,
            written,
            url,
            _resolved_on(reference, context, place),
            status,
            context.part,
        )
    if note is None and status is Status.REWRITTEN:
        note = unstated(reference, context) or _placeholder(reference)
    if note is not None:
        yield note._replace(part=context.part, span=span)
    growth = 0
    if status is Status.REWRITTEN and url is not None:
        syntax = place.row.syntax if isinstance(place.row.syntax, Syntax) else Syntax.URL
        edit = smallest(written, spell(syntax, url, text, span), span)
        growth = len(edit.new) - (edit.end - edit.start)
        yield edit
    if task.room is not None:
        task.room.left -= growth if task.edits_only or url is None else len(url) - len(written)


def unstated(reference: str, context: Context) -> Note | None:
    """The note on a reference that depends on the charset, where none is stated."""
    if context.unstated is None or context.task.profile is not Profile.WHATWG:
        return None
    if reference.isascii() or not context.unstated.match(reference):
        return None
    text = (
        f"no known charset is stated, and what this is depends on it: taken for {context.charset}"
    )
    return Note(Reason.CHARSET_UNSTATED, "", None, text)


_PLACEHOLDER: Final = Note(
    Reason.REFERENCE_TEMPLATE,
    "",
    None,
    "it holds a placeholder that a program is still to fill in, and was rewritten all the same: "
    "--keep-templates (Policy.keep_templates) leaves such references alone",
)


def _placeholder(reference: str) -> Note | None:
    return _PLACEHOLDER if is_template(reference) else None


def _resolved_on(reference: str, context: Context, place: Place) -> Base:
    """The base that a reference is resolved on: mostly that of its text, but not always."""
    if place.codebase is not None:
        return place.codebase.base or context.base
    if reference == "" and place.row.own_url:
        return _own_base(context.base) or context.base
    return context.base


def _own_base(base: Base) -> Base | None:
    """What states the document's own URL: the chain without what the document embeds."""
    around: Base | None = base
    while around is not None and around.layer is Layer.EMBEDDED:
        around = around.outer
    return around if around is not None and around.usable else None


def own_url(base: Base) -> str | None:
    """The document's own URL: the chain without what it embeds, without fragment (rule 6)."""
    around = _own_base(base)
    if around is None:
        return None
    return rfc3986.unsplit(rfc3986.split(around.url)._replace(fragment=None))


def smallest(written: str, url: str, span: Span) -> Edit:
    """The edit that leaves the suffix which the reference and the URL share as it is written.

    >>> smallest("../x", "http://a/x", Span(0, 4))
    Edit(start=0, end=2, new=b'http://a')
    """
    if url.endswith(written):
        shared = len(written)
    else:
        shared = 0
        for ours, theirs in zip(reversed(written), reversed(url), strict=False):
            if ours != theirs:
                break
            shared += 1
    new = url[: len(url) - shared]
    encoded = _shared(new) if len(new) <= _SHARED else encode_inner(new)
    if shared == len(written):
        return Edit(span.start, span.start, encoded)
    kept = len(encode_inner(written[len(written) - shared :]))
    return Edit(span.start, span.end - kept, encoded)


# What is inserted is mostly the same: of a million references each need not have its own.
_SHARED: Final = 1024
_shared: Final = lru_cache(maxsize=64)(encode_inner)


class Verdict(NamedTuple):
    """What becomes of a reference, what it resolves to, and what is to be noted."""

    status: Status
    url: str | None
    note: Note | None = None


# What is listed is as long as what would be written: past the limit nothing more is resolved.
_TOO_MUCH: Final = Verdict(Status.UNRESOLVED, None)


def verdict_of(reference: str, context: Context, place: Place) -> Verdict:
    """Return what becomes of a reference."""
    places = context.task.places
    if is_absolute(reference, context.task.profile, context.base.url):
        inside = places.inside(reference) if isinstance(places, Unarchived) else None
        return Verdict(Status.REWRITTEN, inside) if inside else Verdict(Status.ABSOLUTE, reference)
    relative = Status.KEPT if _is_kept(reference, context, place) else Status.REWRITTEN
    failed = Status.KEPT if relative is Status.KEPT else Status.UNRESOLVED
    if reference == "" and place.row.own_url:
        url = own_url(context.base) if context.depth == 0 else None
        return Verdict(Status.KEPT if url is None else relative, url)
    if places is not None and relative is Status.REWRITTEN:
        placed = _placed_base(reference, places) if place.element == "base" else places(reference)
        if placed is not None:
            status = Status.KEPT if placed.url is None else Status.REWRITTEN
            return Verdict(status, placed.url, placed.note)
    resolve = context.resolve if place.codebase is None else place.codebase.resolve
    if resolve is None:
        # What serves as the base, since the parser takes it alone, is absolute itself (rule 5).
        alone = place.element == "base" and not context.base.url
        if alone and parses_alone(reference, context.task.profile):
            return Verdict(Status.ABSOLUTE, reference)
        return Verdict(failed, None)
    try:
        url = resolve(reference)
    except ValueError as error:
        note = Note(Reason.REFERENCE_FAILED, "", None, str(error))
        return Verdict(failed, None, None if failed is Status.KEPT else note)
    if url.startswith(_APART, url.find(":") + 1) and not has_net_loc(context.base.url):
        return Verdict(relative, url, Note(Reason.REFERENCE_NET_LOC, "", None, _NET_LOC))
    return Verdict(relative, url)


def _placed_base(reference: str, places: Places) -> Placed:
    """What becomes of a relative `<base>`: it stays, since what stays relative is on it."""
    return Placed(places.base(reference) if isinstance(places, Unarchived) else None)


# How the profiles write a path that begins with `//` after a scheme alone.
_APART: Final = ("////", "/.//")

_NET_LOC: Final = (
    "the path begins with // on a base without a network location: it is written so that it is not"
    " read as one (RFC 1808 §5.2)"
)


def _is_kept(reference: str, context: Context, place: Place) -> bool:
    """Whether a relative reference is to stay so (rule 8 and the caller's policy)."""
    policy = context.task.policy
    if reference.startswith("#") and (place.row.local or policy.keep_fragments):
        return True
    return policy.keeps(reference)


def on_codebase(codebase: str, context: Context) -> Codebase:
    """Return what `codebase` makes of its element's references; once for all that it has (N2).

    HTML 4.01 §13.3: it is the base of its element, itself relative to the document's.
    """
    profile = context.task.profile
    if profile is Profile.WHATWG:  # browsers ignore it (rule 7)
        return Codebase(context.resolve)
    if context.resolve is None and not is_absolute(codebase, profile):
        return Codebase(None)
    url = codebase if context.resolve is None else context.resolve(codebase)
    base = Base(url, Layer.EMBEDDED, "codebase", context.base)
    return Codebase(resolver(url, profile, context.encoding), base)
