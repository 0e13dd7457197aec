"""The edits of a small page at once: where the compiled scanner reads all of it, that is enough.

Everything else goes the long way, which has the same result for what goes this way too.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from relbase.bases.layers import UNKNOWN, establish, remembering, retrieval
from relbase.bases.marks import may_have_marks
from relbase.formats import FORMATS
from relbase.opening.door import open_input, prepare
from relbase.opening.recognition import recognized
from relbase.references import scanner
from relbase.rewriting.budget import Budget
from relbase.rewriting.document import read_charset
from relbase.rewriting.scan import priced_scan_for
from relbase.url.resolver import Profile
from relbase.view.charset import CharsetSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from relbase.call import Call
    from relbase.edit import Edit
    from relbase.rewriting.context import Context
    from relbase.rewriting.document import CharsetRule


class AtOnce(NamedTuple):
    """What does small pages of a call at once."""

    scan: Callable[..., tuple[Any, ...]]  # what it makes costs, where nothing is asked of each
    label: str | None
    charset: CharsetRule
    detect: bool

    def edits(self, data: bytes) -> list[Edit] | None:
        """All edits of a document that nothing is to be remarked on; None where it is not sure."""
        is_stated = False
        # Any other beginning may be a byte order mark.
        if self.label != _UTF_8 or not data[:1].isascii() or b"\0" in data[:4]:
            name, source, _ = read_charset(data, self.label, self.charset)
            is_stated = source is CharsetSource.META
            if not (data.isascii() and name in _PLAIN) and not (is_stated and name == _UTF_8):
                return None
        if self.detect and may_have_marks(data):
            return None
        edits: list[Edit]
        edits, at, *cost = self.scan(data, 0, len(data), False, False)
        if at >= 0:
            return None
        budget = Budget(len(data))
        if cost[0] > budget.left if cost else len(budget.covered(edits, 0)) < len(edits):
            return None
        # The declaration of the charset must not get another place.
        if is_stated and edits and edits[0].start < data.lower().find(b"charset"):
            return None
        return edits


# ASCII means the same in them.
_UTF_8: Final = "utf-8"
_PLAIN: Final = frozenset((_UTF_8, "windows-1252"))

# Of a larger page what is prepared saves little, and a scan in vain costs more than that.
_LARGE: Final = 1 << 13


@lru_cache(maxsize=16)
def _context(call: Call) -> Context | None:
    """The context of all pages of a call without a URL; None where none can be done at once."""
    row = FORMATS[call.kind] if call.kind is not None else None
    if row is None or row.charset is None or not row.makes_links:
        return None
    if call.policy.attributes:  # the compiled scanner does not know them
        return None
    # The charset decides on what is not ASCII in browsers: that is noted where nothing states it.
    if call.profile is Profile.WHATWG and call.charset is None:
        return None
    given = open_input(b"", prepare(call))
    context = given.document.context
    return None if given.notes else context.asking(context.task._replace(edits_only=True))


def _at_once(call: Call) -> AtOnce | None:
    context = _context(call._replace(url=None))
    if context is None or call.kind is None:
        return None
    stated, remarks = retrieval(call.url, ())
    base, notes = establish(stated, UNKNOWN, profile=call.profile)
    if remarks or notes or not base.url.isascii():
        return None
    if (rule := FORMATS[call.kind].charset) is None:
        return None
    return AtOnce(priced_scan_for(context.on(base)), call.charset, rule, call.detect)


_remembered: Final = remembering(_at_once)


def edits_at_once(data: bytes, call: Call) -> list[Edit] | None:
    """Return all edits of a document that nothing is to be remarked on; None where not sure."""
    is_bare = not (call.fields or call.origin or call.message_urls or call.redirects)
    if scanner.compiled is None or not is_bare or len(data) > _LARGE:
        return None
    if call.kind is None or call.name:
        kind, notes = recognized(call.kind, "", call.name, data)
        if notes:
            return None
        call = call._replace(kind=kind, name="")
    try:
        hash(call)
    except TypeError:  # a policy may ask an object that has no hash
        return None
    found = _remembered(call.url or "")(call)
    return None if found is None else found.edits(data)
