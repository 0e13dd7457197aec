"""Rule 20: XML rewritten in place, xml:base in scopes, HTML in feeds, what passes through."""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lxml import etree
from rows import cases, text
from scanners import assert_agreed
from xml_referee import PARSER, differences, parsed

import relbase
from relbase import Policy, Profile, Status
from relbase.edit import splice
from relbase.trees import make_links_absolute
from relbase.xml.bases import MAX_XML_BASE_DEPTH
from relbase.xml.structure import MAX_DECLARED, MAX_DEPTH
from relbase.xml.visit import MAX_FLAWED, MAX_PIECES

if TYPE_CHECKING:
    from collections.abc import Callable

    from relbase.url.profiles import ProfileName

URL: Final = "http://h.example/d/feed.xml"
A: Final = ' xmlns="http://www.w3.org/2005/Atom"'
H: Final = ' xmlns="http://www.w3.org/1999/xhtml"'
S: Final = ' xmlns="http://www.w3.org/2000/svg"'
# What the tables write for namespaces, and for a text that is longer than what is read twice.
NAMES: Final = {
    " [atom]": A,
    " [xhtml]": H,
    " [svg]": S,
    "[xlink]": 'xmlns:x="http://www.w3.org/1999/xlink"',
    "[article]": f"<description>{'&lt;a href=x&gt;' * 200}</description>",
}
TABLES: Final = Path(__file__).with_name("xml_visit.txt")


def written(cell: str) -> str:
    for name, meant in NAMES.items():
        cell = cell.replace(name, meant)
    return text(cell)


def rewritten(document: str, policy: Policy = Policy(), profile: ProfileName = "rfc1808") -> str:  # noqa: B008
    data = document.encode()
    result = relbase.rewrite(data, url=URL, kind="xml", profile=profile, policy=policy)
    assert splice(data, result.edits) == result.data
    again = relbase.rewrite(result.data, url=URL, kind="xml", profile=profile, policy=policy)
    assert again.data == result.data
    return result.data.decode()


def reasons(document: str | bytes, **call: Any) -> list[str]:
    data = document.encode() if isinstance(document, str) else document
    result = relbase.rewrite(data, url=URL, kind="xml", **call)
    return [note.reason.value for note in result.notes]


# Beside what fixtures/xml has.
@cases(TABLES, "documents", document=written, expected=written)
def test_documents(document: str, expected: str) -> None:
    assert rewritten(document) == expected


def test_the_empty_reference_is_one_into_its_document() -> None:
    feed = f"<feed{A}><link href=''/><icon>x</icon><div{H}><a href=''/></div></feed>"
    kept = rewritten(feed, Policy(keep_fragments=True))
    assert kept == rewritten(feed).replace(
        "<link href='http://h.example/d/feed.xml'", "<link href=''"
    )
    found = relbase.links(feed.encode(), url=URL, kind="xml", policy=Policy(keep_fragments=True))
    assert [link.status.value for link in found] == ["kept", "rewritten", "rewritten"]


def test_all_html_in_a_feed_is_a_nested_document() -> None:
    item = "<item%s><description>&lt;a href='?é'&gt;&lt;form action=''&gt;</description></item>"
    feed = f"<?xml version='1.0' encoding='iso-8859-1'?><rss><channel>{item * 3}</channel></rss>"
    data = (feed % ("", " xml:base='/e/feed.xml'", "")).encode("latin-1")
    for profile in Profile:
        result = assert_agreed(data, url=URL, profile=profile)
        urls = [link.url for link in result.links if link.reference == "?é"]
        assert urls[0] == urls[2]
        actions = [link.status for link in result.links if not link.reference]
        assert actions == [Status.KEPT] * 3


# Readers know items by their guids, as strings.
@cases(TABLES, "guids", guids=str, count=int)
def test_guids_stay(guids: str, count: int) -> None:
    feed = f"<rss><item>{guids}<link>x</link></item></rss>"
    assert rewritten(feed) == feed.replace(">x</link>", ">http://h.example/d/x</link>")
    assert reasons(feed) == ["feed-guid"] * (count > 0)
    notes = relbase.rewrite(feed.encode(), url=URL, kind="xml").notes
    said = f"{count} relative guid{'s' if count > 1 else ''} left unchanged: feed readers compare"
    assert [note.text.startswith(said) for note in notes] == [True] * len(notes)


