"""Several inputs, of which one is bad: it costs itself, in one process and in several."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from running import meanwhile, run

import relbase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.session.session import OpenedDocument

PAGE: Final = b"<!DOCTYPE html><a href=x>"
ROOT: Final = ("-r", "site", "--root", "site=http://h/")
DONE: Final = {
    "index.html": PAGE.replace(b"=x", b"=http://h/x"),
    "a/b.html": PAGE.replace(b"=x", b"=http://h/a/x"),
    "a/c d.html": PAGE.replace(b"=x", b"=http://h/a/x"),
    "a/img.png": b"\x89PNG<a href=x>",
}


@pytest.fixture(autouse=True)
def here() -> None:
    for name, content in DONE.items():
        path = Path("site", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if name.endswith("png") else PAGE)


def files(tree: str) -> dict[str, bytes]:
    paths = (path for path in Path(tree).rglob("*") if path.is_file())
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in paths}


def rows(path: str = "report.jsonl") -> dict[str, dict[str, Any]]:
    found = map(json.loads, Path(path).read_text().splitlines())
    return {row["file"]: row for row in found}


def test_several_processes_do_what_one_does() -> None:
    result = run("rewrite", *ROOT, "-o", "out", "-j", "2")
    assert (result.exit_code, files("out")) == (0, DONE)
    result = run("rewrite", *ROOT, "-i", "-j", "2")
    assert (result.exit_code, files("site")) == (0, DONE)


# ---- on systems where processes are forked, and so know what a test changes


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_poison_file_costs_itself(jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def poisoned(data: bytes) -> None:
        if b"poison" in data:
            raise RuntimeError("x")
        if b"deadly" in data and jobs == "2":
            os.kill(os.getpid(), signal.SIGKILL)

    meanwhile(monkeypatch, poisoned)
    for name in ("poison", "deadly"):
        Path(f"site/{name}.html").write_bytes(PAGE + name.encode())
    result = run("rewrite", *ROOT, "-o", "out", "-j", jobs, "--report", "report.jsonl")
    assert result.exit_code == 3
    assert "this is a bug in relbase, please report it" in result.stderr
    done = files("out")
    assert {name: done[name] for name in DONE} == DONE
    assert "poison.html" not in done
    if jobs == "2":
        assert "the process that read it died (signal 9)" in result.stderr
        assert rows()["site/deadly.html"]["state"] == "failed"


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("where", ["-i", "-o out"])
def test_a_process_that_is_killed_leaves_nothing(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def deadly(descriptor: int) -> None:
        if multiprocessing.parent_process() is not None:
            assert [*Path().rglob("*.relbase-tmp")]
            os.kill(os.getpid(), signal.SIGKILL)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", deadly)
    mail = b"From a@b Mon Jan  1 00:00:00 2024\nContent-Type: text/html\n\n"
    Path("site/in.mbox").write_bytes(mail + PAGE + b"\n")
    before = files("site")
    result = run("rewrite", *ROOT, *where.split(), "-j", "2")
    assert (result.exit_code, "died (signal 9)" in result.stderr) == (3, True)
    assert files("site") == before
    assert not [*Path().rglob("*.relbase-tmp"), *Path().rglob("*.lock")]


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_takes_too_long_costs_itself(jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(data: bytes) -> None:
        if b"slow" in data:
            time.sleep(60)

    meanwhile(monkeypatch, slow)
    for name in ("a/slow", "slow"):
        Path(f"site/{name}.html").write_bytes(PAGE + b"slow")
    given = ("-o", "out", "-j", jobs, "--time-limit", "1")
    result = run("rewrite", *ROOT, *given, "--report", "report.jsonl")
    assert result.exit_code == 3
    assert "site/slow.html: error: it took longer than 1 seconds (--time-limit)" in result.stderr
    assert "6 inputs: 3 rewritten, 1 unchanged, 2 failed" in result.stderr
    assert (files("out"), rows()["site/slow.html"]["state"]) == (DONE, "failed")
    assert run("rewrite", *ROOT, "-o", "x", "-j", jobs, "--time-limit", "0").exit_code == 2


@pytest.mark.usefixtures("native")
def test_the_start_of_a_process_is_not_counted_as_time_of_its_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("relbase.cli.run._limit_memory", lambda: time.sleep(1.2))
    result = run("rewrite", *ROOT, "-o", "out", "-j", "2", "--time-limit", "1")
    assert (result.exit_code, files("out")) == (0, DONE)


@pytest.mark.usefixtures("native")
def test_a_file_that_is_larger_than_the_memory_costs_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sysconf = os.sysconf
    pages = (512 << 20) // sysconf("SC_PAGE_SIZE")
    monkeypatch.setattr(
        os, "sysconf", lambda name: pages if name == "SC_PHYS_PAGES" else sysconf(name)
    )
    with Path("site/large.html").open("wb") as file:
        file.write(b"<!DOCTYPE html>")
        file.truncate(1 << 30)  # a hole
    result = run("rewrite", *ROOT, "-o", "out", "-j", "2")
    assert result.exit_code == 3
    assert "site/large.html: error: it does not fit into memory" in result.stderr
    assert "5 inputs: 3 rewritten, 1 unchanged, 1 failed" in result.stderr
    assert not Path("out/large.html").exists()


# ---- threats N12, P3, W7: nothing outside of the tree is read or written

HOOKED: Final = """
import sys
opened = []
def hook(event, arguments):
    if event in ("open", "os.rename", "os.remove", "os.link", "os.mkdir", "shutil.copyfile"):
        opened.append((event, str(arguments[0])))
    elif event.startswith(("socket.", "subprocess.", "os.exec", "os.system", "urllib.")):
        opened.append((event, "!"))
