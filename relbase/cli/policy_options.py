"""The options of the policy: each field of `relbase.Policy` has one row in `POLICY`."""

from __future__ import annotations

import dataclasses
import re
from itertools import chain
from typing import Any, Final

import click

from relbase.cli import option_values
from relbase.cli.group import option
from relbase.expressions import any_of
from relbase.policy import Policy

# What each field of the policy is on the command line. A flag inverts the default of its field.
POLICY: Final = {
    "keep_fragments": option(
        "Links",
        "--keep-fragments",
        help="Leave references into the same document ('#top') unchanged.",
    ),
    "keep": option(
        "Links",
        "--keep",
        metavar="REGEX",
        multiple=True,
        read=option_values.pattern,
        help="Leave references that match this regular expression unchanged (repeatable).",
    ),
    "only": option(
        "Links",
        "--only-link",
        "only_links",
        metavar="PLACE",
        multiple=True,
        read=option_values.places,
        help="Rewrite only the links in these places: 'img@src', '*@style', or 'style' for an "
        "element's text (repeatable).",
    ),
    "extended": option(
        "Links",
        "--extended",
        help="Also rewrite what only some readers treat as URLs: RDFa, and values of params, lazy "
        "loading and social media that look like a path ('x.png', but not 'x').",
    ),
    "attachments": option(
        "Mail", "--no-attachments", help="Do not rewrite documents attached to a message."
    ),
    "dkim_signed": option(
        "Mail",
        "--no-dkim-signed",
        help="Do not rewrite messages that carry a DKIM signature or an ARC seal.",
    ),
    "keep_templates": option(
        "Links",
        "--keep-templates",
        basic=True,
        help="Leave references that begin with a placeholder, such as '{{url}}', unchanged, and "
        "never change a placeholder.",
    ),
    "templates": option(
        "Links",
        "--template",
        "templates",
        metavar="TEXT*TEXT",
        multiple=True,
        read=option_values.template,
        help="Also treat text of this form as a placeholder, and imply keep-templates: "
        "'###*###', with one '*' for any text (repeatable).",
    ),
    "ignore_base": option(
        "Links",
        "--ignore-base",
        help="Resolve links as if the document had no '<base>', and leave it unchanged.",
    ),
    "private_bases": option(
        "Links",
        "--private-bases",
        help="Also resolve links against bases that only one program can use, such as "
        "'x-msg://38/'.",
    ),
    "item_links": option(
        "Links",
        "--item-links",
        help="Resolve the HTML of a feed's items against each item's link, as some readers do.",
    ),
    "site_links": option(
        "Links",
        "--site-links",
        help="Resolve the links of a feed against the URL of its site, which it states.",
    ),
    "xml_rows": option(
        "Links",
        "--xml-row",
        "xml_rows",
        metavar="ROW",
        multiple=True,
        read=option_values.xml_rows,
        help="Also rewrite these places in XML: '{namespace}element@attribute=url' (or 'list', "
        "'srcset', 'css', 'html'; without '@attribute' the element's text) (repeatable).",
    ),
    "attributes": option(
        "Links",
        "--attribute",
        "attributes",
        metavar="NAME=SYNTAX",
        multiple=True,
        read=option_values.attributes,
        help="Also rewrite these attributes of HTML: 'data-link=url' (or 'srcset', 'css') "
        "(repeatable).",
    ),
}

# The parameters of options whose names other options have.
_NAMES: Final = {"only": "only_links"}

if missing := {field.name for field in dataclasses.fields(Policy)} ^ POLICY.keys():
    raise TypeError(f"POLICY has no row for these fields of Policy, or only a row: {missing}")


def policy_of(given: dict[str, Any]) -> Policy:
    """Return the policy that the options make, and take these out of the ones given."""
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(Policy):
        name = _NAMES.get(field.name, field.name)
        value = given.pop(f"no_{name}" if field.default is True else name)
        fields[field.name] = not value if field.default is True else value
        if field.name == "keep":
            fields["keep"] = _kept(value)
        elif isinstance(field.default, tuple):
            fields[field.name] = tuple(chain.from_iterable(value))
    return Policy(**fields)


def _kept(patterns: tuple[re.Pattern[str], ...]) -> re.Pattern[str] | None:
    try:
        return any_of(patterns) if patterns else None
    except re.error as error:
        fix = "rename its groups, or write one expression, as 'A|B'"
        text = f"the expressions cannot be combined: {error}: {fix}"
        raise click.BadParameter(text, param_hint="'--keep'") from None
