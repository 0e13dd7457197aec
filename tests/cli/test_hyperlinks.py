"""The words behind warnings are links in terminals that show them (OSC 8), and nowhere else."""

from __future__ import annotations

from importlib import metadata
from typing import Final

import pytest
from terminals import Terminal

from relbase.cli import hyperlinks, streams
from relbase.cli.hyperlinks import help_url, linked
from relbase.cli.streams import Collected, Verbosity

TERMINALS: Final = [
    ({"TERM": "xterm-kitty"}, True),
    ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, True),
    ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, True),
    ({"TERM": "xterm-256color", "WT_SESSION": "a-b"}, True),
    ({"TERM": "xterm-256color", "VTE_VERSION": "4205"}, False),
    ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, False),
    ({"TERM": "dumb", "WT_SESSION": "a-b"}, False),
    ({}, False),
]


@pytest.mark.parametrize(("variables", "has_links"), TERMINALS, ids=str)
def test_the_word_behind_a_warning_is_a_link_where_the_terminal_shows_it(
    variables: dict[str, str],
    has_links: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("TERM", "TERM_PROGRAM", "VTE_VERSION", "WT_SESSION", "KITTY_WINDOW_ID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    printer = streams.WarningPrinter(Verbosity.COUNTED)
    warned = Collected()
    for name in ("a", "b"):
        warned.add("base-none", f"{name}: warning: [base-none] [base-none]")
    printer.show(warned)
    printer.close()
    word = "[base-none]"
    if has_links:
        url = help_url("base-none")
        assert url.startswith("https://")
        assert url.endswith("/notes/#base-none")
        word = f"\x1b]8;;{url}\x1b\\{word}\x1b]8;;\x1b\\"
    lines = [
        f"a: warning: [base-none] {word}",
        f"1 more warning like it {word}; -v shows all",
    ]
    assert shown.getvalue().splitlines() == lines


def test_only_the_last_word_is_a_link() -> None:
    url = help_url("zip")
    assert linked("[zip] [zip]!", "zip") == f"[zip] \x1b]8;;{url}\x1b\\[zip]\x1b]8;;\x1b\\!"
    assert linked("no word", "zip") == "no word"


def test_a_package_without_metadata_has_no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "metadata", missing)
    hyperlinks.help_url.cache_clear()
    assert linked("[cut]", "cut") == "[cut]"
    hyperlinks.help_url.cache_clear()
