"""What a visit knows: the task and the budget of a call, and the context of one text.

A `Reader` that the task provides reads the documents nested in a text (srcdoc, a part of a
message), so that no visit needs to know which kinds there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

from relbase.bases.layers import Base, Statement, cached_by_length, establish, unsuitable
from relbase.notes import Note, Reason
from relbase.policy import Policy, placeholders
from relbase.url.resolver import Profile, prepared_base

if TYPE_CHECKING:
    import re

    from relbase.bases.headers import MessageUrlSource
    from relbase.rewriting.budget import Budget
    from relbase.rewriting.outcomes import Outcome
    from relbase.savers.marks import LocalFiles, Marks


class Opened(Protocol):
    """A document whose charset is known, and whose references have yet to be found."""

    @property
    def notes(self) -> tuple[Note, ...]: ...
    def visit(self, task: Task | None = None) -> Iterator[Outcome]: ...
    def base(self) -> Base: ...


class Reader(Protocol):
    """How the documents of one kind are read (a row of `relbase.formats.rows`)."""

    # Visits text that is already decoded; None if this kind is not searched for references.
    @property
    def visit(self) -> Callable[[bytes, Context], Iterator[Outcome]] | None: ...
    def read(self, data: bytes, label: str | None, context: Context) -> Opened: ...


Readers: TypeAlias = "Callable[[str, str], Reader | None]"


# A tuple, like `Context`: copying a frozen dataclass would take longer than scanning a small page.
class Task(NamedTuple):
    """What one call asks for; everything that is visited for the call shares it."""

    profile: Profile
    policy: Policy
    reader: Readers  # of nested documents, by media type and file name (each may be "")
    # Only edits, notes and unresolved references are needed; text without any may be skipped.
    edits_only: bool = False
    # Only references are needed, no edits or notes. Mail needs edits as well if they decide whether
    # a reference can be rewritten.
    found_only: bool = False
    policies: tuple[str, ...] = ()  # the Content-Security-Policy fields of the document
    detect: bool = True  # whether marks of saving programs may state a retrieval URL
    budget: Budget | None = None  # of the document and everything nested in it; None: no limit
    local_files: LocalFiles | None = None  # knows which files were saved beside the page
    # Whether a file with this name ("" if unknown) may contain references.
    holds: Callable[[str], bool] | None = None
    message_urls: MessageUrlSource | None = None  # the retrieval URLs of messages (rule 16)
    examines: bool = False  # check XML with expat even if nothing in it changes
    # If set, the compiled scanner may yield lists of finished links of this type (`Packed`: links
    # in columns). Only for a document that is not nested and is scanned in its own bytes.
    link: type[tuple[Any, ...]] | None = None


class Context(NamedTuple):
    """What applies to the references of one text; nested texts derive theirs."""

    base: Base  # the established base
    task: Task
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
    resolve: Callable[[str], str] | None = None  # resolves against the base; None without one

    def with_fields(self, **changes: Any) -> Context:  # noqa: ANN401 (of the fields' types)
        """Return this context with some fields changed; the profile has to stay the same."""
        base, encoding = changes.get("base", self.base), changes.get("encoding", self.encoding)
        if base is not self.base or encoding != self.encoding:
            changes["resolve"] = resolver(base.url, self.task.profile, encoding)
        return self._replace(**changes)

    def established(self, statement: Statement) -> tuple[Base, list[Note]]:
        """Return the base of a document in this context that states one itself, and notes on it."""
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

    def with_base(self, base: Base) -> Context:
        if base is self.base:
            return self
        resolve = resolver(base.url, self.task.profile, self.encoding)
        return tuple.__new__(
            Context, (base, *self[1:-1], resolve)
        )  # in half the time of `with_fields`

    def in_utf_8(self) -> Context:
        """The context where browsers encode queries in UTF-8, whatever the charset is [C]."""
        return self if self.encoding == "utf-8" else self.with_fields(encoding="utf-8")

    def with_task(self, task: Task) -> Context:
        return tuple.__new__(
            Context, (self.base, task, *self[2:])
        )  # as `with_fields`, in half the time


def resolver(url: str, profile: Profile, encoding: str) -> Callable[[str], str] | None:
    """Return what resolves references against a base; None if the URL cannot be a base."""
    if not url:  # a new context has no base
        return None
    return _remembered(url)(url, profile, encoding)


def prepared(url: str, profile: Profile, encoding: str) -> Callable[[str], str] | None:
    return None if unsuitable(url) else prepared_base(url, profile, encoding).resolve


_remembered: Final = cached_by_length(prepared)


def resolved(base: str, profile: Profile, encoding: str, reference: str) -> str:
    """Resolve a reference; the base is prepared when the first reference needs it."""
    resolve = resolver(base, profile, encoding)
    assert resolve is not None  # a plain base is always suitable
    return resolve(reference)
