"""`relbase`: its commands and their help, what is loaded, completion, and mistaken commands."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import pytest
from archives import gz, http, response
from extras import needed
from held import SAVED, enex, entry, har, note, webarchive
from rows import cases
from running import done, program, run, told

from relbase import Policy
from relbase.cli import options
from relbase.cli.group import COMMANDS as MODULES
from relbase.cli.group import Command, relbase
from relbase.scan import binding

if TYPE_CHECKING:
    from relbase.cli.options import Settings

TABLES: Final = Path(__file__).with_name("group.txt")
CONTEXT: Final = click.Context(relbase, info_name="relbase")
COMMANDS: Final = relbase.list_commands(CONTEXT)


def command(name: str) -> click.Command:
    found = relbase.get_command(CONTEXT, name)
    assert found is not None
    return found


def test_the_commands() -> None:
    assert COMMANDS == ["rewrite", "links", "base", "resolve", "check", "split", "explain"]
    assert [command(name).name for name in COMMANDS] == COMMANDS
    assert relbase.get_command(CONTEXT, "options") is None


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_fits_a_terminal(name: str) -> None:
    brief, whole = (done(name, flag).stdout.splitlines() for flag in ("-h", "--help"))
    assert brief[0].startswith(f"Usage: relbase {name}")
    assert brief[-1] == f"  relbase {name} --help shows all options."
    assert any(line.startswith(f"    relbase {name} ") for line in brief)
    assert len(brief) <= min(40, len(whole) - 1)
    assert [line for line in brief + whole if len(line) > 80] == []


def test_the_short_help_of_the_program_names_the_commands() -> None:
    brief, whole = (done(flag).stdout for flag in ("-h", "--help"))
    assert all(f"\n  {name} " in brief for name in COMMANDS)
    assert brief.endswith("  relbase COMMAND -h shows the options of a command.\n")
    assert "Exit status" in whole
    assert "Exit status" not in brief


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help(name: str) -> None:
    shown = " ".join(run(name, "--help").stdout.split())
    assert command(name).help
    for parameter in command(name).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.opts
            assert parameter.help[:1].isupper(), parameter.help
            assert parameter.help.endswith("."), parameter.help
            assert parameter.opts[0] in shown


def examples() -> list[list[str]]:
    """The command lines of every help, without what a shell does with them."""
    texts = (run(*command, "--help").stdout for command in ([], *([name] for name in COMMANDS)))
    lines = re.findall(
        r"^    (?:.*\| )?relbase (.*)$", "\n".join(texts).replace("\\\n", " "), re.MULTILINE
    )
    return [shlex.split(re.split(r" [<>|] ", line)[0]) for line in lines]


@pytest.mark.parametrize("arguments", examples(), ids=shlex.join)
def test_every_example_can_be_run(arguments: list[str], tmp_path: Path) -> None:
    if "--parquet" in arguments:
        needed("pyarrow")
    (tmp_path / "page.html").write_bytes(b"<a href=x>")
    (tmp_path / "headers.txt").write_bytes(b"Base: http://h/\n")
    (tmp_path / "mail.eml").write_bytes(b"Base: http://h/\n\n")
    (tmp_path / "inbox.mbox").write_bytes(b"From a 2024\nBase: http://h/\n\n")
    for directory in ("cur", "new", "tmp"):
        (tmp_path / "Maildir" / directory).mkdir(parents=True)
    for directory in ("site", "saved", "mirror/h.example"):
        (tmp_path / directory).mkdir(parents=True)
        (tmp_path / directory / "page.html").write_bytes(b"<p>")
    (tmp_path / "urls.tsv").write_bytes(b"page.html\thttp://h/page.html\n")
    (tmp_path / "crawl.warc.gz").write_bytes(gz(response(1, "http://h/", http(b"<a href=x>"))))
    (tmp_path / "page.webarchive").write_bytes(webarchive(SAVED))
    (tmp_path / "log.har").write_bytes(har(entry("http://h/", "<a href=x>")))
    (tmp_path / "notes.enex").write_bytes(enex(note("<p>")))
    meant = {"*.html": "page.html", "*.warc.gz": "crawl.warc.gz"}
    words = [meant.get(word, word) for word in arguments]
    done(*words, stdin=b"<a href=x>")


def test_the_examples_were_found() -> None:
    assert len(examples()) >= 12


def test_without_arguments_it_shows_its_help_as_a_mistake() -> None:
    result = run()
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Usage: relbase [OPTIONS] COMMAND")


def test_the_version() -> None:
    assert re.fullmatch(
        r"relbase \d+\.\d+\.\d+\S* \((?:compiled|exact) scanner(?:: .+)?\)\n",
        run("--version").stdout,
    )


def test_the_version_says_why_a_scanner_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    done = program("--version", env={**os.environ, "RELBASE_SCANNER": "exact"})
    assert done.stdout.endswith(b" (exact scanner: RELBASE_SCANNER is exact)\n")
    monkeypatch.setattr(binding, "NAME", "exact")
    monkeypatch.setattr(binding, "UNUSED", "the compiled one does not load: \x1b")
    reported = " (exact scanner: the compiled one does not load: \\x1b)\n"
    assert run("--version").stdout.endswith(reported)


@pytest.mark.parametrize("arguments", [["--version"], ["rewrite", "page.html"]])
def test_a_scanner_that_there_is_not_is_a_mistake(arguments: list[str]) -> None:
    done = program(*arguments, env={**os.environ, "RELBASE_SCANNER": "python"})
    assert done.returncode == 2
    assert done.stderr.endswith(
        b"Error: RELBASE_SCANNER is 'python': set it to exact or compiled, or unset it\n"
    )


@cases(TABLES, "mistaken", arguments=list[str], reported=str)
def test_mistaken_options(arguments: list[str], reported: str) -> None:
    error = told(2, *arguments)
    assert (reported in error, "\x1b" in error) == (True, False)


# ---- what is loaded

LOADED: Final = """
import sys
from relbase.cli import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def loaded(*arguments: str) -> set[str]:
    ran = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    names = set(ran.stderr.split())
    assert {"click", "relbase.cli.group"} <= names, ran.stderr
    return names


