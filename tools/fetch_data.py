"""Fetches other people's test data, which the suites read: `python -m tools.fetch_data DIRECTORY`.

Strategy: `tests/suites/data.txt` names repositories, their commits and the files of each. Of a
repository one commit is fetched, without its history, and only the files that are named (where the
server can do so). They are written below DIRECTORY as they stand in it, byte for byte: what comes
is held against the hashes of the commit. What is there already is not fetched again.

Nothing of it is relbase's, and nothing goes into this repository. Some files of what relbase was
proven with are not of a repository (tables of facts taken from specifications and from the tests of
other programs): `docs/proof.md` says which rows of its table need them.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LIST: Final = Path(__file__).parents[1] / "tests" / "suites" / "data.txt"
GITHUB: Final = "https://github.com/{repository}.git"
_SECONDS: Final = 3_600


class Folder(NamedTuple):
    """A folder of the data.

    Args:
        name: below the directory.
        repository: as `owner/name`.
        commit: its hash, or a tag.
        files: names in the folder, and the path of each in the repository.
    """

    name: str
    repository: str
    commit: str
    files: Mapping[str, str]


class FetchError(Exception):
    """A folder that cannot be fetched."""


def folders(text: str) -> Iterator[Folder]:
    """Yield what a list names.

    Args:
        text: as of `tests/suites/data.txt`.
    """
    for block in re.split(r"\n(?=[^\t#])", text):
        head, *lines = [line for line in block.splitlines() if not line.startswith("#")] or [""]
        if not head:
            continue
        name, repository, commit, prefix = head.split(" ")
        yield Folder(name, repository, commit, dict(_files(lines, prefix.removeprefix("."))))


def _files(lines: Sequence[str], prefix: str) -> Iterator[tuple[str, str]]:
    directory = ""
    for line in lines:
        if line.startswith("\t\t"):
            name = directory + line[2:]
        elif line.endswith("/"):
            directory = line[1:]
            continue
        else:
            name = line[1:]
        name, _, path = name.partition(" <- ")
        yield name, path or prefix + name


def fetch(folder: Folder, directory: Path, url: str) -> int:
    """Write the files of a folder; return how many were written.

    Args:
        folder: what is wanted.
        directory: of all data.
        url: of repositories, with `{repository}` or `{owner}` and `{name}` in it.

    Raises:
        FetchError: if the commit or a file is not to be had, or a file is another.
    """
    missing = {
        name: path
        for name, path in folder.files.items()
        if not _at(directory, folder, name).exists()
    }
    if not missing:
        return 0
    owner, _, name = folder.repository.partition("/")
    source = url.format(repository=folder.repository, owner=owner, name=name)
    with tempfile.TemporaryDirectory() as work:
        _git(work, "init", "-q", ".")
        # No conversion of line ends or anything else, whatever the repository says.
        Path(work, ".git", "info").mkdir(exist_ok=True)
        Path(work, ".git", "info", "attributes").write_text(
            "* -text -eol -ident -filter -working-tree-encoding\n", "utf-8"
        )
        _git(work, "remote", "add", "origin", source)
        _git(work, "config", "remote.origin.promisor", "true")
        _git(work, "config", "remote.origin.partialclonefilter", "blob:none")
        _git(work, "fetch", "-q", "--depth", "1", "--filter=blob:none", "origin", folder.commit)
        paths = "\0".join(sorted(set(missing.values())))
        hashes = _hashes(work)
        unknown = sorted(set(missing.values()) - hashes.keys())
        if unknown:
            raise FetchError(f"{folder.repository}@{folder.commit} has no {unknown[0]}")
        _git(
            work,
            *("-c", "core.autocrlf=false", "checkout", "-q", "FETCH_HEAD"),
            *("--pathspec-from-file=-", "--pathspec-file-nul"),
            given=paths,
        )
        for name, path in missing.items():
            data = Path(work, path).read_bytes()
            if _hash(data) != hashes[path]:
                raise FetchError(f"{path} is not that of {folder.repository}@{folder.commit}")
            target = _at(directory, folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    return len(missing)


def _at(directory: Path, folder: Folder, name: str) -> Path:
    return directory / folder.name / name


def _hashes(work: str) -> dict[str, str]:
    listed = _git(work, "ls-tree", "-r", "-z", "FETCH_HEAD")
    rows = (row.split("\t", 1) for row in listed.split("\0") if row)
    return {path: about.split()[2] for about, path in rows}


def _hash(data: bytes) -> str:
    """The name of a file's content in git."""
    return hashlib.sha1(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest()


def _git(work: str, *arguments: str, given: str = "") -> str:
    ran = subprocess.run(
        ["git", "--literal-pathspecs", *arguments],
        cwd=work,
        input=given.encode("utf-8", "surrogateescape"),
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    if ran.returncode:
        said = ran.stderr.decode("utf-8", "replace").strip()
        raise FetchError(f"git {arguments[0]}: {said}")
    return ran.stdout.decode("utf-8", "surrogateescape")


def main(arguments: Sequence[str]) -> int:
    """Fetch what is asked for; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.fetch_data", description="Fetch what the suites of relbase read."
    )
    parser.add_argument("directory", type=Path, help="where it goes; name it in RELBASE_DATA")
    parser.add_argument("--only", metavar="FOLDER", action="append", help="this folder; repeat")
    parser.add_argument("--url", default=GITHUB, help="of repositories (default: %(default)s)")
    given = parser.parse_args(arguments)
    known = {folder.name: folder for folder in folders(LIST.read_text("utf-8"))}
    if unknown := [name for name in given.only or () if name not in known]:
        parser.error(f"no folder {unknown[0]!r}: give one of {', '.join(known)}")
    failed = 0
    for name in given.only or known:
        folder = known[name]
        try:
            written = fetch(folder, given.directory, given.url)
        except (FetchError, subprocess.TimeoutExpired, OSError) as error:
            failed += 1
            sys.stderr.write(f"{name}: {error}\n")
        else:
            there = len(folder.files) - written
            sys.stdout.write(f"{name}: {written} files fetched, {there} were there\n")
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
