"""`relbase rewrite`: bytes in, bytes out, where to, what is reported, and the exit status."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import pytest
from running import program, run

PLACEHOLDER_FIX: Final = "write the site's URL before it, or give --keep-templates"
PAGE: Final = b"<p>\xff\r\n<a href=x>\x00\r"
DONE: Final = b"<p>\xff\r\n<a href=http://h/x>\x00\r"
URL: Final = ("--url", "http://h/")
ROOT: Final = ("--root", ".=http://h/")


@pytest.fixture(autouse=True)
def here() -> None:
    Path("page.html").write_bytes(PAGE)


# ---- bytes


@pytest.mark.parametrize("arguments", [[], ["-"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_input_to_standard_output(arguments: list[str], unbuffered: str) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    ran = program("rewrite", *arguments, *URL, input=PAGE, env=environment)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, DONE, b"")


def test_a_large_document_comes_out_whole() -> None:
    page = b"<a href=x>" + b"\r\n\xff" * 1_000_000
    ran = program("rewrite", *URL, input=page)
    assert ran.stdout == page.replace(b"=x", b"=http://h/x")


def test_a_file_to_standard_output() -> None:
    assert run("rewrite", "page.html", *URL).stdout_bytes == DONE
    assert Path("page.html").read_bytes() == PAGE


def test_an_empty_document() -> None:
    assert run("rewrite", *URL, stdin=b"").stdout_bytes == b""


# ---- outputs


@pytest.mark.parametrize("inputs", [["page.html"], ["-"], []])
def test_to_a_file(inputs: list[str]) -> None:
    result = run("rewrite", *inputs, *URL, "-o", "out.html", stdin=PAGE)
    assert (result.exit_code, result.stdout_bytes, result.stderr) == (0, b"", "")
    assert Path("out.html").read_bytes() == DONE


def test_to_a_directory() -> None:
    Path("other.css").write_bytes(b"p { color: red }")
    result = run("rewrite", "page.html", "other.css", *ROOT, "-o", "out")
    reported = "2 inputs: 1 rewritten, 1 unchanged, 1 link made absolute\n"
    assert (result.exit_code, result.output) == (0, reported)
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == {
        "page.html": DONE,
        "other.css": b"p { color: red }",
    }


def test_names_that_are_no_text() -> None:
    name = b"\xff\x1b.html"
    Path(os.fsdecode(name)).write_bytes(PAGE)
    ran = program("rewrite", name, *URL, "-v", "-o", "out/")
    assert ran.returncode == 0
    assert ran.stderr.startswith(b"\\udcff\\x1b.html: links made absolute in 1 place")
    assert Path(os.fsdecode(b"out/" + name)).read_bytes() == DONE


def test_one_bad_file_stops_no_others() -> None:
    result = run("rewrite", "nowhere.html", "page.html", *ROOT, "-o", "out")
    assert result.exit_code == 3
    assert result.stderr.splitlines() == [
        "nowhere.html: error: No such file or directory",
        "2 inputs: 1 rewritten, 1 failed, 1 link made absolute",
    ]
    assert [path.name for path in Path("out").iterdir()] == ["page.html"]


def test_an_output_that_cannot_be_written_stops() -> None:
    Path("more.html").write_bytes(PAGE)
    result = run("rewrite", "page.html", *URL, "-o", "nowhere/out.html")
    assert result.exit_code == 4
    assert result.stderr == "Error: nowhere/out.html: No such file or directory\n"


# ---- --diff and --check


def test_diff() -> None:
    Path("same.html").write_bytes(b"<p>")
    result = run("rewrite", "page.html", "same.html", *ROOT, "--diff")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "--- page.html",
        "+++ page.html (rewritten)",
        "@@ -1,2 +1,2 @@",
        " <p>\\xff",
        "-<a href=x>\\x00",
        "+<a href=http://h/x>\\x00",
    ]


def test_check_of_placeholders() -> None:
    for text, status in ((b"<a href='{{x}}'>", 0), (b"<a href='a/{{ x }}'>", 1)):
        Path("letter.html").write_bytes(text)
        flags = ("--check", "--keep-templates", "--profile", "whatwg")
        assert run("rewrite", "letter.html", *URL, *flags).exit_code == status


def test_check() -> None:
    Path("same.html").write_bytes(b"<p>")
    result = run("rewrite", "same.html", "page.html", *ROOT, "--check")
    assert (result.exit_code, result.stdout, result.stderr) == (
        1,
        "page.html:2:9: relative link x in a/@href: http://h/x\n",
        "2 inputs: 1 would be rewritten, 1 unchanged, 1 relative link\n",
    )
    result = run("rewrite", "same.html", *ROOT, "--check")
    assert (result.exit_code, result.output) == (0, "")
    result = run("rewrite", "page.html", "nowhere", *ROOT, "--check")
    assert (result.exit_code, result.stdout.count("\n")) == (3, 1)
    assert Path("page.html").read_bytes() == PAGE


# ---- what is reported


def test_no_base_is_told_with_what_to_give() -> None:
    result = run("rewrite", "page.html")
    assert (result.exit_code, result.stdout_bytes) == (0, PAGE)
    assert result.stderr == (
        "page.html: warning: 1 relative link left unchanged: the document's URL is unknown "
        "(pass --url) [base-none]\n"
    )


def test_warnings_have_places() -> None:
    result = run("rewrite", *URL, stdin=b"<p>\n<a href=x>\n<base href=y/>")
    places = [line.split(": warning: ")[0] for line in result.stderr.splitlines()]
    assert places == ["<stdin>:3:12", "<stdin>:3:12"]
    assert "[base-late]" in result.stderr


def test_strict() -> None:
    assert run("rewrite", "page.html", "--strict").exit_code == 1
    assert run("rewrite", "page.html", "--strict", *URL).exit_code == 0
    assert run("rewrite", "page.html", "--strict", "-o", "out").exit_code == 1
    assert Path("out").read_bytes() == PAGE


def test_verbose() -> None:
    Path("same.html").write_bytes(b"<p>")
    result = run("rewrite", "page.html", "same.html", "-v", *ROOT, "-o", "out")
    assert result.stderr.splitlines() == [
        "page.html: links made absolute in 1 place, against http://h/page.html (--root .)",
        "same.html: no link changed",
        "2 inputs: 1 rewritten, 1 unchanged, 1 link made absolute",
    ]


def test_the_options_reach_the_library() -> None:
    page = b"<a href=#s><a href=k><a href=http:g><div about=x>"
    assert run("rewrite", *URL, stdin=page).stdout_bytes == (
        b"<a href=http://h/#s><a href=http://h/k><a href=http:g><div about=x>"
    )
    result = run("rewrite", *URL, "--keep-fragments", "--keep", "^k$", stdin=page)
    assert result.stdout_bytes == page
    result = run("rewrite", *URL, "--profile", "whatwg", "--extended", stdin=page)
    assert result.stdout_bytes == (
        b"<a href=http://h/#s><a href=http://h/k><a href=http://h/g><div about=http://h/x>"
    )
    result = run("rewrite", *URL, "--redirect", "/a/b", stdin=b"<a href=x>")
    assert result.stdout_bytes == b"<a href=http://h/a/x>"


def test_a_page_with_its_headers() -> None:
    Path("headers").write_bytes(
        b"HTTP/1.1 301 Moved\r\nLocation: /d/\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    )
    result = run("rewrite", "page.html", *URL, "--headers", "headers")
    assert result.stdout_bytes == PAGE.replace(b"=x", b"=http://h/d/x")


@pytest.mark.parametrize(
    "feed",
    [
        b"<rss><link>x</link><a></rss>",
        b"<!DOCTYPE rss [<!ENTITY a 'b'>]><rss><link>x</link></rss>",
        b"<rss><link>http://h/x</link>",
        b"<!DOCTYPE rss [<!ENTITY a '<link>x</link>'>]><rss>&a;</rss>",
        b'{"version": "https://jsonfeed.org/version/1", "items": [',
    ],
)
def test_check_of_what_cannot_be_checked(feed: bytes) -> None:
    name = "feed.json" if feed.startswith(b"{") else "feed.xml"
    Path(name).write_bytes(feed)
    result = run("rewrite", name, *URL, "--check")
    assert result.exit_code == 1
    assert result.stdout.startswith(f"{name}: not checked: it ")


@pytest.mark.parametrize(
    ("arguments", "status", "reported"),
    [
        (["page.json", "--only", "feeds"], 0, "1 input: 1 of other kinds"),
        (["page.html", "--only", "mail"], 0, "1 input: 1 of other kinds"),
        (["page.html", "--only", "mail", "--strict"], 1, "1 input: 1 of other kinds"),
        (["signed.eml"], 0, "[mime-signed]"),
    ],
)
def test_check_of_what_is_not_asked_for(arguments: list[str], status: int, reported: str) -> None:
    Path("page.json").write_bytes(b'{"icon": "x"}')
    signed = b"Content-Type: multipart/signed; boundary=b\n\n--b\n\nx\n--b--\n"
    Path("signed.eml").write_bytes(signed)
    result = run("rewrite", *arguments, *URL, "--check")
    assert (result.exit_code, result.stdout) == (status, "")
    assert reported in result.stderr


FOUND: Final = (
    b"<p>\xc3\xa9<a href='x,%&amp;y'>\n<img src='{{ u }}'><b style='background:url(/z\n)'>\n"
)


def test_check_for_people() -> None:
    Path("a:b.html").write_bytes(FOUND)
    result = run("rewrite", "a:b.html", "--check")
    assert result.stdout.splitlines() == [
        "a:b.html:1:15: relative link x,%&y in a/@href",
        f"a:b.html:2:11: relative link {{{{ u }}}} in img/@src: {PLACEHOLDER_FIX}",
        "a:b.html:2:45: relative link /z in b/@style",
    ]
    assert result.stderr == ("1 input: 1 unchanged (1 for want of a base URL), 3 relative links\n")
    kept = run("rewrite", "a:b.html", "--check", "--keep-templates", "-q")
    assert (len(kept.stdout.splitlines()), kept.stderr) == (2, "")


def test_check_for_github() -> None:
    Path("a:b.html").write_bytes(FOUND)
    first, *_ = run("rewrite", "./a:b.html", "--check", "--format", "github").stdout.splitlines()
    assert first == "::error file=a%3Ab.html,line=1,col=14::relative link x,%25&y in a/@href"


def test_check_for_code_scanning() -> None:
    Path("a b.html").write_bytes(FOUND)
    Path("feed.xml").write_bytes(b"<rss><link>x</link><a></rss>")
    [ran] = json.loads(run("rewrite", "./a b.html", "--check", "--format", "sarif").stdout)["runs"]
    places = [one["locations"][0]["physicalLocation"] for one in ran["results"]]
    assert {place["artifactLocation"]["uri"] for place in places} == {"a%20b.html"}
    assert places[0]["region"] == {"startLine": 1, "startColumn": 14, "endColumn": 23}
    assert [one["ruleId"] for one in ran["results"]] == ["relative-link"] * 3
    result = run("rewrite", "feed.xml", *URL, "--check", "--format", "sarif")
    [feed] = json.loads(result.stdout)["runs"][0]["results"]
    assert feed["ruleId"] == "not-checked"
    Path("same.html").write_bytes(b"<p>")
    nothing = run("rewrite", "same.html", "--check", "--format", "sarif")
    assert (nothing.exit_code, json.loads(nothing.stdout)["runs"][0]["results"]) == (0, [])


def test_check_for_programs() -> None:
    Path("page.html").write_bytes(FOUND)
    result = run("rewrite", "page.html", "--check", "--format", "json")
    first, *_ = map(json.loads, result.stdout.splitlines())
    assert (first["version"], first["file"], first["line"]) == (1, "page.html", 1)
    assert first["message"] == "relative link x,%&y in a/@href"
    assert "--format is for --check" in run("rewrite", "page.html", "--format", "json").stderr
