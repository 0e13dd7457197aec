"""The browser as referee over documents with `<base>` in every position and of every value.

A ninth of them by default; all with RELBASE_REAL_PAGES=all.
"""

import os
from typing import Any, Final

from cases import HTML, Case
from constructions import POSITIONS, documents
from counts import Counts
from exceptions import Rule
from referee import judge
from served import Site

# A position has 14 documents in a row: no step that shares a factor with that passes any over.
STEP: Final = 1 if os.environ.get("RELBASE_REAL_PAGES") == "all" else 9


def test_base_constructions(site: Site, browser: Any, counts: Counts) -> None:
    cases = [
        Case(name, text.encode(), f"http://h.example/{number}/d/p.html", f"{HTML}; charset=utf-8")
        for number, (name, text) in enumerate(list(documents())[::STEP])
    ]
    totals = judge(browser, site, cases, in_frames=True)
    assert totals.differences == {}
    assert totals.documents >= 1.5 * len(POSITIONS)
    assert totals.changed >= 0.9 * totals.documents
    assert totals.rewritten >= 10 * totals.documents / 2
    # What law 10 names is in them.
    assert {Rule.LATE, Rule.FOSTERED, Rule.UNPARSABLE, Rule.UNSUITABLE} <= set(totals.known)
    totals.count(counts, "browser: <base> constructions")
