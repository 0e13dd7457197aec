"""The jobs that the driver runs: from archives or an index to tables and reports."""

from __future__ import annotations

import os
import pickle
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypedDict, Unpack, cast

import pyarrow as pa
from pyspark import StorageLevel

from relbase import storage
from relbase.policy import DEFAULT_POLICY, Policy
from relbase.spark import tasks
from relbase.url.profiles import DEFAULT, Profile, ProfileName, as_profile
from relbase.warc.rows import USUAL, have_texts, selector
from relbase.warc.table import ERRORS
from relbase.warc.work import Job, Part, name_of
from relbase.warc.writing import check_date, date_of_run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from relbase.session.options import Replace
    from relbase.spark.tasks import Report
    from relbase.warc.work import Opener

# Archives that are smaller than this together are one task.
_TASK: Final = 64 << 20

# Tasks per core that read an index: more than one, since some hosts are larger than others.
_TASKS_A_CORE: Final = 4


class Tables(NamedTuple):
    """The links of archives and what could not be read, from one pass.

    Args:
        links: the columns that were asked for.
        troubles: warc, offset, record_id, page, trouble and text.
        both: the frame that both come from. It is kept on the disks of the workers until its
            `unpersist()` is called.
    """

    links: DataFrame
    troubles: DataFrame
    both: DataFrame


class How(TypedDict, total=False):
    """The arguments of `tables`, `links` and `troubles`."""

    prefix: str
    columns: Sequence[str] | None
    data_urls: bool
    partitions: int | None
    profile: Profile | ProfileName
    policy: Policy
    replace: Replace | None
    opener: Opener | None
    careful: bool


def tables(spark: SparkSession, source: Sequence[str] | DataFrame, **how: Unpack[How]) -> Tables:
    """Return the links of archives and what could not be read, from one pass.

    Args:
        spark: The session.
        source: Paths of archives that every worker can open, or an index of records: a frame with
            the columns warc_filename, warc_record_offset and warc_record_length.
        **how: `prefix` goes before each path: "s3://commoncrawl/". `columns` are some of
            `relbase.warc.rows.COLUMNS`; None means all but text, rel and host. `data_urls=False`
            cuts `data:` URLs to their media type. `partitions` is the number of tasks that read an
            index (None: four per core). `profile`, `policy` and `replace` are those of
            `relbase.rewrite`; `replace` must be picklable. `opener` opens an archive by its path,
            for reading and seeking; None opens files, and s3://, gs:// and hdfs:// with pyarrow.
            `careful` uses child processes from the start.

    Raises:
        TypeError: If the paths are one string.
        ValueError: If a path has an unknown scheme, or a column is unknown.
    """
    both = _found(spark, source, how).persist(StorageLevel.DISK_ONLY)
    return Tables(_links(both), _troubles(both), both)


def links(spark: SparkSession, source: Sequence[str] | DataFrame, **how: Unpack[How]) -> DataFrame:
    """Return the links of archives. `tables` also returns what could not be read.

    Args:
        spark: The session.
        source: Paths or an index, as for `tables`.
        **how: The options of `tables`.
    """
    return _links(_found(spark, source, how))


def troubles(
    spark: SparkSession, source: Sequence[str] | DataFrame, **how: Unpack[How]
) -> DataFrame:
    """Return what could not be read in archives, by reading them separately.

    Args:
        spark: The session.
        source: Paths or an index, as for `tables`.
        **how: The options of `tables`.
    """
    return _troubles(_found(spark, source, how))


def _found(spark: SparkSession, source: Sequence[str] | DataFrame, how: How) -> DataFrame:
    columns = how.get("columns")
    names = USUAL if columns is None else tuple(columns)
    selector(names)  # raises now, not in the tasks
    job = Job(
        how.get("opener") or storage.open_archive,
        as_profile(how.get("profile", DEFAULT)),
        how.get("policy", DEFAULT_POLICY),
        careful=how.get("careful", False),
        packed=True,
        replace=how.get("replace"),
        texts=have_texts(names),
    )
    frame, groups = _tasks(spark, source, how)
    schema = tasks.schema_of_links(names)
    work = partial(tasks.link_batches, job, groups, names, how.get("data_urls", True))
    in_sql = ", ".join(f"`{field.name}` {_NAMES.get(field.type, 'string')}" for field in schema)
    return frame.mapInArrow(work, in_sql)


_NAMES: Final = {pa.int64(): "bigint", pa.int16(): "smallint", pa.int32(): "int"}


def _links(both: DataFrame) -> DataFrame:
    names = [name for name in both.columns if not name.startswith(tasks.MARK)]
    return both.where(f"{tasks.MARK}trouble is null").select(*names)


def _troubles(both: DataFrame) -> DataFrame:
    names = [f"{tasks.MARK}{name} as `{name}`" for name in ERRORS.names]
    return both.where(f"{tasks.MARK}trouble is not null").selectExpr(*names)


