"""What becomes of one reference: the verdict, and the smallest edit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.layers import Base, Layer, outward
from relbase.edit import Edit, Span
from relbase.notes import Note, Reason
from relbase.policy import Policy, begins_with_placeholder, placeholders
from relbase.rewriting.budget import MEANS_ITSELF, Budget, weight
from relbase.rewriting.context import Codebase, Context, resolver
from relbase.rewriting.outcomes import Outcome, Reference, Status
from relbase.savers.rows import Unarchived
from relbase.url import plain, rfc3986
from relbase.url.credentials import masked, quoted
from relbase.url.profiles import PROFILES, algorithm
from relbase.url.resolver import has_net_loc, is_absolute, prepared_base
from relbase.values.syntaxes import Syntax, clean, spell
from relbase.view.characters import decode_inner, encode_inner

if TYPE_CHECKING:
    from relbase.html.vocabulary import Row


class Place(NamedTuple):
    """Where a text is, and the row of the vocabulary that applies to it."""

    element: str
    attribute: str
    row: Row
    codebase: Codebase | None = None


ABSOLUTE: Final = tuple(map(str.encode, plain.ABSOLUTE))


def visit_url(
    text: bytes,
    span: Span,
    context: Context,
    place: Place,
    keeps: Callable[[str], Verdict | None] | None = None,
) -> Iterator[Outcome]:
    """Yield one URL as it was found, notes on it, and the edit that makes it absolute."""
    wanted = context.wanted
    if wanted.edits_only and text.startswith(ABSOLUTE, span.start, span.end):
        return
    written = decode_inner(text[span.start : span.end])
    reference = clean(written)
    if reference == "" and not place.row.empty:
        return
    said = written, reference
    verdict, key = _judged(text, span, context, place, keeps, said=said)
    status, url, note = verdict
    if status is Status.REWRITTEN and not pay(written, url, context.budget, context.depth):
        status, url, note = Status.KEPT, None, None
    if not wanted.edits_only or (status is Status.UNRESOLVED and note is None):
        yield Reference(
            span,
            place.element,
            place.attribute,
            place.row.syntax.value,
            written,
            url,
            _resolved_against(reference, context, place),
            status,
            context.part,
            key,
        )
    is_given = context.replaced is not None and key in context.replaced
    if note is None and status is Status.REWRITTEN and not is_given:
        note = _remark(reference, url, context)
    if note is not None:
        yield note._replace(part=context.part, span=span)
    if status is Status.REWRITTEN and url is not None and not wanted.references_only:
        policy, end = context.task.policy, ""
        if policy.keep_templates and (held := policy.placeholders(written)):
            end = written[held[0][0] :]
        if place.row.syntax is not Syntax.URL or not MEANS_ITSELF.fullmatch(url):
            url = _spelled_before(url, end, text, span, place)
        yield smallest(written, url, span)


def _remark(reference: str, url: str | None, context: Context) -> Note | None:
    """Return a note on a reference that is rewritten, if there is something to know about it."""
    note = None if reference.isascii() else unstated(reference, context)
    if note is None and not context.task.policy.keep_templates and placeholders(reference):
        note = _REWRITTEN
    if note is None and ".." in reference and url is not None and "/.." in url:
        note = _climbing(reference, url, context)
    if note is None and "\\" in reference:
        note = _with_backslash(reference, context)
    return note


def _judged(
    text: bytes,
    span: Span,
    context: Context,
    place: Place,
    keeps: Callable[[str], Verdict | None] | None,
    *,
    said: tuple[str, str],
) -> tuple[Verdict, tuple[object, ...] | None]:
    """What becomes of a reference, and its key in `Context.replaced`."""
    written, reference = said
    kept = None if keeps is None else keeps(reference)
    verdict = verdict_of(reference, context, place, is_kept=kept is not None)
    if kept is not None and verdict.status is not Status.ABSOLUTE:
        verdict = kept._replace(url=verdict.url)
    elif context.task.policy.keep_templates:
        verdict = _with_placeholders(
            verdict, text, span, place, context.task.policy, written=written
        )
    if context.replaced is None or verdict.status is Status.KEPT:
        return verdict, None
    key = (context.part, *context.at, span.start)
    if (new := context.replaced.get(key)) is not None:
        verdict = Verdict(Status.ABSOLUTE if new == written else Status.REWRITTEN, new)
    return verdict, key


def pay(written: str, url: str | None, budget: Budget | None, depth: int) -> bool:
    """Charge the budget for a reference nested `depth` documents deep; False if it must stay.

    `url` is None if the budget was spent before, so that the reference was not resolved.
    """
    if budget is None or url is None:
        return budget is None or budget.spend(0)
    shared = _shared(written, url)
    cost = weight(url[: len(url) - shared], depth) - (len(written) - shared)
    is_paid = budget.spend(max(0, cost))
    budget.rewritten += is_paid
    return is_paid


def unstated(reference: str, context: Context) -> Note | None:
    if context.unstated is None or not PROFILES[context.task.profile].encodes_queries:
        return None
    if not context.unstated.match(reference):
        return None
    text = "the first 1,024 bytes state no known charset, but this reference depends on it:"
    return noting(Reason.CHARSET_UNSTATED, f"{text} {context.charset} is assumed")


def noting(reason: Reason, text: str) -> Note:
    """Return a note whose part and span the caller fills in."""
    return Note(reason, "", None, text)


_REWRITTEN: Final = noting(
    Reason.REFERENCE_TEMPLATE,
    "contains a placeholder that a program fills in later, and was rewritten anyway; "
    "policy=Policy(keep_templates=True) changes no placeholder, and no reference that begins with "
    "one",
)
_BEGINS: Final = noting(Reason.PLACEHOLDER_KEPT, "left unchanged, for a program to fill in later")
_WOULD_CHANGE: Final = noting(
    Reason.PLACEHOLDER_CHANGED, "its URL would change a placeholder: left unchanged"
)


def _climbing(reference: str, url: str, context: Context) -> Note | None:
    """Return a note if `..` climbs above the root, and the profile leaves it in the URL."""
    climbs_by = PROFILES[context.task.profile].climbs_by
    if not climbs_by:
        return None
    path = url.partition("#")[0].partition("?")[0]
    if "/../" not in path and not path.endswith("/.."):
        return None
    text = f"{quoted(reference)} becomes {quoted(url)} by {climbs_by}"
    if len(reference) < _COMPARED:
        resolve = resolver(context.base.url, _OTHERS[0], context.encoding)
        other = url if resolve is None else resolve(reference)
        if other == url:
            return None
        text += f"; the profiles {' and '.join(_OTHERS)} write {quoted(other)}"
    return noting(Reason.REFERENCE_CLIMBS, text)


def _with_backslash(reference: str, context: Context) -> Note | None:
    if PROFILES[context.task.profile].normalizes:
        return None
    text = (
        f"{masked(reference)[:_SHOWN]!a}: resolved by the letter, but browsers read it as a slash"
    )
    return noting(Reason.REFERENCE_BACKSLASH, text)


_SHOWN: Final = 200
# Profiles that remove a `..` above the root.
_OTHERS: Final = [profile for profile, row in PROFILES.items() if not row.climbs_by]
# For a longer reference the note omits the other URL: nobody wrote it, and it takes memory.
_COMPARED: Final = 1 << 16


def _with_placeholders(
    verdict: Verdict, text: bytes, span: Span, place: Place, policy: Policy, *, written: str
) -> Verdict:
    """Adjust a verdict so that no placeholder changes, with a note that says so."""
    placeholders = policy.placeholders(written)
    if not placeholders or verdict.status not in {Status.KEPT, Status.REWRITTEN}:
        return verdict
    if verdict.status is Status.KEPT:
        is_noted = verdict.note is None and begins_with_placeholder(
            clean(written), policy.templates
        )
        return verdict._replace(note=_BEGINS) if is_noted else verdict
    if verdict.url is not None:
        url = _spelled_before(verdict.url, written[placeholders[0][0] :], text, span, place)
        stays = _shared(written, url)
        if placeholders[0][0] < len(written) - stays:
            return Verdict(Status.KEPT, verdict.url, _WOULD_CHANGE)
    return verdict


def _spelled_before(url: str, end: str, text: bytes, span: Span, place: Place) -> str:
    """Spell a URL whose end, from its first placeholder on, stays as the author wrote it."""
    syntax = place.row.syntax if isinstance(place.row.syntax, Syntax) else Syntax.URL
    if not end or not url.endswith(end):
        return spell(syntax, url, text, span)
    # The last character is not the last of the URL, where some lists escape more.
    return spell(syntax, f"{url[: -len(end)]}~", text, span)[:-1] + end


def _resolved_against(reference: str, context: Context, place: Place) -> Base:
    """The base that a reference is resolved against, which is not always that of its text."""
    if place.codebase is not None:
        return place.codebase.base or context.base
    if reference == "" and place.row.own_url:
        return _own_base(context.base) or context.base
    return context.base


def _own_base(base: Base) -> Base | None:
    """The base that is the document's own URL: the chain without its embedded layer."""
    around = next((outer for outer in outward(base) if outer.layer is not Layer.EMBEDDED), None)
    return around if around is not None and around.usable else None


