"""What a URL is by RFC 1808 §2.2 and RFC 1738 §5, and why a text is none.

Strategy: white space and a `<URL:...>` wrapper are taken off the text, and found (`core`); the
fragment is set aside (RFC 1808 §2.4.1); what is left is cut as an absolute URL by the production
of its scheme (`rfc1738`), or as a relative one (`rfc1808`); then every component is searched by
its own production, and `practice` adds its remarks. `parse_url` reads the same cut.

Which RFC decides: an absolute URL of a predefined scheme must match the production of RFC 1738.
Where RFC 1808 says that the two differ (`?` in ftp and file paths and `;` in http, §2.3 NOTE; `/`
and `?` in a query, §5.1), what one of them accepts is no violation but a remark. A relative URL is
judged by RFC 1808 alone.

Everything is linear in the length of the text, and the number of violations reported is limited:
a document read as a URL would otherwise have one for each of its characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from relbase.url.grammar.characters import (
    CharacterClass,
    Cut,
    Kind,
    Part,
    Violation,
)
from relbase.url.grammar.core import Core, core_of
from relbase.url.grammar.practice import base_remarks, remarks
from relbase.url.grammar.rfc1738 import absolute_url, fieldspecs
from relbase.url.grammar.rfc1808 import check_fragment, relative_url, scheme_match

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "MAX_VIOLATIONS",
    "CharacterClass",
    "Kind",
    "Url",
    "Violation",
    "base_violations",
    "parse_url",
    "violations",
]

# A person reads no more of them about one URL, and a report stays small.
MAX_VIOLATIONS: Final = 100


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL, by the names of its production: None is absent, "" is empty.

    Args:
        production: "httpurl", "ftpurl", ..., "otherurl", or "net_path", "abs_path", "rel_path".
        scheme: in lower case.
        user: of ftp, telnet, and other schemes with an ip-schemepart; as are
        password: which can be there only with a user,
        host: which news has too, in an article, and
        port: digits.
        path: fpath, hpath, or path, without the slash before it.
        ftptype: one letter.
        search: after "?" in http and wais, after the first "%09" in gopher.
        gtype: one character, or one escape.
        selector: of gopher.
        gopher_string: gopher+_string.
        encoded822addr: of mailto.
        group: of news ("*" for all) and nntp.
        article: of news, what is before the "@".
        digits: of nntp.
        database: of wais, as are
        wtype: and
        wpath.
        ppath: of prospero.
        fieldspecs: pairs of a fieldname and a fieldvalue.
        schemepart: of an otherurl, all of it.
        urlpath: of an otherurl that has an ip-schemepart.
        net_loc: of a net_path, not cut any further.
        params: of a relative URL.
        query: of a relative URL.
        fragment: is no part of the URL, and set aside here.
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

    The parts are cut as RFC 1738 cuts them; `relbase.split` gives the components of RFC 1808, of
    any text at all.

    Args:
        text: the URL alone, without white space or brackets around it.

    Raises:
        ValueError: if the text matches neither grammar; the error's text says where and why.

    >>> url = parse_url("ftp://@host.com/a;type=i")
    >>> (url.production, url.user, url.password, url.host, url.path, url.ftptype)
    ('ftpurl', '', None, 'host.com', 'a', 'i')
    """
    core = core_of(text)
    cut = _cut(core.text)
    for found in _searched(core, cut):
        if found.kind is Kind.VIOLATION:
            raise ValueError(
                f"no URL: at character {found.start} {found.message} ({found.production},"
                f" {found.section}); violations() tells all of it"
            )
    fields = {part.name: text[part.start : part.end] for part in cut.parts if part.name}
    pairs: tuple[tuple[str, str], ...] | None = None
    if (written := fields.pop("fieldspecs", None)) is not None:
        bounds = fieldspecs(written, 0, len(written))
        pairs = tuple((written[at:equals], written[equals + 1 : end]) for at, equals, end in bounds)
    scheme = scheme_match(text)
    return Url(
        cut.production,
        scheme=scheme[0].lower() if scheme else None,
        fieldspecs=pairs,
        **fields,
    )


def violations(text: str, base: str | None = None) -> list[Violation]:
    """Return what is the matter with a text as a URL, absolute or relative, in its order.

    Args:
        text: what stands where a URL should; any string.
        base: the absolute URL that it is relative to, so that more of recommended practice can be
            judged.

    Returns:
        Findings of every `Kind`; the text is a URL when none is a VIOLATION. At most
        `MAX_VIOLATIONS` are violations; a last finding of kind LIMIT says that more were left out.

    >>> [(f.start, f.production, f.character_class.value) for f in violations("http://a/~b?{")]
    [(9, 'hsegment', 'national'), (12, 'search', 'national')]
    """
    core = core_of(text)
    found = _searched(core, _cut(core.text))
    return _merged(core, found, remarks(core.text, base))


def base_violations(base: str) -> list[Violation]:
    """Return what is the matter with a text as a URL that relative ones are resolved against.

    Args:
        base: what is to be the base; any string.

    >>> [found.message for found in base_violations("mailto:a@b")]
    ['"mailto" is never used with relative URLs']
    """
    core = core_of(base)
    found = _searched(core, _cut(core.text))
    return _merged(core, found, chain(remarks(core.text), base_remarks(core.text)))


def _cut(text: str) -> Cut:
    """Cut a core; the fragment comes last."""
    # URL         = ( absoluteURL | relativeURL ) [ "#" fragment ]
    crosshatch = text.find("#")
    end = len(text) if crosshatch < 0 else crosshatch
    scheme = scheme_match(text, 0, end)
    cut = absolute_url(text, scheme.end(), end) if scheme else relative_url(text, 0, end)
    if crosshatch >= 0:
        cut.parts.append(Part("fragment", crosshatch + 1, len(text), check_fragment))
    return cut


def _searched(core: Core, cut: Cut) -> list[Violation]:
    """All violations and remarks by the grammars, as offsets of the text, in their order."""
    found = chain.from_iterable(part.check(core.text, part.start, part.end) for part in cut.parts)
    # A part has at most two findings that are not counted below: a remark, and a second one on
    # its first character.
    enough = MAX_VIOLATIONS + 1 + 2 * len(cut.parts)
    listed = [core.moved(one) for one in chain(cut.faults, islice(found, enough))]
    # One place is one finding: a violation before a remark, and what cannot be replaced first.
    listed.sort(
        key=lambda one: (one.start, one.kind is not Kind.VIOLATION, one.replacement is not None)
    )
    first = {one.start: one for one in reversed(listed)}
    around = islice(core.around(), MAX_VIOLATIONS + 1)
    return sorted([*around, *first.values()], key=_start)


def _merged(core: Core, found: list[Violation], practice: Iterable[Violation]) -> list[Violation]:
    counted = [one for one in found if one.kind is Kind.VIOLATION]
    limit: list[Violation] = []
    if len(counted) > MAX_VIOLATIONS:
        first = counted[MAX_VIOLATIONS]
        found = found[: found.index(first)]
        message = f"the first {MAX_VIOLATIONS} violations are reported: more were left out"
        limit.append(first._replace(kind=Kind.LIMIT, message=message, replacement=None))
    return sorted([*found, *map(core.moved, practice)], key=_start) + limit


def _start(found: Violation) -> int:
    return found.start
