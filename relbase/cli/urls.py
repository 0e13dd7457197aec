"""`relbase resolve`, `check` and `split`: what URLs mean, and whether they are well-formed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from relbase.bases.layers import unsuitable
from relbase.cli import streams
from relbase.cli.group import Option, command
from relbase.cli.streams import ExitStatus, Tally, excerpt, in_shell, listed, object_line, printable
from relbase.grammar import urls as rules
from relbase.grammar.characters import Severity, Violation
from relbase.grammar.urls import Grammar, GrammarName, verdicts
from relbase.url import rfc1808
from relbase.url.credentials import masked
from relbase.url.profiles import DEFAULT, Profile, algorithm, offered
from relbase.url.resolver import Resolver
from relbase.url.rfc1808 import category

if TYPE_CHECKING:
    from relbase.url.step import Step

_WIDTH: Final = 120  # a table wider than the terminal, or in a pipe than this, becomes a list
_BEFORE, _AFTER = 40, 32  # the characters of a URL that are shown on each side of a place


class _Resolved(NamedTuple):
    base: str
    reference: str
    profile: str
    url: str | None
    error: str | None  # why there is no URL
    steps: tuple[Step, ...] = ()


@command(
    "Resolve references against a base URL.",
    """\
Examples:
  relbase resolve http://a/b/c/d ../g
  relbase resolve 'http://a/b/c/d;p?q#f' ../../../g ';x' '' http:g --all
  relbase resolve --profile whatwg http://a/b -- -g
  relbase resolve http://a/b/c/d ../g --steps --all

--steps shows the steps of RFC 1808 §4 by their numbers, those of RFC 3986
§5.2, or the URL records that the WHATWG URL parser starts from and ends with.

Exit status:
  0  done
  1  BASE is not suitable as a base, under --strict
  2  wrong usage
  3  a reference has no result (only in profile whatwg, and not with --all)
""",
    Option(
        "--profile NAME",
        f"Resolve by {offered()}.",
        default=DEFAULT.value,
        type=click.Choice([*(profile.value for profile in Profile), "all"]),
    ),
    Option("--all", "Show the results of all profiles side by side.", name="every"),
    Option("--steps", "Show each step of the algorithm."),
    Option("--json", "Write JSON Lines, one object per result."),
    Option("--strict", "Exit with status 1 on warnings."),
    click.Argument(["base"]),
    click.Argument(["references"], metavar="REF...", nargs=-1, required=True),
)
def resolve(
    base: str,
    references: tuple[str, ...],
    *,
    profile: str,
    every: bool,
    steps: bool,
    json: bool,
    strict: bool,
) -> int:
    """Resolve each REF against BASE and print the absolute URLs, one per line.

    "-" reads references from standard input, one per line. With several references, each
    precedes its result. Unprintable characters are shown as escapes; --json has them unescaped.
    """
    tally, every = Tally(), every or profile == "all"
    if why := unsuitable(base):
        hint = "" if unsuitable(references[0]) else ": the base comes first, before the references"
        streams.warn(f"warning: {excerpt(masked(base))} is not suitable as a base: {why}{hint}")
        tally.warnings += 1
    resolvers: dict[str, Resolver | None] = {}  # parsed once, since a base may be long
    for chosen in Profile if every else [Profile(profile)]:
        resolvers[chosen.value] = None
        with suppress(ValueError):
            resolvers[chosen.value] = Resolver(base, chosen)
    rows = [
        [_resolved(base, reference, *by, steps=steps) for by in resolvers.items()]
        for reference in listed(references)
    ]
    tally.failed = 0 if every else sum(row[0].url is None for row in rows)
    if json:
        for resolved in chain.from_iterable(rows):
            fields = resolved._asdict()
            if not steps:
                del fields["steps"]
            streams.say(object_line(fields))
    elif steps:
        _show_steps(chain.from_iterable(rows))
    elif every and rows:
        _show_all(rows)
    else:
        _show_one_each([row[0] for row in rows])
    return tally.status(strict=strict)


def _resolved(
    base: str, reference: str, profile: str, resolver: Resolver | None, *, steps: bool
) -> _Resolved:
    if resolver is None:
        return _Resolved(base, reference, profile, None, "the base does not parse")
    taken = tuple(resolver.steps(reference)) if steps else ()
    with suppress(ValueError):
        url = resolver.resolve(reference)
        return _Resolved(resolver.base, reference, profile, url, None, taken)
    why = "the reference does not parse"
    with suppress(ValueError):  # if it resolves elsewhere, the base is the problem
        Resolver("http://h/", Profile(profile)).resolve(reference)
        why = "nothing relative can be resolved against the base"
    return _Resolved(resolver.base, reference, profile, None, why, taken)


def _show_steps(resolved: Iterable[_Resolved]) -> None:
    for result in resolved:
        streams.say(f"{excerpt(result.reference)}  ({result.profile})")
        if not result.steps:  # the base does not parse
            streams.say(f"    failure: {result.error}")
        width = max((len(step.number) for step in result.steps), default=0)
        for step in result.steps:
            streams.say(f"    {step.number:{width}}  {printable(step.text)}")
            if step.value is not None:
                streams.say(f"    {'':{width}}  -> {excerpt(step.value)}")


def _show_one_each(resolved: list[_Resolved]) -> None:
    """Print one result alone, so that a shell can use it; several with their references."""
    width = max((len(excerpt(result.reference)) for result in resolved), default=0)
    for result in resolved:
        if result.url is None:
            shown = f"{excerpt(masked(result.reference))} has no result in profile {result.profile}"
            streams.warn(f"error: {shown}: {result.error}")
        elif len(resolved) == 1:
            streams.say(printable(result.url))
        else:
            streams.say(f"{excerpt(result.reference):{width}}  {printable(result.url)}")


def _show_all(rows: list[list[_Resolved]]) -> None:
    header = ["reference", *(resolved.profile for resolved in rows[0])]
    body = [[excerpt(row[0].reference), *map(_result, row)] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]
    if sum(widths) + 2 * (len(widths) - 1) <= shutil.get_terminal_size((_WIDTH, 0)).columns:
        for cells in (header, ["-" * width for width in widths], *body):
            streams.say("  ".join(map(str.ljust, cells, widths)).rstrip())
        return
    for reference, *cells in body:
        streams.say(reference)
        for profile, cell in zip(header[1:], cells, strict=True):
            streams.say(f"    {profile:{len('rfc1808')}}  {cell}")


def _result(resolved: _Resolved) -> str:
    return f"failure: {resolved.error}" if resolved.url is None else printable(resolved.url)


@command(
    "Check URLs against the grammar of RFC 1808 and RFC 1738.",
    """\
