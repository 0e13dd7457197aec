"""Laws as property tests that assert that they were not vacuous.

Drawing a document costs more than a law does: all laws of a kind of documents are tried on the same
ones, with what they became. The name of the one that failed is in the traceback.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

import relbase
from relbase import Link, Result

Call: TypeAlias = dict[str, Any]
# Asserts, by a document, the call that rewrites it and what that gives.
Law: TypeAlias = "Callable[[bytes, Call, Result], None]"

# The share of the documents that must have had something to rewrite.
_SHARE: Final = 0.3


def examples(count: int) -> settings:
    """A number of examples; RELBASE_EXAMPLES says otherwise, as in CI: a usual run has no time."""
    return settings(
        max_examples=int(os.environ.get("RELBASE_EXAMPLES", count)),
        suppress_health_check=[HealthCheck.too_slow],
    )


def check(
    laws: Sequence[Law], documents: SearchStrategy[bytes], calls: SearchStrategy[Call], count: int
) -> None:
    """Try laws on a number of documents, rewritten by calls."""
    tally: Counter[bool] = Counter()

    @examples(count)
    @given(documents, calls)
    def tried(data: bytes, call: Call) -> None:
        result = relbase.rewrite(data, **call)
        for law in laws:
            law(data, call, result)
        tally[result.changed] += 1

    tried()
    assert tally[True] >= _SHARE * tally.total(), tally


def law_2_outside_of_the_edits_every_byte_is_the_same(data: bytes, _: Call, result: Result) -> None:
    at = moved = 0
    for edit in result.edits:
        assert at <= edit.start <= edit.end <= len(data)
        assert result.data[at + moved : edit.start + moved] == data[at : edit.start]
        start = edit.start + moved
        assert result.data[start : start + len(edit.new)] == edit.new
        moved += len(edit.new) - (edit.end - edit.start)
        at = edit.end
    assert result.data[at + moved :] == data[at:]


def law_3_a_second_rewriting_changes_nothing(_: bytes, call: Call, result: Result) -> None:
    again = relbase.rewrite(result.data, **call)
    assert again.edits == ()
    assert again.data is result.data


# Of a URL with nothing else in it the spelling is the same in every place: an `=` before what stays
# could begin an encoded word in a header.
_plain: Final = re.compile(r"[A-Za-z0-9/:.?#%_~-]*").fullmatch


def assert_links_alike(before: list[Link], after: list[Link]) -> None:
    """Law 4: the links after are the links before, each absolute, kept or noted."""
    assert [place(link) for link in before] == [place(link) for link in after]
    for old, new in zip(before, after, strict=True):
        if old.status is relbase.Status.REWRITTEN:
            assert new.status is relbase.Status.ABSOLUTE
            if old.url is not None and _plain(old.url):
                assert new.url == old.url
        else:
            assert (new.status, new.reference) == (old.status, old.reference)


def place(link: Link) -> tuple[str, str, str, str]:
    """Where a link stands, whatever it says."""
    return link.part, link.element, link.attribute, link.syntax


def prefixes(data: bytes) -> Iterable[bytes]:
    """Some beginnings of a document, the longest without its last byte."""
    return [data[:length] for length in range(len(data) - 1, 0, -(1 + len(data) // 4))]


def assert_laws(data: bytes, result: Result, **call: Any) -> list[Link]:
    """Assert laws 1 to 4 and 7 of a document that was rewritten; return the links after it."""
    assert result.changed == bool(result.edits) == (result.data is not data)
    law_2_outside_of_the_edits_every_byte_is_the_same(data, call, result)
    law_3_a_second_rewriting_changes_nothing(data, call, result)
    before = list(result.links)
    after = list(relbase.links(result.data, **call))
    assert_links_alike(before, after)
    assert result.changed == any(link.status is relbase.Status.REWRITTEN for link in before)
    at = 0
    for link in before:
        start, end = link.span
        assert at <= start <= end <= len(data), link
        at = end
        assert link.column == start - data.rfind(b"\n", 0, start), link
    return after
