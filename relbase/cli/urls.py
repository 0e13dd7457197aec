"""`relbase check` and `relbase split`: URLs against the grammar, and their components.

A URL may be megabytes long and harm a terminal: `check` shows excerpts in printable ASCII.
"""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Final

import click

from relbase.cli import streams
from relbase.cli.group import command, table
from relbase.cli.streams import ExitStatus, Tally, excerpt, in_shell, listed, object_line, printable
from relbase.url import grammar as rules
from relbase.url import rfc1808, rfc3986
from relbase.url.grammar import Grammar, Severity, Violation, verdicts
from relbase.url.rfc1808 import category

if TYPE_CHECKING:
    from collections.abc import Mapping


# How many characters of the URL are shown on each side of a place.
_BEFORE: Final = 40
_AFTER: Final = 32
_INDENT: Final = "    "


_CHECK_EPILOG: Final = """\b
Examples:
  relbase check 'http://example.com/a%20b?c' 'ftp://example.com/x;type=d'
  relbase check --base http://example.com/a/b this:that ../../../c
  relbase check --grammar rfc1808 http:g file:/etc/passwd
  relbase check --json ftp://u:p@example.com/x | jq .parts.password

\b
An absolute URL of a known scheme must match the production of that scheme in
RFC 1738 §5; any other URL must match RFC 1808 §2.2. Where RFC 1808 says that
it differs from RFC 1738 ("/" and "?" in a query, "?" in ftp and file paths,
";" in http), what one of the two accepts is a remark and no violation. If the
verdicts differ, both are shown. With --grammar only that one decides: rfc1808
accepts URLs of every scheme, rfc1738 accepts no relative ones.

\b
The objects of --json have the fields version, url, base, rfc1808, rfc1738
(the production that accepts the URL, or null), parts and violations.

\b
Exit status:
  0  every URL matches
  1  a URL violates the grammar, or there are remarks under --strict
  2  wrong usage
"""

_CHECK_OPTIONS: Final = table(
    """\
Options
  --base URL              Check references as relative to this URL, and the URL itself.
  --grammar NAME          Check against rfc1808 or rfc1738 alone.
  --json                  Write JSON Lines, one object per URL.
  --strict                Exit with status 1 on remarks too.
""",
    grammar={"type": click.Choice([grammar.value for grammar in Grammar])},
    json={"dest": "as_json"},
)


@command(
    "check",
    "Check URLs against the grammar of RFC 1808 and RFC 1738.",
    _CHECK_OPTIONS,
    _CHECK_EPILOG,
)
@click.argument("urls", nargs=-1, metavar="[URL]...")
def check(
    urls: tuple[str, ...],
    base: str | None,
    grammar: str | None,
    *,
    as_json: bool,
    strict: bool,
) -> int:
    """Check URLs, absolute or relative, against RFC 1808 §2.2 and RFC 1738 §5.

    "-" or no URL reads URLs from standard input, one per line.
    """
    violating = False
    for name in filter(os.path.isfile, urls):
        fix = in_shell("relbase", "rewrite", "--check", name)
        streams.warn(printable(f"warning: {name!r} is a file; to check its links: {fix}"))
    own = [] if base is None else [(base, None)]
    for url, its_base in chain(own, ((url, base) for url in listed(urls or ("-",)))):
        is_base = base is not None and its_base is None
        found = (
            rules.base_violations(url, grammar) if is_base else rules.violations(url, base, grammar)
        )
        violating |= any(strict or one.kind is Severity.VIOLATION for one in found)
        if as_json:
            by = (
                (one.grammar.value, one.production if one.is_url else None) for one in verdicts(url)
            )
            fields = {"url": url, "base": its_base, **dict(by), "parts": _parts(url)[0]}
            click.echo(object_line({**fields, "violations": found}))
            continue
        click.echo(report(url, found, grammar))
        if grammar is None and (both := _both_verdicts(url)):
            click.echo(f"{_INDENT}{both}")
    return ExitStatus.FOUND if violating else ExitStatus.DONE


def _both_verdicts(url: str) -> str:
    """What the two grammars say of an absolute URL on which they do not agree."""
    generic, own = verdicts(url)
    if generic.is_url == own.is_url or own.production == "url":  # of a relative one
        return ""
    said = ("not a URL", "a URL")
    return (
        f"verdicts: {said[generic.is_url]} by RFC 1808 §2.2 ({generic.production}), "
        f"{said[own.is_url]} by RFC 1738 §5 ({own.production})"
    )


def counted_violations(reference: str, base: str, tally: Tally) -> list[Violation]:
    found = rules.violations(reference, base or None)
    tally.found += any(one.kind is Severity.VIOLATION for one in found)
    return found


def report(url: str, found: list[Violation], grammar: str | None = None) -> str:
    if not found:
        by = (one.production for one in verdicts(url) if one.grammar == grammar)
        production = rules.parse_url(url).production if grammar is None else next(by)
        return f"{_excerpt(url, 0, 0)[0]}\n{_INDENT}ok: {production}"
    lines: list[str] = []
    excerpt = None
    for one in found:
        shown, caret = _excerpt(url, one.start, one.end)
        if shown != excerpt:
            lines.append(shown)
        excerpt = shown
        lines += [caret, _INDENT + _sentence(one)]
    return "\n".join(lines)


