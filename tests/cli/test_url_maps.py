"""--map and --message-map: what spreadsheets and Windows make of them, and what is refused."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Final

import pytest
from growth import assert_linear_from_10_ms
from running import run

from relbase.cli.url_maps import file_key, guarded, read_map

URLS: Final = {"site/a.html": "http://h/a", "site/d/b c.html": "http://h/b"}
TAB: Final = "site/a.html\thttp://h/a\nsite/d/b c.html\thttp://h/b\n"
READ: Final = {
    "tabs": TAB.encode(),
    "white space around URLs": TAB.replace("\thttp", "\t http").replace("\n", " \n").encode(),
    "empty lines": b"\n" + TAB.replace("\n", "\n\n").encode(),
    "no end": TAB.encode()[:-1],
    "CRLF": TAB.replace("\n", "\r\n").encode(),
    "CRLF and a mark": codecs.BOM_UTF8 + TAB.replace("\n", "\r\n").encode(),
    "UTF-16, little-endian": codecs.BOM_UTF16_LE + TAB.encode("utf-16-le"),
    "UTF-16, big-endian": codecs.BOM_UTF16_BE + TAB.replace("\n", "\r\n").encode("utf-16-be"),
    "a first line": b"file\turl\n" + TAB.encode(),
    "quotes": b'"site/a.html"\t"http://h/a"\nsite/d/b c.html\thttp://h/b\n',
    "commas": TAB.replace("\t", ",").encode(),
    "semicolons": codecs.BOM_UTF8 + TAB.replace("\t", ";").replace("\n", "\r\n").encode(),
    "commas and quotes": b'"site/a.html","http://h/a"\n"site/d/b c.html",http://h/b\n',
    "other columns": b"URL,KB,File\nhttp://h/a,1,site/a.html\nhttp://h/b,2,site/d/b c.html\n",
    "backslashes": TAB.replace("/a.html", "\\a.html").replace("site/d/", "site\\d\\").encode(),
    "./": ("./" + TAB).encode(),
}
REFUSED: Final = {
    TAB.encode("utf-16-le"): "map:1: it is UTF-16 without a byte order mark: save it as UTF-8",
    b"site/a.html\thttp://h/a\nsite/\xe9\thttp://h/b\n": (
        "map:2: the line is not UTF-8: save it as UTF-8"
    ),
    b"site/a.html\thttp://h/\xe9\n": "map:1: the line is not UTF-8: save it as UTF-8",
    b"site/a.html http://h/a\n": "map:1: 'site/a.html http://h/a': it has no tab after a name",
    b"site/a.html\t200\thttp://h/a\n": "it has several columns: name them in the first line",
    b"file,url\nsite/a.html\n": "map:2: 'site/a.html': it has no tab after a name",
    b"a,http://h/a\nb,c,http://h/b\n": "map:2: 'b\\tc\\thttp://h/b': it has several columns",
    b"a\thttp://h/a\n\n./a\thttp://h/b\n": "map:3: './a\\thttp://h/b': a line before",
    b"a\tb\n": "it has no scheme",
    b"http://u:secret@h/\ta\n": "map:1: 'http://***@h/\\ta': it has no scheme",
    b"a\xff\tb\xff\n": "map:1: the line is not UTF-8",
}


@pytest.mark.parametrize("how", READ)
def test_what_is_read(how: str) -> None:
    found = read_map("map", READ[how], "a file name", file_key)
    assert {name: line.url for name, line in found.items()} == URLS


@pytest.mark.parametrize("data", REFUSED, ids=REFUSED.values())
def test_what_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^map:\d+: ") as raised:
        read_map("map", data, "a file name", file_key)
    assert REFUSED[data] in str(raised.value)
    assert str(raised.value).isprintable()
    assert "\\udc" not in str(raised.value)


def test_a_name_with_a_backslash_is_that_file_where_it_exists() -> None:
    Path("a\\b").touch()
    assert file_key("a\\b") == "a\\b"
    assert file_key("a\\c") == "a/c"


def test_a_name_in_another_charset_is_that_file_where_it_exists() -> None:
    data = b"\xe9.html\thttp://h/a\n"
    path = Path(data.split(b"\t")[0].decode("utf-8", "surrogateescape"))
    path.touch()
    assert [*read_map("map", data, "a file name", file_key)] == [str(path)]


def test_a_cell_may_have_line_ends() -> None:
    data = b'file,url\r\n"a\nb.html",http://h/a\r\n"c\n\n.html",http://h/c\r\nd,http://h/d\r\n'
    urls = read_map("map", data, "a file name", file_key)
    assert {name: line.url for name, line in urls.items()} == {
        "a\nb.html": "http://h/a",
        "c\n\n.html": "http://h/c",
        "d": "http://h/d",
    }
    with pytest.raises(ValueError, match=r"^map:2: .*: it has no tab after a name"):
        read_map("map", b'a,http://h/a\n"b,http://h/b\nc,http://h/c\n', "a file name", file_key)


def test_cells_that_spreadsheets_would_compute_are_read_without_their_guard() -> None:
    found = read_map("map", b"file,url\n'=a.html,http://h/a\n'b.html,http://h/b\n", "x", file_key)
    assert [*found] == ["=a.html", "'b.html"]


@pytest.mark.parametrize("name", ["=a", "+a", "-a", "@a", "\ta", "'=a", "''=a", "'a", "a", "a=b"])
def test_a_guard_is_taken_off_as_it_was_put_on(name: str) -> None:
    is_guarded = guarded(name) != name
    assert is_guarded is (name.lstrip("'")[0] in "=+-@\t")
    cells = f'file,url\n"{guarded(name)}",http://h/\n'
    assert [*read_map("map", cells.encode(), "x", str)] == [name]


def test_a_row_without_a_url_says_nothing() -> None:
    data = b"file,url\na.html,\nb.html,http://h/\n"
    assert [*read_map("map", data, "a file name", file_key)] == ["b.html"]
    with pytest.raises(ValueError, match=r"^map:1: "):
        read_map("map", b"a.html,\nb.html,http://h/\n", "a file name", file_key)


def test_the_nearest_name_is_suggested() -> None:
    for path in ("site/page.html", "site/d/other.html"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(b"<a href=x>")
    Path("map").write_bytes(b"site/pgae.html\thttp://h/\n")
    shown = run("links", "site", "--map", "map").stderr
    assert "relative to the DIR. Did you mean site/page.html?" in shown
    Path("map").write_bytes(b"page.html\thttp://h/\nother.html\thttp://h/o\n")
    shown = run("links", "site", "--map", "map").stderr
    assert "map:2: there is no file other.html. Did you mean d/other.html?" in shown


def test_a_large_map_takes_linear_time() -> None:
    def make(count: int) -> bytes:
        return b"".join(b"site/%d.html,http://h/%d\n" % (n, n) for n in range(count))

    assert_linear_from_10_ms(lambda data: read_map("map", data, "a file name", file_key), make)
