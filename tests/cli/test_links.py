"""`relbase links`: a line a reference, its place and status, JSON, violations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest
from running import done, run

import relbase

if TYPE_CHECKING:
    from pathlib import Path

PAGE: Final = b"""<a href="x?a=1&amp;b">
<img srcset="a 1x, b 2x"><a href=http://h/~y>
<style>p { background: url(bg) }</style><svg><use href="#id"/></svg><a href="">
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.html").write_bytes(PAGE)


def test_a_line_a_reference() -> None:
    result = run("links", "page.html", "--url", "http://h/d/")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "page.html:1:10: a/@href: x?a=1&b -> http://h/d/x?a=1&b [rewritten]",
        "page.html:2:14: img/@srcset: a -> http://h/d/a [rewritten]",
        "page.html:2:20: img/@srcset: b -> http://h/d/b [rewritten]",
        "page.html:2:34: a/@href: http://h/~y [absolute]",
        "page.html:3:28: style: bg -> http://h/d/bg [rewritten]",
        "page.html:3:57: use/@href: #id -> http://h/d/#id [kept]",
        'page.html:3:78: a/@href: "" -> http://h/d/ [rewritten]',
    ]


def test_a_style_sheet() -> None:
    result = run("links", "--kind", "css", "--url", "http://h/", stdin=b"@import 'x';")
    assert result.stdout == "<stdin>:1:10: css: x -> http://h/x [rewritten]\n"


def test_unresolved_references_are_told_with_what_to_give() -> None:
    result = done("links", "page.html")
    assert "page.html:1:10: a/@href: x?a=1&b [unresolved]" in result.stdout
    assert result.stderr == (
        "page.html: warning: 5 unresolved links: the document's URL is unknown (pass --url)\n"
    )
    assert run("links", "page.html", "--strict").exit_code == 1
    assert run("links", "page.html", "--strict", "--url", "http://h/").exit_code == 0


def test_unresolved_on_a_base() -> None:
    result = run("links", "--url", "http://h/", stdin=b"<base href='mailto:a@b'><a href=x>")
    assert "1 unresolved link: none resolves against mailto:a@b" in result.stderr


def test_json_lines_are_the_links() -> None:
    result = run("links", "page.html", "--json", "--url", "http://h/d/")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    found = list(relbase.links(PAGE, url="http://h/d/", kind="html"))
    assert len(rows) == len(found) == 7
    for row, link in zip(rows, found, strict=True):
        assert row["file"] == "page.html"
        assert (row["reference"], row["url"], row["status"]) == (
            link.reference,
            link.url,
            link.status.value,
        )
        assert ((row["start"], row["end"]), row["line"], row["column"]) == (
            link.span,
            link.line,
            link.column,
        )


def test_violations() -> None:
    result = run("links", "page.html", "--violations", "--url", "http://h/d/")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[:3] == [
        "page.html:2:34: a/@href:",
        "http://h/~y",
        "         ^",
    ]
    assert 'violation at character 10: "~" is national' in lines[3]
    rows = run("links", "page.html", "--violations", "--json", "--url", "http://h/d/").stdout
    [found] = map(json.loads, rows.splitlines())
    assert (found["line"], found["violations"][0]["section"]) == (2, "RFC 1738 §5")
    # A remark is not a violation.
    practice = run("links", "--violations", "--url", "http://h/", stdin=b"<a href=this:that>")
    assert (practice.exit_code, "practice" in practice.stdout) == (0, True)


def test_long_and_hostile_references_are_shown_on_their_line() -> None:
    page = b"<a href='y\x1b[2J\xe2\x80\xae%s'>" % (b"x" * 100_000)
    [line] = run("links", "--url", "http://h/", stdin=page).stdout.splitlines()
    assert line.isprintable()
    assert "\\x1b[2J\\u202e" in line
    assert len(line) < 1000
    [row] = run("links", "--url", "http://h/", "--json", stdin=page).stdout.splitlines()
    assert len(json.loads(row)["reference"]) > 100_000


def test_hostile_file_names_are_shown_on_their_line(tmp_path: Path) -> None:
    (tmp_path / "a\n\x1b.html").write_bytes(b"<a href=x>")
    result = run("links", "a\n\x1b.html", "nowhere\x07")
    assert result.exit_code == 3
    assert result.stdout == "a\\n\\x1b.html:1:9: a/@href: x [unresolved]\n"
    assert result.stderr.splitlines()[-1] == "nowhere\\x07: error: No such file or directory"


def test_headers_and_names_tell_the_kind(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_bytes(b"p { background: url(x) }")
    (tmp_path / "headers").write_bytes(b"Content-Type: text/html\n")
    assert "css: x" in run("links", "a.css").stdout
    assert run("links", "a.css", "--headers", "headers").stdout == ""
