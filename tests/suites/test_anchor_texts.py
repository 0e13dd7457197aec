"""Saved pages: the texts of anchors are those in the trees of html5lib or lxml, folded."""

import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Final

import bs4
import pytest
from bs4.element import NavigableString
from counts import Counts
from test_real_pages import pages

import relbase
from relbase.html.anchors import MAX_TEXT

# Larger ones take html5lib a second each.
LARGEST: Final = 100_000

_LEFT_OUT: Final = ("noscript", "script", "style", "template")


def folded(text: str) -> str:
    return " ".join(text.split())[:MAX_TEXT].rstrip()


def text_of(anchor: bs4.Tag) -> str:
    hidden = {id(node) for tag in anchor.find_all(_LEFT_OUT) for node in tag.descendants}
    nodes = [node for node in anchor.descendants if id(node) not in hidden]
    text = folded("".join(node for node in nodes if type(node) is NavigableString))
    images = (node for node in nodes if isinstance(node, bs4.Tag) and node.name == "img")
    return text or next(filter(None, (folded(str(i.get("alt", ""))) for i in images)), "")


def texts(page: str, parser: str) -> Counter[tuple[str, str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anchors = bs4.BeautifulSoup(page, parser).find_all("a", href=True)
    stated = ((re.sub("[\t\r\n]", "", str(each["href"])).strip(), each) for each in anchors)
    return Counter((href, text_of(each)) for href, each in stated)


@pytest.mark.long
def test_anchor_texts_of_saved_pages(data: Path, counts: Counts) -> None:
    rows: list[tuple[str, Counter[tuple[str, str]], Counter[tuple[str, str]]]] = []
    compared = 0
    for name, raw, _ in pages(data / "real-pages"):
        if len(raw) > LARGEST or not raw.lstrip().startswith(b"<"):
            continue
        page = raw.decode("utf-8", "replace").replace("\0", "")
        found = Counter(
            (re.sub("[\t\r\n]", "", link.reference), link.text)
            for link in relbase.links(page, texts=True)
            if (link.element, link.attribute, link.syntax) == ("a", "href", "url")
        )
        compared += found.total()
        left = found - texts(page, "html5lib")
        rows.append((name, left - texts(page, "lxml") if left else left, Counter()))
    assert compared > 15_000
    counts.compare("anchor texts of saved pages", rows, least=200)
