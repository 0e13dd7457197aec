"""Work on an archive in a child, so that a record which ends its process costs itself alone.

Strategy: the child says which record it begins and what it made, on its standard output. When it
ends before it is done, the record that was begun is a fault, and another child passes over all that
was begun. To mind: a child that ends between two records has no culprit; nothing more is read then.
"""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from pyspark import cloudpickle

from relbase.containers.warc import Fault, Trouble
from relbase.records import NamedTuple
from relbase.warc.work import items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.containers.warc import Record
    from relbase.warc.work import Item, Job

# Of the child that works on what ended a worker, in bytes of address space.
MAX_MEMORY: Final = 4 << 30


class _Begun(NamedTuple):
    """What a child says before it looks into a record."""

    offset: int
    record_id: str
    url: str


def in_children(job: Job, path: str) -> Iterator[Item]:
    """What is made of an archive by children: each works until it is done, or dies of a record.

    The next one passes over all that was begun: what was made of it is here, or it is a fault.
    """
    begun = 0
    seen: set[Fault] = set()
    while True:
        last: _Begun | None = None
        for reported in _sent_by_child(job, path, begun):
            if isinstance(reported, _Begun):
                last, begun = reported, begun + 1
            elif reported is None:
                return
            elif isinstance(reported, Fault) and reported in seen:
                continue
            else:
                last = None
                if isinstance(reported, Fault):
                    seen.add(reported)
                yield reported
        if last is None:
            text = "the process that read the archive ended between two records: the rest is lost"
            yield Fault(0, "", "", Trouble.DIED, text)
            return
        yield Fault(*last, Trouble.DIED, "the process that worked on it ended")


def _sent_by_child(job: Job, path: str, begun: int) -> Iterator[Item | _Begun | None]:
    """What a child says until it is done (None), or no more."""
    command = [sys.executable, "-c", "from relbase.spark.children import child_main; child_main()"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(  # noqa: S603 (this interpreter)
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            with suppress(OSError), child.stdin:
                child.stdin.write(cloudpickle.dumps((job, path, begun)))  # type: ignore[no-untyped-call]
            with suppress(EOFError, pickle.UnpicklingError):
                while True:
                    yield pickle.load(child.stdout)  # noqa: S301 (of our own child)
        finally:
            child.kill()


def child_main() -> None:
    """Work on an archive, and say on standard output what is begun and what was made."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    job, path, begun = pickle.load(sys.stdin.buffer)  # noqa: S301 (of our own parent)
    # What the user's functions print is not for the parent.
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)

        def tell(value: Item | _Begun | None) -> None:
            pickle.dump(value, output)
            output.flush()

        left = begun

        def skip(record: Record) -> bool:
            nonlocal left
            left -= 1
            is_done: bool = left >= 0
            if not is_done:
                tell(_Begun(record.offset, record.get("warc-record-id"), record.get(_TARGET)))
            return is_done

        for item in items(job, path, skip):
            tell(item)
        tell(None)


_TARGET: Final = "warc-target-uri"
