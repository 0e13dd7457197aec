"""The hook of hatchling: a project that is built with it."""

import subprocess
import sys
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest

pytest.importorskip("hatchling", reason="hatchling: extra `docs`")
from relbase.markdown.hatch import ReadmeHook

README = "# P\n\n[a](docs/a.md) ![b](b.png) `[c](d)`\n\n<img src=e.png> é\n"
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "readme.md"
_, _, PROJECT = GUIDE.read_text("utf-8").partition("```toml\n")
PROJECT = PROJECT.partition("```")[0].replace("[project]", '[project]\nname = "p"\nversion = "1"')
PROJECT += '[project.urls]\nSource = "https://h.example/p.git"\n'


def test_a_project_is_built_with_absolute_links(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT, "utf-8")
    (tmp_path / "README.md").write_text(README, "utf-8")
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "__init__.py").touch()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "dist"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    [wheel] = (tmp_path / "dist").glob("*.whl")
    about = message_from_bytes(ZipFile(wheel).read("p-1.dist-info/METADATA"))
    assert about["Description-Content-Type"] == "text/markdown"
    described = about.get_payload(decode=True)
    assert isinstance(described, bytes)
    assert described.decode() == (
        "# P\n\n[a](https://h.example/p/blob/HEAD/docs/a.md) "
        "![b](https://h.example/p/raw/HEAD/b.png) `[c](d)`\n\n"
        "<img src=https://h.example/p/raw/HEAD/e.png> é\n"
    )


@pytest.mark.parametrize(
    ("config", "urls", "wanted"),
    [
        (
            {},
            {"homepage": "http://a/b"},
            "[x](http://a/b/blob/HEAD/d/R.md) ![y](http://a/b/raw/HEAD/d/y)",
        ),
        (
            {"url": "http://c/d", "images-url": "http://e/"},
            {},
            "[x](http://c/d/d/R.md) ![y](http://e/d/y)",
        ),
        (
            {"images-url": "http://e"},
            {"Homepage": "http://f", "Repository": "http://g/"},
            "[x](http://g/blob/HEAD/d/R.md) ![y](http://e/d/y)",
        ),
    ],
)
def test_where_the_urls_come_from(
    config: dict[str, str], urls: dict[str, str], wanted: str, tmp_path: Path
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "R.md").write_text("[x](R.md) ![y](y)", "utf-8")
    project = {"urls": urls}
    ReadmeHook(str(tmp_path), {"path": "d/R.md", **config}).update(project)
    assert project["readme"] == {"content-type": "text/markdown", "text": wanted}


def test_a_project_without_a_url_is_told_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()
    with pytest.raises(ValueError, match="a url, or the project a URL named Source"):
        ReadmeHook(str(tmp_path), {}).update({"urls": {"Issues": "http://h.example/"}})
