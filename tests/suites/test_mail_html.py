"""HTML of mailers: what MimeKit's tokenizer writes anew has the same links; Roundcube's base."""

from pathlib import Path
from typing import Final

from counts import Counts

import relbase

# The Encoding Standard has no UTF-32: no browser reads it, and no tag is seen in it.
UTF_32: Final = {"Gimhae_Kim_clan.utf-32.html", "Gimhae_Kim_clan.utf-32BE.html"}


def links(path: Path) -> list[tuple[str, str, str]]:
    found = relbase.links(path.read_bytes(), url="http://h.example/d/", kind="html")
    return [(link.element, link.attribute, link.reference) for link in found]


def test_mimekit_html(data: Path, counts: Counts) -> None:
    """`x.out.html` is the tokens of `x.html`, or of `x.utf-8.html`, written anew."""
    run, total, differ = 0, 0, set()
    for path in sorted((data / "email/MimeKit/html").glob("*.out.html")):
        expected = links(path)
        stem = path.name.removesuffix("out.html")
        for page in path.parent.glob(f"{stem}*html"):
            if page == path:
                continue
            run += 1
            total += len(expected)
            if links(page) != expected:
                differ.add(page.name)
    assert differ == UTF_32
    assert run > 8
    assert total > 100
    counts("mail: HTML of MimeKit", run, len(differ))


# Roundcube's test of resolve_base: the sources of the images, in their order.
ROUNDCUBE: Final = [
    "http://alec.pl/dir/img1.gif",
    "http://alec.pl/dir/img2.gif",
    "http://alec.pl/img3.gif",
    "cid:theCID",
    "http://other.domain.tld/img3.gif",
]


def test_roundcube_base(data: Path, counts: Counts) -> None:
    document = (data / "email/roundcube/src/htmlbase.txt").read_bytes()
    result = relbase.rewrite(document, kind="html")
    sources = [link.reference for link in relbase.links(result.data, kind="html")]
    assert sources == ["http://alec.pl/dir/", *ROUNDCUBE]
    counts("mail: base of Roundcube", len(ROUNDCUBE), 0)
