"""The options of `rewrite` on web archives, and what they say."""

from __future__ import annotations

from typing import Final

import click

from relbase.cli import files
from relbase.records import NamedTuple

OPTIONS: Final = (
    click.Option(
        ["--with-originals"],
        is_flag=True,
        help="Of a web archive: write its own records after the conversions, as they are.",
    ),
    click.Option(
        ["--all-status"],
        is_flag=True,
        help="Of a web archive: convert responses of every status, not of 2xx alone.",
    ),
    click.Option(
        ["--date"],
        metavar="DATE",
        callback=lambda _context, _parameter, value: _date(value),
        help="Of a web archive: the WARC-Date of conversions, as 2026-01-02T03:04:05Z; otherwise "
        "SOURCE_DATE_EPOCH, or the time of the run.",
    ),
)


class Choices(NamedTuple):
    """What the options on archives say, where the output goes, and what time it is."""

    output: str | None
    with_originals: bool
    all_status: bool
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


def _date(value: str | None) -> str | None:
    if value is None:
        return None
    from relbase.warc.writing import check_date  # noqa: PLC0415 (start-up time)

    try:
        check_date(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    return value