def convert(
    spark: SparkSession,
    source: Sequence[str] | DataFrame,
    output: str,
    *,
    prefix: str = "",
    partitions: int | None = None,
    date: str | None = None,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
    replace: Replace | None = None,
    all_status: bool = False,
    salvage: bool = False,
    opener: Opener | None = None,
    careful: bool = False,
) -> list[Report]:
    """Write the conversions of each archive to a file, and return a report for each.

    An archive that was converted before, from the same bytes with the same options, is not read
    again: its report, a JSON file beside the output, is returned.

    Args:
        spark: The session.
        source: Paths or an index, as for `tables`. Each partition of an index has one output.
        output: A directory that every worker can write to, or a prefix of objects (s3://b/out).
        prefix: Text before each path, as for `tables`.
        partitions: Number of tasks that read an index, as for `tables`.
        date: Date of the conversions, as 2026-01-02T03:04:05Z; None for SOURCE_DATE_EPOCH or now.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.
        replace: A function that can be pickled and returns the URL to write for a link, as in
            `relbase.rewrite`. With it, every archive is converted again.
        all_status: Whether to convert responses of every status, not only 2xx.
        salvage: Whether to convert truncated pages too, as far as they go.
        opener: A function that opens an archive, as for `tables`.
        careful: Whether to work in child processes from the start, not only after a worker died.

    Raises:
        TypeError: If the paths are one string.
        ValueError: If two archives would have the same output, an archive would be its own output,
            a path has an unknown scheme, or the date (or SOURCE_DATE_EPOCH) is malformed.
    """
    date = date_of_run(os.environ.get("SOURCE_DATE_EPOCH", "")) if date is None else date
    check_date(date)
    storage.refuse_unknown([output], "give a directory that all workers see")
    job = Job(
        opener or storage.open_archive,
        as_profile(profile),
        policy,
        careful,
        converts=True,
        date=date,
        all_status=all_status,
        salvage=salvage,
        replace=replace,
    )
    frame, groups = _tasks(spark, source, How(prefix=prefix, partitions=partitions, opener=opener))
    paths = [part.path for group in groups or () for part in group]
    names = Counter(map(name_of, paths))
    if clashes := [name for name, count in names.items() if count > 1]:
        raise ValueError(f"several archives would be {min(clashes)!r}: use separate runs")
    storage.make_directory(output)
    for path in paths:
        if storage.is_same(path, storage.join(output, name_of(path))):
            raise ValueError(f"the output of {path!r} would replace it: give another directory")
    work = partial(tasks.report_batches, job, groups, output)
    rows = frame.mapInArrow(work, "report binary").collect()
    reports: list[Report] = [pickle.loads(row.report) for row in rows]  # noqa: S301 (our workers')
    storage.sweep(output, {name_of(report.warc) for report in reports})
    return reports


def _tasks(
    spark: SparkSession, source: Sequence[str] | DataFrame, how: How
) -> tuple[DataFrame, list[list[Part]] | None]:
    if isinstance(source, str):
        raise TypeError(f"paths are a list: give [{source!r}]")
    prefix = how.get("prefix", "")
    if "PYSPARK_PYTHON" not in os.environ:
        with suppress(Exception):  # a session of Spark Connect has no context
            context = spark.sparkContext
            # In local mode use this Python: the first one on the PATH may not have relbase.
            if (context.master or "").startswith("local"):
                context.pythonExec = sys.executable
    if hasattr(source, "mapInArrow"):
        return _of_index(spark, cast("DataFrame", source), prefix, how.get("partitions")), None
    paths = [prefix + path for path in source]
    if how.get("opener") is None:
        storage.refuse_unknown(paths, "give an opener")
    groups = _groups(paths)
    if not groups:
        return spark.range(0), []
    return spark.range(0, len(groups), 1, len(groups)), groups


def _groups(paths: Sequence[str]) -> list[list[Part]]:
    """The archives of each task: consecutive small files share one."""
    groups: list[list[Part]] = []
    left = 0
    for path in paths:
        size = _TASK
        with suppress(OSError, ValueError):
            if not storage.is_url(path):
                size, _ = storage.state_of(path)
        if size > left:
            groups.append([])
            left = _TASK
        groups[-1].append(Part(path))
        left -= size
    return groups


_OF_INDEX: Final = ("warc_filename", "warc_record_offset", "warc_record_length")


def _of_index(
    spark: SparkSession, index: DataFrame, prefix: str, partitions: int | None
) -> DataFrame:
    """The records of an index, sorted by file and offset, in one range for each task."""
    if missing := [name for name in _OF_INDEX if name not in index.columns]:
        raise ValueError(f"the index has no column {missing[0]}: it needs {', '.join(_OF_INDEX)}")
    from pyspark.sql import functions  # needs a session

    name, offset, length = (functions.col(column) for column in _OF_INDEX)
    rows = index.select(
        functions.concat(functions.lit(prefix), name).alias("path"),
        offset.cast("bigint").alias("offset"),
        length.cast("bigint").alias("length"),
    )
    count = partitions or _TASKS_A_CORE * spark.sparkContext.defaultParallelism
    by_place = rows.repartitionByRange(count, "path", "offset")
    return by_place.sortWithinPartitions("path", "offset")
