"""Links from the words behind warnings to the page that explains them (docs/notes.md)."""

from __future__ import annotations

import os
from functools import cache
from typing import Final

_PACKAGE: Final = "relbase"
# Variables that terminals set which show OSC 8 links, and words that their values begin with, if
# some versions or other programs set them too. There is no way to ask a terminal.
_TERMINALS: Final = {
    "DOMTERM": (),
    "KITTY_WINDOW_ID": (),
    "KONSOLE_VERSION": (),
    "TERM": ("alacritty", "foot", "ghostty", "wezterm", "xterm-kitty"),
    "TERM_PROGRAM": ("ghostty", "iTerm", "rio", "vscode", "WezTerm"),
    "VTE_VERSION": ("5", "6", "7", "8", "9"),  # 0.50 and later, as 5000; before, they leak memory
    "WT_SESSION": (),
}


@cache
def help_url(word: str) -> str:
    """Return the address of what the documentation says of a word, or "" without metadata."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        urls = metadata(_PACKAGE).get_all("Project-URL") or ()
    except PackageNotFoundError:
        return ""
    pages = dict(line.split(", ", 1) for line in urls)
    return f"{pages['Documentation']}notes/#{word}" if "Documentation" in pages else ""


def linked(line: str, word: str) -> str:
    """Return a warning with its last `[word]` as a link."""
    before, shown, after = line.rpartition(f"[{word}]")
    url = help_url(word) if shown else ""
    return f"{before}\x1b]8;;{url}\x1b\\{shown}\x1b]8;;\x1b\\{after}" if url else line


def shows_links() -> bool:
    """Return whether the environment is that of a terminal which shows links."""
    return any(
        name in os.environ and os.environ[name].startswith(begins or "")
        for name, begins in _TERMINALS.items()
    )
