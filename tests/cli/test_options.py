"""The shared options: from the policy, checked with the fix, and what the library gets."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any, Final

import click
import pytest

from relbase import Policy
from relbase.cli import options
from relbase.cli.group import table

if TYPE_CHECKING:
    from relbase.cli.options import Settings

# The flags, and what each makes of the policy.
FLAGS: Final = [
    (["--keep-fragments"], Policy(keep_fragments=True)),
    (["--keep", "^/x"], Policy(keep=re.compile("^/x"))),
    (["--extended"], Policy(extended=True)),
    (["--no-attachments"], Policy(attachments=False)),
    (["--no-dkim-signed"], Policy(dkim_signed=False)),
    (["--keep-templates"], Policy(keep_templates=True)),
    (["--item-links"], Policy(item_links=True)),
    (["--xml-row", "a@b=url", "--xml-row", "c=css"], Policy(xml_rows=("a@b=url", "c=css"))),
    (
        ["--attribute", "data-b=url", "--attribute", "data-a=css"],
        Policy(attributes={"data-a": "css", "data-b": "url"}),
    ),
    ([], Policy()),
]


def settings(*arguments: str) -> Settings:
    """What a command gets that has the shared options."""
    got: list[Settings] = []

    @click.command(params=[*options.PARAMETERS])
    def command(inputs: tuple[str, ...], **given: Any) -> None:
        del inputs
        got.append(options.settings(given))

    command.main(list(arguments), standalone_mode=False)
    return got[0]


@pytest.mark.parametrize(("flags", "policy"), FLAGS, ids=str)
def test_the_policy(flags: list[str], policy: Policy) -> None:
    assert settings(*flags).policy == policy


def test_every_field_of_the_policy_is_an_option() -> None:
    flags = {flags[0] for flags, _ in FLAGS if flags}
    assert len(flags) == len(dataclasses.fields(Policy))
    names = {name for parameter in options.PARAMETERS for name in parameter.opts}
    assert flags <= names


@pytest.mark.parametrize(
    ("rows", "more", "named"),
    [
        ("Input\n  --one  First.\n  --two Second.\n", {}, "--two Second."),  # one space
        ("Input\n  --one  First,\n          'and' so on.\n", {}, "'and' so on."),
        ("Input\n  --one  First.\n\n  --two  Second.\n", {}, "--two  Second."),
        ("Input\n  --one  First.\n", {"once": {"multiple": True}}, "once"),
    ],
)
def test_a_table_leaves_out_nothing(rows: str, more: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        table(rows, **more)
