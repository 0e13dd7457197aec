"""Feeds as six generators write them: relative links in, none out, and the same infoset.

A command of its own, since it installs the generators:

    python tests/feeds_of_generators.py [PYTHON]

PYTHON is an interpreter that has pelican, mkdocs, mkdocs-rss-plugin, sphinx, ablog and feedgen; the
one of a new environment that pip fills, where none is given. Each generator makes a small site in a
temporary directory; WordPress and Blogger, which are not programs to be run, are written by hand in
their shape. Whatever feed comes out is rewritten and read again.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Final

import lxml.html
from lxml import etree

import relbase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PACKAGES: Final = ("pelican", "mkdocs", "mkdocs-rss-plugin", "sphinx", "ablog", "feedgen")
URL: Final = "http://blog.example/site/feed.xml"
HTML: Final = (
    '<p>A <a href="../other/page.html?a=1&amp;b=2">link</a> <img src="/i/p.png" alt=""></p>'
)
PARSER: Final = etree.XMLParser(resolve_entities=False, no_network=True)


def pelican(python: str, root: Path) -> None:
    """Atom, with links of its own that are relative too."""
    posts = root / "content"
    posts.mkdir()
    (posts / "one.html").write_text(
        '<html><head><title>One</title><meta name="date" content="2026-01-02"></head>'
        f"<body>{HTML}</body></html>"
    )
    (root / "pelicanconf.py").write_text(
        "SITENAME='Site'\nAUTHOR='A'\nSITEURL=''\nTIMEZONE='UTC'\nFEED_DOMAIN=''\n"
        "FEED_ALL_ATOM='feeds/all.atom.xml'\nFEED_ALL_RSS='feeds/all.rss.xml'\nPATH='content'\n"
    )
    run(python, root, "-m", "pelican", "content", "-s", "pelicanconf.py", "-o", "out")


def mkdocs(python: str, root: Path) -> None:
    """RSS of the pages of a documentation."""
    (root / "docs").mkdir()
    for name in ("index", "one"):
        (root / f"docs/{name}.md").write_text(
            f"---\ndate: 2026-01-02\n---\n\n# {name}\n\n{HTML}\n\n"
            "[a](other.md) <!-- more -->\n\nx\n"
        )
    (root / "mkdocs.yml").write_text(
        "site_name: Site\nsite_url: http://blog.example/site/\nplugins:\n  - rss:\n"
        "      use_git: false\n      abstract_chars_count: -1\n      date_from_meta:\n"
        "        as_creation: date\n"
    )
    run(python, root, "-m", "mkdocs", "build", "-q", "-d", "out")


def sphinx(python: str, root: Path) -> None:
    """Atom with XHTML or HTML of whole posts."""
    (root / "conf.py").write_text(
        "project='Site'\nextensions=['ablog']\nblog_title='Site'\n"
        "blog_baseurl='http://blog.example/site'\nblog_feed_fulltext=True\nhtml_theme='alabaster'\n"
    )
    (root / "index.rst").write_text("Site\n====\n\n.. toctree::\n\n   one\n")
    (root / "one.rst").write_text(
        ".. post:: Jan 02, 2026\n\nOne\n===\n\n"
        "See :doc:`index`, `this <../other.html?a=1&b=2>`_.\n\n"
        f".. raw:: html\n\n   {HTML}\n"
    )
    run(python, root, "-m", "sphinx", "-q", ".", "out")


def feedgen(python: str, root: Path) -> None:
    """Atom and RSS by a library."""
    (root / "out").mkdir()
    (root / "make.py").write_text(
        "from feedgen.feed import FeedGenerator\n"
        "f = FeedGenerator(); f.load_extension('podcast'); f.load_extension('media')\n"
        "f.id('urn:x'); f.title('t'); f.link(href='/site/', rel='alternate'); f.description('d')\n"
        "f.logo('/logo.png'); f.podcast.itunes_image('/cover.png')\n"
        "e = f.add_entry(); e.id('urn:y'); e.title('t'); e.link(href='posts/one.html')\n"
        f"e.content({HTML!r}, type='html'); e.summary({HTML!r}, type='html')\n"
        "e.enclosure('/one.mp3', '1', 'audio/mpeg'); e.media.thumbnail(url='t.png')\n"
        "f.atom_file('out/atom.xml'); f.rss_file('out/rss.xml')\n"
    )
    run(python, root, "make.py")


def wordpress(_python: str, root: Path) -> None:
    """RSS in the shape of WordPress: everything in sections, comments, a slash namespace."""
    (root / "out").mkdir()
    (root / "out/feed.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"\n'
        '\txmlns:content="http://purl.org/rss/1.0/modules/content/"\n'
        '\txmlns:wfw="http://wellformedweb.org/CommentAPI/"\n'
        '\txmlns:atom="http://www.w3.org/2005/Atom"\n\t>\n\n<channel>\n\t<title>Site</title>\n'
        '\t<atom:link href="/feed/" rel="self" type="application/rss+xml" />\n\t<link>/</link>\n'
        "\t<image><url>/icon.png</url><title>Site</title><link>/</link></image>\n\t<item>\n"
        "\t\t<title>One &#038; two</title>\n\t\t<link>/2026/01/one/</link>\n"
        "\t\t<comments>/2026/01/one/#respond</comments>\n"
        '\t\t<guid isPermaLink="false">http://blog.example/?p=1</guid>\n'
        f"\t\t<description><![CDATA[{HTML} [&#8230;]]]></description>\n"
        f"\t\t<content:encoded><![CDATA[\n{HTML}\n]]></content:encoded>\n"
        "\t\t<wfw:commentRss>/2026/01/one/feed/</wfw:commentRss>\n\t</item>\n</channel>\n</rss>\n"
    )


def blogger(_python: str, root: Path) -> None:
    """Atom in the shape of Blogger: on one line, with single quotes and escaped HTML."""
    (root / "out").mkdir()
    escaped = HTML.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    escaped = escaped.replace('"', "&quot;")
    (root / "out/atom.xml").write_text(
        "<?xml version='1.0' encoding='UTF-8'?>"
        '<?xml-stylesheet href="/atom.css" type="text/css"?>'
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:search='http://a9.com/-/spec/opensearch'>"
        "<id>tag:blogger.com,1999:blog-1</id><link rel='self' href='/feeds/posts/default'/>"
        "<author><name>A</name><uri>/profile/1</uri></author><entry><id>tag:1</id>"
        f"<content type='html'>{escaped}</content><link rel='alternate' href='/2026/01/one.html'/>"
        "</entry></feed>"
    )


GENERATORS: Final[tuple[Callable[[str, Path], None], ...]] = (
    *(pelican, mkdocs, sphinx, feedgen, wordpress, blogger),
)


def run(python: str, root: Path, *arguments: str) -> None:
    """Run a generator in its directory."""
    subprocess.run([python, *arguments], cwd=root, check=True, capture_output=True)


def relative(feed: bytes) -> Iterator[str]:
    """Yield the relative links of a feed: in attributes, in the text of some elements, in HTML."""
    for element in etree.fromstring(feed, PARSER).iter(etree.Element):
        name = etree.QName(element).localname
        links = [element.get(key) for key in ("href", "src", "url") if element.get(key)]
        text = (element.text or "").strip()
        if name in {"link", "url", "uri", "icon", "logo", "comments", "commentRss"} and text:
            links.append(text)
        if "<" in text:
            found = lxml.html.fragment_fromstring(text, create_parent="div").iterlinks()
            links += [link for _, _, link, _ in found]
        yield from (link for link in links if ":" not in link.partition("/")[0])


def of(generator: Callable[[str, Path], None], python: str) -> str:
    """Return a line on the feeds of a generator; raise where one is not as it should be."""
    before = feeds = 0
    with tempfile.TemporaryDirectory() as folder:
        generator(python, Path(folder))
        for path in sorted(Path(folder, "out").rglob("*")):
            if path.suffix not in {".xml", ".atom", ".rss"} or b"<loc>" in path.read_bytes():
                continue
            data = path.read_bytes()
            result = relbase.rewrite(data, url=URL, name=path.name)
            left = list(relative(result.data))
            assert left == [], (path.name, left)
            assert [note for note in result.notes if note.reason.value != "item-link"] == []
            before += len(list(relative(data)))
            feeds += 1
    assert before > 0, generator.__name__
    return f"{generator.__name__:10} {feeds} feeds, {before} relative links in, none out"


def main(arguments: list[str]) -> None:
    """Make the feeds of each generator, and look at them."""
    with tempfile.TemporaryDirectory() as folder:
        python = arguments[0] if arguments else str(Path(folder, "bin/python"))
        if not arguments:
            venv.create(folder, with_pip=True)
            run(python, Path(folder), "-m", "pip", "install", "-q", *PACKAGES)
        for generator in GENERATORS:
            print(of(generator, python))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
