"""`relbase explain`: where pages go, their index, exit statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from running import run

from relbase import explain

if TYPE_CHECKING:
    from pathlib import Path

PAGE = b"<a href=x>"


def test_standard_input_to_standard_output() -> None:
    result = run("explain", "--url", "http://h/d/", stdin=PAGE)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == explain(PAGE, url="http://h/d/")


def test_one_file(tmp_path: Path) -> None:
    page, out = tmp_path / "page.html", tmp_path / "out.html"
    page.write_bytes(PAGE)
    result = run("explain", page, "-o", out, "--url", "http://h/d/", "--profile", "whatwg")
    assert (result.exit_code, result.stdout) == (0, "")
    markup = out.read_text(encoding="utf-8")
    assert "http://h/d/x" in markup
    assert "profile whatwg" in markup
    assert str(page) in markup
    assert page.read_bytes() == PAGE


def test_several_into_a_directory_with_an_index(tmp_path: Path) -> None:
    names = ["a.html", "index", "m.eml"]
    for name in names:
        (tmp_path / name).write_bytes(PAGE)
    out = tmp_path / "out"
    result = run("explain", *(tmp_path / name for name in names), "-o", out)
    assert result.exit_code == 0
    # an input that is called index does not lose its page to the index
    made = sorted(path.name for path in out.iterdir())
    assert made == ["_index.html", "a.html.html", "index.html", "m.eml.html"]
    index = (out / "_index.html").read_text(encoding="utf-8")
    assert "What the links of 3 documents mean" in index
    assert 'href="./a.html.html"' in index


def test_one_into_a_directory(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(PAGE)
    out = tmp_path / "out"
    assert run("explain", tmp_path / "a", "-o", f"{out}/").exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == ["a.html", "index.html"]


def test_an_input_that_fails_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(PAGE)
    out = tmp_path / "out"
    result = run("explain", tmp_path / "a", tmp_path / "nowhere", "-o", out)
    assert result.exit_code == 3
    assert (out / "a.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["a", "b"], "several inputs go into a directory: give -o DIRECTORY"),
        (["a", "-o", ""], "-o is empty"),
        (["a", "-o", "a"], "is the input"),
        (["a", "--url", "x"], "it has no scheme"),
    ],
)
def test_a_mistake_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_bytes(PAGE)
    (tmp_path / "b").write_bytes(PAGE)
    result = run("explain", *arguments)
    assert result.exit_code == 2
    assert told in " ".join(result.stderr.split())
    assert (tmp_path / "a").read_bytes() == PAGE
