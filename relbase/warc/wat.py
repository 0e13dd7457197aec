"""The links of a page in the JSON of WAT files, for jobs that read Common Crawl's.

Unlike theirs, each `url` is absolute: whoever resolves it against `Base` again gets it unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from relbase.call import DEFAULT_POLICY
from relbase.pipeline import base
from relbase.url.resolver import Profile
from relbase.warc.rows import link_rows
from relbase.warc.writing import arguments

if TYPE_CHECKING:
    from relbase.policy import Policy
    from relbase.url.resolver import ProfileName
    from relbase.warc.reading import Page

_IN_HEAD: Final = {"link": "Link", "script": "Scripts"}


def wat(
    page: Page,
    warc: str = "",
    *,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
) -> dict[str, Any]:
    """Return the links of a page as a record of a WAT file has them.

    >>> from relbase.warc import Page
    >>> page = Page(0, "<urn:x>", "http://h/d/", "", 200, (), b"<a href=x>", "", ())
    >>> payload = wat(page)["Envelope"]["Payload-Metadata"]
    >>> payload["HTTP-Response-Metadata"]["HTML-Metadata"]["Links"]
    [{'path': 'A@/href', 'url': 'http://h/d/x'}]
    """
    found = base(page.body, **arguments(page, profile, policy))
    head: dict[str, Any] = {"Base": found.url} if found.usable else {}
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
