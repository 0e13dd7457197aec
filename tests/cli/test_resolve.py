"""`relbase resolve`: one result a line, the profiles side by side, failures, JSON."""

from __future__ import annotations

import json
from typing import Final

import pytest
from running import done, program, run

BASE: Final = "http://a/b/c/d;p?q#f"


def test_one_reference_is_printed_alone() -> None:
    result = run("resolve", BASE, "../../../g")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "http://a/../g\n", "")


def test_several_are_printed_with_their_references() -> None:
    result = done("resolve", BASE, "../g", ";x", "")
    assert result.stdout == (
        "../g  http://a/b/g\n"
        ";x    http://a/b/c/d;x\n"
        '""    http://a/b/c/d;p?q#f\n'
    )  # fmt: skip


@pytest.mark.parametrize(
    ("profile", "url"),
    [("rfc1808", "http:g"), ("rfc3986", "http:g"), ("whatwg", "http://a/b/c/g")],
)
def test_the_profile(profile: str, url: str) -> None:
    assert run("resolve", BASE, "http:g", "--profile", profile).stdout == f"{url}\n"


def test_all_profiles_side_by_side() -> None:
    result = run("resolve", BASE, "../../../g", ";x", "", "http:g", "http://[", "--all")
    assert (result.exit_code, result.stderr) == (0, "")
    table = """\
reference   rfc1808               rfc3986             whatwg
----------  --------------------  ------------------  ------------------------------------
../../../g  http://a/../g         http://a/g          http://a/g
;x          http://a/b/c/d;x      http://a/b/c/;x     http://a/b/c/;x
""          http://a/b/c/d;p?q#f  http://a/b/c/d;p?q  http://a/b/c/d;p?q
http:g      http:g                http:g              http://a/b/c/g
http://[    http://[              http://[            failure: the reference does not parse
"""
    assert result.stdout.splitlines() == [
        line.replace("-" * 36, "-" * 37) if line.startswith("--") else line
        for line in table.splitlines()
    ]


def test_a_table_that_is_too_wide_is_a_list() -> None:
    result = run("resolve", BASE, "x" * 60, "--all")
    url = "http://a/b/c/" + "x" * 60
    assert result.stdout.splitlines() == [
        "x" * 60,
        f"    rfc1808  {url}",
        f"    rfc3986  {url}",
        f"    whatwg   {url}",
    ]


def test_a_failure() -> None:
    result = run("resolve", "http://a/", "b", "http://[", "--profile", "whatwg")
    assert result.exit_code == 3
    assert result.stdout == "b         http://a/b\n"
    assert result.stderr == "error: http://[: the reference does not parse, says whatwg\n"
    alone = run("resolve", "http://a/", "http://[", "--profile", "whatwg")
    assert (alone.exit_code, alone.stdout) == (3, "")
    base = run("resolve", "http://[", "b", "--profile", "whatwg")
    assert base.exit_code == 3
    assert base.stderr.startswith("error: b: the base does not parse")


@pytest.mark.parametrize("base", ["a/b", "", "mailto:a@b", "C:\\x", "http:///x"])
def test_a_base_that_is_none_is_told(base: str) -> None:
    result = done("resolve", base, "g")
    assert "is not suitable as a base: " in result.stderr
    assert result.stderr.endswith("(RFC 1808 §2.3)\n" if base else "(RFC 1808 §3.4)\n")
    assert run("resolve", base, "g", "--strict").exit_code == 1
    assert run("resolve", BASE, "g", "--strict").exit_code == 0


def test_a_reference_before_the_base_is_told() -> None:
    result = done("resolve", "../g", BASE)
    assert result.stderr.endswith("(RFC 1808 §2.3): the base comes first, before the references\n")


def test_json_lines() -> None:
    result = run("resolve", BASE, "../g", "http://[", "--json", "--profile", "whatwg")
    assert result.exit_code == 3
    first, second = map(json.loads, result.stdout.splitlines())
    assert first == {
        "version": 1,
        "base": BASE,
        "reference": "../g",
        "profile": "whatwg",
        "url": "http://a/b/g",
        "error": None,
    }
    assert (second["url"], second["error"]) == (None, "the reference does not parse")
    every = done("resolve", BASE, "http:g", "x", "--json", "--all")
    rows = [json.loads(line) for line in every.stdout.splitlines()]
    assert [(row["reference"], row["profile"]) for row in rows] == [
        (reference, profile)
        for reference in ("http:g", "x")
        for profile in ("rfc1808", "rfc3986", "whatwg")
    ]


def test_one_result_is_one_line_that_no_terminal_obeys() -> None:
    result = run("resolve", "http://a/", "x\n\x1b[2J\udcff")
    assert result.stdout == "http://a/x\\n\\x1b[2J\\udcff\n"
    exact = json.loads(run("resolve", "http://a/", "x\n\udcff", "--json").stdout)
    assert exact["url"] == "http://a/x\n\udcff"


def test_arguments_that_are_no_utf_8() -> None:
    ran = program("resolve", "http://a/", b"\xff", "--json")
    assert json.loads(ran.stdout)["url"] == "http://a/\udcff"


def test_a_reference_that_looks_like_an_option() -> None:
    assert run("resolve", "http://a/", "--", "-g").stdout == "http://a/-g\n"


def test_references_from_standard_input() -> None:
    result = run("resolve", "http://a/b", "x", "-", stdin=b"y\n\n../z\n")
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["x", "http://a/x"],
        ["y", "http://a/y"],
        ["../z", "http://a/../z"],
    ]
    nothing = run("resolve", "http://a/b", "-", "--all")
    assert (nothing.exit_code, nothing.stdout) == (0, "")


def test_the_steps() -> None:
    result = run("resolve", "http://a/b/c", "../g", "--steps")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "../g  (rfc1808)"
    assert lines[-2:] == ["    7   the components are recombined", "        -> http://a/g"]
    assert '    6c  "b/../" is removed' in lines
    assert "        -> /b/../g" in lines


def test_the_steps_of_every_profile() -> None:
    result = run("resolve", BASE, "../g", "http:x", "--steps", "--all")
    headers = [line for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert headers == [
        f"{reference}  ({profile})"
        for reference in ("../g", "http:x")
        for profile in ("rfc1808", "rfc3986", "whatwg")
    ]


def test_steps_that_lead_to_a_failure() -> None:
    result = run("resolve", BASE, "http://[", "--steps", "--profile", "whatwg")
    assert result.exit_code == 3
    assert result.stdout.split()[-5:] == ["failure", "the", "parser", "returns", "failure"]
    result = run("resolve", "http://[", "x", "--steps", "--profile", "whatwg")
    assert result.exit_code == 3
    assert result.stdout == "x  (whatwg)\n    failure: the base does not parse\n"


def test_steps_as_json() -> None:
    [row] = map(json.loads, run("resolve", BASE, "", "--steps", "--json").stdout.splitlines())
    assert [step["number"] for step in row["steps"]] == ["1", "2", "2a"]
    assert row["steps"][-1]["value"] == row["url"] == BASE
    assert "steps" not in json.loads(run("resolve", BASE, "", "--json").stdout)


def test_no_step_is_obeyed_by_a_terminal() -> None:
    result = run("resolve", "http://a/\x1b[2J/b", "x\n\x1b[2J/../y", "--steps", "--all")
    assert all(line.isprintable() for line in result.stdout.splitlines())
