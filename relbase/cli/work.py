"""What is done with one input, in whatever process: read, find its URL, rewrite, check, write.

Strategy: a `Plan` says what is asked for and travels to the processes once, a `Job` names an input
and where its output goes, `Done` says what became of it (`jobs`). Paths travel, not documents.
Whatever goes wrong with one input is said in its `Done`, so that it stops no other.
"""

from __future__ import annotations

import os
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import click

from relbase.bases.layers import UNKNOWN
from relbase.cli import archives, files, inplace, maildir, selfcheck, streams
from relbase.cli.documents import rewritten
from relbase.cli.files import InputError
from relbase.cli.inputs import STDIN, Input
from relbase.cli.jobs import Action, Done, State
from relbase.cli.outcome import OutputError, Tally
from relbase.cli.outputs import Written
from relbase.cli.reading import found_calls, peeked
from relbase.cli.selection import is_wanted
from relbase.cli.selfcheck import SelfCheckError
from relbase.cli.streams import printable
from relbase.cli.summary import Summary
from relbase.cli.warnings import Collected
from relbase.formats import FORMATS
from relbase.pipeline import found_called
from relbase.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from relbase.bases.layers import Base
    from relbase.call import Call
    from relbase.cli.documents import InputDocument
    from relbase.cli.files import OpenInput
    from relbase.cli.jobs import Job, Plan
    from relbase.cli.options import Settings
    from relbase.cli.origins.finder import Found

    Rewritten: TypeAlias = tuple[InputDocument, Result]


