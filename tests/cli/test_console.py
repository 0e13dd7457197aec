"""The transcripts beside this file; support/console.py tells how they are written."""

from __future__ import annotations

import difflib
import shutil
from pathlib import Path
from typing import Final

import console
import pytest
from extras import needed

pytestmark = pytest.mark.skipif(shutil.which("sh") is None, reason="there is no shell")

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


# ---- what is written, as if on Windows

# What differs there, and why.
ELSEWHERE: Final = {
    "inplace: The new content takes the place of the old": "it has no modes",
    "rewrite: Mode and time are those of the input": "it has no modes",
    "maildir: Messages keep name, flags, mode and time": "it allows no colon in a name",
    "maildir: --resume goes on with a copy": "it allows no colon in a name",
    "rewrite: Names that are no text": "it allows no control characters in a name",
    "rewrite: An output that cannot be written stops the run": "mkdir has no -p there",
}
WRITING: Final = ("inplace", "maildir", "many", "mbox", "rewrite")


@pytest.mark.usefixtures("as_windows")
@pytest.mark.parametrize("case", [one for one in CASES if str(one.id).partition(":")[0] in WRITING])
def test_what_is_written_as_if_on_windows(
    case: console.Case, request: pytest.FixtureRequest
) -> None:
    differs = request.node.callspec.id in ELSEWHERE
    assert (case.played() != case.text) is differs
