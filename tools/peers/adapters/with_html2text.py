"""html2text: it calls `urllib.parse.urljoin`."""

from types import SimpleNamespace

import html2text

import relbase


def urljoin(base: str, url: str) -> str:
    """Return an absolute URL, where a base is known."""
    return relbase.resolve(base, url, "rfc3986") if base else url


html2text.urlparse = SimpleNamespace(**vars(html2text.urlparse) | {"urljoin": urljoin})
