"""Spark: the same rows and the same files as one machine makes, whatever happens to the workers."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import poison
import pytest
from archives import gz, http, pages_of, record_id, response
from extras import needed

pytest.importorskip("pyspark", reason="Spark: extra `spark`")
from pyarrow import fs

from relbase import storage
from relbase.spark import Report, convert, links, tables, troubles
from relbase.warc import Trouble, link_rows
from relbase.warc.rows import selector

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
]

DATE: Final = "2026-01-02T03:04:05Z"


@pytest.fixture(scope="module")
def flag(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path: Path = tmp_path_factory.mktemp("flag") / "flag"
    os.environ["RELBASE_TEST_FLAG"] = str(path)
    yield path
    del os.environ["RELBASE_TEST_FLAG"]


@pytest.fixture(scope="module")
def spark(flag: Path) -> Iterator[Any]:  # noqa: ARG001 (workers take the environment over)
    from pyspark.sql import SparkSession  # it takes a second

    paths = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    support = os.path.dirname(poison.__file__)  # noqa: PTH120
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, support])
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        os.environ.setdefault(name, "test")
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
    rows = (row for page in pages_of(path) for row in link_rows(page, path))
    return list(map(selector(), rows))


def test_links_are_those_of_one_machine(spark: Any, paths: list[str], tmp_path: Path) -> None:
    cut = tmp_path / "cut.warc.gz"
    cut.write_bytes((tmp_path / "a.warc.gz").read_bytes()[:-2])
    found = tables(spark, [*paths, str(cut)])
    rows = [tuple(row) for row in found.links.collect()]
    assert rows[:9] == [row for path in paths for row in rows_of(path)]
    assert {row[0] for row in rows[9:]} == {str(cut)}
    [trouble] = found.troubles.collect()
    assert (trouble.warc, trouble.trouble, trouble.page) == (str(cut), "cut", "http://a.warc.gz/3/")
    found.both.unpersist()
    assert [tuple(row) for row in links(spark, [*paths, str(cut)]).collect()] == rows
    assert troubles(spark, [*paths, str(cut)]).collect() == [trouble]


def test_columns_are_those_asked_for(spark: Any, tmp_path: Path) -> None:
    path = archive(tmp_path, "x.warc.gz", b"<a href=//H.Example:8/y><img src=data:image/png,xyz>")
    table = links(spark, [path], columns=["host", "url"], data_urls=False)
    assert table.columns == ["host", "url"]
    assert [tuple(row) for row in table.collect()] == [
        ("h.example", "http://H.Example:8/y"),
        (None, "data:image/png"),
    ]
    with pytest.raises(ValueError, match="there is no column 'x': give some of warc, offset"):
        links(spark, [path], columns=["x"])


def test_links_of_nothing_are_none(spark: Any) -> None:
    assert links(spark, []).collect() == []
    assert convert(spark, [], "/nonexistent/never") == [] if os.getuid() else True


# ---- an index of records, as Common Crawl has it


def index_of(spark: Any, paths: list[str]) -> Any:
    """The second record of each archive, and the first of the first one."""
    rows = []
    for path in paths:
        found = pages_of(path)
        rows.append((os.path.basename(path), found[1].offset, found[2].offset - found[1].offset))  # noqa: PTH119
    rows.append((rows[0][0], 0, rows[0][1]))
    names = ["warc_filename", "warc_record_offset", "warc_record_length"]
    return spark.createDataFrame(rows, names)


def test_an_index_says_which_records_are_read(spark: Any, paths: list[str], tmp_path: Path) -> None:
    index, prefix = index_of(spark, paths), f"{tmp_path}/"
    rows = [tuple(row) for row in links(spark, index, prefix=prefix, partitions=2).collect()]
    expected = [row for path in paths for row in rows_of(path)]
    assert sorted(rows) == sorted([expected[0], expected[1], expected[4], expected[7]])
    with pytest.raises(ValueError, match="the index has no column warc_filename"):
        links(spark, index.drop("warc_filename"))


def test_a_partition_of_an_index_has_one_output(
    spark: Any, paths: list[str], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    index = index_of(spark, paths)
    reports = convert(spark, index, str(output), prefix=f"{tmp_path}/", partitions=2, date=DATE)
    assert sum(report.conversions for report in reports) == 4
    assert {report.output for report in reports} == {str(path) for path in output.iterdir()}
    assert [page.url for path in sorted(output.iterdir()) for page in pages_of(path)] == [
        f"http://{letter}.warc.gz/{number}/" for letter, number in ("a1", "a2", "b2", "c2")
    ]


# ---- conversions


def test_conversions_are_equal_whatever_happens(
    spark: Any, paths: list[str], tmp_path: Path, flag: Path
) -> None:
    plain, killed = tmp_path / "plain", tmp_path / "killed"
    keep = poison.Once()
    flag.touch()
    reports = convert(spark, paths, str(plain), date=DATE, policy=keep)
    assert [(report.pages, report.conversions, report.faults) for report in reports] == [
        (3, 3, ())
    ] * 3
    flag.unlink()
    # A worker dies once; the next attempt meets no poison.
    again = convert(spark, paths, str(killed), date=DATE, policy=keep)
    assert [report.faults for report in again] == [(), (), ()]
    names = [f"{letter}.warc.gz{suffix}" for letter in "abc" for suffix in ("", ".json")]
    for output in (plain, killed):
        assert sorted(path.name for path in output.iterdir()) == names
    for name in names[::2]:
        assert (plain / name).read_bytes() == (killed / name).read_bytes()


def test_a_poison_record_is_an_error_and_the_rest_is_there(
    spark: Any, paths: list[str], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    reports = convert(spark, paths, str(output), date=DATE, policy=poison.Always())
    for report in reports:
        assert [(fault.trouble, fault.record_id) for fault in report.faults] == [
            (Trouble.DIED, record_id(2))
        ]
        assert [page.url[-3:] for page in pages_of(report.output)] == ["/1/", "/3/"]
    assert len(list(output.glob("*.gz"))) == 3


def test_what_is_finished_and_equal_is_not_made_again(
    spark: Any, paths: list[str], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    again = [*paths, str(tmp_path / "cut.warc.gz")]
    (tmp_path / "cut.warc.gz").write_bytes((tmp_path / "a.warc.gz").read_bytes()[:-2])

    def converted(date: str = DATE, **how: Any) -> tuple[list[Report], list[int]]:
        reports = convert(spark, again, str(output), date=date, **how)
        return reports, [os.stat(report.output).st_mtime_ns for report in reports]  # noqa: PTH116

    first, times = converted()
    assert [fault.trouble for fault in first[3].faults] == [Trouble.CUT]
    assert converted() == (first, times)
    (output / "b.warc.gz").write_bytes(b"")
    archive(tmp_path, "c.warc.gz", b"<a href=other>")
    changed, later = converted()
    assert [report.pages for report in changed] == [3, 3, 1, 3]
    assert [now != before for now, before in zip(later, times, strict=True)] == [
        False, True, True, False,
    ]  # fmt: skip
    for how in ({"date": "2026-01-02T03:04:06Z"}, {"salvage": True}):
        before = later
        _, later = converted(**how)
        assert all(now != then for now, then in zip(later, before, strict=True))


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
    with pytest.raises(ValueError, match="separate runs"):
        convert(spark, ["/a/x.warc.gz", "/b/x.warc"], str(tmp_path))


@pytest.mark.parametrize("scheme", ["http", "ftp", "oss"])
def test_what_nothing_opens_is_refused_at_the_driver(
    spark: Any, paths: list[str], tmp_path: Path, scheme: str
) -> None:
    with pytest.raises(ValueError, match=f"cannot open {scheme}://.*: give an opener"):
        links(spark, [*paths, f"{scheme}://h/x.warc.gz"])
    with pytest.raises(ValueError, match=f"cannot open {scheme}://.*: give a directory"):
        convert(spark, paths, f"{scheme}://h/out")
    with pytest.raises(ValueError, match="hdfs:// needs libhdfs"):
        convert(spark, paths, "hdfs://h/out")
    assert not list(tmp_path.glob(f"{scheme}*"))


def test_whatever_an_opener_raises_is_a_trouble(spark: Any, paths: list[str]) -> None:
    found = tables(spark, paths, opener=poison.broken)
    assert found.links.count() == 6
    [trouble] = found.troubles.collect()
    assert (trouble.warc, trouble.trouble) == (paths[1], "unreadable")
    assert trouble.text == "LookupError: no such object"
    found.both.unpersist()


def test_small_archives_are_one_task(spark: Any, paths: list[str]) -> None:
    assert links(spark, paths).rdd.getNumPartitions() == 1


def test_many_names_are_checked_in_linear_time(spark: Any, tmp_path: Path) -> None:
    names = [f"/nowhere/{number}.warc.gz" for number in range(90_000)]
    start = time.process_time()
    with pytest.raises(ValueError, match=r"'7\.warc\.gz'"):
        convert(spark, [*names, "/elsewhere/7.warc"], str(tmp_path))
    assert time.process_time() - start < 10


# ---- objects, on a server that is compatible with S3


@pytest.fixture(scope="module")
def store(spark: Any) -> Iterator[str]:  # noqa: ARG001 (its workers have the keys)
    """The options of a path to a bucket."""
    server = needed("moto.server")
    pytest.importorskip("pyarrow._s3fs", reason="pyarrow was built without S3")
    started = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    started.start()
    _, port = started.get_host_and_port()
    query = f"?scheme=http&endpoint_override=127.0.0.1:{port}&region=us-east-1"
    filesystem, _ = fs.FileSystem.from_uri(f"s3://bucket/{query}&allow_bucket_creation=true")
    filesystem.create_dir("bucket")
    yield query
    started.stop()


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_objects_give_what_files_give(
    spark: Any, paths: list[str], tmp_path: Path, store: str, scheme: str
) -> None:
    urls = [f"{scheme}://bucket/{scheme}/{os.path.basename(path)}{store}" for path in paths]  # noqa: PTH119
    filesystem, _ = fs.FileSystem.from_uri(urls[0].replace("s3a:", "s3:"))
    for path in paths:
        name = f"bucket/{scheme}/{os.path.basename(path)}"  # noqa: PTH119
        with filesystem.open_output_stream(name, compression=None) as stream:
            stream.write(Path(path).read_bytes())
    found = [tuple(row)[1:] for row in links(spark, urls).collect()]
    assert found == [row[1:] for path in paths for row in rows_of(path)]
    [trouble] = troubles(spark, [urls[0].replace("a.warc", "missing.warc")]).collect()
    assert trouble.trouble == "unreadable"
    convert(spark, paths, str(tmp_path / "out"), date=DATE)
    output = f"{scheme}://bucket/out-{scheme}{store}"
    reports = convert(spark, urls, output, date=DATE)
    assert convert(spark, urls, output, date=DATE) == reports
    for report, path in zip(reports, paths, strict=True):
        name = os.path.basename(path)  # noqa: PTH119
        with filesystem.open_input_file(f"bucket/out-{scheme}/{name}") as stored:
            assert stored.read() == (tmp_path / "out" / name).read_bytes()
        assert (report.conversions, report.faults) == (3, ())
    with pytest.raises(ValueError, match="would replace it"):
        convert(spark, urls, f"s3://bucket/{scheme}{store}", date=DATE)


def test_half_an_object_is_never_there(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "made"
    made.write_bytes(b"x" * 1000)
    url = f"s3://bucket/half{store}"

    def cut(file: BinaryIO, stream: BinaryIO, _size: int) -> None:
        stream.write(file.read(10))
        raise OSError("the network")

    monkeypatch.setattr("shutil.copyfileobj", cut)
    with pytest.raises(OSError, match="the network"):
        storage.put(str(made), url)
    with pytest.raises(FileNotFoundError):
        storage.state_of(url)
    monkeypatch.undo()
    storage.put(str(made), url)
    assert storage.state_of(url)[0] == 1000
    assert not made.exists()
