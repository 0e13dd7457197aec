"""The browser as referee over the fixtures and the WPT documents with `<base>` (law 10)."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from cases import HTML, Case, normal
from exceptions import Rule
from referee import judge
from resolved import TABLE, Scripting, answer, read
from tables import load_table

import relbase

if TYPE_CHECKING:
    from counts import Counts
    from served import Site

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"


def fixtures() -> list[Case]:
    """Return the HTML fixtures that can be served.

    Headers that state a base mean nothing to a browser: the document is served at the URL that
    they make the base around it. Where that is not a URL of HTTP, nothing can be served.
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
    # Browsers know no UTF-7, so they read it as another charset, and resolve what is in the clear.
    if path.stem == "charset-utf-7":
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


# No base is known around these, or none of HTTP; and UTF-7.
NOT_SERVED: Final = 6


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


def _rules(browser: Any, site: Site, data: bytes) -> set[Rule]:
    """The rules that excuse something of a document in which all is right."""
    totals = judge(browser, site, [Case("right", data, "http://h.example/d/p.html")])
    assert totals.differences == {}
    return set(totals.known)


@pytest.mark.parametrize(
    "data",
    [
        b"<a href=x>",
        b"<a href=#s>",
        b"<area href=#s>",
        b"<link rel=x href=#s>",
        b"<img src=x>",
        b"<img src=#s>",
        b"<svg><a href=#s /></svg>",
        b"<svg><use href=x /></svg>",
        b"<svg><image src=#s /></svg>",
        b"<p style=background:url(x)>",
        b"<style>@import 'x'</style>",
        b"<form action=''>",
        b"<form action>",
        b"<button formaction=''>",
    ],
)
def test_what_is_kept_without_a_rule_is_found(site: Site, browser: Any, data: bytes) -> None:
    assert _rules(browser, site, data) == set()
    case = _Spoilt(data, data)
    case.links = tuple(link._replace(status=relbase.Status.KEPT) for link in case.links)
    assert "spoilt" in judge(browser, site, [case]).differences


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"<svg><use href=#s /></svg>", Rule.LOCAL),
        (b"<svg><a><animate attributeName=href to=#s /></a></svg>", Rule.LOCAL),
        (
            b"<style>@import '/s';p{--x:url(x);background:var(--x)}</style><p style='--y:url(y)'>",
            Rule.CUSTOM,
        ),
    ],
)
def test_what_is_kept_by_a_rule(site: Site, browser: Any, data: bytes, rule: Rule) -> None:
    assert rule in _rules(browser, site, data)


def test_an_empty_action_of_srcdoc_needs_no_rule(site: Site, browser: Any) -> None:
    """It is kept (rule 6), and means about:srcdoc wherever the output is opened."""
    data = b"<iframe srcdoc='<form action><button formaction>'></iframe>"
    assert _rules(browser, site, data) == set()


def test_a_custom_property_excuses_no_other_css(site: Site, browser: Any) -> None:
    data = b"<style>@import '/s';p{--x:url(x);background:url(y)}</style><p>"
    case = _Spoilt(data, data.replace(b"/s", b"http://h.example/s"))
    case.links = tuple(
        link._replace(status=relbase.Status.KEPT if "y" in link.reference else link.status)
        for link in case.links
    )
    assert "spoilt" in judge(browser, site, [case]).differences


@pytest.mark.parametrize(("data", "count"), [(b"<a href=#s>", 0), (b"<a href=x>", 1)])
def test_a_policy_excuses_what_it_is_for(site: Site, browser: Any, data: bytes, count: int) -> None:
    case = Case("right", data, "http://h.example/d/p.html")
    case.policy = relbase.Policy(keep_fragments=True)
    case.output = data
    case.links = tuple(link._replace(status=relbase.Status.KEPT) for link in case.links)
    assert len(judge(browser, site, [case]).differences) == count


@pytest.mark.parametrize(
    "data",
    [
        b"<base href=/e/><a href=''>",
        b"<base href=/e/><map><area href=' '></map>",
        b"<base href=/e/><svg><a href='' /></svg>",
        b"<base href=/e/><svg><a xlink:href='' /></svg>",
        b"<form action=''>",
        b"<button formaction=''>",
        b"<input type=submit formaction=' '>",
    ],
)
def test_an_empty_reference_is_not_overlooked(site: Site, browser: Any, data: bytes) -> None:
    assert _rules(browser, site, data) == set()
    case = _Spoilt(data, data.replace(b"base", b"bgsound"))
    case.links = tuple(link for link in case.links if link.reference)
    assert "spoilt" in judge(browser, site, [case]).differences


