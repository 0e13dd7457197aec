"""Completion: the scripts that the documentation tells to install, run by their shells."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"
INSTALLED: Final = {
    "bash": ".local/share/bash-completion/completions/relbase",
    "zsh": ".zfunc/_relbase",
    "fish": ".config/fish/completions/relbase.fish",
}
# How a shell is asked what it would offer after `relbase re` and after `relbase rewrite --prof`.
ASKED: Final = {
    "bash": """
        . ~/.local/share/bash-completion/completions/relbase
        COMP_WORDS=(relbase re); COMP_CWORD=1; _relbase_completion relbase re relbase
        echo "${COMPREPLY[@]}"
        COMP_WORDS=(relbase rewrite --prof); COMP_CWORD=2
        _relbase_completion relbase --prof rewrite; echo "${COMPREPLY[@]}"
    """,
    "fish": """
        complete -C 'relbase re' | string split -f1 \\t
        complete -C 'relbase rewrite --prof' | string split -f1 \\t
    """,
    "zsh": """
        fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit -u -D
        _describe() { print -l -- ${completions_with_descriptions%%:*} }
        compadd() { print -l -- $completions }
        compdef() { : }
        words=(relbase re); CURRENT=2; autoload +X _relbase; _relbase
        _relbase_completion
        words=(relbase rewrite --prof); CURRENT=3; _relbase_completion
    """,
}


def home(directory: Path) -> dict[str, str]:
    """An environment with a home of its own, and `relbase` on its path."""
    program = directory / "bin" / "relbase"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m relbase "$@"\n', "utf-8")
    program.chmod(0o755)
    return {
        **os.environ,
        "HOME": str(directory),
        "XDG_CONFIG_HOME": str(directory / ".config"),
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
    }


@pytest.mark.parametrize("shell", INSTALLED)
def test_what_the_documentation_installs_completes(shell: str, tmp_path: Path) -> None:
    environment = home(tmp_path)
    [command] = re.findall(
        f"^_RELBASE_COMPLETE={shell}_source relbase > .+$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    path = tmp_path / INSTALLED[shell]
    path.parent.mkdir(parents=True)
    run = {"env": environment, "cwd": tmp_path, "capture_output": True, "text": True}
    subprocess.run(["sh", "-c", command], check=True, **run)  # type: ignore[call-overload]
    assert path.stat().st_size > 300
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    asked = subprocess.run([shell, "-c", ASKED[shell]], check=False, **run)  # type: ignore[call-overload]
    assert {"rewrite", "resolve", "--profile"} <= set(asked.stdout.split()), asked.stderr
    assert "check" not in asked.stdout.split()
