"""WPT's tables on values: srcset, meta refresh, the attributes that browsers reflect as URLs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pytest
from tables import load_table

import relbase
from relbase.references.values import clean, refresh, srcset

if TYPE_CHECKING:
    from pathlib import Path

    from counts import Counts

Row = dict[str, Any]


def rows_of(data: Path, name: str, least: int) -> list[Row]:
    rows = load_table(data / f"html/extracted/{name}.json")
    assert len(rows) >= least
    return rows


def test_meta_refresh(data: Path, counts: Counts) -> None:
    rows = rows_of(data, "meta-refresh", 37)
    for row in rows:
        value = row["content"].encode()
        urls = [clean(value[start:end].decode()) for start, end in refresh(value)]
        # "" is the document's own URL, and stays (rule 6)
        assert urls == ([row["url"]] if row["url"] else []), row
    counts("WPT: meta refresh", len(rows), 0)


# Steps 9 to 15 of "parse a srcset attribute", for candidates with one descriptor of each kind.
_descriptors: Final = re.compile(
    rb"""(?: 0*[1-9]\d*w (?:[ ] 0*[1-9]\d*h)? | 0*[1-9]\d*h [ ] 0*[1-9]\d*w
           | (?: \d+ | -?0*\.?0+ | \d*\.\d+ ) (?: [eE][+-]?\d+ )? x )?""",
    re.VERBOSE,
).fullmatch
# What rule 6 took off the end of the URL.
_untrimmed: Final = re.compile(rb"^[^\t\n\f\r ,]*")


def first_valid_candidate(value: bytes) -> bytes:
    """Return the URL that a browser shows at 1x when, as in WPT, each is as dense as the others."""
    spans = list(srcset(value))
    starts = [span.start for span in spans[1:]]
    for (start, end), following in zip(spans, [*starts, len(value)], strict=False):
        if _descriptors(_untrimmed.sub(b"", value[end:following]).strip(b"\t\n\f\r ,")):
            return value[start:end]
    return b""


@pytest.mark.parametrize(("name", "least"), [("srcset-parse", 118), ("srcset-select", 7)])
def test_srcset(data: Path, counts: Counts, name: str, least: int) -> None:
    rows = rows_of(data, name, least)
    for row in rows:
        selected = row["selected"].encode().strip(bytes(range(0x21)))
        assert first_valid_candidate(row["srcset"].encode()) == selected, row
    counts("WPT: srcset", len(rows), 0)


# Attributes that hold a URL on some elements of a name only, with what makes them so.
CONDITIONS: Final = {("input", "src"): b"type=image"}


def test_every_attribute_that_reflects_a_url_is_known(data: Path, counts: Counts) -> None:
    rows = rows_of(data, "html-reflected-url-attributes", 14)
    for row in rows:
        pair = row["element"], row["attribute"]
        condition = CONDITIONS.get(pair, b"")
        document = f"<{row['element']} {row['attribute']}=x ".encode() + condition + b">"
        links = relbase.links(document, url="http://h/d/", kind="html")
        found = [(link.element, link.attribute, link.url) for link in links]
        assert found == [(*pair, "http://h/d/x")], row
    counts("WPT: attributes that reflect URLs", len(rows), 0)
