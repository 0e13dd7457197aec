"""What becomes of one reference: the scope it stands in, the verdict, and the smallest edit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.layers import Base, Layer, unsuitable
from relbase.edit import Edit, Span
from relbase.notes import Reason
from relbase.references.values import Syntax, clean, spell
from relbase.url import rfc3986
from relbase.url.resolver import Profile, Resolver, is_absolute
from relbase.view.characters import inner as encode_inner
from relbase.view.characters import text as decode_inner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relbase.policy import Policy
    from relbase.references.vocabulary import Row


class Status(Enum):
    """What became of a reference."""

    REWRITTEN = "rewritten"
    ABSOLUTE = "absolute"  # its bytes are never touched
    KEPT = "kept"  # relative, and to stay so
    UNRESOLVED = "unresolved"  # no base, or the algorithm fails


class Hit(NamedTuple):
    """A reference at a place of a text, or, without a `status`, a remark on that place."""

    start: int
    end: int
    element: str
    attribute: str
    syntax: str
    reference: str
    url: str | None
    base: Base
    status: Status | None
    remark: tuple[Reason, str] | None = None
    part: str = ""


# What a visit of a text yields, in order: references and remarks, and the edits they lead to.
Item = Hit | Edit


# An output may be so many times its input, or so much longer where the input is short: a long base
# in many references is the only way there (threat A8), and no real document comes near.
MAX_GROWTH: Final = 100
MAX_GROWTH_BYTES: Final = 64 << 20


def allowed_growth(size: int) -> int:
    """By how many bytes the output may be longer than an input of so many."""
    return max((MAX_GROWTH - 1) * size, MAX_GROWTH_BYTES)


@dataclass(slots=True)
class Room:
    """How many bytes longer a text may become; below 0 nothing more is visited, or resolved."""

    left: int


class Scope(NamedTuple):
    """What the references of one document are resolved with.

    Args:
        base: the base of the document; of its container before the document was looked into.
        profile: the algorithm.
        policy: what the caller chose.
        part: the entity's number.
        charset: of the text that is scanned, a WHATWG name.
        encoding: of the document, which decides how queries are encoded.
        depth: how many srcdoc documents are around.
        sheets: whether the document links or imports style sheets (design rule 9).
        resolve: the prepared algorithm, None when nothing can be resolved.
        edits_only: only edits, remarks and unresolved references are asked for, so that what
            holds none of them may be passed over.
        room: shared by all that is visited for one output or listing, since views keep what they
            lower; None without a limit.
    """

    base: Base
    profile: Profile
    policy: Policy
    part: str = ""
    charset: str = "utf-8"
    encoding: str = "utf-8"
    depth: int = 0
    sheets: Callable[[], bool] = lambda: True
    resolve: Callable[[str], str] | None = None
    edits_only: bool = False
    room: Room | None = None

    def on(self, base: Base) -> Scope:
        """The scope with a base that has been established."""
        return self._replace(base=base, resolve=_resolver(base, self.profile, self.encoding))


class Place(NamedTuple):
    """Where a text stands, and the row it is there by."""

    element: str
    attribute: str
    row: Row
    codebase: str | None = None


# Absolute in every profile, whatever follows; data URLs may be as long as the document.
ABSOLUTE: Final = (b"http://", b"https://", b"data:")


class Kept(NamedTuple):
    """A relative reference is to stay so, and this is to be remarked on it, if anything."""

    remark: tuple[Reason, str] | None


def visit_url(
    text: bytes,
    span: Span,
    scope: Scope,
    place: Place,
    keeps: Callable[[str], Kept | None] | None = None,
) -> Iterator[Item]:
    """The hit of one URL, and the edit that makes it absolute.

    Args:
        text: the text that holds it, decoded.
        span: its place there.
        scope: of the document.
        place: where the text stands.
        keeps: asked whether a relative reference is to stay so.
    """
    room = scope.room
    is_full = room is not None and room.left < 0
    if scope.edits_only and (is_full or text.startswith(ABSOLUTE, span.start, span.end)):
        return
    written = decode_inner(text[span.start : span.end])
    reference = clean(written)
    if reference == "" and not place.row.empty:
        return
    if is_full and not is_absolute(reference, scope.profile, scope.base.url):
        status, url, remark = _TOO_MUCH
    else:
        status, url, remark = _verdict(reference, scope, place)
    if keeps is not None and status is not Status.ABSOLUTE and (kept := keeps(reference)):
        status, remark = Status.KEPT, kept.remark
    if not scope.edits_only or remark is not None or status is Status.UNRESOLVED:
        if room is not None and url is not None and not scope.edits_only:
            room.left -= len(url) - len(written)
        yield Hit(
            span.start,
            span.end,
            place.element,
            place.attribute,
            place.row.syntax.value,
            written,
            url,
            scope.base,
            status,
            remark,
            scope.part,
        )
    if status is Status.REWRITTEN and url is not None:
        syntax = place.row.syntax if isinstance(place.row.syntax, Syntax) else Syntax.URL
        edit = smallest(written, spell(syntax, url, text, span), span)
        if room is not None and scope.edits_only:
            room.left -= len(edit.new) - (edit.end - edit.start)
        yield edit


# What is listed is as long as what would be written: past the limit nothing more is resolved.
_TOO_MUCH: Final = (Status.UNRESOLVED, None, None)


def own_url(base: Base) -> str | None:
    """The document's own URL: the chain without its `<base>`, without fragment (design rule 6)."""
    around = base.outer if base.layer is Layer.EMBEDDED else base
    if around is None or not around.usable:
        return None
    return rfc3986.unsplit(rfc3986.split(around.url)._replace(fragment=None))


