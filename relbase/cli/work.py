"""What is done with one input, in whatever process: read, find its URL, rewrite, check, write."""

from __future__ import annotations

import os
from collections import deque
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, TypeAlias

import click

from relbase.bases.layers import UNKNOWN
from relbase.cli import documents, files, streams
from relbase.cli.documents import InputDocument, SelfCheckError
from relbase.cli.files import (
    ChangedError,
    InputError,
    OpenInput,
    peeked,
    reason,
    shown_name,
    with_end,
)
from relbase.cli.inputs import recognise
from relbase.cli.jobs import Counted, Done, Job, Plan, State, count_unresolved, is_done, stated_by
from relbase.cli.options import FEEDS
from relbase.cli.origins.places import Neighbours
from relbase.cli.outputs import sized
from relbase.cli.streams import Collected, OutputError, counted, excerpt, in_shell, printable
from relbase.cli.writing import locked
from relbase.containers.sniffing import beginning
from relbase.formats import FORMATS
from relbase.notes import Reason
from relbase.pipeline import found_called
from relbase.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from relbase.bases.layers import Base
    from relbase.call import Call
    from relbase.cli.archives import Archive
    from relbase.cli.files import Output
    from relbase.cli.options import Settings
    from relbase.cli.origins.paths import Found
    from relbase.cli.writing import Writer

    Rewritten: TypeAlias = tuple[InputDocument, Result, Call]


class _SkippedError(Exception):
    """An input is not processed, for the reason that its `State` says."""


def do(plan: Plan, job: Job, writer: Writer, read: Callable[[int], None] = lambda _: None) -> Done:
    """Do a job, and say what became of it; `read` is called with numbers of bytes read."""
    try:
        if is_done(job):
            return Done(job, State.SKIPPED)
        # Who wrote to a file that is replaced may be done by the second time.
        with suppress(*[ChangedError] if plan.options.in_place else ()):
            return _Doing(plan, writer, job, read).done()
        return _Doing(plan, writer, job, read).done()
    except _SkippedError as skipped:
        return Done(job, *skipped.args)
    except SelfCheckError as error:
        return Done(job, State.UNSAFE, f"{error}: nothing was written, please report it")
    except OutputError as error:
        return Done(job, State.STOPPED, error.message)
    except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 (one bad document of many stops no others)
        return Done(job, State.FAILED, reason(error))


