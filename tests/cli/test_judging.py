"""Where links lead: what is an id of a page, what is the same address, what stays bounded."""

from __future__ import annotations

import base64
import quopri
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import given
from hypothesis import strategies as st
from memory import needs_status
from running import done

from relbase.cli.judging.verdicts import Ids, Known, address_of, ids_of
from relbase.kind import Kind

# HTML §7.4.6.4: the fragment, decoded; the id of an element in the tree, or the name of an `a`.
PAGES: Final = [
    ("<p id=x>", "#x", True),
    ("<p id=x>", "#X", False),
    ("<p ID='x'>", "#x", True),
    ("<p id = x>", "#x", True),
    ('<p title="a>b"id="x">', "#x", True),
    ("<p title='id=y' data-id=z>", "#z", False),
    ("<a name=x>", "#x", True),
    ("<p name=x>", "#x", False),
    ("<svg><g id=x>", "#x", True),
    ("<p id='a b'>", "#a%20b", True),
    ("<p id='a b'>", "#a", False),
    ("<p id=caf&eacute;>", "#caf%C3%A9", True),
    ("<p id=caf&eacute;>", "#caf", False),
    ("<p id=a%20b>", "#a%20b", True),
    ("<!-- <p id=x> -->", "#x", False),
    ("<template><p id=x></template>", "#x", False),
    ("<script>'<p id=x>'</script>", "#x", False),
    ("<script>'<p id=x>'</script><p id=x>", "#x", True),
    ("&lt;p id=x&gt;", "#x", False),
    ("<title><p id=x></title>", "#x", False),
    ("<p>", "#", True),
    ("<p>", "#top", True),
    ("<p>", "#TOP", True),
    ("<p>", "#:~:text=p", True),
    ("<p id=x>", "#x:~:text=p", True),
    ("<p>", "#x:~:text=p", False),
]


@pytest.mark.parametrize(("page", "fragment", "is_there"), PAGES)
def test_a_fragment_is_there_if_a_browser_finds_it(
    page: str, fragment: str, *, is_there: bool
) -> None:
    Path("page.html").write_text(f"{page}<!-- \n--><a href='{fragment}'>")
    verdict = "inside" if is_there else "fragment-missing"
    assert f"[{verdict}] page.html" in done("links", "page.html", "--judge").stdout


OTHERS: Final = {
    "page.xml": ("<x/>", True),  # its ids are not judged
    "style.css": ("p {}", True),
    "i.svg": ("<svg xmlns='http://www.w3.org/2000/svg'><g/></svg>", False),
    "page.htm": ("<p>", False),
}


@pytest.mark.parametrize("name", OTHERS)
def test_ids_are_those_of_html_and_svg(name: str) -> None:
    content, is_inside = OTHERS[name]
    Path(name).write_text(content)
    Path("page.html").write_text(f"<a href='{name}#x'>")
    verdict = "inside" if is_inside else "fragment-missing"
    assert f"[{verdict}] {name}" in done("links", "page.html", "--judge").stdout


@pytest.mark.parametrize("reference", ["page.html#%41\\ud800", "\\ud800%41", "cid:%41\\ud800"])
def test_surrogates_in_urls_raise_nothing(reference: str) -> None:
    text = '{"version":"https://jsonfeed.org/version/1.1","items":[{"url":"%s"}]}'
    Path("feed.json").write_text(text.replace("%s", reference))
    Path("page.html").touch()
    assert " [" in done("links", "feed.json", "--judge", "--root", ".=http://h/").stdout


def test_an_empty_link_leads_to_the_base() -> None:
    Path("base.html").touch()
    Path("page.html").write_text("<base href=base.html><a href=''><form action=''><a href='#x'>")
    judged = done("links", "page.html", "--judge", "--root", ".=http://h/").stdout
    assert re.findall(r"\[(.*)\] (.*)", judged)[1:] == [
        ("inside", "base.html"),
        ("inside", "page.html"),
        ("fragment-missing", "base.html"),
    ]


@pytest.mark.parametrize("root", [(), ("--root", ".=http://h/")])
def test_behind_a_slash_is_an_index_page_and_no_file(root: tuple[str, ...]) -> None:
    Path("d").mkdir()
    for name in ("d/index.html", "page.html"):
        Path(name).write_text("<a href='d/'><a href='page.html/'><a href='d/index.html/'>")
    judged = done("links", "page.html", "--judge", *root).stdout
    verdicts = re.findall(r"\[(.*)\]", judged)
    assert verdicts == ["inside", *["missing" if root else "unknown"] * 2]


SAVED: Final = """\
MIME-Version: 1.0
Content-Type: multipart/related; boundary=B

--B
Content-Type: text/html
Content-Location: http://h/d/page.html
Content-Transfer-Encoding: %s

%s
--B
Content-Type: image/png
Content-Location: http://h/d/%s

x
--B--
"""


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        ("8bit", bytes.decode),
        ("quoted-printable", lambda page: quopri.encodestring(page, quotetabs=True).decode()),
        ("base64", lambda page: base64.encodebytes(page).decode()),
    ],
)
@pytest.mark.parametrize("name", ["\xe9.png", "%C3%A9.png"])
def test_parts_are_told_apart_as_browsers_do(
    encoding: str, encode: Callable[[bytes], str], name: str
) -> None:
    page = (
        f"<img src='\xe9.png'><img src='https://H/d/%C3%A9.png'>{'x' * 30}"
        "<link title='a long one' rel='icon stylesheet' href='a b.css'><link rel=next href=n>"
    )
    Path("a.mht").write_text(SAVED % (encoding, encode(page.encode()), name))
    judged = done("links", "a.mht", "--judge").stdout
    verdicts = re.findall(r"part 1: \w+/.*\[(.*)\]", judged)
    assert verdicts == ["inside", "inside", "missing", "outside"]


