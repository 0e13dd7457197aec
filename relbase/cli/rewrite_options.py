"""The options of `relbase rewrite`, and the examples of its help."""

from __future__ import annotations

from typing import Final, NamedTuple, get_args

import click

from relbase.cli import files, values
from relbase.cli.findings import Format
from relbase.cli.help import table
from relbase.cli.values import CHOICES

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
--local says what happens to links to files that were saved with a page:
  companion  keep links into NAME_files (default for URLs that you give)
  keep       keep all of them (default for URLs that relbase finds)
  resolve    replace them with the URLs of these files, as far as known
  off        make them absolute like any other link

\b
Exit status:
  0  done
  1  --check found relative links, or there were warnings under --strict
  2  wrong usage, nothing was written
  3  some inputs failed, the others were written
  4  an output could not be written, or a mailbox stayed locked
  5  a result failed its verification, and the file was left unchanged
With --delivery: 0 when the message was written, 75 when it could not be.
"""

_FILE: Final = click.Path(dir_okay=False, readable=False)

OPTIONS: Final = table(
    f"""\
Output
* -o, --output FILE|DIR   Write to FILE, or for several inputs and directories below DIR.
* -i, --in-place          Edit files in place, atomically, after verifying the result.
* --backup SUFFIX         Keep the original of each edited file under its name and SUFFIX.
  --delivery              Filter one message for procmail, maildrop or sieve: if anything fails,
                          pass it unchanged.
* --diff                  Show what would change, and write nothing.
* --check                 List relative links, write nothing, and exit with status 1 if there are
                          any.
  --format NAME           Print what --check finds as text (default), json, github or sarif.
  --force                 Overwrite files that exist in the output directory.
  --follow-symlinks       With -i, edit the file that a symbolic link points to.
  --break-hardlinks       With -i, edit files that have other hard links; those keep the old
                          content.
Input
  --only KIND,...         Skip inputs of other kinds than these: {", ".join(CHOICES)}.
Many files
* -j, --jobs N            Use N parallel workers (default 1; 0: one per CPU).
  --time-limit SECONDS    Give up on an input after this many seconds, count it as failed, and
                          continue.
  --report FILE           Write a JSON object per input: its URL, hashes, and counts of links and
                          notes.
  --resume FILE           Skip inputs that FILE, written by --report, lists as done and unchanged
                          since.
Web archives
  --with-originals        Write the records of the archive too, after the converted ones.
  --all-status            Convert responses of every status, not only 2xx.
  --salvage               Convert what is there of pages that are cut off or do not decode to their
                          end.
  --date DATE             Set the WARC-Date of conversions, such as 2026-01-02T03:04:05Z.
""",
    output={"type": click.Path(readable=False)},
    backup={"read": values.suffix},
    format={"type": click.Choice(get_args(Format))},
    only={"read": values.kinds},
    jobs={"type": click.IntRange(min=0, max=256), "default": 1},
    time_limit={"type": click.FloatRange(min=0, min_open=True)},
    report={"type": _FILE},
    resume={"type": _FILE},
    date={"read": values.date},
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
