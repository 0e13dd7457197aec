"""The transcripts beside this file; support/console.py tells how they are written."""

from __future__ import annotations

import difflib
from pathlib import Path

import console
import pytest
from extras import needed

CASES = [
    pytest.param(case, id=f"{path.stem}: {case.title}")
    for path in sorted(Path(__file__).parent.glob("*.console"))
    for case in console.cases(path)
]


def test_the_transcripts_are_found() -> None:
    assert len(CASES) > 60


@pytest.mark.parametrize("case", CASES)
def test_a_case(case: console.Case) -> None:
    if "--parquet" in case.text or "file://" in case.text:
        needed("pyarrow")
    now = case.played()
    if now != case.text:
        changes = difflib.unified_diff(
            case.text.splitlines(), now.splitlines(), "the transcript", "what is printed", "", "", 5
        )
        lines = "\n".join(line.rstrip("\n") for line in changes)
        pytest.fail(f"{lines}\n\nIf it is meant: python tests/support/console.py", pytrace=False)
