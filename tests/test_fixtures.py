"""Every triple of fixtures/: what goes in, what comes out, and why (fixtures/README.md)."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from scanners import SCANNERS, scanning

from relbase import Policy, Result, rewrite
from relbase.edit import splice

FIXTURES = Path(__file__).parent.parent / "fixtures"
STEMS = sorted(str(path.relative_to(FIXTURES))[:-5] for path in FIXTURES.rglob("*.toml"))

EVERY_FIXTURE = pytest.mark.parametrize("stem", STEMS)


class Fixture(NamedTuple):
    """A triple, read: the document, what is to come out, the call, and what else is expected."""

    data: bytes
    output: bytes
    call: dict[str, Any]
    expect: dict[str, Any]


@cache
def fixture(stem: str) -> Fixture:
    why = tomllib.loads((FIXTURES / f"{stem}.toml").read_text(encoding="utf-8"))
    assert why["why"].endswith("."), "the first line is a sentence"
    assert why["rule"]
    (data,) = (p for p in (FIXTURES / stem).parent.glob(f"{Path(stem).name}.*") if is_input(p))
    output = data.with_suffix(f".expected{data.suffix}").read_bytes()
    arguments = {"name": data.name} | call(why)
    return Fixture(data.read_bytes(), output, arguments, why["expect"])


def is_input(path: Path) -> bool:
    return path.suffix != ".toml" and ".expected" not in path.suffixes


def call(why: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `rewrite`."""
    arguments = dict(why["call"])
    policy = dict(why.get("policy", {}))
    if "keep" in policy:
        policy["keep"] = re.compile(policy["keep"])
    return arguments | {"policy": Policy(**policy)}


def rewritten(stem: str) -> Result:
    data, _, arguments, _ = fixture(stem)
    return rewrite(data, **arguments)


def test_there_are_fixtures_and_each_is_a_triple() -> None:
    assert len(STEMS) > 100
    # What is in an archive is of its own test (tests/cli/test_archives.py).
    files = [
        path
        for path in FIXTURES.rglob("*.*")
        if path.name != "README.md" and path.parent.name != "warc"
    ]
    assert len(files) == 3 * len(STEMS), "each stem is input, .expected and .toml"


@EVERY_FIXTURE
def test_output(stem: str) -> None:
    assert rewritten(stem).data == fixture(stem).output


@EVERY_FIXTURE
def test_notes(stem: str) -> None:
    notes = rewritten(stem).notes
    assert sorted(note.reason.value for note in notes) == sorted(fixture(stem).expect["notes"])
    spans = [note.span for note in notes if note.span is not None]
    assert all(0 <= span.start <= span.end <= len(fixture(stem)[0]) for span in spans)


@EVERY_FIXTURE
def test_base(stem: str) -> None:
    base, expect = rewritten(stem).base, fixture(stem).expect
    assert (base.url, base.layer.value) == (expect["base"], expect["layer"])


@EVERY_FIXTURE
def test_law_1_nothing_relative_nothing_changed(stem: str) -> None:
    data, output, _, _ = fixture(stem)
    result = rewritten(stem)
    assert result.changed == (data != output)
    assert (result.data is data) == (data == output)


@EVERY_FIXTURE
def test_law_2_outside_of_the_edits_every_byte_is_the_same(stem: str) -> None:
    data = fixture(stem).data
    result = rewritten(stem)
    assert splice(data, result.edits) == result.data  # they are sorted, disjoint and in range
    assert all(data[edit.start : edit.end] != edit.new for edit in result.edits)


@EVERY_FIXTURE
def test_law_3_once_more_changes_nothing(stem: str) -> None:
    _, output, arguments, _ = fixture(stem)
    assert rewrite(output, **arguments).data is output


@EVERY_FIXTURE
def test_law_7_spans_lie_in_the_document_and_in_order(stem: str) -> None:
    data = fixture(stem).data
    spans = [link.span for link in rewritten(stem).links]
    assert all(0 <= start <= end <= len(data) for start, end in spans)
    assert spans == sorted(spans)


@EVERY_FIXTURE
@pytest.mark.parametrize("name", SCANNERS)
def test_every_scanner_reads_alike(stem: str, name: str) -> None:
    """Law 9a."""
    _, output, _, expect = fixture(stem)
    with scanning(name):
        result = rewritten(stem)
    assert result.data == output
    assert sorted(note.reason.value for note in result.notes) == sorted(expect["notes"])
