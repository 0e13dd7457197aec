"""Rows of links: for each reference of a page what it resolves to, why, and where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relbase.call import DEFAULT_POLICY, check
from relbase.pipeline import found_called
from relbase.records import NamedTuple
from relbase.url.resolver import Profile
from relbase.warc.writing import arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.policy import Policy
    from relbase.url.resolver import ProfileName
    from relbase.warc.reading import Page


class LinkRow(NamedTuple):
    """A row of the table of links.

    Args:
        warc: the archive, as its reader calls it.
        offset: of the page's record in the archive; of a compressed archive, its member.
        record_id: of the record.
        page: the URL of the record.
        date: of the record.
        status: of the HTTP response; null for a resource.
        part: the entity in the page, "" for the page itself.
        element: that the reference stands in.
        attribute: that it stands in; of mail, the field.
        syntax: how it stands there.
        reference: as its author wrote it, decoded.
        url: what it resolves to; null when it does not.
        layer: which layer of RFC 1808 §3 the base is of.
        base: that it was resolved on.
        base_source: what states that base.
        outcome: rewritten, absolute, kept or unresolved.
        start: where it begins in the decoded body, in bytes.
        end: where it ends.
        payload: of the page, "truncated" when not all of it is there, "recoded" when its codings
            are not as stated, else "".
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


def link_rows(
    page: Page,
    warc: str = "",
    *,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
) -> Iterator[LinkRow]:
    """Yield a row for each reference of a page, in order.

    Args:
        page: of an archive.
        warc: what the archive is called in the rows.
        profile: the algorithm that resolves.
        policy: what is left alone.

    >>> from relbase.warc import Page
    >>> page = Page(0, "", "http://h/d/", "", 200, (), b"<a href=x>", "", ())
    >>> [(row.reference, row.url, row.layer) for row in link_rows(page)]
    [('x', 'http://h/d/x', 'retrieval')]
    """
    place = (warc, page.offset, page.record_id, page.url, page.date, page.status)
    call = check(page.body, **arguments(page, profile, policy))
    base, stated = None, ("", "", "")
    for span, *what, found_on, status, part in found_called(page.body, call):
        if found_on is not base:
            base, stated = found_on, (found_on.layer.value, found_on.url, found_on.source)
        yield LinkRow._make((*place, part, *what, *stated, status.value, *span, page.payload))
