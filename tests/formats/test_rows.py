"""One row a kind: what the rows have in common, and that nobody else asks for the kind."""

import re
from pathlib import Path

import pytest

import relbase
from relbase.formats import rows
from relbase.formats.rows import FORMATS, READ
from relbase.kind import Kind

# A comparison with a member of Kind, a membership test, a table by kind: a row decides instead.
_ASKS = re.compile(
    r"(?:==|!=|\bis(?: not)?|\bin) Kind\.[A-Z]|Kind\.[A-Z]+ (?:==|!=|is|in)\b"
    r"|[({]Kind\.[A-Z]+[,:}]|\bcase Kind\."
)


@pytest.mark.parametrize(
    "source",
    [
        "if kind is Kind.MBOX:",
        "kind in {Kind.XML, Kind.OTHER}",
        "kind in {Kind.XML}",
        "X = {Kind.MAIL: f}",
        "frozenset((Kind.XML, Kind.MBOX))",
        "case Kind.XML:",
    ],
)
def test_asking_for_the_kind_would_be_seen(source: str) -> None:
    assert _ASKS.search(source)
    assert not _ASKS.search(source.replace("Kind.", "_JsonKind."))


@pytest.mark.parametrize(
    "path", sorted(Path(relbase.__file__).parent.rglob("*.py")), ids=lambda path: path.name
)
def test_which_kind_it_is_nobody_asks_but_the_formats(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    if path.name not in {"formats.py", "kind.py"} and "relbase.kind import" in source:
        assert _ASKS.findall(source) == []


def test_every_kind_has_a_row_and_every_name_one_kind() -> None:
    assert set(FORMATS) == set(Kind)
    types = [type_ for row in FORMATS.values() for type_ in row.types]
    suffixes = [suffix for row in FORMATS.values() for suffix in row.suffixes.split()]
    assert len(types) == len(set(types))
    assert len(suffixes) == len(set(suffixes)) > 10


def test_a_missing_row_is_reported_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(FORMATS, Kind.CSS)
    with pytest.raises(TypeError, match=r"CSS.* has no row: .*relbase/formats/rows\.py"):
        rows._check()  # noqa: SLF001


def test_the_sentence_that_lists_what_is_read() -> None:
    assert READ == "HTML, CSS, XML, a JSON Feed, JSON-LD, mail or Markdown"
