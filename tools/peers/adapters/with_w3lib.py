"""w3lib: the base of a page. Its URLs are percent-encoded by w3lib, as everywhere in w3lib."""

import w3lib.html
from put import put
from w3lib.url import safe_url_string

from relbase import Rewriter

browser = Rewriter(profile="whatwg")


def get_base_url(text: str | bytes, baseurl: str = "", encoding: str = "utf-8", **_: object) -> str:
    """Return the base of a page."""
    given = safe_url_string(baseurl)
    page = text if isinstance(text, str) else text.decode(encoding, "replace")
    base = browser.base(page, url=given)
    return safe_url_string(base.url) if base.layer == "embedded" else given


put(w3lib.html.get_base_url, get_base_url)
