"""Rows of links: what each reference of a page resolves to, why, and where it is."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from relbase.expressions import regex
from relbase.policy import DEFAULT_POLICY, Policy
from relbase.rewriting.outcomes import Packed, Reference
from relbase.scan.batches import ATTRIBUTES, STATUSES, SYNTAX_NAMES
from relbase.session import run
from relbase.session.options import Replace
from relbase.url.profiles import Profile, ProfileName
from relbase.warc.writing import call_of

if TYPE_CHECKING:
    from relbase.warc.page import Page


class LinkRow(NamedTuple):
    """A row of the table of links.

    Args:
        warc: Name of the archive.
        offset: Where the page's record (if compressed, its member) begins in the archive.
        record_id: Id of the record.
        page: URL of the record.
        date: Date of the record.
        status: Status of the HTTP response; null for a resource.
        part: Section number of the message part; "" for the page itself.
        element: Name of the element.
        attribute: Name of the attribute or, in mail, of the header field.
        syntax: What the attribute or text contains: "url", "srcset", ...
        reference: As its author wrote it, decoded.
        url: What the reference resolves to; null if unresolved.
        layer: Layer of RFC 1808 §3 that states the base.
        base: The base that it was resolved against.
        base_source: Where that base is stated.
        outcome: "rewritten", "absolute", "kept" or "unresolved".
        start: Where the reference begins in the decoded body, in bytes.
        end: Where it ends.
        payload: State of the page: "truncated" if part of it is missing, "recoded" if its codings
            or checksums are not as stated, else "".
        text: Text of the element, as `Link.text`; "" unless texts are asked for.
        rel: Its `rel`, as `Link.rel`; "" unless texts are asked for.
    """

    warc: str
    offset: int
    record_id: str
    page: str
    date: str
    status: int | None
    part: str
    element: str
    attribute: str
    syntax: str
    reference: str
    url: str | None
    layer: str
    base: str
    base_source: str
    outcome: str
    start: int
    end: int
    payload: str
    text: str = ""
    rel: str = ""


# The columns that a table can have: the fields of a row, and the host of its URL.
COLUMNS: Final = (*LinkRow._fields, "host")
# Those that take a second walk over the page, so that a table has them only if they are named.
_TEXTS: Final = ("text", "rel")
USUAL: Final = LinkRow._fields[: -len(_TEXTS)]


def have_texts(columns: Iterable[str]) -> bool:
    return not set(_TEXTS).isdisjoint(columns)


class PackedRows(NamedTuple):
    """Rows of links in columns."""

    size: int
    # For each column one value for all rows, a list of values, or a tuple of four-byte numbers and
    # texts: the numbers are indexes of the texts, or the sizes of texts in UTF-8, joined.
    values: tuple[Any, ...]


def selector(
    columns: Sequence[str] | None = None,
    *,
    data_urls: bool = True,
    fields: Sequence[str] = LinkRow._fields,
) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Return a function that picks columns (None: the usual) from a row, or packed rows.

    Raises:
        ValueError: There is no such column; the text lists the known ones.
    """
    known = (*fields, "host")
    names = [name for name in fields if name not in _TEXTS] if columns is None else columns
    if unknown := sorted({*names} - {*known}):
        raise ValueError(f"there is no column {unknown[0]!r}: give some of {', '.join(known)}")
    if not names:
        raise ValueError("no columns are given: give some, or None for the usual")
    indexes, has_host = [known.index(name) for name in names], "host" in names
    reference, url = map(known.index, ("reference", "url"))

    def chosen(
        given: Iterable[Any], cut: Callable[[Any], object], host: Callable[[Any], object]
    ) -> tuple[Any, ...]:
        values = list(given)
        if not data_urls:
            values[reference], values[url] = cut(values[reference]), cut(values[url])
        if has_host:
            values.append(host(values[url]))
        return tuple([values[index] for index in indexes])

    def select(row: Sequence[Any]) -> tuple[Any, ...]:
        if isinstance(row, PackedRows):
            return PackedRows(row.size, chosen(row.values, _all_cut, _hosts))
        return chosen(row, _cut, _host)

    return select


# data:[<media type>][;base64],<data>   (RFC 2397)
_DATA: Final = rb"[\t\n\r ]*+data:[^;,]*+"
_data: Final = regex(_DATA.decode(), re.IGNORECASE).match
_data_in_utf_8: Final = regex(_DATA, re.IGNORECASE).match


def _cut(url: str | None) -> str | None:
    start = _data(url) if url else None
    return start[0] if start else url


