"""XML 1.0 and Namespaces in XML: which values of which elements hold references, as spans."""

from __future__ import annotations

from typing import Final

import pytest
from growth import assert_linear_from_10_ms

from relbase.references import xml
from relbase.references.xml_skim import skipping

A: Final = ' xmlns="http://www.w3.org/2005/Atom"'
X: Final = ' xmlns:x="http://www.w3.org/1999/xlink"'
H: Final = ' xmlns="http://www.w3.org/1999/xhtml"'
S: Final = ' xmlns="http://www.w3.org/2000/svg"'
R: Final = ' xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'


def found(document: str | bytes, *, extended: bool = False) -> list[tuple[str, str, str]]:
    """Element, attribute and value of every slot; what ends and what breaks off, by its place."""
    text = document.encode() if isinstance(document, str) else document
    rows = []
    for each in xml.elements(text):
        if isinstance(each, xml.Element):
            for slot in xml.slots(text, each, extended=extended):
                value = text[slot.value.start : slot.value.end]
                rows.append((slot.element.decode(), slot.attribute.decode(), value.decode()))
        elif isinstance(each, xml.Sheet):
            rows.append(("?", "href", text[each.href.start : each.href.end].decode()))
        else:
            rows.append((type(each).__name__, "", str(each[0])))
    return rows


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        # Namespaces in XML §6: prefixes, the default, rebound, undone, undeclared, unbound
        (f"<feed{A}><link href='x'/></feed>", [("link", "href", "x")]),
        (("<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:link href='x'/><link href='y'/>"
         "</a:feed>"),
         [("a:link", "href", "x")]),
        (f"<r><feed{A}><link href='x'/></feed><link href='y'/></r>", [("link", "href", "x")]),
        (f"<feed{A}><e xmlns=''><link href='y'/></e><link href='x'/></feed>",
         [("link", "href", "x")]),
        (f"<r{X}><b xmlns:x='u' x:href='y'/><b x:href='x'/></r>", [("b", "x:href", "x")]),
        (f"<r{X}><b x:href='x'><c xmlns:x='u'><d x:href='y'/></c><d x:href='z'/></b></r>",
         [("b", "x:href", "x"), ("d", "x:href", "z")]),
        ("<r><b x:href='y'/></r>", []),
        ("<r xmlns:x='http://www.w3.org/1999/xlin&#107;' x:href='x'/>", [("r", "x:href", "x")]),
        ("<r xmlns:xlink='http://other/' xlink:href='y'/>", []),
        ("<r xml:base='x'><s xml:base='y'/></r>",
         [("r", "xml:base", "x"), ("s", "xml:base", "y"), ("Left", "", "33")]),
        ("<r><s xml:base='x'><t/><t></t></s></r>", [("s", "xml:base", "x"), ("Left", "", "34")]),
        # names by case
        (f"<html{H}><A href='y'/><a HREF='y'/><a href='x'/></html>", [("a", "href", "x")]),
        (f"<svg{S}><feImage src='x'/><feimage src='y'/></svg>", [("feImage", "src", "x")]),
        (f"<svg{S}{X}><set attributeName='href' to='x'/><set attributename='href' to='y'/></svg>",
         [("set", "to", "x")]),
        # what is not an element
        ((f"<feed{A}><!-- <link href='y'/> --><?p <link href='y'/>?><![CDATA[<link href='y'/>]]>"
         "</feed>"), []),
        (("<!DOCTYPE r SYSTEM 'y' [<!-- ' --> <?p ' ?> <!ELEMENT r ANY> <!NOTATION n SYSTEM ']>'>]>"
         "<r xml:base='x'/>"), [("r", "xml:base", "x")]),
        # attributes
        (f"<feed{A}><link\n\thref = \"x>'\" rel='/>'/></feed>", [("link", "href", "x>'")]),
        (f"<feed{A}><link title='href=\"y\"' href='x'/></feed>", [("link", "href", "x")]),
        # xml-stylesheet 1.0: before the root only, pseudo-attributes, not into the document
        ("<?xml-stylesheet type='text/css' href='x'?><r/>", [("?", "href", "x")]),
        ("<?xml-stylesheet href='#x'?><?xml-stylesheets href='y'?><r/>", []),
        ("<r><?xml-stylesheet href='y'?></r>", []),
        ("<?xml-stylesheet href='x'?><!DOCTYPE r><?xml-stylesheet\nhref='y'?><r/>",
         [("?", "href", "x"), ("?", "href", "y")]),
        # XSLT: what looks like a reference is a template
        ((f"<s:stylesheet xmlns:s='http://www.w3.org/1999/XSL/Transform' xml:base='x'{H}>"
         "</s:stylesheet>"), [("s:stylesheet", "xml:base", "x")]),
    ],
)  # fmt: skip
def test_walk(document: str, expected: list[tuple[str, str, str]]) -> None:
    assert found(document) == expected


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
        # guid: a permalink when it says so, a path when it says nothing
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


@pytest.mark.parametrize(
    ("document", "at"),
    [
        ("<r><a b='c'd='e'/></r>", 3),
        ("<r><a", 3),
        ("<r><!-- ", 3),
        ("<r><![CDATA[ ]]", 3),
        ("<r>text < text</r>", 8),
        ("<r a='<'/>", 0),
        ("<r a=b/>", 0),
        ("<!DOCTYPE r [ ' ]><r/>", 0),
        ("<?xml", 0),
    ],
)
def test_where_the_walk_breaks_off(document: str, at: int) -> None:
    assert found(document)[-1] == ("Broken", "", str(at))


def test_extended_rows() -> None:
    document = f"<html{H}><p itemid='x' about='x'/></html>"
    assert found(document) == []
    assert [row[1] for row in found(document, extended=True)] == ["itemid", "about"]


# Threats N11 and E8.
HOSTILE: Final = {
    "xml:base nested": lambda n: b"<a xml:base='b/'>" * (n // 17),
    "prefixes rebound": lambda n: b"<a xmlns:p='u%d' p:b='c'>" * (n // 25),
    "a default each": lambda n: b"".join(b"<a xmlns='u%d'>" % i for i in range(n // 16)),
    "new prefixes nested": lambda n: b"".join(b"<a xmlns:p%d='u'>" % i for i in range(n // 18)),
    "many attributes": lambda n: b"<a " + b" ".join(b"b%d='c'" % i for i in range(n // 10)) + b">",
    "prefixed attributes": lambda n: b"<a" + b"".join(b" b:c%d='d'" % i for i in range(n // 12)),
    "many names": lambda n: b"".join(b"<a%d/>" % i for i in range(n // 8)),
    "sections": lambda n: b"<rss><link>" + b"<![CDATA[x]]>" * (n // 13),
    "comments in texts": lambda n: b"<rss>" + b"<link>x<!---->" * (n // 14),
    "texts never closed": lambda n: b"<rss>" + b"<link>" * (n // 6),
    "a doctype": lambda n: b"<!DOCTYPE a [" + b"<!-- ' -->" * (n // 10),
    "quotes in a doctype": lambda n: b"<!DOCTYPE a [" + b"\"'" * (n // 2),
    "one tag": lambda n: b"<a " + b"b " * (n // 2),
    "open comments": lambda n: b"<!--" * (n // 4),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("skim", [False, True])
def test_time_is_linear(name: str, *, skim: bool) -> None:
    skip = skipping() if skim else None

    def walk(text: bytes) -> None:
        for each in xml.elements(text, skip):
            if isinstance(each, xml.Element):
                for _ in xml.slots(text, each):
                    pass

    assert_linear_from_10_ms(walk, HOSTILE[name])
