"""A hook of MkDocs: the content of pages with absolute links, as for search engines and readers.

In mkdocs.yml: `site_url` and `hooks: [mkdocs_hook.py]`.
"""

from typing import Any

from relbase import rewrite_text


def on_page_content(html: str, *, page: Any, **_more: Any) -> str:
    """Return the content of a page with absolute links."""
    return rewrite_text(html, url=page.canonical_url) if page.canonical_url else html
