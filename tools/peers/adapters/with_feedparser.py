"""feedparser: URLs of elements, and HTML in texts."""

from feedparser import urls
from put import put

from relbase import Rewriter, resolve

rewriter = Rewriter(profile="rfc3986")


def _urljoin(base: str, uri: str) -> str:
    """Return an absolute URL, or the reference where no base is known."""
    uri = urls._urifixer.sub(r"\1\3", uri)  # noqa: SLF001 (a mend of its own)
    return resolve(base, uri, "rfc3986") if base else uri


def resolve_relative_uris(html_source: str, base_uri: str, *_: object) -> str:
    """Return HTML with absolute links."""
    return rewriter.rewrite_text(html_source, base=base_uri) if base_uri else html_source


put(urls._urljoin, _urljoin)  # noqa: SLF001 (that is where it is)
put(urls.resolve_relative_uris, resolve_relative_uris)
