"""The work on one input, in any process: read it, find its URL, rewrite, check, write."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Final, TypeAlias

import click

from relbase.bases.layers import UNKNOWN, Layer
from relbase.cli import documents, files, jobs, streams, windows
from relbase.cli.files import InputError, OpenInput, Output
from relbase.cli.inputs import recognise
from relbase.cli.jobs import Counted, Job, OnRead, Outcome, Plan, State
from relbase.cli.option_values import FEEDS
from relbase.cli.origins.places import Neighbours
from relbase.cli.streams import Collected, OutputError, counted, excerpt, in_shell, printable
from relbase.cli.writing import Writer, refuse_special
from relbase.formats.rows import FORMATS
from relbase.formats.sniffing import beginning
from relbase.notes import Reason
from relbase.results import Result
from relbase.rewriting.budget import Budget
from relbase.rewriting.outcomes import Status
from relbase.session import run

if TYPE_CHECKING:
    from relbase.cli.archives import Archive

    Rewritten: TypeAlias = tuple[documents.InputDocument, Result]


# Notes that take back no reference that was rewritten.
_REFUSING_NOTHING: Final = frozenset(
    (Reason.SIGNATURE_BROKEN, Reason.LINE_LENGTH, Reason.FIELD_STALE, Reason.PART_NAMED)
)


class _SkippedError(Exception):
    """An input is not processed, for the reason that its `State` says."""


def do(plan: Plan, job: Job, writer: Writer, read: OnRead = lambda _: None) -> Outcome:
    """Do a job, and return its result; `read` is called with numbers of bytes read."""
    in_place, folder = plan.options.in_place, os.path.dirname(job.input.name)
    try:
        before = os.path.realpath(folder) if in_place else ""
        if job.input.name != files.STDIN:  # which cannot be read again
            # If a program wrote to the file meanwhile, try once more: it may be done by then.
            with suppress(files.ChangedError if in_place else files.SweptError):
                return _Worker(plan, writer, job, read).process()
        if in_place and os.path.realpath(folder) != before:
            text = "its directory was replaced while it was read: nothing was written"
            return Outcome(job, State.FAILED, text)
        return _Worker(plan, writer, job, read).process()
    except _SkippedError as skipped:
        return Outcome(job, *skipped.args)
    except files.SelfCheckError as error:
        return Outcome(job, State.UNSAFE, f"{error}: nothing was written, please report it")
    except OutputError as error:
        return Outcome(job, State.STOPPED, error.message)
    except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 (one bad document must not stop others)
        reason = files.reason(error).removeprefix(f"{files.shown_name(job.input.name)}: ")
        return Outcome(job, State.FAILED, reason)


class _Worker:
    def __init__(self, plan: Plan, writer: Writer, job: Job, read: OnRead) -> None:
        self.plan, self.own, self.writer = plan, plan.options, writer
        self.outcome = Outcome(job, warned=Collected(plan.settings.verbosity))
        self.read, self.reports = read, self.own.report is not None
        self.after = Counted(hashes=self.reports)
        self.coding: documents.Coding | None = None  # of mail that is compressed
        self.original: Callable[[], Iterator[bytes]] | None = None  # reads its own bytes again

    def process(self) -> Outcome:
        outcome = self.outcome
        if self.own.in_place:  # before it is opened, since opening a pipe may wait forever
            refuse_special(outcome.job.input.name)
        with files.opened(outcome.job.input, self.plan.roots) as opened:
            self.shown = opened.shown
            self.stated = stated = self.plan.finder.find(opened, self.plan.settings.url)
            if deciding := self.plan.deciding:
                outcome.options = jobs.digest(stated.url, stated.redirects, stated.fields, deciding)
            if outcome.job.reported and jobs.is_done(outcome.job):
                if outcome.job.reported[-1] == outcome.options:
                    raise _SkippedError(State.SKIPPED)
                why = "its URL or the options differ from those of the report"
                text = f"{self.shown}: warning: processed again: {why} [options-changed]"
                outcome.warned.add("options-changed", text)
            source, first, archive = recognise(
                self._counting(opened), self.plan.settings, outcome.tally, outcome.warned
            )
            held = archive is not None and archive.holder is not None
            if archive is not None and not (held and opened.input.root and not self.own.check):
                if archive.is_zip and self.reports:  # for its hash: a ZIP is read from its end
                    deque(archive.source.pieces, maxlen=0)
                self._archive(archive)
            elif self.own.with_originals and not opened.input.root:
                raise InputError("--with-originals is for web archives: leave it out")
            else:
                self._document(source, first)
        if outcome.changed:
            outcome.state = State.REWRITTEN
        if (urls := self.plan.settings.message_urls) is not None:
            outcome.tally.matched = set(urls.matched)
            urls.matched.clear()  # each input reports its own
        outcome.sizes = self.before.size, self.after.size
        outcome.hashes = self.before.hash, self.after.hash
        return outcome

    def _counting(self, source: OpenInput) -> OpenInput:
        self.before = Counted(self.read, hashes=self.reports)
        return source._replace(pieces=self.before.counting(source.pieces))

    def has_changed(self) -> bool:
        return self.outcome.changed > 0

    def _archive(self, archive: Archive) -> None:
        outcome, own, name = self.outcome, self.own, archive.source.name
        if own.only:
            raise _SkippedError(State.PASSED)
        if archive.holder is not None:
            from relbase.cli.taking_out import take_out

            self.after.size = take_out(archive, self.plan, outcome, self.writer)
        elif own.diff or own.in_place:
            flag = "--diff" if own.diff else "-i"
            raise InputError(f"{flag} does not work with web archives: give --check, or -o FILE")
        elif own.check:
            deque(archive.rewritten(self.plan, outcome), maxlen=0)
        else:
            self._put(archive.source, self.after.counting(archive.rewritten(self.plan, outcome)))
        # Pages that cannot be read are not findings: the archive keeps them unchanged.
        if own.check and (outcome.changed or outcome.notes[Reason.PLACEHOLDER_CHANGED.value]):
            from relbase.cli.findings import LINES, Finding

            outcome.tally.findings = 1
            is_replaced = self.plan.settings.replace is not None
            what = "pages whose links would change" if is_replaced else "pages with relative links"
            finding = Finding(name, f"has {what}")
            outcome.lines.append(LINES[own.format or "text"](finding))

    def _document(self, source: OpenInput, first: bytes) -> None:
        own, settings = self.own, self.plan.settings
        settings = settings._replace(fields=self.stated.fields or settings.fields)
        packed = documents.recognised(source, first, settings)
        self.call = settings.call(source.name, examines=own.check)
        kind = packed[1] if packed else self.call.kind_of(files.with_end(source, first))
        self.format = row = FORMATS[kind]
        is_feed = FEEDS in (own.only or ()) and row.is_feed(beginning(first))
        if own.only and not is_feed and kind.value not in own.only:
            raise _SkippedError(State.PASSED)
        if first.startswith(b"PK\x03\x04") and documents.ZIPPED.search(first, 0, 1 << 16):
            text = "this is a ZIP archive of messages: unpack it, and give the directory"
            self.outcome.warned.add("zip", f"{self.shown}: warning: {text} [zip]")
        if packed:
            self.coding, self.call = packed[0], self.call.with_options(kind=kind)
            source, self.original = documents.kept(source)
        asked = own.only or settings.kind or not row.is_asked_for
        self.outcome.tally.unasked += bool(source.input.root and not asked)
        if source.input.root and (row.visit is None or not asked):
            # Pictures and films in a tree: a copy needs them, but memory need not hold them.
            pieces = self.after.counting(source.pieces)
            if own.output is not None:
                self._put(source, pieces)
            elif self.reports:
                deque(pieces, maxlen=0)
        elif own.in_place:
            self._replace(source)
        elif own.diff or own.check:
            self._show(self._rewritten(source))
        else:
            # If the output replaces no file, it can be made again, and is not verified.
            output, checked = self.outcome.job.output, own.delivery
            if output is not None:
                checked = (output.replaces or output.goes_on) and os.path.lexists(output.path)
            self._put(source, self._pieces(source, checked=checked))
        self._sum_up()

    def _rewritten(self, source: OpenInput, *, checked: bool = False) -> Iterator[Rewritten]:
        if self.coding is not None:
            source = source._replace(pieces=documents.unfolded(source.pieces, self.coding))
        for read in documents.documents(source, self.call, streams=self.format.streams):
            document = documents.placed(read, self.stated, self.plan.finder, source)
            budget = Budget(len(document.data))
            try:
                result = documents.rewritten(document, budget)
            except Exception as error:
                if not document.number:
                    raise
                # One bad message of many must not cost the others.
                text = f"message {document.number}, left unchanged: error: {files.reason(error)}"
                self.outcome.errors.append(f"{self.shown}: {text}")
                self.outcome.tally.failed += 1
                result = Result(document.data, (), (), base=lambda: UNKNOWN, links=tuple)
            if not document.number:
                self.outcome.claimed = "" if self.stated.given else document.given.call.url or ""
            links = None
            if checked and result.changed:
                from relbase.cli.self_check import verify

                links = verify(document.given, result)
            self._count(document, result, links, budget.rewritten)
            yield document, result

    def _pieces(self, source: OpenInput, *, checked: bool) -> Iterator[bytes]:
        def verified() -> Iterator[bytes]:
            for document, result in self._rewritten(source, checked=checked):
                yield from (document.before, result.data, document.after)

        pieces = verified()
        if self.coding is not None and self.original is not None:
            pieces = documents.folded(pieces, self.coding, self.original, self.has_changed)
        return self.after.counting(pieces)

    def _count(
        self,
        document: documents.InputDocument,
        result: Result,
        links: Counter[str] | None,
        rewritten: int,
    ) -> None:
        outcome, notes, call = self.outcome, result.notes, document.given.call
        edits, changed = result.edits, result.changed
        if not document.number:
            base = run.base(document.given)
            outcome.url, outcome.source = base.url, base.source if base.url else ""
        if self.format.charset is not None:
            rewritten = len(edits)  # in a container bodies may be encoded
        elif not changed:
            rewritten = 0
        elif call.replace is not None or not {note.reason for note in notes} <= _REFUSING_NOTHING:
            links = documents.statuses(document) if links is None else links
            rewritten = links[Status.REWRITTEN.value]
        if self.reports:
            links = documents.statuses(document) if links is None else links
            outcome.links.update(links)
            rewritten = links[Status.REWRITTEN.value]
        outcome.tally.rewritten += rewritten
        outcome.changed += changed
        outcome.places += len(edits)
        outcome.notes.update([note.reason.value for note in notes])
        is_left = any(note.reason is Reason.BASE_NONE for note in notes)
        if is_left and (document.number or self.own.check):
            # --check lists each link without a base. For a mailbox one warning reports them.
            notes = tuple(note for note in notes if note.reason is not Reason.BASE_NONE)
            outcome.first_unknown = outcome.first_unknown or document.number
        if outcome.warned.counts["zip"]:  # that warning says what to do
            notes = tuple(note for note in notes if note.reason is not Reason.KIND_UNSUPPORTED)
        if isinstance(places := call.origin and call.origin.local_files, Neighbours):
            self._tell_left_behind(places)
        is_mapped = call.session.options.message_urls is not None and self.format.messages
        is_given = is_mapped or (call.url is not None and (document.number or self.plan.mailbox))
        if is_given and (changed or is_left):
            self._count_base(document, is_left=is_left)
        documents.collect(self.shown, document, notes, outcome.warned, several=self.plan.several)

    def _tell_left_behind(self, places: Neighbours) -> None:
        """Warn of folders that links of a copy lead into, but that are missing beside the copy."""
        page, output = self.outcome.job.input, self.outcome.job.output
        if output is None or page.root or page.listed or self.plan.uploads:
            return
        for folder in sorted(places.left_behind(page.name, output.path)):
            fix = in_shell("cp", "-r", folder, output.root or ".")
            if windows.HERE:  # xcopy copies what is in the folder, not the folder
                into = os.path.join(output.root or ".", os.path.basename(folder))
                fix = in_shell("xcopy", "/e", "/i", folder, into)
            text = f"links into it stay relative, and it is not beside the output: {fix}"
            warning = f"{files.shown_name(folder)}: warning: {text} [left-behind]"
            self.outcome.warned.add("left-behind", warning)

    def _count_base(self, document: documents.InputDocument, *, is_left: bool) -> None:
        """Count where a message with relative references got its base, if it has one."""
        from relbase.mail.message import fields_of_mail
        from relbase.mail.parts import BASE_FIELDS

        outcome, urls = self.outcome, document.given.call.options.message_urls
        written = document.data.lower()
        may_state = any(name.encode() in written for name in BASE_FIELDS)
        fields = fields_of_mail(document.data) if may_state or urls is not None else []
        given = urls.find(fields) if urls is not None else None
        stated = "stated in the message"
        if is_left:
            stated = "unknown"
        elif (
            any(name in BASE_FIELDS for name, _ in fields)
            and run.base(document.given).layer is not Layer.RETRIEVAL
        ):
            pass
        elif given is not None:
            is_mapped = given.source.startswith("message map")
            stated = "by --message-map" if is_mapped else f"by {given.source}"
        elif document.given.call.url is not None:
            stated = "by --url"
        is_counted = bool(document.number or self.plan.mailbox)
        outcome.tally.on_given_url += is_counted and stated == "by --url"
        if urls is not None:
            outcome.tally.bases[stated] += 1
            if is_left:
                jobs.count_unresolved(outcome.tally.unresolved, document.given)

    def _sum_up(self) -> None:
        outcome, reason = self.outcome, Reason.BASE_NONE.value
        outcome.text, made = "no link changed", self.plan.settings.made
        if outcome.places:
            outcome.text = f"{counted(outcome.tally.rewritten, 'link')} {made}"
            on_url = f", {outcome.tally.on_given_url} of them against the given URL"
            within = f" in {counted(outcome.changed, 'message')}"
            within += on_url if outcome.tally.on_given_url else ""
            against = f", against {excerpt(outcome.url)} ({printable(outcome.source)})"
            outcome.text += against if outcome.source else within
        if outcome.first_unknown and not self.own.check:
            messages = f"message {outcome.first_unknown}"
            advice = documents.advice(
                "message/rfc822", None, several=self.plan.several, name=self.shown
            )
            if outcome.notes[reason] > 1:
                messages = f"{outcome.notes[reason]} messages, the first is {messages}"
                is_named = "--message-map" in advice
                advice += "" if is_named else "; --message-map gives one for each sender"
            text = f"relative links left unchanged in {messages}: {advice} [{reason}]"
            outcome.warned.add(reason, f"{self.shown}: warning: {text}")

    def _show(self, rewritten: Iterator[Rewritten]) -> None:
        from relbase.cli.findings import FAILING, LINES, diff, findings

        outcome, own, name, moved = self.outcome, self.own, self.outcome.job.input.name, 0
        for document, result in rewritten:
            if own.diff:
                number = f" (message {document.number})" if document.number else ""
                shown = f"{name}{number}"
                outcome.lines += diff(shown, document.data, result.edits, document.lines, moved)
                moved += result.data.count(b"\n") - document.data.count(b"\n")
                continue
            is_noted = any(note.reason in FAILING for note in result.notes)
            outcome.tally.findings |= result.changed or is_noted
            if result.changed or result.notes:
                for finding in findings(name, document, result):
                    outcome.tally.listed += finding.link is not None
                    outcome.lines.append(LINES[own.format or "text"](finding))

    def _put(self, source: OpenInput, pieces: Iterable[bytes]) -> None:
        output, written = self.outcome.job.output, 0
        if output is None:
            try:
                for piece in pieces:
                    streams.put(piece)
                    written += len(piece)
            except InputError as error:
                what = f"; {counted(written, 'byte')} of its output were written" if written else ""
                raise InputError(f"{error}{what}") from None
            return
        if output.is_only:
            pieces = documents.packed_as(output.path, self.coding, source, pieces)
        self._write(output, pieces, source)
        if not self.outcome.directory and self.outcome.job.reported is not None:
            raise _SkippedError(State.SKIPPED)

    def _replace(self, source: OpenInput) -> None:
        """Replace a file; a mailbox may grow, so it is locked before it is read."""
        from relbase.cli.locks import locked

        # Nobody delivers into compressed mail; what is not a file is refused below.
        is_locked = self.format.streams and self.coding is None and source.status is not None
        with locked(source, self.own) if is_locked else nullcontext(source) as held:
            source = held
            if is_locked:  # read again what was read before the lock
                self.read(-self.before.size)
                source = self._counting(held)
            output = self.writer.in_place(source, self.own)
            pieces: Iterable[bytes] = self._pieces(source, checked=True)
            if not self.format.streams:
                pieces = list(pieces)
                if not self.has_changed():
                    return
            self._write(output, pieces, source)

    def _write(self, output: Output, pieces: Iterable[bytes], source: OpenInput) -> None:
        if output.in_maildir:
            from relbase.cli.outputs import sized

            # The name of a message may state its decompressed size.
            *steps, name = output.parts
            data = b"".join(pieces)
            if self.has_changed():
                unfolded = documents.unfolded((data,), self.coding) if self.coding else (data,)
                name = sized(name, b"".join(unfolded))
            is_same = output.old is not None and name == output.old.name
            output, pieces = output._replace(parts=(*steps, name), replaces=is_same), (data,)
        if output.old is None:
            self.outcome.job = self.outcome.job._replace(output=output)
        self.outcome.directory = self.writer.write(output, pieces, source.status, self.has_changed)
