"""Whether a text is a URL by RFC 1808 §2.2 and RFC 1738 §5, and if not, why.

An absolute URL of a predefined scheme must match its production in RFC 1738, a relative URL that of
RFC 1808. Where RFC 1808 says that the two differ, what either of them accepts gets only a remark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple

from relbase.expressions import regex
from relbase.grammar import rfc1738, rfc1808
from relbase.grammar.characters import (
    Component,
    Cut,
    Severity,
    Violation,
    finding,
    searched,
)
from relbase.grammar.rfc1738 import fieldspecs
from relbase.grammar.rfc1808 import base_remarks, check_fragment, remarks, scheme_match
from relbase.url.step import check_text

# Nobody reads more of them about one URL, and reports stay small.
MAX_VIOLATIONS: Final = 100


class Grammar(StrEnum):
    """A grammar that a text can be checked against on its own."""

    RFC1808 = "rfc1808"  # §2.2: the generic syntax of all schemes, and relative URLs
    RFC1738 = "rfc1738"  # §5: the URLs of each scheme, none of them relative

    @classmethod
    def _missing_(cls, value: object) -> Grammar:
        raise ValueError(f"{value!r:.80} is not a grammar: give one of {', '.join(cls)}")


GrammarName = Literal["rfc1808", "rfc1738"]  # of the members


class Verdict(NamedTuple):
    """Whether a text is a URL by one grammar."""

    grammar: Grammar  # that judged the text
    is_url: bool  # its verdict
    production: str  # that it applied


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL, as its production names them: None is absent, "" is empty.

    Args:
        production: "httpurl", "ftpurl", ..., "otherurl", or "net_path", "abs_path", "rel_path", or
            "generic-RL", "absoluteURL" if only RFC 1808 §2.2 accepts it.
        scheme: In lower case.
        user: In ftp, telnet, and other schemes with an ip-schemepart.
        password: Only with a user.
        host: Also in the article of news.
        port: Digits.
        path: The fpath, hpath or path, without the slash before it.
        ftptype: One letter.
        search: After "?" in http and wais, after the first "%09" in gopher.
        gtype: One character, or one escape.
        selector: In gopher.
        gopher_string: The gopher+_string.
        encoded822addr: In mailto.
        group: In news ("*" for all) and nntp.
        article: In news, the part before the "@".
        digits: In nntp.
        database: In wais.
        wtype: In wais.
        wpath: In wais.
        ppath: In prospero.
        fieldspecs: Pairs of a fieldname and a fieldvalue.
        schemepart: In an otherurl, all of it.
        urlpath: In an otherurl that has an ip-schemepart.
        net_loc: In a net_path or a generic-RL, not split further.
        params: In a relative URL or a generic-RL.
        query: In a relative URL or a generic-RL.
        fragment: Not part of the URL, but kept here.
    """

    production: str
    scheme: str | None = None
    user: str | None = None
    password: str | None = None
    host: str | None = None
    port: str | None = None
    path: str | None = None
    ftptype: str | None = None
    search: str | None = None
    gtype: str | None = None
    selector: str | None = None
    gopher_string: str | None = None
    encoded822addr: str | None = None
    group: str | None = None
    article: str | None = None
    digits: str | None = None
    database: str | None = None
    wtype: str | None = None
    wpath: str | None = None
    ppath: str | None = None
    fieldspecs: tuple[tuple[str, str], ...] | None = None
    schemepart: str | None = None
    urlpath: str | None = None
    net_loc: str | None = None
    params: str | None = None
    query: str | None = None
    fragment: str | None = None


