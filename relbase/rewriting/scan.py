"""How HTML is passed over: what becomes of plain references, and which scanner finds them.

Strategy: most relative references are of a plain shape (`skim.Shape`): what they resolve to is the
same text before each of that shape. It is found out once for a base, with a sample of each; where a
sample resolves to anything else, references of that shape are looked at one by one.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from relbase.edit import Span
from relbase.references import scanner
from relbase.references.skim import DOTS, SAMPLES, Shape
from relbase.references.values import clean
from relbase.rewriting.outward import plain_in_css, plain_in_quotes, plain_unquoted
from relbase.rewriting.reference import smallest
from relbase.url.resolver import Profile, has_net_loc
from relbase.view.characters import text as decode_inner
from relbase.view.charrefs import attribute_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from relbase.references.skim import Becomes, Skim
    from relbase.rewriting.context import Context

_SHAPES: Final = max(DOTS) + 1
_NONE: Final[Becomes] = (None,) * _SHAPES


def skim_for(context: Context, name: str) -> Skim | None:
    """Return what passes over a document on a base; None where each element is looked at.

    Args:
        context: of the inside of the document.
        name: of the scanner.
    """
    if name == scanner.EXACT or not context.task.edits_only:
        return None
    policy = context.task.policy
    whatwg = context.task.profile is Profile.WHATWG
    becomes = _becomes(context)
    written = [edit[2] for edit in becomes if edit]
    unquoted = all(map(plain_unquoted, written))
    keeps = partial(_keeps, context) if policy.chooses else None
    if name == scanner.SKIMMED:
        from relbase.references.skim import skimming  # noqa: PLC0415

        return skimming(
            becomes, whatwg=whatwg, unquoted=unquoted, extended=policy.extended, keeps=keeps
        )
    # What stands in CSS is resolved as UTF-8: the query of the base may be another then.
    is_same = context.encoding == "utf-8" or context.base.url.isascii()
    return scanner.scanning(
        becomes,
        whatwg=whatwg,
        unquoted=unquoted,
        in_css=is_same and all(map(plain_in_css, written)),
        utf8=context.charset == "utf-8",
        extended=policy.extended,
        keeps=keeps,
    )


def _keeps(context: Context, raw: bytes) -> bool:
    """Whether the policy leaves a plain reference alone."""
    inner = (
        attribute_view(raw, b'"', context.charset).inner
        if b"&" in raw or not raw.isascii()
        else raw
    )
    return context.task.policy.keeps(clean(decode_inner(inner)))


def _becomes(context: Context) -> Becomes:
    """What becomes of references of each shape."""
    resolve, base = context.resolve, context.base.url
    # The WHATWG parser treats the paths of file and of other schemes by rules of their own.
    is_whatwg = context.task.profile is Profile.WHATWG
    if resolve is None or (is_whatwg and not base.startswith(("http:", "https:"))):
        return _NONE
    # What is saved beside the page may stay; without a net_loc a path may be written otherwise.
    if context.task.places is not None or not has_net_loc(base):
        return _NONE
    becomes = (_sampled if len(base) > _REMEMBERED_URL else _remembered)(resolve)
    if context.task.policy.keep_fragments:
        at = Shape.FRAGMENT
        return (*becomes[:at], (), *becomes[at + 1 :])
    return becomes


def _sampled(resolve: Callable[[str], str]) -> Becomes:
    becomes = [*_NONE]
    for shape, sample in SAMPLES.items():
        becomes[shape] = _edit(resolve, sample)
    for level, dots in DOTS.items():
        edit = _edit(resolve, dots + "x")
        becomes[level] = edit if edit == _edit(resolve, dots) else None
    return tuple(becomes)


def _edit(resolve: Callable[[str], str], sample: str) -> tuple[int, int, bytes] | None:
    """The edit that makes a sample absolute, when it is the same for all that are like it."""
    try:
        resolved = resolve(sample)
    except ValueError:
        return None
    start, end, new = smallest(sample, resolved, Span(0, len(sample)))
    rest = sample.lstrip("./") if sample.startswith(".") else sample
    is_alike = end <= len(sample) - len(rest) and resolved.isascii()
    return (start, end, new) if is_alike and plain_in_quotes(new) else None


# Messages of a mailbox most often share their base; a hostile one may be as long as the mailbox.
_REMEMBERED_URL: Final = 1 << 12
_remembered: Final = lru_cache(maxsize=16)(_sampled)
