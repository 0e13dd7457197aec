"""What the documentation takes from the program itself: the help of every command."""

from __future__ import annotations

from typing import Any

from tools.manual import commands, help_of

_MARK = "<!-- the help of every command -->"


def on_page_markdown(markdown: str, **_more: Any) -> str:
    """Put the help of every command where a page asks for it."""
    if _MARK not in markdown:
        return markdown
    pieces = [f"## {name}\n\n```text\n{help_of(name)}```\n" for name in ("relbase", *commands())]
    return markdown.replace(_MARK, "\n".join(pieces))
