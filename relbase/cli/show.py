"""One link on a line: for people, as an object of JSON, or with its violations of the grammar."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from relbase.cli import jsonl, remarks, streams
from relbase.cli.streams import excerpt

if TYPE_CHECKING:
    from collections.abc import Callable

    from relbase.cli.outcome import Tally
    from relbase.results import Link
    from relbase.warc.rows import LinkRow


class How(NamedTuple):
    """What is shown of links."""

    tally: Tally
    as_json: bool = False
    violations: bool = False

    def show(
        self,
        place: str,
        row: Link | LinkRow,
        base: str,
        status: str,
        fields: Callable[[], dict[str, object]],
    ) -> None:
        """Show a link: `place` is its file and line, `fields` are those of its object."""
        where = f"{place}{remarks.place_of(row.element, row.attribute, row.syntax)}"
        more: dict[str, object] = {}
        text = f"{where}: {excerpt(row.reference)}"
        if row.url is not None and row.url != row.reference:
            text += f" -> {excerpt(row.url)}"
        text += f" [{status}]"
        if self.violations:
            from relbase.cli.check import counted_violations, report  # noqa: PLC0415 (start-up time)

            found = counted_violations(row.reference, base, self.tally)
            if not found:
                return
            more = {"violations": found}
            text = f"{where}:\n{report(row.reference, found)}"
        streams.say(jsonl.object_line({**fields(), **more}) if self.as_json else text)
