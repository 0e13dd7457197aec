"""What is open in SVG and MathML. Each row was seen in Chromium by DOMParser."""

from __future__ import annotations

from pathlib import Path

import pytest
from growth import assert_linear
from rows import rows

import relbase
from relbase import Reason
from relbase.html import stack, tokens, tree

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


# The parts of the tree that a simulation follows, and what of it is allowed.
UNSURE = [
    (b"<b i=1><b i=2><b i=3><svg></x><use href=u></svg><a href=v>", "MAX_FORMATTING", 2),
    (b"<p><svg><desc><b><div></b></div></desc><use href=u></svg><a href=v>", "_WORK", 0),
]


@pytest.mark.parametrize(("text", "limit", "most"), UNSURE)
def test_what_is_unsure_stays(
    text: bytes, limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = relbase.rewrite(text, url="http://h.example/")
    assert result.data.endswith(b"<use href=http://h.example/u></svg><a href=http://h.example/v>")
    assert not result.notes
    monkeypatch.setattr(tree, "_FREE_WORK", 0)
    monkeypatch.setattr(stack if limit == "MAX_FORMATTING" else tree, limit, most)
    result = relbase.rewrite(text, url="http://h.example/")
    assert result.data.endswith(b"<use href=u></svg><a href=http://h.example/v>")
    assert [note.reason for note in result.notes] == [Reason.FOREIGN_UNSURE]
    assert [link.reference for link in result.links] == ["v"]


def test_after_what_is_unsure_all_else_is_that_depends_on_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stack, "MAX_FORMATTING", 0)
    text = b"<b><svg></x></svg><svg><g><use href=u /></g></svg><svg></x><use href=v /></svg>"
    assert [link.reference for link in relbase.rewrite(text, url="http://h/").links] == ["u"]


@pytest.mark.parametrize(
    ("opened", "closed"),
    [
        (b"<svg></x>", b"<g></x>"),
        (b"<svg><desc>", b"<div></span>"),
        (b"<div><svg></x></svg>", b"<b><p></b>"),
        (b"<svg><desc>", b"<b><div></b>"),
        (b"<form><svg><desc>", b"<table><td></form><form>"),
        (b"<b><svg><desc>", b"<object><b></b>"),
    ],
)
def test_what_is_open_is_known_in_linear_time(opened: bytes, closed: bytes) -> None:
    def read(text: bytes) -> None:
        for _ in tokens.elements(text, 0, len(text)):
            continue

    assert_linear(read, lambda n: opened + closed * n + b"<svg></x>", (4_000, 8_000))
