"""`relbase split`: absent and empty kept apart, the parts of a scheme's grammar, JSON."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from running import done, run


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


def test_the_parts() -> None:
    [prospero] = objects("prospero://h/p;a=b;c=")
    fields = {"ppath": "p", "fieldspecs": [["a", "b"], ["c", ""]]}
    assert fields.items() <= prospero["parts"].items()
    assert '"a"="b", "c"=""' in run("split", "prospero://h/p;a=b;c=").stdout
    [ftp] = objects("ftp://@h/")
    assert (ftp["parts"]["user"], ftp["parts"]["path"]) == ("", "")
    assert None not in ftp["parts"].values()


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
    result = done("split", "--", text)
    assert all(line.isprintable() for line in result.stdout.splitlines())


def test_a_long_url_is_cut() -> None:
    assert max(map(len, run("split", "http://a/" + "b" * 1_000_000).stdout.splitlines())) < 500
