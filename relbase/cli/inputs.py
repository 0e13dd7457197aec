"""From arguments to inputs: names, Maildirs, lists and trees, for every command on documents."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import click

from relbase import storage
from relbase.cli import documents, files, options, streams, windows
from relbase.cli.files import BOXES, MAILDIR, STDIN, Input, InputError, Inputs, OpenInput
from relbase.cli.jobs import Counted, Options
from relbase.cli.origins.finder import Finder
from relbase.cli.streams import Collected, ExitStatus, Tally, Verbosity, in_shell, printable
from relbase.expressions import expression
from relbase.formats.recognition import recognized
from relbase.kind import Kind
from relbase.url.credentials import masked

if TYPE_CHECKING:
    from relbase.cli.archives import Archive
    from relbase.cli.csv_tables import CsvTable
    from relbase.warc.held import Holder


def begin(names: Sequence[str], given: dict[str, Any], own: Options | None = None) -> Reading:
    follow, backup = (own.follow_symlinks, own.backup) if own else (False, None)
    listed, tally = _listed(given), Tally()
    if given.pop("recursive") and not names and listed is None:
        raise click.UsageError("-r needs a directory, as in: relbase rewrite -r site/ -o out/")
    if not names and listed is None:
        names = (STDIN,)
    names = windows.expanded(names) if windows.HERE else names
    _refuse_names(names)
    names = [expanded for name in names for expanded in _expanded(name)]

    def failed(name: str, why: object) -> None:
        streams.warn(f"{files.shown_name(name)}: error: {why}")
        tally.failed += 1

    all_inputs, trees, mailboxes, passed = list[Input](), list[str](), list[str](), list[str]()
    for name in names:
        if name == STDIN or not os.path.isdir(name):
            all_inputs.append(Input(name))
        elif files.is_maildir(name):
            mailboxes.append(name)
            all_inputs += _messages(name, failed, follow=follow)
        else:
            trees.append(name)
            before = tally.failed
            walked, over = _walk(name, failed, given["sidecars"], backup)
            all_inputs += walked
            is_empty = not walked and tally.failed == before
            if is_empty and not given["quiet"]:
                text = "warning: the directory contains no files to read"
                streams.warn(f"{files.shown_name(name)}: {text}")
            tally.warnings += is_empty
            passed += (f"{count} {why}" for why, count in over.items())
    all_inputs += (Input(name, listed=True) for name in listed or ())
    several = bool(trees) or len(names) + len(listed or ()) > 1
    settings = options.settings(given)
    if len(names) + len(listed or ()) > 1:
        _refuse_repeated(all_inputs)
    if several:
        _refuse_several(names, settings)
    more = listed is not None, several, ", ".join(passed)
    inputs = Inputs(all_inputs, tuple(trees), mailboxes, *more)
    return Reading(inputs, settings, Finder(settings.origins, inputs.trees), tally)


def _expanded(name: str) -> list[str]:
    """Return the objects below a prefix or of a pattern; any other name alone."""
    if not files.is_object(name):
        return [name]
    try:
        objects = storage.objects(name)
    except ValueError as error:
        raise click.UsageError(printable(str(error))) from None
    except OSError as error:
        why = (error.strerror or str(error)).partition(". Detail:")[0]
        raise click.UsageError(printable(f"{masked(name)}: {why}")) from None
    if objects == []:
        raise click.UsageError(
            f"'{printable(masked(name))}' names no object: give the names of some"
        )
    return [name] if objects is None else objects


def _refuse_repeated(inputs: Iterable[Input]) -> None:
    roots: dict[str, str] = {}
    for given in inputs:
        path = os.path.normcase(os.path.abspath(given.name))
        if path in roots and (given.root or roots[path]):
            fix = "give each directory once, and without its own files"
            raise click.UsageError(f"'{printable(given.name)}' is found twice: {fix}")
        roots[path] = given.root


def _listed(given: dict[str, Any]) -> list[str] | None:
    data, nul = given.pop("files_from"), given.pop("null")
    if data is None and nul:
        raise click.UsageError("-0 needs --files-from: give both")
    if data is None:
        return None
    if not nul and b"\0" in data:
        raise click.UsageError("the list of --files-from has NUL bytes in it: give -0 too")
    lines = data.split(b"\0") if nul else [line.removesuffix(b"\r") for line in data.split(b"\n")]
    return [windows.decoded(name) for name in lines if name]


_is_url: Final = expression(r"(?:https?|ftp)://", re.IGNORECASE)


def _refuse_names(names: Sequence[str]) -> None:
    if names.count(STDIN) > 1:
        raise click.UsageError("'-' is standard input, which can be read once: give it once")
    urls = [name for name in names if _is_url.match(name) and not os.path.lexists(name)]
    if not urls:
        return
    url, *others = (in_shell(masked(name)) for name in (urls[0], *(set(names) - set(urls))))
    command = click.get_current_context().command_path
    if len(others) == len(urls) == 1:
        raise click.UsageError(f"Did you mean: {command} {others[0]} --url {url}")
    fix = f"curl -sL -D headers.txt {url} | {command} --url {url} --headers headers.txt"
    raise click.UsageError(f"{url} is a URL, and relbase fetches nothing. Try: {fix}")


# What is done with an input, or with the web archive that it is.
Work: TypeAlias = "Callable[[OpenInput, Archive | None, Collected], None]"
# Has other processes read all inputs; yields the warnings about each, in order.
Parallel: TypeAlias = "Callable[[streams.Bar], Iterator[Collected]]"


class Reading(NamedTuple):
    inputs: Inputs
    settings: options.Settings
    finder: Finder
    tally: Tally

    def documents(self, source: OpenInput) -> Iterator[documents.InputDocument]:
        """Yield the documents of an input, which may be compressed, each with its URL."""
        known = self.finder.find(source, self.settings.url)
        settings = self.settings._replace(fields=known.fields or self.settings.fields)
        source, settings = documents.opened(source, settings)
        for document in documents.documents(source, settings.call(source.name)):
            yield documents.placed(document, known, self.finder, source)

    def csv(
        self, path: str | None, *columns: Any, mark: bool
    ) -> AbstractContextManager[CsvTable | None]:
        """Return the context of a table; None without a path."""
        if path is None:
            if mark:
                raise click.UsageError("--csv-bom needs a table: give --csv FILE")
            return nullcontext()
        from relbase.cli.outputs import csv_written  # start-up time

        return csv_written(path, [entry.name for entry in self.inputs.all], *columns, mark=mark)

    def warn(self, more: Iterable[str] = ()) -> None:
        for text in chain(more, self.finder.doubts(self.inputs.all)):
            self.tally.warnings += text.startswith("warning: ")  # the others are hints
            if self.settings.verbosity is not Verbosity.NONE:
                streams.warn(text)

    def process(self, work: Work, parallel: Parallel | None = None) -> ExitStatus:
        """Give each input to `work`; what cannot be processed is reported and counted."""
        self.warn()
        names = [entry.name for entry in self.inputs.all]
        is_quiet = self.settings.verbosity is Verbosity.NONE or streams.is_terminal(output=True)
        warnings = streams.WarningPrinter(self.settings.verbosity)

        def show(warned: Collected) -> None:
            self.tally.warnings += warned.counts.total()
            warnings.show(warned)

        with streams.progress(names, wanted=not is_quiet) as bar:
            read = Counted(bar, hashes=False)
            one_by_one = (self.read(entry, work, read) for entry in self.inputs.all)
            for warned in parallel(bar) if parallel else one_by_one:
                show(warned)
                bar(0, 1)
        if self.settings.message_urls is not None and not self.tally.failed:
            show(self.settings.unmatched(self.settings.message_urls.matched))
        warnings.close()
        return self.tally.status(strict=self.settings.strict)

    def read(self, entry: Input, work: Work, read: Counted) -> Collected:
        """Give an input to `work`, and return the warnings about it."""
        warned = Collected(self.settings.verbosity)
        try:
            with files.opened(entry) as opened:
                source = opened._replace(pieces=read.counting(opened.pieces))
                source, _, archive = recognise(source, self.settings, self.tally, warned)
                work(source, archive, warned)
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:  # noqa: BLE001 (one bad document must not stop others)
            streams.warn(f"{files.shown_name(entry.name)}: error: {files.reason(error)}")
            self.tally.failed += 1
        return warned


def _refuse_several(names: Sequence[str], settings: options.Settings) -> None:
    given = click.get_current_context().params
    has_place = map(given.get, ("output", "in_place", "check", "diff"))
    is_pair = list(map(os.path.lexists, names)) == [True, False]
    if is_pair and "output" in given and not any(has_place):
        shown = in_shell(names[1])
        raise click.UsageError(f"{shown} does not exist: to write to it give -o {shown}")
    is_tree = len(names) == 1 and os.path.isdir(names[0])
    several = f"{in_shell(names[0])} is a directory" if is_tree else "there are several inputs"
    names_ = ("--url", "--headers", "--redirect", "--images-url")
    values = settings.url, settings.fields, settings.redirects, settings.images_url
    for option, value in zip(names_, values, strict=True):  # --headers may have redirects
        if value:
            text = f"{option} applies to one document, but {several}: give each its own"
            fix = "URL with --map FILE, --root DIR=URL or --mirror DIR"
            if option == "--headers":
                fix = "headers with --sidecar SUFFIX"
            elif option == "--images-url":
                fix = "base with --images-root DIR=URL"
            elif option == "--url" and is_tree:
                root = in_shell(f"{names[0]}={value}")
                fix = f"URL with --root {root}, --map FILE or --mirror DIR"
            raise click.UsageError(f"{text} {fix}")


def _messages(name: str, failed: Callable[[str, object], None], *, follow: bool) -> Iterator[Input]:
    try:
        for folder in files.maildir_folders(name):
            boxes = [os.path.join(name, folder, box) for box in BOXES]
            # A folder must have directories of its own, since a symbolic link may lead anywhere.
            paths = (os.path.join(name, folder, directory) for directory in MAILDIR)
            links = [] if follow else list(filter(os.path.islink, paths))
            for path in links:
                text = "it is a symbolic link: not followed without rewrite --follow-symlinks"
                failed(path, text)
            for entry in chain.from_iterable(map(files.entries, () if links else boxes)):
                if entry.name.startswith("."):
                    continue
                if not entry.is_file(follow_symlinks=False):
                    failed(entry.path, "it is not a regular file: left out")
                    continue
                # With --follow-symlinks open it by its name, otherwise only below the Maildir.
                yield Input(entry.path, "" if follow else name)
    except OSError as error:
        failed(name, error.strerror or error)


# What wget -K, Windows and mail programs put beside a file.
_BESIDE: Final = (".orig", files.ZONE, ".lock")
_KEPT: Final = "kept beside a page by a program, or as a backup"

# Names that people and editors give. A second run must not change the backups of the first.
_BACKUPS: Final = (".bak", ".old", "~")

# --backup adds a number if the name exists already: x.bak, x.bak.1, ...
_NUMBER: Final = expression(r"\.[0-9]++\Z")


def _walk(
    root: str,
    failed: Callable[[str, object], None],
    sidecars: Iterable[str] = (),
    backup: str | None = None,
) -> tuple[list[Input], Counter[str]]:
    inputs: list[Input] = []
    skipped: Counter[str] = Counter()
    beside = (*_BESIDE, *sidecars)
    backups = _BACKUPS if backup is None else (*_BACKUPS, backup)
    pending = [root]
    while pending:
        directory = pending.pop()
        try:
            listed = files.entries(directory)
        except OSError as error:
            failed(directory, error.strerror)
            continue
        names = {entry.name for entry in listed}
        inner: list[str] = []
        for entry in listed:
            why = _why_skipped(entry, names, beside, backups)
            if why is not None:
                skipped[why] += 1
            elif entry.is_dir(follow_symlinks=False):
                inner.append(entry.path)
            else:
                inputs.append(Input(entry.path, root))
        pending += reversed(inner)
    return inputs, skipped


def _why_skipped(
    entry: os.DirEntry[str], names: set[str], beside: tuple[str, ...], backups: tuple[str, ...]
) -> str | None:
    if entry.name.startswith("."):
        return "with a leading dot"
    is_junction = windows.HERE and windows.is_junction(entry.stat(follow_symlinks=False))
    if is_junction or entry.is_symlink():
        return "reached by a symbolic link"
    if entry.is_dir(follow_symlinks=False):
        return _KEPT if entry.name == "hts-cache" else None  # of HTTrack
    if not entry.is_file(follow_symlinks=False):
        return "of a special file type"
    for suffix in beside:
        own = entry.name.removesuffix(suffix)
        # wget -K keeps a page under the name that it had before -E added a suffix.
        added = (f"{own}.html", f"{own}.css") if suffix == ".orig" else ()
        if entry.name.endswith(suffix) and not names.isdisjoint((own, *added)):
            return _KEPT
    named = entry.name, _NUMBER.sub("", entry.name)
    kept = (name.removesuffix(end) for name in named for end in backups if name.endswith(end))
    return None if names.isdisjoint(kept) else _KEPT


def recognise(
    source: OpenInput, settings: options.Settings, tally: Tally, warned: Collected
) -> tuple[OpenInput, bytes, Archive | None]:
    """Return an input, its first bytes, and the web archive that it may be; `warned` gets notes."""
    first, source = files.peeked(source)
    holder = _holder(source, first, settings)
    if holder is None and settings.kind not in {None, options.ARCHIVE}:
        kind, notes = recognized(Kind(settings.kind), "", source.name, first)
        if notes and kind.value != settings.kind and not source.input.root:
            text = notes[0].text.partition(": ")[2]
            raise click.UsageError(f"{source.shown}: --kind {settings.kind} does not fit: {text}")
        return source, first, None
    is_zip = holder is None and _is_zip(source, first, settings)
    packing = "gz" if is_zip else None
    if holder is not None:
        packing = ""
    elif not (is_zip or first.startswith(b"<")):  # as most documents do, and no archive
        from relbase.compression.members import packing_of

        packing = packing_of(first)
    if packing is None:
        packing = files.packing_of(source.name) if settings.kind is None else ""
    if packing is None:
        return source, first, None
    from relbase.cli.archives import Archive  # it loads all of `warc`

    archive = Archive(source, settings, packing, tally, Counter(), warned, is_zip, holder)
    for option, value in (
        ("--url", settings.url),
        ("--redirect or --headers", settings.redirects or settings.fields),
        ("--charset", settings.charset),
    ):
        if value:
            archive.warn(f"{option} does not apply: each record has its own URL and headers")
    return source, first, archive


def _holder(source: OpenInput, first: bytes, settings: options.Settings) -> Holder | None:
    """Return what reads an input if it is a file that holds pages."""
    suffix = source.name.rpartition(".")[2].lower()
    stated = settings.kind or (suffix if suffix in options.HELD else "")
    if stated not in {"", *options.HELD} or not (stated or _may_hold.match(first)):
        return None
    from relbase.warc.held import HOLDERS

    if stated:
        return HOLDERS[stated]
    return next((holder for holder in HOLDERS.values() if holder.begins(first)), None)


# What the others do not begin like, so that few documents load the readers.
_may_hold: Final = expression(
    rb"bplist00|PK\x03\x04"
    rb"|(?:\xEF\xBB\xBF)?\s*(?:\{\s*\"log\"|(?=<.{0,1000}?(?<=<)(?:plist|en-export)))",
    re.DOTALL,
)


def _is_zip(source: OpenInput, first: bytes, settings: options.Settings) -> bool:
    if not first.startswith(b"PK"):
        return False
    from relbase.warc import work

    is_stated = source.name.lower().endswith(".wacz") or settings.kind == options.ARCHIVE
    if not files.is_read_again(source):
        if is_stated or work.begins_wacz(first):
            raise InputError("a WACZ is read from its end: give a file, not a pipe")
        return False
    if is_stated:
        return True
    with files.seekable(source) as file:
        return work.holds_archives(file)