HEAVY: Final = {"lxml", "bs4"}
# What a page does not need.
SPARED: Final = {
    *("json", "urllib.parse", "difflib", "relbase.cli.findings", *HEAVY),
    *("relbase.compression.codings", "relbase.compression.members"),
}


@pytest.mark.parametrize(
    ("command", "spared"),
    [
        ("--version", HEAVY),
        ("--help", HEAVY),
        ("resolve http://a/ b", HEAVY),
        ("rewrite page.html --url http://h/", SPARED),
    ],
)
def test_little_is_loaded(command: str, spared: set[str]) -> None:
    Path("page.html").write_bytes(b"<a href=b>")
    Path("other.html").touch()
    assert not spared & loaded(*command.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_loads_no_other(name: str) -> None:
    homes = {command: f"relbase.cli.{home}" for command, home in MODULES.items()}
    assert loaded(name, "--help") & {*homes.values()} == {homes[name]}


# ---- completion


def completed(words: str) -> list[str]:
    """What bash would offer for the last of the words."""
    variables = {
        "_RELBASE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    ran = program(env={**os.environ, **variables})
    return ran.stdout.decode().split()


@cases(TABLES, "completed", words=str, offered=list[str])
def test_what_is_completed(words: str, offered: list[str]) -> None:
    assert completed(words) == offered


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


# ---- the shared options: from the policy, checked with the fix, and what the library gets

# The flags, and what each makes of the policy.
FLAGS: Final = [
    (["--keep-fragments"], Policy(keep_fragments=True)),
    (["--keep", "^/x"], Policy(keep=re.compile("^/x"))),
    (
        ["--only-link", "A@href", "--only-link", "style"],
        Policy(only=("a@href", "style")),
    ),
    (["--extended"], Policy(extended=True)),
    (["--no-attachments"], Policy(attachments=False)),
    (["--no-dkim-signed"], Policy(dkim_signed=False)),
    (["--keep-templates"], Policy(keep_templates=True)),
    (["--template", "###*###", "--template", "@*@"], Policy(templates=("###*###", "@*@"))),
    (["--ignore-base"], Policy(ignore_base=True)),
    (["--private-bases"], Policy(private_bases=True)),
    (["--item-links"], Policy(item_links=True)),
    (["--site-links"], Policy(site_links=True)),
    (["--xml-row", "a@b=url", "--xml-row", "c=css"], Policy(xml_rows=("a@b=url", "c=css"))),
    (
        ["--attribute", "data-b=url", "--attribute", "data-a=css"],
        Policy(attributes={"data-a": "css", "data-b": "url"}),
    ),
    ([], Policy()),
]


def settings(*arguments: str) -> Settings:
    """What a command gets that has the shared options."""
    got: list[Settings] = []

    @click.command(cls=Command, params=options.document_options())
    def command(inputs: tuple[str, ...], **given: Any) -> None:
        del inputs
        got.append(options.settings(given))

    command.main(list(arguments), standalone_mode=False)
    return got[0]


@pytest.mark.parametrize(("flags", "policy"), FLAGS, ids=str)
def test_the_policy(flags: list[str], policy: Policy) -> None:
    assert settings(*flags).policy == policy


def test_every_field_of_the_policy_is_an_option() -> None:
    flags = {flags[0] for flags, _ in FLAGS if flags}
    assert len(flags) == len(dataclasses.fields(Policy))
    names = {name for parameter in command("base").params for name in parameter.opts}
    assert flags <= names
