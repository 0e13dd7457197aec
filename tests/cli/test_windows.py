"""What is different on Windows: paths with drives, names, wildcards, quoting, text on pipes."""

from __future__ import annotations

import io
import ntpath
import sys
from pathlib import Path
from typing import Final

import pytest
from as_windows import IS_WINDOWS
from running import done, run, told

from relbase import cli
from relbase.cli import windows
from relbase.cli.origins import finder, paths, places
from relbase.cli.origins.paths import Mirror, Root
from relbase.session.session import check

PAGE: Final = b"<a href=x>"

# ---- drives, servers, and any case: a path that is outside is outside


@pytest.mark.usefixtures("drives")
@pytest.mark.parametrize(
    ("path", "directory", "steps"),
    [
        (r"C:\site\a.html", r"C:\site", ["a.html"]),
        (r"C:\Site\A\b.html", r"c:\site", ["A", "b.html"]),
        (r"C:\site\a.html", r"D:\site", None),
        (r"C:\site\a.html", r"C:\sit", None),
        (r"C:\site", r"C:\site", None),
        (r"a.html", "C:/here", ["a.html"]),
        (r"D:\a.html", ".", None),
        (r"\\srv\share\a\b.html", r"C:\x", None),
        (r"\\srv\share\a\b.html", r"\\SRV\share\a", ["b.html"]),
        (r"\\srv\share\a.html", r"\\srv\other", None),
        (r"\\?\C:\site\a.html", r"C:\site", ["a.html"]),
        (r"C:\site\a.html", r"\\?\C:\site", ["a.html"]),
        (r"\\?\UNC\srv\share\a.html", r"\\srv\share", ["a.html"]),
        (r"\\?\Volume{0}\a.html", r"C:\site", None),
    ],
)
def test_inside(path: str, directory: str, steps: list[str] | None) -> None:
    assert paths.inside(path, directory) == steps
    rooted = paths.url_on_root(path, (Root(directory, "http://h/"),))
    assert (rooted and rooted.url) == (steps and f"http://h/{'/'.join(steps)}")


@pytest.mark.usefixtures("drives")
def test_a_mirror() -> None:
    mirror = Mirror(r"C:\m", "https")
    mirrored = paths.url_in_mirror(r"c:\m\h.example+8080\a\b.png", mirror)
    assert mirrored is not None
    assert mirrored.url == "https://h.example:8080/a/b.png"
    assert paths.url_in_mirror(r"D:\m\h.example\b.png", mirror) is None


@pytest.mark.usefixtures("drives")
def test_a_map_has_names_of_any_case() -> None:
    given = {windows.key("Site/A.html"): paths.FoundUrl("http://h/1", "map:1")}
    names = finder.Finder(finder.Origins(mapped=given), (r"D:\t",))
    for path, url in ((r"C:\here\SITE\a.html", "http://h/1"), (r"D:\t\site\a.html", "http://h/1")):
        assert names.url_of(path, own=("", None), detect=False) == url
    assert names.url_of(r"E:\site\a.html", own=("", None), detect=False) is None


@pytest.mark.usefixtures("drives")
@pytest.mark.parametrize(
    ("page", "reference", "path"),
    [
        (r"C:\d\p.html", "p_files/x.png", r"C:\d\p_files\x.png"),
        (r"C:\d\p.html", "/x.png", r"C:\x.png"),
        (r"C:\d\p.html", "../../../x.png", None),
        (r"C:\d\p.html", "file:///c:/d/x.png", r"c:\d\x.png"),
        (r"C:\d\p.html", "file:///D:/x.png", None),
        (r"C:\d\p.html", "%FF.png", "C:\\d\\\udcff.png"),
        # no server is asked for a file because a page says so
        (r"C:\d\p.html", "//evil.example/share/x.png", None),
        (r"C:\d\p.html", r"\\evil.example\share\x.png", None),
        (r"C:\d\p.html", "file://///evil.example/share/x.png", None),
        (r"C:\d\p.html", "file:////?/UNC/evil.example/share/x.png", None),
        (r"\\srv\share\d\p.html", "x.png", r"\\srv\share\d\x.png"),
        (r"\\srv\share\d\p.html", "//evil.example/share/x.png", None),
        (r"\\?\C:\d\p.html", "x.png", r"C:\d\x.png"),
    ],
)
def test_where_a_reference_leads(page: str, reference: str, path: str | None) -> None:
    base = finder.opened_base(check(), page, b"")
    assert places.file_path(places.as_opened(base, reference), page) == path


@pytest.mark.usefixtures("drives")
def test_a_long_path_is_reached() -> None:
    long = "\\".join(["d" * 50] * 5)
    assert windows.reached(r"C:\a\b.html") == r"C:\a\b.html"
    assert windows.reached(long) == rf"\\?\C:\here\{long}"
    assert windows.reached(rf"\\srv\share\{long}") == rf"\\?\UNC\srv\share\{long}"
    assert windows.reached(rf"\\?\C:\{long}") == rf"\\?\C:\{long}"


# ---- names


