"""The URL of each page, in the order of rule 17, and what becomes of files beside a page."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import pytest
from running import done, run, told

MARK: Final = b"<!-- saved from url=(0015)http://h.ex/d/p -->"
PAGE: Final = (
    b'<!DOCTYPE html>\n%b<a href="/a">a</a><img src="p_files/x%%20y.png?v=1"><a href="#s">s</a>'
    b'<a href="q.html">q</a><a href="../up.html">up</a><link rel=stylesheet href="p_files/a.css">'
)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    (Path("saved/p_files")).mkdir(parents=True)
    (Path("up.html")).touch()  # outside of the tree
    monkeypatch.chdir(Path("saved"))
    for name in ("x y.png", "a.css"):
        Path("p_files", name).touch()
    Path("p.html").write_bytes(PAGE % MARK)


def base(*arguments: str) -> tuple[str, str]:
    """The base of the page, and what states it."""
    found = json.loads(done("base", "p.html", "--json", *arguments).stdout)["base"]
    return found["url"], found["source"]


def references(*arguments: str) -> list[str]:
    """The references of the page after the rewriting."""
    result = done("rewrite", "p.html", "-q", *arguments)
    return [part.split(b'"')[0].decode() for part in result.stdout_bytes.split(b'="')[1:]]


# ---- the order


def test_the_strongest_that_is_there_counts() -> None:
    steps: list[tuple[list[str], str]] = [
        ([], "http://h.ex/d/p"),
        (["--sidecar", ".log"], "http://log.ex/"),
        (["--mirror", "..=http"], "http://localhost/p.html"),
        (["--root", ".=http://root.ex/"], "http://root.ex/p.html"),
        (["--map", "map"], "http://map.ex/"),
        (["--url", "http://url.ex/"], "http://url.ex/"),
    ]
    Path("p.html.log").write_bytes(b"--2024-01-01 10:00:00--  http://log.ex/\n  HTTP/1.1 200 OK\n")
    Path("map").write_bytes(b"p.html\thttp://map.ex/\n")
    os.rename("../saved", "../localhost")  # noqa: PTH104 (a host)
    given: list[str] = []
    for more, url in steps:
        given += more
        assert base(*given)[0] == url
    os.rename("../localhost", "../saved")  # noqa: PTH104


def test_a_map_of_windows_and_one_of_whole_paths() -> None:
    Path("map").write_bytes(b"\xef\xbb\xbfp.html\thttp://map.ex/\r\n\r\n")
    assert base("--map", "map")[0] == "http://map.ex/"
    Path("map").write_bytes(b"%b\thttp://map.ex/\n" % os.fsencode(Path("p.html").absolute()))
    assert base("--map", "map")[0] == "http://map.ex/"


@pytest.mark.parametrize("command", ["rewrite", "links", "base", "explain"])
def test_a_map_that_is_of_no_input_is_reported(command: str) -> None:
    Path("map").write_bytes(b"saved/p.html\thttp://map.ex/\n")
    assert "no line of --map names an input" in told(
        1, command, "p.html", "--map", "map", "--strict"
    )
    Path("map").write_bytes(b"@h.ex\thttp://map.ex/\n")
    assert (
        "for the messages of a mailbox give --message-map"
        in run(command, "p.html", "--map", "map").stderr
    )
    Path("map").write_bytes(b"other.html\thttp://map.ex/\np.html\thttp://h.ex/d/p\n")
    result = run(command, "p.html", "--map", "map", "--strict", "--local", "off")
    assert (result.exit_code, result.stderr) == (0, "")


def test_that_the_scheme_of_a_mirror_is_a_guess_is_reported() -> None:
    Path("m=http/h.ex").mkdir(parents=True)
    Path("m=http/h.ex/p.html").write_bytes(b"<a href=x>")
    ran = run("rewrite", "m=http/h.ex/p.html", "--mirror", "m=http")
    assert ran.stdout == "<a href=http://h.ex/x>"
    assert "do not say the scheme: taken for http; give --mirror m=http=https" in ran.stderr
    ran = run("rewrite", "m=http/h.ex/p.html", "--mirror", "m=http=https")
    assert (ran.stdout, ran.stderr) == ("<a href=https://h.ex/x>", "")


def test_marks_are_what_is_left() -> None:
    assert base() == ("http://h.ex/d/p", "the mark of a browser (saved from url) at 2:5")
    Path("p.html:Zone.Identifier").write_bytes(b"[ZoneTransfer]\nHostUrl=http://zone.ex/\n")
    assert base() == ("http://zone.ex/", "Zone.Identifier")
    assert base("--no-detect")[0] == ""


def test_what_is_refused_stands_in_the_chain() -> None:
    Path("p.html:Zone.Identifier").write_bytes(b"[ZoneTransfer]\nHostUrl=file:///c:/x\n")
    result = run("base", "p.html")
    assert "base     http://h.ex/d/p" in result.stdout
    reported = "Zone.Identifier: 'file:///c:/x' is not an http or https URL: it does not count"
    assert f"refused  {reported} [mark-refused]" in result.stdout


@pytest.mark.parametrize(
    ("head", "flag", "url"),
    [
        (b'<link rel="canonical" href="http://c.ex/">', True, "http://c.ex/"),
        (b'<meta property="og:url" content="http://o.ex/">', True, "http://o.ex/"),
        (b'<link rel="canonical" href="http://c.ex/">', False, ""),
        (b'<link rel="canonical" href="/relative">', True, ""),
    ],
)
def test_canonical_is_the_last(head: bytes, url: str, *, flag: bool) -> None:
    Path("p.html").write_bytes(b"<!DOCTYPE html>" + head)
    assert base(*(["--canonical"] if flag else []))[0] == url
    Path("p.html").write_bytes(b"<!DOCTYPE html>" + MARK + head)
    assert base("--canonical")[0] == "http://h.ex/d/p"


def test_redirects_of_a_side_file() -> None:
    Path("p.html.headers").write_bytes(
        b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 301 Moved\r\nLocation: /e/\r\n\r\n"
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    )
    Path("map").write_bytes(b"p.html\thttp://map.ex/d/p\n")
    assert base("--map", "map", "--sidecar", ".headers")[0] == "http://map.ex/e/"


WAYBACK: Final = "https://web.archive.org/web/20120611024252"
WOMBAT: Final = (
    b'<!DOCTYPE html><script>__wm.wombat("http://h.ex/d/","20120611024252",'
    b'"https://web.archive.org/","web","/_static/","1");</script>'
)
# A reference, what it is in the copy, and what it is in the page that was archived.
ARCHIVED: Final = [
    ("/web/20120611024252/http://h.ex/x", f"{WAYBACK}/http://h.ex/x", "http://h.ex/x"),
    ("/web/20120611024252im_/http://h.ex/y", f"{WAYBACK}im_/http://h.ex/y", "http://h.ex/y"),
    ("/web/20120611024252/http:/h.ex/x", f"{WAYBACK}/http:/h.ex/x", "http://h.ex/x"),
    # The archive's own file is not one of the page.
    ("/_static/a", "https://web.archive.org/_static/a", "https://web.archive.org/_static/a"),
    ("z", f"{WAYBACK}/http://h.ex/d/z", "http://h.ex/d/z"),
    # With the host of the archive, or its scheme too.
    (f"{WAYBACK}/http://h.ex/x", f"{WAYBACK}/http://h.ex/x", "http://h.ex/x"),
    (WAYBACK[6:] + "js_/http://h.ex/x", f"{WAYBACK}js_/http://h.ex/x", "http://h.ex/x"),
    (WAYBACK.replace("s:", ":") + "cs_/https://o.ex/", "", "https://o.ex/"),
    # What the author linked to is in an archive itself, or is another copy.
    (
        f"{WAYBACK}/https://web.archive.org/web/2001/http://a.ex/",
        "",
        f"{WAYBACK[:28]}2001/http://a.ex/",
    ),
    (f"{WAYBACK[:28]}2001/http://a.ex/", "", f"{WAYBACK[:28]}2001/http://a.ex/"),
    (
        "https://web.archive.org/web/*/http://h.ex/",
        "",
        "https://web.archive.org/web/*/http://h.ex/",
    ),
]


def test_the_wayback_machine() -> None:
    links = "".join(f'<a href="{reference}">' for reference, _, _ in ARCHIVED)
    Path("p.html").write_bytes(WOMBAT + links.encode())
    assert references() == [copy or reference for reference, copy, _ in ARCHIVED]
    assert references("--original") == [original for _, _, original in ARCHIVED]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"<img srcset='%b, %b 2x'>", b"<img srcset='%b, %b 2x'>"),
        (b"<style>a{background:url(%b)}@import '%b';</style>",) * 2,
        (b'<p style="background:url(%b)"><iframe srcdoc="<img src=%b>"></iframe>',) * 2,
        (b'<meta http-equiv=refresh content="0;url=%b"><a href=%b>',) * 2,
    ],
)
def test_the_wayback_machine_wherever_it_wrote(before: bytes, after: bytes) -> None:
    copy = WAYBACK.encode() + b"im_/http://h.ex/x?a=1"
    Path("p.html").write_bytes(WOMBAT + before % (copy, copy))
    result = run("rewrite", "--original", "p.html", "-o", "o.html")
    assert (result.exit_code, "disagrees" in result.stderr) == (0, False)
    original = b"http://h.ex/x?a=1"
    assert Path("o.html").read_bytes() == WOMBAT + after % (original, original)


@pytest.mark.parametrize("host", ["", "//web.archive.org", WAYBACK[:23]])
def test_the_wayback_machine_wrote_a_base(host: str) -> None:
    page = WOMBAT + b'<base href="%b/web/20120611024252/http://b.ex/q/"><a href=z><img src="%b">'
    copy = WAYBACK.encode() + b"im_/http://h.ex/x"
    Path("p.html").write_bytes(page % (host.encode(), copy))
    result = run("rewrite", "--original", "p.html", "-o", "o.html")
    assert (result.exit_code, result.stderr) == (0, "")
    after = b'<base href="http://b.ex/q/"><a href=http://b.ex/q/z><img src="http://h.ex/x">'
    assert Path("o.html").read_bytes() == WOMBAT + after
    assert base("--original")[0] == "http://b.ex/q/"


def test_a_base_in_another_copy_is_of_the_author() -> None:
    other = "https://web.archive.org/web/2001/http://a.ex/"
    Path("p.html").write_bytes(WOMBAT + f'<base href="{other}"><a href="z">'.encode())
    assert references("--original")[-1] == f"{other}z"


def test_a_copy_that_its_url_tells() -> None:
    Path("p.html").write_bytes(b'<a href="x"><a href="/web/2012/http://h.ex/y">')
    Path("map").write_bytes(b"p.html\thttps://web.archive.org/web/2012/http://h.ex/d/\n")
    mark = b"<!-- saved from url=(0047)https://web.archive.org/web/2012/http://h.ex/d/ -->"
    copy = "https://web.archive.org/web/2012/http://h.ex"
    assert references("--map", "map", "--original") == ["http://h.ex/d/x", "http://h.ex/y"]
    assert references("--url", "http://u.ex/", "--original") == [
        "http://u.ex/x",
        "http://u.ex/web/2012/http://h.ex/y",
    ]
    Path("p.html").write_bytes(b"<!DOCTYPE html>" + mark + Path("p.html").read_bytes())
    assert references("--original") == ["http://h.ex/d/x", "http://h.ex/y"]
    assert references() == [f"{copy}/d/x", f"{copy}/y"]


# ---- what is beside the page


KEPT: Final = ["http://h.ex/a", "p_files/x%20y.png?v=1", "#s", "http://h.ex/d/q.html"]


def test_found_urls_keep_what_is_beside_the_page() -> None:
    assert references()[:5] == [*KEPT, "http://h.ex/up.html"]
    assert references("--local", "keep", "--url", "http://h.ex/d/p")[:5] == [
        *KEPT,
        "http://h.ex/up.html",
    ]


GIVEN: Final = ("--url", "http://h.ex/d/p")


def test_given_urls_keep_the_companion_folder() -> None:
    kept = ["http://h.ex/a", "p_files/x%20y.png?v=1", "http://h.ex/d/p#s", "http://h.ex/d/q.html"]
    assert references(*GIVEN)[:4] == kept
    reported = run("rewrite", "p.html", *GIVEN).stderr
    assert "2 links into the folder of files saved with the page left unchanged" in reported
    assert "2 more" not in reported
    absolute = "http://h.ex/d/p_files/x%20y.png?v=1"
    assert references("--local", "off", *GIVEN)[1] == absolute
    assert references("--local", "off")[1] == absolute
    assert absolute in run("rewrite", "-", *GIVEN, stdin=Path("p.html").read_bytes()).stdout


@pytest.mark.parametrize(
    ("folder", "is_kept"),
    [("p.files", True), ("p-Dateien", True), ("q_files", False), ("P_images", False)],
)
def test_the_names_of_companion_folders(folder: str, *, is_kept: bool) -> None:
    Path("p_files").rename(folder)
    Path("p.html").write_bytes(f'<img src="{folder}/a.css"><img src="{folder}/lost.png">'.encode())
    given = ("--url", "http://h.ex/d/p", "-q")
    kept = f'<img src="{folder}/a.css"><img src="{folder}/lost.png">'
    assert run("rewrite", "p.html", *given).stdout == (
        kept if is_kept else kept.replace(folder, f"http://h.ex/d/{folder}")
    )


def test_without_its_folder_a_page_has_no_companion() -> None:
    for path in Path("p_files").iterdir():
        path.unlink()
    Path("p_files").rmdir()
    assert references(*GIVEN)[1] == "http://h.ex/d/p_files/x%20y.png?v=1"
    # The mark of a browser says that there was one.
    assert references()[1] == "p_files/x%20y.png?v=1"
    assert "to a file that is not there [local-unknown]" in run("rewrite", "p.html").stderr


def test_a_marked_page_in_a_pipe_keeps_what_may_be_beside_it() -> None:
    piped = run("rewrite", stdin=Path("p.html").read_bytes())
    assert b'href="http://h.ex/a"' in piped.stdout_bytes
    assert b'src="p_files/x%20y.png?v=1"' in piped.stdout_bytes
    assert "may lead to files saved beside the page, stay as they are" in piped.stderr
    off = run("rewrite", "-", "--local", "off", stdin=Path("p.html").read_bytes())
    assert b'src="http://h.ex/d/p_files/x%20y.png?v=1"' in off.stdout_bytes


@pytest.mark.parametrize(
    ("options", "url"),
    [
        (["--root", ".=http://r.ex/"], "http://r.ex/p_files/x%20y.png?v=1"),
        (["--map", "map"], "http://cdn.ex/x.png?v=1"),
        (["--mirror", "..=http", "--local", "companion"], "http://m.ex/p_files/x%20y.png?v=1"),
    ],
)
def test_a_companion_with_a_url_of_its_own_gets_it(options: list[str], url: str) -> None:
    Path("map").write_bytes(b"p.html\thttp://h.ex/d/p\np_files/x y.png\thttp://cdn.ex/x.png\n")
    Path("../saved").rename("../m.ex")
    assert references(*options)[1] == url


def test_given_urls_tell_of_other_files_beside_the_page() -> None:
    Path("q.html").write_bytes(b"<p>")
    assert references(*GIVEN)[3] == "http://h.ex/d/q.html"
    reported = run("rewrite", "p.html", *GIVEN).stderr
    assert "1 link to files beside the page made absolute" in reported
    assert "[local-rewritten]" in reported
    for name, page in (("a&b.css", b'<a href="a&amp;b.css">'), ("c d.js", b"<a href=c%20d.js>")):
        Path(name).touch()
        Path("alone.html").write_bytes(page)
        assert "1 link to files beside" in run("rewrite", "alone.html", *GIVEN).stderr
        Path("alone.html").write_bytes(page.replace(b"=", b"=other/"))
        assert "beside" not in run("rewrite", "alone.html", *GIVEN).stderr
    Path("map").write_bytes(b"p.html\thttp://h.ex/d/p\nq.html\thttp://h.ex/d/q.html\n")
    assert "beside the page made" not in run("rewrite", "p.html", "--map", "map").stderr


def test_resolve_gives_files_their_own_urls() -> None:
    Path("map").write_bytes(b"p.html\thttp://h.ex/d/p\np_files/x y.png\thttp://cdn.ex/x.png\n")
    found = references("--map", "map", "--local", "resolve")
    assert found[:3] == ["http://h.ex/a", "http://cdn.ex/x.png?v=1", "http://h.ex/d/p#s"]
    result = run("rewrite", "p.html", "--map", "map", "--local", "resolve")
    assert b'href="p_files/a.css"' in result.stdout_bytes
    assert "[local-unknown]" in result.stderr


def test_a_link_out_of_the_tree_is_not_there() -> None:
    assert references()[3] == "http://h.ex/d/q.html"
    Path("q.html").symlink_to("/etc/passwd")
    assert references()[3] == "http://h.ex/d/q.html"


@pytest.mark.parametrize("local", ["keep", "resolve"])
def test_what_the_saver_did_not_get_never_was_on_the_web(local: str) -> None:
    Path("p_files/x y.png").unlink()
    assert references("--local", local)[1] == "p_files/x%20y.png?v=1"
    result = run("rewrite", "p.html", "--local", local)
    assert "to a file that is not there [local-unknown]" in result.stderr
    # Only its own folder is so clear.
    Path("p.html").rename("r.html")
    result = run("rewrite", "r.html", "--local", local)
    assert b'src="http://h.ex/d/p_files/x%20y.png?v=1"' in result.stdout_bytes


@pytest.mark.parametrize(
    ("base_", "reference"),
    [
        (b'<base href="http://o.ex/">', "http://o.ex/p_files/x%20y.png?v=1"),
        (b'<base href="p_files/">', "http://h.ex/d/p_files/p_files/x%20y.png?v=1"),
        (b'<!--<base href="http://o.ex/">--><base href=".">', "p_files/x%20y.png?v=1"),
        (b'<!-- base href="http://o.ex/" -->', "p_files/x%20y.png?v=1"),
    ],
)
def test_the_pages_base_decides_what_is_beside_it(base_: bytes, reference: str) -> None:
    Path("p.html").write_bytes(PAGE % (MARK + base_))
    assert reference in references()


def test_mail_has_its_own_bases() -> None:
    # Neither a mark in its HTML nor a file beside it says anything of a message.
    mail = b"MIME-Version: 1.0\nContent-Type: text/html\n\n" + PAGE % MARK
    Path("m.eml").write_bytes(mail)
    assert run("rewrite", "m.eml", "-q").stdout_bytes == mail
    Path("m.eml:Zone.Identifier").write_bytes(b"[ZoneTransfer]\nHostUrl=http://zone.ex/\n")
    result = run("rewrite", "m.eml", "-q")
    assert b'src="http://zone.ex/p_files/x%20y.png?v=1"' in result.stdout_bytes


def test_two_pages_with_one_url_are_told() -> None:
    Path("r.html").write_bytes(PAGE % MARK)
    result = run("rewrite", "-r", ".", "--check")
    assert "states the same URL, http://h.ex/d/p [url-shared]" in result.stderr


def test_httrack() -> None:
    Path("hts-cache").mkdir()
    row = b"\t".join(b"%d" % n for n in range(7))
    Path("hts-cache/new.txt").write_bytes(
        b"date\tURL\n"
        + row
        + b"\thttp://h.ex/d/p?x=1\t./p.html\t(from )\n"
        + row
        + b"\thttp://h.ex/style?v=2\t/elsewhere/saved/p_files/a%2ecss\t(from )\n"
        + row
        + b"\tfile:///etc/passwd\tp_files/x y.png\n"
        + row
        + b"\thttp://h.ex/\t../../../../etc/passwd\n"
    )
    done("rewrite", "-r", ".", "--local", "resolve", "-o", "../out")
    page = Path("../out/p.html").read_bytes()
    assert b'href="http://h.ex/style?v=2"' in page
    assert b'href="http://h.ex/d/p?x=1#s"' in page
    assert b'src="p_files/x%20y.png?v=1"' in page


def test_what_httrack_does_not_list_has_no_url() -> None:
    Path("h.example_8080").mkdir()
    Path("hts-cache").mkdir()
    names = ("xed04.html", "y1234.html", "y1234.css", "z.html")
    for name in names:
        Path("h.example_8080", name).write_bytes(b"<!DOCTYPE html><a href=a>")
    row = b"\t".join(b"%d" % n for n in range(7))
    lines = (
        (b"http://h.example:8080/x?a=1", b"h.example_8080/x.7ed04.delayed"),
        (b"http://h.example:8080/y?b=2", b"h.example_8080/y.1e1234.delayed"),  # two fit
        (b"http://h.example:8080/n?c=3", b"h.example_8080/n.20abcd.delayed"),  # none does
    )
    listed = b"".join(row + b"\t%b\t%b\t(from )\n" % line for line in lines)
    Path("hts-cache/new.txt").write_bytes(b"date\tURL\n" + listed)
    result = run("base", "-r", ".", "--mirror", ".=http", "--no-detect", "--json")
    found = {one["file"]: one["base"]["url"] for one in map(json.loads, result.stdout.splitlines())}
    assert {name: found[f"./h.example_8080/{name}"] for name in names} == {
        "xed04.html": "http://h.example:8080/x?a=1",
        "y1234.html": "",
        "y1234.css": "",
        "z.html": "",
    }


@pytest.mark.parametrize("tree", [".", "h.example"])
def test_an_untouched_mirror_is_recognised(tree: str) -> None:
    Path("h.example").mkdir()
    Path("h.example/index.html").write_bytes(b"<!DOCTYPE html><a href=x>")
    named = "it looks like a mirror by wget; to take URLs from its paths: --mirror "
    assert named in run("links", tree).stderr
    option = run("links", tree).stderr.partition(named)[2].splitlines()[0]
    result = run("links", tree, "--mirror", option)
    assert "https://h.example/x [rewritten]" in result.stdout
    assert named not in result.stderr
    Path("h.example/index.html").write_bytes(b"<!DOCTYPE html>" + MARK)
    assert named not in run("links", tree).stderr


def test_what_wget_converted() -> None:
    folder = Path("h.example")
    folder.mkdir()
    original = (
        b'<!DOCTYPE html><a href="/"></a><a href=about></a><a href="/x?a=1"></a><a href=/y></a>'
    )
    converted = original.replace(b'"/"', b'"index.html"').replace(b"=about", b"=about.html")
    converted = converted.replace(b'"/x?a=1"', b'"x%3Fa=1.html"')
    converted = converted.replace(b"=/y", b"=http://h.example/y")
    for name in ("index.html", "about.html", "x?a=1.html"):
        (folder / name).write_bytes(converted)
    mirror = ("-r", ".", "--mirror", ".=http", "--local", "resolve", "-q")
    assert run("rewrite", *mirror, "-o", "../guess").exit_code == 0
    guess = Path("../guess/h.example/about.html").read_bytes()
    assert b'href="http://h.example/"' in guess
    assert b"href=about.html" in guess
    assert b'href="x%3Fa=1.html"' in guess
    for name in ("index.html", "about", "x?a=1"):
        (folder / f"{name}.orig").write_bytes(original)
    assert run("rewrite", *mirror, "-o", "../known").exit_code == 0
    for name in ("index.html", "about.html"):
        known = Path("../known/h.example", name).read_bytes()
        assert known == (
            b'<!DOCTYPE html><a href="http://h.example/"></a><a href=http://h.example/about></a>'
            b'<a href="http://h.example/x?a=1"></a><a href=http://h.example/y></a>'
        )
