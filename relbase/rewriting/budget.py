"""How much longer the references of a document may become: the limit on growth (rule 12).

A long base in many references is the only way to an output that is many times its input (threat
A8). So each reference is charged in document order, the same way whether it is rewritten or listed.
From the first on that the budget does not cover, all that remain stay as they are.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final

from relbase.bases.layers import remembering
from relbase.expressions import expression
from relbase.notes import Note, Reason

if TYPE_CHECKING:
    from relbase.edit import Edit

# An output may be 100 times its input, or 64 MB longer where the input is short: no real
# document comes near.
MAX_GROWTH: Final = 100
MAX_GROWTH_BYTES: Final = 64 << 20


class Budget:
    """The budget of one document, with all that is nested in it."""

    __slots__ = ("_allowed", "left", "refused", "shown")

    def __init__(self, size: int) -> None:
        self._allowed = max((MAX_GROWTH - 1) * size, MAX_GROWTH_BYTES)
        self.left = self._allowed
        # What references that are kept resolve to is listed up to this length.
        self.shown = self._allowed
        self.refused = 0

    @property
    def is_spent(self) -> bool:
        """Whether a reference was refused, so that all after it are."""
        return self.left < 0

    def spend(self, growth: int) -> bool:
        """Pay for a reference; False if it has to stay as it is."""
        if growth <= self.left:
            self.left -= growth
            return True
        self.left = -1
        self.refused += 1
        return False

    def covered(self, edits: list[Edit], depth: int) -> list[Edit]:
        """Pay for the edits of references; those that can be made are returned."""
        if not edits or self.covers(edits):
            return edits
        weights = {new: weight(new.decode("ascii"), depth) for new in set(map(_new, edits))}
        costs = [max(0, weights[new] - end + start) for start, end, new in edits]
        return [edit for edit, cost in zip(edits, costs, strict=True) if self.spend(cost)]

    def covers(self, edits: list[Edit]) -> bool:
        """Pay for all edits, however deep they are; False if nothing is paid for."""
        news = set(map(_new, edits))
        if any(weight(new.decode("ascii"), 1) != len(new) for new in news):
            return False
        cost = sum(max(0, len(new) - end + start) for start, end, new in edits)
        return cost <= self.left and self.spend(cost)

    def state(self) -> tuple[int, int, int]:
        """What `restore` takes back to: for what is visited on trial."""
        return self.left, self.shown, self.refused

    def restore(self, state: tuple[int, int, int]) -> None:
        """Forget what was charged since."""
        self.left, self.shown, self.refused = state

    def note(self, part: str) -> Note | None:
        """Return the note on what was refused, if anything was."""
        if not self.refused:
            return None
        links = "1 relative link" if self.refused == 1 else f"{self.refused} relative links"
        text = f"{links} left unchanged: the output would grow by over {self._allowed} bytes"
        return Note(Reason.LIMIT_GROWTH, part, None, text)


_new: Final = itemgetter(2)


def weight(new: str, depth: int) -> int:
    """Return how long a text is at most, written into a reference that is so deep in documents."""
    return len(new) if means_itself.fullmatch(new) else _remembered(new)(new, depth)


# What means itself wherever a reference stands. Each other character is counted at its longest: in
# JSON as `\ud83d\ude00`, and in each document around as `&amp;#128512;`, `&amp;amp;#128512;`, ...
_escaped: Final = expression(r"[^A-Za-z0-9/:.?#=_~%+@!$*-]")
means_itself: Final = expression(r"[A-Za-z0-9/:.?#=_~%+@!$*-]*+")
_LONGEST: Final = 12
_DEEPER: Final = len("amp;")


def _weight(new: str, depth: int) -> int:
    escaped = sum(1 for _ in _escaped.finditer(new))
    return len(new) + escaped * (_LONGEST - 1 + _DEEPER * depth)


_remembered: Final = remembering(_weight)
