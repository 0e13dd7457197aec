"""Trees, lists, several processes, reports and what is done again: `rewrite` on many inputs."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import pytest
from running import done, meanwhile, program, run, told

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
    return {str(path.relative_to(tree)): path.read_bytes() for path in paths}


def rows(path: str = "report.jsonl") -> dict[str, dict[str, Any]]:
    found = map(json.loads, Path(path).read_text().splitlines())
    return {row["file"]: row for row in found}


SUM: Final = "4 inputs: 3 rewritten, 1 unchanged, 3 links made absolute\n"


@pytest.mark.parametrize("jobs", ["1", "2", "9"])
def test_a_tree_keeps_its_shape(jobs: str) -> None:
    result = run("rewrite", *ROOT, "-o", "out", "-j", jobs)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", SUM)
    assert files("out") == DONE


def test_in_place() -> None:
    result = run("rewrite", *ROOT, "-i", "-j", "2")
    assert (result.exit_code, result.stderr) == (0, SUM)
    assert files("site") == DONE
    result = run("rewrite", *ROOT, "-i")
    assert (result.exit_code, result.stderr) == (0, "4 inputs: 4 unchanged\n")


@pytest.mark.parametrize("again", [["--backup", ".before"], ["--backup", ".bak"], []])
def test_in_place_twice_leaves_the_backups(again: list[str]) -> None:
    suffix = again[1] if again else ".bak"
    Path("site/index.html.bak").write_bytes(PAGE)  # the next has a number
    assert run("rewrite", *ROOT, "-i", "--backup", suffix).exit_code == 0
    before = files("site")
    assert sum(content == PAGE for content in before.values()) == 4
    result = run("rewrite", *ROOT, "-i", *again)
    assert (result.exit_code, files("site")) == (0, before)
    assert "4 inputs: 4 unchanged; skipped: 4 kept beside a page" in result.stderr


def test_a_backup_of_nothing_is_a_file() -> None:
    Path("site/lone.html.bak").write_bytes(PAGE)
    Path("site/a.bak").mkdir()
    Path("site/a.bak/page.html").write_bytes(PAGE)
    assert "6 inputs: 5 rewritten" in run("rewrite", *ROOT, "-o", "out").stderr


def test_what_is_passed_over_is_counted() -> None:
    Path("site/.git").mkdir()
    Path("site/.git/x.html").write_bytes(PAGE)
    Path("site/hts-cache").mkdir()
    for name in ("index.html.orig", "a/b.html:Zone.Identifier", "a/b.html.headers"):
        Path("site", name).write_bytes(b"")
    Path("site/link.html").symlink_to("/etc/passwd")
    Path("site/loop").symlink_to(".")
    os.mkfifo("site/pipe")
    result = done("rewrite", *ROOT, "-o", "out", "--sidecar", ".headers")
    assert "4 kept beside a page by a program, or as a backup" in result.stderr
    assert "1 with a name that begins with a dot" in result.stderr
    assert "2 that are symbolic links" in result.stderr
    assert "1 that are not regular files" in result.stderr
    assert files("out") == DONE


def test_check_and_only() -> None:
    Path("site/feed.xml").write_bytes(b"<rss><channel><link>http://h/</link></channel></rss>")
    result = run("rewrite", *ROOT, "--check")
    assert result.exit_code == 1
    assert [line.partition(":")[0] for line in result.stdout.splitlines()] == [
        *("site/index.html", "site/a/b.html", "site/a/c d.html"),
    ]
    result = run("rewrite", *ROOT, "--check", "--only", "feeds,mail")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "5 inputs: 1 unchanged, 4 of other kinds" in result.stderr
    Path("site/sitemap.xml").write_bytes(b"<urlset><url><loc>/a</loc></url></urlset>")
    Path("site/feed.json").write_bytes(b'{"version":"https://jsonfeed.org/version/1","icon":"/i"}')
    Path("site/page.json").write_bytes(b'{"icon":"/i"}')
    result = run("rewrite", *ROOT, "--check", "--only", "feeds,mail")
    assert result.exit_code == 1
    assert [line.partition(":")[0] for line in result.stdout.splitlines()] == [
        *("site/feed.json", "site/sitemap.xml"),
    ]
    assert "5 of other kinds" in result.stderr


def test_check_without_a_base_finds_what_cannot_be_resolved() -> None:
    result = run("rewrite", "site/index.html", "--check")
    assert (result.exit_code, result.stdout.startswith("site/index.html:1:")) == (1, True)
    assert "is unknown" not in result.stderr  # each link is listed
    assert result.stderr.endswith(" (1 for want of a base URL), 1 relative link\n")
    assert run("rewrite", "site/a/img.png", "--check").exit_code == 0


def test_what_lacks_a_base_is_told_what_to_give() -> None:
    result = done("rewrite", "-r", "site", "-o", "out")
    assert "4 inputs: 4 unchanged (3 for want of a base URL), 3 warnings" in result.stderr
    for command in ("rewrite", "links", "base"):
        more = ["-o", "out2"] if command == "rewrite" else []
        result = run(command, "-r", "site", *more)
        assert "(pass --map, --root or --mirror)" in result.output
        assert "--url" not in result.output
        assert "(pass --url)" in run(command, "site/index.html").output


def test_of_warnings_of_a_kind_one_is_shown() -> None:
    first = "site/a/b.html: warning: 1 relative link left unchanged: the document's URL is unknown"
    for flags, shown, more in (((), 1, 1), (("-v",), 3, 0), (("-q",), 0, 0)):
        result = run("rewrite", "site", "-o", "out", "--force", *flags)
        assert result.stderr.count("[base-none]\n") == shown
        counted = "2 more warnings like it [base-none], in 2 more inputs; -v shows all\n"
        assert result.stderr.count(counted) == more
        assert (first in result.stderr) is (flags == ("-v",))


def test_a_list_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [b"site/a/c d.html", b"site/index.html"]
    Path("names").write_bytes(b"\0".join((*names, b"")))
    arguments = ("--root", "site=http://h/", "-o", "out")
    done("rewrite", "--files-from", "names", "-0", *arguments)
    assert sorted(files("out")) == ["site/a/c d.html", "site/index.html"]
    ran = program("rewrite", "--files-from", "-", *arguments, "--force", input=b"\n".join(names))
    assert ran.returncode == 0, ran.stderr
    monkeypatch.chdir("site/a")
    assert run("rewrite", "--files-from", "../../names", "-0", "-o", "out").exit_code in (2, 3)


# ---- where outputs go


def test_what_is_there_wants_force() -> None:
    assert run("rewrite", *ROOT, "-o", "out").exit_code == 0
    result = run("rewrite", *ROOT, "-o", "out")
    assert result.exit_code == 2
    reported = " ".join(result.stderr.split())
    assert "'out/index.html' and 3 more are there already: give --force to replace" in reported
    assert run("rewrite", *ROOT, "-o", "out", "--force").exit_code == 0


def test_a_link_in_the_output_leads_nowhere() -> None:
    Path("elsewhere").mkdir()
    Path("out").mkdir()
    Path("out/a").symlink_to("../elsewhere")
    assert run("rewrite", *ROOT, "-o", "out").exit_code == 3
    assert files("elsewhere") == {}
    assert Path("out/index.html").read_bytes() == DONE["index.html"]


# ---- reports


def test_a_report() -> None:
    assert run("rewrite", *ROOT, "-o", "out", "--report", "report.jsonl").exit_code == 0
    row = rows()["site/a/b.html"]
    assert row == {
        "version": 1,
        "file": "site/a/b.html",
        "output": "out/a/b.html",
        "state": "rewritten",
        "url": "http://h/a/b.html",
        "source": "--root site",
        "places": 1,
        "on_given_url": 0,
        "links": {"rewritten": 1},
        "notes": {},
        "size_before": len(PAGE),
        "size_after": len(DONE["a/b.html"]),
        "sha256_before": hashlib.sha256(PAGE).hexdigest(),
        "sha256_after": hashlib.sha256(DONE["a/b.html"]).hexdigest(),
        "error": None,
    }
    assert rows()["site/a/img.png"]["state"] == "unchanged"
    assert "the report 'report.jsonl' is there already" in told(
        2, "rewrite", *ROOT, "-i", "--report", "report.jsonl"
    )


@pytest.mark.parametrize("where", [["-i"], ["-o", "out"]])
def test_resume_does_what_is_not_done(where: list[str]) -> None:
    report = ("--report", "report.jsonl", "--resume", "report.jsonl")
    assert run("rewrite", *ROOT, *where, *report).exit_code == 0
    changed = Path("site/index.html" if where == ["-i"] else "out/index.html")
    changed.write_bytes(PAGE)
    with Path("report.jsonl").open("ab") as file:
        file.write(b'{"version": 1, "file": "cut')
    result = done("rewrite", *ROOT, *where, *report)
    assert result.stderr == "4 inputs: 1 rewritten, 3 done before, 1 link made absolute\n"
    assert changed.read_bytes() == DONE["index.html"]


@pytest.mark.parametrize("last", [{"state": "failed"}, {"error": "message 2: it is locked"}])
def test_resume_does_again_what_failed_at_last(
    last: dict[str, str],
) -> None:
    report = ("--report", "report.jsonl", "--resume", "report.jsonl")
    assert run("rewrite", *ROOT, "-i", *report).exit_code == 0
    with Path("report.jsonl").open("a") as file:
        file.write(json.dumps({**rows()["site/index.html"], **last}) + "\n")
    result = done("rewrite", *ROOT, "-i", *report)
    assert result.stderr == "4 inputs: 1 unchanged, 3 done before\n"


@pytest.mark.parametrize("report", [b"", b'{"version": 1, "file": "site/in'])
def test_resume_knows_what_was_written_and_not_reported(report: bytes) -> None:
    assert run("rewrite", *ROOT, "-o", "out").exit_code == 0
    Path("out/a/b.html").write_bytes(b"somebody else's")
    Path("out/index.html").unlink()
    Path("report.jsonl").write_bytes(report)
    again = ("--report", "report.jsonl", "--resume", "report.jsonl")
    result = run("rewrite", *ROOT, "-o", "out", *again)
    assert result.exit_code == 3
    there = "out/a/b.html is there already: not replaced without --force"
    assert f"site/a/b.html: error: {there}\n4 inputs: 2 rewritten, 1 unch" in result.stderr
    assert files("out") == {**DONE, "a/b.html": b"somebody else's"}
    Path("out/a/b.html").unlink()
    result = run("rewrite", *ROOT, "-o", "out", *again)  # what was cut is gone
    assert (result.exit_code, files("out")) == (0, DONE)
    assert result.stderr == "4 inputs: 1 rewritten, 3 done before, 1 link made absolute\n"


def test_without_a_report_what_is_there_is_refused() -> None:
    Path("out").mkdir()
    Path("out/index.html").write_bytes(b"somebody else's")
    assert "give --force to replace" in told(2, "rewrite", *ROOT, "-o", "out", "--resume", "nosuch")


def test_a_page_without_a_line_end_is_not_a_report_that_was_cut() -> None:
    Path("x").write_bytes(PAGE)
    result = run("rewrite", *ROOT, "-i", "--resume", "x", "--report", "x")
    assert (result.exit_code, Path("x").read_bytes()) == (2, PAGE)


# ---- one bad file


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
    assert "a defect of relbase, please report it" in result.stderr
    done = files("out")
    assert {name: done[name] for name in DONE} == DONE
    assert "poison.html" not in done
    if jobs == "2":
        assert "the process that read it was ended (signal 9)" in result.stderr
        assert rows()["site/deadly.html"]["state"] == "failed"


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


def test_the_start_of_a_process_is_not_counted_as_time_of_its_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("relbase.cli.run._limit_memory", lambda: time.sleep(1.2))
    result = run("rewrite", *ROOT, "-o", "out", "-j", "2", "--time-limit", "1")
    assert (result.exit_code, files("out")) == (0, DONE)


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
    assert "site/large.html: error: it is too large for the memory" in result.stderr
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
