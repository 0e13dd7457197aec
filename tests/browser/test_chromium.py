"""The tables of tests/references against Chromium: the same references, namespaces and bases."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cases import HTML, Case
from referee import judge
from strategies import PLAIN

import relbase

sys.path.insert(0, str(Path(__file__).parents[1] / "references"))

from test_foreign import NAMESPACES
from test_html import BASES, ROWS

if TYPE_CHECKING:
    from served import Site

# Elements with URL attributes, in the order of the tree; templates have theirs in another tree.
VISIT: Final = """
function* all(root) {
  for (const element of root.querySelectorAll('*')) {
    yield element;
    if (element.content) yield* all(element.content);
  }
}
"""
SEEN: Final = (
    VISIT
    + """
const lower = name => name.replace(/[A-Z]/g, letter => letter.toLowerCase());
return arguments[0].map(text => {
  const page = new DOMParser().parseFromString(text, 'text/html');
  const found = [];
  for (const element of all(page))
    for (const attribute of element.attributes)
      if (['href', 'src', 'xlink:href', 'srcset'].includes(attribute.name))
        found.push(lower(element.localName) + '@' + attribute.name + '=' + attribute.value);
  return found;
})"""
)
NAMESPACE: Final = (
    VISIT
    + """
return arguments[0].map(text => {
  const page = new DOMParser().parseFromString(text, 'text/html');
  for (const element of all(page))
    if (element.id == 'me') return element.namespaceURI;
})"""
)

# By the design relbase sees here what browsers do not, or the order of the tree is another.
DEPARTURES: Final = ("<!--[if", "<![if", "<noscript", "<image ", "<frameset><a", "style", "\u017f")


def test_the_same_references(browser: Any) -> None:
    browser.get("about:blank")
    texts = [text for text, _ in ROWS if not any(part in text.lower() for part in DEPARTURES)]
    wrong = []
    for text, seen in zip(texts, browser.execute_script(SEEN, texts), strict=True):
        links = relbase.links(text.encode(), url=PLAIN, kind="html")
        found = [
            f"{link.element}@{link.attribute}={link.reference}" for link in links if link.attribute
        ]
        if found != seen:
            wrong.append((text, found, seen))
    assert not wrong
    assert len(texts) > 50


def test_the_same_namespaces(browser: Any) -> None:
    browser.get("about:blank")
    texts = [f"{markup}<style id=me><a></style>" for markup, _ in NAMESPACES]
    uris = browser.execute_script(NAMESPACE, texts)
    names = {"1998/Math/MathML": "math", "2000/svg": "svg", "1999/xhtml": "html"}
    seen = [names[uri.removeprefix("http://www.w3.org/")] for uri in uris]
    wrong = [
        (markup, ours, theirs)
        for (markup, ours), theirs in zip(NAMESPACES, seen, strict=True)
        if ours != theirs
    ]
    assert not wrong


def test_the_same_bases(site: Site, browser: Any) -> None:
    """The base of each document, and what the references of all of them resolve to."""
    texts = dict.fromkeys(text for text, _ in (*BASES, *ROWS))
    cases = [
        Case(text, text.encode(), f"http://h.example/{number}/d/p.html", f"{HTML}; charset=utf-8")
        for number, text in enumerate(texts)
    ]
    totals = judge(browser, site, cases, in_frames=True)
    assert totals.differences == {}
    assert totals.documents >= 150
    assert totals.rewritten > 90
