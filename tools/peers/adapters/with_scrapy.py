"""Scrapy: the base of a response, which it remembers; and that of w3lib."""

import scrapy.linkextractors.lxmlhtml
import scrapy.utils.response
from put import put
from scrapy.http import TextResponse
from scrapy.utils.response import _baseurl_cache as known
from with_w3lib import get_base_url as base_of


def get_base_url(response: TextResponse) -> str:
    """Return the base of a response."""
    if response not in known:
        known[response] = base_of(response.text, response.url)
    return known[response]


put(scrapy.utils.response.get_base_url, get_base_url)
