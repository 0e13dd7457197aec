"""One step of an algorithm, as it was done for one reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from relbase.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Of a stack so many segments are shown, those on its top: a hostile path has millions, and each
# step has a stack.
MAX_STACK: Final = 20

# So many steps of one kind are listed each; a last one says how many more there were.
MAX_REPEATED: Final = 100

# What is quoted of a component in the text of a step, in characters.
_SHOWN: Final = 80


class Step(NamedTuple):
    """One step of an algorithm.

    Args:
        number: of the step or the state, as its text has it: "2a", "5.2.4 2C", "relative state".
        text: what was done, a sentence for people.
        value: what the step made, None when it made nothing; the last step's is the result, None
            where the algorithm fails.
        stack: the segments of the path after the step, at most `MAX_STACK` of them, "..." before
            them when there are more; None where the step is not about segments.
    """

    number: str
    text: str
    value: str | None = None
    stack: tuple[str, ...] | None = None


def top_of(stack: Sequence[str]) -> tuple[str, ...]:
    """Return what is shown of a stack of segments."""
    return (*(("...",) if len(stack) > MAX_STACK else ()), *stack[-MAX_STACK:])


def quoted(text: str | None) -> str:
    """Return a component as a sentence has it: `"a"`, and `undefined` where it is absent."""
    if text is None:
        return "undefined"
    return f'"{text}"' if len(text) <= _SHOWN else f'"{text[:_SHOWN]}..."'


# What follows from a decision that was made before: cutting, merging, and putting together again.
_FOLLOWING: Final = (
    *("7", "6a", "6b", "6c", "6d"),  # RFC 1808 §4
    *("5.2.4", "5.3"),  # RFC 3986
    *("path state", "query state", "fragment state", "path start state", "host state"),
    *("authority state", "file host state", "URL serializer"),  # WHATWG
)


def decisive(steps: Iterable[Step]) -> Step:
    """Return the step that decides what a reference means: the last one that asks something."""
    return [step for step in steps if not step.number.startswith(_FOLLOWING)][-1]
