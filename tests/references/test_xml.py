"""Which values of XML are references: Namespaces in XML, XML 1.0, and the vocabularies.

In every document `./x` stands where a reference is, and `./y` where there is none.
"""

from __future__ import annotations

from typing import Final

import pytest

import relbase
from relbase import Policy

A: Final = "xmlns='http://www.w3.org/2005/Atom'"
X: Final = "xmlns:x='http://www.w3.org/1999/xlink'"
H: Final = "xmlns='http://www.w3.org/1999/xhtml'"
S: Final = "xmlns='http://www.w3.org/2000/svg'"
R: Final = "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"
XSLT: Final = "xmlns:s='http://www.w3.org/1999/XSL/Transform'"
SITEMAP: Final = "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"
IMAGE: Final = "xmlns:i='http://www.google.com/schemas/sitemap-image/1.1'"
MEDIA: Final = "xmlns:m='http://search.yahoo.com/mrss/'"
ITUNES: Final = "xmlns:i='http://www.itunes.com/dtds/podcast-1.0.dtd'"
PODCAST: Final = "xmlns:p='https://podcastindex.org/namespace/1.0'"
CONTENT: Final = "xmlns:c='http://purl.org/rss/1.0/modules/content/'"
MARKUP: Final = "&lt;a href=./x>"
NO_MARKUP: Final = "&lt;a href=./y>"


def references(document: str, policy: Policy = Policy()) -> list[str]:  # noqa: B008
    found = relbase.links(document.encode(), url="http://h/", kind="xml", policy=policy)
    return [link.reference.strip() for link in found]


@pytest.mark.parametrize(
    "document",
    [
        # Namespaces in XML §6: prefixes, the default, rebound, undone, undeclared
        f"<feed {A}><link href='./x'/></feed>",
        ("<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:link href='./x'/><link href='./y'/>"
         "</a:feed>"),
        f"<r><feed {A}><link href='./x'/></feed><link href='./y'/></r>",
        f"<feed {A}><e xmlns=''><link href='./y'/></e><link href='./x'/></feed>",
        f"<r {X}><b xmlns:x='u' x:href='./y'/><b x:href='./x'/></r>",
        f"<r {X}><b x:href='./x'><c xmlns:x='u'><d x:href='./y'/></c><d x:href='./x'/></b></r>",
        "<r><b x:href='./y'/></r>",
        "<r xmlns:x='http://www.w3.org/1999/xlin&#107;' x:href='./x'/>",
        "<r xmlns:xlink='http://other/' xlink:href='./y'/>",
        "<r xml:base='./x'><s xml:base='./x'/></r>",
        # names by case
        f"<html {H}><A href='./y'/><a HREF='./y'/><a href='./x'/></html>",
        f"<svg {S}><feImage src='./x'/><feimage src='./y'/></svg>",
        (f"<svg {S}><set attributeName='href' to='./x'/><set attributename='href' to='./y'/>"
         "</svg>"),
        # what is not an element
        (f"<feed {A}><!-- <link href='./y'/> --><?p <link href='./y'/>?>"
         "<![CDATA[<link href='./y'/>]]></feed>"),
        ("<!DOCTYPE r SYSTEM './y' [<!-- ' --> <?p ' ?> <!ELEMENT r ANY> "
         "<!NOTATION n SYSTEM ']>'>]><r xml:base='./x'/>"),
        # attributes
        f"<feed {A}><link\n\thref = \"./x>'\" rel='/>'/></feed>",
        f"<feed {A}><link title='href=\"./y\"' href='./x'/></feed>",
        # xml-stylesheet 1.0: before the root only, pseudo-attributes, not into the document
        "<?xml-stylesheet type='text/css' href='./x'?><r/>",
        "<?xml-stylesheet href='#y'?><?xml-stylesheets href='./y'?><r/>",
        "<r><?xml-stylesheet href='./y'?></r>",
        "<?xml-stylesheet href='./x'?><!DOCTYPE r><?xml-stylesheet\nhref='./x'?><r/>",
        # XSLT: what looks like a reference is a template
        f"<s:stylesheet {XSLT} xml:base='./x' {H}><a href='./x'/></s:stylesheet>",
    ],
)  # fmt: skip
def test_walk(document: str) -> None:
    found = references(document)
    assert all(reference.startswith("./x") for reference in found)
    assert len(found) == document.count("./x")


