"""`relbase base`: the chain, what was refused and why, and what to give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import done, run


@pytest.fixture
def page() -> Path:
    path = Path("page.html")
    path.write_bytes(b"<title>x</title>\n<base href=sub/>")
    return path


@pytest.mark.usefixtures("page")
def test_the_chain_outward() -> None:
    Path("headers").write_bytes(b"Base: <URL:http://h.example/b/>\n")
    result = done(
        *("base", "page.html", "--headers", "headers"),
        *("--url", "http://u:p@a.example/x#f", "--redirect", "/y"),
    )
    assert result.stdout.splitlines() == [
        "page.html: text/html",
        "    base     http://h.example/b/sub/  (embedded, §3.1: <base href> at 2:12)",
        "    outward  http://h.example/b/      (entity, §3.2: Base of the HTTP header)",
        "    outward  http://a.example/y       (retrieval, §3.3: redirect 1)",
    ]


@pytest.mark.usefixtures("page")
def test_no_base_is_told_with_what_to_give() -> None:
    kind, base, refused, advice = done("base", "page.html").stdout.splitlines()
    assert kind == "page.html: text/html"
    assert base == "    base     none  (none, §3.4: nothing states a base URL)"
    assert refused.startswith("    refused  <base href> at 2:12: 'sub/' is relative")
    assert refused.endswith("[base-relative]")
    assert advice.endswith("the document's URL is unknown (pass --url)")
    assert run("base", "page.html", "--strict").exit_code == 1
    assert run("base", "page.html", "--strict", "--url", "http://h/").exit_code == 0


def test_what_headers_state_and_is_refused() -> None:
    Path("headers").write_bytes(b"Base: mailto:a@b\nContent-Base: http://h/\n")
    name, base, refused = run("base", "--headers", "headers", stdin=b"<p>").stdout.splitlines()
    assert name == "<stdin>: text/html"
    assert base.endswith("http://h/  (entity, §3.2: Content-Base of the HTTP header)")
    assert "'mailto:a@b' is not a suitable base" in refused
    assert run("base", "--headers", "headers", "--strict", stdin=b"<p>").exit_code == 1


def test_a_base_that_decides_and_is_of_no_use() -> None:
    result = run("base", "--url", "http://h/", stdin=b"<base href='mailto:a@b'>")
    assert "    base     mailto:a@b  (embedded, §3.1" in result.stdout
    assert "reference can be resolved against this base, mailto: is never" in result.stdout


@pytest.mark.usefixtures("page")
def test_json_lines() -> None:
    result = run("base", "page.html", "page.html", "--json", "--root", ".=http://h/")
    first, second = map(json.loads, result.stdout.splitlines())
    assert first == second
    assert (first["file"], first["part"], first["type"]) == ("page.html", "", "text/html")
    assert first["base"]["url"] == "http://h/sub/"
    assert first["base"]["outer"]["layer"] == "retrieval"


@pytest.mark.usefixtures("page")
def test_a_bad_input_stops_no_others() -> None:
    result = run("base", "nowhere", "page.html", "--root", ".=http://h/")
    assert result.exit_code == 3
    assert result.stderr == "nowhere: error: No such file or directory\n"
    assert "page.html: text/html" in result.stdout


def test_a_hostile_base_is_shown_on_its_line() -> None:
    result = done(
        "base", "--url", "http://h/", stdin=b"<base href='\x1b[2J\xe2\x80\xae%s'>" % (b"x" * 9000)
    )
    assert all(line.isprintable() and len(line) < 2200 for line in result.stdout.splitlines())


MESSAGE = b"""\
Content-Base: sub/
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html
Content-Location: http://l.example/a

<base href=x/>
--b
Content-Type: multipart/alternative; boundary=c
Content-Base: news:x

--c
Content-Type: application/x-of-a-long-name

--c--
--b--
"""


def test_the_tree_of_a_message() -> None:
    result = done("base", stdin=MESSAGE)
    unsuitable = "news: is never used with relative URLs (RFC 1808 §2.3): it does not count"
    assert result.stdout.splitlines() == [
        "<stdin>: message/rfc822",
        "    base     none  (none, §3.4: nothing states a base URL)",
        (
            "    refused  Content-Base of the message: 'sub/' is relative, and no base around it "
            "is known [base-relative]"
        ),
        (
            "    part 1    text/html                     embedded, §3.1: <base href> at 1:12  "
            "http://l.example/x/"
        ),
        (
            "                                            entity, §3.2: Content-Location       "
            "http://l.example/a"
        ),
        "    part 2    multipart/alternative                                              none",
        (
            "              refused: part 2: Content-Base of part 2: 'news:x' is not a suitable "
            f"base, {unsuitable} [base-unsuitable]"
        ),
        "    part 2.1  application/x-of-a-long-name                                       none",
    ]


def test_a_document_without_a_base_in_a_message_is_told() -> None:
    message = MESSAGE.replace(b"Content-Location: http://l.example/a\n", b"")
    assert "    advice   the message states no base URL" in run("base", stdin=message).stdout
    result = run("base", "--url", "http://h/", stdin=message.replace(b"x/", b"mailto:a@b"))
    assert "against this base of part 1, mailto: is never used" in result.stdout
