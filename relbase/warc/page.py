"""What is read of a web archive: a page with what its record and its response say of it."""

from __future__ import annotations

from posixpath import dirname, join, normpath
from typing import Final, NamedTuple
from urllib.parse import unquote

from relbase.containers.content_type import effective_type
from relbase.expressions import expression
from relbase.formats.recognition import kind_of_name
from relbase.url.credentials import masked


class Page(NamedTuple):
    """A document of an archive.

    Args:
        offset: Where its record (if compressed, its member) begins in the archive.
        record_id: Id of the record, "" if it has none.
        url: The URL that it was retrieved from, as the record says (one without a scheme with
            `http://`), or "".
        date: Date of the record.
        status: Status of the HTTP response, or None.
        fields: HTTP header fields, names in lower case; for a resource its Content-Type.
        body: The body with its transfer and content codings removed.
        truncated: Why part of it is missing, as in WARC-Truncated; "" if it is complete.
        remarks: What is wrong with the record, as sentences for people.
        payload: "truncated", "recoded" if its codings or checksums are not as stated, else "".
        redirects: The URLs that redirects led to, up to `url`; empty if there were none, or if the
            archive has a record for each.
        name: The path of its file in a file that holds pages, or its title; "" if it has none.
        files: The paths of those that were saved with it, and of the folders that they are in.
    """

    offset: int
    record_id: str
    url: str
    date: str
    status: int | None
    fields: tuple[tuple[str, str], ...]
    body: bytes
    truncated: str
    remarks: tuple[str, ...]
    payload: str = ""
    redirects: tuple[str, ...] = ()
    name: str = ""
    files: frozenset[str] = frozenset()

    @property
    def content_type(self) -> str:
        """The media type as stated, with its parameters; "" if none is stated."""
        return effective_type(value for name, value in self.fields if name == "content-type")

    @property
    def succeeded(self) -> bool:
        """Whether it is a response of 2xx, or no response."""
        return self.status is None or self.status // 100 == 2  # noqa: PLR2004 (RFC 9110 §15.3)


def file_beside(page: Page, reference: str) -> str | None:
    """Return the path that a relative reference leads to among the files saved with a page.

    It is None if the reference leads to none of them, nor into a folder of theirs.
    """
    written = unquote(_before_query.split(reference, 1)[0].replace("\\", "/"))
    if not written or written.startswith("/"):
        return None
    path = normpath(join(dirname(page.name), written))
    return path if path in page.files or dirname(path) in page.files else None


_before_query: Final = expression(r"[?#]")

# A URL without its scheme, as warcit writes it (www.h.example/x, h:8080/x, //h/x): its host, and
# its port if a path follows.
_bare: Final = expression(
    r"(?://)?+(\w[^\s/?#@:\\<>\[\]]*+)(?:(:[0-9]{1,5})(?=/))?+(?::[0-9]{1,5})?+(?=[/?#]|\Z)"
)


def with_scheme(page: Page) -> Page:
    """Return a page whose URL has a scheme: http, with a remark, if its record states none."""
    url = page.url
    bare = _bare.match(url)
    if bare is None or not (url.startswith("//") or "." in bare[1] or bare[2]):
        return page
    if url[bare.end() :][:1] != "/" and kind_of_name(bare[1]):  # page.html
        return page
    url = "http://" + url.removeprefix("//")
    remark = f"the target URI has no scheme: read as {masked(url)[:200]!a}"
    return page._replace(url=url, remarks=(remark, *page.remarks))