def own_url(base: Base) -> str | None:
    """The document's own URL: the chain without its embedded layer, and no fragment (rule 6)."""
    around = _own_base(base)
    if around is None:
        return None
    return rfc3986.unsplit(rfc3986.split(around.url)._replace(fragment=None))


def smallest(written: str, url: str, span: Span) -> Edit:
    """Return the edit that leaves the common suffix of the reference and the URL unchanged."""
    shared = _shared(written, url)
    new = url[: len(url) - shared]
    encoded = _encoded(new) if len(new) <= _REMEMBERED else encode_inner(new)
    if shared == len(written):
        return Edit(span.start, span.start, encoded)
    kept = len(encode_inner(written[len(written) - shared :]))
    return Edit(span.start, span.end - kept, encoded)


def _shared(written: str, url: str) -> int:
    rest = written.lstrip("./")
    shared = len(rest) if url.endswith(rest) else 0
    most = min(len(written), len(url))
    while shared < most and written[-1 - shared] == url[-1 - shared]:
        shared += 1
    return shared


# Most references get the same text in front, and a million edits can share one copy of it.
_REMEMBERED: Final = 1024
_encoded: Final = lru_cache(maxsize=64)(encode_inner)


class Verdict(NamedTuple):
    """What becomes of a reference, what it resolves to, and a note on it."""

    status: Status
    url: str | None
    note: Note | None = None