def smallest(written: str, url: str, span: Span) -> Edit:
    """The edit that leaves the suffix which the reference and the URL share as it is written.

    Args:
        written: the reference.
        url: what is to stand there.
        span: the reference's bytes.

    >>> smallest("../x", "http://a/x", Span(0, 4))
    Edit(start=0, end=2, new=b'http://a')
    """
    if url.endswith(written):
        shared = len(written)
    else:
        pairs = zip(reversed(written), reversed(url), strict=False)
        shared = next((at for at, (ours, theirs) in enumerate(pairs) if ours != theirs), len(url))
    new = url[: len(url) - shared]
    encoded = _shared(new) if len(new) <= _SHARED else encode_inner(new)
    if shared == len(written):
        return Edit(span.start, span.start, encoded)
    kept = len(encode_inner(written[len(written) - shared :]))
    return Edit(span.start, span.end - kept, encoded)


# What is inserted is mostly the same: of a million references each need not have its own.
_SHARED: Final = 1024
_shared: Final = lru_cache(maxsize=64)(encode_inner)


def _verdict(
    reference: str, scope: Scope, place: Place
) -> tuple[Status, str | None, tuple[Reason, str] | None]:
    """What becomes of a reference, what it resolves to, and what to remark."""
    if is_absolute(reference, scope.profile, scope.base.url):
        return Status.ABSOLUTE, reference, None
    relative = Status.KEPT if _is_kept(reference, scope, place) else Status.REWRITTEN
    failed = Status.KEPT if relative is Status.KEPT else Status.UNRESOLVED
    url: str | None = None
    if reference == "" and place.row.own_url:
        url = own_url(scope.base) if scope.depth == 0 else None
        if url is None:
            return Status.KEPT, None, None
    else:
        resolve = _on_codebase(place.codebase, scope) if place.codebase else scope.resolve
        if resolve is None:
            return failed, None, None
        try:
            url = resolve(reference)
        except ValueError as error:
            remark = None if failed is Status.KEPT else (Reason.REFERENCE_FAILED, str(error))
            return failed, None, remark
    return relative, url, None


def _is_kept(reference: str, scope: Scope, place: Place) -> bool:
    """Whether a relative reference is to stay so (design rule 8 and the caller's policy)."""
    if reference.startswith("#") and (place.row.local or scope.policy.keep_fragments):
        return True
    return scope.policy.keeps(reference)


def _on_codebase(codebase: str, scope: Scope) -> Callable[[str], str] | None:
    """HTML 4.01 §13.3: `codebase` is the base of its element, itself relative to the document's."""
    if scope.profile is Profile.WHATWG:  # browsers ignore it (design rule 7)
        return scope.resolve
    if scope.resolve is None and not is_absolute(codebase, scope.profile):
        return None
    url = codebase if scope.resolve is None else scope.resolve(codebase)
    return _resolver(Base(url, Layer.EMBEDDED, "codebase"), scope.profile, scope.encoding)


# The parts of a message, and the messages of a mailbox, most often share their bases. Few are kept,
# since a hostile URL may be as long as its document.
@lru_cache(maxsize=16)
def _prepared(url: str, profile: Profile, encoding: str) -> Callable[[str], str] | None:
    return None if unsuitable(url) else Resolver(url, profile, encoding).resolve


def _resolver(base: Base, profile: Profile, encoding: str) -> Callable[[str], str] | None:
    return _prepared(base.url, profile, encoding)
