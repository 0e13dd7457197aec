"""The jobs: one archive a task, rows as Arrow batches, conversions as files of each attempt."""

from __future__ import annotations

import errno
import os
import socket
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import pyarrow as pa
from pyspark import TaskContext

from relbase.call import DEFAULT_POLICY
from relbase.containers.warc import Fault, Trouble
from relbase.records import NamedTuple
from relbase.spark.children import in_children
from relbase.url.resolver import Profile, as_profile
from relbase.warc import pack
from relbase.warc.columns import Columns
from relbase.warc.rows import LinkRow
from relbase.warc.table import PLAIN
from relbase.warc.work import Job, info_of, items, name_of
from relbase.warc.writing import check_date, date_of_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from relbase.policy import Policy
    from relbase.url.resolver import ProfileName
    from relbase.warc.work import Item, Opener

# Rows in a batch that goes to the JVM.
_BATCH: Final = 20_000

# The columns of the table of links, as Spark names their types.
_NAMES: Final = {pa.int64(): "bigint", pa.int16(): "smallint", pa.int32(): "int"}
COLUMNS: Final = ", ".join(f"`{one.name}` {_NAMES.get(one.type, 'string')}" for one in PLAIN)

# What `outcome` says in the row of a fault; `reference` is its text, `syntax` its trouble.
ERROR: Final = "error"

_REPORT: Final = (
    "number bigint, is_written boolean, pages bigint, conversions bigint, places bigint, "
    "faults array<struct<offset: bigint, record_id: string, page: string, trouble: string, "
    "text: string>>"
)
_REPORTS: Final = pa.schema(
    [
        ("number", pa.int64()),
        ("is_written", pa.bool_()),
        ("pages", pa.int64()),
        ("conversions", pa.int64()),
        ("places", pa.int64()),
        (
            "faults",
            pa.list_(
                pa.struct(
                    [
                        ("offset", pa.int64()),
                        ("record_id", pa.string()),
                        ("page", pa.string()),
                        ("trouble", pa.string()),
                        ("text", pa.string()),
                    ]
                )
            ),
        ),
    ]
)


def open_file(path: str) -> BinaryIO:
    """Open an archive that is a file."""
    return open(path, "rb")  # noqa: PTH123 (a path of the user's; who asked closes it)


class Report(NamedTuple):
    """What became of an archive.

    Args:
        warc: its path.
        output: the path of its conversions, "" when they could not be written.
        pages: how many it has.
        conversions: how many were written.
        places: in how many places links changed.
        faults: what of it could not be read.
    """

    warc: str
    output: str
    pages: int
    conversions: int
    places: int
    faults: tuple[Fault, ...]


def links(
    spark: SparkSession,
    paths: Sequence[str],
    *,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
    opener: Opener = open_file,
    careful: bool = False,
) -> DataFrame:
    """Return the links of archives, with the columns of `relbase.warc.LinkRow`.

    Args:
        spark: the session.
        paths: of the archives, which every worker can open.
        profile: the algorithm that resolves.
        policy: what is left alone.
        opener: opens an archive by its path, for reading and seeking.
        careful: whether to work in children at once, not only when a worker died.

    What cannot be read is a row, too: its `outcome` is `error`, its `reference` says why.
    """
    job = Job(opener, _listed(paths), as_profile(profile), policy, careful)
    return _tasks(spark, job).mapInArrow(partial(_link_batches, job), COLUMNS)


def convert(
    spark: SparkSession,
    paths: Sequence[str],
    output: str,
    *,
    date: str | None = None,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
    all_status: bool = False,
    salvage: bool = False,
    opener: Opener = open_file,
    careful: bool = False,
) -> list[Report]:
    """Write the conversions of archives, a file for each, and return what became of them.

    Args:
        spark: the session.
        paths: of the archives, which every worker can open.
        output: a directory that every worker can write to.
        date: of the conversions, as 2026-01-02T03:04:05Z; None for SOURCE_DATE_EPOCH or now.
        profile: the algorithm that resolves.
        policy: what is left alone.
        all_status: whether responses of every status are converted, not of 2xx alone.
        salvage: whether what is there of a truncated page is converted.
        opener: opens an archive by its path, for reading and seeking.
        careful: whether to work in children at once, not only when a worker died.

    Raises:
        TypeError: if the paths are one string.
        ValueError: if two archives would have one output, or one would be its own, or if the date,
            or that of SOURCE_DATE_EPOCH, is not one.
    """
    date = date_of_run(os.environ.get("SOURCE_DATE_EPOCH", "")) if date is None else date
    check_date(date)
    names = [name_of(path) for path in _listed(paths)]
    if clashes := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"several archives would be {min(clashes)!r}: convert them in two runs")
    os.makedirs(output, exist_ok=True)  # noqa: PTH103 (a path of the user's)
    known = as_profile(profile)
    job = Job(opener, _listed(paths), known, policy, careful, output, date, all_status, salvage)
    if own := [path for path in paths if _is_same(path, _output(job, path))]:
        raise ValueError(f"the output of {own[0]!r} would replace it: give another directory")
    rows = _tasks(spark, job).mapInArrow(partial(_report_batches, job), _REPORT).collect()
    _sweep(output, names)
    return [_report(job, row.asDict(recursive=True)) for row in rows]


