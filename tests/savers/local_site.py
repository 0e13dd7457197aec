"""A site to be saved: some sixty pages with queries, directories, redirects and `<base>`.

What its pages link to is there, but for what the fixtures among them name. Each page holds its own
target, so that a saved copy is known again whatever its file is called.
"""

import base64
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

sys.path.append(str(Path(__file__).parents[1] / "support"))

from collections.abc import Iterator

from web import Page, serving

FIXTURES: Final = Path(__file__).parents[2] / "fixtures" / "html"

PIXEL: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)

HTML: Final = "text/html; charset=utf-8"
REDIRECTS: Final = {"/old/": "/new/", "/moved": "a/two.html", "/go?to=3": "/list?page=3"}

# How each page names the others: by directory, from the root, with a query, a fragment, a host.
_BODY: Final = """\
<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>{title}</title>
{head}<link rel="stylesheet" href="{up}css/main.css"><link rel="icon" href="/img/icon.png">
<link rel="stylesheet" href="/style?v=2"><script src="{up}js/app.js"></script></head>
<body><h1 id="top">{title}</h1><p id="page">{target}</p>
<a href="{up}index.html">home</a> <a href="/">root</a> <a href="#top">top</a>
<a href="{up}a/one.html">one</a> <a href="{up}a/two.html#page">two</a> <a href="/about">about</a>
<a href="/list?page={number}">list</a> <a href="{up}p.php?id={number}&amp;x=1">php</a>
<a href="/old/">old</a> <a href="/moved">moved</a> <a href="/go?to=3">go</a>
<a href="//{host}/b/c/deep.html">deep</a> <a href="{up}dir/">directory</a>
<a href="{up}s%20p/a%20b.html">blank</a> <a href="/%C3%A9/%C3%BC.html">not ascii</a>
<a href="http://elsewhere.example/x">away</a> <a href="mailto:a@b.example">mail</a>
<a href="/base/relative.html">base</a> <a href="/base/root.html">base</a>
<img src="{up}img/one.png" width="20" height="20" alt=""
  srcset="{up}img/two.png 2x, /img/three.png?s=3 3x">
<div style="background: url({up}img/four.png); width: 20px; height: 20px"></div>
<form action="{up}p.php"><input name="id"></form>
{more}</body></html>
"""


class Answer(NamedTuple):
    """What the server says to a request."""

    type: str
    body: bytes
    location: str = ""


def _page(target: str, host: str, number: int, head: str = "", more: str = "") -> bytes:
    depth = target.partition("?")[0].count("/") - 1
    text = _BODY.format(
        title=f"Page {number}",
        target=target,
        up="../" * depth,
        host=host,
        head=head,
        more=more,
        number=number % 5 + 1,
    )
    return text.encode()


def pages(host: str) -> dict[str, Answer]:
    """Return the site that is served at a host, by request target."""
    targets = [
        *("/", "/index.html", "/about", "/new/", "/dir/", "/dir/sub/", "/dir/sub/x.html"),
        *("/a/one.html", "/a/two.html", "/a/three.html", "/b/c/deep.html", "/b/c/d/e/f.html"),
        *("/s%20p/a%20b.html", "/%C3%A9/%C3%BC.html", "/p.php"),
        *(f"/list?page={number}" for number in range(1, 6)),
        *(f"/p.php?id={number}&x=1" for number in range(1, 6)),
        *(f"/n/{number}.html" for number in range(1, 21)),
    ]
    chain = "".join(f'<a href="{target}">{target}</a> ' for target in targets if "&" not in target)
    found = {
        target: Answer(HTML, _page(target, host, number, more=chain if number < 2 else ""))
        for number, target in enumerate(targets)
    }
    bases = {
        "/base/relative.html": "../a/",
        "/base/root.html": "/",
        "/base/absolute.html": f"http://{host}/b/",
    }
    fixtures = "".join(f'<a href="/f/{name}">{name}</a> ' for name in _fixtures())
    for number, (target, base) in enumerate(bases.items()):
        more = f'<a href="one.html">one</a> <a href="/base/absolute.html">base</a> {fixtures}'
        page = _page("/a/x", host, number, f'<base href="{base}">', more)
        page = page.replace(b'id="page">/a/x<', f'id="page">{target}<'.encode())
        # On these bases "../" leads to the root too.
        page = page if base != "/" else page.replace(b'"../', b'"').replace(b"(../", b"(")
        found[target] = Answer(HTML, page)
    for name, body in _fixtures().items():
        found[f"/f/{name}"] = Answer(HTML, body + f'<p id="page">/f/{name}</p>'.encode())
    css = b"h1 { background: url(../img/five.png) } @import 'more.css';"
    found["/css/main.css"] = Answer("text/css", b"@import 'more.css';\n" + css)
    found["/css/more.css"] = Answer("text/css", b"p { background: url(/img/six.png) }")
    found["/style?v=2"] = Answer("text/css", b"a { background: url(img/seven.png) }")
    found["/js/app.js"] = Answer("text/javascript", b"var a = 1;")
    for name in ("one", "two", "four", "five", "six", "seven", "icon"):
        found[f"/img/{name}.png"] = Answer("image/png", PIXEL)
    found["/img/three.png?s=3"] = Answer("image/png", PIXEL)
    for target, location in REDIRECTS.items():
        found[target] = Answer("text/html", b"", location)
    return found


# What savers do with hostile bases, scripts and refreshes is another question.
_LEFT_OUT: Final = re.compile(r"base-|charset-|utf-16|refresh|no-base|layer|hostile|frameset")


def _fixtures() -> dict[str, bytes]:
    """Pages of the fixtures, in UTF-8 and with links."""
    found: dict[str, bytes] = {}
    for path in sorted(FIXTURES.glob("*.html")):
        body = path.read_bytes()
        if ".expected" in path.name or _LEFT_OUT.search(path.name) or b"href" not in body:
            continue
        if b"<plaintext" not in body and b"http-equiv" not in body and len(found) < _MOST:
            found[path.name] = body
    return found


_MOST: Final = 16


@contextmanager
def served() -> Iterator[tuple[str, dict[str, Answer]]]:
    """Serve the site on a port of this machine; yield its host and what is on it."""
    answered: dict[str, Page] = {}
    with serving(answered) as port:
        host = f"127.0.0.1:{port}"
        site = pages(host)
        for target, (type_, body, location) in site.items():
            fields = (("Content-Type", type_), *([("Location", location)] if location else []))
            answered[target] = Page(body, fields, 302 if location else 200)
        yield host, site
