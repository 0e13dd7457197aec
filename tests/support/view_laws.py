"""The law of every view, and edits to try it with.

    decode(splice(raw, view.lower(edits))) == splice(view.inner, edits)

`decode` is somebody else's wherever there is somebody. `normal` takes away what no spelling can
keep: undecodable bytes that an edit puts beside others, which then are a character.
"""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from laws import examples

from relbase.edit import Edit, splice
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


def assert_law(
    raws: st.SearchStrategy[bytes],
    view_of: Callable[[bytes], View],
    decode: Callable[[bytes], bytes],
    news: st.SearchStrategy[bytes],
    normal: Callable[[bytes], bytes] = lambda text: text,
    *,
    also: Callable[[bytes, bytes], None] = lambda _raw, _edited: None,
    count: int = 50,
) -> None:
    """Assert the law for drawn texts and edits, of which a third change what is encoded."""
    changed = []

    @examples(count)
    @given(st.data(), raws)
    def law(data: st.DataObject, raw: bytes) -> None:
        view = view_of(raw)
        edited = check_law(raw, view, data.draw(edits_of(view.inner, news)), decode, normal)
        also(raw, edited)
        changed.append(raw not in (edited, view.inner))

    law()
    assert sum(changed) > 0.3 * len(changed), (sum(changed), len(changed))
