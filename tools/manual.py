"""The help of every command as a manual page and for the site.

`python -m tools.manual > relbase.1` writes the manual page.
"""

from __future__ import annotations

import re
import sys
from html import escape
from typing import Final

from click.testing import CliRunner

import relbase
from relbase.cli import group


def commands() -> list[str]:
    """The names of the commands, in the order of the help."""
    return list(group.COMMANDS)


def help_of(name: str) -> str:
    """The help of a command, or of `relbase` itself, as it is printed 80 columns wide."""
    words = [] if name == "relbase" else [name]
    ran = CliRunner().invoke(
        group.relbase, [*words, "--help"], prog_name="relbase", terminal_width=80
    )
    assert ran.exit_code == 0, ran.output
    return ran.output


# An option in the help of a command: its names, its text over one or more lines.
_OPTION: Final = re.compile(
    r"^  (?P<names>(?:-\w, )?(?P<long>--[a-z][\w-]*)(?: \S+)*)"
    r"(?P<text>(?: {2,}|\n {20,})\S.*(?:\n {20,}\S.*)*)",
    re.MULTILINE,
)


def markdown() -> str:
    """Return the help of every command for the site; each option is an anchor."""
    return "\n".join(
        f'## {name}\n\n<pre class="help" tabindex="0"><code>{_anchored(name)}</code></pre>\n'
        for name in ("relbase", *commands())
    )


def _anchored(name: str) -> str:
    def option(match: re.Match[str]) -> str:
        return f'<span id="{anchor(name, match["long"])}">{match[0]}</span>'

    # Markdown would end the block at an empty line, and read what looks like markup.
    return _OPTION.sub(option, escape(help_of(name), quote=False)).replace("\n", "&#10;")


def anchor(command: str, option: str) -> str:
    """Return the anchor of an option on the site."""
    return f"{command}{option}"


def options() -> list[dict[str, str]]:
    """Return an entry of the site's search for each option of each command."""
    return [
        {
            "location": f"reference/command-line/#{anchor(name, match['long'])}",
            "title": f"relbase {name} {escape(match['names'])}",
            "text": escape(" ".join(match["text"].split())),
        }
        for name in commands()
        for match in _OPTION.finditer(help_of(name))
    ]


def _escaped(line: str) -> str:
    r"""A line that troff prints as it is: `\`, `-`, and a `.` or `'` that begins it."""
    line = line.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{line}" if line.startswith((".", "'")) else line


def manual() -> str:
    """The manual page: one section a command, its help as it stands."""
    lines = [f'.TH RELBASE 1 "" "relbase {relbase.__version__}" "User Commands"']
    lines += [".SH NAME", "relbase \\- makes every relative link of a document absolute"]
    for name in ("relbase", *commands()):
        title = "DESCRIPTION" if name == "relbase" else f"RELBASE {name.upper()}"
        lines += [f".SH {title}", ".nf", *map(_escaped, help_of(name).splitlines()), ".fi"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(manual())