@given(st.text(alphabet="<>!-/='\" &;idx a\nscriptnme", max_size=80))
def test_the_fast_way_finds_only_ids(page: str) -> None:
    data = page.encode()
    some, _ = ids_of(data, Kind.HTML, False)
    everything, is_whole = ids_of(data, Kind.HTML, True)
    assert is_whole
    assert everything is not None
    if not re.search(rb"(?i)<!|<[a-z/]*(?:script|title)|=", data):
        assert not some


@pytest.mark.parametrize(
    "piece",
    [b"<title ", b"<script>", b"<!--", b"<!--->-", b"<a ", b"<a name ", b"id=a ", b"<p id=a "],
)
def test_time_is_linear(piece: bytes) -> None:
    for is_whole in (False, True):
        assert_linear_from_10_ms(
            lambda data: ids_of(data, Kind.HTML, is_whole),  # noqa: B023 (called here)
            lambda size: piece * (size // len(piece)),
        )


def test_a_page_is_read_again_only_if_an_id_may_be_hidden() -> None:
    asked: list[bool] = []

    def read(is_whole: bool) -> Ids:  # noqa: FBT001 (as `ReadIds`)
        asked.append(is_whole)
        return frozenset("x" if not is_whole else "xy"), is_whole

    known = Known()
    assert known.has_id("page", "x", read)
    assert asked == [False]
    assert known.has_id("page", "y", read)
    assert not known.has_id("page", "z", read)
    assert known.has_id("other", "x", read)
    assert known.has_id("page", "y", read)
    assert asked == [False, True, False]


SAME: Final = [
    ("http://h/a", "https://H/a?q#f"),
    ("http://h/d/", "http://h/d"),
    ("http://h/d/", "http://h:80/d/index.html"),
    ("http://h/", "http://u@h"),
    ("http://h/a%20b", "http://h/a b"),
    ("http://h/b", "http://h/a/../b"),
]


@pytest.mark.parametrize(("url", "other"), SAME)
def test_urls_of_one_page(url: str, other: str) -> None:
    known = Known()
    known.add(url, "page")
    address = address_of(other)
    assert address is not None
    assert known.find(address) == "page"


@pytest.mark.parametrize("other", ["http://h/b", "http://h:8080/a", "http://g/a", "ftp://h:80/a"])
def test_urls_of_another_page(other: str) -> None:
    known = Known()
    known.add("http://h/a", "page")
    address = address_of(other)
    assert address is not None
    assert known.find(address) == ""


def test_what_is_not_of_the_web_has_no_address() -> None:
    assert [address_of(url) for url in ("mailto:a@b", "data:,x", "x", "//h/", "http:x")] == [
        None
    ] * 5


def test_a_query_of_a_record_counts() -> None:
    known = Known()
    known.add("http://h/a", "page")
    address = address_of("http://h/a?b")
    assert address is not None
    assert known.find(address)
    assert not known.find(address, exact=True)


def test_nothing_outside_of_a_tree_is_looked_at() -> None:
    Path("site").mkdir()
    Path("secret.html").write_text("<p id=x>")
    Path("site/link.html").symlink_to("../secret.html")
    ways = ("link.html#x", "%2e%2e/secret.html", "..%2fsecret.html", "%00", "%00/x")
    Path("site/page.html").write_text("".join(f"<a href='/{way}'>" for way in ways))
    shown = done("links", "site", "--root", "site=http://h/", "--judge").stdout
    assert shown.count("[missing]") == 5


def test_no_directory_leads_out_of_a_tree() -> None:
    for directory in ("site", "d"):
        Path(directory).mkdir()
    for page in ("d/index.html", "d/p.html", "site/own.html"):
        Path(page).touch()
    Path("site/away").symlink_to("../d")
    Path("site/near").symlink_to(".")
    ways = ("away/p.html", "away/", "away", "near/own.html", "near/%2e%2e/d/p.html")
    Path("site/page.html").write_text("".join(f"<a href='{way}'>" for way in ways))
    shown = done("links", "site", "--judge").stdout.splitlines()
    verdicts = [line.partition("[")[2].partition("]")[0] for line in shown]
    assert verdicts == ["unknown"] * 3 + ["inside", "unknown"]
    shown = done("links", "site", "--judge", "--root", "site=http://h/").stdout.splitlines()
    verdicts = [line.partition("[")[2].partition("]")[0] for line in shown]
    assert verdicts == ["missing"] * 3 + ["inside", "missing"]


@needs_status
def test_memory_stays_bounded() -> None:
    def peak(count: int) -> int:
        for number in range(count):
            page = f"<p id=x><a href='/p{count - number}.html#x'><a href='http://h{number}/'>"
            Path(f"site/p{number}.html").write_text(page)
        program = (
            "import resource, sys; from relbase.cli.group import run; run(sys.argv[1:]);"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
        )
        arguments = ("links", "site", "--root", "site=http://h/", "--missing", "-q")
        command = [sys.executable, "-c", program, *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        return int(ran.stderr.split()[-1])

    Path("site").mkdir()
    assert peak(2000) - peak(500) < 3 * 1024  # kB: less than a kilobyte a page


def test_links_without_judge_load_nothing_of_it() -> None:
    Path("page.html").write_text("<a href=x>")
    code = "import sys; from relbase.cli.group import run; run(sys.argv[1:]); print(*sys.modules)"
    command = [sys.executable, "-c", code, "links", "page.html"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "relbase.cli.listing" in ran.stdout
    assert not {"sqlite3", "csv", "relbase.cli.judging.files"} & {*ran.stdout.split()}
