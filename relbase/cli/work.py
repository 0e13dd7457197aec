"""What is done with one input, in whatever process: read, find its URL, rewrite, check, write.

Strategy: a `Plan` says what is asked for and travels to the processes once, a `Job` names an input
and where its output goes, `Done` says what became of it (`jobs`). Paths travel, not documents.
Whatever goes wrong with one input is said in its `Done`, so that it stops no other.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from relbase.bases.layers import UNKNOWN
from relbase.cli import (
    archives,
    compressed,
    files,
    inplace,
    maildir,
    outputs,
    selfcheck,
    streams,
    summary,
)
from relbase.cli.documents import rewritten
from relbase.cli.files import ChangedError, InputError, peeked, reason
from relbase.cli.inputs import STDIN, Input
from relbase.cli.jobs import Action, Done, State
from relbase.cli.locks import locked_mailbox
from relbase.cli.outcome import OutputError
from relbase.cli.reading import found_calls
from relbase.cli.selection import is_wanted
from relbase.cli.selfcheck import SelfCheckError
from relbase.cli.summary import counted
from relbase.cli.warnings import Collected
from relbase.cli.writing import Writer
from relbase.formats import FORMATS
from relbase.pipeline import found_called
from relbase.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from relbase.call import Call
    from relbase.cli.documents import InputDocument
    from relbase.cli.files import OpenInput
    from relbase.cli.inplace import InPlace
    from relbase.cli.jobs import Job, Plan
    from relbase.cli.options import Settings
    from relbase.cli.origins.finder import Found

    Rewritten: TypeAlias = tuple[InputDocument, Result]


class _SkippedError(Exception):
    """An input is not to be processed, for what `state` says."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.state = state


class Worker:
    """Does the jobs of one process; `read` is called with the number of bytes read."""

    __slots__ = ("_plan", "_read", "_writer")

    def __init__(self, plan: Plan, read: Callable[[int], None] = lambda _: None) -> None:
        self._plan = plan
        self._read = read
        self._writer = Writer()

    def do(self, job: Job) -> Done:
        """Do a job, and say what became of it; only what ends the run is raised."""
        try:
            return self._tried(job)
        except _SkippedError as skipped:
            return Done(job, skipped.state)
        except SelfCheckError as error:
            return Done(job, State.UNSAFE, f"{error}: nothing was written, please report it")
        except OutputError as error:
            return Done(job, State.STOPPED, error.message)
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:  # noqa: BLE001 (one bad document of many stops no others)
            return Done(job, State.FAILED, reason(error))

    def _tried(self, job: Job) -> Done:
        try:
            return self._done(job)
        except ChangedError:
            if self._plan.action is not Action.REPLACE:
                raise
            return self._done(job)  # who wrote to it may be done by now

    def _done(self, job: Job) -> Done:
        if job.hashes is not None and _is_done(job):
            raise _SkippedError(State.SKIPPED)
        with files.opened(job.input, self._plan.roots) as source:
            return _Doing(self._plan, self._writer, job, self._read).done(source)


