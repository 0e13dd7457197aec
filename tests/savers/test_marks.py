"""Rule 17: the marks of the programs that save pages, each as it writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from growth import assert_linear_from_10_ms
from rows import cases

import relbase
from relbase.bases.layers import Layer, found_url
from relbase.notes import Reason
from relbase.savers.marks import read_marks
from relbase.savers.rows import NONE, Marks

TABLES = Path(__file__).with_name("marks.txt")


def urls(marks: Marks) -> list[str]:
    return [statement.value for statement in marks.pages]


HTTRACK: Final = b" by HTTrack Website Copier/3.x [XR&CO'2014], Sat, 01 Jan 2022 10:00:00 GMT -->"


# What programs write, the URL, and the reasons of the notes.
@cases(TABLES, "marks", page=bytes, url=str, noted=list[str])
def test_marks(page: bytes, url: str, noted: list[str]) -> None:
    marks = read_marks(page)
    assert urls(marks) == ([url] if url else [])
    assert [note.reason.value for note in marks.notes] == noted


@cases(TABLES, "no marks", page=bytes)
def test_what_is_not_a_mark(page: bytes) -> None:
    assert read_marks(page)[:3] == NONE[:3]


def test_several_marks_stand_in_their_order() -> None:
    page = b"<!-- saved from url=(0009)http://b/ --><!-- saved from url=(0009)http://a/ -->"
    assert urls(read_marks(page)) == ["http://b/", "http://a/"]


# ---- the page's own base


def test_the_base_that_chrome_replaced() -> None:
    page = b'<head><!--<base target=x href="/d/?a=1&amp;b">--><base href="." target="x">'
    marks = read_marks(page)
    assert marks.base is not None
    assert marks.base.value == "/d/?a=1&b"
    assert marks.base.source == "<base href> in a comment at 1:32"
    assert marks.stand_in == page.index(b'".') + 1


def test_the_base_that_firefox_removed() -> None:
    marks = read_marks(b'<head>\n<!-- base href="http://h.ex/d/" -->')
    assert marks.base is not None
    assert (marks.base.value, marks.stand_in) == ("http://h.ex/d/", None)


@cases(TABLES, "other comments", page=bytes)
def test_other_comments_with_a_base(page: bytes) -> None:
    assert read_marks(page).base is None


# ---- what counts


@pytest.mark.parametrize(
    ("url", "counts"),
    [
        ("http://h", "http://h"),
        ("HTTPS://h/a#b", "HTTPS://h/a"),
        *((url, "") for url in ("ftp://h/a", "http:///a", "http:a", "//h/a", "blob:https://h/1")),
        *((url, "") for url in ("javascript:alert(1)", "")),
    ],
)
def test_what_counts(url: str, counts: str) -> None:
    value, why, notes = found_url(url, "x")
    assert (value, bool(why), notes) == (counts, not counts, [])


# ---- hostile pages


@cases(TABLES, "hostile", start=bytes, unit=bytes, end=bytes)
def test_time_is_linear(start: bytes, unit: bytes, end: bytes) -> None:
    assert_linear_from_10_ms(read_marks, lambda n: start + unit * n + end)


@pytest.mark.parametrize("mark", [b"(0017)http://h/%08d", b"(0017)file://h/%08d"])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_time_is_linear_in_marks_that_differ(mark: bytes, end: bytes) -> None:
    line = b"<!-- saved from url=" + mark + b" -->" + end
    assert_linear_from_10_ms(
        relbase.rewrite, lambda n: b"".join(line % number for number in range(n))
    )


# ---- rule 17: what the library does with them

PAGE: Final = (
    b'<!-- saved from url=(0015)http://h.ex/d/p --><head>%b<a href="/a"><img src="p_files/x.png">'
    b'<a href="#s"><a href=//k/z><a href=?q><iframe srcdoc="<a href=g>">'
)
CHROME: Final = b'<!--<base href="http://o/x/">--><base href="%b">'


def test_on_a_mark_what_may_be_beside_the_page_stays() -> None:
    result = relbase.rewrite(PAGE % b"")
    assert result.data == (PAGE % b"").replace(b'"/a"', b'"http://h.ex/a"').replace(
        b"=//k", b"=http://k"
    )
    assert result.base.source == "the mark of a browser (saved from url) at 1:5"
    assert [note.reason for note in result.notes] == [Reason.LOCAL_KEPT]
    assert relbase.rewrite(PAGE % b"", detect=False).changed is False


def test_a_commented_base_is_the_pages_own() -> None:
    result = relbase.rewrite(PAGE % (CHROME % b"."))
    assert result.base.url == "http://o/x/"
    assert CHROME % b"." + b'<a href="http://o/a">' in result.data
    firefox = relbase.rewrite(b'<head><!-- base href="http://o/x/" --><a href=/a>')
    assert firefox.data.endswith(b"<a href=http://o/a>")


def test_with_a_given_url_all_become_absolute() -> None:
    page = PAGE % (CHROME % b".")
    result = relbase.rewrite(page, url="http://h.ex/d/p")
    assert CHROME % b"http://o/x/" in result.data
    assert b'src="http://o/x/p_files/x.png"' in result.data
    assert result.notes == ()
    assert relbase.rewrite(result.data, url="http://h.ex/d/p").data is result.data


@pytest.mark.parametrize(
    ("url", "noted"),
    [
        ("http://h.ex/d/p", []),
        ("https://h.ex/d/p/#s", []),
        ("http://h.ex/d/other", [Reason.MARK_DISAGREES]),
    ],
)
def test_a_mark_that_disagrees_with_a_given_url(url: str, noted: list[Reason]) -> None:
    assert [note.reason for note in relbase.rewrite(PAGE % b"", url=url).notes] == noted


def test_marks_that_disagree_with_one_another() -> None:
    comment = b"<!-- saved from url=(0012)http://h.ex/ -->"
    for other, noted in ((b"https://h.ex", 0), (b"http://p.ex/q", 1)):
        page = comment + b'<html data-scrapbook-source="%b"><a href=/x>' % other
        result = relbase.rewrite(page)
        assert result.base.url == "http://h.ex/"
        notes = [note for note in result.notes if note.reason is Reason.MARK_DISAGREES]
        assert len(notes) == noted
    (note,) = notes
    where = "the mark of WebScrapBook at 1:72 says 'http://p.ex/q'"
    assert (
        note.text
        == f"{where}: 'http://h.ex/' counts (the mark of a browser (saved from url) at 1:5)"
    )


def test_a_doubtful_mark_is_not_noted_where_it_does_not_count() -> None:
    page = b"<!-- Mirrored from h.ex/a" + HTTRACK + b"<a href=x>"
    assert Reason.MARK_DOUBTFUL in {note.reason for note in relbase.rewrite(page).notes}
    assert relbase.rewrite(page, url="https://h.ex/a").notes == ()


def test_a_refused_mark_stands_in_the_chain() -> None:
    base = relbase.base(b"<!-- saved from url=(0014)file:///C:/a.h --><a href=x>")
    assert (base.url, [note.reason for note in base.refused]) == ("", [Reason.MARK_REFUSED])


def test_a_live_base_is_stronger_than_a_comment() -> None:
    page = b'<head><!-- base href="http://o/x/" --><base href="http://p/"><a href=/a>'
    assert relbase.base(page).url == "http://p/"


def test_a_relative_base_stays_with_what_is_on_it() -> None:
    page = b'<!-- saved from url=(0015)http://h.ex/d/p --><base href="i/"><img src=a><a href=/b>'
    assert relbase.rewrite(page).data == page.replace(b"=/b", b"=http://h.ex/b")


def test_a_stand_in_has_a_comment_before_it() -> None:
    for before, layer in ((b"", Layer.RETRIEVAL), (b'<!--<base href="/x/">', Layer.EMBEDDED)):
        page = before + b'--><base href="."><a href=y>'
        stand_in, _ = relbase.links(page, url="http://h.ex/d/p", kind="html")
        assert stand_in.base.layer is layer


@pytest.mark.parametrize("mark", [b"<!-- base href=&quot;http://o/&quot; -->", CHROME % b"."])
def test_a_mark_in_a_srcdoc_is_a_comment(mark: bytes) -> None:
    inside = (mark.replace(b"&quot;", b'"') + b"<a href=x>").replace(b'"', b"&quot;")
    page = b'<iframe srcdoc="' + inside + b'"></iframe>'
    assert b"<a href=http://h/x>" in relbase.rewrite(page, url="http://h/", kind="html").data