def _listed(paths: Sequence[str]) -> tuple[str, ...]:
    if isinstance(paths, str):
        raise TypeError(f"paths are a list: give [{paths!r}]")
    return tuple(paths)


def _is_same(path: str, other: str) -> bool:
    with suppress(OSError, ValueError):  # it need not be a file here
        if os.path.samefile(path, other):  # noqa: PTH121 (paths of the user's)
            return True
    return os.path.abspath(path) == os.path.abspath(other)  # noqa: PTH100


def _tasks(spark: SparkSession, job: Job) -> DataFrame:
    """A row and a partition for each archive."""
    if not job.paths:
        return spark.range(0)
    if "PYSPARK_PYTHON" not in os.environ:
        # Otherwise the workers take the first Python of the PATH, which may have no relbase.
        with suppress(Exception):  # a session of Spark Connect has no context
            context = spark.sparkContext
            if (context.master or "").startswith("local"):
                context.pythonExec = sys.executable
    count = len(job.paths)
    return spark.range(0, count, 1, count)


# ---- tasks


def _worked(job: Job, path: str) -> Iterator[Item]:
    """What is made of an archive: in this process, or in a child once that has failed."""
    task = TaskContext.get()
    if job.careful or (task is not None and task.attemptNumber() > 0):
        return in_children(job, path)
    return items(job, path, lambda _: False)


def _link_batches(job: Job, given: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    columns = Columns(PLAIN, _BATCH)
    for batch in given:
        for number in batch.column(0).to_pylist():
            path = job.paths[number]
            for item in _worked(job, path):
                yield from columns.add(_rows(path, item))
    if len(columns):
        yield columns.take()


def _rows(path: str, item: Item) -> list[LinkRow]:
    if isinstance(item, list):
        return item
    assert isinstance(item, Fault)
    nothing = dict.fromkeys(LinkRow._fields)
    reported: dict[str, Any] = {
        "warc": path,
        "offset": item.offset,
        "record_id": item.record_id,
        "page": item.url,
        "syntax": item.trouble.value,
        "reference": item.text,
        "outcome": ERROR,
    }
    return [LinkRow(**{**nothing, **reported})]


def _report_batches(job: Job, given: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in given:
        for number in batch.column(0).to_pylist():
            report = _converted(job, job.paths[number])
            faults = [
                {
                    "offset": fault.offset,
                    "record_id": _plain(fault.record_id),
                    "page": _plain(fault.url),
                    "trouble": fault.trouble.value,
                    "text": _plain(fault.text),
                }
                for fault in report.faults
            ]
            # A path may hold bytes that are not UTF-8: it stays on this side.
            told = {"number": number, "is_written": bool(report.output), "faults": faults}
            row = {**report._asdict(), **told}
            yield pa.RecordBatch.from_pylist([row], schema=_REPORTS)


def _plain(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _report(job: Job, row: dict[str, Any]) -> Report:
    faults = tuple(
        Fault(
            fault["offset"],
            fault["record_id"],
            fault["page"],
            Trouble(fault["trouble"]),
            fault["text"],
        )
        for fault in row["faults"]
    )
    path = job.paths[row.pop("number")]
    output = _output(job, path) if row.pop("is_written") else ""
    return Report(path, output, **{**row, "faults": faults})


# ---- files

_TEMPORARY: Final = ".relbase-tmp"


def _output(job: Job, path: str) -> str:
    return os.path.join(job.output, name_of(path))  # noqa: PTH118 (a path of the user's)


def _converted(job: Job, path: str) -> Report:
    """Write the conversions of an archive into a file of this attempt, and give it its name."""
    task = TaskContext.get()
    attempt = f"{task.taskAttemptId() if task else 0}.{socket.gethostname()}.{os.getpid()}"
    final = _output(job, path)
    made = os.path.join(job.output, f".{name_of(path)}.{attempt}{_TEMPORARY}")  # noqa: PTH118
    count = conversions = places = 0
    faults: list[Fault] = []
    try:
        with open(made, "wb") as file:  # noqa: PTH123
            file.write(pack(info_of(job, path)[1]))
            for item in _worked(job, path):
                if isinstance(item, Fault):
                    faults.append(item)
                    continue
                record, changed = item
                assert isinstance(record, bytes)
                file.write(record)
                count += 1
                conversions += bool(record)
                places += changed if isinstance(changed, int) else 0
            file.flush()
            os.fsync(file.fileno())
        if _is_same(path, final):  # on a path that the driver does not see
            raise FileExistsError(errno.EEXIST, "it is the archive itself")
        os.replace(made, final)  # noqa: PTH105
    except OSError as error:
        with suppress(OSError):
            os.unlink(made)  # noqa: PTH108
        text = f"{final}: {error.strerror or error}"
        faults.append(Fault(0, "", "", Trouble.UNREADABLE, text))
        final = ""
    return Report(path, final, count, conversions, places, tuple(faults))


def _sweep(output: str, names: Sequence[str]) -> None:
    """Remove what attempts that were killed have left."""
    known = tuple(f".{name}." for name in names)
    with suppress(OSError):
        for entry in os.scandir(output):
            if entry.name.startswith(known) and entry.name.endswith(_TEMPORARY):
                os.unlink(entry.path)  # noqa: PTH108