@pytest.mark.parametrize(
    "document",
    [
        # RFC 4287 §4.2; ids never
        (f"<feed {A}><id>./y</id><icon>./x</icon><logo>./x</logo><author><uri>./x</uri></author>"
         "<category scheme='./y' term='./y'/><link rel='./y' href='./x'/><content src='./x'/>"
         "</feed>"),
        (f"<entry {A}><content type='html'>{MARKUP}</content><content>{NO_MARKUP}</content>"
         f"<summary type='text'>{NO_MARKUP}</summary><summary type='html'>{MARKUP}</summary>"
         f"<content type='xhtml'><div {H}><a href='./x'/></div></content></entry>"),
        # Atom 0.3 §3.1, §3.5
        ("<feed xmlns='http://purl.org/atom/ns#'>"
         f"<content mode='escaped' type='text/html'>{MARKUP}</content>"
         f"<content type='text/html'>{NO_MARKUP}</content><author><url>./x</url></author></feed>"),
        # RSS 2.0
        ("<rss><channel><link>./x</link><docs>./x</docs><image><url>./x</url></image>"
         "<category domain='./y'/><item><enclosure url='./x' length='1'/><source url='./x'/>"
         "<comments>./x</comments><guid isPermaLink='true'>./y</guid></item></channel></rss>"),
        f"<rss><description>{MARKUP}</description><description/><description></description></rss>",
        # elements in a text
        "<rss><link>./y<b/></link><link>./x<!-- <b/> --></link></rss>",
        # RSS 1.0 and RDF
        (f"<rdf:RDF {R} xmlns='http://purl.org/rss/1.0/'><channel rdf:about='./x'><link>./x</link>"
         "<items><rdf:Seq><rdf:li resource='./x'/><rdf:li rdf:resource='./x'/></rdf:Seq></items>"
         "</channel><item rdf:ID='./y' rdf:about='./x'/></rdf:RDF>"),
        # modules
        (f"<rss><m:content {MEDIA} url='./x'><m:thumbnail url='./x'/><m:description type='html'>"
         f"{MARKUP}</m:description><m:description>{NO_MARKUP}</m:description></m:content></rss>"),
        (f"<rss><i:image {ITUNES} href='./x'/><p:chapters {PODCAST} url='./x'/>"
         f"<c:encoded {CONTENT}>{MARKUP}</c:encoded></rss>"),
        # sitemaps.org; Google's extensions
        (f"<urlset {SITEMAP}><url><loc>./x</loc><i:image {IMAGE}><i:loc>./x</i:loc></i:image></url>"
         "</urlset>"),
        "<opml><outline xmlUrl='./x' htmlUrl='./x' url='./x' xmlurl='./y'/></opml>",
        "<package xmlns='http://www.idpf.org/2007/opf'><item href='./x' id='./y'/></package>",
        "<ncx xmlns='http://www.daisy.org/z3986/2005/ncx/'><content src='./x'/></ncx>",
        "<book><ulink url='./x'/><imagedata fileref='./x'/></book>",
        # Google's data elements and product feeds, WordPress's export, Feedly's webfeeds
        ("<feed xmlns='http://www.w3.org/2005/Atom' xmlns:gd='http://schemas.google.com/g/2005'>"
         "<author><gd:image rel='./y' src='./x'/></author></feed>"),
        ("<rss xmlns:g='http://base.google.com/ns/1.0'><item><g:id>./y</g:id><g:link>./x</g:link>"
         "<g:image_link>./x</g:image_link></item></rss>"),
        ("<rss xmlns:wp='http://wordpress.org/export/1.2/' xmlns:excerpt="
         f"'http://wordpress.org/export/1.2/excerpt/'><excerpt:encoded>{MARKUP}</excerpt:encoded>"
         "<wp:attachment_url>./x</wp:attachment_url><wp:status>./y</wp:status></rss>"),
        ("<rss xmlns:webfeeds='http://webfeeds.org/rss/1.0'><webfeeds:cover image='./x'/>"
         "<webfeeds:icon>./x</webfeeds:icon><webfeeds:logo>./x</webfeeds:logo></rss>"),
        f"<rss {ITUNES}><i:summary>{MARKUP}</i:summary></rss>",
        (f"<rss {MEDIA}><m:backLinks><m:backLink>./x</m:backLink></m:backLinks><m:responses>"
         "<m:response>./x</m:response></m:responses></rss>"),
        f"<rss {PODCAST}><p:socialInteract uri='./x' accountUrl='./x' accountId='./y'/></rss>",
        # OpenSearch 1.1 §4.5.4: what is filled in never decides
        ("<OpenSearchDescription xmlns='http://a9.com/-/spec/opensearch/1.1/'><Image>./x</Image>"
         "<Url template='./x?q={searchTerms}'/><Url template='{y}./y'/><Url template='.{y}'/>"
         "</OpenSearchDescription>"),
        # KML 2.3; GPX 1.0 and 1.1
        ("<kml xmlns='http://www.opengis.net/kml/2.2'><Placemark><styleUrl>./x</styleUrl>"
         f"<Icon><href>./x</href></Icon><description>{MARKUP}</description></Placemark></kml>"),
        ("<gpx xmlns='http://www.topografix.com/GPX/1/1'><wpt><link href='./x'><text>./y</text>"
         "</link></wpt></gpx>"),
        "<gpx xmlns='http://www.topografix.com/GPX/1/0'><wpt><url>./x</url></wpt></gpx>",
        # an unknown vocabulary
        f"<u {X} href='./y' src='./y'><link>./y</link><a x:href='./x' x:role='./y'/></u>",
        # XHTML: text of style and script
        (f"<html {H}><style>a{{b:url(./x)}}</style><script>./y</script>"
         "<script type='importmap'>{\"imports\":{\"a\":\"./x\"}}</script></html>"),
    ],
)  # fmt: skip
def test_vocabularies(document: str) -> None:
    test_walk(document)


