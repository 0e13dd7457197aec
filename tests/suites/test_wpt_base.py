"""Web Platform Tests on <base>: what the script of each document asserts, read by hand.

The scripts do not run here. A script that sets `href` itself tests the DOM: the document as it
stands has no base then. Documents are taken to be where WPT serves them from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ada_url
import pytest

import relbase
from relbase.bases.layers import Layer

if TYPE_CHECKING:
    from pathlib import Path

    from counts import Counts

HOST: Final = "http://web-platform.test:8000"

_LINKS: Final = "html/semantics/links/links-created-by-a-and-area-elements"
_METADATA: Final = "html/semantics/document-metadata"

# (document, its base; "" is the URL of the document, without <base>)
ROWS: Final = (
    # assert_equals(document.baseURI, document.querySelectorAll("base[href]")[0].href)
    (
        "html/infrastructure/urls/terminology-0/multiple-base.sub.html",
        "http://www.web-platform.test:8000/",
    ),
    # match: document-base-url-ref.html shows resources/cat.jpg
    (
        "html/semantics/embedded-content/the-img-element/document-base-url.html",
        f"{HOST}/html/semantics/embedded-content/the-img-element/resources/",
    ),
    # <base target=_blank>
    (
        f"{_LINKS}/target_blank_implicit_noopener_base.html",
        "",
    ),
    # "An action URL should be resolved relative to the document's base URL"
    (
        "html/semantics/forms/the-form-element/form-action-reflection-with-base-url.html",
        f"{HOST}/common/blank.html",
    ),
    # match: stylesheet-with-base-ref.html applies resources/stylesheet.css
    (
        f"{_METADATA}/the-link-element/stylesheet-with-base.html",
        f"{HOST}/{_METADATA}/the-link-element/resources/",
    ),
    # the script sets the href
    (f"{_METADATA}/the-base-element/base_href_specified.html", ""),
    # "The value of the href attribute must be the document's address if it is empty"
    (
        f"{_METADATA}/the-base-element/base_href_empty.html",
        f"{HOST}/{_METADATA}/the-base-element/base_href_empty.html",
    ),
    # <base target=_blank>
    (f"{_METADATA}/the-base-element/base_target_does_not_affect_iframe_src_navigation.html", ""),
    # of base_multiple.html: "must be affected by the first base element", whose href is empty
    (
        f"{_METADATA}/the-base-element/example.html",
        f"{HOST}/{_METADATA}/the-base-element/example.html",
    ),
    # "URLs in style attributes are relative to the specified base"
    ("css/css-style-attr/style-attr-urls-002.xht", f"{HOST}/css/css-style-attr/support/"),
)


def read(data: Path, name: str) -> bytes:
    """Return a document with the host names that its server would fill in."""
    text = (data / "html/wpt" / name).read_bytes()
    return text.replace(b"{{domains[www]}}", b"www.web-platform.test").replace(
        b"{{ports[http][0]}}", b"8000"
    )


@pytest.mark.parametrize("profile", relbase.Profile)
@pytest.mark.parametrize(("name", "expected"), ROWS)
def test_base(
    data: Path, counts: Counts, name: str, expected: str, profile: relbase.Profile
) -> None:
    url = f"{HOST}/{name}"
    # HTML for the XHTML document too: both parsers find the same base.
    base = relbase.base(read(data, name), url=url, profile=profile, kind="html")
    assert base.url == (expected or url)
    assert base.layer is (Layer.EMBEDDED if expected else Layer.RETRIEVAL)
    counts("WPT: base", 1, 0)


def test_every_document_with_a_base_has_a_row(data: Path) -> None:
    root = data / "html/wpt"
    found = {
        str(path.relative_to(root))
        for path in root.rglob("*.*ht*")
        if b"<base" in path.read_bytes().lower() and "conformance-checkers" not in path.parts
    }
    assert found == {name for name, _ in ROWS}


def test_form_actions(data: Path) -> None:
    """form-action-reflection-with-base-url: an empty action is the URL of the document."""
    name = "html/semantics/forms/the-form-element/form-action-reflection-with-base-url.html"
    links = relbase.links(read(data, name), url=f"{HOST}/{name}")
    assert [link.url for link in links if link.element == "form"] == [
        f"{HOST}/common/a.html",
        f"{HOST}/{name}",
    ]


def test_the_first_base_decides_for_the_links(data: Path) -> None:
    name = f"{_METADATA}/the-base-element/example.html"
    links = relbase.links(read(data, name), url=f"{HOST}/{name}")
    assert [link.url for link in links if link.element == "a"] == [
        f"{HOST}/{_METADATA}/the-base-element/example2.html"
    ]


def test_one_base_with_every_kind_of_url(data: Path, counts: Counts) -> None:
    """conformance-checkers: one <base href> a file; valid or not, browsers resolve it or fail.

    The referee is the URL parser alone: its result is the base, but where it fails, or where the
    result is `data:` or `javascript:`, the next layer out counts (frozen base URL).
    """
    url = "http://h.example/d/p.html"
    directory = data / "html/wpt/conformance-checkers/html/elements/base/href"
    wrong, run = [], 0
    for path in sorted(directory.glob("*.html")):
        text = path.read_bytes()
        href = text.decode().partition('<base href="')[2].partition('"')[0].replace("&amp;", "&")
        try:
            expected = ada_url.join_url(url, href)
        except ValueError:
            expected = url
        if expected.startswith(("data:", "javascript:")):
            expected = url
        base = relbase.base(text, url=url, profile="whatwg")
        run += 1
        if base.url != expected:
            wrong.append((path.name, href, base.url, expected))
    assert not wrong
    assert run > 70
    counts("WPT: conformance-checkers, base href", run, 0)