Examples:
  relbase check 'http://example.com/a%20b?c' 'ftp://example.com/x;type=d'
  relbase check --base http://example.com/a/b this:that ../../../c
  relbase check --grammar rfc1808 http:g file:/etc/passwd
  relbase check --json ftp://u:p@example.com/x | jq .parts.password

An absolute URL of a known scheme must match the production of that scheme in
RFC 1738 §5; any other URL must match RFC 1808 §2.2. Where RFC 1808 says that
it differs from RFC 1738 ("/" and "?" in a query, "?" in ftp and file paths,
";" in http), what only one of them accepts gets a remark, not a violation. If
the verdicts differ, both are shown. With --grammar only that one decides:
rfc1808 accepts URLs of every scheme, rfc1738 accepts no relative ones.

To find the relative links of documents, use "relbase rewrite --check".

The objects of --json have the fields version, url, base, rfc1808, rfc1738
(the production that accepts the URL, or null), parts and violations.

Exit status:
  0  every URL matches
  1  a URL violates the grammar, or there are remarks under --strict
  2  wrong usage
""",
    Option("--base URL", "Check references as relative to this URL, and the URL itself."),
    Option(
        "--grammar NAME",
        "Check against rfc1808 or rfc1738 alone.",
        type=click.Choice([grammar.value for grammar in Grammar]),
    ),
    Option("--json", "Write JSON Lines, one object per URL."),
    Option("--strict", "Exit with status 1 on remarks too."),
    click.Argument(["urls"], nargs=-1, metavar="[URL]..."),
)
def check(
    urls: tuple[str, ...],
    base: str | None,
    grammar: GrammarName | None,
    *,
    json: bool,
    strict: bool,
) -> int:
    """Check URLs, absolute or relative, against RFC 1808 §2.2 and RFC 1738 §5.

    "-" or no URL reads URLs from standard input, one per line.
    """
    violates = False
    for name in filter(os.path.exists, urls):
        fix = in_shell("relbase", "rewrite", "--check", name)
        what = "directory" if os.path.isdir(name) else "file"
        if name.strip("./"):  # else it is `.` or `..`, as in RFC 1808 §5, which always exist
            streams.warn(printable(f"warning: {name!r} is a {what}; to check its links: {fix}"))
    first = [] if base is None else [(base, None)]
    for url, its_base in chain(first, ((url, base) for url in listed(urls or ("-",)))):
        if base is not None and its_base is None:
            flaws = rules.base_violations(url, grammar)
        else:
            flaws = rules.violations(url, base, grammar)
        violates |= any(strict or flaw.kind is Severity.VIOLATION for flaw in flaws)
        both = generic, own = verdicts(url)
        if json:
            by = {each.grammar.value: each.production if each.is_url else None for each in both}
            fields = {"url": url, "base": its_base, **by, "parts": _parts(url)[0]}
            streams.say(object_line(fields, {"violations": flaws}))
            continue
        streams.say(report(url, flaws, grammar))
        # RFC 1738 says nothing about relative URLs.
        if grammar is None and generic.is_url != own.is_url and own.production != "url":
            verdict, other = (("not a URL", "a URL")[by.is_url] for by in both)
            text = f"{verdict} by RFC 1808 §2.2 ({generic.production}), {other} by RFC 1738 §5"
            streams.say(f"    verdicts: {text} ({own.production})")
    return ExitStatus.FOUND if violates else ExitStatus.DONE


def report(url: str, flaws: list[Violation], grammar: str | None = None) -> str:
    if not flaws:
        by = (verdict.production for verdict in verdicts(url) if verdict.grammar == grammar)
        production = rules.parse_url(url).production if grammar is None else next(by)
        return f"{_excerpt(url, 0, 0)[0]}\n    ok: {production}"
    lines: list[str] = []
    before = None
    for flaw in flaws:
        shown, caret = _excerpt(url, flaw.start, flaw.end)
        lines += [*([shown] if shown != before else []), caret, f"    {_sentence(flaw)}"]
        before = shown
    return "\n".join(lines)


def _sentence(flaw: Violation) -> str:
    where = f"character {flaw.start + 1}"
    text = f"{flaw.kind} at {where}: {flaw.message} ({flaw.production}, {flaw.section})"
    given = [way for way in (flaw.replacement, flaw.alternative) if way is not None]
    ways = [f'write "{_excerpt(way, 0, 0)[0]}"' if way else "leave it out" for way in given]
    return f"{text}; {', or '.join(ways)}" if ways else text


def _excerpt(url: str, start: int, end: int) -> tuple[str, str]:
    """An excerpt of a URL around a place in it, and the line with a caret to print below."""
    left = max(0, start - _BEFORE)
    right = min(len(url), max(end, start + 1), start + _AFTER)
    before = ("..." if left else "") + _ascii(url[left:start])
    place = _ascii(url[start:right])
    after = _ascii(url[right : start + _AFTER])
    more = "..." if start + _AFTER < len(url) else ""
    caret = "^" + "~" * (len(place) - 1) if end > start else "^"
    return before + place + after + more, " " * len(before) + caret


def _ascii(text: str) -> str:
    """Text in printable ASCII, which neither terminals nor readers can misunderstand."""
    return "".join(letter if " " <= letter <= "~" else ascii(letter)[1:-1] for letter in text)


@command(
    "Split URLs into their components.",
    """\
