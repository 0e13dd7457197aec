"""Warnings: one of each kind is told, the others are counted; -v tells all, -q none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from relbase.cli.warnings import Collected, Teller, Told

if TYPE_CHECKING:
    from collections.abc import Sequence

INPUTS = (("a", "x x y"), ("b", "x"), ("c", "z"))


def told(inputs: Sequence[tuple[str, str]], how: Told) -> None:
    teller = Teller(how)
    for name, reasons in inputs:
        collected = Collected(how)
        for reason in reasons.split():
            collected.add(reason, f"{name}: {reason}")
        teller.tell(collected.all())
    teller.close()


@pytest.mark.parametrize(
    ("how", "lines"),
    [
        (Told.ALL, ["a: x", "a: x", "a: y", "b: x", "c: z"]),
        (
            Told.COUNTED,
            [
                "a: x",
                "a: y",
                "c: z",
                "2 more warnings like it [x], in 1 more input; -v tells all",
            ],
        ),
        (Told.NONE, []),
    ],
)
def test_what_is_told(how: Told, lines: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    told(INPUTS, how)
    assert capsys.readouterr().err.splitlines() == lines


def test_one_more(capsys: pytest.CaptureFixture[str]) -> None:
    told([("a", "x x")], Told.COUNTED)
    assert capsys.readouterr().err.splitlines()[1:] == ["1 more warning like it [x]; -v tells all"]
