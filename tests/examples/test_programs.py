"""docs/: every piece of Python runs, against a server, and prints what it says."""

import contextlib
import importlib.util
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from web import Page, serving

ROOT: Final = Path(__file__).parents[2]
SITE: Final = "https://site.example"

HTML: Final = ("Content-Type", "text/html; charset=utf-8")
PAGES: Final = {
    "/articles/first": Page(b'<p><a href="../about">About</a>', (HTML,)),
    "/moved": Page(b"", (HTML, ("Location", "/articles/first")), 301),
}
WITH_PIECES: Final = [
    ROOT / "docs" / "index.md",
    ROOT / "docs" / "programs.md",
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
]
TEXT: Final = "".join(path.read_text("utf-8") for path in WITH_PIECES)
PIECES: Final = re.findall(r"(?:### ([^\n]+)\n\n|)```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving(PAGES) as found:
        yield found


def expected(code: str) -> list[str]:
    """What a piece says that it prints, split at white space: a line may be printed in pieces."""
    return " ".join(re.findall(r"# => (.*)", code)).split()


def test_the_pieces_are_found() -> None:
    assert len(PIECES) >= 11
    assert all(expected(code) for _, code in PIECES)
    assert TEXT.count("```python\n") == len(PIECES)


@pytest.mark.parametrize("code", [code for _, code in PIECES], ids=[name for name, _ in PIECES])
@pytest.mark.filterwarnings("ignore")  # of the packages of others
def test_a_piece_prints_what_it_says(code: str, port: int) -> None:
    for package in re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    here = code.replace(SITE, f"http://127.0.0.1:{port}")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(here, "docs/programs.md", "exec"), {"__name__": "piece"})
    assert printed.getvalue().replace(f"http://127.0.0.1:{port}", SITE).split() == expected(code)


def test_what_is_included_is_there() -> None:
    names = re.findall(r'--8<-- "(.+?)"', TEXT)
    assert sorted(name for name in names if name.endswith(".py")) == sorted(
        f"examples/{path.name}" for path in (ROOT / "examples").glob("*.py")
    )