def parse_url(text: str) -> Url:
    """Return the parts of a URL, absolute or relative, as its production names them.

    The parts are those of RFC 1738 or, if the production of the scheme does not accept the text,
    those of RFC 1808 §2.2. `split` returns the components of RFC 1808 for any text.

    Args:
        text: The URL alone, without white space or brackets around it.

    Raises:
        ValueError: If the text matches neither grammar; the message says where and why.

    >>> url = parse_url("ftp://@host.com/a;type=i")
    >>> (url.production, url.user, url.password, url.host, url.path, url.ftptype)
    ('ftpurl', '', None, 'host.com', 'a', 'i')
    """
    core = core_of(text)
    cut, listed = _judged(core)
    if failed := _violation(listed):
        cut, listed = _judged(core, Grammar.RFC1808)
        if _violation(listed):
            raise ValueError(
                f"not a URL: at character {failed.start + 1} {failed.message} ({failed.production},"
                f" {failed.section}); violations() lists everything"
            )
    fields: dict[str, Any] = {
        part.name: text[part.start : part.end] for part in cut.parts if part.name
    }
    if (written := fields.get("fieldspecs")) is not None:
        bounds = fieldspecs(written, 0, len(written))
        fields["fieldspecs"] = tuple(
            (written[at:equals], written[equals + 1 : end]) for at, equals, end in bounds
        )
    scheme = scheme_match(text)
    return Url(cut.production, scheme=scheme[0].lower() if scheme else None, **fields)


def verdicts(text: str) -> list[Verdict]:
    """Return the verdict of each grammar, RFC 1808 §2.2 and RFC 1738 §5, on a text."""
    core = core_of(text)
    judged = ((grammar, *_judged(core, grammar)) for grammar in Grammar)
    return [
        Verdict(grammar, not _violation(listed), cut.production) for grammar, cut, listed in judged
    ]


def violations(
    text: str, base: str | None = None, grammar: GrammarName | None = None
) -> list[Violation]:
    """Return what is wrong with a text as a URL, absolute or relative, in order.

    Args:
        text: The URL alone, without white space or brackets around it.
        base: The base that the text is relative to, for remarks on how it is written.
        grammar: "rfc1808" or "rfc1738", to check against it alone; None for the one that is meant.

    Returns:
        Findings of every `Severity`; the text is a URL when none is a VIOLATION. At most
        `MAX_VIOLATIONS` are violations; a last finding of kind LIMIT says that more were left out.

    >>> [(f.start, f.production, f.character_class.value) for f in violations("http://a/~b?{")]
    [(9, 'hsegment', 'national'), (12, 'search', 'national')]
    """
    core = core_of(text)
    # Only RFC 1808 recommends a practice.
    practice = () if grammar == "rfc1738" else remarks(core.text, base)
    return _merged(core, _judged(core, grammar)[1], practice)


def base_violations(base: str, grammar: GrammarName | None = None) -> list[Violation]:
    """Return what is wrong with a text as the base URL of relative ones."""
    core = core_of(base)
    return _merged(core, _judged(core, grammar)[1], base_remarks(core.text))


def _judged(core: Core, grammar: str | None = None) -> tuple[Cut, list[Violation]]:
    """Cut a core by a grammar (None: the one meant for it); return the cut and the findings."""
    text, asked = core.text, None if grammar is None else Grammar(grammar)
    own = asked is Grammar.RFC1738 or (asked is None and scheme_match(text) is not None)
    # URL         = ( absoluteURL | relativeURL ) [ "#" fragment ]
    crosshatch = text.find("#")
    cut = (rfc1738 if own else rfc1808).url(text, 0, len(text) if crosshatch < 0 else crosshatch)
    if crosshatch >= 0:
        cut.parts.append(Component("fragment", crosshatch + 1, len(text), check_fragment))
    listed = _searched(core, cut)
    if asked is Grammar.RFC1738:
        listed = [
            violation for violation in map(rfc1738.by_itself, listed) if violation is not None
        ]
    return cut, listed


def _violation(listed: list[Violation]) -> Violation | None:
    return next((violation for violation in listed if violation.kind is Severity.VIOLATION), None)


