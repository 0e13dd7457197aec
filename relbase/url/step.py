"""Steps: how an algorithm comes to its result. `untold` drops what it is told, `Trace` keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple


def not_text(value: object, name: str = "reference") -> TypeError:
    """Return the error for what is not a string, with what to give instead."""
    fix = "decode it first" if isinstance(value, (bytes, bytearray)) else "give a str"
    return TypeError(f"the {name} is a str, not {type(value).__name__}: {fix}")


# A hostile path has millions of segments: no more steps of one kind are kept.
MAX_REPEATED: Final = 40

# What is quoted of a component in the text of a step, in characters.
_QUOTED: Final = 80


class Step(NamedTuple):
    """One step of an algorithm.

    Args:
        number: Number of the step in its specification: "2a", "5.2.4 2C"; in WHATWG its name.
        text: What was done, as a sentence for people.
        value: What the step produced, if anything. The value of the last step is the result, or
            None if the algorithm fails.
    """

    number: str
    text: str
    value: str | None = None


# Takes a step: its number, its text with a place (`{}`) for each component, these, and its value.
Tell = Callable[..., None]


def untold(number: str, text: str, *components: object, value: Iterable[str] | None = None) -> None:
    """Take a step that nobody asked for."""


class Trace:
    """Keeps the steps that it is told."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._counts: dict[str, int] = {}

    def __call__(
        self, number: str, text: str, *components: object, value: Iterable[str] | None = None
    ) -> None:
        """Keep a step, or count it when there are many of its kind; a value may be in pieces."""
        count = self._counts[number] = self._counts.get(number, 0) + 1
        if count <= MAX_REPEATED:
            made = None if value is None else "".join(value)
            self._steps.append(Step(number, text.format(*map(shown, components)), made))

    def steps(self) -> list[Step]:
        """Return the steps; after those of a kind with too many, one that counts the others."""
        steps = self._steps.copy()
        for number, count in self._counts.items():
            if count > MAX_REPEATED:
                last = max(at for at, step in enumerate(steps) if step.number == number)
                steps.insert(last + 1, Step(number, f"{count - MAX_REPEATED} more of these"))
        return steps


def shown(component: object) -> str:
    """Return a component as a sentence has it, or all components that are not absent."""
    if component is None:
        return "undefined"
    if isinstance(component, tuple):
        named = component._asdict().items()  # type: ignore[attr-defined] # it is a named tuple
        return ", ".join(f"{name} {shown(value)}" for name, value in named if value is not None)
    text = str(component)
    return f'"{text}"' if len(text) <= _QUOTED else f'"{text[:_QUOTED]}..."'