# Rule 7: browsers ignore xml:base in the documents that they show, and readers of feeds do not.
@cases(TABLES, "xml:base", document=written, expected=str)
def test_whatwg(document: str, expected: str) -> None:
    found = relbase.links(document.encode(), url=URL, kind="xml", profile="whatwg")
    assert [link.url for link in found] == ["http://h.example/d/b/", expected]


ITEM: Final = (
    "<rss><item>{before}<description>&lt;img src='x'&gt;</description>{after}</item>"
    "<item><description>&lt;img src='x'&gt;</description></item></rss>"
)
LINK: Final = "<link>http://h.example/p/1/</link>"


@pytest.mark.parametrize("places", [{"before": LINK, "after": ""}, {"before": "", "after": LINK}])
def test_item_links(places: dict[str, str]) -> None:
    document = ITEM.format(**places)
    own, other = "'http://h.example/d/x'", "'http://h.example/p/1/x'"
    assert (rewritten(document).count(own), rewritten(document).count(other)) == (2, 0)
    assert reasons(document) == ["item-link"]
    [note] = relbase.rewrite(document.encode(), url=URL, kind="xml").notes
    assert note.span is not None
    assert note.span.start == document.index("x'")
    linked = rewritten(document, Policy(item_links=True))
    assert (linked.count(own), linked.count(other)) == (1, 1)


# What is learned of an element outside of items does not hide its links in one.
def test_xhtml_in_and_around_items() -> None:
    link = "<h:a href='x'/>"
    document = f"<rss xmlns:h='http://www.w3.org/1999/xhtml'>{link}<item>{LINK}{link}</item></rss>"
    assert reasons(document) == ["item-link"]


ENTRY: Final = (
    f"<feed{A}><entry{{attributes}}><link rel='self' href='/other/'/><link href='p/1/'/>"
    "<content{base} type='html'>&lt;img src='x'></content>"
    f"<summary{{base}} type='xhtml'><div{H}><img src='x'/></div></summary></entry>"
    "<entry><summary type='html'>&lt;img src='x'></summary></entry></feed>"
)


# RFC 4287 §4.2.7.2: a link without a relation is the alternate.
@pytest.mark.parametrize(
    ("attributes", "base", "url"),
    [
        ("", "", "http://h.example/d/p/1/x"),
        (" xml:base='http://h.example/b/'", "", "http://h.example/b/p/1/x"),
        ("", " xml:base='http://h.example/b/'", "http://h.example/b/x"),
    ],
)
def test_item_links_of_atom(attributes: str, base: str, url: str) -> None:
    feed = ENTRY.format(attributes=attributes, base=base)
    linked = rewritten(feed, Policy(item_links=True))
    assert linked.count(f"'{url}'") == 2
    assert linked.count("'http://h.example/d/x'") == 1
    notes = relbase.rewrite(feed.encode(), url=URL, kind="xml").notes
    told = f"2 links in items against the item's own link (the first, 'x', to '{url}')"
    assert [told in note.text for note in notes] == [True] * (not base)


@cases(TABLES, "not escaped", document=written, reason=str)
def test_html_in_a_feed_that_is_not_escaped_is_read(document: str, reason: str | None) -> None:
    result = assert_agreed(document.encode(), url=URL, kind="xml")
    expected = document
    if reason != "xml-unsound":
        expected = re.sub(r"(?<=[('>])x(?=[ )'<])", "http://h.example/d/x", document)
    assert result.data.decode() == expected
    assert [note.reason.value for note in result.notes] == ([reason] if reason else [])


@cases(TABLES, "the site of a feed", feed=written, site=str, noted=bool)
def test_the_site_of_a_feed_is_its_base_by_policy(
    feed: str, site: str | None, *, noted: bool
) -> None:
    assert reasons(feed).count("site-link") == noted
    policy = Policy(site_links=True)
    assert reasons(feed, policy=policy).count("site-link") == 0
    data = feed.encode()
    assert relbase.base(data, url=URL, kind="xml", policy=policy).url == (site or URL)
    found = relbase.links(data, url=URL, kind="xml", policy=policy)
    expected = f"{site}x" if site else "http://h.example/d/x"
    assert {link.url for link in found if link.reference == "x"} <= {expected}


def test_xml_base_and_item_links_are_stronger_than_the_site() -> None:
    start = f"<feed{A}><link href='http://site.example/'/>"
    html = "<content type='html'>&lt;a href=x></content>"
    on_base = f"{start}<entry xml:base='/b/'>{html}</entry></feed>"
    assert "=http://site.example/b/x>" in rewritten(on_base, Policy(site_links=True))
    on_link = f"{start}<entry><link href='/p/'/>{html}</entry></feed>"
    both = Policy(site_links=True, item_links=True)
    assert "=http://site.example/p/x>" in rewritten(on_link, both)


