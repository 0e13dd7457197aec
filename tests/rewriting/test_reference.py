"""The verdict on one reference, and the smallest edit (rules 5 to 8)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import cases
from scanners import assert_agreed

from relbase import Layer, Profile, Reason, Status, links, rewrite
from relbase.bases.layers import UNKNOWN, Base
from relbase.edit import Edit, Span, splice
from relbase.rewriting.reference import own_url, smallest
from relbase.view.characters import decode_inner, encode_inner

TABLES = Path(__file__).with_name("reference.txt")


@cases(TABLES, "smallest edits", written=str, url=str, start=int, end=int, new=str)
def test_the_smallest_edit_keeps_the_shared_suffix(
    written: str, url: str, start: int, end: int, new: str
) -> None:
    span = Span(7, 7 + len(encode_inner(written)))
    assert smallest(written, url, span) == Edit(start + 7, end + 7, new.encode())


@given(st.text(), st.text())
def test_the_edit_makes_the_one_the_other_and_no_shorter_one_does(written: str, url: str) -> None:
    raw = encode_inner(written)
    edit = smallest(written, url, Span(0, len(raw)))
    assert splice(raw, [edit]) == encode_inner(url)
    assert edit.start == 0
    if edit.end and edit.new:
        assert decode_inner(raw[: edit.end])[-1] != decode_inner(edit.new)[-1]


def embedded(outer: Base) -> Base:
    return Base("http://base.example/", Layer.EMBEDDED, "<base>", outer)


RETRIEVED = Base("http://h.example/d?q", Layer.RETRIEVAL, "retrieval URL", UNKNOWN)
STATED = Base("http://h.example/d#f", Layer.ENTITY, "Base", RETRIEVED)

# Rule 6: the chain without its <base>, without fragment
OWN_URLS = [
    (RETRIEVED, "http://h.example/d?q"),
    (STATED, "http://h.example/d"),
    (embedded(RETRIEVED), "http://h.example/d?q"),
    (embedded(STATED), "http://h.example/d"),
    (embedded(UNKNOWN), None),
    (UNKNOWN, None),
    (Base("mailto:a@b", Layer.EMBEDDED, "<base>", RETRIEVED), "http://h.example/d?q"),
]


@pytest.mark.parametrize(("base", "url"), OWN_URLS)
def test_the_url_of_the_document_itself(base: Base, url: str | None) -> None:
    assert own_url(base) == url


@cases(TABLES, "verdicts", document=bytes, retrieved=bool, url=str, status=Status)
def test_verdicts(document: bytes, retrieved: bool, url: str | None, status: Status) -> None:  # noqa: FBT001
    *_, link = links(document, url="http://h.example/d/p.html" if retrieved else None, kind="html")
    assert (link.url, link.status) == (url, status)


def test_what_the_algorithm_cannot_resolve_is_left_with_its_reason() -> None:
    result = rewrite(b"<a href='//[x'>", url="http://h.example/", profile=Profile.WHATWG)
    assert (result.changed, result.links[0].status) == (False, Status.UNRESOLVED)
    assert [note.reason.value for note in result.notes] == ["reference-failed"]


# A path that begins with `//` where there is no network location (RFC 1808 §5.2).
@pytest.mark.parametrize(
    ("profile", "url"),
    [(Profile.RFC1808, b"file:////evil.example/x"), (Profile.RFC3986, b"file:/.//evil.example/x")],
)
def test_dot_segments_make_no_host_and_it_is_noted(profile: Profile, url: bytes) -> None:
    result = rewrite(b'<a href="..//evil.example/x">', url="file:/a/b", profile=profile)
    assert result.data == b'<a href="' + url + b'">'
    assert [note.reason for note in result.notes] == [Reason.REFERENCE_NET_LOC]
    # On a base that has one, be it empty, there is nothing to be kept apart.
    assert rewrite(b'<a href="..//h/x">', url="file:///a/b", profile=profile).notes == ()


def test_a_base_element_that_parses_alone_is_absolute() -> None:
    page = b'<base href="file:/a/b"><a href=y>'
    result = rewrite(page, profile="whatwg")
    assert result.data == b'<base href="file:/a/b"><a href=file:///a/y>'
    assert [note.reason for note in result.notes] == [Reason.BASE_RELATIVE]
    assert rewrite(result.data, profile="whatwg").data is result.data


@pytest.mark.parametrize("reference", ["/u/%%x%%", "-link-", "*|U|*", "[[x]]", "%name%", "{{ x }}"])
def test_a_placeholder_that_is_rewritten_is_noted(reference: str) -> None:
    document = f"<p><a href='{reference}'><a href=a%20b%20c><a href=x-y-z>".encode()
    result = assert_agreed(document, url="http://h.example/d/", kind="html")
    assert [note.reason.value for note in result.notes] == ["reference-template"]
    # What holds one behind its beginning is rewritten with the policy, too.
    assert result.notes[0].text.endswith("no reference that begins with one")
    assert len(result.edits) == 3


def test_a_reference_names_the_base_that_it_was_resolved_on() -> None:
    data = (
        b'<base href="/d/"><a href=""><form action="">'
        b'<object codebase="cb/" data=x></object><img src=x>'
    )
    named = [
        (link.element, link.attribute, link.url, link.base.url, link.base.layer)
        for link in links(data, url="http://h/p?q")
    ]
    assert named == [
        ("base", "href", "http://h/d/", "http://h/p?q", Layer.RETRIEVAL),
        ("a", "href", "http://h/d/", "http://h/d/", Layer.EMBEDDED),
        # the document itself: not what it embeds
        ("form", "action", "http://h/p?q", "http://h/p?q", Layer.RETRIEVAL),
        ("object", "codebase", "http://h/d/cb/", "http://h/d/", Layer.EMBEDDED),
        ("object", "data", "http://h/d/cb/x", "http://h/d/cb/", Layer.EMBEDDED),
        ("img", "src", "http://h/d/x", "http://h/d/", Layer.EMBEDDED),
    ]


@cases(TABLES, "climbs", references=list[str], base=str, count=int)
def test_one_note_counts_what_climbs_above_the_root(
    references: list[str], base: str, count: int
) -> None:
    """RFC 1808 §5.2 leaves the dots in the URL, which nobody else does."""
    document = "".join(f"<a href='{one}'>" for one in references).encode()
    result = assert_agreed(document, url=base, kind="html")
    assert [note.reason.value for note in result.notes] == ["reference-climbs"] * bool(count)
    if count:
        assert result.notes[0].text.startswith(f"{count} reference")
    if references == ["../x"] and count:
        assert result.data == b"<a href='http://h/../x'>"
        assert "write 'http://h/x'" in result.notes[0].text
    for profile in ("rfc3986", "whatwg"):
        assert rewrite(document, url=base, kind="html", profile=profile).notes == ()


def test_an_empty_action_stays_as_an_empty_href_does_on_a_url_that_was_found() -> None:
    mark = b"<!-- saved from url=(0018)http://h.example/d -->\n"
    document = mark + b'<form action=""><a href=""><a href="/z">'
    result = assert_agreed(document, kind="html")
    assert result.data == document.replace(b'"/z"', b'"http://h.example/z"')
    # Not where it is given.
    assert len(assert_agreed(document, url="http://h.example/d", kind="html").edits) == 3
