"""A Pelican plugin: feeds with absolute links, each item's on its own page.

In pelicanconf.py: `PLUGINS = ["pelican_plugin"]`. Without a `SITEURL` nothing is changed.
"""

from typing import Any

from pelican import signals

from relbase import rewrite_text


def make_absolute(_context: dict[str, Any], feed: Any) -> None:
    """Rewrite the texts of a feed that is about to be written."""
    for item in feed.items:
        for field in ("description", "content"):
            if item.get(field) and item["link"].startswith(("http://", "https://")):
                item[field] = rewrite_text(item[field], url=item["link"])


def register() -> None:
    """Have Pelican call this plugin for each feed."""
    signals.feed_generated.connect(make_absolute)