def verdict_of(reference: str, context: Context, place: Place, *, is_kept: bool = False) -> Verdict:
    """Return what becomes of a reference; with `is_kept` it stays if it is relative."""
    files, base = context.local_files, context.base.url
    keeps, budget = context.task.keeps, context.budget
    if keeps is not None and not context.task.policy.chooses(place.element, place.attribute):
        return Verdict(Status.KEPT, _listed_url(reference, context, place))
    # A `<base>` that the profile's parser accepts without a base is itself absolute (rule 5).
    is_alone = place.element == "base" and not base and context.resolve is None
    # To a browser on another page, `http:/h/x` may be another URL: it is absolute on no base.
    parser = algorithm(context.task.profile)
    if parser.is_absolute(reference, "") or (is_alone and parser.parses_alone(reference)):
        inside = files.inside(reference) if isinstance(files, Unarchived) else None
        return Verdict(Status.REWRITTEN, inside) if inside else _absolute(reference, context)
    is_local = place.row.local and reference.startswith("#")  # rule 8
    is_own_base = place.element == "base" and context.task.policy.ignore_base
    is_chosen = is_local or is_own_base or (keeps is not None and bool(keeps(reference)))
    if files is not None and not is_chosen:
        placed = files(reference, place.element)
        is_own = reference == "" and place.row.own_url  # a `<base>` does not count for it
        if placed is not None and not (is_own and placed.url is not None):
            status = Status.KEPT if placed.url is None else Status.REWRITTEN
            return Verdict(status, placed.url, placed.note)
    if is_kept or is_chosen:
        return Verdict(Status.KEPT, _listed_url(reference, context, place))
    if budget is not None and budget.left < 0:
        return Verdict(Status.REWRITTEN, None)  # `pay` refuses it
    return _resolved(reference, context, place)