@cases(TABLES, "in base64", type_=str, html=str, becomes=str)
@pytest.mark.parametrize("indent", ["", "\n  "])
def test_html_in_base64_is_read(type_: str, html: str, becomes: str | None, indent: str) -> None:
    def feed(inner: str) -> bytes:
        coded = b64encode(inner.replace("L", "\n").encode()).decode()
        content = f"<content mode='base64' type='{type_}'>{indent}{coded}{indent}</content>"
        start = "<feed xmlns='http://purl.org/atom/ns#'><entry><link href='http://h.example/i/'/>"
        return f"{start}{content}</entry></feed>".encode()

    data, expected = feed(html), feed(html if becomes is None else becomes)
    result = relbase.rewrite(data, url=URL, kind="xml")
    # As in mail, a short line is broken when it becomes longer than 76.
    assert result.data.replace(b"\n", b"") == expected.replace(b"\n", b"")
    assert result.notes == ()
    links = relbase.links(data, url=URL, kind="xml", policy=Policy(item_links=True))
    on_link = ["http://h.example/i/x"] if "=x" in html and becomes and "base" not in html else []
    assert [link.url for link in links if link.reference == "x" and on_link] == on_link


@pytest.mark.parametrize(
    "coded", ["PGEgaHJlZj14Pg=", "PGEgaHJlZj14Pg==#", "&#80;GEgaHJlZj14Pg==", "/w=="]
)
def test_base64_that_does_not_decode_as_utf_8_stays(coded: str) -> None:
    content = f"<content mode='base64' type='text/html'>{coded}</content>"
    feed = f"<feed xmlns='http://purl.org/atom/ns#'>{content}</feed>"
    result = relbase.rewrite(feed.encode(), url=URL, kind="xml")
    assert not result.changed
    assert [note.reason.value for note in result.notes] == ["xml-base64"]


@cases(TABLES, "the link of an item", item=str, link=str)
def test_what_readers_take_as_the_link_of_an_item(item: str, link: str | None) -> None:
    ends = "</item>" if item.startswith("<item") else "</atom:entry>"
    name = "description" if item.startswith("<item") else "atom:summary"
    held = item.replace(ends, f"<{name} type='html'>&lt;img src='x'></{name}>{ends}")
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    spaces = f"{A.replace('xmlns', 'xmlns:atom')} xmlns:rdf='{rdf}'"
    document = f"<rss{spaces}><channel>{held}</channel></rss>"
    expected = f"http://h.example{link or '/d/'}x"
    found = relbase.links(document.encode(), url=URL, kind="xml", policy=Policy(item_links=True))
    assert [each.url for each in found if each.reference == "x"] == [expected]
    assert reasons(document).count("item-link") == (link is not None)
    tree = etree.fromstring(document)
    changed = make_links_absolute(tree, URL, policy=Policy(item_links=True))
    assert [each.url for each in changed if each.reference == "x"] == [expected]


@cases(TABLES, "quotes of items", markup=str, shown=str)
def test_a_note_shows_the_decoded_reference(markup: str, shown: str) -> None:
    document = f"<rss><item>{LINK}<description>{markup}</description></item></rss>"
    [note] = relbase.rewrite(document.encode(), url=URL, kind="xml").notes
    assert f"the first, {shown!r}, to 'http://h.example/p/1/{shown}'" in note.text


@cases(TABLES, "item links", reference=str, differs=bool)
def test_when_an_item_link_would_differ(reference: str, *, differs: bool) -> None:
    document = (
        f"<rss><item>{LINK}<description>&lt;img src='{reference}'&gt;</description></item></rss>"
    )
    assert reasons(document, profile="rfc3986") == ["item-link"] * differs


# What the spans say is believed only when expat takes the document for one.
@cases(TABLES, "unsound", document=written, why=str)
def test_unsound_documents_pass_through(document: str, why: str) -> None:
    data = document.encode()
    result = relbase.rewrite(data, url=URL, kind="xml")
    assert result.data is data
    (note,) = result.notes
    assert note.reason.value == "xml-unsound"
    assert why in note.text
    assert note.span is not None
    assert {link.status for link in result.links} <= {Status.KEPT}
    assert {link.url for link in result.links} <= {None}


