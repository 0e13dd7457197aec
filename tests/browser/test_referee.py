"""The browser as referee over the fixtures and the WPT documents with `<base>` (law 10)."""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from cases import HTML, Case, normal
from counts import Counts
from exceptions import Rule
from referee import judge
from resolved import TABLE, Scripting, answer, read
from served import Site
from tables import WPT, by_wpt, load_table

import relbase
from relbase import Link, Status

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


def wpt(data: Path) -> list[Case]:
    """Return the WPT documents with a base element, with the names that their server fills in."""
    root = data / "html/wpt"
    return [
        Case(name := str(path.relative_to(root)), by_wpt(text), f"{WPT}/{name}")
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


# --- The referee itself: what is spoilt is found ---

URL: Final = "http://h.example/d/p.html"
Links = tuple[Link, ...]


def _rules(browser: Any, site: Site, data: bytes) -> set[Rule]:
    """The rules that excuse something of a document in which all is right."""
    totals = judge(browser, site, [Case("right", data, URL)])
    assert totals.differences == {}
    return set(totals.known)


def assert_found(
    browser: Any,
    site: Site,
    data: bytes,
    output: bytes | None = None,
    links: Callable[[Links], Iterable[Link]] | None = None,
) -> None:
    """Assert that another output or other links are seen, where no rule excuses the right ones."""
    assert _rules(browser, site, data) <= {Rule.LOCAL, Rule.CUSTOM}
    case = Case("spoilt", data, URL)
    if output is not None:
        case.output = output
    if links is not None:
        case.links = tuple(links(case.links))
    assert "spoilt" in judge(browser, site, [case]).differences


def kept(links: Links) -> Iterator[Link]:
    return (link._replace(status=Status.KEPT) for link in links)


@pytest.mark.parametrize(
    ("data", "output"),
    [
        (b"<a href=x>", b"<a href=http://h.example/x>"),
        (b"<a href=x>",) * 2,
        (b"<a href=x>", b""),
        (b"<img srcset='a, b 2x'>", b"<img srcset='http://h.example/d/a, b 2x'>"),
        (b"<p style=background:url(x)>",) * 2,
        (b"<style>@import 'x'</style>",) * 2,
        (b"<template><a href=x></template>",) * 2,
        (b"<iframe srcdoc='<a href=x>'>",) * 2,
        (b"<noscript><a href=x></noscript>",) * 2,
        (b"<svg><a xlink:href=x></svg>",) * 2,
        (b"<form action=''>",) * 2,
        (b"<meta http-equiv=refresh content='0;url=x'>",) * 2,
        (b'<script type=importmap>{"imports":{"a":"./b"}}</script>',) * 2,
        # another escape
        (b"<img srcset='a%3Fb 2x'>", b"<img srcset='http://h.example/d/a?b 2x'>"),
        (b"<img srcset='a%2Fb 2x'>", b"<img srcset='http://h.example/d/a/b 2x'>"),
        (b"<img srcset='a%2Cb 2x'>", b"<img srcset='http://h.example/d/a,b 2x'>"),
        (b"<a href=http://a/ ping='x%23y'>", b"<a href=http://a/ ping='http://h.example/d/x#y'>"),
        (
            b"<meta http-equiv=refresh content='9;url=x%3Fy'>",
            b"<meta http-equiv=refresh content='9;url=http://h.example/d/x?y'>",
        ),
    ],
)
def test_a_wrong_output_is_found(site: Site, browser: Any, data: bytes, output: bytes) -> None:
    assert_found(browser, site, data, output)


def test_a_reference_that_relbase_does_not_list_is_found(site: Site, browser: Any) -> None:
    assert_found(browser, site, b"<a href=http://a.example/>", links=lambda _: ())


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
    assert_found(browser, site, data, data, kept)


@pytest.mark.parametrize(
    ("data", "rules"),
    [
        (b"<svg><use href=#s /></svg>", {Rule.LOCAL}),
        (b"<svg><a><animate attributeName=href to=#s /></a></svg>", {Rule.LOCAL}),
        (
            b"<style>@import '/s';p{--x:url(x);background:var(--x)}</style><p style='--y:url(y)'>",
            {Rule.CUSTOM},
        ),
        # It is kept (rule 6), and means about:srcdoc wherever the output is opened.
        (b"<iframe srcdoc='<form action><button formaction>'></iframe>", set()),
        # An empty value of SVG is no reference.
        (b"<map><area href=''></map><svg><area href='' /><use href='' /></svg>", {Rule.EMPTY}),
        # What must be escaped.
        (b"<base href=/,><img srcset='?q, 2x'>", set()),
        (b'<base href="/it\'s/"><meta http-equiv=refresh content="9;url=\'x\'">', {Rule.ESCAPED}),
    ],
)
def test_what_a_rule_excuses(site: Site, browser: Any, data: bytes, rules: set[Rule]) -> None:
    assert _rules(browser, site, data) == rules


def test_a_custom_property_excuses_no_other_css(site: Site, browser: Any) -> None:
    data = b"<style>@import '/s';p{--x:url(x);background:url(y)}</style><p>"

    def keep_y(links: Links) -> Iterator[Link]:
        return (
            one for link in links for one in (kept((link,)) if "y" in link.reference else [link])
        )

    assert_found(browser, site, data, data.replace(b"/s", b"http://h.example/s"), keep_y)


@pytest.mark.parametrize(("data", "count"), [(b"<a href=#s>", 0), (b"<a href=x>", 1)])
def test_a_policy_excuses_what_it_is_for(site: Site, browser: Any, data: bytes, count: int) -> None:
    case = Case("right", data, URL)
    case.policy = relbase.Policy(keep_fragments=True)
    case.output = data
    case.links = tuple(kept(case.links))
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
    def of_words(links: Links) -> Iterator[Link]:
        return (link for link in links if link.reference)

    assert_found(browser, site, data, data.replace(b"base", b"bgsound"), of_words)


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
    assert "spoilt" in judge(browser, site, [_OnAnother("spoilt", data, URL)]).differences


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
    def twice(links: Links) -> Iterator[Link]:
        return (one for link in links for one in (link, link._replace(reference="other")))

    assert_found(browser, site, data, links=twice)


@pytest.mark.parametrize("status", [Status.ABSOLUTE, Status.UNRESOLVED])
def test_a_link_that_says_another_url_is_found(site: Site, browser: Any, status: Status) -> None:
    def another(links: Links) -> Iterator[Link]:
        return (link._replace(url="http://a.example/b", status=status) for link in links)

    assert_found(browser, site, b"<a href=HTTP://A.example/b/../c>", links=another)


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
    site.answers[URL] = answer(page.encode(), HTML, Scripting.ON)
    found = read(browser, URL).references
    assert {(row.element, row.attribute) for row in found} == {
        row for row in rows if row[0] != "frame"
    }
    assert {row.url for row in found} == {"http://h.example/d/x"}


def test_the_table_has_what_wpt_reflects(data: Path) -> None:
    rows = load_table(data / "html/extracted/html-reflected-url-attributes.json")
    known = [TABLE["html"][row["element"]][row["attribute"]][1] for row in rows]
    assert known == [row["idl"] for row in rows]
    assert len(rows) > 10
