"""The fast path for small pages that the compiled scanner can read completely.

All other documents take the usual path, which has the same result for small pages, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from relbase.bases.layers import UNKNOWN, cached_by_length, establish, plain_base, retrieval
from relbase.formats.document import CharsetRule, read_charset
from relbase.formats.recognition import recognized
from relbase.formats.rows import FORMATS
from relbase.results import Link
from relbase.rewriting import budget as limits
from relbase.rewriting.budget import Budget
from relbase.rewriting.context import Context, resolved
from relbase.savers.marks import may_have_marks
from relbase.scan import binding
from relbase.scan.batches import linking, priced_scan_for
from relbase.scan.plain_forms import Prefixes, edits_on
from relbase.session.opening import open_input
from relbase.session.options import Call
from relbase.url.resolver import Profile
from relbase.view.charset import PRESCAN_LENGTH, CharsetSource

if TYPE_CHECKING:
    from relbase.edit import Edit
    from relbase.kind import Kind
    from relbase.policy import Policy

    _Linked: TypeAlias = Callable[[bytes], list[Link] | None]

T = TypeVar("T")


class _Pages:
    """The fast path for the small pages of calls with the same options, whatever their URL."""

    __slots__ = ("_call", "_charset", "_encoding", "_scan")

    def __init__(self, call: Call, charset: CharsetRule, context: Context) -> None:
        self._call = call
        self._charset = charset
        self._encoding = context.encoding
        self._scan = priced_scan_for(context)

    def edits(self, data: bytes, prefixes: Prefixes) -> list[Edit] | None:
        """All edits of a document that needs no notes; None if that is not certain."""
        is_stated = self._is_stated(data)
        if is_stated is None:
            return None
        edits: list[Edit]
        edits, at, cost = self._scan(prefixes, data, 0, len(data))
        if at >= 0:
            return None
        if cost is None or cost > limits.MAX_GROWTH_BYTES:
            left = Budget(len(data))
            if len(left.affordable(edits, 0)) < len(edits):
                return None
        # No edit may move the declaration of the charset.
        stated = data[:PRESCAN_LENGTH].lower().rfind(b"charset")
        is_moved = is_stated and edits and edits[0].start < stated
        return None if is_moved else edits

    def links(self, data: bytes, linked: _Linked) -> list[Link] | None:
        """All links of a document; None if that is not certain."""
        return None if self._is_stated(data) is None else linked(data)

    def _is_stated(self, data: bytes) -> bool | None:
        """Whether a document states its charset; None if it has to be read the usual way."""
        if self._call.detect and may_have_marks(data):
            return None
        label, is_ascii = self._call.charset, data.isascii()
        # With any other first bytes, there may be a byte order mark.
        if label == _UTF_8 and data[:1].isascii() and b"\0" not in data[:4]:
            return False
        if label is None and is_ascii and not _may_state(data[:PRESCAN_LENGTH].lower()):
            return False
        name, source = read_charset(data, label, self._charset)
        is_stated = source is CharsetSource.META
        is_plain = (is_ascii and name in _PLAIN) or (is_stated and name == _UTF_8)
        return is_stated if is_plain else None

    def prefixes_on(self, url: str) -> Prefixes | None:
        """What becomes of references with a retrieval URL; None if the URL needs a note."""
        profile = self._call.profile
        if profile is Profile.WHATWG or not plain_base.fullmatch(url):
            stated, remarks = retrieval(url, (), profile)
            base, notes = establish(stated, UNKNOWN, profile=profile)
            if remarks or notes or not base.url.isascii():
                return None
            url = base.url
        return edits_on(url, profile, partial(resolved, url, profile, self._encoding))

    def linking_on(self, url: str) -> _Linked | None:
        """What makes all links of a page with this URL; None if the scanner alone cannot."""
        call = self._call._replace(url=url or None, charset=self._call.charset or _UTF_8)
        context = open_input(b"", call).document.context
        if not context.base.url.isascii() or self._call.policy.keeper() is not None:
            return None
        return cast("_Linked", linking(context, Link))


def _may_state(start: bytes) -> bool:
    return start.startswith(b"<?xml") or b"\0" in start or b"charset" in start


# ASCII bytes mean the same in these charsets.
_UTF_8: Final = "utf-8"
_PLAIN: Final = frozenset((_UTF_8, "windows-1252"))

# For a larger page the fast path saves little, and costs more than that if it fails.
_LARGE: Final = 1 << 13


@lru_cache(maxsize=16)
def _pages(
    kind: Kind,
    charset: str | None,
    profile: Profile,
    policy: Policy,
    detect: bool,  # noqa: FBT001
) -> _Pages | None:
    """The fast path for calls with these options; None if they have none."""
    row = FORMATS[kind]
    if row.charset is None or not row.makes_links:
        return None
    if policy.attributes:  # the compiled scanner does not know them
        return None
    call = Call(None, (), (), kind, "", charset, profile, policy, detect)
    given = open_input(b"", call)
    return None if given.notes else _Pages(call, row.charset, given.document.context)


def edits_at_once(data: bytes, call: Call) -> list[Edit] | None:
    """Return all edits of a document that needs no notes; None if that is not certain."""
    prepared = _ready(_remembered, data, call)
    return None if prepared is None else prepared[0].edits(data, prepared[1])


def links_at_once(data: bytes, call: Call) -> list[Link] | None:
    """Return all links of a document; None if that is not certain."""
    prepared = _ready(_remembered_links, data, call)
    return None if prepared is None else prepared[0].links(data, prepared[1])


def _ready(
    remembered: Callable[[str], Callable[..., tuple[_Pages, T] | None]], data: bytes, call: Call
) -> tuple[_Pages, T] | None:
    """Return what is prepared for a call; None if the document may need the usual path."""
    is_bare = not (call.fields or call.origin or call.message_urls or call.redirects)
    if binding.compiled is None or not is_bare or len(data) > _LARGE:
        return None
    kind = call.kind
    if kind is None or call.name:
        kind, notes = recognized(kind, "", call.name, data)
        if notes:
            return None
    url = call.url or ""
    return remembered(url)(url, kind, call.charset, call.profile, call.policy, call.detect)


def _prepared(
    on: Callable[[_Pages, str], T | None],
    url: str,
    *call: Any,  # noqa: ANN401
) -> tuple[_Pages, T] | None:
    pages = _pages(*call)
    made = None if pages is None else on(pages, url)
    return None if pages is None or made is None else (pages, made)


_remembered: Final = cached_by_length(partial(_prepared, _Pages.prefixes_on))
_remembered_links: Final = cached_by_length(partial(_prepared, _Pages.linking_on))