# Rule 20: flaws that leave spans, names and scopes certain are passed over.
@cases(TABLES, "flaws", document=written, expected=written, why=str)
def test_flaws_without_a_consequence(document: str, expected: str | None, why: str) -> None:
    expected = expected or document.replace(">x<", ">http://h.example/d/x<", 1)
    assert rewritten(document) == expected
    [note] = relbase.rewrite(document.encode(), url=URL, kind="xml").notes
    assert note.reason.value == "xml-flaw"
    assert why in note.text
    assert note.text.endswith(": ignored")


# Readers disagree on what such a reference is.
@cases(TABLES, "left", document=written, kept=int)
def test_references_with_a_flaw_stay(document: str, kept: int) -> None:
    expected = document.replace(">x<", ">http://h.example/d/x<")
    expected = expected.replace("'a 2x,", "'http://h.example/d/a 2x,")
    assert rewritten(document) == expected
    found = list(relbase.links(document.encode(), url=URL, kind="xml"))
    assert [link.status for link in found].count(Status.KEPT) == kept
    notes = relbase.rewrite(document.encode(), url=URL, kind="xml").notes
    assert any("left unchanged" in note.text for note in notes) is ("href='b'" not in document)


def test_an_absolute_reference_with_a_flaw_is_listed_alike_before_and_after() -> None:
    feed = b"<feed xmlns='http://www.w3.org/2005/Atom'><link href='http://h/\x01b'/>%b</feed>"
    results = [relbase.rewrite(feed % link, url=URL) for link in (b"<link href='x'/>", b"")]
    listed = [result.links[0] for result in results]
    assert listed[0] == listed[1]
    assert (listed[0].status, listed[0].url) == (relbase.Status.ABSOLUTE, "http://h/\x01b")


def test_what_follows_the_root_is_not_listed() -> None:
    feed = b"<rss><link>http://a/</link></rss><rss><link>http://b/</link></rss>"
    assert [link.reference for link in relbase.links(feed, url=URL)] == ["http://a/"]


# After a text that was looked at, others of its name are read at once.
@pytest.mark.parametrize("before", ["", "<description>&lt;a href='/y'></description>"])
@pytest.mark.parametrize("flaw", ["\x01", "&nbsp;", "&#1;", "\ufffe"])
def test_how_long_a_text_with_a_flaw_may_be(flaw: str, before: str) -> None:
    room = MAX_FLAWED - len(flaw.encode()) + len(flaw)
    for more in (0, 1):
        html = f"&lt;a href='x'>{flaw}".ljust(room + more)
        document = f"<rss>{before}<description>{html}</description></rss>"
        result = assert_agreed(document.encode(), url=URL)
        assert (b"http://h.example/d/x" in result.data) is not bool(more)


# Without its declaration a customary prefix means what it always does.
@cases(TABLES, "prefixes", document=written, prefixes=list[str])
def test_prefixes_that_nothing_binds(document: str, prefixes: list[str]) -> None:
    expected = document.replace("'x'", "'http://h.example/d/x'").replace(
        ">x<", ">http://h.example/d/x<"
    )
    assert rewritten(document) == expected
    notes = relbase.rewrite(document.encode(), url=URL, kind="xml").notes
    assert [note.text.partition(":")[0] for note in notes] == prefixes
    assert {note.reason.value for note in notes} <= {"xml-prefix"}
    assert all(note.span and document[note.span.start] == "<" for note in notes)


# Each level, and each namespace that an element declares, costs memory.
def nested(depth: int, tag: bytes = b"<a>") -> bytes:
    links = b"<link rel='next' href='x'/>"
    feed = b"<feed xmlns='http://www.w3.org/2005/Atom'>"
    return feed + links + tag * depth + b"</a>" * depth + b"</feed>"


def scoped(depth: int) -> bytes:
    return nested(depth, b"<a xmlns:p='%099d'>" % 0)


def declaring(count: int) -> bytes:
    namespaces = b" ".join(b"xmlns:p%d='u'" % number for number in range(count))
    atom = b"<feed xmlns='http://www.w3.org/2005/Atom' "
    return atom + namespaces + b"><link href='x'/></feed>"


@pytest.mark.parametrize(
    ("make", "most", "why"),
    [
        (nested, MAX_DEPTH - 1, "nest deeper"),
        (scoped, MAX_DEPTH - 1, "nest deeper"),
        (declaring, MAX_DECLARED - 1, "too many namespaces"),
    ],
)
def test_limits_of_one_document(make: Callable[[int], bytes], most: int, why: str) -> None:
    assert relbase.rewrite(make(most), url="http://h/", kind="xml").changed
    result = relbase.rewrite(make(most + 1), url="http://h/", kind="xml")
    assert not result.changed
    [note] = result.notes
    assert why in note.text


