"""What runs on the workers: rows become Arrow batches, conversions a file of each attempt."""

from __future__ import annotations

import errno
import json
import os
import pickle
import resource
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, cast

import pyarrow as pa
from pyspark import TaskContext, cloudpickle

from relbase import storage
from relbase.containers.warc import Fault, Record, Trouble
from relbase.warc import pack
from relbase.warc.rows import LinkRow, PackedRows, selector
from relbase.warc.table import BATCH, ERRORS, REPEATED, Columns, error_row, schema_of
from relbase.warc.work import Job, Outcome, Part, info_of, items, name_of

Groups = Sequence[Sequence[Part]]

# The prefix of the columns of troubles in a frame that also has those of links.
MARK: Final = "_"
# The limit on the address space of a child process, in bytes.
MAX_MEMORY: Final = 4 << 30


class Report(NamedTuple):
    """The result of converting an archive.

    Args:
        warc: Path of the archive; for an index the name of the output.
        output: Path of its conversions; "" if they could not be written.
        pages: Number of pages.
        conversions: Number of conversions written.
        places: Number of links changed.
        faults: What could not be read.
    """

    warc: str
    output: str
    pages: int
    conversions: int
    places: int
    faults: tuple[Fault, ...]


def _parts(groups: Groups | None, batch: pa.RecordBatch) -> Iterator[Sequence[Part]]:
    if groups is None:
        yield [
            Part(*row)
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        ]
    else:
        yield from (groups[number] for number in batch.column(0).to_pylist())


def _worked(job: Job, parts: Sequence[Part]) -> Iterator[tuple[str, Outcome]]:
    task = TaskContext.get()
    if job.careful or (task is not None and task.attemptNumber() > 0):
        return in_children(job, parts)
    return items(job, parts)


def schema_of_links(names: Sequence[str], texts: pa.DataType | None = None) -> pa.Schema:
    """Return the columns of links, then those of troubles."""
    links = schema_of(names, texts or pa.string())
    return pa.schema([*links, *(pa.field(MARK + field.name, field.type) for field in ERRORS)])