class _Doing:
    """One input that is being processed."""

    def __init__(self, plan: Plan, writer: Writer, job: Job, read: Callable[[int], None]) -> None:
        self._plan = plan
        self._writer = writer
        self._done = Done(job, warned=Collected(plan.settings.verbosity))
        self._before = _Counted(plan, read)
        self._after = _Counted(plan)
        self._call: Call | None = None
        self._is_edited = False
        self._coding: compressed.Coding | None = None  # of mail that is compressed
        self._original: Callable[[], Iterator[bytes]] = lambda: iter(())

    def done(self, source: OpenInput) -> Done:
        done = self._done
        first, source = peeked(source)
        settings = self._plan.settings
        source, archive = archives.recognise(source, settings, done.tally, done.warned)
        if archive is not None:
            self._archive(archive._replace(source=self._counted(source)))
        else:
            self._document(source, first, settings)
        if done.changed:
            done.state = State.REWRITTEN
        done.sizes = self._before.size, self._after.size
        done.hashes = self._before.hash, self._after.hash
        return done

    def _counted(self, source: OpenInput) -> OpenInput:
        return source._replace(pieces=self._before.counting(source.pieces))

    # ---- rewriting

    def _archive(self, archive: archives.Archive) -> None:
        """An archive has an output of its own kind: the records of what changed."""
        plan = self._plan
        if plan.only:
            raise _SkippedError(State.PASSED)
        if plan.action in {Action.DIFF, Action.REPLACE} or plan.choices is None:
            flag = "--diff shows" if plan.action is Action.DIFF else "-i replaces"
            raise InputError(f"{flag} no archives: give --check, or -o FILE")
        made = archives.rewritten(archive, plan.choices, self._done, reports=plan.reports)
        self._act(archive.source, made)

    def _document(self, source: OpenInput, first: bytes, settings: Settings) -> None:
        """A document, or a mailbox of many."""
        plan = self._plan
        found = plan.finder.find(source, settings.url)
        settings = settings.on_fields(found.fields)
        packed = compressed.recognised(source, first, settings)
        kind = packed[1] if packed else settings.kind_of(source.name, first)
        if not is_wanted(kind, first, plan.only):
            raise _SkippedError(State.PASSED)
        if compressed.is_zip_of_mail(first):
            text = "this is a ZIP archive of messages: unpack it, and give the directory"
            self._done.warned.add("zip", f"{source.shown}: warning: {text} [zip]")
        row = FORMATS[kind]
        if packed:
            self._coding, settings = packed[0], settings._replace(kind=kind.value)
        if row.visit is None and source.input.root:
            # Pictures and films of a tree: whoever copies it wants them, and nobody all in memory.
            self._pass(self._counted(source))
        elif plan.action is Action.REPLACE:
            self._replace(source, settings, found, streamed=row.streams)
        else:
            self._act(source, self._rewritten(source, settings, found))
        summary.close(self._done, several=plan.several)

    def _rewritten(
        self, source: OpenInput, settings: Settings, found: Found
    ) -> Iterator[Rewritten]:
        """The documents of an input and what became of them, one at a time."""
        done, plan = self._done, self._plan
        if self._coding is not None:
            source, self._original = compressed.kept(source)
        source = self._counted(source)
        if self._coding is not None:
            source = source._replace(pieces=compressed.unfolded(source.pieces, self._coding))
        examines = plan.action is Action.CHECK
        for document, planned in found_calls(source, settings, plan.finder, found):
            call = planned._replace(examines=True) if examines else planned
            result = self._made(source.shown, document, call)
            if not document.number:
                done.url = result.base.url
                done.source = result.base.source if done.url else ""
                done.claimed = "" if found.given else call.url or ""
            if plan.reports:
                references = found_called(document.data, call)
                done.links.update(reference.status.value for reference in references)
            self._call = call
            yield document, result
            has_url = call.url is not None
            summary.add(
                done,
                document,
                result,
                has_url=has_url,
                several=plan.several,
                message_urls=plan.settings.message_urls,
            )

    def _made(self, shown: str, document: InputDocument, call: Call) -> Result:
        try:
            return rewritten(document, call)
        except Exception as error:
            if not document.number:
                raise
            # What was read must not get lost because of one message of many.
            text = f"message {document.number}, left unchanged"
            self._done.errors.append(f"{shown}: {text}: error: {reason(error)}")
            return Result(document.data, (), (), base=lambda: UNKNOWN, links=tuple)

    def _pieces(self, rewritten: Iterable[Rewritten], *, checked: bool) -> Iterator[bytes]:
        """The bytes of the output."""
        pieces = self._plain(rewritten, checked=checked)
        if self._coding is not None:
            pieces = compressed.folded(pieces, self._coding, self._own, lambda: self._is_edited)
        return self._after.counting(pieces)

    def _own(self) -> Iterator[bytes]:
        """The bytes of the input once more; `_rewritten` has said where they are."""
        return self._original()

    def _plain(self, rewritten: Iterable[Rewritten], *, checked: bool) -> Iterator[bytes]:
        for document, result in rewritten:
            if checked and result.changed and self._call is not None:
                selfcheck.check(document.data, result, self._call)
            self._is_edited = self._is_edited or result.changed
            yield from (document.before, result.data, document.after)

    # ---- what becomes of it

    def _act(self, source: OpenInput, rewritten: Iterator[Rewritten]) -> None:
        match self._plan.action:
            case Action.DIFF:
                self._diff(source, rewritten)
            case Action.CHECK:
                self._check(source, rewritten)
            case Action.WRITE:
                self._write(source, rewritten)
            case _:
                self._print(rewritten)

    def _pass(self, source: OpenInput) -> None:
        """Skip a file that holds no references; to an output it is copied all the same."""
        pieces = self._after.counting(source.pieces)
        if self._plan.action is Action.WRITE:
            self._put(source, pieces)
        elif self._plan.reports:
            for _ in pieces:
                pass

    def _print(self, rewritten: Iterator[Rewritten]) -> None:
        written = 0
        try:
            for piece in self._pieces(rewritten, checked=self._plan.is_delivery):
                streams.put(piece)
                written += len(piece)
        except InputError as error:
            what = f"{counted(written, 'byte')} of its output were written" if written else ""
            raise InputError(f"{error}; {what}" if what else str(error)) from None

    def _diff(self, source: OpenInput, rewritten: Iterator[Rewritten]) -> None:
        from relbase.cli.diff import diff  # noqa: PLC0415 (start-up time of the usual case)

        moved = 0
        for document, result in rewritten:
            name = f"{source.name} (message {document.number})" if document.number else source.name
            lines = diff(name, document.data, result.edits, document.lines, moved)
            self._done.lines += lines
            moved += result.data.count(b"\n") - document.data.count(b"\n")

    def _check(self, source: OpenInput, rewritten: Iterator[Rewritten]) -> None:
        from relbase.cli.findings import Finding, findings, line  # noqa: PLC0415 (start-up time)

        done, form = self._done, self._plan.format
        for document, result in rewritten:
            if self._call is not None and (result.changed or result.notes):
                for found in findings(source.name, document, result, self._call):
                    done.found += found.link is not None
                    done.lines.append(line(found, form))
        if self._call is None and done.changed:
            done.lines.append(line(Finding(source.name, "has pages with relative links"), form))

    def _write(self, source: OpenInput, rewritten: Iterator[Rewritten]) -> None:
        output = self._done.job.output
        assert output is not None
        # What takes no file's place can be made again: that is not looked through twice.
        checked = (output.replaces or output.goes_on) and os.path.lexists(output.path)
        self._put(source, self._pieces(rewritten, checked=checked))

    def _put(self, source: OpenInput, pieces: Iterable[bytes]) -> None:
        output = self._done.job.output
        assert output is not None
        if output.in_maildir:
            pieces = (b"".join(pieces),)
            if self._has_changed():
                *steps, name = output.parts
                output = output._replace(parts=(*steps, self._sized(name, *pieces)))
                self._done.job = self._done.job._replace(output=output)
        if outputs.write(self._writer, output, pieces, source.status):
            self._done.directory = os.path.dirname(output.path) or "."  # noqa: PTH120
        elif self._done.job.hashes is not None:
            raise _SkippedError(State.SKIPPED)

    def _replace(
        self, source: OpenInput, settings: Settings, found: Found, *, streamed: bool
    ) -> None:
        """Replace a file; a mailbox, which grows, is locked and then read."""
        plan = self._plan
        # Nobody delivers into compressed mail; what is no file is refused below.
        is_locked = streamed and self._coding is None and source.status is not None
        with (
            _locked(source, plan.in_place) if is_locked else nullcontext(source) as held,
            inplace.place_of(held, plan.in_place, plan.roots) as old,
        ):
            made = self._rewritten(held, settings, found)
            pieces: Iterable[bytes] = self._pieces(made, checked=True)
            if not streamed:
                pieces = list(pieces)
                if not self._has_changed():
                    return
            place = old
            if old.folder is not None:
                pieces = (b"".join(pieces),)
                name = self._sized(old.name, *pieces)
                place = old._replace(name=name, replaces=name == old.name)
            self._writer.put(place, pieces, held.status, self._has_changed)
            self._done.directory = place.parent.path

    def _sized(self, name: str, data: bytes) -> str:
        """The name of a message; of a compressed one it says the size that it unfolds to."""
        if self._coding is not None:
            data = b"".join(compressed.unfolded((data,), self._coding))
        return maildir.sized(name, data)

    def _has_changed(self) -> bool:
        return self._done.changed > 0