def _absolute(reference: str, context: Context) -> Verdict:
    """The verdict on an absolute reference; in whatwg its URL is what the parser makes of it."""
    profile = context.task.profile
    if not PROFILES[profile].normalizes or context.wanted.edits_only:
        return Verdict(Status.ABSOLUTE, reference)
    try:
        resolve = context.resolve or _alone("", profile, context.encoding).resolve
        return Verdict(Status.ABSOLUTE, resolve(reference))
    except ValueError:
        return Verdict(Status.KEPT, None)


_alone: Final = lru_cache(maxsize=4)(prepared_base)


def _listed_url(reference: str, context: Context, place: Place) -> str | None:
    """What a reference that stays resolves to, if that is listed and the budget allows it."""
    budget = context.budget
    if context.wanted.edits_only or (budget is not None and budget.list_left < 0):
        return None
    url = _resolved(reference, context, place).url
    if budget is not None:
        budget.list_left -= len(url or "")
    return url


def _resolved(reference: str, context: Context, place: Place) -> Verdict:
    if reference == "" and place.row.own_url:
        url = own_url(context.base) if context.depth == 0 else None
        if url is not None and PROFILES[context.task.profile].normalizes:
            own = resolver(url, context.task.profile, context.encoding)
            url = url if own is None else own("")
        return Verdict(Status.KEPT if url is None else Status.REWRITTEN, url)
    resolve = context.resolve if place.codebase is None else place.codebase.resolve
    if resolve is None:
        return Verdict(Status.UNRESOLVED, None)
    try:
        url = resolve(reference)
    except ValueError as error:
        return Verdict(Status.UNRESOLVED, None, noting(Reason.REFERENCE_FAILED, str(error)))
    if url.startswith(_APART, url.find(":") + 1) and not has_net_loc(context.base.url):
        return Verdict(Status.REWRITTEN, url, _NET_LOC)
    return Verdict(Status.REWRITTEN, url)


# How the profiles write a path that begins with `//` and directly follows the scheme.
_APART: Final = ("////", "/.//")

_NET_LOC: Final = noting(
    Reason.REFERENCE_NET_LOC,
    "the path begins with // on a base without a network location: it is written so that it is not"
    " read as one (RFC 1808 §5.2)",
)


def on_codebase(codebase: str, context: Context) -> Codebase | None:
    """Resolve a `codebase` once for all references of its element (HTML 4.01 §13.3, N2)."""
    if not codebase:
        return None
    profile, budget = context.task.profile, context.budget
    if not PROFILES[profile].honours_codebase:
        return Codebase(context.resolve)
    if budget is not None and budget.left < 0:
        return Codebase(None)
    if context.resolve is None and not is_absolute(codebase, profile):
        return Codebase(None)
    url = codebase if context.resolve is None else context.resolve(codebase)
    if budget is not None and not budget.prepare(len(url)):
        return Codebase(None)
    base = Base(url, Layer.EMBEDDED, "codebase", context.base)
    return Codebase(resolver(url, profile, context.encoding), base)
