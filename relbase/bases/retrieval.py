"""RFC 1808 §3.3: the URL that an entity was retrieved from.

The last URL of a redirected request is the base. Each redirect is resolved against the one before
by RFC 3986 whatever the profile is: that is what HTTP clients do (RFC 9110 §10.2.2).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from relbase.bases.layers import Layer, Statement
from relbase.expressions import expression
from relbase.notes import Note, Reason
from relbase.url import rfc3986

if TYPE_CHECKING:
    from collections.abc import Iterable


def statements(url: str | None, redirects: Iterable[str]) -> tuple[list[Statement], list[Note]]:
    """Return the retrieval URL as a statement of the base, without fragment and credentials."""
    locations = [redirect.strip() for redirect in redirects]
    source = f"redirect {len(locations)}" if locations else "retrieval URL"
    last = (url or "").strip()
    if locations:
        last = rfc3986.follow(last, locations)
    if not last:
        return [], []
    if "#" not in last and "@" not in last:
        return [Statement(Layer.RETRIEVAL, last, source)], []
    components = rfc3986.split(last)._replace(fragment=None)
    notes = []
    if components.authority is not None and "@" in components.authority:
        host = components.authority.rpartition("@")[2]
        components = components._replace(authority=host)
        text = f"{source}: the user name and password in it were removed"
        notes.append(Note(Reason.CREDENTIALS_REMOVED, "", None, text))
    return [Statement(Layer.RETRIEVAL, rfc3986.unsplit(components), source)], notes


_web: Final = expression(r"https?://[^/?#\s]", re.IGNORECASE)


def found_url(url: str, source: str) -> tuple[str, str, list[Note]]:
    """Return a URL that was found, as it counts, or "" and why it does not, and notes.

    It is of http or https, and loses its fragment, and credentials with a note.
    """
    stated, notes = statements(url, ())
    value = stated[0].value if stated else ""
    if _web.match(value) is None:
        shown = ascii(url[:_SHOWN])
        return "", f"{shown} is not an http or https URL: it does not count", []
    notes = [note._replace(text=note.text.replace("retrieval URL", source)) for note in notes]
    return value, "", notes


_SHOWN: Final = 200
