"""The laws of a rewriting, on documents that a grammar makes and that hold hostile things.

Each law counts how many of its examples had a link that was rewritten: a law about rewriting that
is tried on documents without links says nothing. html5lib is the referee of what a document is.
"""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

import html5lib
import laws
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from laws import Call
from strategies import HOSTILE, PLAIN, bases, pages

import relbase
from relbase import Link, Result

FIXTURES: Final = Path(__file__).parents[1] / "fixtures"

profiles = st.sampled_from(relbase.Profile)
policies = st.sampled_from(
    (relbase.Policy(), relbase.Policy(extended=True), relbase.Policy(keep_fragments=True))
)
calls = st.fixed_dictionaries(
    {"url": bases, "profile": profiles, "policy": policies, "kind": st.just("html")}
)


def links(data: bytes, call: Call) -> list[Link]:
    return list(relbase.links(data, **call))


def law_1_nothing_relative_nothing_changed(data: bytes, call: Call, result: Result) -> None:
    if not any(link.status is relbase.Status.REWRITTEN for link in links(data, call)):
        assert result.data is data
        assert result.edits == ()
    else:
        assert result.data is not data


def law_1_without_a_base_nothing_changes(data: bytes, call: Call, _: Result) -> None:
    data = re.sub(rb"(?i)base|codebase", b"b", data)
    result = relbase.rewrite(data, profile=call["profile"], kind="html")
    assert result.data is data


def law_4_the_links_after_are_the_links_before(data: bytes, call: Call, result: Result) -> None:
    laws.assert_links_alike(links(data, call), links(result.data, call))


def law_6_any_prefix(data: bytes, call: Call, _: Result) -> None:
    for prefix in laws.prefixes(data):
        assert len(relbase.rewrite(prefix, **call).links) >= 0


def law_7_spans_are_sorted_disjoint_and_hold_the_reference(
    data: bytes, call: Call, _: Result
) -> None:
    at = 0
    for link in links(data, call):
        start, end = link.span
        assert at <= start <= end <= len(data)
        at = end
        raw = data[start:end]
        if not re.search(rb"[&\\\r\0\x80-\xff]", raw):
            assert raw.decode() == link.reference
        assert link.line == data.count(b"\n", 0, start) + 1
        assert link.column == start - data.rfind(b"\n", 0, start)


def rewriting_and_listing_agree(data: bytes, call: Call, result: Result) -> None:
    """What the search for relative references alone finds is what the search for all finds."""
    rewritten = [link for link in links(data, call) if link.status is relbase.Status.REWRITTEN]
    for edit in result.edits:
        assert any(
            link.span.start <= edit.end and edit.start <= link.span.end for link in rewritten
        )
    for link in rewritten:
        assert any(
            edit.start <= link.span.end and link.span.start <= edit.end for edit in result.edits
        )
    assert list(result.links) == links(data, call)


# A bare `>` may end the comment or the CDATA section around a style.
@pytest.mark.parametrize(
    "text",
    [
        "<!--[if mso]><style>@import url(x);</style><![endif]-->",
        "<!--[if mso]><style>@import 'x';</style><![endif]-->",
        "<svg><style><![CDATA[a{b:url(x)}]]></style>",
    ],
)
def test_law_8_css_in_a_comment_or_a_cdata_section(text: str) -> None:
    result = relbase.rewrite(text.encode(), url="http://h.example/-->]]>/", kind="html")
    assert result.changed
    assert result.data.count(b">") == text.count(">")


def law_8_only_the_values_of_links_change(data: bytes, call: Call, result: Result) -> None:
    if result.changed and b"isindex" not in data.lower():  # of which html5lib makes a form
        attributes = {
            (str(link.element).replace("\0", "\ufffd"), str(link.attribute).replace("\0", "\ufffd"))
            for link in links(data, call)  # a NUL in a name, as html5lib writes it
        }
        compare(parsed(data), parsed(result.data), attributes)


