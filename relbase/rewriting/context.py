"""What a visit knows: the task of a session, and the context of one text.

A `Reader` that the task provides reads the documents nested in a text (srcdoc, a part of a
message), so that no visit needs to know which kinds there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from relbase.bases.layers import (
    MAX_BASE,
    Base,
    Statement,
    establish,
    unsuitable,
)
from relbase.notes import Note, Reason
from relbase.savers.rows import NONE
from relbase.url.resolver import prepared_base

if TYPE_CHECKING:
    import re

    from relbase.bases.headers import MessageUrlSource
    from relbase.policy import Policy
    from relbase.rewriting.budget import Budget
    from relbase.rewriting.outcomes import Batch, Outcome
    from relbase.savers.rows import LocalFiles, Marks
    from relbase.url.profiles import Profile


class Opened(Protocol):
    """A document whose charset is known, and whose references have yet to be found."""

    @property
    def notes(self) -> tuple[Note, ...]: ...
    def visit(self, wanted: Wanted | None = None) -> Iterator[Outcome]: ...
    def base(self) -> Base: ...


class Reader(Protocol):
    """How the documents of one kind are read (a row of `relbase.formats.rows`)."""

    # Visits text that is already decoded; None if this kind is not searched for references.
    @property
    def visit(self) -> Callable[[bytes, Context], Iterator[Batch]] | None: ...
    def read(self, data: bytes, label: str | None, context: Context) -> Opened: ...


Readers: TypeAlias = "Callable[[str, str], Reader | None]"


# The URLs that a caller writes, by the places of references: the part, where the text is in those
# around it, and where the reference is in the text. They are asked for before the visit that writes
# them, since a visit may try a text before it decides.
Replaced: TypeAlias = "dict[tuple[object, ...], str]"


class Wanted(Enum):
    """What a visit is for; text that holds nothing of it may be skipped."""

    # Edits, notes, and references that cannot be resolved.
    EDITS = "edits"
    # The same; XML is parsed to check it even if nothing in it changes.
    EXAMINED = "examined"
    # References, without edits and notes.
    REFERENCES = "references"
    # The same; the compiled scanner may make them as lists of finished links, or as columns. Only
    # for a document that is scanned in its own bytes.
    LINKS = "links"
    COLUMNS = "columns"
    # The base of the document alone: what follows the statement of it is not read.
    BASE = "base"
    # All of it: mail needs edits beside references if they decide what can be rewritten.
    ALL = "all"

    edits_only: bool
    references_only: bool
    is_scanned: bool  # whether a scanner may make what is wanted
    # Whether the scanner makes all that it can: other visits see each element, so that one on trial
    # would take longer than to seek a `<base>`.
    is_scanned_ahead: bool

    def __init__(self, name: str) -> None:
        # Attributes, not properties: each reference asks for them.
        self.edits_only = name in {"edits", "examined"}
        self.references_only = name in {"references", "links", "columns"}
        self.is_scanned = name not in {"base", "all"}
        self.is_scanned_ahead = name not in {"references", "all"}


class Task(NamedTuple):
    """What the options of a session decide for each visit, whatever the document."""

    profile: Profile
    policy: Policy
    reader: Readers  # of nested documents, by media type and file name (each may be "")
    detect: bool = True  # whether marks of saving programs may state a retrieval URL
    # Whether a file with this name ("" if unknown) may contain references.
    holds: Callable[[str], bool] | None = None
    message_urls: MessageUrlSource | None = None  # the retrieval URLs of messages (rule 16)
    # Says whether the policy keeps a reference (`Policy.keeper`); None if it keeps none.
    keeps: Callable[[str], object] | None = None
    images_url: str | None = None  # the base of the images of Markdown, if they have their own
    is_scanned: bool = False  # `Policy.is_scanned`

    def establish(
        self,
        statements: Iterable[Statement],
        around: Base,
        part: str = "",
        charset: str = "utf-8",
        resolve: Callable[[str], str] | None = None,
    ) -> tuple[Base, list[Note]]:
        """Return the base that statements establish inside another one, and notes on it."""
        allows = self.policy.private_bases
        return establish(
            statements, around, self.profile, part, charset, resolve, private_bases=allows
        )


class Codebase(NamedTuple):
    """How the references of an element with a `codebase`, or images, are resolved."""

    resolve: Callable[[str], str] | None  # None if they cannot be resolved
    base: Base | None = None  # the base that it states; None if it does not count


class Context(NamedTuple):
    """What applies to the references of one text; nested texts derive theirs."""

    base: Base  # the established base
    task: Task
    wanted: Wanted = Wanted.ALL
    budget: Budget | None = None  # of the document and everything nested in it; None: no limit
    local_files: LocalFiles | None = None  # knows which files were saved beside the page
    policies: tuple[str, ...] = ()  # the Content-Security-Policy fields of the document
    part: str = ""  # the section number of the entity, as in IMAP
    within: str = ""  # follows line numbers in notes: " of part 1.2"; "" in the document itself
    charset: str = "utf-8"  # of the text that is scanned, a WHATWG name
    encoding: str = "utf-8"  # of the document, which decides how queries are encoded
    depth: int = 0  # how many documents it is nested in (srcdoc, HTML in a feed)
    nested_bytes: int = 0  # the bytes of the nested texts from the second level down to this one
    # Whether the document links or imports style sheets (rule 9).
    sheets: Callable[[], bool] = lambda: True
    # Matches references whose meaning in browsers depends on a charset that nothing states.
    unstated: re.Pattern[str] | None = None
    marks: Marks | None = None  # marks of saving programs in the text, if they were read already
    replaced: Replaced | None = None  # the caller's URLs; None if the caller replaces none
    at: tuple[int, ...] = ()  # where the text is in those around it, for `replaced`
    texts: bool = False  # whether references get the text of the element that they are on
    images: Codebase | None = None  # of HTML in Markdown: how its images are resolved
    resolve: BaseResolver | None = None  # resolves against the base; None without one
    extended: int = 0  # what rows of the vocabulary count with beside the usual ones
    parts: list[tuple[str, str]] | None = None  # gets the number and type of each part of mail

    @property
    def may_be_marked(self) -> bool:
        """Whether marks of saving programs may count, unless the text is known to have none."""
        return self.task.detect and self.marks is not NONE

    def visited(self, wanted: Wanted, budget: Budget | None) -> Context:
        """Return the context of a visit for what is wanted."""
        same: tuple[Any, ...] = self[4:]  # half the time of `_replace`
        return Context(self.base, self.task, wanted, budget, *same)

    def with_fields(self, **changes: Any) -> Context:  # noqa: ANN401 (of the fields' types)
        """Return this context with some fields changed; the profile has to stay the same."""
        base, encoding = changes.get("base", self.base), changes.get("encoding", self.encoding)
        if base is not self.base or encoding != self.encoding:
            changes["images"] = None  # whatever states a base of its own is stronger
            changes["resolve"] = resolver(base.url, self.task.profile, encoding)
        return self._replace(**changes)

    def in_charset(self, charset: str, encoding: str, unstated: re.Pattern[str] | None) -> Context:
        """Return the context of a text in a charset, whose document has another."""
        return self.with_fields(charset=charset, encoding=encoding, unstated=unstated)

    def established(self, statement: Statement) -> tuple[Base, list[Note]]:
        """Return the base of a document in this context that states one itself, and notes on it."""
        if self.task.policy.placeholders(statement.value):
            shown = f"{statement.source}: {statement.value[:200]!a} contains a placeholder"
            text = f"{shown}: it decides, and no reference can be resolved"
            note = Note(Reason.BASE_UNSUITABLE, self.part, statement.span, text)
            return Base("", statement.layer, statement.source, self.base), [note]
        budget = self.budget
        if budget is None or budget.left >= 0:
            about = self.base, self.part, self.encoding, self.resolve
            base, notes = self.task.establish((statement,), *about)
            if budget is None or budget.prepare(len(base.url)):
                return base, notes
        # No reference is resolved any more, so it need not be known.
        return Base("", statement.layer, statement.source, self.base), []

    def on_item_link(self, statement: Statement) -> Context:
        """Return the context for HTML in an item, whose link counts unless it is too long."""
        base, _ = self.established(statement)
        return self if len(base.url) > MAX_BASE else self.with_base(base)

    def with_base(self, base: Base) -> Context:
        if base is self.base:
            return self
        resolve = resolver(base.url, self.task.profile, self.encoding)
        return self._replace(base=base, images=None, resolve=resolve)

    def in_utf_8(self) -> Context:
        """The context where browsers encode queries in UTF-8, whatever the charset is [C]."""
        return self if self.encoding == "utf-8" else self.with_fields(encoding="utf-8")

    def nested(self) -> Context:
        """The context of a document nested in a text; that is decoded, so the charset is UTF-8."""
        depth = self.depth + 1
        return self.with_fields(depth=depth, charset="utf-8", encoding="utf-8", marks=None)

    def inside(self, offset: int) -> Context:
        """The context of a value at an offset of the text; only `replaced` asks for it."""
        return self if self.replaced is None else self._replace(at=(*self.at, offset))

    def with_edits(self) -> Context:
        """The context for a visit whose edits decide which references are rewritten."""
        return self._replace(wanted=Wanted.ALL) if self.wanted.references_only else self


class BaseResolver:
    """Resolves references against a base, which is prepared when the first one needs that.

    What others prepare for the base is kept with it, by name.
    """

    __slots__ = ("_how", "_resolve", "ready")

    def __init__(self, url: str, profile: Profile, encoding: str) -> None:
        self._how = url, profile, encoding
        self._resolve: Callable[[str], str] | None = None
        self.ready: dict[object, Any] = {}

    def __call__(self, reference: str) -> str:
        if self._resolve is None:
            self._resolve = prepared_base(*self._how).resolve
        return self._resolve(reference)


def resolver(url: str, profile: Profile, encoding: str) -> BaseResolver | None:
    """Return what resolves references against a base; None if the URL cannot be a base."""
    # A new context has no base, and a long one is not kept (threat N3).
    return _resolver(url, profile, encoding) if 0 < len(url) <= MAX_BASE else None


@lru_cache(maxsize=8)  # the messages of a mailbox alternate between a few bases
def _resolver(url: str, profile: Profile, encoding: str) -> BaseResolver | None:
    return None if unsuitable(url) else BaseResolver(url, profile, encoding)
