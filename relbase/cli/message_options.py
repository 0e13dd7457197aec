"""The options on the URLs of messages: --message-map and --message-base (rule 16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from relbase.bases.layers import unsuitable
from relbase.cli import values
from relbase.cli.help import table
from relbase.cli.streams import printable

if TYPE_CHECKING:
    from relbase.bases.headers import MessageUrlTable


def message_map(value: str) -> dict[str, str]:
    from relbase.bases.headers import key  # noqa: PLC0415 (start-up time)

    lines = values.read_file(value, "give a file with a selector, a tab and a URL on each line")
    found: dict[str, str] = {}
    for number, line in enumerate(lines.decode("utf-8", "surrogateescape").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        selector, _, url = (piece.strip() for piece in line.partition("\t"))
        try:
            selected = key(selector)
            why = unsuitable(url)
            if why is None and found.setdefault(selected, url) != url:
                why = "another line gives these messages another URL"
        except ValueError as error:
            why = str(error)
        if why:
            shown = printable(line)[:_SHOWN]
            text = f"{printable(value)}:{number}: '{shown}': {why}"
            raise click.BadParameter(f"{text}. Write a selector, a tab and an absolute URL")
    return found


_SHOWN: Final = 200


def fields(value: str) -> tuple[str, ...]:
    names = tuple(name.strip().lower().removesuffix(":") for name in value.split(","))
    wrong = [name for name in names if not name.isascii() or not name or set(name) & _NOT_OF_NAMES]
    if wrong:
        text = f"{printable(wrong[0])!r} is not the name of a header field"
        raise click.BadParameter(f"{text}: give some, such as List-Archive,Archived-At")
    return names


_NOT_OF_NAMES: Final = frozenset(" \t:<>")

OPTIONS: Final = table(
    """\
Mail
  --message-map FILE      Read the URLs of messages from FILE: on each line a Message-ID,
                          List-Id, address or @domain, a tab and a URL.
  --message-base FIELD,...  Use the URL in this header field of a message, such as X-RSS-URL, as
                          its URL.
""",
    message_map={"type": click.Path(allow_dash=True, readable=False), "read": message_map},
    message_base={"read": fields},
)


def message_urls(given: dict[str, Any]) -> MessageUrlTable | None:
    """Take the values of the options; return what knows the URLs, None where none are given."""
    mapped, names = given.pop("message_map"), given.pop("message_base")
    if mapped is None and names is None:
        return None
    from relbase.bases.headers import MessageUrlTable  # noqa: PLC0415 (start-up time)

    return MessageUrlTable(mapped or {}, names or ())
