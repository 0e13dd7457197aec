"""A spider middleware of Scrapy: HTML in items gets absolute links, by the base of its page.

In settings.py:

    SPIDER_MIDDLEWARES = {"scrapy_middleware.AbsoluteLinks": 500}
    ABSOLUTE_LINKS_FIELDS = ["html"]
"""

from collections.abc import AsyncIterator
from typing import Any, Self

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.http import Response

from relbase import response_base, rewrite_text


class AbsoluteLinks:
    """Rewrites the fields that the setting names."""

    def __init__(self, fields: list[str]) -> None:
        self.fields = fields

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the names of the fields."""
        return cls(crawler.settings.getlist("ABSOLUTE_LINKS_FIELDS"))

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Pass on what a spider yields, the items with absolute links."""
        base = response_base(response)
        async for one in result:
            # Nothing is relative to the URL of a response such as data:text/html,...
            if base.usable and ItemAdapter.is_item(one):
                item = ItemAdapter(one)
                for field in self.fields:
                    if isinstance(item.get(field), str):
                        item[field] = rewrite_text(item[field], base=base.url)
            yield one
