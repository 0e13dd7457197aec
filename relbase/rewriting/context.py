"""What a text is visited with: the task and the budget of a call, and the context of one text.

What is nested in a text (srcdoc, a part of a message) is read by a `Reader` that the task hands
out, so that no visit knows which kinds there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

from relbase.bases.layers import Base, Statement, establish, remembering, unsuitable
from relbase.expressions import expression
from relbase.notes import Note, Reason
from relbase.policy import Policy, placeholders
from relbase.url.resolver import Profile, prepared_base

if TYPE_CHECKING:
    import re

    from relbase.bases.headers import MessageUrlSource
    from relbase.bases.marks import Marks, Places
    from relbase.edit import Edit
    from relbase.rewriting.items import Item


class Opened(Protocol):
    """A document that has been opened: its charset is known, its references are not yet."""

    @property
    def notes(self) -> tuple[Note, ...]: ...
    def visit(self, task: Task | None = None) -> Iterator[Item]: ...
    def base(self) -> Base: ...


class Reader(Protocol):
    """How the documents of one kind are read (a row of `relbase.formats`)."""

    # Visits a text that is decoded already; None where references are not looked for.
    @property
    def visit(self) -> Callable[[bytes, Context], Iterator[Item]] | None: ...
    def read(self, data: bytes, label: str | None, context: Context) -> Opened: ...


Readers: TypeAlias = "Callable[[str, str], Reader | None]"


# A tuple, as the context is: copies of a frozen dataclass would cost a small page more than its
# scan.
class Task(NamedTuple):
    """What one call asks for, shared by all that is visited for it."""

    profile: Profile
    policy: Policy
    reader: Readers  # of what is nested, by media type and file name ("" for none)
    # Only edits, notes and unresolved references are asked for: what holds none may be passed over.
    edits_only: bool = False
    # Only what is found is asked for, and no edit or note. Mail asks for both where it decides by
    # the edits what becomes of a reference.
    found_only: bool = False
    policies: tuple[str, ...] = ()  # the Content-Security-Policy fields of the document
    detect: bool = True  # whether marks that programs leave may state a retrieval URL
    budget: Budget | None = None  # of the document with all that is nested; None: no limit
    places: Places | None = None  # knows what was saved beside the page
    # Whether a file of a name ("" for none) is of a kind that may hold references.
    holds: Callable[[str], bool] | None = None
    message_urls: MessageUrlSource | None = None  # the retrieval URLs of messages (rule 16)
    examines: bool = False  # XML in which nothing changes is read by expat, too
    # The type of links that the compiled scanner may make of what it finds, and yield as lists:
    # where nothing is around a document, in its bytes; `Packed` for columns of links.
    link: type[tuple[Any, ...]] | None = None


class Context(NamedTuple):
    """What the references of one text are resolved with; made of the one around it by `having`."""

    base: Base  # the established base
    task: Task
    part: str = ""  # the number of the entity, as IMAP section numbers
    within: str = ""  # what lines are counted in: " of part 1.2"; "" for the document itself
    charset: str = "utf-8"  # of the text that is scanned, a WHATWG name
    encoding: str = "utf-8"  # of the document, which decides how queries are encoded
    depth: int = 0  # how many documents around it hold it in an attribute or element
    held: int = 0  # how many bytes the texts of these have, but for the outermost two
    # Whether the document links or imports style sheets (rule 9).
    sheets: Callable[[], bool] = lambda: True
    # Matches references whose meaning in browsers depends on a charset that nothing states.
    unstated: re.Pattern[str] | None = None
    marks: Marks | None = None  # what programs left in the text, where it was looked for already
    resolve: Callable[[str], str] | None = None  # the algorithm on the base, None for no base

    def having(self, **changes: Any) -> Context:  # noqa: ANN401 (of the fields' types)
        """The same context but for some fields, of the same profile."""
        base, encoding = changes.get("base", self.base), changes.get("encoding", self.encoding)
        if base is not self.base or encoding != self.encoding:
            changes["resolve"] = resolver(base.url, self.task.profile, encoding)
        return self._replace(**changes)

    def established(self, statement: Statement) -> tuple[Base, list[Note]]:
        """The base of a document that states one itself, within this context, and notes on it."""
        if self.task.policy.keep_templates and placeholders(statement.value):
            shown = f"{statement.source}: {statement.value[:200]!a} contains a placeholder"
            text = f"{shown}: it decides, and no reference can be resolved"
            note = Note(Reason.BASE_UNSUITABLE, self.part, statement.span, text)
            return Base("", statement.layer, statement.source, self.base), [note]
        return establish(
            (statement,),
            self.base,
            profile=self.task.profile,
            part=self.part,
            charset=self.encoding,
        )

    def on(self, base: Base) -> Context:
        if base is self.base:
            return self
        resolve = resolver(base.url, self.task.profile, self.encoding)
        return tuple.__new__(Context, (base, *self[1:-1], resolve))  # in half the time of `having`

    def in_utf_8(self) -> Context:
        """The context of where browsers take no charset from the document for queries [C]."""
        return self if self.encoding == "utf-8" else self.having(encoding="utf-8")

    def asking(self, task: Task) -> Context:
        return tuple.__new__(Context, (self.base, task, *self[2:]))  # as `having`, in half the time


def resolver(url: str, profile: Profile, encoding: str) -> Callable[[str], str] | None:
    """Return the algorithm prepared for a base; None where it can be none."""
    if not url:  # as each context begins
        return None
    return _remembered(url)(url, profile, encoding)


def prepared(url: str, profile: Profile, encoding: str) -> Callable[[str], str] | None:
    return None if unsuitable(url) else prepared_base(url, profile, encoding).resolve


_remembered: Final = remembering(prepared)


def resolved(base: str, profile: Profile, encoding: str, reference: str) -> str:
    """As what is prepared for a base does: it is, when the first reference needs it."""
    resolve = resolver(base, profile, encoding)
    assert resolve is not None  # a plain base is a suitable one
    return resolve(reference)


# ---- How much longer the references of a document may become: the limit on growth (rule 12)

# A long base in many references is the only way to an output that is many times its input (threat
# A8). So each reference is charged in document order, the same way whether it is rewritten or
# listed. From the first on that the budget does not cover, all that remain stay as they are.

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
        if not self.refused:
            return None
        links = "1 relative link" if self.refused == 1 else f"{self.refused} relative links"
        text = f"{links} left unchanged: the output would grow by over {self._allowed} bytes"
        return Note(Reason.LIMIT_GROWTH, part, None, text)


_new: Final = itemgetter(2)


def weight(new: str, depth: int) -> int:
    """Return how long a text is at most, written into a reference that is so deep in documents."""
    return len(new) if means_itself.fullmatch(new) else _remembered_weight(new)(new, depth)


# What means itself wherever a reference stands. Each other character is counted at its longest: in
# JSON as `\ud83d\ude00`, and in each document around as `&amp;#128512;`, `&amp;amp;#128512;`, ...
_escaped: Final = expression(r"[^A-Za-z0-9/:.?#=_~%+@!$*-]")
means_itself: Final = expression(r"[A-Za-z0-9/:.?#=_~%+@!$*-]*+")
_LONGEST: Final = 12
_DEEPER: Final = len("amp;")


def _weight(new: str, depth: int) -> int:
    escaped = sum(1 for _ in _escaped.finditer(new))
    return len(new) + escaped * (_LONGEST - 1 + _DEEPER * depth)


_remembered_weight: Final = remembering(_weight)
