"""Which values of XML are references: Namespaces in XML, XML 1.0, and the vocabularies.

In every document `./x` stands where a reference is, and `./y` where there is none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from rows import cases

import relbase
from relbase import Policy

TABLES: Final = Path(__file__).with_name("structure.txt")
H: Final = "xmlns='http://www.w3.org/1999/xhtml'"
R: Final = "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"
MARKUP: Final = "&lt;a href=./x>"
# What the tables write for namespaces and for HTML in a text.
NAMES: Final = {
    "[atom]": "xmlns='http://www.w3.org/2005/Atom'",
    "[xlink]": "xmlns:x='http://www.w3.org/1999/xlink'",
    "[xhtml]": H,
    "[svg]": "xmlns='http://www.w3.org/2000/svg'",
    "[rdf]": R,
    "[xslt]": "xmlns:s='http://www.w3.org/1999/XSL/Transform'",
    "[sitemap]": "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'",
    "[image]": "xmlns:i='http://www.google.com/schemas/sitemap-image/1.1'",
    "[media]": "xmlns:m='http://search.yahoo.com/mrss/'",
    "[itunes]": "xmlns:i='http://www.itunes.com/dtds/podcast-1.0.dtd'",
    "[podcast]": "xmlns:p='https://podcastindex.org/namespace/1.0'",
    "[content]": "xmlns:c='http://purl.org/rss/1.0/modules/content/'",
    "[markup]": MARKUP,
    "[no markup]": "&lt;a href=./y>",
}


def references(document: str, policy: Policy = Policy()) -> list[str]:  # noqa: B008
    found = relbase.links(document.encode(), url="http://h/", kind="xml", policy=policy)
    return [link.reference.strip() for link in found]


@cases(TABLES, "walk", document=str)
def test_walk(document: str) -> None:
    for name, meant in NAMES.items():
        document = document.replace(name, meant)
    found = references(document)
    assert all(reference.startswith("./x") for reference in found)
    assert len(found) == document.count("./x")


@cases(TABLES, "vocabularies", document=str)
def test_vocabularies(document: str) -> None:
    test_walk(document)


def test_what_is_local_or_encoded_stays() -> None:
    kml = "<kml xmlns='http://www.opengis.net/kml/2.2'><styleUrl>#a</styleUrl></kml>"
    assert not relbase.rewrite(kml.encode(), url="http://h/", kind="xml").changed
    atom = (
        "<feed xmlns='http://purl.org/atom/ns#'><content type='text/html' mode='base64'>"
        "PGEgaHJlZj14Pg</content><link href='./x'/></feed>"
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
