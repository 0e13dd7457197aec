"""XML 1.0 and Namespaces in XML: which elements can hold references, as spans."""

from __future__ import annotations

from typing import Final

import pytest
from growth import assert_linear_from_10_ms
from xml_found import A, H, S, X, found

from relbase.references import xml
from relbase.references.xml_skim import skipping
from relbase.references.xml_slots import slots


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
                for _ in slots(text, each):
                    pass

    assert_linear_from_10_ms(walk, HOSTILE[name])
