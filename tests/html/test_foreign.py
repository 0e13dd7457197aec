"""What is open in SVG and MathML. Each row was seen in Chromium by DOMParser."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows

from relbase.html import foreign, tokens
from relbase.html.foreign import HTML, SVG

TABLES = Path(__file__).with_name("foreign.txt")

# After each markup `<style><a></style>` is written: in HTML it is raw text, in SVG and MathML
# it has an element in it: the markup, the namespace of that style element.
NAMESPACES = rows(TABLES, "namespaces", str, str)


def style_namespace(markup: str) -> str:
    text = f"{markup}<style id=me><a></style>".encode()
    return next(
        found.namespace
        for found in tokens.elements(text, 0, len(text))
        if isinstance(found, tokens.Element) and b"id=me" in text[found.attributes : found.end]
    )


@pytest.mark.parametrize(("markup", "namespace"), NAMESPACES)
def test_namespace(markup: str, namespace: str) -> None:
    assert style_namespace(markup) == namespace


@pytest.mark.parametrize("more", [-2, -1, 0, 1, 10])
def test_beyond_the_limit_elements_are_counted(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "MAX_DEPTH", 100)
    count = 100 + more
    opened = "<svg>" * count
    assert style_namespace(opened) == SVG
    assert style_namespace(opened + "</svg>" * (count - 1)) == SVG
    assert style_namespace(opened + "</svg>" * count) == HTML
