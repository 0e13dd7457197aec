"""`relbase check`: URLs against the grammar of RFC 1808 §2.2 and RFC 1738 §5.

Strategy: one URL at a time, from the arguments or a line each from standard input, to findings
(`relbase.url.grammar`), to JSON Lines or to text. The text shows an excerpt of the URL around each
place with a caret under it: a URL may be megabytes long, and may hold whatever harms a terminal,
so that everything but printable ASCII is shown as an escape.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final, TypeAlias

import click

from relbase.url.grammar import Kind, base_violations, parse_url, violations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from relbase.url.grammar import Violation

    # A URL, the base it was judged on, and the findings.
    _Judgement: TypeAlias = tuple[str, str | None, list[Violation]]

# How many characters of the URL are shown on each side of a place.
_BEFORE: Final = 40
_AFTER: Final = 32

_INDENT: Final = "    "


_EPILOG: Final = """\b
Examples:
  relbase check 'http://example.com/a%20b?c' 'ftp://example.com/x;type=d'
  relbase check --base http://example.com/a/b this:that ../../../c
  relbase check --json http://example.com/ | jq .violations

\b
The exit status is 1 when a URL violates the grammar. Remarks on where the RFCs
differ, and on recommended practice, count under --strict alone.
"""


@click.command(
    "check",
    short_help="Check URLs against the grammar of RFC 1808 and RFC 1738.",
    epilog=_EPILOG,
)
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--base", metavar="URL", help="Judge references as relative to this URL, and it too.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON Lines, one object for each URL.")
@click.option("--strict", is_flag=True, help="Exit with 1 on remarks too.")
@click.pass_context
def check(
    context: click.Context, urls: tuple[str, ...], base: str | None, *, as_json: bool, strict: bool
) -> None:
    """Check URLs, absolute or relative, against RFC 1808 §2.2 and RFC 1738 §5.

    "-" or no URL at all reads a list from standard input, a URL a line.
    """
    violating = False
    for url, its_base, found in _judged(urls or ("-",), base):
        violating |= any(strict or one.kind is Kind.VIOLATION for one in found)
        click.echo(_json_line(url, its_base, found) if as_json else report(url, found))
    context.exit(1 if violating else 0)


def _judged(urls: Iterable[str], base: str | None) -> Iterator[_Judgement]:
    if base is not None:
        yield base, None, base_violations(base)
    for url in _listed(urls):
        yield url, base, violations(url, base)


def _listed(urls: Iterable[str]) -> Iterator[str]:
    """The URLs, those of standard input in the place of "-"; empty lines are none."""
    for url in urls:
        if url != "-":
            yield url
            continue
        # There is no standard input when it was closed before the start.
        for line in sys.stdin.buffer if sys.stdin else ():
            if written := line.rstrip(b"\r\n"):
                yield written.decode("utf-8", "surrogateescape")


def _json_line(url: str, base: str | None, found: list[Violation]) -> str:
    listed = [one._asdict() for one in found]
    return json.dumps({"url": url, "base": base, "violations": listed})


def report(url: str, found: list[Violation]) -> str:
    """The report on one URL for people.

    Args:
        url: the URL.
        found: what was found in it.
    """
    if not found:
        shown = _excerpt(url, 0, 0)[0]
        return f"{shown}\n{_INDENT}ok: {parse_url(url).production}"
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
    before = ("..." if left else "") + _shown(url[left:start])
    place = _shown(url[start:right])
    after = _shown(url[right : start + _AFTER])
    more = "..." if start + _AFTER < len(url) else ""
    caret = "^" + "~" * (len(place) - 1) if end > start else "^"
    return before + place + after + more, " " * len(before) + caret


def _shown(text: str) -> str:
    """Text in printable ASCII: neither a terminal nor a reader takes it for anything else."""
    return "".join(
        character if " " <= character <= "~" else ascii(character)[1:-1] for character in text
    )
