"""XHTML and SVG in a browser: rewritten and opened elsewhere, every link is as it was at home."""

from collections.abc import Iterator
from typing import Any, Final

from counts import Counts
from served import Answer, Site

import relbase

XHTML: Final = "application/xhtml+xml"
SVG: Final = "image/svg+xml"

_HEAD: Final = (
    '<?xml version="1.0" encoding="{}"?>\n<html xmlns="http://www.w3.org/1999/xhtml"{}><head>'
)
_LINKS: Final = (
    '<a href="x?a=1&amp;b=2">x</a><a href="#f"/><a href=""/><A href="no"/><img src="../i.png"/>'
    '<img srcset="a.png 1x, b.png 2x" alt=""/><form action=""/><form action="y"/>'
    "<p style='background:url(\"z.png\")'/><video poster='p.png'/><blockquote cite='/c'/>"
    "<link rel='stylesheet' href='s.css'/><input type='image' src='i'/><object data='o'/>"
)
_DRAWING: Final = (
    '<style>a {{ fill: url(#g) }} @import "s.css";</style>'
    '<a href="x" {0}:href="no"><text>x</text></a>'
    '<a {0}:href="y"/><use href="#a"/><image {0}:href="i.png"/><feImage href="f.png"/>'
    '<linearGradient id="g" {0}:href="#h"/><set attributeName="href" to="t"/><a href="#top"/>'
)
_BASES: Final = {
    "no base": ("", ""),
    "base": ("", '<base href="/b/"/>'),
    "xml:base": (' xml:base="/no/"', ""),
    "both": (' xml:base="/no/"', '<base href="b/"/>'),
    "base in a template": ("", '<template><base href="/no/"/></template>'),
    "base in no namespace": ("", '<base xmlns="" href="/no/"/>'),
    "base by a prefix": ("", '<h:base xmlns:h="http://www.w3.org/1999/xhtml" href="/b/"/>'),
    "base in SVG": ("", '<base xmlns="http://www.w3.org/2000/svg" href="/no/"/>'),
    "base in a section": ("", '<style><![CDATA[<base href="/no/"/>]]></style>'),
}


def documents() -> Iterator[tuple[str, str, bytes]]:
    """Yield a name, a media type and a document."""
    for name, (attributes, base) in _BASES.items():
        start = _HEAD.format("UTF-8", attributes)
        page = f"{start}{base}</head><body>{_LINKS}</body></html>"
        yield f"XHTML, {name}", XHTML, page.encode()
        drawing = (
            f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink"'
            f"{attributes}>{base}{_DRAWING.format('l')}</svg>"
        )
        yield f"SVG, {name}", SVG, drawing.encode()
    inside = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:k="http://www.w3.org/1999/xlink">{}</svg>'
    )
    start = _HEAD.format("UTF-8", "")
    page = f"{start}</head><body>{inside.format(_DRAWING.format('k'))}</body></html>"
    yield "SVG in XHTML", XHTML, page.encode()
    drawing = inside.format(
        f'<foreignObject><body xmlns="http://www.w3.org/1999/xhtml">{_LINKS}</body></foreignObject>'
    )
    yield "XHTML in SVG", SVG, drawing.encode()
    for charset in ("utf-16", "windows-1251", "shift_jis"):
        page = f"{_HEAD.format(charset, '')}</head><body><a href='ж?ж'>ж</a></body></html>"
        yield f"XHTML in {charset}", XHTML, page.encode(charset)
    strict = (
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" '
        '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">'
    )
    root = '<html xmlns="http://www.w3.org/1999/xhtml">'
    page = f"{strict}{root}<head/><body>&nbsp;{_LINKS}</body></html>"
    yield "XHTML with a DTD", XHTML, page.encode()


# What a browser makes of each reference. A fragment in SVG stays in the document that it is in.
SEEN: Final = """
const seen = [];
for (const element of document.querySelectorAll('*')) {
  for (const name of ['href', 'src', 'action', 'poster', 'cite', 'data']) {
    let value = element[name];
    if (value == null || element.localName == 'base') continue;
    if (value.baseVal !== undefined) {
      const isLocal = value.baseVal.startsWith('#') && element.localName != 'a';
      value = isLocal ? value.baseVal : new URL(value.baseVal, element.baseURI).href;
    }
    seen.push(`${element.localName} ${name} ${value}`);
  }
  seen.push(`${element.localName} ${getComputedStyle(element).backgroundImage}`);
}
return seen;
"""


def test_xml(site: Site, browser: Any, counts: Counts) -> None:
    differ: dict[str, tuple[str, str]] = {}
    compared = run = 0
    for run, (name, type_, data) in enumerate(documents(), 1):
        url = f"http://h.example/{run}/d/p.xml"
        headers = {"Content-Type": type_}
        result = relbase.rewrite(data, url=url, headers=headers, profile="whatwg")
        assert result.changed, name
        seen = []
        for place, body in ((url, data), (f"http://elsewhere.test/deep/{run}.xml", result.data)):
            site.answers[place] = Answer(body, headers)
            browser.get(place)
            seen.append(browser.execute_script(SEEN))
        compared += sum("http:" in reference for reference in seen[0])
        assert any("http:" in reference for reference in seen[0]), name
        if seen[0] != seen[1]:
            pairs = zip(*seen, strict=True)
            differ[name] = next((one, other) for one, other in pairs if one != other)
    assert differ == {}
    counts("browser: XHTML and SVG", compared, 0, f"{run} documents")
