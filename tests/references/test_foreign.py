"""What is open in SVG and MathML. Each row was seen in Chromium by DOMParser."""

from __future__ import annotations

import pytest
from growth import assert_linear_from_10_ms

from relbase.references import html
from relbase.references.foreign import HTML, MATH, MAX_DEPTH, SVG, ForeignContent

# After each markup `<style><a></style>` is written: in HTML it is raw text, in SVG and MathML
# it has an element in it. (markup, the namespace of that style element)
NAMESPACES = [
    ("", HTML),
    ("<svg>", SVG),
    ("<math>", MATH),
    ("<SVG>", SVG),
    ("<svg/>", HTML),
    ("<svg />", HTML),
    ("<svg a='/'>", SVG),
    ("<svg a=/>", SVG),  # the slash is a value
    ("<svg></svg>", HTML),
    ("<svg></SVG >", HTML),
    ("<svg><g>", SVG),
    ("<svg><g></g>", SVG),
    ("<svg><g></svg>", HTML),
    ("<svg><g/></svg>", HTML),
    ("<svg><circle></g>", SVG),
    ("<svg><svg></svg>", SVG),
    ("<svg><svg></svg></svg>", HTML),
    ("<svg><math></svg>", HTML),
    ("<svg></math>", SVG),
    ("<math></svg>", MATH),
    # breakout
    ("<svg><p>", HTML),
    ("<svg><g><div>", HTML),
    ("<svg></p>", HTML),
    ("<svg></br>", HTML),
    ("<svg><br>", HTML),
    ("<svg><font>", SVG),
    ("<svg><font color=1>", HTML),
    ("<svg><font FACE>", HTML),
    ("<svg><font size=''>", HTML),
    ("<svg><font style=x>", SVG),
    ("<svg><a>", SVG),
    ("<svg><form>", SVG),
    ("<svg><section>", SVG),
    ("<math><mi><svg><p>", HTML),
    # integration points of HTML
    ("<svg><foreignObject>", HTML),
    ("<svg><FOREIGNOBJECT>", HTML),
    ("<svg><desc>", HTML),
    ("<svg><title>", HTML),
    ("<svg><title/>", SVG),
    ("<svg><desc></desc>", SVG),
    ("<svg><foreignObject><div></foreignObject>", HTML),  # the end tag is ignored
    ("<svg><foreignObject><div></div></foreignObject>", SVG),
    ("<svg><foreignObject><div></svg>", HTML),
    ("<svg><foreignObject><div></svg><g>", HTML),
    ("<svg><foreignObject></svg>", HTML),
    ("<svg><foreignObject></svg><p><svg>", SVG),
    ("<svg><foreignObject><svg></foreignObject>", SVG),
    ("<svg><foreignObject><svg></foreignObject></svg></foreignObject></svg>", HTML),
    ("<svg><foreignObject><p></foreignObject>", HTML),
    ("<svg><g></foreignObject>", SVG),
    ("<math><foreignObject>", MATH),
    ("<math><title>", MATH),
    # text integration points of MathML
    ("<math><mi>", HTML),
    ("<math><mo>", HTML),
    ("<math><mn>", HTML),
    ("<math><ms>", HTML),
    ("<math><mtext>", HTML),
    ("<math><mrow>", MATH),
    ("<math><mi><mglyph>", MATH),
    ("<math><mi><malignmark>", MATH),
    ("<math><mi><b><mglyph>", HTML),
    ("<math><mi></mi>", MATH),
    ("<svg><mi>", SVG),
    # annotation-xml
    ("<math><annotation-xml>", MATH),
    ("<math><annotation-xml encoding=x>", MATH),
    ('<math><annotation-xml encoding="Text/HTML">', HTML),
    ("<math><annotation-xml encoding=application/XHTML+xml>", HTML),
    ("<math><annotation-xml ENCODING=text/html>", HTML),
    ("<math><annotation-xml encoding=text&#47;html>", HTML),
    ("<math><annotation-xml><svg>", SVG),
    ("<math><mrow><svg>", MATH),
    ("<math><annotation-xml encoding=text/html><p></annotation-xml>", HTML),
    ("<svg><annotation-xml encoding=text/html>", SVG),
    # end tags that close HTML elements around all that is foreign
    ("<div><svg></div>", HTML),
    ("<b><svg></b>", HTML),
    ("<a><svg></a>", HTML),
    ("<svg><a></a>", SVG),
    ("<svg></a>", SVG),
    ("<svg></div>", SVG),
    ("<div></div><svg></div>", SVG),
    ("<div><div></div><svg></div>", HTML),
    ("<h1><svg></h2>", HTML),
    ("<table><td><svg></td>", HTML),
    ("<table><td><svg></table>", HTML),
    ("<table><td><svg><desc></td>", HTML),
    ("<table><td><svg><desc><b></td>", HTML),
    ("<div><svg><desc></div><g>", HTML),
    ("<div><svg><desc></div></desc>", SVG),
    ("<b><svg><desc></b></desc>", SVG),
    ("<svg></body>", SVG),
    ("<svg></html>", SVG),
    ("<svg></head>", SVG),
    ("<form><svg></form>", SVG),
    ("<svg></img>", SVG),
    ("<svg><foreignObject><table><svg></table>", HTML),
    ("<svg><foreignObject><table><svg></table></foreignObject>", SVG),
    ("<template><svg></template>", HTML),
    ("<template><svg><desc></template>", HTML),
    ("<svg></template>", SVG),
    ("<svg><template>", SVG),
    ("<button><svg></button>", HTML),
    ("<span><svg></span>", HTML),
    ("<!--<div>--><svg></div>", SVG),
    ("<title><div></title><svg></div>", SVG),
    # implied end tags inside an integration point
    ("<svg><foreignObject><p><div></foreignObject>", HTML),
    ("<svg><foreignObject><p><div></div></foreignObject>", SVG),
    ("<svg><foreignObject><li><li></li></foreignObject>", SVG),
    ("<svg><foreignObject><ul><li>x<li>y</ul></foreignObject>", SVG),
    ("<svg><foreignObject><img></foreignObject>", SVG),
    ("<svg><foreignObject><b><i></b></foreignObject>", SVG),
    ("<svg><foreignObject><p><p></foreignObject>", HTML),
]


