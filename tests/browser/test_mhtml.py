"""Archives that Chromium saves: rewritten and opened offline they show as many images as before.

A page is captured with `Page.captureSnapshot`, each image being of a colour of its own, and the
archive opened by `file:`, as it is and rewritten. What is shown is what colours a screenshot has
(rule 18).
"""

import time
from pathlib import Path
from typing import Any, Final

import pytest
from served import Answer, Site

import relbase

HOME: Final = "http://archive.test"


def square(colour: tuple[int, int, int]) -> Answer:
    """An image of one colour."""
    size = 'width="8" height="8"'
    rect = f'<rect {size} fill="rgb{colour}"/>'
    image = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{rect}</svg>'
    return Answer(image.encode(), {"Content-Type": "image/svg+xml"})


BOX: Final = b'<div class=%b style="width:30px;height:30px;%b"></div>'

# (the page at /d/p.html, what else is served, the images)
PAGES: Final = {
    "a base and an inline sheet": (
        b"<base href=../e/><style>.a{background:url(a.png)}</style>"
        + BOX % (b"a", b"")
        + BOX % (b"b", b"background:url(b.png)")
        + b"<img src=c.png width=30>",
        {},
        ["/e/a.png", "/e/b.png", "/e/c.png"],
    ),
    "no base": (
        b"<style>.a{background:url(a.png)}</style><img src=../c.png width=30>" + BOX % (b"a", b""),
        {},
        ["/d/a.png", "/c.png"],
    ),
    "sheets that import": (
        b"<base href=../e/><style>@import 'i.css';.a{background:url(a.png)}</style>"
        b"<link rel=stylesheet href=l/l.css>"
        + BOX % (b"a", b"")
        + BOX % (b"i", b"")
        + BOX % (b"l", b""),
        {"/e/i.css": b".i{background:url(i.png)}", "/e/l/l.css": b".l{background:url(l.png)}"},
        ["/e/a.png", "/e/i.png", "/e/l/l.png"],
    ),
    "a frame with a base": (
        b"<iframe src=f.html></iframe>",
        {
            "/d/f.html": b"<!doctype html><base href=/g/><style>body{background:url(a.png)}</style>"
            b"<img src=b.png width=30>"
        },
        ["/g/a.png", "/g/b.png"],
    ),
    "a srcdoc": (
        (
            b"<base href=../e/><iframe srcdoc='<style>body{background:url(a.png)}</style>"
            b"<img src=b.png width=30>'></iframe>"
        ),
        {},
        ["/e/a.png", "/e/b.png"],
    ),
}

COLOURS: Final = """
const [png, done] = arguments, image = new Image();
image.onload = () => {
  const canvas = document.createElement("canvas"), seen = new Set();
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const data = context.getImageData(0, 0, image.width, image.height).data;
  for (let at = 0; at < data.length; at += 4) seen.add(data.slice(at, at + 3).join());
  done([...seen]);
};
image.src = "data:image/png;base64," + png;
"""


def shown(browser: Any, archive: bytes, path: Path) -> set[str]:
    """The colours that an archive shows when it is opened offline."""
    path.write_bytes(archive)
    browser.get(path.as_uri())
    png, last = browser.get_screenshot_as_base64(), ""
    while png != last:  # images of sheets are painted after the page is loaded
        time.sleep(1)  # on a busy machine they take a while
        png, last = browser.get_screenshot_as_base64(), png
    browser.get("data:text/html,")
    return set(browser.execute_async_script(COLOURS, png))


@pytest.mark.parametrize("profile", ["rfc1808", "whatwg"])
@pytest.mark.parametrize("name", PAGES)
def test_an_archive_shows_as_much_after(
    browser: Any, site: Site, tmp_path: Path, name: str, profile: Any
) -> None:
    page, others, images = PAGES[name]
    colours = {url: (200 - 20 * at, 20 * at + 10, 120) for at, url in enumerate(images)}
    site.answers = {
        f"{HOME}/d/p.html": Answer(b"<!doctype html>" + page),
        **{
            HOME + url: Answer(body, {"Content-Type": "text/css" if "css" in url else "text/html"})
            for url, body in others.items()
        },
        **{HOME + url: square(colour) for url, colour in colours.items()},
    }
    browser.get(f"{HOME}/d/p.html")
    archive = browser.execute_cdp_cmd("Page.captureSnapshot", {"format": "mhtml"})["data"].encode()
    result = relbase.rewrite(archive, profile=profile)
    before = shown(browser, archive, tmp_path / "before.mhtml")
    site.requests.clear()
    after = shown(browser, result.data, tmp_path / "after.mhtml")
    assert result.changed
    # Chromium asks its maker for updates now and then.
    assert [url for url in site.requests if "google" not in url] == []
    # In sheets of frames and srcdoc Chromium itself forgets the base: then there is more after.
    assert after == before | {",".join(map(str, colour)) for colour in colours.values()}
