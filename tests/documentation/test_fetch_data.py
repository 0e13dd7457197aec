"""The script that fetches other people's data, against repositories made here."""

import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tools import fetch_data

ROOT: Final = Path(__file__).parents[2]
CRLF: Final = b"a\r\nb\n\xff$Id$\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A repository `o/n` below the directory; returns its first commit, which is not its last."""
    settings = tmp_path / "gitconfig"
    settings.write_text("[uploadpack]\nallowFilter = true\nallowAnySHA1InWant = true\n", "utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    at = tmp_path / "o" / "n"
    (at / "data" / "d").mkdir(parents=True)
    (at / ".gitattributes").write_text("* text eol=crlf ident\n*.bin -text\n", "utf-8")
    (at / "data" / "d" / "x [1].bin").write_bytes(CRLF)
    (at / "data" / "other").write_bytes(b"other\n")
    (at / "large").write_bytes(os.urandom(1 << 16))

    def git(*arguments: str) -> str:
        name = ("-c", "user.name=n", "-c", "user.email=n@h.example")
        command = ["git", *name, *arguments]
        return subprocess.run(command, cwd=at, check=True, capture_output=True, text=True).stdout

    git("init", "-q", ".")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    first = git("rev-parse", "HEAD").strip()
    (at / "data" / "other").write_bytes(b"changed\n")
    git("commit", "-q", "-a", "-m", "second")
    return first


def folder(commit: str, text: str) -> fetch_data.Folder:
    [found] = fetch_data.folders(f"# a comment\nhtml/n o/n {commit} data/\n{text}")
    return found


def test_files_come_from_their_commit_byte_for_byte(repository: str, tmp_path: Path) -> None:
    wanted = folder(repository, "\td/\n\t\tx [1].bin\n\tother\n\tmoved.txt <- data/other\n")
    assert wanted.files == {
        "d/x [1].bin": "data/d/x [1].bin",
        "other": "data/other",
        "moved.txt": "data/other",
    }
    url = f"{tmp_path}/{{owner}}/{{name}}"
    target = tmp_path / "fetched"
    assert fetch_data.fetch(wanted, target, url) == 3
    assert (target / "html/n/d/x [1].bin").read_bytes() == CRLF
    assert (target / "html/n/other").read_bytes() == b"other\n"
    assert (target / "html/n/moved.txt").read_bytes() == b"other\n"
    (target / "html/n/other").unlink()
    assert fetch_data.fetch(wanted, target, url) == 1  # what is there is not fetched again
    assert fetch_data.fetch(wanted, target, "/nowhere/{repository}") == 0


def test_what_is_not_to_be_had_is_told(
    repository: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"{tmp_path}/{{repository}}"
    with pytest.raises(fetch_data.FetchError, match="has no data/missing"):
        fetch_data.fetch(folder(repository, "\tmissing\n"), tmp_path / "fetched", url)
    with pytest.raises(fetch_data.FetchError, match="git fetch: "):
        fetch_data.fetch(folder("0" * 40, "\tother\n"), tmp_path / "fetched", url)
    assert not (tmp_path / "fetched").exists()
    arguments = [str(tmp_path / "fetched"), "--only", "xml/rome", "--url", url]
    assert fetch_data.main(arguments) == 1
    assert capsys.readouterr().err.startswith("xml/rome: git fetch: ")
    with pytest.raises(SystemExit):
        fetch_data.main([str(tmp_path), "--only", "nothing"])


def test_the_list_names_commits_and_no_path_leads_out() -> None:
    found = list(fetch_data.folders(fetch_data.LIST.read_text("utf-8")))
    assert len(found) > 50
    assert len({one.name for one in found}) == len(found)
    for one in found:
        assert re.fullmatch("[0-9a-f]{40}|v[0-9.]+", one.commit), one.name
        assert one.files, one.name
        for name in (one.name, *one.files, *one.files.values()):
            assert not {"..", ""} & set(name.split("/")), name


def test_the_page_names_every_repository() -> None:
    page = (ROOT / "docs" / "proof.md").read_text("utf-8")
    for one in fetch_data.folders(fetch_data.LIST.read_text("utf-8")):
        row = f"| `{one.name}` | {one.repository} | `{one.commit[:12]}` | {len(one.files)} |"
        assert row in page


def test_what_was_fetched_is_what_the_suites_were_proven_with(data: Path) -> None:
    # A subset of the list may be there; what is there has no other name.
    missing = [
        f"{one.name}/{name}"
        for one in fetch_data.folders(fetch_data.LIST.read_text("utf-8"))
        if (data / one.name).is_dir()
        for name in one.files
        if not (data / one.name / name).is_file()
    ]
    thinned = [name for name in missing if name.startswith("html/css-parsing-tests/")]
    assert missing == thinned
