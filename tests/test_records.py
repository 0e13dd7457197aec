"""Named tuples are what `typing.NamedTuple` makes of the same class."""

from __future__ import annotations

import pickle
import typing

import pytest

from relbase import records


class Quick(records.NamedTuple):
    """A point."""

    x: int
    y: str = "?"

    @property
    def both(self) -> str:
        return f"{self.x}{self.y}"

    def moved(self) -> Quick:
        return self._replace(x=self.x + 1)


class Typed(typing.NamedTuple):
    """A point."""

    x: int
    y: str = "?"

    @property
    def both(self) -> str:
        return f"{self.x}{self.y}"

    def moved(self) -> Typed:
        return self._replace(x=self.x + 1)


class Deeper(Quick):
    """One that inherits, as `Context` does."""

    __slots__ = ()

    def __new__(cls, x: int) -> typing.Self:
        return super().__new__(cls, x, "!")


def test_they_are_alike() -> None:
    for name in (
        "__doc__",
        "__module__",
        "_fields",
        "_field_defaults",
        "__slots__",
        "__match_args__",
    ):
        assert getattr(Quick, name) == getattr(Typed, name), name
    assert Quick.__qualname__ == "Quick"
    assert list(Quick.__annotations__) == list(Typed.__annotations__)
    assert repr(Quick(1)).partition("(")[2] == repr(Typed(1)).partition("(")[2]
    assert Quick(1) == (1, "?")
    assert Quick(1).moved().both == "2?"
    assert isinstance(Quick(1), tuple)
    assert not hasattr(Quick(1), "__dict__")


def test_what_inherits() -> None:
    assert (Deeper(1).both, type(Deeper(1))) == ("1!", Deeper)


def test_pickled() -> None:
    assert type(pickle.loads(pickle.dumps(Quick(1)))) is Quick


def test_the_order_of_defaults() -> None:
    body = {"__module__": __name__, "__annotations__": {"x": "int", "y": "int"}, "x": 1}
    with pytest.raises(TypeError, match="a field without a default follows"):
        type(records.NamedTuple)("Wrong", (records.NamedTuple,), body)  # type: ignore[misc]


def test_wrong_calls() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Quick()  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Quick(1).x = 2  # type: ignore[misc]