@pytest.mark.parametrize("charset", ["utf-16", "shift_jis", "koi8-r", "iso-2022-jp"])
def test_the_place_is_that_of_the_bytes(charset: str) -> None:
    letter = "ж" if charset == "koi8-r" else "あ"
    document = (
        f"<?xml version='1.0' encoding='{charset}'?><rss><b>{letter * 9}</b><link>x</link></r>"
    )
    data = document.encode(charset)
    (note,) = relbase.rewrite(data, url=URL, kind="xml").notes
    at = document.index("</r>") + len("</")
    assert note.span is not None
    assert data[: note.span.start].decode(charset) == document[:at]
    # Columns are of the document's bytes, and not of what was decoded.
    assert note.text.endswith(" at line 1: left unchanged")


def test_places_in_parts_say_so() -> None:
    part = b"Content-Type: text/xml\n\n<rss>\n<link>x</link></rs>\n"
    data = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + part + b"--b--\n"
    (note,) = relbase.rewrite(data, url=URL, kind="mail").notes
    assert note.text.endswith("mismatched tag at 2:17 of part 1: left unchanged")


@pytest.mark.parametrize(
    ("before", "place"), [("", "2:17"), ("ж\n", "3:17"), ("ж", "line 2"), ("ж\nж", "line 3")]
)
def test_places_are_of_the_document_itself(before: str, place: str) -> None:
    feed = (
        "<?xml version='1.0' encoding='koi8-r'?><feed xmlns='http://www.w3.org/2005/Atom'>\n"
        f"{before}<link xml:base='ж/' href='x'/></feed>"
    )
    link = list(relbase.links(feed.encode("koi8-r"), url=URL, kind="xml"))[1]
    assert link.base.source == f"xml:base of <link> at {place}"
    document = feed.replace("koi8-r", "utf-8").encode()
    base, link = relbase.links(document, url=URL, kind="xml")
    assert link.base.source == f"xml:base of <link> at {base.line}:{base.column}"


@pytest.mark.parametrize(
    "charset", ["utf-8", "utf-16", "shift_jis", "koi8-r", "iso-2022-jp", "gbk"]
)
def test_charsets(charset: str) -> None:
    letter = "ж"
    document = (
        f"<?xml version='1.0' encoding='{charset}'?><rss><b>{letter}</b><link>{letter}</link>"
        f"<description>&lt;a href='{letter}'>{letter}</description></rss>"
    )
    result = relbase.rewrite(document.encode(charset), url=URL, kind="xml")
    expected = document.replace(f"<link>{letter}", f"<link>http://h.example/d/{letter}")
    expected = expected.replace(f"href='{letter}", f"href='http://h.example/d/{letter}")
    assert result.data.decode(charset) == expected


def test_a_charset_that_is_not_read() -> None:
    for label in ("x-unknown", "utf-7"):
        document = f"<?xml version='1.0' encoding='{label}'?><rss><link>x</link></rss>"
        (note,) = relbase.rewrite(document.encode(), url=URL, kind="xml").notes
        assert note.text == "the charset that the document states is not read: left unchanged"


# An external DTD may declare what a value refers to: such a value stays.
def test_entities_of_an_external_dtd() -> None:
    document = (
        "<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' 'xhtml1-strict.dtd'>"
        f"<html{H}><a href='x&nbsp;y'>&nbsp;</a><a href='z'/>"
        "<iframe srcdoc='&lt;p>&nbsp;'/></html>"
    )
    assert rewritten(document) == document.replace("'z'", "'http://h.example/d/z'")
    assert reasons(document) == ["xml-entity"] * 2
    found = list(relbase.links(document.encode(), url=URL, kind="xml"))
    assert [link.status.value for link in found] == ["kept", "rewritten"]


# No DTD tells what an instruction means.
def test_an_entity_in_an_instruction() -> None:
    document = "<?xml-stylesheet href='x&e;y'?><rss><link>x</link></rss>"
    assert rewritten(document) == document.replace(">x<", ">http://h.example/d/x<")
    assert reasons(document) == ["xml-entity"]


