"""Which values of which elements of XML hold references: the vocabularies."""

from __future__ import annotations

from typing import Final

import pytest
from xml_found import A, H, R, X, found

RSS: Final = "<rss version='2.0'>%s</rss>"


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        # RFC 4287 §4.2; ids never
        ((f"<feed{A}><id>y</id><icon>x</icon><logo>x</logo><author><uri>x</uri></author>"
         "<category scheme='y' term='y'/><link rel='y' href='x'/><content src='x'/></feed>"),
         [("icon", "", "x"), ("logo", "", "x"), ("uri", "", "x"), ("link", "href", "x"),
          ("content", "src", "x")]),
        ((f"<entry{A}><content type='html'>x</content><content>y</content><summary type='text'>y"
         "</summary><summary type='html'>x</summary><content type='xhtml'><div>y</div></content>"
         "</entry>"), [("content", "", "x"), ("summary", "", "x")]),
        # Atom 0.3 §3.1, §3.5
        (("<feed xmlns='http://purl.org/atom/ns#'>"
         "<content mode='escaped' type='text/html'>x</content>"
         "<content type='text/html'>y</content><author><url>x</url></author></feed>"),
         [("content", "", "x"), ("url", "", "x")]),
        # RSS 2.0
        (RSS % "<channel><link>x</link><docs>x</docs><image><url>x</url></image>"
         "<category domain='y'/>"
         "<item><enclosure url='x' length='1'/><source url='x'/><comments>x</comments></item>"
         "</channel>",
         [("link", "", "x"), ("docs", "", "x"), ("url", "", "x"), ("enclosure", "url", "x"),
          ("source", "url", "x"), ("comments", "", "x")]),
        # guid, which stays: a permalink when it says so, a path when it says nothing
        (RSS % "<guid>123</guid><guid>/x</guid><guid> ./x</guid><guid>../x</guid>"
         "<guid><![CDATA[/x]]></guid><guid isPermaLink='true'>123</guid>"
         "<guid isPermaLink='false'>/y</guid><guid isPermaLink='false'>123</guid>",
         [("guid", "", "/x"), ("guid", "", " ./x"), ("guid", "", "../x"),
          ("guid", "", "<![CDATA[/x]]>"), ("guid", "", "123")]),
        (RSS % "<description>x</description><description/><description></description>",
         [("description", "", "x")]),
        # elements in a text
        (RSS % "<link>y<b/></link><link>x<!-- <b/> --></link>", [("link", "", "x<!-- <b/> -->")]),
        # RSS 1.0 and RDF: the empty reference is the base
        ((f"<rdf:RDF{R} xmlns='http://purl.org/rss/1.0/'><channel rdf:about='x'><link>x</link>"
         "<items>"
         "<rdf:Seq><rdf:li resource='x'/><rdf:li rdf:resource='x'/></rdf:Seq></items></channel>"
         "<item rdf:ID='y' rdf:about=''/></rdf:RDF>"),
         [("channel", "rdf:about", "x"), ("link", "", "x"), ("rdf:li", "resource", "x"),
          ("rdf:li", "rdf:resource", "x"), ("item", "rdf:about", "")]),
        # modules
        (RSS % "<m:content xmlns:m='http://search.yahoo.com/mrss/' url='x'><m:thumbnail url='x'/>"
         "<m:description type='html'>x</m:description><m:description>y</m:description></m:content>",
         [("m:content", "url", "x"), ("m:thumbnail", "url", "x"), ("m:description", "", "x")]),
        (RSS % "<i:image xmlns:i='http://www.itunes.com/dtds/podcast-1.0.dtd' href='x'/>"
         "<p:chapters xmlns:p='https://podcastindex.org/namespace/1.0' url='x'/>"
         "<c:encoded xmlns:c='http://purl.org/rss/1.0/modules/content/'>x</c:encoded>",
         [("i:image", "href", "x"), ("p:chapters", "url", "x"), ("c:encoded", "", "x")]),
        # sitemaps.org; Google's extensions
        (("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>x</loc>"
         "<i:image xmlns:i='http://www.google.com/schemas/sitemap-image/1.1'><i:loc>x</i:loc>"
         "</i:image></url></urlset>"), [("loc", "", "x"), ("i:loc", "", "x")]),
        ("<opml version='2.0'><outline xmlUrl='x' htmlUrl='x' url='x' xmlurl='y'/></opml>",
         [("outline", "xmlUrl", "x"), ("outline", "htmlUrl", "x"), ("outline", "url", "x")]),
        ("<package xmlns='http://www.idpf.org/2007/opf'><item href='x' id='y'/></package>",
         [("item", "href", "x")]),
        ("<ncx xmlns='http://www.daisy.org/z3986/2005/ncx/'><content src='x'/></ncx>",
         [("content", "src", "x")]),
        ("<book><ulink url='x'/><imagedata fileref='x'/></book>",
         [("ulink", "url", "x"), ("imagedata", "fileref", "x")]),
        # an unknown vocabulary
        (f"<unknown{X} href='y' src='y'><link>y</link><a x:href='x' x:role='y'/></unknown>",
         [("a", "x:href", "x")]),
        # XHTML: text of style and script
        (f"<html{H}><style>x</style><script>y</script><script type='importmap'>x</script></html>",
         [("style", "", "x"), ("script", "", "x")]),
    ],
)  # fmt: skip
def test_vocabularies(document: str, expected: list[tuple[str, str, str]]) -> None:
    assert [row for row in found(document) if row[0] != "Left"] == expected


def test_extended_rows() -> None:
    document = f"<html{H}><p itemid='x' about='x'/></html>"
    assert found(document) == []
    assert [row[1] for row in found(document, extended=True)] == ["itemid", "about"]