def _searched(core: Core, cut: Cut) -> list[Violation]:
    # A part has at most two findings that are not counted below: a remark, and a second one on
    # its first character.
    enough = MAX_VIOLATIONS + 1 + 2 * len(cut.parts)
    listed = list(map(core.moved, islice(searched(core.text, cut.parts), enough)))
    # One finding per place: a violation before a remark, and one without a replacement first.
    listed.sort(
        key=lambda violation: (
            violation.start,
            violation.kind is not Severity.VIOLATION,
            violation.replacement is not None,
        )
    )
    first = {violation.start: violation for violation in reversed(listed)}
    return sorted([*core.around, *first.values()], key=attrgetter("start"))


def _merged(core: Core, listed: list[Violation], practice: Iterable[Violation]) -> list[Violation]:
    counted = [violation for violation in listed if violation.kind is Severity.VIOLATION]
    limit: list[Violation] = []
    if len(counted) > MAX_VIOLATIONS:
        first = counted[MAX_VIOLATIONS]
        listed = listed[: listed.index(first)]
        message = f"the first {MAX_VIOLATIONS} violations are reported: more were left out"
        limit.append(first._replace(kind=Severity.LIMIT, message=message, replacement=None))
    return sorted([*listed, *map(core.moved, practice)], key=attrgetter("start")) + limit


# ---- the URL without what delimits it, and without what breaks it across lines

_WHITE: Final = " \t\n\f\r"
_white_finditer: Final = regex(rf"[{_WHITE}]++").finditer
_break_search: Final = regex("[\t\n\r]").search
_anything_search: Final = regex(rf"[{_WHITE}<]").search
_open_match: Final = regex(rf"<(?:URL:)?[{_WHITE}]*+", re.IGNORECASE).match

_AROUND_WHITE: Final = "white space around a URL is not part of it"
_AROUND_BRACKET: Final = "a bracket around a URL is not part of it"
_INSIDE: Final = "white space that breaks a URL is not part of it"


class Core(NamedTuple):
    """The URL in a text, without what is not part of it."""

    text: str
    places: Sequence[int]  # offsets of its characters and its end; empty: unchanged
    around: Sequence[Violation]  # on what is not part of it

    def moved(self, violation: Violation) -> Violation:
        """Return a finding on the URL with offsets of the whole text."""
        if not self.places:
            return violation
        start = self.places[violation.start]
        end = self.places[violation.end - 1] + 1 if violation.end > violation.start else start
        return violation._replace(start=start, end=end)


def core_of(text: str) -> Core:
    """Return the URL in a text, without what is not part of it (RFC 1738 Appendix).

    Each run removed is a violation. Spaces alone stay outside of brackets: they may be meant.
    """
    check_text(text, "the URL")
    if not _anything_search(text):
        return Core(text, (), ())
    runs = [run for run in _runs(text) if run[0] < run[1]]
    places: list[int] = []
    at = 0
    for start, end, _ in (*runs, (len(text), len(text), "")):
        places += range(at, start)
        at = end
    around = [
        finding(text, start, end, "URL", message, "", section="RFC 1738 Appendix")
        for start, end, message in runs[: MAX_VIOLATIONS + 1]
    ]
    left = "".join([text[place] for place in places])
    # Something missing at the end of the URL is reported before a closing bracket.
    return Core(left, [*places, places[-1] + 1 if places else 0], around)


def _runs(text: str) -> Iterator[tuple[int, int, str]]:
    end = len(text.rstrip(_WHITE))
    start = len(text) - len(text.lstrip(_WHITE)) if end else 0
    yield 0, start, _AROUND_WHITE
    opened = _open_match(text, start, end - 1) if text.endswith(">", start, end) else None
    if opened is None:
        for white in _white_finditer(text, start, end):
            if _break_search(text, *white.span()):
                yield *white.span(), _INSIDE
    else:
        closed = max(len(text[: end - 1].rstrip(_WHITE)), opened.end())
        yield *opened.span(), _AROUND_BRACKET
        for white in _white_finditer(text, opened.end(), closed):
            yield *white.span(), _INSIDE
        yield closed, end, _AROUND_BRACKET
    yield end, len(text), _AROUND_WHITE