@pytest.mark.parametrize(
    "depth", [MAX_XML_BASE_DEPTH - 1, MAX_XML_BASE_DEPTH, MAX_XML_BASE_DEPTH + 1]
)
def test_the_depth_of_xml_base(depth: int) -> None:
    opened = "<e xml:base='a/'>" * (depth - 1)
    inside = f"{opened}<link href='x'/>{'</e>' * (depth - 1)}"
    document = f"<feed{A} xml:base='a/'>{inside}<icon>y</icon></feed>"
    result = relbase.rewrite(document.encode(), url=URL, kind="xml")
    is_within = depth <= MAX_XML_BASE_DEPTH
    assert (f"{'a/' * depth}x".encode() in result.data) is is_within
    assert [note.reason.value for note in result.notes] == ["limit-xml-base"] * (not is_within)
    assert b"<icon>http://h.example/d/a/y</icon>" in result.data


@pytest.mark.parametrize("count", [MAX_PIECES - 1, MAX_PIECES, MAX_PIECES + 1])
def test_the_number_of_pieces(count: int) -> None:
    document = f"<rss><link>{'<![CDATA[x]]>' * count}</link><docs>y</docs></rss>"
    result = relbase.rewrite(document.encode(), url=URL, kind="xml")
    is_within = count <= MAX_PIECES
    assert result.data.startswith(b"<rss><link><![CDATA[http://h.example/d/x]]>") is is_within
    assert [note.reason.value for note in result.notes] == ["limit-xml-pieces"] * (not is_within)
    assert result.data.endswith(b"<docs>http://h.example/d/y</docs></rss>")


def test_bases_and_their_places() -> None:
    document = (
        f"<feed{A} xml:base='a/'>\n <entry xml:base='b/'><link href='x'/></entry></feed>".encode()
    )
    base = relbase.base(document, url=URL, kind="xml")
    assert (base.url, base.layer.value) == ("http://h.example/d/a/", "embedded")
    assert base.source.startswith("xml:base of <feed> at 1:")
    link = list(relbase.links(document, url=URL, kind="xml"))[-1]
    chain = [link.base, link.base.outer, link.base.outer and link.base.outer.outer]
    assert [each and each.url for each in chain] == [
        "http://h.example/d/a/b/", "http://h.example/d/a/", "http://h.example/d/feed.xml",
    ]  # fmt: skip
    assert link.base.source == "xml:base of <entry> at 2:19"


def test_each_of_two_equal_bases_has_its_place() -> None:
    entry = "\n<entry xml:base='b/'><link href='x'/></entry>"
    document = f"<feed{A}>{entry * 2}</feed>".encode()
    sources = [link.base.source for link in relbase.links(document, url=URL, kind="xml")]
    assert sources[1::2] == [f"xml:base of <entry> at {line}:18" for line in (2, 3)]


# Law 8 for XML: a namespace-aware parser sees the same but for links, whatever the base is.
HOSTILE_BASES: Final = st.sampled_from([
    "http://h/]]>/", "http://h/]]/", "http://h/&lt;/", "http://h/'\"><a>/", "http://h/a)b(/",
    "http://h/&amp;/", "http://h/é/", "http://h/%5D%5D%3E/", "http://h/a\nb/", "http://h/\\/",
])  # fmt: skip
PIECES: Final = st.sampled_from([
    "<link>{}</link>", "<link><![CDATA[{}]]></link>", "<url xml:base='{}'>x</url>",
    "<description>&lt;a href=&quot;{}&quot;&gt;</description>", "<enclosure url='{}'/>",
    "<description><![CDATA[<a href={}>]]></description>", "<!-- {} -->", "<guid>{}</guid>",
    "<description><![CDATA[<a style='b:url({})'>]]></description>", "<link> {}<?p?></link>",
    f"<div{H}><img srcset='{{}} 2x'/><style>@import '{{}}'</style></div>",
])  # fmt: skip
REFERENCES: Final = st.sampled_from(
    ["x", "../y", "/z", "?q", "", "http://a/b", "]]", "a]", "é", "a b"]
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.builds(str.format, PIECES, REFERENCES, REFERENCES), max_size=6).map("".join),
    HOSTILE_BASES,
    st.sampled_from(Profile),
)
def test_the_infoset_is_the_same(inside: str, url: str, profile: Profile) -> None:
    data = f"<rss>{inside}</rss>".encode()
    assume(parsed(data) is not None)
    try:
        result = relbase.rewrite(data, url=url, kind="xml", profile=profile)
    except ValueError:
        return
    before, after = etree.fromstring(data, PARSER), etree.fromstring(result.data, PARSER)
    for one, other in zip(before.iter(), after.iter(), strict=True):
        assert (one.tag, one.tail, list(one.attrib)) == (other.tag, other.tail, list(other.attrib))
        if not isinstance(one.tag, str):
            assert one.text == other.text
    sections = result.data.count(b"]]>")
    assert sections == data.count(b"]]>")


