"""How the tests run the command line: inside of this process, or as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner, Result

import relbase
from relbase.cli import group

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from relbase.session.session import OpenedDocument

PROGRAM = [sys.executable, "-m", "relbase"]


def run(*arguments: str | os.PathLike[str], stdin: bytes = b"") -> Result:
    """Run a command inside of this process; an exception that it lets out is raised."""
    result = CliRunner().invoke(group.relbase, [os.fspath(one) for one in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def done(*arguments: str | os.PathLike[str], stdin: bytes = b"") -> Result:
    """Run a command that ends with status 0."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result


def told(status: int, *arguments: str | os.PathLike[str], stdin: bytes = b"") -> str:
    """What a command that ends with a status says on standard error, on one line."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == status, result.output
    return " ".join(result.stderr.split())


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[bytes], object]) -> None:
    """Do something whenever a document is about to be rewritten; it gets the document."""
    real = relbase.session.run.rewrite

    def acting(given: OpenedDocument) -> relbase.Result:
        act(given.document.data)
        return real(given)

    monkeypatch.setattr("relbase.session.run.rewrite", acting)


def program(
    *arguments: str | bytes | os.PathLike[str], **more: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run the program itself."""
    return subprocess.run(
        [*PROGRAM, *arguments], capture_output=True, timeout=60, check=False, **more
    )