def link_batches(
    job: Job,
    groups: Groups | None,
    names: Sequence[str],
    data_urls: bool,  # noqa: FBT001 (bound by the driver)
    given: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    schema = schema_of_links(names)
    columns = Columns(schema_of_links(names, REPEATED), BATCH)
    select = selector(names, data_urls=data_urls)
    no_link, no_trouble = (None,) * len(names), (None,) * len(ERRORS)

    def decoded(batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays = [
            column.dictionary_decode() if column.type == REPEATED else column
            for column in batch.columns
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def wide(row: LinkRow | PackedRows) -> tuple[object, ...]:
        chosen = select(row)
        if isinstance(chosen, PackedRows):
            return chosen._replace(values=chosen.values + no_trouble)
        return *chosen, *no_trouble

    for batch in given:
        for parts in _parts(groups, batch):
            for path, item in _worked(job, parts):
                if isinstance(item, Fault):
                    yield from map(decoded, columns.add([no_link + error_row(item, path)]))
                else:
                    yield from map(decoded, columns.add(map(wide, cast("list[Any]", item))))
    if len(columns):
        yield decoded(columns.take())


def report_batches(
    job: Job, groups: Groups | None, output: str, given: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Write conversions, and yield the report on each output."""
    if groups is None and (whole := list(given)):  # all rows of a partition have one output
        given = pa.Table.from_batches(whole).combine_chunks().to_batches()
    for batch in given:
        for parts in _parts(groups, batch):
            if groups is None:
                task = TaskContext.get()
                name = f"part-{task.partitionId() if task else 0:05}.warc.gz"
                reports = [_converted(job, parts, output, name)] if parts else []
            else:
                reports = [_known(job, part, output) for part in parts]
            # A path may hold bytes that are not UTF-8.
            rows = [{"report": pickle.dumps(report)} for report in reports]
            yield pa.RecordBatch.from_pylist(rows, schema=pa.schema([("report", pa.binary())]))


def _known(job: Job, part: Part, output: str) -> Report:
    name = name_of(part.path)
    listed = storage.join(output, f"{name}.json")
    state = _state(job, part.path)
    with suppress(OSError, ValueError, KeyError, TypeError):
        with storage.open_archive(listed) as file:
            kept = json.loads(file.read())
        if state and kept["made_of"] == state:
            reported = kept["report"]
            faults = tuple(
                Fault._make((*at, Trouble(why), text, None))
                for *at, why, text in reported["faults"]
            )
            known = Report(**{**reported, "faults": faults})
            size, _ = storage.state_of(storage.join(output, name))
            if size == kept["size"]:
                return known._replace(warc=part.path, output=storage.join(output, name))
    report = _converted(job, [part], output, name)
    if report.output and state:
        size, _ = storage.state_of(report.output)
        rows = [[*fault[:3], fault.trouble.value, fault.text] for fault in report.faults]
        reported = {**report._asdict(), "faults": rows}
        made = _temporary(output, f"{name}.json")
        with suppress(OSError):
            with open(made, "w", encoding="utf-8") as file:  # noqa: PTH123
                json.dump({"made_of": state, "size": size, "report": reported}, file)
            storage.put(made, listed)
    return report


def _state(job: Job, path: str) -> list[Any]:
    """The state of an archive and the options for it; [] if they cannot be compared."""
    if job.replace is not None:  # nobody knows what a function did before
        return []
    try:
        if job.opener is storage.open_archive:
            state = storage.state_of(path)
        else:
            with job.opener(path) as file:
                state = (file.seek(0, os.SEEK_END), 0)
    except Exception:  # noqa: BLE001 (an opener may raise anything; reading reports it)
        return []
    return [info_of(job, path)[0], job.all_status, job.salvage, *state]


def _converted(job: Job, parts: Sequence[Part], output: str, name: str) -> Report:
    final = storage.join(output, name)
    path = parts[0].path if len(parts) == 1 else name
    count = conversions = places = 0
    faults: list[Fault] = []
    made = ""
    try:
        made = _temporary(output, name)
        with open(made, "wb") as file:  # noqa: PTH123
            info, record = info_of(job, name)
            file.write(pack(record))
            for _, item in _worked(job._replace(info=info), parts):
                if isinstance(item, Fault):
                    faults.append(item)
                    continue
                record, changed = cast("tuple[bytes, int]", item)
                file.write(record)
                count += 1
                conversions += bool(record)
                places += changed
            file.flush()
            os.fsync(file.fileno())
        if any(storage.is_same(part.path, final) for part in parts):  # the driver may not notice
            raise FileExistsError(errno.EEXIST, "it is the archive itself")
        storage.put(made, final)
    except OSError as error:
        with suppress(OSError):
            os.unlink(made)  # noqa: PTH108
        text = f"{final}: {error.strerror or error}"
        faults.append(Fault(0, "", "", Trouble.UNREADABLE, text))
        final = ""
    return Report(path, final, count, conversions, places, tuple(faults))


def _temporary(output: str, name: str) -> str:
    task = TaskContext.get()
    attempt = f"{task.taskAttemptId() if task else 0}.{socket.gethostname()}.{os.getpid()}"
    directory = tempfile.gettempdir() if storage.is_url(output) else output
    return storage.join(directory, f".{name}.{attempt}{storage.TEMPORARY}")


class _Begun(NamedTuple):
    offset: int
    record_id: str
    url: str


def in_children(job: Job, parts: Sequence[Part]) -> Iterator[tuple[str, Outcome]]:
    """Process archives in child processes: each works until it is done, or until a record kills it.

    The next child skips all records that were begun: their results or faults are already here.
    """
    begun = 0
    path = parts[0].path if parts else ""
    seen: set[tuple[str, Fault]] = set()
    while True:
        last: _Begun | None = None
        for reported in _reports_of_child(job, parts, begun):
            if reported is None:
                return
            path, made = reported
            if isinstance(made, _Begun):
                last, begun = made, begun + 1
            elif not isinstance(made, Fault):
                last = None
                yield path, made
            elif (path, made) not in seen:
                last = None
                seen.add((path, made))
                yield path, made
        if last is None:
            text = "the process that read the archive ended between two records: the rest is lost"
            yield path, Fault(0, "", "", Trouble.DIED, text)
            return
        yield path, Fault(*last, Trouble.DIED, "the process that worked on it ended")


def _reports_of_child(
    job: Job, parts: Sequence[Part], begun: int
) -> Iterator[tuple[str, Outcome | _Begun] | None]:
    """Yield what a child process reports; None at the end if it finished."""
    command = [sys.executable, "-c", "from relbase.spark.tasks import child_main; child_main()"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(  # noqa: S603 (this interpreter)
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            with suppress(OSError), child.stdin:
                child.stdin.write(cloudpickle.dumps((job, parts, begun)))  # type: ignore[no-untyped-call]
            with suppress(EOFError, pickle.UnpicklingError):
                while True:
                    yield pickle.load(child.stdout)  # noqa: S301 (of our own child)
        finally:
            child.kill()


def child_main() -> None:
    """Process archives, and report on standard output what is begun and what was made."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    job, parts, left = pickle.load(sys.stdin.buffer)  # noqa: S301 (of our own parent)
    # The parent must not see what the user's functions print.
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)

        def tell(value: tuple[str, Outcome | _Begun] | None) -> None:
            pickle.dump(value, output)
            output.flush()

        def skip(part: Part, record: Record) -> bool:
            nonlocal left
            left -= 1
            if left >= 0:
                return True
            offset = part.offset + record.offset
            tell((part.path, _Begun(offset, record.get("warc-record-id"), record.url)))
            return False

        for made in items(job, parts, skip):
            tell(made)
        tell(None)
