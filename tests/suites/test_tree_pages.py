"""Saved pages as trees: `make_links_absolute` gives what the parser makes of the rewritten bytes.

Each page is parsed by lxml.html and by one of BeautifulSoup's parsers, which is drawn by its name;
RELBASE_EVERY_PARSER=1 parses each with all, which takes minutes.
"""

import os
import re
import warnings
import zlib
from pathlib import Path
from typing import Any, Final

import bs4
import lxml.etree
import lxml.html
import pytest
from counts import Counts
from test_real_pages import pages
from tree_values import values

from relbase import rewrite
from relbase.trees import make_links_absolute
from relbase.view.charset import sniff

SOUPS: Final = ("html.parser", "lxml", "html5lib")

# Larger ones take the parsers a second each.
LARGEST: Final = 120_000

# (parser, page): why its tree differs
DIFFER: Final = {
    # lxml cannot write a value that holds control characters: its links are told as unresolved.
    ("lxml.html", "httrack/fuzz/corpus/singlefile/srcset.html"): "control characters",
    # ... and its parser drops a style element's text that holds one.
    ("lxml.html", "httrack/fuzz/corpus/singlefile/style-block.html"): "control characters",
    # UTF-16 and UTF-32 without a mark: browsers and `rewrite` take them for windows-1252.
    ("html.parser", "chardet/UTF-16BE/plane1-utf-16be.html"): "charset",
    ("html.parser", "chardet/UTF-32BE/plane1-utf-32be.html"): "charset",
    # html.parser keeps the last of two attributes of a name, browsers and `rewrite` the first.
    ("html.parser", "htmldate-cache/tests/test_set/1808293409.html"): "two attributes of a name",
}

# lxml finds no element in them.
EMPTY: Final = ("libxml2-html/758518-tag.html", "libxml2-html/758606.html")


def parsed(data: bytes, parser: str) -> Any:
    """A tree of a page, decoded as `rewrite` decodes it."""
    charset = sniff(data).name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if parser == "lxml.html":
            return lxml.html.document_fromstring(data, lxml.html.HTMLParser(encoding=charset))
        return bs4.BeautifulSoup(data, parser, from_encoding=charset)


def parsers(name: str) -> tuple[str, ...]:
    """The parsers of a page."""
    if os.environ.get("RELBASE_EVERY_PARSER"):
        return ("lxml.html", *SOUPS)
    return ("lxml.html", SOUPS[zlib.crc32(name.encode()) % len(SOUPS)])


@pytest.mark.long
def test_the_trees_of_saved_pages(data: Path, counts: Counts) -> None:
    differ, expected, changed, compared = set(), set(), 0, 0
    for name, page, url in pages(data / "real-pages"):
        if len(page) > LARGEST:
            continue
        rewritten = rewrite(page, url=url, kind="html", detect=False)
        for parser in parsers(name):
            if parser == "lxml.html" and name in EMPTY:
                continue
            tree = parsed(page, parser)
            changed += len(make_links_absolute(tree, url, handle_failures="ignore"))
            compared += 1
            expected |= {(parser, name)} & DIFFER.keys()
            if values(tree) != values(parsed(rewritten.data, parser)):
                differ.add((parser, name))
    assert changed > 10_000
    assert differ == expected
    counts("trees of saved pages", compared, len(differ), "beside the rewritten page, parsed")


# Attributes that lxml takes for links on any element, where no specification has them: `action` of
# Facebook's like button is "recommend", `data` of a list item is "1".
NO_LINKS: Final = {
    *(("a0:a", "href"), ("span", "href"), ("div", "href"), ("meta", "href"), ("input", "href")),
    *(("button", "href"), ("fb:like", "action"), ("button", "action"), ("esi:include", "src")),
    *(("input", "src"), ("div", "background"), ("li", "data"), ("meta", "content")),
}


@pytest.mark.long
def test_lxml_makes_no_link_absolute_that_stays_relative_here(data: Path, counts: Counts) -> None:
    """On the same trees: lxml's `make_links_absolute`, and that of this package."""
    compared, others = 0, set()
    for name, page, url in pages(data / "real-pages"):
        if len(page) > LARGEST or name in EMPTY:
            continue
        before, theirs, ours = (parsed(page, "lxml.html") for _ in range(3))
        try:
            theirs.make_links_absolute(url, handle_failures="ignore")
        except ValueError:
            continue  # of control characters, in the middle of its work
        make_links_absolute(ours, url, handle_failures="ignore")
        elements = [
            [n for n in tree.iter("*") if n.tag != "base"] for tree in (before, theirs, ours)
        ]
        for element, there, here in zip(*elements, strict=True):
            compared += len(element.attrib)
            values_there, values_here = dict(there.items()), dict(here.items())
            for attribute, value in element.items():
                made = values_there[attribute]
                stays = values_here[attribute] == value != made and _scheme(made)
                # Empty values and references into the document are none that is fetched (rules 6,
                # 8); what is absolute is not spelled anew.
                if stays and value.strip() and not value.startswith("#") and not _scheme(value):
                    others.add((element.tag, attribute))
    assert compared > 80_000
    assert others <= NO_LINKS
    counts("trees of saved pages", compared, len(others), "attributes beside lxml's own")


_scheme: Final = re.compile(r"\s*[a-z][a-z0-9+.-]*:", re.IGNORECASE).match
