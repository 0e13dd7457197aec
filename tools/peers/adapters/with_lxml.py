"""lxml: the four methods for links of its elements."""

from typing import Any

from lxml.html import HtmlMixin

from relbase import trees

HOW: Any = {"profile": "rfc3986"}


class Links:
    """The methods, which the elements of lxml.html get."""

    def iterlinks(self) -> Any:
        """Yield (element, attribute, link, position)."""
        return trees.iterlinks(self)

    def make_links_absolute(
        self, base_url: Any = None, resolve_base_href: Any = True, handle_failures: Any = None
    ) -> None:
        """Make all links absolute."""
        trees.make_links_absolute(
            self, base_url, resolve_base_href, handle_failures, drop_base=resolve_base_href, **HOW
        )

    def resolve_base_href(self, handle_failures: Any = None) -> None:
        """Resolve the links against `<base>`, which goes."""
        trees.resolve_base_href(self, handle_failures, **HOW)

    def rewrite_links(self, function: Any, *how: Any, **named: Any) -> None:
        """Write what a function returns for each link."""
        trees.rewrite_links(self, function, *how, **named, **HOW)


for name in ("iterlinks", "make_links_absolute", "resolve_base_href", "rewrite_links"):
    setattr(HtmlMixin, name, vars(Links)[name])
