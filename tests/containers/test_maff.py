"""MAFF: the pages in it with their URLs, the files without one, and what cannot be read."""

from __future__ import annotations

import tracemalloc
import zipfile
from collections.abc import Callable

import pytest
from growth import assert_linear_from_10_ms
from held import MAFF_FILES, MAFF_PAGE, index_rdf, maff, zipped
from hypothesis import given
from hypothesis import strategies as st

from relbase.containers.maff import begins, saved
from relbase.containers.saved import Saved
from relbase.containers.warc import MAX_HEAD, Fault, Trouble

URL = "http://h.example/a/page?q&x#f"
FOLDER = "1514222866000_0"


def documents(data: bytes) -> list[Saved]:
    results = list(saved(data))
    assert all(isinstance(document, Saved) for document in results), results
    return [document for document in results if isinstance(document, Saved)]


def faults(data: bytes) -> list[str]:
    return [document.text for document in saved(data) if isinstance(document, Fault)]


def with_index(index: bytes, *more: tuple[str, bytes]) -> bytes:
    return zipped([("d/index.rdf", index), ("d/index.html", b"<p>"), *more])


def test_pages_and_their_files() -> None:
    data = maff((URL, MAFF_FILES), ("http://k.example/", {"index.html": b"<p>"}))
    assert begins(data)
    page, sheet, frame, other = documents(data)
    assert (page.url, page.body) == (URL, MAFF_PAGE)
    assert (page.type, page.date) == ("text/html; charset=utf-8", "Mon, 25 Dec 2017 17:27:46 GMT")
    assert page.name == f"{FOLDER}/index.html"
    assert page.files == {f"{FOLDER}/{name}" for name in (*MAFF_FILES, "index_files")}
    assert [(document.url, document.type, document.date) for document in (sheet, frame)] == [
        ("", "text/css", ""),
        ("", "text/html", ""),
    ]
    assert sheet.files is page.files
    assert (other.url, [*other.files]) == ("http://k.example/", ["1514222866000_1/index.html"])
    assert data[frame.offset :].startswith(b"PK\3\4")


@pytest.mark.parametrize(
    ("label", "type_"),
    [
        ("windows-1251", "text/html; charset=windows-1251"),
        (" Latin1 ", "text/html; charset=windows-1252"),
        ("", "text/html"),
        ("x-none", "text/html"),
        ("utf-8; charset=utf-16", "text/html"),
        ("UTF-16LE", "text/html"),  # a byte order mark says so, if it is true
        ("hz-gb-2312", "text/html"),
        ("unicode_escape", "text/html"),
    ],
)
def test_the_charset_is_one_of_the_encoding_standard(label: str, type_: str) -> None:
    [page] = documents(maff((URL, {"index.html": b"\xff<p>"}), charset=label))
    assert page.type == type_


def test_the_index_names_the_page() -> None:
    files = [("d/index.html", b"<meta http-equiv=refresh content='0;url=index.xhtml'>")]
    files += [
        ("d/index.xhtml", b"<html/>"),
        ("d/x/index.xhtml", b"<html/>"),
        ("d/page.php", b"<p>"),
    ]
    for name, type_ in (("index.xhtml", "application/xhtml+xml"), ("page.php", "")):
        index = index_rdf(URL, file=name, charset="")
        results = documents(zipped([*files, ("d/index.rdf", index)]))
        assert [(document.name, document.type) for document in results if document.url] == [
            (f"d/{name}", type_)
        ]
    for name in ("../d/index.html", "INDEX.HTML", "x", "/d/index.html", "d/index.html"):
        results = documents(zipped([*files, ("d/index.rdf", index_rdf(URL, file=name))]))
        assert {document.url for document in results} == {""}


