"""RFC 1738 Appendix: the URL inside of what delimits it, and of what breaks it across lines.

Taken out are white space at the ends, `<URL:` and `>` or bare brackets, white space between
brackets, and runs of white space that break a line or have a tab. A space alone stays: outside of
brackets it may be meant.

Each run is itself a violation: in an attribute or a header "delimiters are already specified".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.url.grammar.characters import finding
from relbase.url.step import not_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.url.grammar.characters import Violation

_APPENDIX: Final = "RFC 1738 Appendix"

_WHITE: Final = " \t\n\f\r"
_white_finditer: Final = re.compile(rf"[{_WHITE}]++").finditer
_break_search: Final = re.compile("[\t\n\r]").search
_anything_search: Final = re.compile(rf"[{_WHITE}<]").search
_open_match: Final = re.compile(rf"<(?:URL:)?[{_WHITE}]*+", re.IGNORECASE).match

_AROUND_WHITE: Final = "white space around a URL is not part of it"
_AROUND_BRACKET: Final = "a bracket around a URL is not part of it"
_INSIDE: Final = "white space that breaks a URL is not part of it"


class Excess(NamedTuple):
    """What is not part of the URL, and why."""

    start: int
    end: int
    message: str


class Core(NamedTuple):
    """A URL without the `runs` of the `whole` that are not part of it."""

    whole: str  # the text that it was taken from
    runs: list[Excess]  # sorted and disjoint
    text: str  # what is left
    at: list[int]  # where in `text` each piece between runs begins, and
    starts: list[int]  # where in `whole`

    def around(self) -> Iterator[Violation]:
        """The violations that the runs are."""
        for start, end, message in self.runs:
            yield finding(self.whole, start, end, "URL", message, "", section=_APPENDIX)

    def moved(self, found: Violation) -> Violation:
        """A finding on the text, as one on the whole."""
        if not self.runs:
            return found
        start = self._moved(found.start)
        end = self._moved(found.end - 1) + 1 if found.end > found.start else start
        return found._replace(start=start, end=end)

    def _moved(self, offset: int) -> int:
        piece = bisect_right(self.at, offset) - 1
        return self.starts[piece] + offset - self.at[piece]


def core_of(text: str) -> Core:
    r"""Take out of a text what is not part of the URL in it."""
    if not isinstance(text, str):
        raise not_text(text, "URL")
    if not _anything_search(text):
        return Core(text, [], text, [0], [0])
    runs = [run for run in _runs(text) if run.start < run.end]
    starts = [0, *(run.end for run in runs)]
    ends = [*(run.start for run in runs), len(text)]
    # An empty piece is dropped: what is missing at the end of a URL is missing before a bracket.
    kept = [(at, end) for at, end in zip(starts, ends, strict=True) if at < end] or [(0, 0)]
    lengths = list(accumulate((end - at for at, end in kept), initial=0))
    left = "".join([text[at:end] for at, end in kept])
    return Core(text, runs, left, lengths[:-1], [at for at, _ in kept])


def _runs(text: str) -> Iterator[Excess]:
    end = len(text.rstrip(_WHITE))
    start = len(text) - len(text.lstrip(_WHITE)) if end else 0
    yield Excess(0, start, _AROUND_WHITE)
    opened = _open_match(text, start, end - 1) if text.endswith(">", start, end) else None
    if opened is None:
        for white in _white_finditer(text, start, end):
            if _break_search(text, *white.span()):
                yield Excess(*white.span(), _INSIDE)
    else:
        closed = max(len(text[: end - 1].rstrip(_WHITE)), opened.end())
        yield Excess(*opened.span(), _AROUND_BRACKET)
        for white in _white_finditer(text, opened.end(), closed):
            yield Excess(*white.span(), _INSIDE)
        yield Excess(closed, end, _AROUND_BRACKET)
    yield Excess(end, len(text), _AROUND_WHITE)
