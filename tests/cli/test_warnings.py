"""Warnings: one of each kind is reported, the others are counted; -v shows all, -q none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from relbase.cli.warnings import Collected, Verbosity, WarningPrinter

if TYPE_CHECKING:
    from collections.abc import Sequence

INPUTS = (("a", "x x y"), ("b", "x"), ("c", "z"))


def reporting(inputs: Sequence[tuple[str, str]], how: Verbosity) -> None:
    printer = WarningPrinter(how)
    for name, reasons in inputs:
        collected = Collected(how)
        for reason in reasons.split():
            collected.add(reason, f"{name}: {reason}")
        printer.show(collected.all())
    printer.close()


@pytest.mark.parametrize(
    ("how", "lines"),
    [
        (Verbosity.ALL, ["a: x", "a: x", "a: y", "b: x", "c: z"]),
        (
            Verbosity.COUNTED,
            [
                "a: x",
                "a: y",
                "c: z",
                "2 more warnings like it [x], in 1 more input; -v shows all",
            ],
        ),
        (Verbosity.NONE, []),
    ],
)
def test_what_is_told(how: Verbosity, lines: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    reporting(INPUTS, how)
    assert capsys.readouterr().err.splitlines() == lines


def test_one_more(capsys: pytest.CaptureFixture[str]) -> None:
    reporting([("a", "x x")], Verbosity.COUNTED)
    assert capsys.readouterr().err.splitlines()[1:] == ["1 more warning like it [x]; -v shows all"]
