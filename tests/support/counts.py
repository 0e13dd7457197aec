"""How much each suite over other people's data compared: the table at the end of a run.

A run of all suites is compared with the table of docs/proof.md, and fails where they differ.
The rows travel as properties of the reports of tests, which reach the process that prints whether
or not workers ran them. Of a test that failed there is no row.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Protocol, cast

import pytest

KEY: Final = "counts"
PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "proof.md"


class Counts(Protocol):
    """Take a suite's name, how many cases were compared, how many of them differ as listed."""

    def __call__(self, suite: str, cases: int, known: int, note: str = "") -> None: ...


def table(reports: Iterable[pytest.TestReport]) -> Iterator[str]:
    """Yield the lines of the table, none when no suite ran; the rows of one suite are added up."""
    cases: Counter[tuple[str, str]] = Counter()
    known: Counter[tuple[str, str]] = Counter()
    for report in reports:
        for key, value in report.user_properties:
            if key == KEY:
                suite, compared, listed, note = cast("tuple[str, int, int, str]", value)
                cases[suite, note] += compared
                known[suite, note] += listed
    if not cases:
        return
    rows = [(suite, cases[suite, note], known[suite, note], note) for suite, note in sorted(cases)]
    rows.append(("total", cases.total(), known.total(), ""))
    wide = max(len(row[0]) for row in rows)
    yield f"{'suite':{wide}}   cases  known differences"
    for suite, compared, listed, note in rows:
        yield f"{suite:{wide}}  {compared:6}  {listed:5}  {note}".rstrip()


def differing(lines: list[str]) -> list[str]:
    """Rows of a run and of the page that are not in the other; none unless all suites ran."""
    if os.environ.get("RELBASE_REAL_PAGES"):  # the page has the rows of a sample
        return []
    stated = PAGE.read_text("utf-8").partition("```text\n")[2].partition("\n```")[0].splitlines()
    ran, there = ({" ".join(line.split()) for line in rows} for rows in (lines, stated))
    if {_suite(line) for line in lines} != {_suite(line) for line in stated}:
        return []
    return sorted([f"ran: {row}" for row in ran - there] + [f"page: {row}" for row in there - ran])


def _suite(line: str) -> str:
    return re.split("  +", line)[0]