def _sentence(found: Violation) -> str:
    where = f"character {found.start + 1}"
    text = f"{found.kind} at {where}: {found.message} ({found.production}, {found.section})"
    remedies = [
        f'write "{_excerpt(remedy, 0, 0)[0]}"' if remedy else "leave it out"
        for remedy in (found.replacement, found.alternative)
        if remedy is not None
    ]
    return "; ".join([text, ", or ".join(remedies)]) if remedies else text


def _excerpt(url: str, start: int, end: int) -> tuple[str, str]:
    """What is shown of a URL for a place in it, and the line with the caret to put below."""
    left = max(0, start - _BEFORE)
    right = min(len(url), max(end, start + 1), start + _AFTER)
    before = ("..." if left else "") + _ascii(url[left:start])
    place = _ascii(url[start:right])
    after = _ascii(url[right : start + _AFTER])
    more = "..." if start + _AFTER < len(url) else ""
    caret = "^" + "~" * (len(place) - 1) if end > start else "^"
    return before + place + after + more, " " * len(before) + caret


def _ascii(text: str) -> str:
    """Text in printable ASCII: neither a terminal nor a reader takes it for anything else."""
    return "".join(
        character if " " <= character <= "~" else ascii(character)[1:-1] for character in text
    )


_SPLIT_EPILOG: Final = """\b
Examples:
  relbase split 'http://a/b/c/d;p?q#f'
  relbase split 'ftp://user:@example.com/%2Fetc/motd;type=a'
  relbase split --json gopher://example.com/7/find | jq .parts.gtype

\b
For each URL: its components by RFC 1808 §2.4 and by RFC 3986 §3, the URL
record that browsers make of it, the parts that RFC 1738 §5 gives it (RFC 1808
§2.2 for a relative URL), and the category of its scheme by RFC 1808 §2.3.
Values stand in quotes: "" is empty.

\b
The objects of --json have the fields version, url, rfc1808, rfc3986, whatwg
(null for a failure), parts (null if it is not a URL) and category. An absent
component is null; parts holds only those that are present.

\b
Exit status:
  0  done: every text can be split
  2  wrong usage
"""


_SPLIT_OPTIONS: Final = table(
    "Options\n  --json  Write JSON Lines, one object per URL.\n", json={"dest": "as_json"}
)


@command("split", "Split URLs into their components.", _SPLIT_OPTIONS, _SPLIT_EPILOG)
@click.argument("urls", nargs=-1, metavar="[URL]...")
def split(urls: tuple[str, ...], *, as_json: bool) -> int:
    """Split each URL, absolute or relative, into its components.

    "-" or no URL reads URLs from standard input, one per line.
    """
    from relbase.url import whatwg  # noqa: PLC0415 (loads a C library: start-up time)

    for url in listed(urls or ("-",)):
        grammar, why = _parts(url)
        generic = rfc1808.split(url)
        kind = None if generic.scheme is None else category(generic.scheme)
        split = {
            "rfc1808": generic._asdict(),
            "rfc3986": rfc3986.split(url)._asdict(),
            "whatwg": None,
        }
        with suppress(ValueError):
            split["whatwg"] = whatwg.split(url)._asdict()
        if as_json:
            more = {"parts": grammar, "category": kind and kind.name.lower()}
            streams.say(object_line({"url": url}, split, more))
            continue
        streams.say(excerpt(url))
        for title, values in split.items():
            _show(title, values, "failure without a base")
        _show("grammar", grammar, why)
        shown = kind and f"{excerpt(generic.scheme or '')}: {kind.value}"
        shown = shown or "of the scheme of its base: it has none"
        streams.say(f"    {'category':10}{shown} (RFC 1808 §2.3)")
    return ExitStatus.DONE


def _parts(url: str) -> tuple[dict[str, object] | None, str]:
    """The parts of a URL that are there, by their names, or why it is not a URL."""
    try:
        fields = streams.fields_of(rules.parse_url(url)) or {}
    except ValueError as error:
        return None, str(error).partition(";")[0]
    return {name: streams.plain(fields[name]) for name in fields if fields[name] is not None}, ""


def _show(title: str, values: Mapping[str, object] | None, otherwise: str) -> None:
    if values is None:
        streams.say(f"    {title:10}{otherwise}")
        return
    width = max(map(len, values)) + 2
    for name, value in values.items():
        streams.say(f"    {title:10}{name:{width}}{_shown(name, value)}")
        title = ""


def _shown(name: str, value: object) -> str:
    if value is None:
        return "absent"
    if name == "production":
        return str(value)
    if isinstance(value, list):  # fieldspecs: pairs of a name and a value
        return ", ".join(f'"{excerpt(field)}"="{_inside(text)}"' for field, text in value)
    return f'"{_inside(str(value))}"'


def _inside(text: str) -> str:
    return excerpt(text) if text else ""
