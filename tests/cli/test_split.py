"""`relbase split`: absent and empty kept apart, the parts of a scheme's grammar, JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from running import run

from relbase.cli.split import split


def objects(*urls: str) -> list[Any]:
    return [json.loads(line) for line in run("split", "--json", "--", *urls).stdout.splitlines()]


def test_the_report() -> None:
    result = run("split", "ftp://u:@h?;type=a")
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout
        == """\
ftp://u:@h?;type=a
    rfc1808   scheme    "ftp"
              net_loc   "u:@h?;type=a"
              path      ""
              params    absent
              query     absent
              fragment  absent
    rfc3986   scheme     "ftp"
              authority  "u:@h"
              path       ""
              query      ";type=a"
              fragment   absent
    whatwg    scheme    "ftp"
              username  "u"
              password  ""
              host      "h"
              port      absent
              path      "/"
              query     ";type=a"
              fragment  absent
    grammar   production  generic-RL
              scheme      "ftp"
              net_loc     "u:@h?;type=a"
    category  ftp: always parsed by the generic-RL syntax (RFC 1808 §2.3)
"""
    )


def test_what_is_no_url_and_what_has_no_scheme() -> None:
    lines = run("split", "http://h/~", "//h").stdout.splitlines()
    fault = 'no URL: at character 10 "~" is national: hsegment does not allow it'
    assert f"    grammar   {fault}" in [line[: len(fault) + 14] for line in lines]
    assert "    whatwg    failure without a base" in lines
    assert lines[-1] == "    category  of the scheme of its base: it has none (RFC 1808 §2.3)"


# (URL, the parts of RFC 1738 §3 besides production and scheme)
PARTS = [
    ("ftp://u:p@h:21/%2Fa/b;type=D", {"user": "u", "password": "p", "host": "h", "port": "21"}),
    ("ftp://u:p@h:21/%2Fa/b;type=D", {"path": "%2Fa/b", "ftptype": "D"}),
    ("ftp://@h/", {"user": "", "host": "h", "path": ""}),
    ("gopher://h/0a%09s%09+x", {"gtype": "0", "selector": "a", "search": "s"}),
    ("gopher://h/0a%09s%09+x", {"gopher_string": "+x"}),
    ("news:a@b.c", {"article": "a", "host": "b.c"}),
    ("nntp://h/a.b/12", {"group": "a.b", "digits": "12"}),
    ("wais://h/d/t/p", {"database": "d", "wtype": "t", "wpath": "p"}),
    ("prospero://h/p;a=b;c=", {"ppath": "p", "fieldspecs": [["a", "b"], ["c", ""]]}),
    ("mailto:x@y", {"encoded822addr": "x@y"}),
    ("http:g", {"path": "g"}),
]


@pytest.mark.parametrize(("url", "expected"), PARTS)
def test_the_parts(url: str, expected: dict[str, object]) -> None:
    [found] = objects(url)
    assert expected.items() <= found["parts"].items()
    assert None not in found["parts"].values()


def test_json_lines() -> None:
    relative, opaque = objects("../g?", "mailto:x")
    assert relative == {
        "version": 1,
        "url": "../g?",
        "rfc1808": {
            **dict.fromkeys(("scheme", "net_loc", "params", "fragment")),
            "path": "../g",
            "query": "",
        },
        "rfc3986": {
            **dict.fromkeys(("scheme", "authority", "fragment")),
            "path": "../g",
            "query": "",
        },
        "whatwg": None,
        "parts": {"production": "rel_path", "path": "../g", "query": ""},
        "category": None,
    }
    assert (opaque["category"], opaque["whatwg"]["host"]) == ("never", None)


def test_a_list_from_standard_input() -> None:
    result = run("split", "--json", stdin=b"http://a/\n\nb\xff\n")
    assert [json.loads(line)["url"] for line in result.stdout.splitlines()] == [
        "http://a/",
        "b\udcff",
    ]


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_printed(text: str) -> None:
    result = CliRunner().invoke(split, ["--", text])
    assert result.exit_code == 0
    assert all(line.isprintable() for line in result.stdout.splitlines())


def test_a_long_url_is_cut() -> None:
    result = run("split", "http://a/" + "b" * 1_000_000)
    assert max(map(len, result.stdout.splitlines())) < 500