@pytest.mark.usefixtures("as_windows")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("con", "reserves"),
        ("AUX.html", "reserves"),
        ("nul .tar.gz", "reserves"),
        ("Com1", "reserves"),
        ("lpt\xb2.txt", "reserves"),
        ("a:b", "no ':' in a name"),
        ("a?", "no '?' in a name"),
        ("a\n", r"no '\n' in a name"),
        ("a.", "no '.' at the end"),
        ("a ", "no ' ' at the end"),
        ("console.html", None),
        ("com10", None),
        (".con", None),
        ("caf\xe9 .html", None),
    ],
)
def test_names_that_no_file_can_have(name: str, why: str | None) -> None:
    refused = windows.why_refused(("d", name))
    assert refused is None if why is None else why in (refused or "")


@pytest.mark.usefixtures("as_windows")
@pytest.mark.skipif(IS_WINDOWS, reason="there no input has such a name")
def test_an_input_whose_output_cannot_be_made_costs_itself() -> None:
    for name in ("aux.html", "a:b.html", "p.html"):
        Path("site", name).parent.mkdir(exist_ok=True)
        Path("site", name).write_bytes(PAGE)
    result = run("rewrite", "site", "--root", "site=http://h/", "-o", "out")
    assert result.exit_code == 3
    assert "out/aux.html cannot be made: Windows reserves the name for a device" in result.stderr
    assert "out/a:b.html cannot be made: Windows allows no ':' in a name" in result.stderr
    assert [path.name for path in Path("out").iterdir()] == ["p.html"]


@pytest.mark.usefixtures("as_windows")
def test_what_the_user_names() -> None:
    Path("p.html").write_bytes(PAGE)
    url = ("--url", "http://h/")
    done("rewrite", "p.html", *url, "-o", "NUL")
    assert "reserves the name for a device: give" in told(2, "rewrite", "p.html", *url, "-o", "con")
    error = told(2, "rewrite", "p.html", *url, "-i", "--backup", ".a:b")
    assert "is not a suffix" in error
    assert [path.name for path in Path().iterdir()] == ["p.html"]


# ---- wildcards


@pytest.fixture
def pages() -> None:
    for name in ("a.html", "b.html", "[1].html", "[1]b.css", "xy"):
        Path(name).write_bytes(PAGE)


@pytest.mark.usefixtures("as_windows", "pages")
@pytest.mark.parametrize(
    "command", [("rewrite", "--check"), ("links", "--json"), ("base", "--json")]
)
def test_wildcards_are_expanded_in_names_of_inputs(command: tuple[str, ...]) -> None:
    result = run(*command, "*.html", "--root", ".=http://h/")
    for name in ("a.html", "b.html", "[1].html"):
        assert name in result.stdout
    assert "css" not in result.stdout


@pytest.mark.usefixtures("as_windows", "pages")
def test_a_bracket_is_a_part_of_a_name() -> None:
    assert windows.expanded(["[1].html"]) == ["[1].html"]
    assert windows.expanded(["[ab].html"]) == ["[ab].html"]
    assert windows.expanded(["[1]*.css", "-", "*.none"]) == ["[1]b.css", "-", "*.none"]
    assert windows.expanded(["s3://bucket/?y"]) == ["s3://bucket/?y"]


@pytest.mark.usefixtures("as_windows", "pages")
def test_nothing_else_is_expanded() -> None:
    assert done("resolve", "http://a/b/c", "?y").stdout == "http://a/b/c?y\n"
    assert "xy" not in run("check", "?y").output
    result = run("rewrite", "a.html", "--url", "http://h/", "-o", "out?")
    assert (result.exit_code, "Windows allows no '?' in a name" in result.output) == (2, True)
    done("rewrite", "a.html", "--url", "http://h/?y", "--keep", "[ab].html")


# ---- commands for people, and text on pipes


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("relbase", "rewrite", r"C:\a b\c.html"), r'relbase rewrite "C:\a b\c.html"'),
        (("a&b", "", "(x)", "100%"), '"a&b" "" "(x)" "100%"'),
        (("http://h/?a=b", "caf\xe9"), '"http://h/?a=b" "caf\xe9"'),
        (('a"b', "a b\\", 'a\\"'), r'"a\"b" "a b\\" "a\\\""'),
        (("--root", r"d=http://h/a_b-c@d+e,f"), "--root d=http://h/a_b-c@d+e,f"),
    ],
)
def test_commands_for_cmd_and_powershell(words: tuple[str, ...], line: str) -> None:
    assert windows.quoted(words) == line


@pytest.mark.usefixtures("as_windows")
def test_suggestions_are_quoted_for_them() -> None:
    Path("a b.html").write_bytes(PAGE)
    assert 'rewrite "a b.html"' in told(2, "a b.html")


def test_text_on_pipes_is_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = [io.TextIOWrapper(io.BytesIO(), "cp1252", newline="\r\n") for _ in range(2)]
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    cli.write_utf8()
    for stream in streams:
        stream.write("caf\xe9 \U0001f600 \udcff\n")
        stream.flush()
        assert stream.buffer.getvalue() == b"caf\xc3\xa9 \xf0\x9f\x98\x80 \\udcff\n"


def test_the_paths_of_this_system_have_no_drives_elsewhere() -> None:
    assert windows.has_drives() is IS_WINDOWS
    if not IS_WINDOWS:
        assert windows.plain(r"\\?\C:\a") == r"\\?\C:\a"
        assert ntpath.splitdrive(r"C:\a")[0] == "C:"