@pytest.mark.parametrize(
    ("index", "url"),
    [
        (index_rdf("http://h/?a=1&b=2"), "http://h/?a=1&b=2"),
        (index_rdf(URL).replace(b"MAF:", b"m:").replace(b":MAF=", b":m="), URL),
        (index_rdf(URL).replace(b"maf.mozdev.org", b"k.example"), ""),
        (index_rdf(URL).replace(b"RDF:resource", b"resource"), ""),
        (
            index_rdf(URL).replace(b"<MAF:title", b'<MAF:originalurl RDF:resource="x"/><MAF:title'),
            "",
        ),
        (b"\xef\xbb\xbf" + index_rdf("http://h/é"), "http://h/é"),
    ],
)
def test_the_url_is_the_one_that_the_index_states(index: bytes, url: str) -> None:
    [page] = documents(with_index(index))
    assert page.url == url


BOMB = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize(
    ("index", "why"),
    [
        (b"", "no element found"),
        (index_rdf(URL)[:-9], "unclosed token"),
        (BOMB + index_rdf(URL)[22:], "it declares the entity 'a'"),
        (b'<!DOCTYPE x [<!ENTITY % a SYSTEM "file:///x">]>' + index_rdf(URL)[22:], "entity 'a'"),
        (index_rdf(URL).replace(b"1.0", b'1.0" encoding="utf-7'), "the encoding 'utf-7'"),
        (
            index_rdf("http://h/\N{LATIN SMALL LETTER E WITH ACUTE}").decode().encode("cp1252"),
            "token",
        ),
        (index_rdf(URL) + b" " * MAX_HEAD, "decompresses to more than 1,048,576 bytes"),
    ],
)
def test_without_an_index_that_can_be_read_a_page_has_no_url(index: bytes, why: str) -> None:
    fault, page = saved(with_index(index))
    assert isinstance(fault, Fault)
    assert fault.text.startswith("d/index.rdf is not read: ")
    assert (fault.trouble, why in fault.text) == (Trouble.DAMAGED, True)
    assert isinstance(page, Saved)
    assert (page.url, page.name) == ("", "d/index.html")


def test_a_page_is_there_once() -> None:
    data = with_index(index_rdf(URL), ("d/index.html", b"<a>"), ("e/index.html", b"<b>"))
    *twice, page = saved(data)
    text = "d/index.html is not read: its name is there more than once"
    assert [
        (document.url, text in document.text) for document in twice if isinstance(document, Fault)
    ] == [
        (URL, True),
        (URL, True),
    ]
    assert isinstance(page, Saved)
    assert page.name == "e/index.html"
    assert (
        documents(with_index(index_rdf(URL), ("e/index.rdf", index_rdf("http://k/"))))[0].url == URL
    )


def test_of_two_indexes_none_counts() -> None:
    data = with_index(index_rdf(URL), ("d/index.rdf", index_rdf("http://k/")))
    assert len(faults(data)) == 2
    assert [document.url for document in saved(data) if isinstance(document, Saved)] == [""]


def test_names_that_lead_elsewhere_are_only_names() -> None:
    names = ["../index.html", "/index.html", "C:\\index.html", "a/../../index.html", "a/b/c.css"]
    results = documents(zipped([(name, b"<p>") for name in names]))
    assert [document.name for document in results] == [name.replace("\\", "/") for name in names]
    assert {document.url for document in results} == {""}


@pytest.mark.parametrize(
    "members",
    [
        [],
        [("index.html", b"<p>"), ("index.rdf", index_rdf(URL))],  # in no directory
        [("d/i.png", b"\x89PNG"), ("d/inner.zip", maff((URL, MAFF_FILES)))],
        [("d/index.rdf", index_rdf(URL)), ("d/x.png", b"\x89PNG")],
    ],
)
def test_a_zip_file_without_pages_is_a_fault(members: list[tuple[str, bytes]]) -> None:
    assert faults(zipped(members)) == ["no directory in it has a page"]


def test_a_page_may_be_a_picture() -> None:
    index = index_rdf(URL, file="index.png")
    [page] = documents(zipped([("d/index.rdf", index), ("d/index.png", b"\x89PNG")]))
    assert (page.url, page.type) == (URL, "")  # its bytes say the rest
    assert documents(zipped([("d/index.png", b"\x89PNG")])) == []