@contextmanager
def _locked(source: OpenInput, how: InPlace) -> Iterator[OpenInput]:
    """Hold the locks of a mailbox, which is read anew when they are had."""
    with locked_mailbox(os.path.realpath(source.name) if how.follow else source.name):
        yield files.rewound(source)


class _Counted:
    """The size of what goes by, and its hash where that is wanted."""

    def __init__(self, plan: Plan, read: Callable[[int], None] = lambda _: None) -> None:
        self.size = 0
        self._read = read
        self._digest = _digest() if plan.reports else None

    def counting(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.size += len(piece)
            self._read(len(piece))
            if self._digest is not None:
                self._digest.update(piece)
            yield piece

    @property
    def hash(self) -> str:
        return "" if self._digest is None else str(self._digest.hexdigest())


def _digest() -> Any:  # noqa: ANN401 (hashlib does not name its type)
    import hashlib  # noqa: PLC0415 (start-up time)

    return hashlib.sha256()


def _is_done(job: Job) -> bool:
    """Whether an earlier run has done a job, and nobody has changed anything since."""
    assert job.hashes is not None
    before, after = job.hashes
    if job.output is None:
        return _hash_of(job.input) == after
    return _hash_of(job.input) == before and _hash_of(Input(job.output.path)) == after


def _hash_of(one: Input) -> str:
    if one.name == STDIN:
        return ""
    digest = _digest()
    try:
        with files.opened(one) as source:
            for piece in source.pieces:
                digest.update(piece)
    except InputError:
        return ""
    return str(digest.hexdigest())