class _Doing:
    def __init__(self, plan: Plan, writer: Writer, job: Job, read: Callable[[int], None]) -> None:
        self._plan = plan
        self._writer = writer
        self._done = Done(job, warned=Collected(plan.settings.verbosity))
        self._reports = plan.options.report is not None
        self._before = Counted(read, hashes=self._reports)
        self._after = Counted(hashes=self._reports)
        self._coding: documents.Coding | None = None  # of mail that is compressed
        self._original: Callable[[], Iterator[bytes]] | None = None  # reads its own bytes again

    def done(self) -> Done:
        done = self._done
        with files.opened(done.job.input, self._plan.roots) as opened:
            first, source = peeked(opened)
            source, archive = recognise(source, self._plan.settings, done.tally, done.warned)
            if archive is not None:
                self._archive(archive)
            else:
                self._document(source, first)
        if done.changed:
            done.state = State.REWRITTEN
        done.sizes = self._before.size, self._after.size
        done.hashes = self._before.hash, self._after.hash
        return done

    def _archive(self, archive: Archive) -> None:
        plan, done, source, own = self._plan, self._done, archive.source, self._plan.options
        if own.only:
            raise _SkippedError(State.PASSED)
        if own.diff or own.in_place:
            flag = "--diff shows" if own.diff else "-i replaces"
            raise InputError(f"{flag} no archives: give --check, or -o FILE")
        counted = source._replace(pieces=self._before.counting(source.pieces))
        archive = archive._replace(source=counted)
        pieces = archive.rewritten(plan, done)
        if not own.check:
            self._put(source, self._after.counting(pieces))
            return
        deque(pieces, maxlen=0)
        # Of a page that cannot be read nothing is wanted: the archive keeps it as it is.
        if done.changed or done.notes[Reason.PLACEHOLDER_CHANGED.value]:
            from relbase.cli.findings import LINES, Finding  # noqa: PLC0415 (start-up time)

            done.tally.found = 1
            found = Finding(source.name, "has pages with relative links")
            done.lines.append(LINES[own.format or "text"](found))

    def _document(self, source: OpenInput, first: bytes) -> None:
        plan, own = self._plan, self._plan.options
        found = plan.finder.find(source, plan.settings.url)
        settings = plan.settings._replace(fields=found.fields or plan.settings.fields)
        packed = documents.recognised(source, first, settings)
        kind = packed[1] if packed else settings.kind_of(source.name, with_end(source, first))
        is_feed = FEEDS in (own.only or ()) and FORMATS[kind].is_feed(beginning(first))
        if own.only and not is_feed and kind.value not in own.only:
            raise _SkippedError(State.PASSED)
        if first.startswith(b"PK\x03\x04") and documents.ZIPPED.search(first, 0, 1 << 16):
            text = "this is a ZIP archive of messages: unpack it, and give the directory"
            self._done.warned.add("zip", f"{source.shown}: warning: {text} [zip]")
        if packed:
            self._coding, settings = packed[0], settings._replace(kind=kind.value)
            source, self._original = documents.kept(source)
        if FORMATS[kind].visit is None and source.input.root:
            # Pictures and films of a tree: whoever copies it wants them, and nobody all in memory.
            pieces = self._after.counting(self._before.counting(source.pieces))
            if own.output is not None:
                self._put(source, pieces)
            elif self._reports:
                deque(pieces, maxlen=0)
        elif own.in_place:
            self._replace(source, settings, found, streamed=FORMATS[kind].streams)
        elif own.diff or own.check:
            self._show(source, self._rewritten(source, settings, found))
        else:
            # What takes no file's place can be made again: that is not looked through twice.
            output, checked = self._done.job.output, own.delivery
            if output is not None:
                checked = (output.replaces or output.goes_on) and os.path.lexists(output.path)
            made = self._rewritten(source, settings, found)
            self._put(source, self._pieces(made, checked=checked))
        self._sum_up()

    def _rewritten(
        self, source: OpenInput, settings: Settings, found: Found
    ) -> Iterator[Rewritten]:
        plan = self._plan
        pieces = self._before.counting(source.pieces)
        if self._coding is not None:
            pieces = documents.unfolded(pieces, self._coding)
        source = source._replace(pieces=pieces)
        for document, planned in documents.calls(source, settings, plan.finder, found):
            call = planned._replace(examines=True) if plan.options.check else planned
            result = self._result(source.shown, document, call)
            if not document.number:
                self._done.claimed = "" if found.given else call.url or ""
            self._count(document, result, call)
            yield document, result, call

    def _result(self, shown: str, document: InputDocument, call: Call) -> Result:
        try:
            return documents.rewritten(document, call)
        except Exception as error:
            if not document.number:
                raise
            # What was read must not get lost because of one message of many.
            text = f"message {document.number}, left unchanged"
            self._done.errors.append(f"{shown}: {text}: error: {reason(error)}")
            self._done.tally.failed += 1
            return Result(document.data, (), (), base=lambda: UNKNOWN, links=tuple)

    def _pieces(self, rewritten: Iterable[Rewritten], *, checked: bool) -> Iterator[bytes]:
        def verified() -> Iterator[bytes]:
            for document, result, call in rewritten:
                if checked and result.changed:
                    documents.verify(document.data, result, call)
                yield from (document.before, result.data, document.after)

        pieces = verified()
        if self._coding is not None and self._original is not None:
            pieces = documents.folded(pieces, self._coding, self._original, self._has_changed)
        return self._after.counting(pieces)

    def _count(self, document: InputDocument, result: Result, call: Call) -> None:
        done, notes = self._done, result.notes
        if not document.number:
            done.url = result.base.url
            done.source = result.base.source if done.url else ""
        if self._reports:
            references = found_called(document.data, call)
            done.links.update(reference.status.value for reference in references)
        done.changed += result.changed
        done.places += len(result.edits)
        done.notes.update(note.reason.value for note in notes)
        is_left = any(note.reason is Reason.BASE_NONE for note in notes)
        if is_left and (document.number or self._plan.options.check):
            # --check lists each link without a base. Of a mailbox that is reported once.
            notes = tuple(note for note in notes if note.reason is not Reason.BASE_NONE)
            done.first_unknown = done.first_unknown or document.number
        if done.warned.counts["zip"]:  # which says what to do
            notes = tuple(note for note in notes if note.reason is not Reason.KIND_UNSUPPORTED)
        if isinstance(places := call.origin and call.origin.places, Neighbours):
            self._tell_left_behind(places)
        if result.changed or is_left:
            self._count_base(document, None if is_left else result.base, call)
        shown = shown_name(done.job.input.name)
        documents.collect(shown, document, notes, done.warned, several=self._plan.several)

    def _tell_left_behind(self, places: Neighbours) -> None:
        """Warn of folders that links of a copy lead into, and that are not beside the copy."""
        page, output = self._done.job.input, self._done.job.output
        if output is None or page.root or page.listed or self._plan.uploads:
            return
        for folder in sorted(places.left_behind(page.name, output.path)):
            fix = in_shell("cp", "-r", folder, output.root or ".")
            text = f"links into it stay relative, and it is not beside the output: {fix}"
            warning = f"{shown_name(folder)}: warning: {text} [left-behind]"
            self._done.warned.add("left-behind", warning)

    def _count_base(self, document: InputDocument, base: Base | None, call: Call) -> None:
        """Count what gave a message with relative references its base, if it has one."""
        done, has_urls = self._done, call.message_urls is not None
        if not has_urls and not (document.number and call.url is not None):
            return
        stated = "unknown" if base is None else stated_by(document.data, base, call)
        done.on_given_url += bool(document.number) and stated == "by --url"
        if has_urls:
            done.bases[stated] += 1
            if base is None:
                count_unresolved(done.unresolved, document.data, call)

    def _sum_up(self) -> None:
        done, reason = self._done, Reason.BASE_NONE.value
        done.text = _text(done)
        if not done.first_unknown or self._plan.options.check:
            return
        messages = f"message {done.first_unknown}"
        advice = documents.advice("message/rfc822", several=self._plan.several)
        if done.notes[reason] > 1:
            messages = f"{done.notes[reason]} messages, the first is {messages}"
            advice += "; --message-map gives one for each sender"
        text = f"relative links left unchanged in {messages}: {advice} [{reason}]"
        done.warned.add(reason, f"{shown_name(done.job.input.name)}: warning: {text}")

    def _has_changed(self) -> bool:
        return self._done.changed > 0

    def _show(self, source: OpenInput, rewritten: Iterator[Rewritten]) -> None:
        from relbase.cli.findings import FAILING, LINES, diff, findings  # noqa: PLC0415 (start-up time)

        done, own, moved = self._done, self._plan.options, 0
        for document, result, call in rewritten:
            if own.diff:
                number = f" (message {document.number})" if document.number else ""
                name = f"{source.name}{number}"
                done.lines += diff(name, document.data, result.edits, document.lines, moved)
                moved += result.data.count(b"\n") - document.data.count(b"\n")
                continue
            is_noted = any(note.reason in FAILING for note in result.notes)
            done.tally.found |= result.changed or is_noted
            if result.changed or result.notes:
                for found in findings(source.name, document, result, call):
                    done.found += found.link is not None
                    done.lines.append(LINES[own.format or "text"](found))

    def _put(self, source: OpenInput, pieces: Iterable[bytes]) -> None:
        output, written = self._done.job.output, 0
        if output is None:
            try:
                for piece in pieces:
                    streams.put(piece)
                    written += len(piece)
            except InputError as error:
                what = f"; {counted(written, 'byte')} of its output were written" if written else ""
                raise InputError(f"{error}{what}") from None
            return
        suffix = self._coding.suffix if self._coding is not None and output.is_only else ""
        if suffix and os.path.splitext(output.path)[1] not in {"", suffix}:  # noqa: PTH122
            fix = f"give -o FILE{suffix}, or decompress the input first"
            raise InputError(f"the output is compressed like the input: {fix}")
        self._write(output, pieces, source.status)
        if not self._done.directory and self._done.job.hashes is not None:
            raise _SkippedError(State.SKIPPED)

    def _replace(
        self, source: OpenInput, settings: Settings, found: Found, *, streamed: bool
    ) -> None:
        """Replace a file; a mailbox, which grows, is locked and then read."""
        own = self._plan.options
        # Nobody delivers into compressed mail; what is no file is refused below.
        is_locked = streamed and self._coding is None and source.status is not None
        with locked(source, own) if is_locked else nullcontext(source) as held:
            output = self._writer.in_place(held, own)
            made = self._rewritten(held, settings, found)
            pieces: Iterable[bytes] = self._pieces(made, checked=True)
            if not streamed:
                pieces = list(pieces)
                if not self._has_changed():
                    return
            self._write(output, pieces, held.status)

    def _write(self, output: Output, pieces: Iterable[bytes], like: os.stat_result | None) -> None:
        if output.in_maildir:
            # The name of a message may say the size that it unfolds to.
            *steps, name = output.parts
            data = b"".join(pieces)
            if self._has_changed():
                unfolded = documents.unfolded((data,), self._coding) if self._coding else (data,)
                name = sized(name, b"".join(unfolded))
            is_same = output.old is not None and name == output.old.name
            output, pieces = output._replace(parts=(*steps, name), replaces=is_same), (data,)
        if output.old is None:
            self._done.job = self._done.job._replace(output=output)
        self._done.directory = self._writer.write(output, pieces, like, self._has_changed)


def _text(done: Done) -> str:
    if not done.places:
        return "no link changed"
    text = f"links made absolute in {counted(done.places, 'place')}"
    if done.source:
        return f"{text}, against {excerpt(done.url)} ({printable(done.source)})"
    shared = f", {done.on_given_url} of them against the given URL" if done.on_given_url else ""
    return f"{text} of {counted(done.changed, 'message')}{shared}"