def _all_cut(texts: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    sizes, data = texts
    if b"data:" not in data.lower():
        return texts
    cut = [
        prefix[0] if (prefix := _data_in_utf_8(data, start, end)) else data[start:end]
        for start, end in _spans(sizes)
    ]
    return array("i", map(len, cut)).tobytes(), b"".join(cut)


def _spans(sizes: bytes) -> Iterator[tuple[int, int]]:
    """Where each of several joined texts begins and ends."""
    return pairwise(accumulate(array("i", sizes), initial=0))


_authority: Final = regex(
    r"[A-Za-z][A-Za-z0-9+.-]*+://(?:[^/?#@]*+@)?([^/?#:\[]*+|\[[^\]/]*+\])"
).match


def _host(url: str | None) -> str | None:
    """The host of a URL in lower case; None if it has none."""
    authority = _authority(url) if url else None
    return authority[1].lower() or None if authority else None


def _hosts(texts: tuple[bytes, bytes]) -> list[str | None]:
    sizes, data = texts
    known: dict[bytes, str | None] = {}  # by the part of the URL before the path
    hosts = []
    for start, end in _spans(sizes):
        path = data.find(b"/", data.find(b"//", start, end) + 2, end)
        before = data[start : path if path > start else end]
        if before not in known:
            known[before] = _host(before.decode())
        hosts.append(known[before])
    return hosts


def link_rows(
    page: Page,
    warc: str = "",
    *,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
    replace: Replace | None = None,
    texts: bool = False,
) -> Iterator[LinkRow]:
    """Return an iterator over the rows of a page, one for each link, in order.

    Args:
        page: A page of an archive.
        warc: Name of the archive in the rows.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.
        replace: A function that returns the URL of a link for its row, as in `relbase.rewrite`.
        texts: Whether to fill in `text` and `rel`, which takes a second walk.

    >>> from relbase.warc import Page
    >>> page = Page(0, "", "http://h/d/", "", 200, (), b"<a href=x>", "", ())
    >>> [(row.reference, row.url, row.layer) for row in link_rows(page)]
    [('x', 'http://h/d/x', 'retrieval')]
    """
    call = call_of(page, profile, policy, replace)
    return _rows(page, warc, run.references(call.opened(page.body), texts=texts))


def _rows(page: Page, warc: str, references: Iterable[Reference]) -> Iterator[LinkRow]:
    place = (warc, page.offset, page.record_id, page.url, page.date, page.status)
    known, stated = None, ("", "", "")
    for span, *what, found_on, status, part, _, anchor in references:
        if found_on is not known:
            known, stated = found_on, (found_on.layer.value, found_on.url, found_on.source)
        about = page.payload, *(anchor or ("", ""))
        yield LinkRow._make((*place, part, *what, *stated, status.value, *span, *about))


def packed_rows(
    page: Page,
    warc: str,
    *,
    profile: Profile,
    policy: Policy,
    replace: Replace | None = None,
    texts: bool = False,
) -> Iterator[LinkRow | PackedRows]:
    """Yield the rows of `link_rows`, many at once as columns if possible."""
    call = call_of(page, profile, policy, replace)
    for batch in run.columns(call.opened(page.body), texts=texts):
        if isinstance(batch, Packed):
            yield _packed(page, warc, batch)
        else:
            yield from _rows(page, warc, batch)


def _packed(page: Page, warc: str, packed: Packed) -> PackedRows:
    elements, attributes, syntaxes, *texts, outcomes, starts, ends = packed.columns
    found_on = packed.base
    values = (
        *(warc, page.offset, page.record_id, page.url, page.date, page.status, packed.part),
        (elements, packed.names),
        (attributes, NUMBERED["attribute"]),
        (syntaxes, NUMBERED["syntax"]),
        *(tuple(texts[:2]), tuple(texts[2:])),
        *(found_on.layer.value, found_on.url, found_on.source),
        *((outcomes, _OUTCOMES), (starts,), (ends,), page.payload, "", ""),
    )
    return PackedRows(packed.size, values)


_OUTCOMES: Final = tuple(status.value for status in STATUSES)
# The texts that numbers in a column stand for, if these are the same for all pages.
NUMBERED: Final = {"attribute": ATTRIBUTES, "syntax": SYNTAX_NAMES, "outcome": _OUTCOMES}

_IN_HEAD: Final = {"link": "Link", "script": "Scripts"}


def wat(
    page: Page,
    warc: str = "",
    *,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
) -> dict[str, Any]:
    """Return the links of a page in the form of a WAT record of Common Crawl.

    Unlike there, each resolved `url` is absolute, and resolving it against `Base` changes nothing.
    """
    known = run.base(call_of(page, profile, policy).opened(page.body))
    head: dict[str, Any] = {"Base": known.url} if known.usable else {}
    links: list[dict[str, str]] = []
    for row in link_rows(page, warc, profile=profile, policy=policy):
        link = {"path": f"{row.element.upper()}@/{row.attribute}", "url": row.url or row.reference}
        if row.element in _IN_HEAD:
            head.setdefault(_IN_HEAD[row.element], []).append(link)
        elif row.element != "base":
            links.append(link)
    message: dict[str, Any] = {
        "Headers": {name.title(): value for name, value in page.fields},
        "HTML-Metadata": {"Head": head, "Links": links},
    }
    if page.status is not None:
        message["Response-Message"] = {"Status": str(page.status)}
    header = {
        "WARC-Type": "resource" if page.status is None else "response",
        "WARC-Target-URI": page.url,
        "WARC-Date": page.date,
        "WARC-Record-ID": page.record_id,
    }
    payload = {"Actual-Content-Type": page.content_type, "HTTP-Response-Metadata": message}
    envelope = {"Format": "WARC", "WARC-Header-Metadata": header, "Payload-Metadata": payload}
    return {"Container": {"Filename": warc, "Offset": str(page.offset)}, "Envelope": envelope}
