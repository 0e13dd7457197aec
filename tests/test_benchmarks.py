"""Every benchmark has the same interface, and runs: on little, what it says is not looked at."""

import importlib
import inspect
import platform
from pathlib import Path
from typing import Any, Final

import pytest

import benchmarks.__main__ as command
import relbase
from benchmarks.against import moved
from benchmarks.corpora import Corpus
from benchmarks.memory import Row
from benchmarks.timing import Contender, Timing, machine, measure, table

NAMES: Final = command.names()

# What makes a benchmark small, by its module and name there.
SMALL: Final[dict[str, dict[str, Any]]] = {
    "bases": {"_CALLS": 1},
    "html": {"corpora": lambda _data: [Corpus("one", [b"<!doctype html><a href=x>"])]},
    "mail": {"_LARGE": range(1, 1 << 20), "_made_up": lambda: b"<a href=x>"},
    "memory": {"_ROWS": [Row("page", lambda _data: b"<a href=x>", ("relbase_html",))]},
    "resolution": {"_shaped_pages": list},
    "trees": {"_pages": lambda _data: ([b"<a href=x>"], "one page")},
    "xml": {"_SIZE": 10_000},
}


def test_they_are_found() -> None:
    assert {"html", "mail", "memory", "startup", "trees", "xml"} <= set(NAMES)
    assert "timing" not in NAMES
    assert SMALL.keys() <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_they_have_one_interface(name: str) -> None:
    run = importlib.import_module(f"benchmarks.{name}").run
    assert list(inspect.signature(run).parameters) == ["data", "rounds"]


@pytest.mark.parametrize("name", sorted(SMALL))
def test_they_yield_a_table(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(f"benchmarks.{name}")
    for attribute, small in SMALL[name].items():
        monkeypatch.setattr(module, attribute, small)
    monkeypatch.setattr("benchmarks.timing._IN_TURN", 1)
    printed = next(iter(module.run(None, 1)))
    assert len(printed.splitlines()) > 2
    assert "relbase" in printed or "rfc1808" in printed


def test_tables_go_between_the_comments_of_a_file(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"a\n{command.BEGIN}\nold\n{command.END}\nb\n", encoding="utf-8")
    command.write_into(readme, ["one", "two"])
    written = readme.read_text(encoding="utf-8")
    assert written == f"a\n{command.BEGIN}\n```text\none\n\ntwo\n```\n{command.END}\nb\n"


def test_rows_that_moved_by_more_than_their_noise() -> None:
    before = [Timing("relbase, compiled", 1.0, 0.01), Timing("b", 2.0), Timing("gone", 3.0)]
    after = [Timing("relbase, compiled", 0.5, 0.02), Timing("b", 1.98), Timing("new", 3.0)]
    old, new = (
        table("rewrite, x: 2 pages", one, 1.0, "MB", one[1].name) for one in (before, after)
    )
    assert [*moved(old, new)] == ["rewrite, x: relbase, compiled: 2.00 -> 3.96 (+98%, noise 3%)"]
    assert not [*moved(old, old)]


def test_noise_is_how_much_the_next_best_turn_was_slower() -> None:
    for timing in measure([Contender("x", list)], 3):
        assert timing.name == "x"
        assert timing.seconds > 0 <= timing.noise


def test_the_machine_is_named() -> None:
    assert relbase.scanner in machine()
    assert platform.python_version() in machine()
