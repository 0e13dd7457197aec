"""mf2py: the values of properties that are URLs."""

from contextlib import suppress

import mf2py
from put import put

import relbase


def try_urljoin(base: str, url: str, *_: object) -> str:
    """Return an absolute URL, or the reference where there is no base or no URL."""
    with suppress(ValueError):
        return relbase.resolve(base, url, "rfc3986") if base else url
    return url


put(mf2py.dom_helpers.try_urljoin, try_urljoin)
