"""Markdown: markdown-it-py renders the output as it renders the original with its URLs resolved.

The inputs are the examples of the CommonMark and GFM specs and of cmark-gfm's tests, and what the
installed packages say of themselves. In HTML the URLs are those that `relbase.rewrite` makes of
each piece of it alone, which other suites judge.
"""

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Final

import pytest
from counts import Counts
from markdown_it import MarkdownIt
from markdown_it.common.normalize_url import normalizeLink
from markdown_it.token import Token

import relbase
from relbase import Policy

URL: Final = "https://h.example/blob/d/README.md"
IMAGES: Final = "https://h.example/raw/e/README.md"
_OF_IMAGES: Final = Policy(only=("img@src", "img@srcset", "source@src", "source@srcset"))

_example: Final = re.compile(r"^`{32} example[^\n]*\n(.*?)^\.\n", re.MULTILINE | re.DOTALL)


def examples(data: Path) -> Iterator[tuple[str, str]]:
    root = data / "markdown"
    if not root.is_dir():
        pytest.skip("RELBASE_DATA has no folder markdown: python -m tools.fetch_data makes it")
    for path in sorted(root.rglob("*.txt")):  # a tab is written as an arrow
        text = path.read_text("utf-8").replace("→", "\t")
        for number, found in enumerate(_example.finditer(text), 1):
            yield f"{path.relative_to(root)} {number}", found[1]


def rendered(text: str, images: str | None, *, resolve: bool) -> str:
    parser = MarkdownIt("commonmark").enable("table")
    parser.validateLink = lambda _: True  # type: ignore[assignment]
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    tokens = parser.parse(text)
    for token in _flat(tokens):
        if token.type in {"html_block", "html_inline"} and resolve:
            token.content = _html(token.content, images)
        for name, base in (("href", URL), ("src", images or URL)):
            if reference := str(token.attrs.get(name, "")):
                url = relbase.Resolver(base).resolve(reference) if resolve else reference
                token.attrs[name] = normalizeLink(url or reference)
    return str(parser.renderer.render(tokens, parser.options, {}))


def _flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


def _html(piece: str, images: str | None) -> str:
    if images:
        piece = relbase.rewrite_text(piece, url=images, policy=_OF_IMAGES)
    return relbase.rewrite_text(piece, url=URL)


def compared(text: str, images: str | None) -> tuple[str, str]:
    output = relbase.rewrite_text(text, url=URL, images_url=images, kind="markdown")
    return rendered(output, images, resolve=False), rendered(text, images, resolve=True)


@pytest.mark.parametrize("images", [None, IMAGES])
def test_examples_of_specs(images: str | None, data: Path, counts: Counts) -> None:
    rows = [(name, *compared(text, images)) for name, text in examples(data)]
    note = "with a base for images" if images else ""
    counts.compare("Markdown: examples of specs", rows, least=1_300, note=note)


@pytest.mark.parametrize("images", [None, IMAGES])
def test_descriptions_of_installed_packages(images: str | None) -> None:
    read = 0
    for package in metadata.distributions():
        about = package.metadata.json
        if str(about.get("description_content_type")).startswith("text/markdown"):
            found, wanted = compared(str(about["description"]), images)
            assert found == wanted, about["name"]
            read += 1
    assert read
