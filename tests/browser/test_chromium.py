"""The tables of tests/html against Chromium: the same namespaces, bases and references."""

import sys
from pathlib import Path
from typing import Any, Final

from cases import numbered
from referee import judge_all

sys.path.insert(0, str(Path(__file__).parents[1] / "html"))

from served import Site
from test_foreign import NAMESPACES
from test_tokens import BASES, ROWS

# Templates have their elements in another tree.
NAMESPACE: Final = """
function* all(root) {
  for (const element of root.querySelectorAll('*')) {
    yield element;
    if (element.content) yield* all(element.content);
  }
}
return arguments[0].map(text => {
  const page = new DOMParser().parseFromString(text, 'text/html');
  for (const element of all(page))
    if (element.id == 'me') return element.namespaceURI;
})"""


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
    """And what the references of each document resolve to."""
    texts = dict.fromkeys(text for text, _ in (*BASES, *ROWS))
    cases = numbered((text, text.encode()) for text in texts)
    totals = judge_all(browser, site, cases, in_frames=True)
    assert totals.documents >= 150
    assert totals.rewritten > 90
