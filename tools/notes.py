"""What the documentation says of each word behind a warning: the rows of relbase/notes.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final, NamedTuple

_TABLE: Final = Path(__file__).parents[1] / "relbase" / "notes.toml"


class Row(NamedTuple):
    """A word: what it means, a command that prints it, what to do, and the rule that decides."""

    word: str
    means: str
    do: str
    rule: int
    input: str = ""


def sections() -> dict[str, list[Row]]:
    """The rows under the titles of the table."""
    found: dict[str, list[Row]] = {}
    for part in re.split(r"^# ---- ", _TABLE.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        title, _, rows = part.partition("\n")
        found[title] = [Row(word, **row) for word, row in tomllib.loads(rows).items()]
    return found


def markdown() -> str:
    """The page's sections in Markdown."""
    return "\n".join(
        f"## {title[:1].upper()}{title[1:]}\n\n" + "\n".join(map(_shown, rows))
        for title, rows in sections().items()
    )


def _shown(row: Row) -> str:
    example = f"```sh\n{row.input}\n```\n\n" if row.input else ""
    rule = f"([rule {row.rule}](rules.md#rules-that-decide-results))"
    return f"### {row.word}\n\n{row.means} {rule}\n\n{example}**What to do:** {row.do}\n"
