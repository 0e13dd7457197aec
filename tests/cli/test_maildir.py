"""Maildir and Maildir++ on the command line: names, flags, sizes, times, and what is not copied."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest
from running import PROGRAM, done, meanwhile, run, told

from relbase.cli import writing
from relbase.cli.outputs import sized

URL: Final = ("--url", "http://h/")
MAIL: Final = b"Content-Type: text/html\nSubject: a\r\n\n<a href=x>\n"
DONE: Final = b"Content-Type: text/html\nSubject: a\r\n\n<a href=http://h/x>\n"
SAME: Final = b"Subject: b\n\ntext\n"


@pytest.fixture(autouse=True)
def root(tmp_path: Path) -> Path:
    for folder in ("", ".Sent", ".Sent.2024"):
        for box in ("cur", "new", "tmp"):
            (tmp_path / "Maildir" / folder / box).mkdir(parents=True)
    return tmp_path / "Maildir"


def put(name: str, data: bytes = MAIL, seconds: int = 7) -> None:
    path = Path("Maildir", name)
    path.write_bytes(data)
    path.chmod(0o600)
    os.utime(path, (seconds, seconds))


def tree(directory: str) -> dict[str, bytes]:
    root = Path(directory)
    return {
        os.fspath(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


# ---- names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Dovecot: S= the size of the file, W= with CRLF at the end of each line.
        ("1.M2P3.host,S=1,W=2:2,FS", "1.M2P3.host,S=6,W=8:2,FS"),
        ("1.M2P3.host,S=1", "1.M2P3.host,S=6"),
        ("1.M2P3.host,W=1:2,", "1.M2P3.host,W=8:2,"),
        ("1.host:2,S", "1.host:2,S"),
        ("1.host,S=x,S=12x:2,S=1", "1.host,S=x,S=12x:2,S=1"),
        ("1.host,U=5,FMD5=ab,S=1:2,Sab", "1.host,U=5,FMD5=ab,S=6:2,Sab"),
    ],
)
def test_sizes_in_names(name: str, expected: str) -> None:
    assert sized(name, b"a\nb\n\r\n") == expected


# ---- rewrite


def test_messages_keep_name_flags_mode_and_time() -> None:
    put(f"cur/1.M1.host,S={len(MAIL)},W=9:2,FS")
    put("cur/2.page.html:2,", seconds=9)
    put("new/3.host", SAME)
    put(".Sent/cur/4.host:2,S")
    put(".Sent.2024/new/5.host,S=999", SAME)
    put("tmp/6.host")
    Path("Maildir/.Sent/maildirfolder").touch()
    result = run("rewrite", "Maildir/", *URL, "-o", "out/", "-q")
    assert (result.exit_code, result.output) == (0, "")
    crlf = len(DONE) + DONE.count(b"\n") - 1
    assert tree("out") == {
        ".Sent.2024/new/5.host,S=999": SAME,
        ".Sent/cur/4.host:2,S": DONE,
        ".Sent/maildirfolder": b"",
        f"cur/1.M1.host,S={len(DONE)},W={crlf}:2,FS": DONE,
        "cur/2.page.html:2,": DONE,
        "new/3.host": SAME,
    }
    status = Path("out/cur/2.page.html:2,").stat()
    assert (status.st_mtime, stat.S_IMODE(status.st_mode)) == (9, 0o600)
    assert stat.S_IMODE(Path("out/cur").stat().st_mode) == 0o700
    assert Path("out/.Sent/tmp").is_dir()
    assert run("rewrite", "out", *URL, "--check").exit_code == 0


def test_what_is_not_copied_is_told() -> None:
    put("new/1.host", SAME)
    put("new/.hidden")
    for name in ("dovecot-uidlist", "dovecot.index.log", ".Sent/dovecot-keywords"):
        Path("Maildir", name).touch()
    Path("Maildir/other").mkdir()
    Path("Maildir/.link").symlink_to(".Sent")
    result = done("rewrite", "Maildir", *URL, "-o", "out", "--strict")
    assert result.stderr == (
        "Maildir: not copied, since they are not messages: .Sent/dovecot-keywords, .link, "
        "dovecot-uidlist, dovecot.index.log, new/.hidden, other\n"
    )
    assert tree("out") == {"new/1.host": SAME}


def test_what_is_there_is_not_replaced() -> None:
    put("new/1.host")
    put("new/2.host")
    Path("out/new").mkdir(parents=True)
    Path("out/new/1.host").write_bytes(b"old")
    result = run("rewrite", "Maildir", *URL, "-o", "out")
    assert result.exit_code == 3
    assert result.stderr == (
        "Maildir/new/1.host: error: out/new/1.host is there already: not replaced\n"
        "2 inputs: 1 rewritten, 1 failed, 1 link made absolute\n"
    )
    assert tree("out") == {"new/1.host": b"old", "new/2.host": DONE}


def test_resume_goes_on_with_a_copy() -> None:
    for number in range(3):
        put(f"cur/{number},S={len(MAIL)}:2,S")
    again = ("--report", "report", "--resume", "report")
    command = ("rewrite", "Maildir", "-o", "copy", *URL, *again)
    assert run(*command).exit_code == 0
    lines = Path("report").read_bytes().splitlines(keepends=True)
    Path("report").write_bytes(lines[0])  # the second was written and not reported
    Path(f"copy/cur/2,S={len(DONE)}:2,S").unlink()
    result = run(*command)
    assert (result.exit_code, len(tree("copy"))) == (0, 3)
    sums = "3 inputs: 2 rewritten, 1 done before, 2 links made absolute\n"
    assert result.stderr == sums
    Path(f"copy/cur/0,S={len(DONE)}:2,S").write_bytes(b"x")
    assert f"copy/cur/0,S={len(DONE)}:2,S is there already: not replaced" in told(3, *command)
    assert tree("copy")[f"cur/0,S={len(DONE)}:2,S"] == b"x"


def test_a_message_that_cannot_be_read_stops_no_others() -> None:
    Path("Maildir/cur/0.host").mkdir()
    Path("Maildir/cur/1.host").symlink_to("nowhere")
    put("cur/2.host", SAME)
    Path("Maildir/new/3.host").symlink_to("../cur/2.host")  # it may lead to a file of root's
    os.mkfifo("Maildir/new/4.host")  # nobody writes into it
    result = run("rewrite", "Maildir", *URL, "-o", "out")
    assert result.exit_code == 3
    bad = ("new/3.host", "new/4.host", "cur/0.host", "cur/1.host")
    assert result.stderr.splitlines() == [
        f"Maildir/{name}: error: it is not a regular file: left out" for name in bad
    ]
    assert tree("out") == {"cur/2.host": SAME}


def test_what_was_made_is_on_the_disk_when_the_run_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put("new/1.host")
    put(".Sent/cur/2.host")
    settled: list[str] = []
    for module in ("outputs", "run"):
        monkeypatch.setattr(f"relbase.cli.{module}.settle", settled.extend)
    assert run("rewrite", "Maildir", *URL, "-o", "out").exit_code == 0
    made = ["", "new", ".Sent", ".Sent/cur", ".Sent.2024"]
    assert {Path(name).resolve() for name in settled} == {
        *(Path("out", name).resolve() for name in made),
        Path.cwd(),
    }


def test_an_empty_maildir_reads_no_standard_input() -> None:
    result = run("rewrite", "Maildir", "-o", "out", stdin=b"<p>")
    assert (result.exit_code, result.output) == (0, "")
    assert sorted(path.name for path in Path("out").iterdir()) == [
        *(".Sent", ".Sent.2024", "cur", "new", "tmp")
    ]
    assert run("links", "Maildir", stdin=b"<a href=x>").output == ""


def test_an_output_that_cannot_be_written_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    put("new/1.host")

    def fail(*_arguments: object, **_more: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", fail)
    result = run("rewrite", "Maildir", *URL, "-o", "out")
    assert result.exit_code == 4
    assert result.stderr == "Error: out/new/1.host: No space left on device\n"
    assert tree("out") == {}


# ---- reading


def test_links_base_check_and_diff() -> None:
    put("new/1.host.css", MAIL)
    put(".Sent/cur/2.host:2,S", SAME)
    one, two = "Maildir/new/1.host.css", "Maildir/.Sent/cur/2.host:2,S"
    result = run("links", "Maildir", *URL)
    assert result.stdout == f"{one}:4:9: a/@href: x -> http://h/x [rewritten]\n"
    assert [line for line in run("base", "Maildir").stdout.splitlines() if "Maildir" in line] == [
        f"{one}: message/rfc822",
        f"{two}: message/rfc822",
    ]
    result = run("rewrite", "Maildir", *URL, "--check")
    found = "relative link x in a/@href: http://h/x"
    assert (result.exit_code, result.stdout) == (1, f"{one}:4:9: {found}\n")
    assert f"--- {one}" in run("rewrite", "Maildir", *URL, "--diff").stdout


def test_a_single_message_is_mail_whatever_its_name() -> None:
    put("new/1.host.css", MAIL)
    assert run("rewrite", "Maildir/new/1.host.css", *URL).stdout_bytes == DONE


# ---- in place


def test_messages_are_replaced_in_place() -> None:
    put(f"cur/1.M1.host,S={len(MAIL)},W=9:2,FS", seconds=9)
    put("cur/2.host:2,")
    put("new/3.host", SAME)
    put(".Sent/cur/4.host:2,S")
    before = Path("Maildir/new/3.host").stat().st_ino
    result = done("rewrite", "Maildir", *URL, "-i")
    assert result.stderr == "4 inputs: 3 rewritten, 1 unchanged, 3 links made absolute\n"
    bare = DONE.count(b"\n") - DONE.count(b"\r\n")
    sizes = f"S={len(DONE)},W={len(DONE) + bare}"
    assert tree("Maildir") == {
        f"cur/1.M1.host,{sizes}:2,FS": DONE,
        "cur/2.host:2,": DONE,
        "new/3.host": SAME,
        ".Sent/cur/4.host:2,S": DONE,
    }
    assert Path("Maildir/new/3.host").stat().st_ino == before
    assert not list(Path("Maildir/tmp").iterdir())


def test_a_message_that_another_program_moves_meanwhile_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put("new/1.host")
    real = writing.keep_attributes

    def moving(*arguments: object) -> None:
        real(*arguments)  # type: ignore[arg-type]
        Path("Maildir/new/1.host").rename("Maildir/cur/1.host:2,S")

    monkeypatch.setattr(writing, "keep_attributes", moving)
    assert "it was moved while it was read: nothing was written" in told(
        3, "rewrite", "Maildir", *URL, "-i"
    )
    assert tree("Maildir") == {"cur/1.host:2,S": MAIL}


@pytest.mark.parametrize(("name", "call"), [("1.host,S=9", "link"), ("1.host", "replace")])
def test_a_reader_that_changes_flags_meanwhile_leaves_one_message(
    name: str, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(f"new/{name}")
    real = getattr(os, call)

    def moving(*arguments: Any, **more: Any) -> None:
        Path(f"Maildir/new/{name}").rename(f"Maildir/cur/{name}:2,S")
        real(*arguments, **more)

    monkeypatch.setattr(os, call, moving)
    assert "it was moved while it was read: nothing was written" in told(
        3, "rewrite", "Maildir", *URL, "-i"
    )
    assert tree("Maildir") == {f"cur/{name}:2,S": MAIL}


def test_a_run_that_was_killed_between_two_names_is_mended_by_the_next() -> None:
    put("cur/1.host,S=9:2,")
    put(f"cur/1.host,S={len(DONE)}:2,", DONE)
    put("cur/2.host,S=9:2,")
    put(f"cur/2.host,S={len(DONE)}:2,", SAME)
    put("cur/3.host")
    result = run("rewrite", "Maildir", *URL, "-i")
    assert result.exit_code == 3
    there = f"Maildir/cur/2.host,S={len(DONE)}:2, is there already: not replaced"
    assert f"Maildir/cur/2.host,S=9:2,: error: {there}\n" in result.stderr
    assert tree("Maildir") == {
        f"cur/1.host,S={len(DONE)}:2,": DONE,
        "cur/2.host,S=9:2,": MAIL,
        f"cur/2.host,S={len(DONE)}:2,": SAME,
        "cur/3.host": DONE,
    }


def test_two_runs_at_once_leave_each_message_once() -> None:
    names = [f"cur/{number}.host,S=9:2," for number in range(40)]
    for name in names:
        put(name)
    command = [*PROGRAM, "rewrite", "Maildir", *URL, "-i"]
    runs = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    reported = [one.communicate(timeout=60)[1] for one in runs]
    assert all(one.returncode in {0, 3} for one in runs), reported
    assert tree("Maildir") == {name.replace("S=9", f"S={len(DONE)}"): DONE for name in names}


# ---- symbolic links in the place of its directories


@pytest.mark.parametrize("arguments", [["-i"], ["-o", "out"]])
@pytest.mark.parametrize("linked", ["cur", "new", "tmp"])
def test_a_directory_that_is_a_link_is_followed_on_demand(
    linked: str, arguments: list[str]
) -> None:
    box = "new" if linked == "new" else "cur"
    put(f"{box}/1.host")
    Path(f"Maildir/{linked}").rename("elsewhere")
    Path(f"Maildir/{linked}").symlink_to("../elsewhere")
    assert f"Maildir/{linked}: error: it is a symbolic link: not followed" in told(
        3, "rewrite", "Maildir", *URL, *arguments
    )
    assert Path(f"Maildir/{box}/1.host").read_bytes() == MAIL
    assert not Path(f"out/{box}/1.host").exists()
    result = run("rewrite", "Maildir", *URL, *arguments, "--follow-symlinks")
    where = "Maildir" if arguments == ["-i"] else "out"
    if (linked, where) != ("tmp", "Maildir"):
        assert result.exit_code == 0, result.output
        assert Path(where, box, "1.host").read_bytes() == DONE


@pytest.mark.parametrize("swapped", ["Maildir", "Maildir/cur"])
def test_what_is_swapped_during_the_run_leads_nowhere(
    swapped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("cur/1.host")
    put("cur/2.host")
    victim = Path("victim") if swapped == "Maildir" else Path("victim/cur")
    for box in ("cur", "new", "tmp"):
        Path("victim", box).mkdir(parents=True)
    for number in (1, 2):
        Path(f"victim/cur/{number}.host").write_bytes(MAIL)

    def swapping(_: bytes) -> None:
        if not Path("kept").exists():
            Path(swapped).rename("kept")
            Path(swapped).symlink_to(Path.cwd() / victim)

    meanwhile(monkeypatch, swapping)
    run("rewrite", "Maildir", *URL, "-i")
    assert [Path(f"victim/cur/{number}.host").read_bytes() for number in (1, 2)] == [MAIL, MAIL]