@pytest.mark.parametrize(
    "data", [b"", b"x", b"PK\3\4" + bytes(99), maff((URL, MAFF_FILES))[:-30], b"PK\5\6" + bytes(18)]
)
def test_what_is_no_zip_file_is_a_fault(data: bytes) -> None:
    [fault] = saved(data)
    assert isinstance(fault, Fault)
    assert fault.trouble is Trouble.DAMAGED


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{n}.html": b"<p>" * 1000 for n in range(9)}
    data = maff((URL, files))
    monkeypatch.setattr("relbase.containers.maff.MAX_DECODED", 2999)
    assert len(faults(data)) == 9
    monkeypatch.undo()
    monkeypatch.setattr("relbase.containers.maff.MAX_FILE", 5000)
    [fault] = faults(data)
    assert fault.endswith("with those before it: the rest is not read")
    monkeypatch.setattr("relbase.compression.zips.MAX_MEMBERS", 9)
    assert faults(data) == ["the ZIP file cannot be read: it has more than 9 members"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_it_begins_like_no_other_zip_file(method: int) -> None:
    index = index_rdf(URL)
    assert begins(zipped([("d/index.rdf", index)], method))
    assert begins(zipped([("d/", b""), ("d/index.html", b"<p>"), ("d/index.rdf", index)], method))
    assert not begins(zipped([("index.rdf", index)], method))
    assert not begins(zipped([("blog/index.rdf", b"<rdf:RDF xmlns='http://purl.org/rss/1.0/'>")]))
    assert not begins(zipped([("d/index.html", b"<p>")], method))
    assert not begins(b"<p>" + zipped([("d/index.rdf", index)], method))
    assert not begins(zipped([("d/index.rdf", index)])[:60])


@given(st.data())
def test_law_6_no_bytes_raise(data: st.DataObject) -> None:
    sound = maff((URL, MAFF_FILES))
    at, new = data.draw(st.integers(0, len(sound))), data.draw(st.binary(max_size=30))
    for made in (sound[:at], sound[:at] + new + sound[at + len(new) :]):
        list(saved(made))
        begins(made)


def _stored(members: list[tuple[str, bytes]]) -> bytes:
    return zipped(members, zipfile.ZIP_STORED)


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "pages": lambda n: maff(*[(URL, MAFF_FILES)] * (n // 3000)),
    "one long page": lambda n: _stored([("d/index.html", b"<p>" * (n // 3))]),
    "a page with many files": lambda n: _stored([(f"d/f/{k}.png", b"") for k in range(n // 150)]),
    "long names": lambda n: _stored(
        [(f"d/{'x/' * 15_000}{k}.css", b"") for k in range(n // 60_000)]
    ),
    "indexes": lambda n: _stored([(f"{k}/index.rdf", index_rdf(URL)) for k in range(n // 900)]),
    "one index": lambda n: _stored([("d/index.rdf", b"<a>" + b"<b/>" * (n // 4) + b"</a>")]),
    "a nested index": lambda n: _stored([("d/index.rdf", b"<a>" * (n // 3))]),
}


# What it decompresses to counts as its size.
BOMBS = {"zeros": lambda n: zipped([(f"d/{k}.html", bytes(n)) for k in range(9)])}


@pytest.mark.parametrize("name", [*HOSTILE, *BOMBS])
def test_time_is_linear(name: str) -> None:
    assert_linear_from_10_ms(lambda data: sum(1 for _ in saved(data)), (HOSTILE | BOMBS)[name])


def test_a_page_is_held_at_a_time() -> None:
    data = BOMBS["zeros"](4 << 20)
    tracemalloc.start()
    try:
        assert sum(isinstance(document, Saved) for document in saved(data)) == 9
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * (4 << 20)  # one, another while it grows, and that before
