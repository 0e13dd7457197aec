"""URLs from paths: --root, and the layouts of mirrors."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

import click
import pytest

from relbase.cli import values
from relbase.cli.origins.paths import (
    Mirror,
    Root,
    Stated,
    adds,
    original_name,
    url_in_mirror,
    url_on_root,
)


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
