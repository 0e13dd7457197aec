"""What is open in SVG and MathML. Each row was seen in Chromium by DOMParser."""

from __future__ import annotations

import pytest

from relbase.references import html
from relbase.references.foreign import HTML, MATH, MAX_DEPTH, SVG

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
    ("<style></style><div><svg></div>", HTML),
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


@pytest.mark.parametrize("more", [-2, -1, 0, 1, 10])
def test_beyond_the_limit_elements_are_counted(more: int) -> None:
    opened, count = "<svg>" * (MAX_DEPTH + more), MAX_DEPTH + more
    assert style_namespace(opened) == SVG
    assert style_namespace(opened + "</svg>" * (count - 1)) == SVG
    assert style_namespace(opened + "</svg>" * count) == HTML
