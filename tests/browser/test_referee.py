"""The browser as referee over the fixtures and the WPT documents with `<base>` (law 10)."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from cases import HTML, Case
from referee import judge
from resolved import TABLE, Scripting, answer, read

import relbase

if TYPE_CHECKING:
    from counts import Counts
    from served import Site

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"


def fixtures() -> list[Case]:
    """Return the HTML fixtures that can be served.

    Headings that state a base mean nothing to a browser: the document is served at the URL that
    they make the base around it. Where that is no URL of HTTP, nothing can be served.
    """
    return [
        case
        for directory in ("html", "hostile")
        for path in sorted((FIXTURES / directory).glob("*.toml"))
        if (case := _fixture(path)) is not None
    ]


def _fixture(path: Path) -> Case | None:
    why = tomllib.loads(path.read_text("utf-8"))
    data = path.with_suffix(".html").read_bytes()
    base = relbase.base(data, **why["call"] | {"profile": "whatwg"})
    if base.layer is relbase.Layer.EMBEDDED:
        assert base.outer is not None
        base = base.outer
    if not base.url.startswith(("http:", "https:")):
        return None
    policy = dict(why.get("policy", {}))
    if "keep" in policy:
        policy["keep"] = re.compile(policy["keep"])
    url = base.url.replace("https:", "http:", 1)
    return Case(path.stem, data, url, _content_type(why["call"]), relbase.Policy(**policy))


def _content_type(call: dict[str, Any]) -> str:
    if "charset" in call:
        return f"{HTML}; charset={call['charset']}"
    return next((value for name, value in call.get("headers", ()) if name == "Content-Type"), HTML)


# No base is known around these, or none of HTTP.
NOT_SERVED: Final = 5


def test_fixtures(site: Site, browser: Any, counts: Counts) -> None:
    cases = fixtures()
    totals = judge(browser, site, cases)
    assert totals.differences == {}
    assert totals.documents >= 95
    assert totals.changed >= 85
    assert totals.rewritten >= 300
    left_out = sum(
        len([*(FIXTURES / directory).glob("*.toml")]) for directory in ("html", "hostile")
    ) - len(cases)
    assert left_out == NOT_SERVED
    totals.count(counts, "browser: fixtures")


HOST: Final = "http://web-platform.test:8000"


def wpt(data: Path) -> list[Case]:
    """Return the WPT documents with a base element, with the names that their server fills in."""
    root = data / "html/wpt"
    return [
        Case(
            str(path.relative_to(root)),
            text.replace(b"{{domains[www]}}", b"www.web-platform.test").replace(
                b"{{ports[http][0]}}", b"8000"
            ),
            f"{HOST}/{path.relative_to(root)}",
        )
        for path in sorted(root.rglob("*.*ht*"))
        if b"<base" in (text := path.read_bytes()).lower()
    ]


def test_wpt_base(data: Path, site: Site, browser: Any, counts: Counts) -> None:
    totals = judge(browser, site, wpt(data), in_frames=True)
    assert totals.differences == {}
    assert totals.documents > 85
    # Most of them hold nothing but their <base>.
    assert totals.rewritten > 5
    totals.count(counts, "browser: WPT <base>")


# --- The referee itself ---


class _Spoilt(Case):
    """A case whose output is another."""

    def __init__(self, data: bytes, output: bytes) -> None:
        super().__init__("spoilt", data, "http://h.example/d/p.html")
        self.output = output


@pytest.mark.parametrize(
    ("data", "output"),
    [
        (b"<a href=x>", b"<a href=http://h.example/x>"),
        (b"<a href=x>", b"<a href=x>"),
        (b"<a href=x>", b""),
        (b"<img srcset='a, b 2x'>", b"<img srcset='http://h.example/d/a, b 2x'>"),
        (b"<p style=background:url(x)>", b"<p style=background:url(x)>"),
        (b"<style>@import 'x'</style>", b"<style>@import 'x'</style>"),
        (b"<template><a href=x></template>", b"<template><a href=x></template>"),
        (b"<iframe srcdoc='<a href=x>'>", b"<iframe srcdoc='<a href=x>'>"),
        (b"<noscript><a href=x></noscript>", b"<noscript><a href=x></noscript>"),
        (b"<svg><a xlink:href=x></svg>", b"<svg><a xlink:href=x></svg>"),
        (b"<form action=''>", b"<form action=''>"),
        (b"<meta http-equiv=refresh content='0;url=x'>",) * 2,
        (b'<script type=importmap>{"imports":{"a":"./b"}}</script>',) * 2,
    ],
)
def test_a_wrong_output_is_found(site: Site, browser: Any, data: bytes, output: bytes) -> None:
    assert (
        judge(browser, site, [Case("right", data, "http://h.example/d/p.html")]).differences == {}
    )
    assert "spoilt" in judge(browser, site, [_Spoilt(data, output)]).differences


def test_a_reference_that_relbase_does_not_list_is_found(site: Site, browser: Any) -> None:
    case = Case("spoilt", b"<a href=http://a.example/>", "http://h.example/d/p.html")
    case.links = ()
    assert "spoilt" in judge(browser, site, [case]).differences


def test_properties_resolve(site: Site, browser: Any) -> None:
    """Each property of the table reflects a URL, and is not the text of its attribute."""
    rows = [
        (element, attribute)
        for element, attributes in TABLE["html"].items()
        for attribute, (_, property_) in attributes.items()
        if property_
    ]
    page = "".join(
        f"<{element} {attribute}=x type=image></{element}>"
        for element, attribute in rows
        if element != "frame"
    )
    url = "http://h.example/d/p.html"
    site.answers[url] = answer(page.encode(), HTML, Scripting.ON)
    found = read(browser, url).references
    assert {(row.element, row.attribute) for row in found} == {
        row for row in rows if row[0] != "frame"
    }
    assert {row.url for row in found} == {"http://h.example/d/x"}


def test_the_table_has_what_wpt_reflects(data: Path) -> None:
    rows = json.loads(
        (data / "html/extracted/html-reflected-url-attributes.json").read_text("utf-8")
    )
    known = [TABLE["html"][row["element"]][row["attribute"]][1] for row in rows]
    assert known == [row["idl"] for row in rows]
    assert len(rows) > 10
