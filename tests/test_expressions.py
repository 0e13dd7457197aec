"""Expressions for a Python that is wrong about possessive groups (gh-106052)."""

import ast
import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest

import relbase
from relbase.expressions import any_of, atomic

PACKAGE = Path(relbase.__file__).parent
FIXTURES = PACKAGE.parent / "fixtures"


@pytest.mark.parametrize(
    ("possessive", "flags", "written"),
    [
        ("(?:ab?c)*+", 0, "(?>(?:ab?c)*)"),
        (r"(?:a\)b[)(]?+)++x", 0, r"(?>(?:a\)b[)(]?+)+)x"),
        ("((?:a)?+b){2,3}+", 0, "(?>((?>(?:a)?)b){2,3})"),
        ("[^]()*+]*+(?:x|(y)*+)?+", 0, "[^]()*+]*+(?>(?:x|(?>(y)*))?)"),
        ("(a) # ( in a comment\n *+", re.VERBOSE, "(a) # ( in a comment\n *+"),
        ("(?:a)*(b)+?a*+", 0, "(?:a)*(b)+?a*+"),
    ],
)
def test_a_possessive_group_is_an_atomic_one(possessive: str, flags: int, written: str) -> None:
    assert atomic(possessive, flags) == written


def test_all_expressions_are_made_by_one_function() -> None:
    for path in PACKAGE.rglob("*.py"):
        called = {
            ast.unparse(node.func)
            for node in ast.walk(ast.parse(path.read_bytes()))
            if isinstance(node, ast.Call)
        }
        assert "re.compile" not in called or path.name == "expressions.py", path


_REWRITE = """
import sys
from relbase import expressions
expressions._IS_RIGHT = sys.argv[1] == "right"
import hashlib, pathlib, relbase
for path in sorted(pathlib.Path(sys.argv[2]).glob("[chmx]*/*.*")):
    result = relbase.rewrite(path.read_bytes(), url="http://h.example/d/p")
    shown = repr((result.data, result.notes, list(result.links)))
    print(path, bool(result.edits), hashlib.sha1(shown.encode()).hexdigest())
"""


@pytest.mark.parametrize("scanner", ["exact", None])
def test_results_are_the_same_with_atomic_groups(
    scanner: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if scanner:
        monkeypatch.setenv("RELBASE_SCANNER", scanner)
    possessive, written = (
        subprocess.run(
            [sys.executable, "-c", _REWRITE, way, str(FIXTURES)], capture_output=True, check=True
        ).stdout
        for way in ("right", "wrong")
    )
    assert possessive == written
    assert possessive.count(b" True ") > 50


ALTERNATIVES = [
    ["(?i)x", "y"],
    ["(.)\\1", "(a)(b)\\2", r"[\]\1](c)\1"],
    ["(?x) a # a comment", "b"],
    ["(?a)\\w", "\\W-"],
    ["(a)?(?(1)b|c)", "(d)?(?(1)e|f)"],
    ["(?P<n>a)(?P=n)", "(?P<m>b)(?P=m)"],
    ["a|b$", "^c"],
    ["()" * 12, "()" * 8 + r"(a)\9", r"(b)\1(?i:C)"],
    [r"\101", r"(x)\061", r"\\1"],
]


@pytest.mark.parametrize("patterns", ALTERNATIVES)
def test_alternatives_match_where_one_does(patterns: list[str]) -> None:
    compiled = [re.compile(pattern) for pattern in patterns]
    for order in (compiled, compiled[::-1]):
        combined = any_of(order)
        for text in map("".join, itertools.product("abcxX1", repeat=3)):
            for more in ("", "-", "\\1", "de", "f", "\xe9"):
                each = any(one.search(text + more) for one in compiled)
                assert bool(combined.search(text + more)) is each, (order, text + more)


def test_what_cannot_be_combined_is_an_error() -> None:
    named = re.compile("(?P<n>a)")
    assert any_of([named]) is named
    with pytest.raises(re.error, match="redefinition"):
        any_of([named, named])
    with pytest.raises(re.error, match="too many groups"):
        any_of([re.compile("()" * 99), re.compile(r"(.)\1")])