def parsed(data: bytes) -> Element:
    """Return html5lib's tree of a document."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # With scripting noscript is raw text (rule 14). html5lib still drops most tags in a
        # select, as the standard of its day did.
        text = re.sub("(?i)(</?)select", r"\1sel", data.decode("utf-8", "replace"))
        tree: Element = html5lib.parse(
            text, treebuilder="etree", namespaceHTMLElements=False, scripting=True
        )
    return tree


def compare(old: Element, new: Element, attributes: set[tuple[str, str]]) -> None:
    """Assert that two trees differ in nothing but the values of attributes and style sheets."""
    olds, news = list(_flat(old)), list(_flat(new))
    assert [element.tag for element in olds] == [element.tag for element in news]
    # A style sheet of SVG goes on after a comment in it.
    sheets = {
        child for one in olds if one.tag == "{http://www.w3.org/2000/svg}style" for child in one
    }
    for one, other in zip(olds, news, strict=True):
        assert one.tail == other.tail or one in sheets
        if callable(one.tag):  # a comment; a conditional one has markup in it
            assert one.text == other.text or (one.text or "").lower().startswith("[if")
            continue
        # Without its namespace; a name itself may have braces.
        name = re.sub(r"^\{[^}]*\}", "", one.tag).lower()
        if name not in {"style", "script", "noscript"}:
            assert one.text == other.text
        assert list(one.attrib) == list(other.attrib)
        for key, value in one.attrib.items():
            place = (name, key.replace("{http://www.w3.org/1999/xlink}", "xlink:").lower())
            if place == ("iframe", "srcdoc"):
                compare(parsed(value.encode()), parsed(other.attrib[key].encode()), attributes)
            elif value != other.attrib[key]:
                # html5lib's tree has <image> as img
                assert attributes & {place, ("image", place[1])}


def _flat(element: Element) -> Iterator[Element]:
    return element.iter()


LAWS: Final = (
    law_1_nothing_relative_nothing_changed,
    law_1_without_a_base_nothing_changes,
    laws.law_2_outside_of_the_edits_every_byte_is_the_same,
    laws.law_3_a_second_rewriting_changes_nothing,
    law_4_the_links_after_are_the_links_before,
    law_6_any_prefix,
    law_7_spans_are_sorted_disjoint_and_hold_the_reference,
    law_8_only_the_values_of_links_change,
    rewriting_and_listing_agree,
)


def test_laws_of_documents() -> None:
    laws.check(LAWS, pages, calls, 150)


OTHER_CHARSETS: Final = ("utf-16le", "shift_jis", "gb18030", "iso-2022-jp", "big5", "koi8-r")
PIECES: Final = [
    *(b"<base href='", b"'>", b"<a href=", b"<a href='", b'<p style="a:url(', b')">', b"<style>"),
    *(b"</style>", b"url('", b"@import ", b"<svg>", b"<script type=importmap>", b"</script>"),
    *(b'{"imports":{"a":"./', b'"}}', b"<iframe srcdoc='", b"&quot;", b"&#", b"&#x", b"&amp"),
    *(b"\x1b$B", b"\x1b(B", b"\x81", b"\x95\\", b"\xff\xfe", b"\0", b"<\0a\0 \0", b"x", b"../"),
    *(b"//", b"?\xe9", b"#", b"\\", b"http://[", b"\xd8\x00", b"\xed\xa0\x80"),
]


@settings(max_examples=800)
@given(
    st.lists(st.sampled_from(PIECES) | st.binary(max_size=4), max_size=12).map(b"".join)
    | st.binary(max_size=200),
    profiles,
    st.one_of(st.none(), bases, st.sampled_from(["http://h.example/\ud800é'\"", "xy:"])),
    st.sampled_from((None, *relbase.Kind)),
    st.sampled_from((None, "utf-8", "utf-16be", "euc-jp", *OTHER_CHARSETS)),
)
def test_law_6_any_bytes(
    data: bytes,
    profile: relbase.Profile,
    url: str | None,
    kind: relbase.Kind | None,
    charset: str | None,
) -> None:
    call: Call = {"url": url, "profile": profile, "kind": kind, "charset": charset}
    result = relbase.rewrite(data, **call)
    if kind in {relbase.Kind.HTML, relbase.Kind.CSS}:
        laws.law_3_a_second_rewriting_changes_nothing(data, call, result)
    for link in result.links:
        assert 0 <= link.span.start <= link.span.end <= len(data)
        assert (link.status is relbase.Status.UNRESOLVED) <= (link.url is None)
    for entity in relbase.entities(data, url=url, kind=kind):
        assert 0 <= entity.span.start <= entity.span.end <= len(data)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(pages, st.sampled_from((PLAIN, *HOSTILE)))
def test_laws_in_other_charsets(page: bytes, url: str) -> None:
    for charset in OTHER_CHARSETS:
        data = page.decode("utf-8", "replace").encode(charset, "ignore")
        call: Call = {"url": url, "charset": charset, "kind": "html"}
        result = relbase.rewrite(data, **call)
        laws.law_3_a_second_rewriting_changes_nothing(data, call, result)
        before, after = links(data, call), links(result.data, call)
        assert [laws.place(link) for link in before] == [laws.place(link) for link in after]


def test_any_prefix_of_any_fixture() -> None:
    files = [path for path in sorted(FIXTURES.rglob("*")) if path.is_file()]
    assert files
    for number, path in enumerate(files):
        data = path.read_bytes()
        step = max(1, len(data) // 10)
        for length in range(number % step, len(data), step):
            assert relbase.rewrite(data[:length], url=PLAIN) is not None
