"""premailer: the URLs in `href` and `src`."""

import premailer.premailer

import relbase


def urljoin(base: str, url: str) -> str:
    """Return an absolute URL."""
    return relbase.resolve(base, url, "rfc3986")


premailer.premailer.urljoin = urljoin
