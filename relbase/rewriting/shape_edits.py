"""What becomes of plain references on a base, by their shapes.

Most relative references are of a plain shape (`scanner.Shape`): what they resolve to is the same
text before each of that shape. It is found out with a sample when the first of a shape occurs;
where a sample resolves to anything else, references of that shape are looked at one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from relbase.bases.layers import remembering
from relbase.edit import Span
from relbase.references.scanner import IN_CSS, SAMPLES, UNQUOTED, Shape, ShapeEdit
from relbase.rewriting.budget import weight
from relbase.rewriting.items import plain_in_css, plain_in_quotes, plain_unquoted
from relbase.rewriting.reference import smallest
from relbase.url.resolver import Profile, has_net_loc

if TYPE_CHECKING:
    from collections.abc import Callable

    from relbase.rewriting.context import Context


class ShapeEdits(dict[int, ShapeEdit | None]):
    """What becomes of references of each shape on a base, so deep in documents."""

    __slots__ = ("_depth", "_resolve")

    def __init__(self, resolve: Callable[[str], str] | None, depth: int) -> None:
        super().__init__()
        self._resolve = resolve  # None where samples tell nothing
        self._depth = depth

    def __missing__(self, shape: int) -> ShapeEdit | None:
        edit = self[shape] = None if self._resolve is None else self._edit(shape, self._resolve)
        return edit

    def _edit(self, shape: int, resolve: Callable[[str], str]) -> ShapeEdit | None:
        sample = SAMPLES.get(shape)
        if sample is None:
            return None
        dots = sample[:-1] if shape >= Shape.HERE else ""
        try:
            resolved = resolve(sample)
            is_alike = not dots or resolve(dots) + "x" == resolved
        except ValueError:
            return None
        # What climbs above the root is noted, one by one.
        if not (is_alike and resolved.isascii()) or (dots and "/../" in resolved):
            return None
        _, end, new = smallest(sample, resolved, Span(0, len(sample)))
        if end > len(dots) or not plain_in_quotes(new):
            return None
        fits = (UNQUOTED if plain_unquoted(new) else 0) | (IN_CSS if plain_in_css(new) else 0)
        cost = max(0, weight(new.decode("ascii"), self._depth) - end)
        return ShapeEdit(end, new, cost, fits)


_remembered: Final = remembering(ShapeEdits)
NO_EDITS: Final = ShapeEdits(None, 0)


def shape_edits(context: Context) -> ShapeEdits:
    """Return what becomes of plain references in a context."""
    base = context.base.url
    # The WHATWG parser treats the paths of file and of other schemes by rules of their own.
    is_whatwg = context.task.profile is Profile.WHATWG
    if is_whatwg and not base.startswith(("http:", "https:")):
        return NO_EDITS
    # What is saved beside the page may stay; without a net_loc a path may be written otherwise.
    if context.task.places is not None or not has_net_loc(base):
        return NO_EDITS
    return _remembered(base)(context.resolve, context.depth)


def is_same_in_css(context: Context) -> bool:
    """What stands in CSS is resolved as UTF-8: the query of the base may be another then."""
    return context.encoding == "utf-8" or context.base.url.isascii()
