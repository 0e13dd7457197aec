"""URLs from paths: --root, and the layouts of mirrors."""

from __future__ import annotations

import json
import os
import plistlib
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from relbase.cli import files, values
from relbase.cli.files import Input
from relbase.cli.origins.paths import (
    Mirror,
    Root,
    Stated,
    adds,
    beside,
    original_name,
    side_file,
    url_in_mirror,
    url_on_root,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("site=http://h/a/", Root("site", "http://h/a/")),
        ("site=http://h", Root("site", "http://h/")),
        ("a=b=http://h", Root("a=b", "http://h/")),
        ("site=http://h/?x=y", None),
        ("C:/site=https://h/", Root("C:/site", "https://h/")),
        ("site", None),
        ("=http://h/", None),
        ("site=h/a", None),
    ],
)
def test_a_root_is_read(text: str, root: Root | None) -> None:
    for name in ("site", "a=b", "C:/site"):
        Path(name).mkdir(parents=True)
    with nullcontext() if root else pytest.raises(click.BadParameter):
        assert values.root(text) == root


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("site/a.html", "http://h/a.html"),
        ("site/index.html", "http://h/"),
        ("site/d/INDEX.html", "http://h/d/INDEX.html"),
        ("./site//d/../b c/50%?#.html", "http://h/b%20c/50%25%3F%23.html"),
        ("site/\udcff\u00e9", "http://h/%FF%C3%A9"),
        ("site/inner/x", "http://i/x"),
        ("sites/a.html", None),
        ("site", None),
        ("../site/a.html", None),
    ],
)
def test_a_path_on_a_root(path: str, url: str | None) -> None:
    roots = (Root("site/inner", "http://i/"), Root("site", "http://h/"))
    found = url_on_root(path, roots)
    assert (found and found.url) == url
    assert found == url_on_root(path, roots[::-1])


def test_of_two_roots_for_one_directory_the_last_counts() -> None:
    roots = (Root("site", "http://a/"), Root("./site/", "http://b/"))
    assert url_on_root("site/x", roots) == Stated("http://b/x", "--root ./site/", given=True)


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("h.example/a/b.html", "https://h.example/a/b.html"),
        ("h.example/index.html", "https://h.example/"),
        ("h.example:8080/x", "https://h.example:8080/x"),
        ("h.example+8080/x", "https://h.example:8080/x"),
        ("localhost/x", "https://localhost/x"),
        ("[::1]:80/x", "https://[::1]:80/x"),
        ("http/h.example/x", "http://h.example/x"),
        ("h.example/x?a=1&b c", "https://h.example/x?a=1&b%20c"),
        ("h.example/index.html?a=1", "https://h.example/?a=1"),
        ("nohost/x", None),
        ("h.example", None),
        ("hts-cache/new.txt", None),
    ],
)
def test_a_path_in_a_mirror(path: str, url: str | None) -> None:
    found = url_in_mirror(f"m/{path}", Mirror("m", "https"))
    assert (found and found.url) == url
    assert found is None or (found.sure, found.source) == (True, "--mirror m")


def test_without_a_scheme_http_is_doubtful() -> None:
    found = url_in_mirror("m/h.example/x", Mirror("m"))
    assert found is not None
    assert (found.url, found.sure) == ("http://h.example/x", True)
    assert found.source == "--mirror m, its scheme is not known: taken for http"
    Path("m").mkdir()
    assert values.mirror("m=https") == Mirror("m", "https")


@pytest.mark.parametrize("name", ["a.php.html", "x?a=1.html", "style.css?v=2.css", "a.CGI.html"])
def test_a_name_that_a_program_may_have_added_to_is_not_sure(name: str) -> None:
    found = url_in_mirror(f"m/h.example/{name}", Mirror("m", "http"))
    assert found is not None
    assert found.sure is (name == "a.CGI.html")


def test_what_the_originals_tell() -> None:
    Path("m/h.example").mkdir(parents=True)
    for name in ("a.html", "a.orig", "b.html", "b.html.orig", "c.html", "d.html", "x?q.html"):
        Path("m/h.example", name).touch()
    mirror = Mirror("m", "http", adds=adds("m"))
    assert mirror.adds
    found = {name: url_in_mirror(f"m/h.example/{name}.html", mirror) for name in "abc"}
    assert {
        name: one and (one.url.rpartition("/")[2], one.sure) for name, one in found.items()
    } == {
        "a": ("a", True),
        "b": ("b.html", True),
        "c": ("c.html", False),
    }
    os.unlink("m/h.example/x?q.html")  # noqa: PTH108
    assert not adds("m")
    Path("a.css.orig").touch()
    assert original_name("a.css") == "a.css"


