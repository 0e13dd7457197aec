"""Files that hold pages: each page has the links of the same HTML as a file, with its URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from held import FORMS, SAVED, archive, entry, firefox_entry, har, resource, webarchive
from hypothesis import given
from hypothesis import strategies as st
from strategies import pages as html_pages

import relbase
from relbase.cli.options import HELD
from relbase.kind import Kind
from relbase.warc import Fault, Page, link_rows
from relbase.warc.held import HOLDERS, is_html, pages_in

if TYPE_CHECKING:
    from collections.abc import Iterator


def pages(kind: str, data: bytes) -> list[Page]:
    found = list(pages_in(HOLDERS[kind], data))
    assert all(isinstance(one, Page) for one in found)
    return [one for one in found if isinstance(one, Page)]


def test_only_kinds_that_relbase_reads_are_pages() -> None:
    [page, sheet, *frames] = pages("webarchive", webarchive(SAVED))
    assert (page.url, page.status, page.content_type, is_html(page)) == (
        "http://h.example/a/page?q#f",
        None,
        "text/html; charset=UTF-8",
        True,
    )
    assert (sheet.url, is_html(sheet)) == ("http://h.example/a/s.css", False)
    assert [frame.url for frame in frames] == [
        "http://h.example/f/",
        "about:blank",
        "http://k.example/f/",
    ]
    types = ["text/html", "application/xhtml+xml", "image/svg+xml", "text/javascript", "image/png"]
    made = har(
        *(entry("http://h/", "<a/>", type_) for type_ in [*types, "application/x-unknown", ""])
    )
    assert [(one.content_type, is_html(one)) for one in pages("har", made)] == [
        ("text/html", True),
        ("application/xhtml+xml", True),
        ("image/svg+xml", False),
        ("", True),
    ]


def test_what_is_missing_of_a_picture_is_no_fault() -> None:
    made = [entry("http://h/", None, type_, size=9) for type_ in ("image/png", "text/html")]
    [fault] = pages_in(HOLDERS["har"], har(*made))
    assert isinstance(fault, Fault)
    assert (fault.url, fault.trouble.value) == ("http://h/", "undecodable")


def test_redirects_are_layers() -> None:
    made = [entry("http://h/1", "", status=301, to="/2"), entry("http://h/2", "<a href=x>")]
    [page] = pages("har", har(*made))
    [row] = link_rows(page)
    assert (row.url, row.base, row.base_source) == ("http://h/x", "http://h/2", "redirect 1")


def test_header_fields_of_a_har_count() -> None:
    made = entry("http://h/d/", "<a href=x>", headers=(("Content-Base", "http://k/"),))
    [page] = pages("har", har(made))
    [row] = link_rows(page)
    assert (row.url, row.layer) == ("http://k/x", "entity")


URL = "http://h.example/d/p.html?q"


def in_files(page: bytes, charset: str) -> Iterator[tuple[str, bytes]]:
    for form in FORMS:
        made = archive(resource(URL, "text/html", page, charset))
        yield "webarchive", webarchive(made, form)
    type_ = f"text/html; charset={charset}"
    yield "har", har(entry(URL, page, type_))  # in base64
    text = page.decode(charset, "replace")
    if text.encode(charset, "replace") == page:
        yield "har", har(entry(URL, text, type_))
        yield "har", har(firefox_entry(URL, text, type_), indent=None)


def assert_alike(page: bytes, charset: str, **how: Any) -> int:
    headers = {"Content-Type": f"text/html; charset={charset}"}
    expected = [
        (link.element, link.attribute, link.reference, link.url, link.status.value, *link.span)
        for link in relbase.links(page, url=URL, headers=headers, **how)
    ]
    for kind, data in in_files(page, charset):
        [one] = pages(kind, data)
        assert one.body == page
        assert [
            (row.element, row.attribute, row.reference, row.url, row.outcome, row.start, row.end)
            for row in link_rows(one, **how)
        ] == expected
    return len(expected)


@pytest.mark.parametrize("profile", relbase.Profile)
@pytest.mark.parametrize("charset", ["utf-8", "windows-1251", "shift_jis", "iso-8859-1"])
def test_links_are_those_of_the_same_page_as_a_file(charset: str, profile: Any) -> None:
    page = (
        "<base href=../e/><a href='x?я&amp;é'>日</a><p style='a:url(y)'><img srcset='a 1x, b 2x'>"
    )
    assert assert_alike(page.encode(charset, "ignore"), charset, profile=profile) == 5


@given(html_pages, st.sampled_from(["utf-8", "windows-1252"]))
def test_links_of_any_page_are_those_of_the_same_page_as_a_file(page: bytes, charset: str) -> None:
    assert_alike(page, charset)


def test_the_kinds_of_the_command_line_are_these() -> None:
    assert tuple(HOLDERS) == HELD
    assert not {*HELD} & {*Kind}
