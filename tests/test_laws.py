"""The laws of a rewriting, on documents that a grammar makes and that hold hostile things.

Each law counts how many of its examples had a link that was rewritten: a law about rewriting that
is tried on documents without links says nothing. html5lib is the referee of what a document is.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final

import html5lib
import laws
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from laws import Call, examples
from strategies import HOSTILE, PLAIN, bases, pages

import relbase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from xml.etree.ElementTree import Element

    from relbase import Link, Result

FIXTURES: Final = Path(__file__).parents[1] / "fixtures"

profiles = st.sampled_from(relbase.Profile)
policies = st.sampled_from(
    (relbase.Policy(), relbase.Policy(extended=True), relbase.Policy(keep_fragments=True))
)
calls = st.fixed_dictionaries(
    {"url": bases, "profile": profiles, "policy": policies, "kind": st.just("html")}
)
SLOW: Final = examples(120)


def check(law: Callable[[bytes, Call], Result]) -> None:
    laws.check(law, pages, calls, 120)


def rewrite(data: bytes, call: Call) -> Result:
    return relbase.rewrite(data, **call)


def links(data: bytes, call: Call) -> list[Link]:
    return list(relbase.links(data, **call))


def test_law_1_nothing_relative_nothing_changed() -> None:
    def law(data: bytes, call: Call) -> Result:
        result = rewrite(data, call)
        if not any(link.status is relbase.Status.REWRITTEN for link in links(data, call)):
            assert result.data is data
            assert result.edits == ()
        else:
            assert result.data is not data
        return result

    check(law)


def test_law_1_without_a_base_nothing_changes() -> None:
    @SLOW
    @given(pages, profiles)
    def law(data: bytes, profile: relbase.Profile) -> None:
        data = re.sub(rb"(?i)base|codebase", b"b", data)
        result = relbase.rewrite(data, profile=profile, kind="html")
        assert result.data is data

    law()


def test_law_2_outside_of_the_edits_every_byte_is_the_same() -> None:
    def law(data: bytes, call: Call) -> Result:
        result = rewrite(data, call)
        at = moved = 0
        for edit in result.edits:
            assert at <= edit.start <= edit.end <= len(data)
            assert result.data[at + moved : edit.start + moved] == data[at : edit.start]
            start = edit.start + moved
            assert result.data[start : start + len(edit.new)] == edit.new
            moved += len(edit.new) - (edit.end - edit.start)
            at = edit.end
        assert result.data[at + moved :] == data[at:]
        return result

    check(law)


def test_law_3_a_second_rewriting_changes_nothing() -> None:
    def law(data: bytes, call: Call) -> Result:
        result = rewrite(data, call)
        again = rewrite(result.data, call)
        assert again.edits == ()
        assert again.data is result.data
        return result

    check(law)


# Of a URL with nothing else in it the spelling is the same in every place.
_plain: Final = re.compile(r"[A-Za-z0-9/:.?=#%_~-]*").fullmatch


def test_law_4_the_links_after_are_the_links_before() -> None:
    def law(data: bytes, call: Call) -> Result:
        result = rewrite(data, call)
        before, after = links(data, call), links(result.data, call)
        assert [_place(link) for link in before] == [_place(link) for link in after]
        for old, new in zip(before, after, strict=True):
            if old.status is relbase.Status.REWRITTEN:
                assert new.status is relbase.Status.ABSOLUTE
                if old.url is not None and _plain(old.url):
                    assert new.url == old.url
            else:
                assert (new.status, new.reference) == (old.status, old.reference)
        return result

    check(law)


def _place(link: Link) -> tuple[str, str, str]:
    return link.element, link.attribute, link.syntax


def test_law_7_spans_are_sorted_disjoint_and_hold_the_reference() -> None:
    def law(data: bytes, call: Call) -> Result:
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
        return rewrite(data, call)

    check(law)


def test_rewriting_and_listing_agree() -> None:
    """What the search for relative references alone finds is what the search for all finds."""

    def law(data: bytes, call: Call) -> Result:
        result = rewrite(data, call)
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
        return result

    check(law)


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


def test_law_8_only_the_values_of_links_change() -> None:
    def law(data: bytes, call: Call) -> Result:
        result = rewrite(data, call)
        if result.changed:
            attributes = {(link.element, link.attribute) for link in links(data, call)}
            compare(parsed(data), parsed(result.data), attributes)
        return result

    check(law)


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
    for one, other in zip(olds, news, strict=True):
        assert one.tail == other.tail
        if callable(one.tag):  # a comment; a conditional one has markup in it
            assert one.text == other.text or (one.text or "").lower().startswith("[if")
            continue
        if one.tag.rpartition("}")[2] not in {"style", "script", "noscript"}:
            assert one.text == other.text
        assert list(one.attrib) == list(other.attrib)
        name = one.tag.rpartition("}")[2].lower()
        for key, value in one.attrib.items():
            place = (name, key.replace("{http://www.w3.org/1999/xlink}", "xlink:").lower())
            if place == ("iframe", "srcdoc"):
                compare(parsed(value.encode()), parsed(other.attrib[key].encode()), attributes)
            elif value != other.attrib[key]:
                # html5lib's tree has <image> as img
                assert attributes & {place, ("image", place[1])}


def _flat(element: Element) -> Iterator[Element]:
    return element.iter()


@settings(max_examples=500)
@given(
    st.binary(max_size=200),
    profiles,
    st.one_of(st.none(), bases),
    st.sampled_from((None, *relbase.Kind)),
)
def test_law_6_any_bytes(
    data: bytes, profile: relbase.Profile, url: str | None, kind: relbase.Kind | None
) -> None:
    result = relbase.rewrite(data, url=url, profile=profile, kind=kind)
    assert len(result.links) >= 0
    for entity in relbase.entities(data, url=url, kind=kind):
        assert 0 <= entity.span.start <= entity.span.end <= len(data)


@SLOW
@given(pages, calls, st.integers(0, 400))
def test_law_6_any_prefix(data: bytes, call: Call, length: int) -> None:
    prefix = data[:length]
    assert len(rewrite(prefix, call).links) >= 0


@pytest.mark.parametrize(
    "charset", ["utf-16le", "shift_jis", "gb18030", "iso-2022-jp", "big5", "koi8-r"]
)
def test_laws_in_other_charsets(charset: str) -> None:
    @settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
    @given(pages, st.sampled_from((PLAIN, *HOSTILE)))
    def law(data: bytes, url: str) -> None:
        data = data.decode("utf-8", "replace").encode(charset, "ignore")
        call: Call = {"url": url, "charset": charset, "kind": "html"}
        result = rewrite(data, call)
        assert rewrite(result.data, call).data is result.data
        before, after = links(data, call), links(result.data, call)
        assert [_place(link) for link in before] == [_place(link) for link in after]

    law()


def test_any_prefix_of_any_fixture() -> None:
    files = [path for path in sorted(FIXTURES.rglob("*")) if path.is_file()]
    assert files
    for number, path in enumerate(files):
        data = path.read_bytes()
        step = max(1, len(data) // 10)
        for length in range(number % step, len(data), step):
            assert relbase.rewrite(data[:length], url=PLAIN) is not None
