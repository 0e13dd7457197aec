"""Reads the pages of web archives, and makes conversion records or rows of links from them.

    for page in pages(chunks):
        if isinstance(page, Page):
            made = conversion(page, date="2026-01-02T03:04:05Z")

The codings br and zstd, archives in Zstandard, and `table` need the extra `relbase[warc]`.
"""

from relbase.containers.warc import Fault, Trouble
from relbase.warc.page import Page
from relbase.warc.reading import pages
from relbase.warc.rows import LinkRow, link_rows
from relbase.warc.writing import Conversion, conversion, pack, warcinfo

__all__ = [
    "Conversion",
    "Fault",
    "LinkRow",
    "Page",
    "Trouble",
    "conversion",
    "link_rows",
    "pack",
    "pages",
    "warcinfo",
]
