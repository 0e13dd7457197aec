"""docs/notes.md: each word behind a warning has a row, and each command prints its word."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import console
import pytest

from relbase import Reason
from relbase.warc import Trouble
from tools import notes

TRANSCRIPTS: Final = Path(__file__).parents[1] / "cli"
ROWS: Final = [row for rows in notes.sections().values() for row in rows]
WORDS: Final = [row.word for row in ROWS]


def test_every_reason_has_a_row() -> None:
    reasons = [reason.value for reason in Reason]
    assert WORDS[: len(reasons)] == reasons
    assert {trouble.value for trouble in Trouble} <= {*WORDS}
    assert len(WORDS) == len({*WORDS})


def test_every_word_behind_a_warning_has_a_row() -> None:
    text = "\n".join(path.read_text("utf-8") for path in TRANSCRIPTS.glob("*.console"))
    words = re.findall(r"^ +2> .*(?:warning|error): .*\[([a-z0-9-]+)\]$", text, re.MULTILINE)
    assert len({*words}) > 20
    assert {*words} <= {*WORDS}


@pytest.mark.parametrize("row", [row for row in ROWS if row.input], ids=lambda row: row.word)
def test_a_command_prints_its_word(
    row: notes.Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = console.run(row.input)
    words = re.findall(
        rb'\[([a-z0-9-]+)\]\n|"ruleId": "([a-z0-9-]+)"', ran.stderr + ran.stdout[-3000:]
    )
    assert row.word.encode() in {word for pair in words for word in pair}


def test_only_what_needs_a_program_or_an_archive_has_no_command() -> None:
    without = {row.word for row in ROWS if not row.input}
    assert without == {"redirect-unfollowed", "coding", *(trouble.value for trouble in Trouble)}


def test_the_page_has_an_anchor_for_each_word() -> None:
    headings = re.findall(r"^### ([a-z0-9-]+)$", notes.markdown(), re.MULTILINE)
    assert headings == WORDS


def test_each_rule_is_one_of_the_rules() -> None:
    rules = (Path(__file__).parents[2] / "docs" / "rules.md").read_text("utf-8")
    assert all(f"**Rule {row.rule}: " in rules or f"**Rule {row.rule}:" in rules for row in ROWS)
