"""`relbase rewrite`: documents in, the same documents with absolute links out."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress
from itertools import islice
from typing import Any, Final, get_args

import click

from relbase.cli import HANDED_OVER, option_values
from relbase.cli.directories import Directory, opened_directory
from relbase.cli.files import STDIN, Inputs, Output
from relbase.cli.group import Option, command, section
from relbase.cli.inputs import begin
from relbase.cli.jobs import CSV_BOM, JOBS, Format, Job, Options, Plan, digest, is_csv, read_report
from relbase.cli.options import REPLACE, document_options
from relbase.cli.run import run
from relbase.cli.streams import ExitStatus, printable
from relbase.kind import Kind

_FILE: Final = click.Path(dir_okay=False, readable=False)


@command(
    "Make relative links absolute.",
    """\
Examples:
  relbase rewrite page.html -u http://example.com/a/page.html > absolute.html
  relbase rewrite site/ --root site=http://example.com/ -o absolute/
  relbase rewrite page.html -u http://example.com/a/page.html --diff
  relbase rewrite site/ --check

Saved pages, mail and archives:
  curl -sL -D headers.txt http://example.com/a | relbase rewrite \\
      -u http://example.com/a --headers headers.txt -o a.html
  relbase rewrite saved/ -o absolute/
  relbase rewrite mirror/ --mirror mirror --local resolve -o absolute/
  relbase rewrite saved/ -i --backup .bak -j 4 --report done.jsonl
  relbase rewrite saved/ -i -j 4 --report done.jsonl --resume done.jsonl
  relbase rewrite *.html --map urls.tsv -o absolute/
  relbase rewrite inbox.mbox -o absolute.mbox
  relbase rewrite Maildir/ -o absolute/
  relbase rewrite crawl.warc.gz -o absolute.warc.gz
  relbase rewrite page.webarchive log.har notes.enex -o pages/

--map FILE has lines such as this one, with a tab, or is CSV:
  saved/a.html    http://example.com/a.html

--local says what happens to links to files that were saved with a page:
  companion  keep links into NAME_files (default for URLs that you give)
  keep       keep all of them (default for URLs that relbase finds)
  resolve    replace them with the URLs of these files, as far as known
  off        make them absolute like any other link

--check is about the links of documents; "relbase check" is about URLs.

Exit status:
  0  done
  1  --check found relative links, or there were warnings under --strict
  2  wrong usage, nothing was written
  3  some inputs failed, the others were written
  4  an output could not be written, or a mailbox stayed locked
  5  a result failed its verification, and the file was left unchanged
