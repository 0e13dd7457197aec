"""One decoded value of an attribute: what its URLs become, and where they are."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import relbase
from relbase import Policy, Rewriter, Status, rewrite_value, value_links
from relbase.html.foreign import HTML
from relbase.html.places import ANY, PLACES, VML
from relbase.values.syntaxes import Syntax

URL = "http://h.example/d/p?q"
REFRESH = {"HTTP-EQUIV": "Refresh"}

# (element, attribute, value, arguments, what it becomes)
VALUES: list[tuple[str, str, str, dict[str, Any], str]] = [
    ("a", "href", "x", {}, "http://h.example/d/x"),
    ("A", "HREF", "../x", {}, "http://h.example/x"),
    ("a", "href", " x ", {}, " http://h.example/d/x "),
    ("a", "href", "é&amp;", {}, "http://h.example/d/é&amp;"),  # decoded: no escapes
    ("img", "srcset", "a.png 1x, b,c.png 2x", {}, f"{URL[:19]}a.png 1x, {URL[:19]}b,c.png 2x"),
    ("img", "alt", "x", {}, "x"),
    ("nothing", "href", "x", {}, "x"),
    ("meta", "content", "0;url=x", {}, "0;url=x"),
    ("meta", "content", "0;url=x", {"attrs": REFRESH}, "0;url=http://h.example/d/x"),
    ("p", "style", "a:url(x) /* url(y) */", {}, "a:url(http://h.example/d/x) /* url(y) */"),
    ("iframe", "srcdoc", "<a href=x>", {}, "<a href=http://h.example/d/x>"),
    ("svg:use", "xlink:href", "i.svg#a", {}, "http://h.example/d/i.svg#a"),
    ("svg:use", "href", "#a", {}, "#a"),
    ("style", "", "@import 'x'", {}, "@import 'http://h.example/d/x'"),
    ("object", "data", "x", {"attrs": {"codebase": "/c/"}}, "http://h.example/c/x"),
    # Parsers divide `rel`, and have None where an attribute has no value.
    ("link", "href", "#x", {"attrs": {"rel": ["expect"], "disabled": None}}, "#x"),
    ("link", "href", "#x", {"attrs": {"rel": None}}, f"{URL}#x"),
    ("v:fill", "src", "x", {}, "http://h.example/d/x"),
    # The document's own URL is not its base.
    ("form", "action", "", {}, "http://h.example/d/p?q"),
    ("form", "action", "", {"base": "http://b/s/"}, "http://h.example/d/p?q"),
    ("form", "action", "x", {"base": "http://b/s/"}, "http://b/s/x"),
    ("form", "action", "", {"base": "http://b/s/", "url": None}, ""),
    ("a", "href", "x", {"url": ""}, "x"),
    ("a", "href", "#x", {"policy": Policy(keep_fragments=True)}, "#x"),
    ("p", "data-u", "x", {"policy": Policy(attributes={"data-u": "url"})}, f"{URL[:19]}x"),
    ("a", "href", "a b", {"profile": "whatwg"}, "http://h.example/d/a%20b"),
]


@pytest.mark.parametrize(("element", "attribute", "value", "given", "becomes"), VALUES)
def test_what_a_value_becomes(
    element: str, attribute: str, value: str, given: dict[str, Any], becomes: str
) -> None:
    arguments = {"url": URL, **given}
    assert rewrite_value(element, attribute, value, **arguments) == becomes
    held = {name: arguments.pop(name) for name in ("attrs",) if name in arguments}
    assert Rewriter(**arguments).rewrite_value(element, attribute, value, **held) == becomes
    if becomes == value:
        assert rewrite_value(element, attribute, value, **{"url": URL, **given}) is value


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        (None, "attrs must be a mapping, not NoneType"),
        ([("rel", "icon")], "attrs must be a mapping, not list"),
        ({1: "x"}, "a name in attrs must be a str, not int"),
        ({"rel": 1}, "attrs['rel'] must be a str, not int"),
        ({"rel": b"icon"}, "attrs['rel'] must be a str, not bytes"),
    ],
)
def test_other_attributes_that_are_none(attrs: Any, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message + ": give the attributes")):
        rewrite_value("link", "href", "x", url=URL, attrs=attrs)


def test_spans_are_in_characters() -> None:
    value = "é 1x, ü.png 2x"
    links = value_links("img", "srcset", value, url=URL)
    assert [value[slice(*link.span)] for link in links] == ["é", "ü.png"]
    assert [(link.element, link.attribute, link.column) for link in links] == [
        ("img", "srcset", 1),
        ("img", "srcset", 7),
    ]
    assert {link.status for link in links} == {Status.REWRITTEN}
    assert Rewriter(URL).value_links("img", "srcset", value) == links


@pytest.mark.parametrize(
    ("element", "attribute", "piece"),
    [("a", "ping", "x "), ("img", "srcset", "x 1x, "), ("p", "style", "a:url(x);")],
)
def test_growth_is_a_budget(
    element: str, attribute: str, piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("rewriting.budget", "session.values"):
        monkeypatch.setattr(f"relbase.{module}.MAX_GROWTH_BYTES", 1 << 20)
    value, url = piece * 1_000, f"http://h/{'b' * 2_000}/"
    output = rewrite_value(element, attribute, value, url=url)
    assert (1 << 19) < len(output) <= len(value) + (1 << 20)
    assert output.endswith(value[-500:])
    longer = rewrite_value(element, attribute, value, url="http://h/", replace=lambda _: url)
    assert (1 << 19) < len(longer) <= len(value) + (1 << 20)
    links = value_links(element, attribute, value, url=url)
    assert [link.status for link in links[::999]] == [Status.REWRITTEN, Status.KEPT]


def test_a_function_gives_the_urls_of_a_value() -> None:
    def moved(link: relbase.Link) -> str | None:
        return None if link.url is None else link.url.replace("h.example", "new.example")

    value = rewrite_value("img", "srcset", "a, http://h.example/b 2x", url=URL, replace=moved)
    assert value == "http://new.example/d/a, http://new.example/b 2x"


# A value in a row whose condition needs no other attribute is what an element with it holds.
ALONE = sorted(
    (element.decode(), attribute.decode())
    for (namespace, element, attribute), rows in PLACES.items()
    if namespace == HTML
    and element not in {ANY, VML}
    and all(row.when is None for row in rows)
    and isinstance(rows[0].syntax, Syntax)
    and element != b"base"
)


@given(st.sampled_from(ALONE), st.text("ax/.?#:, 12\té", max_size=12))
def test_a_value_is_what_an_element_with_it_holds(place: tuple[str, str], value: str) -> None:
    assert len(ALONE) > 50
    element, attribute = place
    before, after = f'<{element} {attribute}="', '">'
    text = relbase.rewrite_text(f"{before}{value}{after}", url=URL, kind="html")
    assert rewrite_value(element, attribute, value, url=URL) == text[len(before) : -len(after)]


PARTS = (
    *("a", "/b", "../c", "//h", "http:", "x:y", " ", ",", "1x", '"', "'", "&amp;", "é", "#f", "?q"),
    *("", ".", "\\", "{{x}}", "\0", "\r", "\n", "<", ">", "data:,z"),
)


@given(
    st.sampled_from(("a@href", "img@srcset", "svg:a@xlink:href", "LINK@imagesrcset", "a@ping")),
    st.lists(st.sampled_from(PARTS), max_size=6).map("".join),
    st.sampled_from((URL, "http://h/a&b/", "http://é.example/{{x}}/", "ftp://h", "file:///c")),
    st.sampled_from((Policy(), Policy(keep_templates=True), Policy(keep=re.compile("a")))),
)
def test_what_a_rewriter_holds_changes_no_value(
    place: str, value: str, url: str, policy: Policy
) -> None:
    element, attribute = place.split("@")
    rewriter = Rewriter(url, policy=policy)
    # For an element with other attributes nothing is held.
    given_others = rewriter.rewrite_value(element, attribute, value, attrs={"id": ""})
    assert rewriter.rewrite_value(element, attribute, value) == given_others
    assert rewriter.rewrite_value(element, attribute, value) == given_others


def test_what_a_rewriter_holds_is_bounded() -> None:
    rewriter = Rewriter(URL)
    call = rewriter._call  # noqa: SLF001
    held = call.session.around(call).values
    for number in range(1000):
        rewriter.rewrite_value("img", f"data-{number}", "x")
        rewriter.rewrite_value("img", "x" * 5000, "x")
    assert 0 < len(held) <= 256


def test_a_wrong_call_says_what_to_give() -> None:
    rewrite: Any = rewrite_value
    with pytest.raises(TypeError, match="value must be a str, not bytes: give a str"):
        rewrite("a", "href", b"x", url=URL)
    with pytest.raises(TypeError, match="element must be a str"):
        rewrite(None, "href", "x", url=URL)
    with pytest.raises(ValueError, match="url is not absolute"):
        rewrite("a", "href", "x", url="/d/")