def test_what_is_local_or_encoded_stays() -> None:
    kml = "<kml xmlns='http://www.opengis.net/kml/2.2'><styleUrl>#a</styleUrl></kml>"
    assert not relbase.rewrite(kml.encode(), url="http://h/", kind="xml").changed
    atom = (
        "<feed xmlns='http://purl.org/atom/ns#'><content type='text/html' mode='base64'>"
        "PGEgaHJlZj14Pg==</content><link href='./x'/></feed>"
    )
    result = relbase.rewrite(atom.encode(), url="http://h/", kind="xml")
    assert [note.reason.value for note in result.notes] == ["xml-base64"]
    assert result.data.decode() == atom.replace("./x", "http://h/x")


TEI: Final = "{http://www.tei-c.org/ns/1.0}"


# Rows of a user, for vocabularies that relbase does not know.
@pytest.mark.parametrize(
    ("rows", "document"),
    [
        ((f"{TEI}ref@target=list", f"{TEI}graphic@url=url"),
         ("<TEI xmlns='http://www.tei-c.org/ns/1.0'><ref target='./x ./x'/><graphic url='./x'/>"
          "<ref url='./y'/></TEI>")),
        (("{http://www.w3.org/2001/XInclude}include@href=url",),
         "<a xmlns:i='http://www.w3.org/2001/XInclude'><i:include href='./x'/><b href='./y'/></a>"),
        (("a@b=url", "a@s=srcset", "c=url"),
         "<r><a b='./x' s='./x 2x'/><c>./x</c><d b='./y'/></r>"),
        (("a=html", "b=css", "c@style=css"),
         f"<r><a>{MARKUP}</a><b>d{{e:url(./x)}}</b><c style='e:url(./x)'/></r>"),
        (("{urn:a}*@ref=url",), "<r xmlns='urn:a'><b ref='./x'/><c ref='./x' href='./y'/></r>"),
        (("item@ref=url",), "<rss><item ref='./x'><link>./x</link></item></rss>"),
    ],
)  # fmt: skip
def test_rows_of_a_user(rows: tuple[str, ...], document: str) -> None:
    policy = Policy(xml_rows=rows)
    assert references(document, policy) == ["./x"] * document.count("./x")
    result = relbase.rewrite(document.encode(), url="http://h/", kind="xml", policy=policy)
    assert result.data.decode() == document.replace("./x", "http://h/x")


def test_the_empty_reference_of_rdf() -> None:
    assert references(f"<rdf:RDF {R}><rdf:Description rdf:about=''/></rdf:RDF>") == [""]


def test_extended_rows() -> None:
    document = f"<html {H}><p itemid='x' about='z'/></html>"
    assert references(document) == []
    assert references(document, Policy(extended=True)) == ["x", "z"]
