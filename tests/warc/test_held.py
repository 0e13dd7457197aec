"""Files that hold pages: each page has the links of the same HTML as a file, with its URL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from held import (
    ENML,
    FORMS,
    MAFF_FILES,
    SAVED,
    archive,
    enex,
    entry,
    firefox_entry,
    har,
    maff,
    note,
    resource,
    webarchive,
)
from hypothesis import given
from hypothesis import strategies as st
from strategies import pages as html_pages

import relbase
from relbase.cli.options import HELD
from relbase.kind import Kind
from relbase.warc import Fault, Page, conversion, link_rows
from relbase.warc.held import HOLDERS, is_html, pages_in
from relbase.warc.page import file_beside

if TYPE_CHECKING:
    from collections.abc import Iterator


def pages(kind: str, data: bytes) -> list[Page]:
    found = list(pages_in(HOLDERS[kind], [data] if HOLDERS[kind].is_streamed else data))
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
    yield "maff", maff((URL, {"index.html": page}), charset=charset)
    is_of_xml = not _none_of_xml.search(text) and text == text.strip(" \t\r\n")
    if charset == "utf-8" and text.encode() == page and text and is_of_xml:
        yield "enex", enex(note(text, url=URL))


_none_of_xml = re.compile("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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


def rows(page: Page, **how: Any) -> list[tuple[str, str | None, str]]:
    return [(row.reference, row.url, row.outcome) for row in link_rows(page, **how)]


@pytest.mark.parametrize("profile", relbase.Profile)
def test_links_to_files_of_a_maff_stay(profile: Any) -> None:
    page, sheet, frame = pages("maff", maff(("http://h.example/a/page", MAFF_FILES)))
    assert rows(page, profile=profile) == [
        ("index_files/s.css", None, "kept"),
        ("../b?x", "http://h.example/b?x", "rewritten"),
        ("index_files/i.png", None, "kept"),
        ("index_files/f.html", None, "kept"),
    ]
    assert rows(sheet, profile=profile) == [("i.png", None, "kept")]
    assert rows(frame, profile=profile) == [("http://k.example/", "http://k.example/", "absolute")]
    [stays] = conversion(page, date="2026-01-02T03:04:05Z").notes
    assert stays.reason is relbase.Reason.LOCAL_UNKNOWN
    assert stays.text.startswith("3 links to files in the archive left unchanged")


@pytest.mark.parametrize(
    ("reference", "file"),
    [
        ("i.png", "d/i.png"),
        ("./i.png?x#y", "d/i.png"),
        ("f/é%20a.png", "d/f/é a.png"),
        ("f/%C3%A9 a.png", "d/f/é a.png"),
        ("f\\é a.png", "d/f/é a.png"),
        ("f/../i.png", "d/i.png"),
        ("x/../../d/i.png", "d/i.png"),
        ("f/gone.png", "d/f/gone.png"),  # it was to be saved there
        ("f/", "d/f"),
        ("gone.png", None),
        ("f/g/x", None),
        ("../i.png", None),
        ("/d/i.png", None),
        ("//d/i.png", None),
        ("", None),
        ("#i.png", None),
        ("?i.png", None),
        ("I.PNG", None),
    ],
)
def test_files_beside_a_page(reference: str, file: str | None) -> None:
    files = frozenset(("d/p.html", "d/i.png", "d/f/é a.png", "d/f"))
    page = Page(0, "", "http://h/", "", None, (), b"", "", (), name="d/p.html", files=files)
    assert file_beside(page, reference) == file
    html = f'<a href="{reference}">'.encode()
    [row] = link_rows(page._replace(body=html, fields=(("content-type", "text/html"),)))
    assert (row.outcome == "kept") == (file is not None)


def test_a_base_stays_relative_if_links_to_files_do() -> None:
    html = b"<base href=../x/><a href=y><a href=f.png>"
    [page] = pages("maff", maff(("http://h/a/b/", {"index.html": html, "f.png": b""})))
    assert rows(page) == [
        ("../x/", None, "kept"),
        ("y", "http://h/a/x/y", "rewritten"),
        ("f.png", None, "kept"),
    ]
    [alone] = pages("maff", maff(("http://h/a/b/", {"index.html": html})))
    assert [row[1] for row in rows(alone)] == [
        "http://h/a/x/", "http://h/a/x/y", "http://h/a/x/f.png",
    ]  # fmt: skip


def test_what_a_page_without_a_url_says() -> None:
    frame = b"<html data-scrapbook-source='http://k/d/'><a href=/x><a href=y>"
    files = {"index.html": b"<a href=x>", "f/a.html": frame, "f/b.css": b"a{b:url(/x)}"}
    page, marked, sheet = pages("maff", maff(("about:blank", files)))
    assert rows(page) == [("x", None, "unresolved")]
    assert rows(marked) == [("/x", "http://k/x", "rewritten"), ("y", None, "kept")]
    texts = [
        note.text
        for one in (page, sheet)
        for note in conversion(one, date="2026-01-02T03:04:05Z").notes
    ]
    left = "1 relative link left unchanged: the"
    assert texts == [
        f"{left} URL that the file states for it, 'about:blank', cannot be a base",
        f"{left} file states no URL for it",
    ]


def test_notes_are_pages() -> None:
    made = [note(ENML.format("<a href='x'/>"), url=url) for url in (URL, "", "file:///x", "no")]
    found = pages("enex", enex(*made))
    assert [is_html(page) for page in found] == [True] * 4
    assert [row.url for page in found for row in link_rows(page)] == [
        "http://h.example/d/x", None, None, None,
    ]  # fmt: skip
    assert not conversion(found[0], date="2026-01-02T03:04:05Z").notes


def test_a_note_that_cannot_be_read_is_a_fault() -> None:
    data = enex(note("<p>"), "<note><content encoding='x'>a</content></note>")
    _, fault = pages_in(HOLDERS["enex"], [data])
    assert isinstance(fault, Fault)
    assert (fault.trouble.value, fault.text) == ("undecodable", "its content is encoded: x")


def test_the_kinds_of_the_command_line_are_these() -> None:
    assert tuple(HOLDERS) == HELD
    assert not {*HELD} & {*Kind}
