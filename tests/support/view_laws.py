"""The law of every view, and edits to try it with.

    decode(splice(raw, view.lower(edits))) == splice(view.inner, edits)

`decode` is somebody else's wherever there is somebody. `normal` takes away what no spelling can
keep: undecodable bytes that an edit puts beside others, which then are a character.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from relbase.edit import Edit, splice

if TYPE_CHECKING:
    from collections.abc import Callable

    from relbase.view.runs import View


@st.composite
def edits_of(draw: st.DrawFn, inner: bytes, new: st.SearchStrategy[bytes]) -> list[Edit]:
    """Draw sorted, disjoint edits of `inner` that begin and end between its characters."""
    offsets = [0]
    for character in inner.decode("utf-8", "surrogatepass"):
        offsets.append(offsets[-1] + len(character.encode("utf-8", "surrogatepass")))
    bounds = sorted(draw(st.lists(st.sampled_from(offsets), min_size=2, max_size=8)))
    if len(bounds) % 2:
        bounds.append(bounds[-1])
    pairs = zip(bounds[::2], bounds[1::2], strict=True)
    return [Edit(start, end, draw(new)) for start, end in pairs]


def check_law(
    raw: bytes,
    view: View,
    edits: list[Edit],
    decode: Callable[[bytes], bytes],
    normal: Callable[[bytes], bytes] = lambda text: text,
) -> bytes:
    """Assert the law and what it rests on; return the edited raw text."""
    assert decode(raw) == view.inner
    lowered = view.lower(edits)
    bounds = [offset for edit in lowered for offset in edit[:2]]
    assert bounds == sorted(bounds)
    edited = splice(raw, lowered)
    assert normal(decode(edited)) == normal(splice(view.inner, edits))
    return edited
