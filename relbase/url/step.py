"""Steps show how an algorithm reaches its result: `Trace` keeps them, `no_trace` drops them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple


def not_text(value: object, name: str = "the reference", fix: str = "") -> TypeError:
    """Return the error for a value that is not a string; it says what to give instead."""
    fix = fix or ("decode it first" if isinstance(value, (bytes, bytearray)) else "give a str")
    return TypeError(f"{name} must be a str, not {type(value).__name__}: {fix}")


def check_text(value: object, *names: str) -> None:
    """Raise TypeError, with a name and a fix if they are given, for a value that is no string."""
    if not isinstance(value, str):
        raise not_text(value, *names)


# The most steps of one kind that are kept: a hostile path has millions of segments.
MAX_REPEATED: Final = 40

# The most characters of a component that the text of a step quotes.
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


# Takes a step: its number, its text with a `{}` for each component, the components, its value.
Tracer = Callable[..., None]


def no_trace(
    number: str, text: str, *components: object, value: Iterable[str] | None = None
) -> None:
    """Drop a step, since nobody asked for steps."""


class Trace:
    """Keeps the steps that it is told."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._counts: dict[str, int] = {}

    def __call__(
        self, number: str, text: str, *components: object, value: Iterable[str] | None = None
    ) -> None:
        """Keep a step, or only count it if its kind has many; a value may come in pieces."""
        count = self._counts[number] = self._counts.get(number, 0) + 1
        if count <= MAX_REPEATED:
            made = None if value is None else "".join(value)
            self._steps.append(Step(number, text.format(*map(shown, components)), made))

    def steps(self) -> list[Step]:
        """Return the steps; if a kind has too many, its last step counts those left out."""
        steps = self._steps.copy()
        for number, count in self._counts.items():
            if count > MAX_REPEATED:
                last = max(at for at, step in enumerate(steps) if step.number == number)
                steps.insert(last + 1, Step(number, f"{count - MAX_REPEATED} more of these"))
        return steps


def shown(component: object) -> str:
    """Return one component, or all present ones of a tuple, as text for a sentence."""
    if component is None:
        return "undefined"
    if isinstance(component, tuple):
        named = component._asdict().items()  # type: ignore[attr-defined] # it is a named tuple
        return ", ".join(f"{name} {shown(value)}" for name, value in named if value is not None)
    text = str(component)
    return f'"{text}"' if len(text) <= _QUOTED else f'"{text[:_QUOTED]}..."'
