"""docs/archives.md: its queries and programs run, on the archive of the fixtures."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from relbase.cli.group import run

ROOT: Final = Path(__file__).parents[2]
DOCUMENT: Final = (ROOT / "docs" / "archives.md").read_text("utf-8")
[QUERIES] = re.findall(r"```sql\n(.*?)```", DOCUMENT, re.DOTALL)
PROGRAMS: Final[list[str]] = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
ARCHIVE: Final = (ROOT / "fixtures" / "warc" / "crawl.warc.gz").read_bytes()


@pytest.fixture(autouse=True)
def crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crawl.warc.gz").write_bytes(ARCHIVE)
    (tmp_path / "cut.warc.gz").write_bytes(ARCHIVE[:-9])
    monkeypatch.chdir(tmp_path)


def program(beginning: str) -> str:
    [code] = [code for code in PROGRAMS if beginning in code]
    return code


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


def test_the_program() -> None:
    made: dict[str, Any] = {}
    exec(compile(program("conversion(page"), "docs/archives.md", "exec"), made)
    assert made["made"].record is not None or made["rows"] == []


@pytest.fixture
def rows(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The rows of paths, as the page makes them without any engine."""
    found: dict[str, Any] = {"paths": ["crawl.warc.gz", "cut.warc.gz"]}
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


class _Dataset:
    """What the page asks of a dataset of Ray: a map in which each row becomes many."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def flat_map(self, make: Callable[[Any], list[Any]]) -> _Dataset:
        return _Dataset([made for row in self.rows for made in make(row)])

    def write_parquet(self, path: str) -> None:
        Path(path).mkdir()


def test_rows_with_a_map_as_ray_has_it(
    rows: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = SimpleNamespace(from_items=lambda items: _Dataset([{"item": item} for item in items]))
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(data=data))
    exec(compile(program("import ray"), "docs/archives.md", "exec"), rows)
    assert rows["table"].rows == [row for path in rows["paths"] for row in rows["rows"](path)]
    assert any(row["outcome"] == "rewritten" for row in rows["table"].rows)
