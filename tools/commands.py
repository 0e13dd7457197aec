"""Runs the programs that the tools need."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]


class ToolError(Exception):
    """A tool cannot do its work, or found what is wrong; the text tells what."""


def told(command: Sequence[str], folder: Path = ROOT, **environment: str) -> str:
    """Run a command, and return what it writes to standard output.

    Args:
        command: the program and its arguments.
        folder: in which it runs.
        environment: variables besides those of this process.

    Raises:
        ToolError: if it fails, with all that it wrote.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ToolError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def pip() -> list[str]:
    """Return the command of pip for this environment: that of the system where it has none."""
    if find_spec("pip") is None:
        return ["python3", "-m", "pip", "--python", sys.executable]
    return [sys.executable, "-m", "pip"]
