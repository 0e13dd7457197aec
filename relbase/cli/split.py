"""`relbase split`: the components of URLs, by each profile and by the grammar of their scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from relbase.cli import streams
from relbase.cli.help import command, table
from relbase.cli.jsonl import object_line, parts
from relbase.cli.streams import excerpt, listed
from relbase.url import rfc1808, rfc3986
from relbase.url.schemes import category

if TYPE_CHECKING:
    from collections.abc import Mapping

_EPILOG: Final = """\b
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


_OPTIONS: Final = table(
    "Options\n  --json  Write JSON Lines, one object per URL.\n", json={"dest": "as_json"}
)


@command("split", "Split URLs into their components.", _OPTIONS, _EPILOG)
@click.argument("urls", nargs=-1, metavar="[URL]...")
def split(urls: tuple[str, ...], *, as_json: bool) -> None:
    """Split each URL, absolute or relative, into its components.

    "-" or no URL reads URLs from standard input, one per line.
    """
    for url in listed(urls or ("-",)):
        grammar, why = parts(url)
        category, text = _category(url)
        split = {
            "rfc1808": rfc1808.split(url)._asdict(),
            "rfc3986": rfc3986.split(url)._asdict(),
            "whatwg": _record(url),
        }
        if as_json:
            streams.say(object_line({"url": url, **split, "parts": grammar, "category": category}))
            continue
        streams.say(excerpt(url))
        for title, values in split.items():
            _show(title, values, "failure without a base")
        _show("grammar", grammar, why)
        streams.say(f"    {'category':10}{text}")


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


def _record(url: str) -> dict[str, object] | None:
    from relbase.url import whatwg  # noqa: PLC0415 (loads a C library: start-up time)

    try:
        return whatwg.split(url)._asdict()
    except ValueError:
        return None


def _category(url: str) -> tuple[str | None, str]:
    """The category of §2.3, and how it is reported."""
    scheme = rfc1808.split(url).scheme
    if scheme is None:
        return None, "of the scheme of its base: it has none (RFC 1808 §2.3)"
    found = category(scheme)
    return found.name.lower(), f"{excerpt(scheme)}: {found.value} (RFC 1808 §2.3)"
