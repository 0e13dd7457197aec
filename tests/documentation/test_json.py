"""docs/reference/json.md names every field that the command line writes, and no other."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from relbase.cli.group import run

PAGE: Final = (Path(__file__).parents[2] / "docs" / "reference" / "json.md").read_text("utf-8")


def documented(title: str) -> list[str]:
    """The fields in the first column of the table under a title."""
    [table] = re.findall(
        rf"^## {re.escape(title)}.*?\n\n(?:[^|\n].*\n+)*((?:\|.*\n)+)", PAGE, re.MULTILINE
    )
    cells = (row.split("|")[1] for row in table.splitlines()[2:])
    return [name for cell in cells for name in re.findall("`([a-z0-9_]+)`", cell)]


# What writes them, and where they are in a line.
WRITTEN: Final[dict[str, tuple[list[str], tuple[str | int, ...]]]] = {
    "A link": (["links", "page.html", "--texts"], ()),
    "A base": (["base", "page.html"], ("base",)),
    "A note": (["base", "refused.html"], ("base", "refused", 0)),
    "An entity": (["base", "page.html"], ()),
    "A resolution": (["resolve", "--steps", "http://a/b", "c"], ()),
    "Components": (["split", "http://a/b"], ()),
    "A judgement": (["check", "http://a/b"], ()),
}


@pytest.mark.parametrize("title", WRITTEN)
def test_the_fields_are_those_that_are_written(
    title: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments, path = WRITTEN[title]
    (tmp_path / "page.html").write_bytes(b"<title>t</title><base href=/d/><a href=x>")
    (tmp_path / "refused.html").write_bytes(b"<title>t</title><base href='data:,'><a href=x>")
    monkeypatch.chdir(tmp_path)
    url = ["--url", "http://h/"] if arguments[-1].endswith(".html") else []
    assert run([*arguments, "--json", *url]) == 0
    written: Any = json.loads(capsys.readouterr().out.splitlines()[0])
    for key in path:
        written = written[key]
    if title == "A link":
        del written["version"], written["file"]
    assert list(written) == documented(title)


def test_what_is_within_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["split", "--json", "ftp://u:p@h/x"]) == 0
    split = json.loads(capsys.readouterr().out)
    assert run(["check", "--json", "http://h/ x"]) == 1
    [violation] = json.loads(capsys.readouterr().out)["violations"]
    assert run(["resolve", "--json", "--steps", "http://a/b", "c"]) == 0
    step = json.loads(capsys.readouterr().out)["steps"][0]
    for value in (split["rfc1808"], split["rfc3986"], split["whatwg"], violation, step):
        assert [name for name in value if f"`{name}`" not in PAGE] == []
