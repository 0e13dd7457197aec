"""A Jinja filter: HTML from elsewhere with absolute links.

In a template: `{{ article.html | absolute_links(article.url) }}`.
"""

from jinja2 import Environment
from markupsafe import Markup

from relbase import rewrite_text


def absolute_links(html: str, url: str) -> Markup:
    """Return the HTML of a document with absolute links."""
    return Markup(rewrite_text(str(html), url=url))  # noqa: S704 (as safe as it was)


def install(environment: Environment) -> None:
    """Add the filter to an environment."""
    environment.filters["absolute_links"] = absolute_links