sys.addaudithook(hook)
from relbase.cli.group import run
status = run(sys.argv[1:])
for event, name in opened:
    print(event, name)
sys.exit(status)
"""


@pytest.mark.usefixtures("native")
def test_nothing_outside_of_the_tree_is_read_or_written() -> None:
    Path("secret.html").write_bytes(PAGE)
    Path("site/out.html").symlink_to("../secret.html")
    Path("site/loop").symlink_to("..")
    mark = b"<!-- saved from url=(0015)http://h.ex/d/p -->"
    hostile = (
        b'<a href="../secret.html"><a href="..%2fsecret.html"><a href="loop/secret.html">'
        b'<a href="out.html"><a href="file:///etc/passwd"><a href="%00"><a href="/etc/passwd">'
        b'<a href="..\\secret.html"><base href="file:///etc/">'
    )
    Path("site/hostile.html").write_bytes(b"<!DOCTYPE html>" + mark + hostile)
    Path("site/file.html").write_bytes(b"<!-- saved from url=(0017)file:///etc/passwd -->" + PAGE)
    command = [sys.executable, "-c", HOOKED, "rewrite", "-r", "site", "-o", "out"]
    command += ["--local", "resolve", "--mirror", "site=http"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    own = [line for line in ran.stdout.splitlines() if "secret.html" in line or "!" in line]
    assert own == []
    names = {line.partition(" ")[2] for line in ran.stdout.splitlines()}
    assert not {name for name in names if name.startswith("/etc") and "passwd" in name}
    assert not Path("out/out.html").exists()
    written = {str(path.relative_to("out")) for path in Path("out").rglob("*") if path.is_file()}
    assert written == {*DONE, "hostile.html", "file.html"}


def test_the_links_made_absolute_are_those_that_links_lists() -> None:
    fixtures = Path(__file__).parents[2] / "fixtures"
    paths = [path for path in sorted(fixtures.glob("[!w]*/*")) if path.suffix != ".toml"]
    several = 0
    for path in paths:
        given = [str(path), "--url", "http://h.example/d/p.html"]
        listed = run("links", *given).stdout.count(" [rewritten]\n")
        shown = run("rewrite", *given, "-o", "out", "-v").stderr
        Path("out").unlink(missing_ok=True)
        made = re.search(r"(\d+) links? made absolute", shown)
        assert int(made[1] if made else 0) == listed, path
        several += listed > 1
    assert several > 50


def test_links_of_one_line_are_counted_one_by_one() -> None:
    part = b"Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n"
    Path("a.eml").write_bytes(part + b"\n<a href=3Da><a href=3Db><a href=3Dc>\n")
    given = ("a.eml", "--url", "http://h/", "-o", "out.eml", "--report", "report")
    assert "3 links made absolute" in run("rewrite", *given, "-v").stderr
    row = json.loads(Path("report").read_bytes())
    assert (row["places"], row["links"]) == (1, {"rewritten": 3})


# ---- `links` in several processes


ARCHIVE: Final = (
    b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://h/%d/\r\n"
    b"WARC-Record-ID: <urn:x:%d>\r\nContent-Type: text/html\r\nContent-Length: 22\r\n\r\n"
    b"<a href=x><a href=//y>\r\n\r\n"
)


def test_a_process_whose_output_has_another_charset(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows it has a new interpreter, whose output is not yet UTF-8."""

    def in_processes(work: Any, jobs: Any, _count: int) -> Iterator[Any]:
        for job in jobs:
            with monkeypatch.context() as patch:
                patch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
                outcome = work(job)
            yield outcome

    Path("a.html").write_text("<a href='a|b'>", "utf-8")
    Path("b.html").write_text("<a href='c|d'>", "utf-8")
    names, options = ("a.html", "b.html"), ("--root", ".=http://h/", "--violations")
    one = listed(*names, *options, jobs="1")
    assert "§" in one[1]
    monkeypatch.setattr("relbase.cli.parallel.in_processes", in_processes)
    assert listed(*names, *options, jobs="2") == one