Examples:
  relbase split 'http://a/b/c/d;p?q#f'
  relbase split 'ftp://user:@example.com/%2Fetc/motd;type=a'
  relbase split --json gopher://example.com/7/find | jq .parts.gtype

For each URL: its components by RFC 1808 §2.4 and by RFC 3986 §3, the URL
record that browsers make of it, the parts that RFC 1738 §5 gives it (RFC 1808
§2.2 for a relative URL), and the category of its scheme by RFC 1808 §2.3.
Values are in quotes; "" is empty.

The objects of --json have the fields version, url, rfc1808, rfc3986, whatwg
(null for a failure), parts (null if it is not a URL) and category. An absent
component is null; parts holds only those that are present.

Exit status:
  0  done: every text can be split
  2  wrong usage
""",
    Option("--json", "Write JSON Lines, one object per URL."),
    click.Argument(["urls"], nargs=-1, metavar="[URL]..."),
)
def split(urls: tuple[str, ...], *, json: bool) -> int:
    """Split each URL, absolute or relative, into its components.

    "-" or no URL reads URLs from standard input, one per line.
    """
    for url in listed(urls or ("-",)):
        grammar, why = _parts(url)
        generic = rfc1808.split(url)
        kind = None if generic.scheme is None else category(generic.scheme)
        split: dict[str, Any] = dict.fromkeys(Profile)
        for profile in Profile:
            with suppress(ValueError):
                split[profile] = algorithm(profile).split(url)
        if json:
            more = {"parts": grammar, "category": kind and kind.name.lower()}
            streams.say(object_line({"url": url}, split, more))
            continue
        streams.say(excerpt(url))
        for title, values in split.items():
            _show(title, streams.fields_of(values) or {}, "failure without a base")
        _show("grammar", grammar or {}, why)
        shown = kind and f"{excerpt(generic.scheme or '')}: {kind.value}"
        shown = shown or "that of its base (a relative URL has no scheme)"
        streams.say(f"    {'category':10}{shown} (RFC 1808 §2.3)")
    return ExitStatus.DONE


def _parts(url: str) -> tuple[dict[str, object] | None, str]:
    """The parts that a URL has, by name, or why it is not a URL."""
    try:
        fields = streams.fields_of(rules.parse_url(url)) or {}
    except ValueError as error:
        return None, str(error).partition(";")[0]
    return {name: streams.plain(fields[name]) for name in fields if fields[name] is not None}, ""


def _show(title: str, values: Mapping[str, object], otherwise: str) -> None:
    if not values:
        streams.say(f"    {title:10}{otherwise}")
    width = max(map(len, values), default=0) + 2
    for name, value in values.items():
        streams.say(f"    {title:10}{name:{width}}{_shown(name, value)}")
        title = ""


def _shown(name: str, value: object) -> str:
    if value is None:
        return "absent"
    if name == "production":
        return str(value)
    if isinstance(value, list):  # fieldspecs: pairs of a name and a value
        return ", ".join(f'"{excerpt(field)}"={_shown("", text)}' for field, text in value)
    return f'"{excerpt(str(value))}"' if value else '""'
