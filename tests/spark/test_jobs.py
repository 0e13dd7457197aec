"""Spark: the same rows and the same files as one machine makes, whatever happens to the workers."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any, Final

import poison
import pytest
from archives import gz, http, record_id, response

pytest.importorskip("pyspark", reason="Spark: extra `spark`")

from relbase import Policy
from relbase.spark import ERROR, convert, links
from relbase.warc import Page, Trouble, link_rows, pages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")

DATE: Final = "2026-01-02T03:04:05Z"


@pytest.fixture(scope="module")
def flag(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path: Path = tmp_path_factory.mktemp("flag") / "flag"
    os.environ["RELBASE_TEST_FLAG"] = str(path)
    yield path
    del os.environ["RELBASE_TEST_FLAG"]


@pytest.fixture(scope="module")
def spark(flag: Path) -> Iterator[Any]:  # noqa: ARG001 (workers take the environment over)
    from pyspark.sql import SparkSession  # noqa: PLC0415 (it takes a second)

    paths = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    support = os.path.dirname(poison.__file__)  # noqa: PTH120
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, support])
    builder = SparkSession.builder.master("local[2,3]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.log.level", "OFF").config("spark.speculation", "true")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    yield session
    session.stop()


def archive(folder: Path, name: str, *bodies: bytes) -> str:
    path = folder / name
    records = [
        response(number, f"http://{name}/{number}/", http(body))
        for number, body in enumerate(bodies, 1)
    ]
    path.write_bytes(b"".join(map(gz, records)))
    return str(path)


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    return [
        archive(tmp_path, f"{letter}.warc.gz", b"<a href=x>", b"<a href=poison>", b"<img src=y>")
        for letter in "abc"
    ]


def rows_of(path: str) -> list[tuple[Any, ...]]:
    with open(path, "rb") as file:  # noqa: PTH123
        found = [page for page in pages([file.read()]) if isinstance(page, Page)]
    return [tuple(row) for page in found for row in link_rows(page, path)]


def test_links_are_those_of_one_machine(spark: Any, paths: list[str], tmp_path: Path) -> None:
    cut = tmp_path / "cut.warc.gz"
    cut.write_bytes((tmp_path / "a.warc.gz").read_bytes()[:-1])
    rows = [tuple(row) for row in links(spark, [*paths, str(cut)]).collect()]
    expected = [row for path in paths for row in rows_of(path)]
    assert [row for row in rows if row[0] != str(cut)] == expected
    errors = [row for row in rows if row[15] == ERROR]
    assert [(row[0], row[9]) for row in errors] == [(str(cut), "cut")]


def test_links_of_nothing_are_none(spark: Any) -> None:
    assert links(spark, []).collect() == []
    assert convert(spark, [], "/nonexistent/never") == [] if os.getuid() else True


def test_conversions_are_equal_whatever_happens(
    spark: Any, paths: list[str], tmp_path: Path, flag: Path
) -> None:
    plain, killed = tmp_path / "plain", tmp_path / "killed"
    keep = Policy(keep=poison.once)
    flag.touch()
    reports = convert(spark, paths, str(plain), date=DATE, policy=keep)
    assert [(report.pages, report.conversions, report.faults) for report in reports] == [
        (3, 3, ())
    ] * 3
    flag.unlink()
    # A worker dies once; the next attempt meets no poison.
    again = convert(spark, paths, str(killed), date=DATE, policy=keep)
    assert [report.faults for report in again] == [(), (), ()]
    names = sorted(path.name for path in plain.iterdir())
    assert names == ["a.warc.gz", "b.warc.gz", "c.warc.gz"]
    assert sorted(path.name for path in killed.iterdir()) == names
    for name in names:
        assert (plain / name).read_bytes() == (killed / name).read_bytes()


def test_a_poison_record_is_an_error_and_the_rest_is_there(
    spark: Any, paths: list[str], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    reports = convert(spark, paths, str(output), date=DATE, policy=Policy(keep=poison.always))
    for report in reports:
        assert [(fault.trouble, fault.record_id) for fault in report.faults] == [
            (Trouble.DIED, record_id(2))
        ]
        with open(report.output, "rb") as file:  # noqa: PTH123
            made = [page.url[-3:] for page in pages([file.read()]) if isinstance(page, Page)]
        assert made == ["/1/", "/3/"]
    assert len(list(output.iterdir())) == 3


def test_a_name_in_any_bytes_and_an_archive_that_is_not_there(spark: Any, tmp_path: Path) -> None:
    odd = archive(tmp_path, os.fsdecode(b"\xff.warc.gz"), b"<a href=x>")
    missing = str(tmp_path / "missing.warc.gz")
    reports = convert(spark, [odd, missing], str(tmp_path / "out"), date=DATE)
    assert [(report.warc, report.conversions) for report in reports] == [(odd, 1), (missing, 0)]
    assert os.path.exists(reports[0].output)  # noqa: PTH110
    assert [fault.trouble for fault in reports[1].faults] == [Trouble.UNREADABLE]


def test_an_archive_is_not_replaced_by_its_conversions(
    spark: Any, paths: list[str], tmp_path: Path
) -> None:
    def content() -> list[bytes]:
        return [path.read_bytes() for path in sorted(tmp_path.glob("*.warc.gz"))]

    before = content()
    (tmp_path / "link").symlink_to(".")
    for output in (tmp_path, tmp_path / "link"):
        with pytest.raises(ValueError, match="would replace it: give another directory"):
            convert(spark, paths, str(output), date=DATE)
    assert content() == before


def test_one_path_is_not_a_list(spark: Any, paths: list[str]) -> None:
    with pytest.raises(TypeError, match="paths are a list"):
        links(spark, paths[0])


def test_two_archives_of_one_name_are_refused(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two runs"):
        convert(spark, ["/a/x.warc.gz", "/b/x.warc"], str(tmp_path))
