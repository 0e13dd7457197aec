"""The guides of docs/, and the files that their commands read."""

import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Final

from held import ENML, MAFF_FILES, SAVED, enex, entry, har, maff, note, webarchive

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = [
    path
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if "\n```console\n" in path.read_text("utf-8")
]

_PAGE: Final = (
    b'<title>News</title>\n<a href="../about">About</a>\n<img srcset="a.png, /b.png 2x">\n'
)
_OLD: Final = b'<title>Old</title>\n<a href="http://old.example/a">A</a>\n<a href="b">B</a>\n'
_FEED: Final = b"""<rss version="2.0"><channel><title>News</title>
<link>https://site.example/</link>
<item><title>One</title><link>https://site.example/posts/1/</link>
<description>&lt;img src="a.png"&gt; &lt;a href="/about"&gt;About&lt;/a&gt;</description></item>
</channel></rss>
"""
_LETTER: Final = b"""<title>Letter</title>
<a href="offer.html">Offer</a>
<a href="#top">Up</a>
<a href="{{ unsubscribe }}">Unsubscribe</a>
"""
_FROM: Final = b"From - Fri Jan  2 10:00:00 2026\n"
_MESSAGE: Final = b"""From: News <news@site.example>
Subject: One
Content-Type: text/html

<title>One</title>
<a href="1.html">Read</a>
"""
_WITH_BASE: Final = b"Content-Base: https://site.example/letters/\n" + _MESSAGE
_OF_A_FEED: Final = b"X-RSS-URL: https://site.example/posts/1/\n" + _MESSAGE
_OF_A_LIST: Final = b"List-Id: <planet.localhost>\n" + _MESSAGE
_MHT: Final = b"""From: <Saved by Blink>
Snapshot-Content-Location: https://shop.example/offers/today
Subject: Today's offer
Date: Fri, 2 Jan 2026 10:00:00 -0000
MIME-Version: 1.0
Content-Type: multipart/related; type="text/html"; boundary="----b----"

------b----
Content-Type: text/html
Content-Transfer-Encoding: quoted-printable
Content-Location: https://shop.example/offers/today

<title>Today's offer</title>
<p>Only 99. <a href=3D"../terms">Terms</a>
<img src=3D"https://shop.example/img/offer.png">
------b----
Content-Type: image/png
Content-Transfer-Encoding: base64
Content-Location: https://shop.example/img/offer.png

iVBORw0KGgo=
------b------
"""
_README: Final = b"""# Project

![Logo](docs/logo.svg) <img src="docs/shot.png" width="400">

[Usage](docs/usage.md#start), [licence][], [site](https://project.example/)

    [code](stays.md)

[licence]: LICENSE
"""
_HEADERS: Final = b"""HTTP/1.1 301 Moved\r\nLocation: /news/\r
\r
HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r
"""

FILES: Final = {
    "page.html": _PAGE,
    "profiles.html": b'<title>x</title>\n<a href=";x">\n<a href="../../../x">\n<a href="http:x">\n',
    "headers.txt": _HEADERS,
    "saved/first.html": b'<title>First</title>\n<a href="../about">About</a>\n',
    "saved/second.html": b'<title>Second</title>\n<img src="picture.png">\n',
    "downloads/page.html": b"<!-- saved from url=(0026)https://site.example/news/1 -->\n" + _PAGE,
    "newsletter.html": _LETTER,
    "letter-ready.html": b'<title>Letter</title>\n<a href="https://site.example/offer.html">Offer</a>\n',
    "urls.csv": b"""page,file,url
1,first.html,https://site.example/news/first
2,second.html,https://site.example/news/2024/second
3,thrid.html,https://site.example/news/third
""",
    "public/index.html": _PAGE.replace(b"../", b""),
    "public/feed.xml": _FEED,
    "public/old.html": _OLD,
    "mail-templates/letter.html": _LETTER,
    "feed.xml": _FEED,
    "message.eml": _WITH_BASE,
    "inbox.mbox": _FROM + _MESSAGE + b"\n" + _FROM + _WITH_BASE,
    "senders.tsv": b"news@site.example\thttps://site.example/letters/\n",
    "feeds.mbox": _FROM + _OF_A_FEED + b"\n" + _FROM + _OF_A_LIST,
    "feeds.tsv": b"planet.localhost\thttps://planet.example/\n",
    "Maildir/.feeds/cur/1:2,S": _OF_A_FEED,
    "Maildir/.feeds/new/2": _OF_A_LIST,
    "Maildir/.feeds/tmp/.keep": b"",
    "Local Folders/Inbox": _FROM + b"X-Mozilla-Status: 0001\n" + _WITH_BASE,
    "Local Folders/Inbox.msf": b'// <!-- <mdb:mork:z v="1.4"/> -->\n',
    "Local Folders/Inbox.sbd/Lists": _FROM + b"X-Mozilla-Status: 0001\n" + _OF_A_LIST,
    "offer.mht": _MHT,
    "page.webarchive": webarchive(SAVED),
    "log.har": har(entry("http://h.example/d/", "<a href=x>")),
    "tabs.maff": maff(("http://h.example/a/page", MAFF_FILES)),
    "notes.enex": enex(
        note(ENML.format('<a href="/soup">Soup</a>'), url="http://h.example/recipe"),
        note(ENML.format('<a href="x">x</a>'), title="A list"),
    ),
    "README.md": _README,
    "LICENSE": b"Free\n",
    "docs/usage.md": b"# Usage\n",
    "docs/logo.svg": b"<svg/>\n",
    "docs/shot.png": b"\x89PNG\r\n",
    "packages/button/README.md": b"![Button](button.png) [Usage](../../docs/usage.md)\n",
    "corpus/0001.md": b"# Prices\n\n[Next](../offers?page=2)\n",
    "corpus/0002.md": b"# Offers\n\n![Map](/map.png)\n",
    "corpus.csv": b"file,url\n0001.md,https://shop.example/prices/\n"
    b"0002.md,https://shop.example/offers\n",
    "crawl.warc.gz": (ROOT / "fixtures" / "warc" / "crawl.warc.gz").read_bytes(),
}


@contextmanager
def folder() -> Iterator[None]:
    """Work in a directory that has the files."""
    with tempfile.TemporaryDirectory() as name, chdir(name):
        for file, content in FILES.items():
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            Path(file).write_bytes(content)
        yield