class _SkippedError(Exception):
    """An input is not to be processed, for what `state` says."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.state = state


def reason(error: Exception) -> str:
    """Return why an input could not be processed."""
    if isinstance(error, (InputError, SelfCheckError)):
        return str(error)
    if isinstance(error, MemoryError):
        return "it is too large for the memory"
    import traceback  # noqa: PLC0415 (start-up time)

    *_, (frame, number) = traceback.walk_tb(error.__traceback__)
    what = printable(f"{type(error).__name__}: {error}")[: streams.SHOWN]
    place = f"line {number} of {printable(frame.f_code.co_filename)}"
    return f"a defect of relbase, please report it with the document: {what}, in {place}"


class Worker:
    """Does the jobs of one process.

    Args:
        plan: what is asked for.
        read: called with the number of bytes that are read, as they are.
    """

    __slots__ = ("_plan", "_read", "_written")

    def __init__(self, plan: Plan, read: Callable[[int], None] | None = None) -> None:
        self._plan = plan
        self._read = read
        self._written = Written()

    def do(self, job: Job) -> Done:
        """Do a job, and say what became of it; only what ends the run is raised."""
        try:
            with files.opened(job.input) as opened:
                source = opened._replace(pieces=_counted(opened.pieces, self._read))
                return _Doing(self._plan, self._written, job, source).done()
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


def _counted(pieces: Iterator[bytes], read: Callable[[int], None] | None) -> Iterator[bytes]:
    """The pieces of an input; `read` is called with the length of each."""
    for piece in pieces:
        if read is not None:
            read(len(piece))
        yield piece


class _Doing:
    """One input that is being processed, and what is counted on the way."""

    def __init__(self, plan: Plan, written: Written, job: Job, source: OpenInput) -> None:
        self._plan = plan
        self._written = written
        self._job = job
        self._before = _Counted(plan.reports)
        self._after = _Counted(plan.reports)
        self._source = source._replace(pieces=self._before.counting(source.pieces))
        self._warned = Collected(plan.settings.verbosity)
        self._summary = Summary(source.shown, self._warned, several=plan.several)
        self._links: Counter[str] = Counter()
        self._sums = archives.Sums()
        self._base: Base = UNKNOWN
        self._call: Call | None = None
        self._claimed = ""
        self._lines: list[str] = []
        self._errors: list[str] = []
        self._tally = Tally()
        self._text: str | None = None
        self._directory = ""

    def done(self) -> Done:
        if self._job.hashes is not None and _is_done(self._job):
            raise _SkippedError(State.SKIPPED)
        first, source = peeked(self._source)
        settings = self._plan.settings
        source, archive = archives.recognise(source, settings, self._tally)
        if archive is not None:
            self._archive(archive)
            return self._result()
        found = self._plan.finder.find(source, settings.url)
        settings = settings.on_fields(found.fields)
        kind = settings.kind_of(source.name, first)
        if not is_wanted(kind, first, self._plan.only):
            raise _SkippedError(State.PASSED)
        if FORMATS[kind].visit is None and source.input.root:
            # Pictures and films of a tree: whoever copies it wants them, and nobody all in memory.
            self._pass(source)
        else:
            self._act(source, self._rewritten(source, settings, found))
        self._summary.close()
        return self._result()

    def _result(self) -> Done:
        summary = self._summary
        changed = summary.changed > 0
        return Done(
            self._job,
            State.REWRITTEN if changed else State.UNCHANGED,
            errors=tuple(self._errors),
            warned=tuple(self._warned.all()),
            warnings=self._warned.count + self._tally.warnings,
            failed=self._tally.failed,
            found=self._plan.action is Action.CHECK and (changed or summary.unknown > 0),
            lines=tuple(self._lines),
            text=summary.done() if self._text is None else self._text,
            directory=self._directory,
            url=self._base.url,
            source=self._base.source if self._base.url else "",
            sizes=(self._before.size, self._after.size),
            hashes=(self._before.hash, self._after.hash),
            links=dict(self._links + self._sums.links),
            notes={kind.value: count for kind, count in summary.notes.items()} | self._sums.notes,
            places=summary.places,
            on_given_url=summary.shared,
            unknown=summary.unknown,
            claimed=self._claimed,
        )

    # ---- web archives

    def _archive(self, archive: archives.Archive) -> None:
        """An archive has an output of its own kind: the records of what changed."""
        plan = self._plan
        if plan.only:
            raise _SkippedError(State.PASSED)
        if plan.action in {Action.DIFF, Action.REPLACE} or plan.choices is None:
            flag = "--diff shows" if plan.action is Action.DIFF else "-i replaces"
            text = f"{flag} no archives: give --check, or -o FILE"
            raise InputError(text)
        sums = self._sums
        made = archives.rewritten(archive, plan.choices, sums, reports=plan.reports)
        self._act(archive.source, self._summed(made))
        self._text = sums.text

    def _summed(self, made: Iterable[Rewritten]) -> Iterator[Rewritten]:
        for document, result in made:
            self._summary.changed += result.changed
            self._summary.places += len(result.edits)
            yield document, result

    # ---- rewriting

    def _rewritten(
        self, source: OpenInput, settings: Settings, found: Found
    ) -> Iterator[Rewritten]:
        """The documents of an input and what became of them, one at a time."""
        for document, call in found_calls(source, settings, self._plan.finder, found):
            if document.number:
                # What was read must not get lost because of one message of many.
                try:
                    result = rewritten(document, call)
                except Exception as error:  # noqa: BLE001 (it is said, and the next comes)
                    text = f"message {document.number}, passed through"
                    self._errors.append(f"{source.shown}: {text}: error: {reason(error)}")
                    result = _unchanged(document.data)
            else:
                result = rewritten(document, call)
                self._base = result.base
            if self._plan.reports:
                references = found_called(document.data, call)
                self._links.update(reference.status.value for reference in references)
            self._call = call
            if not document.number and not found.given:
                self._claimed = call.url or ""
            yield document, result
            self._summary.add(document, result, has_url=call.url is not None)

    def _pieces(self, rewritten: Iterable[Rewritten], *, checked: bool) -> Iterator[bytes]:
        """The bytes of the output."""
        for document, result in rewritten:
            if checked and result.changed and self._call is not None:
                selfcheck.check(document.data, result, self._call)
            yield document.before
            yield result.data
            yield document.after

    # ---- what becomes of it

    def _act(self, source: OpenInput, rewritten: Iterator[Rewritten]) -> None:
        _ACTIONS[self._plan.action](self, source, rewritten)

    def _pass(self, source: OpenInput) -> None:
        """Pass over a file that holds no references; copied it is all the same."""
        if self._plan.action is Action.WRITE:
            self._put_into_file(source, source.pieces)
        elif self._plan.reports:
            for _ in self._after.counting(source.pieces):
                pass

    def _print(self, _source: OpenInput, rewritten: Iterator[Rewritten]) -> None:
        for piece in self._after.counting(self._pieces(rewritten, checked=False)):
            streams.put(piece)

    def _diff(self, source: OpenInput, rewritten: Iterator[Rewritten]) -> None:
        from relbase.cli.diff import diff  # noqa: PLC0415 (start-up time of the usual case)

        moved = 0
        for document, result in rewritten:
            name = f"{source.name} (message {document.number})" if document.number else source.name
            lines = diff(name, document.data, result.edits, document.lines, moved)
            self._lines += lines
            moved += result.data.count(b"\n") - document.data.count(b"\n")

    def _check(self, source: OpenInput, rewritten: Iterator[Rewritten]) -> None:
        # All of them: their warnings count too.
        for _ in rewritten:
            pass
        if self._summary.changed or self._summary.unknown:
            self._lines.append(printable(source.name))

    def _write(self, source: OpenInput, rewritten: Iterator[Rewritten]) -> None:
        output = self._job.output
        assert output is not None
        # What takes no file's place can be made again: that is not looked through twice.
        checked = (output.replaces or output.goes_on) and os.path.lexists(output.path)
        self._put_into_file(source, self._pieces(rewritten, checked=checked))

    def _put_into_file(self, source: OpenInput, pieces: Iterable[bytes]) -> None:
        assert self._job.output is not None
        pieces = self._after.counting(pieces)
        self._directory = self._written.write(self._job.output, pieces, source.status)

    def _deliver(self, source: OpenInput, rewritten: Iterator[Rewritten]) -> None:
        assert self._plan.delivery is not None
        data = b"".join(self._after.counting(self._pieces(rewritten, checked=False)))
        changed = self._summary.changed > 0
        delivery = self._plan.delivery
        self._directory = delivery.deliver(source.name, data, source.status, changed=changed)
        if not self._directory and self._job.hashes is not None:
            raise _SkippedError(State.SKIPPED)

    def _replace(self, source: OpenInput, rewritten: Iterator[Rewritten]) -> None:
        with inplace.place_of(source, self._plan.how) as place:
            first = next(rewritten)
            if first[0].number:
                with inplace.locked(place):
                    self._replace_mailbox(source, place, chain((first,), rewritten))
                return
            all_ = chain((first,), rewritten)
            pieces = list(self._after.counting(self._pieces(all_, checked=True)))
            if self._summary.changed == 0:
                return
            if maildir.is_message(source.name):
                self._directory = maildir.replace(source, place, b"".join(pieces), self._written)
                return
            how = self._plan.how
            self._directory = inplace.replace(source, place, pieces, how, self._written)

    def _replace_mailbox(
        self, source: OpenInput, place: inplace.Target, rewritten: Iterator[Rewritten]
    ) -> None:
        pieces = self._after.counting(self._pieces(rewritten, checked=True))
        how = self._plan.how
        self._directory = inplace.replace(
            source, place, pieces, how, self._written, wanted=lambda: self._summary.changed > 0
        )


_ACTIONS: Final = {
    Action.PRINT: _Doing._print,  # noqa: SLF001 (its own table)
    Action.DIFF: _Doing._diff,  # noqa: SLF001
    Action.CHECK: _Doing._check,  # noqa: SLF001
    Action.WRITE: _Doing._write,  # noqa: SLF001
    Action.REPLACE: _Doing._replace,
    Action.DELIVER: _Doing._deliver,  # noqa: SLF001
}


def _unchanged(data: bytes) -> Result:
    return Result(data, (), (), base=lambda: UNKNOWN, links=tuple)


class _Counted:
    """The size of what goes by, and its hash where that is wanted."""

    __slots__ = ("_hash", "size")

    def __init__(self, hashes: bool) -> None:  # noqa: FBT001 (one of two states)
        self.size = 0
        self._hash: Any = None
        if hashes:
            import hashlib  # noqa: PLC0415 (start-up time)

            self._hash = hashlib.sha256()

    def counting(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.size += len(piece)
            if self._hash is not None:
                self._hash.update(piece)
            yield piece

    @property
    def hash(self) -> str:
        return "" if self._hash is None else str(self._hash.hexdigest())


def _is_done(job: Job) -> bool:
    """Whether an earlier run has done a job, and nobody has changed anything since."""
    assert job.hashes is not None
    before, after = job.hashes
    if job.output is None:
        return _hash_of(job.input) == after
    output = Input(job.output.path)
    return _hash_of(job.input) == before and _hash_of(output) == after


def _hash_of(one: Input) -> str:
    if one.name == STDIN:
        return ""
    try:
        with files.opened(one) as source:
            counted = _Counted(hashes=True)
            for _ in counted.counting(source.pieces):
                pass
            return counted.hash
    except InputError:
        return ""
