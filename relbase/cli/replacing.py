"""`--replace REGEX NEW`: what becomes of the URL of each link."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from relbase.cli import option_values
from relbase.cli.files import InputError
from relbase.cli.group import option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relbase.results import Link

replace_option: Final = option(
    "Links",
    "--replace",
    metavar="REGEX NEW",
    nargs=2,
    multiple=True,
    help="Replace what matches REGEX in the URL of each link, absolute ones too; NEW may refer to "
    "groups, as in '\\1' (repeatable, in order).",
)


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


def replacing(rules: Iterable[tuple[str, str]]) -> Replacing | None:
    read = tuple(_rule(*rule) for rule in rules)
    return Replacing(read) if read else None


def _rule(regex: str, new: str) -> tuple[re.Pattern[str], str]:
    try:
        pattern = option_values.pattern(regex)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--replace'") from None
    try:
        pattern.sub(new, "")  # reads the groups of NEW
    except (re.error, IndexError) as error:
        fix = r"give '\1' or '\g<name>' for a group of the expression, '\\' for a backslash"
        text = f"{option_values.quoted(new)} cannot replace a match, {error}: {fix}"
        raise click.BadParameter(text, param_hint="'--replace'") from None
    return pattern, new
