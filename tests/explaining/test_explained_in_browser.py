"""The page of `explain` in Chromium: nothing of a document runs or loads, and axe finds nothing."""

import re
from base64 import b64encode
from pathlib import Path
from typing import Any, Final

from browsing import screen, violations
from served import Answer, Site

from relbase import explain
from relbase.explaining.page import index, page
from relbase.session.session import check

HOST: Final = "http://explained.example.com.test/"
MAILS: Final = Path(__file__).parents[2] / "fixtures" / "mail"

# Each would run, or load something of `HOST`, if it became markup or a style of the page.
HOSTILE: Final = f"""<!doctype html><base href="{HOST}base/"><title></title></style></pre>
<script>document.title = "ran"; fetch("{HOST}fetched")</script>
<img src="{HOST}img" onerror="document.title='ran'"><svg onload="document.title='ran'"></svg>
<link rel=stylesheet href="{HOST}sheet"><style>@import "{HOST}import"; *{{background:url({HOST}bg)}}
</style></div></main></body></html><iframe src="{HOST}frame"></iframe>
<iframe srcdoc="<script>parent.document.title='ran'</script>"></iframe>
<meta http-equiv=refresh content="0;url={HOST}refresh"><object data="{HOST}object"></object>
<video poster="{HOST}poster" src="{HOST}video" autoplay></video><input autofocus onfocus="x()">
<a href='"><script>document.title="ran"</script>'>x</a>
<a href="x&quot; onclick=&quot;alert(1)">y</a>
<a href="javascript:document.title='ran'">z</a><form action="{HOST}form"><button>go</button></form>
""".encode()
MAIL: Final = (
    b"Content-Type: text/html\nBase: <URL:http://h/><script>document.title='ran'</script>\n\n"
)


def pages() -> dict[str, bytes]:
    """Pages on hostile documents, and on ordinary ones."""
    hostile = HOSTILE.decode()
    found = {
        "html": explain(
            HOSTILE, url=f"{HOST}x", name="</title><script>document.title='ran'</script>"
        ),
        "no-base": explain(HOSTILE.replace(b"<base", b"<b"), name=hostile[:400]),
        "mail": explain(MAIL + HOSTILE, kind="mail", url=f"{HOST}x"),
        "parts": explain((MAILS / "base-levels.eml").read_bytes(), url=f"{HOST}x"),
        "encoded": explain(
            b"Content-Transfer-Encoding: base64\n" + MAIL + b64encode(HOSTILE), kind="mail"
        ),
        "css": explain(b"a{b:url(x)}</style><script>document.title='ran'</script>", kind="css"),
        "whatwg": explain(HOSTILE, url=f"{HOST}x", profile="whatwg"),
        "index": index([("x.html", page(HOSTILE, check(), hostile[:400])[1])]),
    }
    return {name: markup.encode("utf-8", "backslashreplace") for name, markup in found.items()}


def serve(site: Site, name: str, markup: bytes) -> str:
    """Have a page at an address, which is returned."""
    address = f"{HOST}{name}"
    site.answers[address] = Answer(markup, {"Content-Type": "text/html"})
    return address


def test_nothing_of_a_document_runs_or_loads(browser: Any, site: Site) -> None:
    for name, markup in pages().items():
        address = serve(site, f"explained/{name}", markup)
        site.requests.clear()
        browser.get(address)
        title = browser.execute_script("return document.title")
        assert "what its links mean" in title or title == "What links mean"
        assert browser.execute_script("return location.href") == address
        # every mark and every summary is pressed: they lead to places of the page
        browser.execute_script(
            "for (const one of document.querySelectorAll('main a, summary, input'))"
            " if (!one.pathname || one.pathname === location.pathname) one.click()"
        )
        assert browser.execute_script("return location.pathname") == f"/explained/{name}"
        assert browser.execute_script("return document.title") == title
        assert browser.execute_script("return document.scripts.length") == 0
        asked = [url for url in site.requests if url.startswith(HOST) and "favicon" not in url]
        assert asked == [address]


def test_the_style_sheet_is_used_and_no_other(browser: Any, site: Site) -> None:
    # The policy names the sheet by its hash: a wrong one would leave the page bare.
    browser.get(serve(site, "styled", pages()["html"]))
    border = "return getComputedStyle(document.querySelector('.box')).borderTopStyle"
    assert browser.execute_script(border) == "solid"
    assert browser.execute_script("return document.styleSheets.length") == 1


def test_before_and_after_are_chosen_without_a_script(browser: Any, site: Site) -> None:
    browser.get(serve(site, "shown", explain(b'<a href="../x">', url=f"{HOST}d/").encode()))
    shown = """return [...document.querySelectorAll('.source del, .source ins')]
      .filter(one => getComputedStyle(one).display !== 'none').map(one => one.textContent)"""
    before, after = "..", HOST.removesuffix("/")
    for choice, texts in (("both", [before, after]), ("before", [before]), ("after", [after])):
        browser.execute_script(f"document.getElementById('{choice}').click()")
        assert browser.execute_script(shown) == texts, choice


def test_no_page_is_wider_than_a_phone(browser: Any, site: Site) -> None:
    with screen(browser, 320, "light"):
        for name, markup in pages().items():
            browser.get(serve(site, f"narrow/{name}", markup))
            wide = browser.execute_script("return document.documentElement.scrollWidth")
            assert wide <= 320, name


def test_axe_finds_nothing(browser: Any, site: Site) -> None:
    for name, markup in pages().items():
        address = serve(site, f"axe/{name}", markup)
        for width, scheme in ((320, "light"), (1200, "light"), (1200, "dark")):
            with screen(browser, width, scheme):
                browser.get(address)
                assert violations(browser) == [], (name, width, scheme)


def test_what_is_printed_is_dark_on_light(browser: Any, site: Site) -> None:
    # a browser may print what it shows dark: the ink was black on boxes of the dark scheme
    decided = "return getComputedStyle(document.querySelector('.decides>.about')).backgroundColor"
    media = {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    with screen(browser, 800, "dark"):
        browser.get(serve(site, "printed", pages()["html"]))
        dark = browser.execute_script(decided)
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        printed = browser.execute_script(decided)
    before, after = (max(map(int, re.findall("[0-9]+", one)[:3])) for one in (dark, printed))
    assert (before < 100, after > 200) == (True, True)