With --delivery: 0 when the message was written, 75 when it could not be.
""",
    *section(
        "Output",
        Option(
            "-o, --output FILE|DIR",
            "Write to FILE; write several inputs, or a directory, below DIR.",
            basic=True,
        ),
        Option(
            "-i, --in-place",
            "Edit files in place, atomically, after verifying the result.",
            basic=True,
        ),
        Option(
            "--backup SUFFIX",
            "Keep the original of each edited file under its name plus SUFFIX.",
            basic=True,
            read=option_values.backup,
        ),
        Option(
            "--delivery",
            "Filter one message for procmail, maildrop or sieve: if anything fails, pass it "
            "on unchanged.",
        ),
        Option(
            "--diff",
            "Show what would change (for people, not as a patch), and write nothing.",
            basic=True,
        ),
        Option(
            "--check",
            "List relative links, write nothing, and exit with status 1 if there are any.",
            basic=True,
        ),
        Option(
            "--format NAME",
            "Print what --check finds as text (default), json, github or sarif.",
            type=click.Choice(get_args(Format)),
        ),
        Option("--force", "Overwrite files that exist in the output directory."),
        Option("--follow-symlinks", "With -i, edit the file that a symbolic link points to."),
        Option(
            "--break-hardlinks",
            "With -i, edit files that have other hard links; those keep the old content.",
        ),
        CSV_BOM,
    ),
    *section(
        "Input",
        Option(
            "--only KIND,...",
            f"Process only these kinds of input: {', '.join(option_values.CHOICES)}.",
            read=option_values.kinds,
        ),
    ),
    *section(
        "Many files",
        JOBS,
        Option(
            "--time-limit SECONDS",
            "Give up on an input after this many seconds, count it as failed, and continue.",
            type=click.FloatRange(min=0, min_open=True),
        ),
        Option(
            "--report FILE",
            "Write a JSON object per input: its URL, hashes, and counts of links and notes; in "
            "FILE.csv a row.",
            type=_FILE,
        ),
        Option(
            "--resume FILE",
            "Skip inputs that FILE, written by --report, lists as done and unchanged since.",
            type=_FILE,
        ),
    ),
    *section(
        "Web archives",
        Option("--with-originals", "Append the records of the archive after the conversions."),
        Option("--all-status", "Convert responses of every status, not only 2xx."),
        Option(
            "--salvage",
            "Also convert pages that are cut off or do not decode to their end, as far as they go.",
        ),
        Option(
            "--date DATE",
            "Set the WARC-Date of conversions, such as 2026-01-02T03:04:05Z.",
            read=option_values.date,
        ),
    ),
    *section("Links", REPLACE),
    *document_options(),
)
def rewrite(inputs: tuple[str, ...], **given: Any) -> int:
    """Make the relative links of each INPUT absolute and change no other byte.

    INPUT is a page, style sheet, XML file, feed, Markdown, message, mbox, Maildir or web archive
    (WARC, ARC), or a file of pages (.webarchive, .har, .maff, .enex), which go to -o DIR; "-" or no
    INPUT is standard input. A DIR is a tree: all files below it, without dotfiles, symbolic links
    and backups; Markdown in it is rewritten only with --only markdown.

    The result of one INPUT goes to standard output, unless -o or -i is given. For a web archive it
    is a WARC of conversion records, one for each page whose links changed.

    For saved pages relbase recovers each page's URL from metadata that the saving program left.
    Warnings go to standard error as file:line:column, the first of each kind.
    """
    own = Options(**{name: given.pop(name) for name in Options._fields})
    deciding = _deciding(given, own) if own.report or own.resume else ""
    walked, settings, finder, tally = reading = begin(inputs, given, own)
    _refuse(inputs, walked, own)
    if own.delivery and settings.kind is None:
        settings = settings._replace(kind=Kind.MAIL.value)
    now = os.environ.get("SOURCE_DATE_EPOCH") or str(int(time.time()))
    uploads, own = False, own._replace(output=None) if own.output == STDIN else own
    with ExitStack() as stack:
        if own.output is not None:
            from relbase.cli.outputs import uploaded

            [output] = stack.enter_context(uploaded(own.output))
            uploads, own = output != own.output, own._replace(output=output)
        jobs = _jobs(walked, own)
        missing: list[str] = []
        if own.resume and own.resume != own.report and not os.path.exists(own.resume):
            text = "does not exist: --resume skips nothing"
            missing.append(f"warning: '{printable(own.resume)}' {text}")
        reading.warn(missing)
        # The trees stay open for the whole run, so that nobody can swap them. A process can have a
        # thousand files open, or fewer, so trees beyond the first 100 are opened by name.
        roots: dict[str, Directory] = {}
        for root in islice(dict.fromkeys(input_.root for input_ in walked.all if input_.root), 100):
            with suppress(OSError):  # reported when an input is read
                roots[root] = stack.enter_context(opened_directory(root))
        plan = Plan(settings, own, finder, walked.several, walked.passed, deciding, now, roots)
        mailbox = walked.mailboxes[0] if walked.mailboxes and settings.url else ""
        run(plan._replace(mailbox=mailbox, uploads=uploads), jobs, tally)
    status = tally.status(strict=settings.strict)
    return HANDED_OVER if own.delivery and status is ExitStatus.DONE else status


# Options that matter for an input only by the URL and the headers that they give it, or not at all.
_FOUND: Final = frozenset(("url", "roots", "mirrors", "mapped", "sidecars"))
_OTHERS: Final = frozenset(("files_from", "null", "recursive", "strict", "verbose", "quiet"))


def _deciding(given: dict[str, Any], own: Options) -> str:
    """Return a digest of the options that decide about links."""
    # With `resolve` the URLs of other files decide, too.
    names = given.keys() - _OTHERS - (frozenset() if given["local"] == "resolve" else _FOUND)
    rules = tuple((pattern.pattern, new) for pattern, new in given["replace"])
    given = {**given, "replace": rules}
    kept = [pattern.pattern for pattern in given["keep"]]
    more = own.with_originals, own.all_status, own.salvage, own.date
    return digest(sorted((name, given[name]) for name in names - {"keep"}), kept, more)


def _jobs(inputs: Inputs, own: Options) -> list[Job]:
    is_resumed = own.resume is not None and os.path.exists(own.resume)
    before, known = read_report(own.resume or "") if is_resumed else ({}, None)
    planned: dict[str, Output] = {}
    if own.output is not None:
        from relbase.cli.outputs import plan, plan_maildir

        planned = (
            plan_maildir(
                inputs.mailboxes[0], own.output, inputs.all, goes_on=own.resume is not None
            )
            if inputs.mailboxes
            else plan(inputs, own.output, force=own.force, known=known)
        )
    return [Job(input_, planned.get(input_.name), before.get(input_.name)) for input_ in inputs.all]


_EXCLUDING: Final = (
    ("diff", "--diff", "prints what would change (> FILE keeps it)"),
    ("check", "--check", "prints what it finds (> FILE keeps it)"),
    ("in_place", "--in-place", "replaces the inputs"),
)


def _refuse(names: tuple[str, ...], inputs: Inputs, own: Options) -> None:
    chosen = [(flag, does) for name, flag, does in _EXCLUDING if getattr(own, name)]
    flags = " and ".join(flag for flag, _ in chosen)
    does = chosen[0][1] if chosen else ""
    mailboxes = inputs.mailboxes
    box = f"the Maildir '{printable(mailboxes[0])}'" if mailboxes else ""
    is_bare, writes = own.output in {None, STDIN}, not chosen
    is_piped = any(input_.name == STDIN for input_ in inputs.all)
    for is_wrong, text in (
        (len(chosen) > 1, f"{flags} exclude each other: give one of them"),
        (chosen and own.output is not None, f"{flags} {does}, so it excludes -o: give one of them"),
        (
            own.delivery and (chosen or not is_bare or names not in {(), (STDIN,)}),
            "--delivery filters standard input to standard output: leave inputs and outputs out",
        ),
        (own.output == "", "-o is empty: give the name of a file or a directory"),
        (own.format and not own.check, "--format needs --check: give both"),
        (own.force and is_bare, "--force is for files in an output directory: give -o DIR too"),
        (own.csv_bom and not is_csv(own.report), "--csv-bom needs CSV: give --report FILE.csv"),
        (
            is_csv(own.resume),
            "--resume reads JSON Lines, not CSV: give the report a name such as done.jsonl",
        ),
        (own.report == STDIN, "--report writes a file: give its name"),
        (
            own.report and own.report == own.output,
            "--report and -o name the same file: give different names",
        ),
        (own.backup and not own.in_place, f"--backup {_REPLACED}"),
        (own.backup and mailboxes, f"--backup would add messages to {box}: copy it first instead"),
        (own.follow_symlinks and not (own.in_place or mailboxes), f"--follow-symlinks {_REPLACED}"),
        (own.break_hardlinks and not own.in_place, f"--break-hardlinks {_REPLACED}"),
        (own.in_place and is_piped, "standard input cannot be replaced: leave -i out"),
        (
            own.time_limit and (is_piped or (writes and is_bare)),
            "--time-limit is for files: give their names, and -o, -i, --check or --diff",
        ),
        (
            writes and box and inputs.several,
            f"{box} needs an output directory of its own: rewrite it in a separate command",
        ),
        (
            writes and box and is_bare,
            f"{box} needs an output directory: give -o DIR (or -i, --check, --diff)",
        ),
        (
            writes and is_bare and (inputs.several or len(inputs.all) > 1),
            "a tree or several inputs need a directory: give -o DIR, -i, --check or --diff",
        ),
    ):
        if is_wrong:
            raise click.UsageError(text)


_REPLACED: Final = "is for files that are replaced: give -i too"
