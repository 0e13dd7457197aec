"""Pictures of what `explain` draws, by Chromium: `python -m tools.screenshots [DIRECTORY]`.

Each is a document of `fixtures/` or of this file, at a width and in a colour scheme. Without
DIRECTORY this writes the pictures of the documentation into `docs/images`, and a digest of what
they show into `tools/screenshots.txt`, so that a test notices old ones. With DIRECTORY all are.
Needs selenium (extra `browser`), chromium and chromedriver. Nothing is reached: pages are files.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Final, NamedTuple

from relbase import explain

ROOT: Final = Path(__file__).parents[1]
IMAGES: Final = ROOT / "docs" / "images"
DIGESTS: Final = ROOT / "tools" / "screenshots.txt"

_WIDTH: Final = 1200
_PHONE: Final = 320
# A picture of a page shows its beginning: nobody looks at one that is longer.
_HEIGHT: Final = 2_600


class Picture(NamedTuple):
    """A picture to take.

    Args:
        name: of the file, without its suffix.
        page: of HTML.
        width: of the window, in CSS pixels.
        scheme: of colours: light or dark.
        clip: what of it is shown: a CSS selector, "" for the page.
        shown: whether the documentation shows it.
    """

    name: str
    page: str
    width: int = _WIDTH
    scheme: str = "light"
    clip: str = ""
    shown: bool = False


_PAGE: Final = b"""<!doctype html>
<html lang="en">
<head>
<base href="/archive/">
<title>News of May</title>
<link rel="stylesheet" href="../style.css">
</head>
<body style="background: url(paper.png)">
<a href="may/first.html?a=1&amp;b=2">the first of May</a>
<a href="#top">to the top</a>
<a href="http://elsewhere.example/">elsewhere</a>
<img src="a.png" srcset="a-2x.png 2x, //images.example/a-3x.png 3x">
</body>
</html>
"""
_REFUSED: Final = b"""<!doctype html>
<base href="data:text/html,x">
<title>A base that does not count</title>
<a href="b.html">b</a>
<img src="../c.png">
"""
_ENCODED: Final = b"""From: a@h.example
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<p>Caf=C3=A9: <a href=3D"menu?day=3D1&amp;x=3D2">the menu of a day that is so long that =
its line breaks</a> <img src=3D"/cup.png"></p>
--b
Content-Type: text/html
Content-Transfer-Encoding: base64

PHA+U29tZSB0ZXh0IGluIGZyb250IG9mIHRoZSBsaW5rLCBzbyB0aGF0IGl0IGlzIG9uIGEgbGF0
ZXIgbGluZSB0aGFuIHRoZSBmaXJzdCBvZiB0aGUgYm9keS48L3A+CjxhIGhyZWY9IngiPgo8cD5T
b21lIHRleHQgYmVoaW5kIGl0LCB3aGljaCBtb3Zlcy48L3A+Cg==
--b--
"""
_URL: Final = "http://www.example.org/news/2024/index.html"


def pictures() -> list[Picture]:
    """All pictures."""
    page = explain(_PAGE, url=_URL, name="news.html")
    levels = (ROOT / "fixtures" / "mail" / "base-levels.eml").read_bytes()
    message = explain(levels, name="base-levels.eml")
    encoded = explain(_ENCODED, url=_URL, name="encoded.eml")
    refused = explain(
        _REFUSED, url=_URL, headers={"Content-Base": "mailto:a@h.example"}, name="refused.html"
    )
    return [
        Picture("explain", page, 640, clip=".box", shown=True),
        Picture("explain-dark", page, 640, "dark", clip=".box", shown=True),
        Picture("page", page),
        Picture("page-dark", page, scheme="dark"),
        Picture("page-phone", page, _PHONE),
        Picture("message", message),
        Picture("message-dark", message, scheme="dark"),
        Picture("message-phone", message, _PHONE),
        Picture("encoded", encoded),
        Picture("refused", refused),
    ]


def digest() -> str:
    """Return a digest of what the documentation's pictures show: boxes and their style."""
    shown = [picture.page for picture in pictures() if picture.shown]
    pieces = [page.partition('<h2 id="source">')[0].partition("<style>")[2] for page in shown]
    assert all('class="box' in piece for piece in pieces)
    return hashlib.sha256("".join(pieces).encode()).hexdigest()


def take(wanted: list[Picture], directory: Path) -> None:
    """Take pictures.

    Args:
        wanted: the pictures.
        directory: where they go, as PNG.
    """
    directory.mkdir(parents=True, exist_ok=True)
    browser = _browser()
    try:
        with tempfile.TemporaryDirectory() as pages:
            for picture in wanted:
                path = Path(pages, f"{picture.name}.html")
                path.write_text(picture.page, "utf-8", "backslashreplace")
                data = _taken(browser, picture, path.as_uri())
                (directory / f"{picture.name}.png").write_bytes(data)
    finally:
        browser.quit()


def _browser() -> Any:
    from selenium import webdriver  # an extra

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("headless", "no-sandbox", "disable-gpu", "hide-scrollbars"):
        options.add_argument(f"--{argument}")
    service = webdriver.chrome.service.Service(shutil.which("chromedriver"))
    return webdriver.Chrome(options, service)


def _taken(browser: Any, picture: Picture, address: str) -> bytes:
    metrics = {"width": picture.width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    feature = {"name": "prefers-color-scheme", "value": picture.scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get(address)
    script = """const [selector, around] = arguments;
    const box = document.querySelector(selector).getBoundingClientRect();
    return {x: box.x + scrollX - around, y: box.y + scrollY - around,
        width: box.width + 2 * around, height: box.height + 2 * around, scale: 1}"""
    clip = browser.execute_script(script, picture.clip or "html", 3 if picture.clip else 0)
    clip["height"] = min(clip["height"], _HEIGHT)
    asked = {"format": "png", "clip": clip, "captureBeyondViewport": True}
    return base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", asked)["data"])


if __name__ == "__main__":
    named = sys.argv[1:]
    chosen = [picture for picture in pictures() if named or picture.shown]
    take(chosen, Path(named[0]) if named else IMAGES)
    if not named:
        DIGESTS.write_text(f"{digest()}\n", "utf-8")