@pytest.fixture(autouse=True)
def here() -> None:
    Path("page.html").write_bytes(b"<p>")


def stated() -> list[tuple[str, str]]:
    with files.opened(Input("page.html")) as source:
        return [(one.url, one.source) for one in beside(source)]


def set_attributes(values: Mapping[str, bytes]) -> None:
    try:
        for name, value in values.items():
            os.setxattr("page.html", name, value)
    except OSError:
        pytest.skip("the file system has no extended attributes")


WHERE_FROMS = "user.com.apple.metadata:kMDItemWhereFroms"
ITEMS = ["http://h/a", "http://referrer/"]


@pytest.mark.parametrize(
    ("name", "value", "url"),
    [
        ("user.xdg.origin.url", b"http://h/\xc3\xa9", "http://h/\u00e9"),
        ("user.xdg.origin.url", b" http://h/\0", "http://h/"),
        ("user.xdg.referrer.url", b"http://h/", None),
        (WHERE_FROMS, plistlib.dumps(ITEMS, fmt=plistlib.FMT_BINARY), "http://h/a"),
        (WHERE_FROMS, plistlib.dumps(ITEMS), "http://h/a"),
        (WHERE_FROMS, plistlib.dumps([], fmt=plistlib.FMT_BINARY), None),
        (WHERE_FROMS, plistlib.dumps({"a": "http://h/"}), None),
        (WHERE_FROMS, b"bplist00\xff\xff\xff", None),
        (WHERE_FROMS, b"", None),
    ],
)
def test_attributes(name: str, value: bytes, url: str | None) -> None:
    set_attributes({name: value})
    assert [one for one, _ in stated()] == ([url] if url else [])


@pytest.mark.parametrize(
    ("content", "url"),
    [
        (
            b"[ZoneTransfer]\r\nZoneId=3\r\nReferrerUrl=http://r/\r\nHostUrl=http://h/a\r\n",
            "http://h/a",
        ),
        ("[ZoneTransfer]\r\nhosturl = http://h/a\r\n".encode("utf-16"), "http://h/a"),
        (b"\xef\xbb\xbf[zonetransfer]\nHOSTURL=http://h/a", "http://h/a"),
        (b"[ZoneTransfer]\r\nHostUrl=about:internet\r\n", None),
        (b"[A]\nHostUrl=http://a/\n[ZoneTransfer]\nZoneId=3\n[B]\nHostUrl=http://b/\n", None),
        (b"HostUrl=http://h/a\r\n", None),
        (b"\xff\xfe\x00", None),
    ],
)
def test_zone_identifier(content: bytes, url: str | None) -> None:
    Path("page.html:Zone.Identifier").write_bytes(content)
    assert stated() == ([(url, "Zone.Identifier")] if url else [])


@pytest.mark.parametrize(
    ("content", "url"),
    [
        (json.dumps({"url": "http://h/", "timestamp": "1"}).encode(), "http://h/"),
        (json.dumps({"url": "http://h/"}).encode(), None),
        (json.dumps({"url": 1, "timestamp": "1"}).encode(), None),
        (b"[" * 100_000, None),
        (b"\xff", None),
    ],
)
def test_archive_box(content: bytes, url: str | None) -> None:
    Path("index.json").write_bytes(content)
    assert stated() == ([(url, "index.json of ArchiveBox")] if url else [])


def test_a_side_file_that_is_a_link_or_too_long_is_not_read() -> None:
    Path("secret").write_bytes(b"[ZoneTransfer]\nHostUrl=http://h/")
    Path("page.html:Zone.Identifier").symlink_to("secret")
    assert stated() == []
    Path("long").write_bytes(b" " * ((1 << 20) + 1))
    Path("just").write_bytes(b" " * (1 << 20))
    one = Input("page.html")
    assert (side_file(one, "long"), len(side_file(one, "just") or b"")) == (None, 1 << 20)
