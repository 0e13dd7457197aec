"""relbase against Chromium: the same references in the same documents, and the same URLs (law 10).

Not in the default run: `pytest tests/browser` starts a headless Chromium by its chromedriver. It
skips when either or selenium is missing, or when RELBASE_BROWSER is not set.
"""

from __future__ import annotations

import os
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from strategies import PLAIN, pages

import relbase

sys.path.insert(0, str(Path(__file__).parents[1] / "references"))

from test_foreign import NAMESPACES
from test_html import BASES, ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

EXECUTABLES: Final = ("chromium", "chromium-browser", "google-chrome")

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
# The base of a document as its URL says; DOMParser gives a document the URL of the page.
BASE: Final = """
return arguments[0].map(text => {
  const page = new DOMParser().parseFromString(text, 'text/html');
  return [page.baseURI, document.baseURI];
})"""
# Of a document that was opened: each IDL attribute that resolves a URL.
RESOLVED: Final = (
    VISIT
    + """
const names = {A: ['href'], AREA: ['href'], IMG: ['src', 'lowsrc', 'longDesc'], LINK: ['href'],
  SCRIPT: ['src'], IFRAME: ['src', 'longDesc'], FORM: ['action'], INPUT: ['src', 'formAction'],
  BUTTON: ['formAction'], OBJECT: ['data', 'codeBase'], BLOCKQUOTE: ['cite'], Q: ['cite'],
  INS: ['cite'], DEL: ['cite'], VIDEO: ['src', 'poster'], AUDIO: ['src'], SOURCE: ['src'],
  TRACK: ['src'], EMBED: ['src'], FRAME: ['src', 'longDesc']};
const found = [];
for (const element of document.querySelectorAll('*'))
  if (element.namespaceURI.endsWith('xhtml'))
    for (const name of names[element.tagName] || [])
      if (element.hasAttribute(name.toLowerCase())) {
        // An empty value is a reference in links and forms alone (design rule 6).
        const isEmpty = element.getAttribute(name.toLowerCase()).trim() == '';
        const isNone = isEmpty && !['A', 'AREA', 'FORM'].includes(element.tagName)
          && name != 'formAction';
        found.push([element.tagName, name, isNone ? '' : element[name]]);
      }
return found"""
)


@cache
def driver() -> Any:
    """Return a headless browser, or skip."""
    if not os.environ.get("RELBASE_BROWSER"):
        pytest.skip("RELBASE_BROWSER is not set: these tests start a browser")
    webdriver = pytest.importorskip("selenium.webdriver")
    binary = next(filter(None, map(shutil.which, EXECUTABLES)), None)
    chromedriver = shutil.which("chromedriver")
    if binary is None or chromedriver is None:
        pytest.skip("chromium or chromedriver is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("headless", "no-sandbox", "disable-gpu", "no-first-run"):
        options.add_argument(f"--{argument}")
    # Nothing may be fetched: every host but the machine itself is unknown, and is not asked for.
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND")
    options.add_argument("--disable-background-networking")
    service = webdriver.chrome.service.Service(chromedriver)
    return webdriver.Chrome(options=options, service=service)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser for all tests of this file."""
    yield driver()
    driver().quit()


# By the design relbase sees here what browsers do not, or the order of the tree is another.
DEPARTURES: Final = ("<!--[if", "<![if", "<noscript", "<image ", "<frameset><a", "style", "\u017f")


def test_the_same_references(browser: Any) -> None:
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


# DOMParser has no scripting, so that noscript is markup there.
def test_the_same_bases(browser: Any) -> None:
    rows = [(text, expected) for text, expected in BASES if "noscript" not in text]
    answers = browser.execute_script(BASE, [text for text, _ in rows])
    wrong = [
        (text, expected, base)
        for (text, expected), (base, around) in zip(rows, answers, strict=True)
        if base != (expected or around)
    ]
    assert not wrong


def opened(browser: Any, tmp_path: Path, name: str, data: bytes) -> list[list[str]]:
    """Open a document and return its references as they are resolved there."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    browser.get(path.as_uri())
    found: list[list[str]] = browser.execute_script(RESOLVED)
    return found


# Known exceptions of law 10 (design §5): bases that decide for what stands before them, or not at
# all; and what makes the browser leave the document.
_LEAVES: Final = ("refresh", "<base", "<script", "<frameset", "<plaintext", "<select", "autofocus")


def test_law_10_links_mean_the_same_wherever_the_output_is_opened(
    browser: Any, tmp_path: Path
) -> None:
    """The original is opened at its own URL, the output in another directory."""
    counts = {True: 0, False: 0}

    @settings(
        max_examples=int(os.environ.get("RELBASE_EXAMPLES", "150")),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
        phases=(Phase.generate, Phase.shrink),
    )
    @given(pages, st.sampled_from(("", "<base href=sub/>", "<base href=http://b.example/?q>")))
    def law(data: bytes, base: str) -> None:
        text = data.decode("utf-8", "replace").replace("\0", "")
        if any(word in text.lower() for word in _LEAVES):
            return
        page = f"<meta charset=utf-8>{base}{text}".encode()
        url = (tmp_path / "here/page.html").as_uri()
        output = relbase.rewrite(page, url=url, profile="whatwg", kind="html").data
        before = opened(browser, tmp_path, "here/page.html", page)
        after = opened(browser, tmp_path, "elsewhere/deep/other.html", output)
        assert before == after
        counts[output != page] += 1

    law()
    assert counts[True] >= 0.3 * sum(counts.values()), counts
