"""The options of `relbase rewrite`, and the examples of its help."""

from __future__ import annotations

from typing import Final

import click

from relbase.cli import archive_options
from relbase.cli.selection import CHOICES, read_only

EPILOG: Final = """\b
Examples:
  relbase rewrite page.html --url http://example.com/a/page.html > absolute.html
  curl -sL -D headers.txt http://example.com/a | relbase rewrite \\
      --url http://example.com/a --headers headers.txt -o a.html
  relbase rewrite inbox.mbox -o absolute.mbox
  relbase rewrite Maildir/ -o absolute/
  relbase rewrite page.html --url http://example.com/a/page.html --diff
  relbase rewrite crawl.warc.gz -o absolute.warc.gz

\b
Sites and saved pages:
  relbase rewrite -r site/ --root site=http://example.com/ -o absolute/
  relbase rewrite -r saved/ -o absolute/
  relbase rewrite -r mirror/ --mirror mirror --local resolve -o absolute/
  relbase rewrite -r saved/ -i --backup .bak -j 4 --report done.jsonl
  relbase rewrite -r saved/ -i -j 4 --report done.jsonl --resume done.jsonl
  relbase rewrite *.html --map urls.tsv -o absolute/
  relbase rewrite -r site/ --check --only feeds,mail

\b
Exit status: 0 done; 1 --check found relative links, or there were warnings
under --strict; 2 usage, nothing written; 3 some inputs failed, the others
are written; 4 an output cannot be written, or a lock cannot be had: stopped;
5 what was to replace a file failed the self-check, and the file stays.
"""

OPTIONS: Final = (
    click.Option(
        ["-o", "--output"],
        metavar="FILE|DIR",
        type=click.Path(readable=False),
        help="Write to a file, which is replaced if it is there; or into a directory, under the "
        "names of the inputs, if it is one, ends in '/', or there are several inputs. The "
        "directories of a tree stay. A message that is in the Maildir already is an error.",
    ),
    click.Option(
        ["--force"],
        is_flag=True,
        help="Replace files that are in the output directory already.",
    ),
    click.Option(
        ["-i", "--in-place"],
        is_flag=True,
        help="Replace each input in one step, when its new content is complete, checked and on the "
        "disk. Mode, times, attributes and access control lists stay. An mbox is locked.",
    ),
    click.Option(
        ["--backup"],
        metavar="SUFFIX",
        help="With -i keep what was there under its name and this suffix. A backup that is there "
        "is not replaced: the next has a number.",
    ),
    click.Option(
        ["--follow-symlinks", "follow"],
        is_flag=True,
        help="With -i replace the file that a symbolic link leads to.",
    ),
    click.Option(
        ["--break-hardlinks", "break_links"],
        is_flag=True,
        help="With -i replace a file that has other names too, which keep the old content.",
    ),
    click.Option(
        ["--diff"],
        is_flag=True,
        help="Write no documents: show what would change, for reading; in colour on a terminal.",
    ),
    click.Option(
        ["--check"],
        is_flag=True,
        help="Write no documents: list the inputs with relative links, those too that cannot be "
        "resolved for want of a base, and exit with status 1 if there are any.",
    ),
    click.Option(
        ["--only"],
        metavar="KIND,...",
        callback=read_only,
        help=f"Process inputs of these kinds alone: {', '.join(CHOICES)}.",
    ),
    click.Option(
        ["-j", "--jobs", "processes"],
        metavar="N",
        type=click.IntRange(min=0, max=256),
        default=1,
        show_default=True,
        help="Process so many inputs at once; 0 is one for each processor.",
    ),
    click.Option(
        ["--time-limit", "limit"],
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        help="End what takes longer on one input of several, which then has failed, and go on with "
        "the next.",
    ),
    click.Option(
        ["--report"],
        metavar="FILE",
        type=click.Path(dir_okay=False, readable=False),
        help="Write JSON Lines, one object an input: its URL and what states it, hashes before and "
        "after, counts of links and notes.",
    ),
    click.Option(
        ["--resume"],
        metavar="FILE",
        type=click.Path(dir_okay=False, readable=False),
        help="Skip what a report says is done, where nothing has changed since. With --report of "
        "the same name the report goes on.",
    ),
    *archive_options.OPTIONS,
)
