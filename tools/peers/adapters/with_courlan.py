"""courlan: links of pages, which may have a placeholder in front."""

import courlan.urlutils
from put import put

import relbase


def fix_relative_urls(baseurl: str, url: str) -> str:
    """Return an absolute URL."""
    return url if url.startswith("{") else relbase.resolve(baseurl, url, "rfc3986")


put(courlan.urlutils.fix_relative_urls, fix_relative_urls)
