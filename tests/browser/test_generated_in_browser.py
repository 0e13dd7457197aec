"""Law 10 on documents that a grammar makes: the browser as referee of each."""

import os
import re
from typing import Any, Final

from cases import HTML, Case
from counts import Counts
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from referee import judge
from served import Site
from strategies import pages

EXAMPLES: Final = int(os.environ.get("RELBASE_EXAMPLES", "100"))

# What is of other tests, or of none: framesets (constructions.py), `|` in a `<base>`, which
# Chromium escapes, and a custom property at the top level of a sheet, where it is no declaration
# and ends with its block; to relbase with a semicolon.
_left_out: Final = re.compile(rb"<frameset|<base[^>]*\||--x ?:\{", re.IGNORECASE).search


def drawn() -> list[bytes]:
    """Return some documents: they are judged many at once, which hypothesis could not."""
    found: dict[bytes, None] = {}

    @settings(
        max_examples=EXAMPLES,
        suppress_health_check=[HealthCheck.too_slow],
        phases=(Phase.generate,),
    )
    @given(st.sampled_from((b"", b"<base href=sub/>", b"<base href=http://b.example/?q>")), pages)
    def draw(base: bytes, page: bytes) -> None:
        found[base + page] = None

    draw()
    return [text for text in found if not _left_out(text)]


def test_law_10_links_mean_the_same_wherever_the_output_is_opened(
    site: Site, browser: Any, counts: Counts
) -> None:
    cases = [
        Case(repr(text), text, f"http://h.example/{number}/d/p.html", f"{HTML}; charset=utf-8")
        for number, text in enumerate(drawn())
    ]
    totals = judge(browser, site, cases, in_frames=True)
    assert totals.differences == {}
    assert totals.documents >= EXAMPLES / 2
    assert totals.changed >= 0.3 * totals.documents
    totals.count(counts, "browser: generated")
