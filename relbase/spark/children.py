"""Work on archives in a child, so that a record which ends its process costs itself alone.

The child says which record it begins and what it made. When it ends before it is done, the record
that was begun is a fault. A child that ends between two records has no culprit: reading ends then.
"""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from pyspark import cloudpickle

from relbase.containers.warc import Fault, Trouble
from relbase.warc.work import items

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relbase.containers.warc import Record
    from relbase.warc.work import Item, Job, Part

# Of the child that works on what ended a worker, in bytes of address space.
MAX_MEMORY: Final = 4 << 30


class _Begun(NamedTuple):
    """What a child says before it looks into a record."""

    offset: int
    record_id: str
    url: str


def in_children(job: Job, parts: Sequence[Part]) -> Iterator[tuple[str, Item]]:
    """What is made of archives by children: each works until it is done, or dies of a record.

    The next one passes over all that was begun: what was made of it is here, or it is a fault.
    """
    begun = 0
    path = parts[0].path if parts else ""
    seen: set[tuple[str, Fault]] = set()
    while True:
        last: _Begun | None = None
        for told in _told_by_child(job, parts, begun):
            if told is None:
                return
            path, made = told
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


def _told_by_child(
    job: Job, parts: Sequence[Part], begun: int
) -> Iterator[tuple[str, Item | _Begun] | None]:
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
                child.stdin.write(cloudpickle.dumps((job, parts, begun)))  # type: ignore[no-untyped-call]
            with suppress(EOFError, pickle.UnpicklingError):
                while True:
                    yield pickle.load(child.stdout)  # noqa: S301 (of our own child)
        finally:
            child.kill()


def child_main() -> None:
    """Work on archives, and say on standard output what is begun and what was made."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    job, parts, left = pickle.load(sys.stdin.buffer)  # noqa: S301 (of our own parent)
    # What the user's functions print is not for the parent.
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)

        def tell(value: tuple[str, Item | _Begun] | None) -> None:
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
