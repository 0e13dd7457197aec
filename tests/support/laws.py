"""Laws as property tests that assert that they were not vacuous."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from hypothesis import HealthCheck, given, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

    from relbase import Result

Call: TypeAlias = dict[str, Any]

# At least so many of the documents must have had something to rewrite.
_SHARE: Final = 0.3


def examples(count: int) -> settings:
    """So many examples; RELBASE_EXAMPLES=5000 says otherwise, for which a run has no time."""
    return settings(
        max_examples=int(os.environ.get("RELBASE_EXAMPLES", count)),
        suppress_health_check=[HealthCheck.too_slow],
    )


def check(
    law: Callable[[bytes, Call], Result],
    documents: SearchStrategy[bytes],
    calls: SearchStrategy[Call],
    count: int,
) -> None:
    """Try a law, which returns what it rewrote.

    Args:
        law: asserts, by a document and a call.
        documents: what it is tried with.
        calls: the arguments of `rewrite`.
        count: how many are tried, as `examples` says.
    """
    tally: Counter[bool] = Counter()

    @examples(count)
    @given(documents, calls)
    def tried(data: bytes, call: Call) -> None:
        tally[law(data, call).changed] += 1

    tried()
    assert tally[True] >= _SHARE * tally.total(), tally
