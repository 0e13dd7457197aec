"""What becomes of plain references on a base, by their shapes.

Most relative references are of a plain shape (`shapes.Shape`): what they resolve to is the same
text before each of that shape. It is found out with a sample of each; where a sample resolves to
anything else, references of that shape are looked at one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from relbase.bases.layers import remembering
from relbase.edit import Span
from relbase.references.scanner import DOTS, SAMPLES
from relbase.rewriting.items import plain_in_css, plain_in_quotes, plain_unquoted
from relbase.rewriting.reference import smallest
from relbase.url.resolver import Profile, has_net_loc

if TYPE_CHECKING:
    from collections.abc import Callable

    from relbase.references.scanner import EditsByShape
    from relbase.rewriting.context import Context

    Resolve: TypeAlias = "Callable[[str], str]"

SHAPES: Final = max(DOTS) + 1
NONE: Final[EditsByShape] = (None,) * SHAPES


class Prepared(NamedTuple):
    """What becomes of references of each shape, and where what is written may stand as it is."""

    becomes: EditsByShape
    unquoted: bool = True
    in_css: bool = True


def sampled_by(context: Context) -> Resolve | None:
    """What resolves samples for the references of a context; None where they tell nothing."""
    base = context.base.url
    # The WHATWG parser treats the paths of file and of other schemes by rules of their own.
    is_whatwg = context.task.profile is Profile.WHATWG
    if is_whatwg and not base.startswith(("http:", "https:")):
        return None
    # What is saved beside the page may stay; without a net_loc a path may be written otherwise.
    if context.task.places is not None or not has_net_loc(base):
        return None
    return context.resolve


def is_same_in_css(context: Context) -> bool:
    """What stands in CSS is resolved as UTF-8: the query of the base may be another then."""
    return context.encoding == "utf-8" or context.base.url.isascii()


def _prepared(resolve: Resolve | None) -> Prepared:
    """What becomes of references of each shape by what resolves their samples."""
    if resolve is None:
        return Prepared(NONE)
    return with_places(tuple(becomes_of(shape, resolve) for shape in range(SHAPES)))


def with_places(becomes: EditsByShape) -> Prepared:
    """Return what becomes of each shape, with where what is written may stand."""
    written = b"".join(edit[2] for edit in becomes if edit)
    return Prepared(becomes, plain_unquoted(written) is not None, plain_in_css(written) is not None)


def becomes_of(shape: int, resolve: Resolve) -> tuple[int, int, bytes] | None:
    """What becomes of references of a shape."""
    if shape in _SAMPLES:
        return _edit(_SAMPLES[shape], _resolved(resolve, _SAMPLES[shape]))
    if shape not in DOTS:
        return None
    sample = DOTS[shape] + "x"
    resolved, directory = _resolved(resolve, sample), _resolved(resolve, DOTS[shape])
    # What climbs above the root is noted, one by one.
    if resolved is None or directory is None or "/../" in resolved:
        return None
    return _edit(sample, resolved) if resolved == directory + "x" else None


_SAMPLES: Final = {int(shape): sample for shape, sample in SAMPLES.items()}


def _resolved(resolve: Resolve, sample: str) -> str | None:
    try:
        return resolve(sample)
    except ValueError:
        return None


def _edit(sample: str, resolved: str | None) -> tuple[int, int, bytes] | None:
    """The edit that makes a sample absolute, when it is the same for all that are like it."""
    if resolved is None or not resolved.isascii():
        return None
    start, end, new = smallest(sample, resolved, Span(0, len(sample)))
    rest = sample.lstrip("./") if sample.startswith(".") else sample
    is_alike = end <= len(sample) - len(rest)
    return (start, end, new) if is_alike and plain_in_quotes(new) else None


prepared_on: Final = remembering(_prepared)
