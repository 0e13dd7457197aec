"""How much each suite over other people's data compared: the table at the end of a run.

A run of all suites is compared with the table of docs/proof.md, and fails where they differ.
The rows travel as properties of the reports of tests, which reach the process that prints whether
or not workers ran them. Of a test that failed there is no row.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, cast

import pytest

KEY: Final = "counts"
LISTED: Final = Path(__file__).parents[1] / "suites" / "known.txt"
# How many suites a run may lack, since their data is not there, and still be compared.
_SKIPPED: Final = 2
PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "proof.md"


class Counts:
    """What a suite tells: how many cases it compared, and how many of them differ as listed."""

    def __init__(self, record: Callable[[str, object], None]) -> None:
        self._record = record

    def __call__(self, suite: str, cases: int, known: int, note: str = "") -> None:
        self._record(KEY, (suite, cases, known, note))

    def compare(
        self,
        suite: str,
        rows: Iterable[tuple[str, Any, Any]],
        *,
        least: int,
        note: str = "",
        variant: str = "",
    ) -> None:
        """Compare each case's finding with what is wanted: known.txt lists all that differ."""
        count, differ = 0, []
        for case, found, wanted in rows:
            count += 1
            if found != wanted:
                differ.append((case, found, wanted))
        listed = known(suite, variant)
        assert [row for row in differ if row[0] not in listed] == []
        assert listed - {case for case, *_ in differ} == set(), "these pass: take them off the list"
        assert count >= least
        self(suite, count, len(differ), note)


def known(suite: str, variant: str = "") -> set[str]:
    """The cases of a suite, or of some variants of it, that differ for a reason of known.txt."""
    section = LISTED.read_text("utf-8").partition(f"\n\n{suite}\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^    (.+?)(?: @ (.+))?$", section, re.MULTILINE)
    return {case for case, of in rows if not of or {*of.split()} & {*variant.split()}}


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
    """Rows of a run and of the page that are not in the other; none when many suites did not run.

    What could not be fetched is skipped: its suite and the total are not compared then.
    """
    if os.environ.get("RELBASE_REAL_PAGES"):  # the page has the rows of a sample
        return []
    stated = PAGE.read_text("utf-8").partition("```text\n")[2].partition("\n```")[0].splitlines()
    missing = {_suite(line) for line in stated} - {_suite(line) for line in lines}
    if len(missing) > _SKIPPED:
        return []
    left_out = {*missing, "total"} if missing else set()
    ran, there = (
        {" ".join(line.split()) for line in rows if _suite(line) not in left_out}
        for rows in (lines, stated)
    )
    return sorted([f"ran: {row}" for row in ran - there] + [f"page: {row}" for row in there - ran])


def _suite(line: str) -> str:
    return re.split("  +", line)[0]
