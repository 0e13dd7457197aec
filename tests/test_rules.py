"""Every rule, law and threat that a comment cites stands in docs/rules.md, once."""

import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from relbase.compression.codings import MAX_DECODED
from relbase.containers import mail
from relbase.containers.warc import MAX_BLOCK
from relbase.html.visit import MAX_SRCDOC_BYTES, MAX_SRCDOC_DEPTH
from relbase.rewriting.budget import MAX_GROWTH, MAX_GROWTH_BYTES
from relbase.xml import structure

ROOT: Final = Path(__file__).parents[1]
RULES: Final = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")

_NUMBER: Final = r"[0-9]+a?\b"
_THREAT: Final = r"[HAEMWPN][0-9]{1,2}\b"
STATED: Final = Counter(
    [
        *(
            f"rule {number}"
            for number in re.findall(rf"^\*\*Rule ({_NUMBER})", RULES, re.MULTILINE)
        ),
        *(
            f"law {number}"
            for number in re.findall(rf"^- \*\*Law ({_NUMBER})", RULES, re.MULTILINE)
        ),
        *re.findall(rf"^\| ({_THREAT}) \|", RULES, re.MULTILINE),
    ]
)

# "rules 4 and 5", "rule 6", "law 9a", "threats M12, N8"
_list = r"({0}(?:(?:, | and | to ){0})*)"
_cites_rules: Final = re.compile(rf"\b(rule|law)s? {_list.format(_NUMBER)}", re.IGNORECASE).findall
_cites_threats: Final = re.compile(
    rf"(?:\bthreats? |(?<=\())({_THREAT}(?:(?:, | and | to ){_THREAT})*)", re.IGNORECASE
).findall
# The rules and the threats have one place, and it is not called so.
_cites_elsewhere: Final = re.compile(r"\b(?:threats|design)\.md\b|\bdesign rule").findall

FILES: Final = sorted(
    path
    for folder in ("relbase", "tests", "benchmarks", "fixtures")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".toml", ".md", ".c"}
)


def cited(text: str) -> set[str]:
    """What a text cites: `rule 6`, `law 9a`, `M12`."""
    rules = {
        f"{word.lower()} {number}"
        for word, numbers in _cites_rules(text)
        for number in re.findall(_NUMBER, numbers)
    }
    return rules | {one for numbers in _cites_threats(text) for one in re.findall(_THREAT, numbers)}


def test_each_is_stated_once() -> None:
    assert set(STATED.values()) == {1}
    assert {f"rule {number}" for number in range(1, 23)} <= STATED.keys()
    assert {"law 1", "law 9a", "law 10", "H1", "N12"} <= STATED.keys()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_cited_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert cited(text) <= STATED.keys()
    assert path == Path(__file__) or _cites_elsewhere(text) == []


def test_the_code_cites_most_of_them() -> None:
    assert cited("by Rule 6, laws 9a and 10, threats M12, N8; once (N2)") == {
        "rule 6", "law 9a", "law 10", "M12", "N8", "N2",
    }  # fmt: skip
    assert _cites_elsewhere("threats.md M1, a design rule") == ["threats.md", "design rule"]
    found = set().union(*(cited(path.read_text(encoding="utf-8")) for path in FILES))
    assert len(found & STATED.keys()) > 50


def test_the_limits_are_those_of_the_code() -> None:
    table = dict(
        re.findall(r"^\| ([^|]*?) \| ([^|]*?) \|$", RULES.partition("| limit |")[2], re.MULTILINE)
    )
    mebi = 1 << 20
    growth = f"{MAX_GROWTH} times its input, or {MAX_GROWTH_BYTES // mebi} MiB more than it"
    below = f"{MAX_SRCDOC_BYTES // mebi} MiB in all below the first"
    limits = {
        "an output": f"{growth}, whichever is larger",
        "nested parts of a message": f"{mail.MAX_DEPTH:,} levels",
        "parts of a message": f"{mail.MAX_PARTS:,}",
        "nested elements of XML": f"{structure.MAX_DEPTH:,} levels",
        "nested `srcdoc` documents": f"{MAX_SRCDOC_DEPTH:,} levels, and {below}",
        "a body of HTTP, decoded": f"{MAX_DECODED // mebi} MiB",
        "the block of a record of a web archive": f"{MAX_BLOCK // mebi} MiB",
    }
    assert {name: table.get(name) for name in limits} == limits
