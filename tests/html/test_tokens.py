"""What is markup in an HTML document, and what holds references there. [C]: seen in Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows

import relbase
from relbase.html import tokens

TABLES = Path(__file__).with_name("tokens.txt")

URL = "http://h.example/d/p.html"


def found(text: str) -> str:
    """Return the references of a document: element@attribute=reference."""
    links = relbase.links(text.encode(), url=URL, kind="html")
    return " ".join(f"{link.element}@{link.attribute}={link.reference}" for link in links)


ROWS = rows(TABLES, "references", str, str)
BASES = rows(TABLES, "bases", str, str)


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_references(text: str, expected: str) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(("text", "expected"), BASES)
def test_embedded_base(text: str, expected: str) -> None:
    assert relbase.base(text.encode(), url=URL, kind="html").url == (expected or URL)


def test_nothing_is_seen_beyond_the_end() -> None:
    text = b"<a href=x><a href=y>"
    assert [element[2:5] for element in tokens.elements(text, 0, 10)] == [(0, 2, 10)]
    assert list(tokens.elements(text, 10, 19)) == []
