"""The limit on growth: how much longer the references of a document may become (rule 12).

A long base in many references is the only way to make an output many times its input (threat A8).
So each reference is charged in document order, whether it is rewritten or listed. The first
reference that the budget does not cover stays unchanged, and so do all later ones. A base that the
document states is charged by its length, since preparing it takes as long, and no reference need
be written. Once the budget is spent, nothing more is prepared or resolved.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final

from relbase.expressions import expression
from relbase.notes import Note, Reason

if TYPE_CHECKING:
    from relbase.edit import Edit

# An output may be 100 times its input, or 64 MB longer if the input is short: no real document
# comes near.
MAX_GROWTH: Final = 100
MAX_GROWTH_BYTES: Final = 64 << 20

# How much references may grow in visits on trial, all together.
MAX_TRIED: Final = 64 << 20


class Budget:
    """How much one document, with everything nested in it, may still grow."""

    __slots__ = ("_allowed", "left", "list_left", "refused", "rewritten", "tried")

    def __init__(self, size: int) -> None:
        self._allowed = max((MAX_GROWTH - 1) * size, MAX_GROWTH_BYTES)
        self.left = self._allowed
        # How many characters of URLs may still be listed for references that are kept.
        self.list_left = self._allowed
        self.refused = self.rewritten = 0
        self.tried = 0  # by how much references would have grown in visits on trial

    def spend(self, growth: int) -> bool:
        """Pay for a reference; False if it has to stay unchanged."""
        if growth <= self.left:
            self.left -= growth
            return True
        self.left = -1
        self.refused += 1
        return False

    def spend_if_covered(self, growth: int, listed: int = 0) -> bool:
        """Pay for several references at once, or for none."""
        if growth > self.left:
            return False
        self.left -= growth
        self.list_left -= listed
        return True

    def prepare(self, length: int) -> bool:
        """Pay for what is prepared for a base of this length; False if nothing more may be."""
        if length <= self.left:
            self.left -= length
            return True
        self.left = -1
        return False

    def affordable(self, edits: list[Edit], depth: int) -> list[Edit]:
        """Pay for the edits of a text that is nested `depth` documents deep; return those paid."""
        if not edits or self.spend_on_all(edits):
            return edits
        weights = {new: weight(new.decode("ascii"), depth) for new in set(map(_new, edits))}
        costs = [max(0, weights[new] - end + start) for start, end, new in edits]
        return [edit for edit, cost in zip(edits, costs, strict=True) if self.spend(cost)]

    def spend_on_all(self, edits: list[Edit]) -> bool:
        """Pay for all edits if they cost the same at any depth; False if nothing was paid."""
        news = set(map(_new, edits))
        if not all(MEANS_ITSELF.fullmatch(new.decode("ascii")) for new in news):
            return False
        cost = sum(max(0, len(new) - end + start) for start, end, new in edits)
        return self.spend_if_covered(cost)

    def on_trial(self, size: int) -> Budget:
        """Return a budget for visiting a text on trial, since not all of it may count."""
        trial = Budget(size)
        trial.list_left = self.list_left
        return trial

    def settle(self, trial: Budget) -> None:
        """Take over what a visit on trial listed and refused; what counts is charged apart."""
        self.list_left = trial.list_left
        self.refused += trial.refused
        self.tried += trial._allowed - max(trial.left, 0)

    def state(self) -> tuple[int, int, int, int]:
        """Return the state that `restore` returns to after a visit on trial."""
        return self.left, self.list_left, self.refused, self.rewritten

    def restore(self, state: tuple[int, int, int, int]) -> None:
        """Forget what was charged since `state`."""
        self.left, self.list_left, self.refused, self.rewritten = state

    def note(self, part: str) -> Note:
        """Return the note on what was refused."""
        links = "1 relative link" if self.refused == 1 else f"{self.refused} relative links"
        text = f"{links} left unchanged: the output would grow by over {self._allowed} bytes"
        return Note(Reason.LIMIT_GROWTH, part, None, text)


_new: Final = itemgetter(2)


def weight(new: str, depth: int) -> int:
    """Return how long a text can become in a reference that is nested `depth` documents deep."""
    if MEANS_ITSELF.fullmatch(new):
        return len(new)
    escaped = sum(1 for _ in _escaped.finditer(new))
    return len(new) + escaped * (_LONGEST - 1 + _DEEPER * depth)


# `MEANS_ITSELF` matches text that needs no escape anywhere. Any other character is charged at its
# longest: `\ud83d\ude00` in JSON, `&amp;#128512;`, `&amp;amp;#128512;`, ... in nested documents.
_escaped: Final = expression(r"[^A-Za-z0-9/:.?#=_~%+@!$*-]")
MEANS_ITSELF: Final = expression(r"[A-Za-z0-9/:.?#=_~%+@!$*-]*+")
_LONGEST: Final = 12
_DEEPER: Final = len("amp;")
