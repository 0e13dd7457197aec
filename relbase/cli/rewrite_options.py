"""The options of `relbase rewrite`, and the examples of its help."""

from __future__ import annotations

from typing import Final

import click

from relbase.cli import files, values
from relbase.cli.help import ARCHIVES, INPUT, MANY, OUTPUT, Option
from relbase.cli.selection import CHOICES
from relbase.records import NamedTuple

EPILOG: Final = """\b
Examples:
  relbase rewrite page.html -u http://example.com/a/page.html > absolute.html
  relbase rewrite site/ --root site=http://example.com/ -o absolute/
  relbase rewrite page.html -u http://example.com/a/page.html --diff
  relbase rewrite site/ --check

\b
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

\b
Exit status:
  0  done
  1  --check found relative links, or there were warnings under --strict
  2  wrong usage, nothing was written
  3  some inputs failed, the others were written
  4  an output could not be written, or a mailbox stayed locked
  5  a result failed its verification, and the file was left unchanged
"""

_FILE: Final = click.Path(dir_okay=False, readable=False)

OPTIONS: Final = (
    Option(
        *("-o", "--output"),
        section=OUTPUT,
        basic=True,
        metavar="FILE|DIR",
        type=click.Path(readable=False),
        help="Write to FILE, or for several inputs and directories below DIR.",
    ),
    Option(
        *("-i", "--in-place"),
        section=OUTPUT,
        basic=True,
        is_flag=True,
        help="Edit files in place, atomically, after verifying the result.",
    ),
    Option(
        "--backup",
        section=OUTPUT,
        metavar="SUFFIX",
        read=values.suffix,
        basic=True,
        help="Keep the original of each edited file under its name and SUFFIX.",
    ),
    Option(
        "--diff",
        section=OUTPUT,
        basic=True,
        is_flag=True,
        help="Show what would change, and write nothing.",
    ),
    Option(
        "--check",
        section=OUTPUT,
        basic=True,
        is_flag=True,
        help="List relative links, write nothing, and exit with status 1 if there are any.",
    ),
    Option(
        "--force",
        section=OUTPUT,
        is_flag=True,
        help="Overwrite files that exist in the output directory.",
    ),
    Option(
        *("--follow-symlinks", "follow"),
        section=OUTPUT,
        is_flag=True,
        help="With -i, edit the file that a symbolic link points to.",
    ),
    Option(
        *("--break-hardlinks", "break_links"),
        section=OUTPUT,
        is_flag=True,
        help="With -i, edit files that have other hard links; those keep the old content.",
    ),
    Option(
        "--only",
        section=INPUT,
        metavar="KIND,...",
        read=values.kinds,
        help=f"Skip inputs of other kinds than these: {', '.join(CHOICES)}.",
    ),
    Option(
        *("-j", "--jobs", "processes"),
        section=MANY,
        basic=True,
        metavar="N",
        type=click.IntRange(min=0, max=256),
        default=1,
        help="Use N parallel workers (default 1; 0: one per CPU).",
    ),
    Option(
        *("--time-limit", "limit"),
        section=MANY,
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        help="Give up on an input after this many seconds, count it as failed, and continue.",
    ),
    Option(
        "--report",
        section=MANY,
        metavar="FILE",
        type=_FILE,
        help="Write a JSON object per input: its URL, hashes, and counts of links and notes.",
    ),
    Option(
        "--resume",
        section=MANY,
        metavar="FILE",
        type=_FILE,
        help="Skip inputs that FILE, written by --report, lists as done and unchanged since.",
    ),
    Option(
        "--with-originals",
        section=ARCHIVES,
        is_flag=True,
        help="Write the records of the archive too, after the converted ones.",
    ),
    Option(
        "--all-status",
        section=ARCHIVES,
        is_flag=True,
        help="Convert responses of every status, not only 2xx.",
    ),
    Option(
        "--salvage",
        section=ARCHIVES,
        is_flag=True,
        help="Convert what is there of pages that are cut or do not decode to their end.",
    ),
    Option(
        "--date",
        section=ARCHIVES,
        metavar="DATE",
        read=values.date,
        help="Set the WARC-Date of conversions, such as 2026-01-02T03:04:05Z.",
    ),
)


class Choices(NamedTuple):
    """What the options on archives say, where the output goes, and what time it is."""

    output: str | None
    with_originals: bool
    all_status: bool
    salvage: bool
    date: str | None
    now: str = ""

    def date_of_run(self) -> str:
        """Return the date of all conversions of the run.

        Raises:
            files.InputError: if SOURCE_DATE_EPOCH is no time.
        """
        from relbase.warc.writing import date_of_run  # noqa: PLC0415 (start-up time)

        try:
            return self.date or date_of_run(self.now)
        except ValueError as error:
            raise files.InputError(str(error)) from None
