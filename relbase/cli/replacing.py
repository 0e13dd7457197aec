"""`--replace REGEX NEW`: what becomes of the URL of each link."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from relbase.cli import option_values
from relbase.cli.files import InputError
from relbase.cli.group import Option

if TYPE_CHECKING:
    from relbase.results import Link


@dataclass(frozen=True, slots=True)
class Replacing:
    """The function `replace` of a call; workers can get it."""

    rules: tuple[tuple[re.Pattern[str], str], ...]

    def __call__(self, link: Link) -> str | None:
        new = url = link.url or ""
        for pattern, by in self.rules:
            new = pattern.sub(by, new)
        if url and not new:
            fix = "write an expression that matches less"
            raise InputError(f"--replace leaves nothing of {option_values.quoted(url)}: {fix}")
        return None if new == url else new


def _rule(given: tuple[str, str]) -> tuple[re.Pattern[str], str]:
    regex, new = given
    pattern = option_values.pattern(regex)
    try:
        pattern.sub(new, "")  # reads the groups of NEW
    except (re.error, IndexError) as error:
        fix = r"give '\1' or '\g<name>' for a group of the expression, '\\' for a backslash"
        text = f"{option_values.quoted(new)} cannot replace a match, {error}: {fix}"
        raise ValueError(text) from None
    return pattern, new


REPLACE: Final = Option(
    "--replace REGEX NEW",
    "Replace what matches REGEX in the URL of each link, absolute ones too; NEW may refer to "
    "groups, as in '\\1' (repeatable, in order).",
    multiple=True,
    nargs=2,
    read=_rule,
)
