"""mechanize: its own RFC 3986, and the links of its pages."""

import mechanize._rfc3986
from put import put

import relbase


def urljoin(base: str, url: str) -> str:
    """Return an absolute URL, where a base is known."""
    return relbase.resolve(base, url, "rfc3986") if base else url


put(mechanize._rfc3986.urljoin, urljoin)  # noqa: SLF001 (that is where it is)
put(mechanize.polyglot.urljoin, urljoin)
