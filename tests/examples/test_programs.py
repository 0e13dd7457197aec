"""docs/: every piece of Python runs, against a server, and prints what it says."""

import contextlib
import importlib.util
import io
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, Self

import pytest
from web import Page, serving

from relbase.cli.group import run

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
EXAMPLES: Final = [*(ROOT / "examples").glob("*.*")]
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


def test_the_examples_are_shown_as_they_are() -> None:
    shown = re.findall(r"```(?:py|yaml)\n(.*?)```", TEXT, re.DOTALL)
    assert sorted(shown) == sorted(path.read_text("utf-8") for path in EXAMPLES)


# ---- docs/archives.md: its queries and programs run, on the archive of the fixtures

ARCHIVES: Final = (ROOT / "docs" / "archives.md").read_text("utf-8")
[QUERIES] = re.findall(r"```sql\n(.*?)```", ARCHIVES, re.DOTALL)
ARCHIVE_PIECES: Final[list[str]] = re.findall(r"```python\n(.*?)```", ARCHIVES, re.DOTALL)
ARCHIVE: Final = (ROOT / "fixtures" / "warc" / "crawl.warc.gz").read_bytes()


@pytest.fixture
def crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of archives in the working directory."""
    (tmp_path / "crawl.warc.gz").write_bytes(ARCHIVE)
    (tmp_path / "cut.warc.gz").write_bytes(ARCHIVE[:-9])
    monkeypatch.chdir(tmp_path)
    return ["crawl.warc.gz", "cut.warc.gz"]


def program(beginning: str) -> str:
    [code] = [code for code in ARCHIVE_PIECES if beginning in code]
    return code


@pytest.mark.usefixtures("crawl")
def test_queries_of_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    assert run(["links", "crawl.warc.gz", "cut.warc.gz", "--parquet", "links.parquet"]) == 3
    answers = [duckdb.sql(query).fetchall() for query in QUERIES.split(";") if query.strip()]
    bases, images, hosts, lost = answers
    assert (
        sum(row[-1] for row in bases)
        == duckdb.sql("SELECT count(*) FROM 'links.parquet'").fetchall()[0][0]
    )
    assert {row[0] for row in bases} >= {"embedded", "retrieval"}
    assert ("https://site.example/news/", "https://site.example/b.png") in images
    assert hosts[0][:2] == ("site.example", "site.example")
    assert ("cut.warc.gz", "cut", 1) in lost


@pytest.mark.usefixtures("crawl")
def test_the_program() -> None:
    made: dict[str, Any] = {}
    exec(compile(program("conversion(page"), "docs/archives.md", "exec"), made)
    assert made["made"].record is not None or made["rows"] == []


@pytest.fixture
def rows(crawl: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The rows of paths, as the page makes them without any engine."""
    found: dict[str, Any] = {"paths": crawl}
    exec(compile(program("def rows(path)"), "docs/archives.md", "exec"), found)
    listed = list(found["rows"]("crawl.warc.gz"))
    assert {row["layer"] for row in listed} >= {"embedded", "retrieval"}
    capsys.readouterr()
    return found


def test_rows_with_dask(rows: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("dask")
    code = program("import dask").replace(".compute()", ".compute(scheduler='sync')")
    exec(compile(code, "docs/archives.md", "exec"), rows)
    listed = [row for path in rows["paths"] for row in rows["rows"](path)]
    printed = capsys.readouterr().out
    assert "cut.warc.gz" in printed
    assert f"{sum(row['layer'] == 'embedded' for row in listed)}\n" in printed


class Dataset:
    """What the page asks of a dataset of Ray: a map in which each row becomes many."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def flat_map(self, make: Callable[[Any], list[Any]]) -> Self:
        return type(self)([made for row in self.rows for made in make(row)])

    def write_parquet(self, path: str) -> None:
        Path(path).mkdir()


def test_rows_with_a_map_as_ray_has_it(
    rows: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = SimpleNamespace(from_items=lambda items: Dataset([{"item": item} for item in items]))
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(data=data))
    exec(compile(program("import ray"), "docs/archives.md", "exec"), rows)
    assert rows["table"].rows == [row for path in rows["paths"] for row in rows["rows"](path)]
    assert any(row["outcome"] == "rewritten" for row in rows["table"].rows)
