"""An extension of Sphinx: pages with absolute links, where `html_baseurl` is set.

In conf.py: `extensions = ["sphinx_extension"]` and `html_baseurl = "https://docs.example.org/"`.
"""

from typing import Any

from sphinx.application import Sphinx

from relbase import rewrite_text


def make_absolute(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Rewrite the body of a page that is about to be written."""
    if app.config.html_baseurl and "body" in context:
        site = app.config.html_baseurl.rstrip("/")
        url = f"{site}/{app.builder.get_target_uri(pagename)}"
        context["body"] = rewrite_text(context["body"], url=url)


def setup(app: Sphinx) -> dict[str, Any]:
    """Have Sphinx call this extension for each page."""
    app.connect("html-page-context", make_absolute)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
