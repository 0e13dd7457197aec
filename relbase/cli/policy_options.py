"""The options of the policy: each field of `relbase.Policy` has one row in `POLICY`."""

from __future__ import annotations

import dataclasses
import re
from itertools import chain
from typing import Any, Final

import click

from relbase.cli import option_values
from relbase.cli.group import Option, section
from relbase.expressions import any_of
from relbase.policy import Policy

# Each field of the policy as it is on the command line. A flag inverts the default of its field.
POLICY: Final = (
    *section(
        "Links",
        Option("--keep-fragments", "Leave references into the same document ('#top') unchanged."),
        Option(
            "--keep REGEX",
            "Leave references that match this regular expression unchanged (repeatable).",
            multiple=True,
            read=option_values.pattern,
        ),
        Option(
            "--only-link PLACE",
            "Rewrite only the links in these places: 'img@src', '*@style', or 'style' for an "
            "element's text (repeatable).",
            name="only_links",
            multiple=True,
            read=option_values.places,
        ),
        Option(
            "--extended",
            "Also rewrite what only some readers treat as URLs: RDFa, and values of params, lazy "
            "loading and social media that look like a path ('x.png', but not 'x').",
        ),
        Option(
            "--keep-templates",
            "Leave references that begin with a placeholder, such as '{{url}}', unchanged, and "
            "never change a placeholder.",
            basic=True,
        ),
        Option(
            "--template TEXT*TEXT",
            "Also treat text of this form as a placeholder, and imply keep-templates: "
            "'###*###', with one '*' for any text (repeatable).",
            name="templates",
            multiple=True,
            read=option_values.template,
        ),
        Option(
            "--ignore-base",
            "Resolve links as if the document had no '<base>', and leave it unchanged.",
        ),
        Option(
            "--private-bases",
            "Also resolve links against bases that only one program can use, such as "
            "'x-msg://38/'.",
        ),
        Option(
            "--item-links",
            "Resolve the HTML of a feed's items against each item's link, as some readers do.",
        ),
        Option(
            "--site-links",
            "Resolve the links of a feed against the URL of its site, which it states.",
        ),
        Option(
            "--xml-row ROW",
            "Also rewrite these places in XML: '{namespace}element@attribute=url' (or 'list', "
            "'srcset', 'css', 'html'; without '@attribute' the element's text) (repeatable).",
            name="xml_rows",
            multiple=True,
            read=option_values.xml_rows,
        ),
        Option(
            "--attribute NAME=SYNTAX",
            "Also rewrite these attributes of HTML: 'data-link=url' (or 'srcset', 'css') "
            "(repeatable).",
            name="attributes",
            multiple=True,
            read=option_values.attributes,
        ),
    ),
    *section(
        "Mail",
        Option("--no-attachments", "Do not rewrite documents attached to a message."),
        Option(
            "--no-dkim-signed",
            "Do not rewrite messages that carry a DKIM signature or an ARC seal.",
        ),
    ),
)

# The parameter of each field.
_NAMES: Final = {
    field.name: f"no_{field.name}" if field.default is True else field.name
    for field in dataclasses.fields(Policy)
} | {"only": "only_links"}

if missing := {*_NAMES.values()} ^ {option.name for option in POLICY}:
    raise TypeError(f"POLICY has no row for these fields of Policy, or only a row: {missing}")


def policy_of(given: dict[str, Any]) -> Policy:
    """Return the policy that the options make, and take these out of the ones given."""
    fields = {field: given.pop(name) for field, name in _NAMES.items()}
    patterns = fields.pop("keep")
    for field, value in fields.items():
        if isinstance(value, tuple):
            fields[field] = tuple(chain.from_iterable(value))
        elif _NAMES[field].startswith("no_"):
            fields[field] = not value
    try:
        return Policy(keep=any_of(patterns) if patterns else None, **fields)
    except re.error as error:
        fix = "rename its groups, or write one expression, as 'A|B'"
        text = f"the expressions cannot be combined: {error}: {fix}"
        raise click.BadParameter(text, param_hint="'--keep'") from None
