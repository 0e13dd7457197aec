"""Work in children: what ends a process costs its record alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import poison
import pytest
from archives import gz, http, record, record_id, response

pytest.importorskip("pyspark", reason="Spark: extra `spark`")

from relbase import Policy
from relbase.spark.tasks import in_children
from relbase.storage import open_archive
from relbase.warc import Fault, Trouble
from relbase.warc.work import Job, Part, items

if TYPE_CHECKING:
    from pathlib import Path

RECORDS: Final = [
    response(1, "http://h/1/", http(b"<a href=x>")),
    response(2, "http://h/2/", http(b"<a href=poison>")),
    response(3, "http://h/3/", http(b"<a href=y>", "Content-Encoding: br")),
    record(4, "revisit", b"", ("WARC-Refers-To", record_id(1)), ("WARC-Target-URI", "http://h/4/")),
    response(5, "http://h/5/", http(b"<a href=poison><a href=z>")),
    response(6, "http://h/6/", http(b"<a href=x>")),
]


def job(policy: Policy = Policy(), *, converts: bool = False) -> Job:  # noqa: B008 (frozen)
    date = "2026-01-02T03:04:05Z"
    return Job(open_archive, policy=policy, converts=converts, date=date)


@pytest.fixture
def archive(tmp_path: Path) -> str:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"".join(map(gz, RECORDS)) + gz(RECORDS[0])[:-1])
    return str(path)


@pytest.mark.parametrize("converts", [False, True])
def test_a_child_makes_what_its_parent_would(archive: str, converts: bool) -> None:  # noqa: FBT001
    parts = [Part(archive), Part(archive, len(gz(RECORDS[0])), len(gz(RECORDS[1])))]
    expected = list(items(job(converts=converts), parts))
    assert len(expected) == 9
    assert list(in_children(job(converts=converts), parts)) == expected


@pytest.mark.parametrize(
    ("policy", "trouble"), [(poison.Always(), Trouble.DIED), (poison.Forever(), Trouble.TOO_LARGE)]
)
def test_a_record_that_ends_its_process_is_a_fault(
    archive: str, policy: Policy, trouble: Trouble
) -> None:
    made = [item for _, item in in_children(job(policy), [Part(archive)])]
    died = [one for one in made if isinstance(one, Fault) and one.trouble is not Trouble.CUT]
    assert [fault.record_id for fault in died] == [record_id(2), record_id(5)]
    assert {fault.trouble for fault in died} == {trouble}
    pages = [one[0].page for one in made if isinstance(one, list)]
    assert pages == ["http://h/1/", "http://h/3/", "http://h/4/", "http://h/6/", "http://h/1/"]
    cut = [one for one in made if isinstance(one, Fault) and one.trouble is Trouble.CUT]
    assert len(cut) == 1


def test_an_archive_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    [(_, fault)] = in_children(job(), [Part(str(tmp_path / "none"))])
    assert isinstance(fault, Fault)
    assert fault.trouble is Trouble.UNREADABLE
