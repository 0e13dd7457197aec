"""What `wget -k` did to the links of a page, and how it is undone.

Strategy: `wget -K` keeps the page as it was, in `page.orig`. Its links are those of the page, one
by one and in their order: where the one has the name of a file, the other has the URL. So a
reference becomes what it was. The name of the original is that before `-E` added `.html` to it.
Without an original there is the name alone, and whether the links of a page were converted at all:
then no link from the root of the site leads to what is in the mirror.

To mind: a name may stand for two URLs of the site. Then it is not known which it was.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from relbase import pipeline
from relbase.bases.marks import Placed
from relbase.rewriting.items import Status
from relbase.url import rfc3986
from relbase.url.resolver import Profile

if TYPE_CHECKING:
    from relbase.bases.marks import Places
    from relbase.call import Call
    from relbase.cli.origins.paths import Mirror
    from relbase.results import Link


def undone(call: Call, data: bytes, original: bytes, places: Places) -> Places:
    """Return what gives each reference of a page what it was before its conversion."""
    bare = call._replace(detect=False, origin=None, profile=Profile.WHATWG)
    now, before = _links(data, bare), _links(original, bare)
    if [_place(link) for link in now] != [_place(link) for link in before]:
        return places
    were: dict[str, str | None] = {}  # None: it was several
    for link, was in zip(now, before, strict=True):
        url = was.url if were.setdefault(link.reference, was.url) == was.url else None
        were[link.reference] = url

    def place(reference: str) -> Placed | None:
        url = were.get(reference)
        return Placed(url) if url else places(reference)

    return place


def _links(data: bytes, call: Call) -> list[Link]:
    return list(pipeline.links_called(data, call))


def _place(link: Link) -> tuple[str, str, str]:
    return link.element, link.attribute, link.syntax


def is_converted(call: Call, data: bytes, path: str, mirror: Mirror) -> bool:
    """Return whether the links of a page may have been converted."""
    bare = call._replace(detect=False, origin=None, profile=Profile.WHATWG)
    host = rfc3986.split(call.url or "").authority or ""
    steps = os.path.relpath(path, mirror.directory).split(os.sep)  # noqa: PTH206
    if host not in steps:
        return True
    top = os.path.join(mirror.directory, *steps[: steps.index(host) + 1])  # noqa: PTH118
    for link in pipeline.links_called(data, bare):
        is_from_root = link.reference.startswith("/") and not link.reference.startswith("//")
        if link.status is Status.REWRITTEN and is_from_root and _is_there(link.reference, top):
            return False
    return True


def _is_there(reference: str, top: str) -> bool:
    """Whether what a link from the root leads to was saved under its own name."""
    from urllib.parse import unquote_to_bytes  # noqa: PLC0415 (start-up time)

    components = rfc3986.split(reference)
    if components.path == "/":
        return os.path.isfile(os.path.join(top, "index.html"))  # noqa: PTH113, PTH118
    path = os.fsdecode(unquote_to_bytes(components.path.lstrip("/")))
    query = f"?{os.fsdecode(unquote_to_bytes(components.query))}" if components.query else ""
    if "\0" in path or os.pardir in path.split("/"):
        return False
    return os.path.isfile(os.path.join(top, f"{path}{query}"))  # noqa: PTH113, PTH118
