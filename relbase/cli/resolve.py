"""`relbase resolve`: what references mean against a base, in one profile or in all of them."""

from __future__ import annotations

import shutil
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from relbase.bases.layers import unsuitable
from relbase.cli import streams
from relbase.cli.group import command, table
from relbase.cli.streams import ExitStatus, Tally, excerpt, listed, object_line, printable
from relbase.url.resolver import Profile, Resolver

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relbase.url.step import Step

_WIDTH: Final = 120  # a table that is wider than the terminal, or this in a pipe, is a list


class _Resolved(NamedTuple):
    """What became of a reference: `url` is None where the algorithm fails, as `error` says."""

    base: str
    reference: str
    profile: str
    url: str | None
    error: str | None
    steps: tuple[Step, ...] = ()


_EPILOG: Final = """\b
Examples:
  relbase resolve http://a/b/c/d ../g
  relbase resolve 'http://a/b/c/d;p?q#f' ../../../g ';x' '' http:g --all
  relbase resolve --profile whatwg http://a/b -- -g
  relbase resolve http://a/b/c/d ../g --steps --all

\b
--steps shows the steps of RFC 1808 §4 by their numbers, those of RFC 3986
§5.2, or the URL records that the WHATWG URL parser starts from and ends with.

\b
Exit status:
  0  done
  1  BASE is not suitable as a base, under --strict
  2  wrong usage
  3  a reference has no result (only in profile whatwg, and not with --all)
"""

_OPTIONS: Final = table(
    """\
Options
  --profile NAME          Resolve by rfc1808 (default), rfc3986 or whatwg (as browsers do).
  --all                   Show the results of all profiles side by side.
  --steps                 Show each step of the algorithm.
  --json                  Write JSON Lines, one object per result.
  --strict                Exit with status 1 on warnings.
""",
    profile={
        "type": click.Choice([profile.value for profile in Profile]),
        "default": Profile.RFC1808.value,
    },
    all={"dest": "every"},
    json={"dest": "as_json"},
)


@command("resolve", "Resolve references against a base URL.", _OPTIONS, _EPILOG)
@click.argument("base")
@click.argument("references", metavar="REF...", nargs=-1, required=True)
def resolve(
    base: str,
    references: tuple[str, ...],
    *,
    profile: str,
    every: bool,
    steps: bool,
    as_json: bool,
    strict: bool,
) -> int:
    """Resolve each REF against BASE and print the absolute URLs, one per line.

    "-" reads references from standard input, one per line. With several references each stands
    before its result. Unprintable characters are shown as escapes; --json has them unescaped.
    """
    tally = Tally()
    if why := unsuitable(base):
        hint = "" if unsuitable(references[0]) else ": the base comes first, before the references"
        streams.warn(f"warning: {excerpt(base)} is not suitable as a base: {why}{hint}")
        tally.warnings += 1
    resolvers: dict[str, Resolver | None] = {}
    for one in Profile if every else [Profile(profile)]:
        resolvers[one.value] = None
        with suppress(ValueError):
            resolvers[one.value] = Resolver(base, one)
    rows = [
        [_resolved(base, reference, *by, steps=steps) for by in resolvers.items()]
        for reference in listed(references)
    ]
    if not rows:  # an empty list on standard input
        return ExitStatus.DONE
    tally.failed = 0 if every else sum(row[0].url is None for row in rows)
    if as_json:
        for resolved in chain.from_iterable(rows):
            fields = resolved._asdict()
            taken = {"steps": fields.pop("steps")}
            streams.say(object_line(fields, taken if steps else {}))
    elif steps:
        _show_steps(chain.from_iterable(rows))
    elif every:
        _show_all(rows)
    else:
        _show([row[0] for row in rows])
    return tally.status(strict=strict)


def _resolved(
    base: str, reference: str, profile: str, resolver: Resolver | None, *, steps: bool
) -> _Resolved:
    if resolver is None:
        return _Resolved(base, reference, profile, None, "the base does not parse")
    taken = tuple(resolver.steps(reference)) if steps else ()
    try:
        url, error = resolver.resolve(reference), None
    except ValueError:
        url, error = None, "the reference does not parse"
    return _Resolved(resolver.base, reference, profile, url, error, taken)


def _show_steps(resolved: Iterable[_Resolved]) -> None:
    for one in resolved:
        streams.say(f"{excerpt(one.reference)}  ({one.profile})")
        if not one.steps:  # the base itself is a failure
            streams.say(f"    failure: {one.error}")
        width = max((len(step.number) for step in one.steps), default=0)
        indent = " " * (4 + width + 2)
        for step in one.steps:
            streams.say(f"    {step.number:{width}}  {printable(step.text)}")
            if step.value is not None:
                streams.say(f"{indent}-> {excerpt(step.value)}")


def _show(resolved: list[_Resolved]) -> None:
    """One result is printed alone, so that a shell can take it; several with their references."""
    alone = len(resolved) == 1
    width = max(len(excerpt(one.reference)) for one in resolved)
    for one in resolved:
        if one.url is None:
            streams.warn(f"error: {excerpt(one.reference)}: {one.error}, says {one.profile}")
        elif alone:
            streams.say(printable(one.url))
        else:
            streams.say(f"{excerpt(one.reference):{width}}  {printable(one.url)}")


def _show_all(rows: list[list[_Resolved]]) -> None:
    header = ["reference", *(resolved.profile for resolved in rows[0])]
    body = [
        [
            excerpt(row[0].reference),
            *(f"failure: {one.error}" if one.url is None else printable(one.url) for one in row),
        ]
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]
    if sum(widths) + 2 * (len(widths) - 1) <= shutil.get_terminal_size((_WIDTH, 0)).columns:
        for cells in (header, ["-" * width for width in widths], *body):
            streams.say("  ".join(map(str.ljust, cells, widths)).rstrip())
        return
    for reference, *cells in body:
        streams.say(reference)
        for profile, cell in zip(header[1:], cells, strict=True):
            streams.say(f"    {profile:{len('rfc1808')}}  {cell}")