def test_an_empty_value_of_svg_is_no_reference(site: Site, browser: Any) -> None:
    data = b"<map><area href=''></map><svg><area href='' /><use href='' /></svg>"
    assert _rules(browser, site, data) == {Rule.EMPTY}


@pytest.mark.parametrize(
    ("markup", "reference", "wrong"),
    [
        (b"<img srcset='%s 2x'>", b"a%3Fb", b"a?b"),
        (b"<img srcset='%s 2x'>", b"a%2Fb", b"a/b"),
        (b"<a href=http://a.example ping='%s'>", b"x%23y", b"x#y"),
        (b"<meta http-equiv=refresh content='9;url=%s'>", b"x%3Fy", b"x?y"),
        (b"<img srcset='%s 2x'>", b"a%2Cb", b"a,b"),
    ],
)
def test_another_escape_is_found(
    site: Site, browser: Any, markup: bytes, reference: bytes, wrong: bytes
) -> None:
    assert _rules(browser, site, markup % reference) == set()
    case = _Spoilt(markup % reference, markup % (b"http://h.example/d/" + wrong))
    assert "spoilt" in judge(browser, site, [case]).differences


@pytest.mark.parametrize(
    "data",
    [
        b"<base href=/,><img srcset='?q, 2x'>",
        b'<base href="/it\'s/"><meta http-equiv=refresh content="9;url=\'x\'">',
    ],
)
def test_what_must_be_escaped(site: Site, browser: Any, data: bytes) -> None:
    assert _rules(browser, site, data) <= {Rule.ESCAPED}


class _OnAnother(Case):
    """A case with its last `<base>`, which another decides for in a browser."""

    @property
    def base(self) -> relbase.Base:
        *_, last = self.bases
        return replace(super().base, url=normal(self.resolved(last.reference, last.base)))


TWO: Final = b"<base href=/first/><base href=/last/><a href=x>"


@pytest.mark.parametrize(
    "data",
    [
        TWO,
        TWO + b"<table>",
        b"<table></table>" + TWO,
        b"<table><tr></table>" + TWO + b"<table>",
        TWO + b"<noscript>a</noscript>",
        b"<noscript>a</noscript>" + TWO,
        b"<base href=/first/><table><base href=/last/></table>",
    ],
)
def test_another_base_is_found(site: Site, browser: Any, data: bytes) -> None:
    assert _rules(browser, site, data) == set()
    case = _OnAnother("spoilt", data, "http://h.example/d/p.html")
    assert "spoilt" in judge(browser, site, [case]).differences


@pytest.mark.parametrize(
    "data",
    [
        b"<a href=x>t</a><frameset>",
        b"<a href=x>t</a><frameset></frameset><a href=y>",
        b"<link rel=x href=x><frameset>",
        b"<img src=x><template></template><iframe srcdoc=y></iframe>",
        b"<template></template><iframe srcdoc=y></iframe><a href=x>",
        b"<iframe srcdoc='<a href=x>'></iframe><template></template>",
    ],
)
def test_what_only_relbase_sees_is_found(site: Site, browser: Any, data: bytes) -> None:
    assert _rules(browser, site, data) == set()
    case = Case("spoilt", data, "http://h.example/d/p.html")
    case.links = tuple(
        other for link in case.links for other in (link, link._replace(reference="other"))
    )
    assert "spoilt" in judge(browser, site, [case]).differences


@pytest.mark.parametrize("status", [relbase.Status.ABSOLUTE, relbase.Status.UNRESOLVED])
def test_a_link_that_says_another_url_is_found(
    site: Site, browser: Any, status: relbase.Status
) -> None:
    data = b"<a href=HTTP://A.example/b/../c>"
    assert _rules(browser, site, data) == set()
    case = Case("spoilt", data, "http://h.example/d/p.html")
    case.links = tuple(
        link._replace(url="http://a.example/b", status=status) for link in case.links
    )
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
    rows = load_table(data / "html/extracted/html-reflected-url-attributes.json")
    known = [TABLE["html"][row["element"]][row["attribute"]][1] for row in rows]
    assert known == [row["idl"] for row in rows]
    assert len(rows) > 10
