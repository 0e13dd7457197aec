r"""Console transcripts: what a user types, what is printed, and what is in the files then.

A `.console` file is prose, but for lines indented by two spaces, in the notation of cram:

    $ relbase links page.html      a command; lines that begin with `> ` continue it
    page.html:1:9: a/@href: x      what it prints on standard output
    2> page.html: warning: ...     what it prints on standard error
    [1]                            its exit status, unless it is 0

A line that ends without a newline ends in ` (no-eol)`; one that holds bytes which an editor might
not keep is written with the escapes of Python and ends in ` (esc)`. `$PWD` is the directory.
A line `## title` begins a case in an empty directory; commands before the first prepare each.

`relbase`, with a command that feeds it, `< FILE`, `> FILE` or a filter, runs in this process. What
else there is, as `(relbase ...)`, runs in a shell; `$FIXTURES` is the directory of that name, and
the tools are those of GNU. The two lines that click prints before each error are left out. What it
words differently from version to version, or two processes order, is not for transcripts.

The guides of docs/ have blocks of `console`. They run one after another in a directory with the
files of `guides.py`, and show what a terminal shows, without `2>`; an exit status is a comment.

`python tests/support/console.py [FILE]...` writes what is printed now: read the diff.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from typing import Final, NamedTuple

import guides
from click.testing import CliRunner

ROOT: Final = Path(__file__).parents[2]
_OWN: Final = re.compile(
    r"""(?!\()(?:(?P<feed>(?:[^<>'"]|'[^']*'|"[^"]*")+) \| )?(?P<variables>(?:\w+=\S* )*)"""
    r"""relbase(?P<words>(?:'[^']*'|"[^"]*"|[^|<>;&'"\n])*?)"""
    r"(?: < (?P<stdin>\S+))?(?P<then> (?:> \S+|\| .+))?"
)
_COMMAND: Final = re.compile(r"  \$ (.*(?:\n  >(?: .*|$))*)\n((?:  (?!\$ ).*\n)*)", re.MULTILINE)
_BLOCK: Final = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_STEP: Final = re.compile(r"^\$ (.*(?:\n> .*)*)\n(?:(?!\$ ).*\n)*", re.MULTILINE)
_is_plain: Final = re.compile(r"(?!\$ |2?> |\[\d+\]$).*\S").fullmatch
_usage: Final = re.compile(rb"^Usage: relbase .*\nTry 'relbase .*\n\n", re.MULTILINE).sub
_PROGRAM: Final = f"relbase() {{ '{sys.executable}' -m relbase \"$@\"; }}\n"


class Ran(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    stdout: bytes
    stderr: bytes

    def __str__(self) -> str:
        status = f"  [{self.status}]\n" if self.status else ""
        return _shown(self.stdout, "  ") + _shown(_usage(b"", self.stderr), "  2> ") + status


class Case(NamedTuple):
    """A titled part of a transcript, and what comes before the first of them."""

    title: str
    text: str
    before: str

    def played(self) -> str:
        """The text as it is when its commands run in the working directory."""
        ready = _sh("set -e\n" + "\n".join(map(_line_of, _COMMAND.finditer(self.before))))
        assert ready.status == 0, ready
        return played(self.text)


def cases(path: Path) -> Iterator[Case]:
    before, *parts = re.split(r"^(?=## )", path.read_text("utf-8"), flags=re.MULTILINE)
    for part in parts:
        yield Case(part.partition("\n")[0].removeprefix("## "), part, before)


def played(text: str) -> str:
    """A transcript as it is when its commands run in the working directory."""
    return _COMMAND.sub(_again, text)


def guided(page: str) -> str:
    """A guide as it is when the commands of its blocks run in the working directory."""
    return _BLOCK.sub(lambda block: _STEP.sub(_shown_again, block[0]), page)


def _shown_again(found: re.Match[str]) -> str:
    ran = run(found[1].replace("\n> ", "\n"))
    status = f"# exit status {ran.status}\n" if ran.status else ""
    printed = (ran.stdout + _usage(b"", ran.stderr)).decode()
    return f"$ {found[1]}\n{printed}{status}"


def _again(found: re.Match[str]) -> str:
    return f"  $ {found[1]}\n{run(_line_of(found))}"


def _line_of(found: re.Match[str]) -> str:
    return re.sub(r"\n  > ?", "\n", found[1])


def run(line: str) -> Ran:
    """Run a command line in the working directory."""
    found = _OWN.fullmatch(line)
    if found is None:
        return _sh(line)
    stdin = _sh(found["feed"]).stdout if found["feed"] else b""
    if found["stdin"]:
        stdin = Path(found["stdin"]).read_bytes()
    variables = dict(word.split("=", 1) for word in shlex.split(found["variables"]))
    ran = _relbase(_split(found["words"]), variables, stdin)
    if found["then"] is None:
        return ran
    end = _sh(f"cat {found['then']}", ran.stdout)
    return Ran(ran.status or end.status, end.stdout, ran.stderr + end.stderr)


def _split(words: str) -> list[str]:
    if not re.search(r"[$*]", words):
        return shlex.split(words)
    return os.fsdecode(_sh(f"printf '%s\\0' {words}").stdout).split("\0")[:-1]


def _relbase(words: list[str], variables: Mapping[str, str], stdin: bytes) -> Ran:
    from relbase.cli import group  # the tests of the library alone need no click

    with CliRunner().isolation(stdin, variables) as (stdout, stderr, _):
        status = group.run(words)
        sys.stdout.flush()
        return Ran(status, stdout.getvalue(), stderr.getvalue())


def _sh(line: str, stdin: bytes = b"") -> Ran:
    environment = {**os.environ, "FIXTURES": str(ROOT / "fixtures")}
    ran = subprocess.run(
        ["sh", "-c", _PROGRAM + line],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
        env=environment,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def _shown(data: bytes, indent: str) -> str:
    here = data.replace(os.fsencode(Path.cwd()), b"$PWD")
    return "".join(f"{indent}{_line(line)}\n" for line in re.findall(rb".*\n|.+", here))


def _line(data: bytes) -> str:
    line = data.removesuffix(b"\n")
    end = "" if line != data else " (no-eol)"
    text = line.decode("utf-8", "surrogateescape")
    if text.isprintable() and _is_plain(text):
        return text + end
    return line.decode("latin-1").encode("unicode_escape").decode("ascii") + end + " (esc)"


def main(*names: str) -> None:
    """Write into transcripts and guides what their commands print."""
    transcripts = [*sorted((ROOT / "tests").rglob("*.console")), *guides.PAGES]
    for path in [Path(name).absolute() for name in names] or transcripts:
        text = path.read_text("utf-8")
        if path.suffix == ".md":
            with guides.folder():
                path.write_text(guided(text), "utf-8")
            continue
        for case in list(cases(path)):
            with tempfile.TemporaryDirectory() as folder, chdir(folder):
                text = text.replace(case.text, case.played())
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
