"""The manual page, made from the help of every command: `python -m tools.manual > relbase.1`."""

from __future__ import annotations

import sys

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