def listed(*arguments: str, jobs: str) -> tuple[int, str, str]:
    result = run("links", *arguments, "-j", jobs)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("options", ["", "--json", "--violations --strict", "-q", "-v"])
def test_links_in_several_processes_are_those_of_one_in_order(options: str) -> None:
    mail = b"From a@b Mon Jan  1 00:00:00 2024\nContent-Type: text/html\n\n" + PAGE + b"\n"
    Path("many.html").write_bytes(PAGE + b"<a href='a|b'>" * 5000)
    Path("in.mbox").write_bytes(mail * 3)
    Path("cut.warc").write_bytes(ARCHIVE % (1, 1) + b"WARC/1.1\r\n")
    Path("feed.xml").write_bytes(
        b"<rss><channel><link>l</link><item><link>i</link></item></channel>"
    )
    names = ["many.html", "in.mbox", "missing", "cut.warc", "feed.xml", "site"]
    one = listed(*names, *options.split(), jobs="1")
    assert one[0] == 3
    assert ("cut.warc: error" in one[2], "missing: error" in one[2]) == (True, True)
    for jobs in ("2", "5", "0"):
        code, out, err = listed(*names, *options.split(), jobs=jobs)
        assert (code, out, sorted(err.splitlines())) == (
            one[0],
            one[1],
            sorted(one[2].splitlines()),
        )


def test_tables_of_several_processes_are_those_of_one() -> None:
    pytest.importorskip("pyarrow", reason="the extra warc")
    names = [f"{number}.warc" for number in range(4)]
    for number, name in enumerate(names):
        end = b"WARC/1.1\r\n" if number % 2 else b""
        Path(name).write_bytes(ARCHIVE % (number, number) * 50 + end)
    Path("none.warc").write_bytes(ARCHIVE.replace(b"href", b"hxxx") % (9, 9))
    tables = []
    for jobs in ("1", "3"):
        assert listed(*names, "none.warc", "--parquet", f"{jobs}.parquet", jobs=jobs)[0] == 3
        tables.append([Path(f"{jobs}{end}.parquet").read_bytes() for end in ("", ".errors")])
    assert tables[0] == tables[1]
    assert listed("none.warc", names[0], "--parquet", "x.parquet", jobs="2")[0] == 0
    assert listed("site/index.html", "feed.xml", "--parquet", "y.parquet", jobs="2")[0] == 3
    assert (Path("x.parquet").exists(), Path("y.parquet").exists()) == (True, False)


def test_counts_and_maps_of_messages_in_several_processes() -> None:
    mail = b"From a@b Mon Jan  1 00:00:00 2024\nFrom: %b@h\nContent-Type: text/html\n\n<a href=x>\n"
    for name in (b"one", b"two", b"three"):
        Path(f"{name.decode()}.mbox").write_bytes(mail % name * len(name))
    Path("map.tsv").write_bytes(b"one@h\thttp://h/\ntwo@h\thttp://h/\nfour@h\thttp://h/\n")
    names = ["one.mbox", "two.mbox", "three.mbox"]
    for options in (["--unresolved-by", "sender"], ["--message-map", "map.tsv", "--strict"]):
        one, two = (listed(*names, *options, jobs=jobs) for jobs in ("1", "3"))
        assert one == two
    assert ("four@h" in two[2], "two@h" in two[2]) == (True, False)


@pytest.mark.usefixtures("native")
def test_a_process_that_dies_costs_links_one_input(monkeypatch: pytest.MonkeyPatch) -> None:
    real = relbase.session.run.links

    def deadly(given: OpenedDocument, **how: bool) -> Any:
        if b"deadly" in given.document.data:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(given, **how)

    monkeypatch.setattr("relbase.session.run.links", deadly)
    Path("site/deadly.html").write_bytes(PAGE + b"deadly")
    for end in (".out", ".err", ".rows"):  # of the user
        Path(end).write_bytes(b"own")
    code, out, err = listed("site", "--root", "site=http://h/", jobs="2")
    assert (code, "site/deadly.html: error: the process that read it died" in err) == (3, True)
    assert (out.count(" -> http://h/"), "deadly" in out, "own" in out) == (3, False, False)
    assert all(Path(end).read_bytes() == b"own" for end in (".out", ".err", ".rows"))


def test_standard_input_is_read_by_one_process() -> None:
    result = run("links", "-", "site/index.html", "-j", "4", stdin=PAGE)
    assert (result.exit_code, result.stdout.count("[unresolved]")) == (0, 2)