@given(
    st.lists(
        st.builds(str.format, PIECES, st.sampled_from(["x", "../y", "/z"]), st.just("v")),
        max_size=6,
    )
)
def test_values_are_what_the_referee_says(pieces: list[str]) -> None:
    data = f"<rss xml:base='b/'>{''.join(pieces)}</rss>".encode()
    result = relbase.rewrite(data, url=URL, kind="xml", profile="rfc3986")
    before, after = (etree.fromstring(each, PARSER).getroottree() for each in (data, result.data))
    assert list(differences(before, after, URL, "rfc3986")) == []
    assert result.changed


# Threats N11 and E8.
def _items_in_items(depth: int) -> bytes:
    """Nest items, each with another prefix."""
    names = [b"p%d" % number for number in range(min(depth, MAX_DECLARED - 1))]
    declared = b" ".join(b"xmlns:%b='http://purl.org/rss/1.0/'" % name for name in names)
    item = b"<%b:item><%b:description>&lt;a href='x'></%b:description><%b:link>/z</%b:link>"
    opened = b"".join(item % (name, name, name, name, name) for name in names)
    closed = b"".join(b"</%b:item>" % name for name in reversed(names))
    return b"<rss " + declared + b">" + opened + closed + b"</rss>"


HOSTILE: Final[dict[str, Callable[[int], bytes]]] = {
    "xml:base nested": lambda n: b"<a xml:base='b/'>" * (n // 21) + b"</a>" * (n // 21),
    "xml:base in a row": lambda n: b"<a>" + b"<b xml:base='c/'/>" * (n // 18) + b"</a>",
    "lines": lambda n: b"<a>" + b"\n<b xml:base='/c'/>" * (n // 18) + b"</a>",
    "a section of links": lambda n: b"<rss><description><![CDATA[" + b"<a href='x'>" * (n // 12)
    + b"]]></description></rss>",
    "links after a comment": lambda n: b"<rss><description><!-- -->"
    + b"&lt;a href='x'>" * (n // 15) + b"</description></rss>",
    "a long link of an item": lambda n: b"<rss><channel><item><link>http://z/" + b"a/" * (n // 4)
    + b"</link><description>" + b'&lt;a href="./x">' * (n // 36) + b"</description></item>"
    + b"</channel></rss>",
    "items in others": lambda n: _items_in_items(n // 150),
    "items never closed": lambda n: b"<rss>" + b"<item><description>&lt;a href='x'&gt;" * (n // 38),
    "items in items": lambda n: b"<rss>"
    + b"<item><description>&lt;a href='x'&gt;</description>" * (n // 51),
    "items with links": lambda n: b"<rss>"
    + b"<item><link>/y/</link><description>&lt;a href='x'&gt;</description></item>" * (n // 73)
    + b"</rss>",
    "texts in one item": lambda n: b"<rss><item>"
    + b"<description>&lt;a href='x'&gt;</description>" * (n // 45) + b"</item></rss>",
    "links before an item of another kind": lambda n:
    b"<feed xmlns='http://www.w3.org/2005/Atom'><entry>" + b"<link href='/y'/>" * (n // 17)
    + b"<x:item xmlns:x='u'/><content type='html'>&lt;a href='x'></content></entry></feed>",
    "ends of sections": lambda n: b"<rss><description>" + b"<![CDATA[]]]]><![CDATA[>]]>" * (n // 27)
    + b"</description></rss>",
    "escapes": lambda n: b"<rss><description>" + b"&lt;a href=&#39;x&#x27;&gt;" * (n // 26)
    + b"</description></rss>",
    "entities": lambda n: b"<!DOCTYPE a [" + b"<!ENTITY a 'b'>" * (n // 15)
    + b"]><a xml:base='b'/>",
    "laughs": lambda n: b"<!DOCTYPE a [<!ENTITY a 'aaaaaaaaaa'>"
    + b"<!ENTITY b '&a;&a;&a;&a;&a;'>" * (n // 29) + b"]><a xml:base='b'>&b;</a>",
    "deep": lambda n: b"<a xml:base='b/'>" + b"<b>" * (n // 7) + b"</b>" * (n // 7) + b"</a>",
    "comments in a doctype": lambda n: b"<!DOCTYPE a [" + b"<!-- " * (n // 5),
    "instructions in a doctype": lambda n: b"<!DOCTYPE a [" + b"<?x " * (n // 4),
    "style sheets": lambda n: b"<?xml-stylesheet href='a'?>" * (n // 27) + b"<a/>",
    "prefixes rebound": lambda n: b"<a xmlns:p='u%d' p:b='c'>" * (n // 25),
    "a default each": lambda n: b"".join(b"<a xmlns='u%d'>" % i for i in range(n // 16)),
    "new prefixes nested": lambda n: b"".join(b"<a xmlns:p%d='u'>" % i for i in range(n // 18)),
    "prefixed attributes": lambda n: b"<a" + b"".join(b" b:c%d='d'" % i for i in range(n // 12)),
    "many names": lambda n: b"".join(b"<a%d/>" % i for i in range(n // 8)),
    "comments in texts": lambda n: b"<rss>" + b"<link>x<!---->" * (n // 14),
    "texts never closed": lambda n: b"<rss>" + b"<link>" * (n // 6),
    "one tag": lambda n: b"<a " + b"b " * (n // 2),
    "open comments": lambda n: b"<!--" * (n // 4),
    "flaws": lambda n: b"<rss><link>x</link>" + b"<link>/a&b&c;\x01</link>" * (n // 23)
    + b"</rss>",
    "flaws in HTML": lambda n: b"<rss><description>" + b"&lt;a href=x&d;&amp;e>" * (n // 22)
    + b"</description></rss>",
    "references in HTML": lambda n: b"<rss><description>&lt;a href=x>"
    + b"".join(b"&#%d;" % i for i in range(99, n // 8)) + b"</description></rss>",
    "repeated attributes": lambda n: b"<rss><link>x</link>" + b"<a b='' b=''/>" * (n // 14)
    + b"<!--" * 99 + b"</rss>",
    "declarations": lambda n: b"<rss><link>x</link></rss>" + b"<?xml " * (n // 6),
    "bases in links": lambda n: b"<rss>" + b"<link xml:base='a/'>x</link>" * (n // 27) + b"</rss>",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear(name: str) -> None:
    def both(data: bytes) -> None:
        relbase.rewrite(data, url=URL, kind="xml")

    assert_linear_from_10_ms(both, HOSTILE[name])


OPENED: Final[list[str]] = []


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if OPENED and (event == "open" or event.startswith(("socket.", "urllib.", "subprocess."))):
        OPENED.append(f"{event} {arguments[0]!r}")


def test_no_file_and_no_socket_is_opened() -> None:
    documents = [
        b"<!DOCTYPE a SYSTEM 'http://h/x.dtd'><a xml:base='b'/>",
        b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a xml:base='b'>&x;</a>",
        b"<!DOCTYPE a [<!ENTITY % x SYSTEM 'http://h/x'> %x;]><a xml:base='b'/>",
        b"<a xmlns:i='http://www.w3.org/2001/XInclude' xml:base='b'><i:include href='/x'/></a>",
        b"<?xml-stylesheet href='x.xsl'?><rss><link>x</link></rss>",
    ]
    for _ in range(2):  # modules are loaded the first time
        OPENED.clear()
        if _:
            sys.addaudithook(_watch)
            OPENED.append("")
        for data in documents:
            relbase.rewrite(data, url=URL, kind="xml")
    seen = OPENED[1:]
    OPENED.clear()
    assert seen == []


_TEXT: Final = "<description>&lt;a href='p'></description>"
_LINK: Final = "<link>http://o.example/x/</link>"


@pytest.mark.parametrize(
    ("items", "count"),
    [
        (f"<item>{_LINK}{_TEXT}<b/>{_TEXT}</item>{_TEXT}<item>{_TEXT}</item>", 2),
        (f"<item>{_TEXT}{_LINK}{_TEXT}</item>{_TEXT}", 2),
        (f"<item>{_LINK}{_TEXT}<!-- </item> -->{_TEXT}</item>{_TEXT}{_TEXT}", 2),
        (f"<item>{_LINK}<link>http://h.example/d/y</link>{_TEXT}</item>", 1),
        (f"<item><guid>http://h.example/d/y</guid>{_TEXT}{_LINK}</item>{_LINK}", 1),
        (f"<item>{_LINK}</item>{_TEXT}<item><link></link>{_TEXT}</item>", 0),
    ],
)
def test_a_link_is_that_of_the_item_around(items: str, count: int) -> None:
    data = f"<rss><channel>{items}</channel></rss>".encode()
    result = assert_agreed(data, url="http://h.example/d/f", kind="xml")
    notes = [note.text for note in result.notes if note.reason.value == "item-link"]
    told = "a link in an item" if count == 1 else f"{count} links in items"
    assert [told in text for text in notes] == [True] * bool(count)