def style_namespace(markup: str) -> str:
    text = f"{markup}<style id=me><a></style>".encode()
    return next(
        found.namespace
        for found in html.elements(text, 0, len(text))
        if isinstance(found, html.Element) and b"id=me" in text[found.attributes : found.end]
    )


@pytest.mark.parametrize(("markup", "namespace"), NAMESPACES)
def test_namespace(markup: str, namespace: str) -> None:
    assert style_namespace(markup) == namespace


def never(_name: bytes) -> bool:
    return False


def opened(foreign: ForeignContent, name: bytes) -> str | None:
    return foreign.start(name, self_closing=False, html_annotation=False, font_breakout=False)


def test_the_stack_is_empty_when_html_goes_on() -> None:
    foreign = ForeignContent()
    assert not foreign
    assert opened(foreign, b"svg") == SVG
    assert foreign
    assert foreign.allows_cdata
    assert opened(foreign, b"desc") == SVG
    assert foreign.allows_cdata
    assert opened(foreign, b"b") == HTML
    assert not foreign.allows_cdata
    foreign.end(b"svg", never)
    assert foreign.current.name == b"b"
    foreign.end(b"b", never)
    foreign.end(b"svg", never)
    assert not foreign
    assert opened(foreign, b"svg") == SVG
    assert opened(foreign, b"p") is None
    assert not foreign


def test_an_end_tag_is_asked_for_only_when_nothing_inside_matches() -> None:
    asked: list[bytes] = []

    def ask(name: bytes) -> bool:
        asked.append(name)
        return True

    foreign = ForeignContent()
    opened(foreign, b"svg")
    opened(foreign, b"desc")
    opened(foreign, b"i")
    foreign.end(b"b", ask)  # the scope ends at desc
    foreign.end(b"i", ask)
    foreign.end(b"desc", ask)
    assert asked == []
    foreign.end(b"b", ask)
    assert asked == [b"b"]
    assert not foreign


@pytest.mark.parametrize("depth", [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1])
def test_beyond_the_limit_elements_are_counted(depth: int) -> None:
    foreign = ForeignContent()
    opened(foreign, b"svg")
    for _ in range(depth):
        opened(foreign, b"g")
    for _ in range(depth):
        foreign.end(b"g", never)
        assert foreign
    foreign.end(b"svg", never)
    assert not foreign


def test_a_link_beyond_the_limit_is_found() -> None:
    text = b"<svg>" + b"<g>" * (MAX_DEPTH + 10) + b"<a href=x>"
    *_, last = html.elements(text, 0, len(text))
    assert isinstance(last, html.Element)
    assert (last.namespace, last.name) == (SVG, b"a")


@pytest.mark.parametrize(
    "unit",
    [b"<g>", b"<g></g>", b"</g>", b"</b>", b"<desc><b></desc>", b"<p><svg>", b"<svg></div>"],
)
def test_time_is_linear(unit: bytes) -> None:
    def scan(text: bytes) -> None:
        for _ in html.elements(text, 0, len(text)):
            pass

    assert_linear_from_10_ms(scan, lambda size: b"<b><svg>" + unit * size)
