"""The page of `explain`: what it shows, and that a hostile document stays text in it."""

from __future__ import annotations

import re
from base64 import b64encode, encodebytes
from html import unescape
from html.parser import HTMLParser
from typing import Any, Final

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relbase import Policy, Profile, entities, explain, links, rewrite
from relbase.explaining import references
from relbase.explaining.page import index, page
from relbase.session.session import check

URL: Final = "http://h.example/a/p.html?x"
PAGE: Final = b"""<base href="/d/e/"><a href="../x?a=1&amp;b=2">one</a>
<img srcset="s 1x, //i.example/l 2x"> <a href=http://o.example/>out</a> <a href=#top>top</a>
<svg><use href="#icon"/></svg> <p style="background:url(bg.png)">
"""
MESSAGE: Final = b"""Content-Base: http://message.example/
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html

<a href=x>
--b
Content-Type: text/html
Content-Location: sub/page.html

<base href=deep/><a href=y>
--b--
"""
ENCODED: Final = b"""Content-Type: multipart/mixed; boundary=b
Content-Location: top.html

--b
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

<p>caf=E9</p><a href=3D"../a=
b">
--b
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: base64

PHA+w6k8L3A+PGltZyBzcmM9eD4=
--b
Content-Type: text/html
Content-Transfer-Encoding: base64

PHA+bm90aGluZzwvcD4=
--b
Content-Type: text/html

<a href=plain>
--b--
"""
FROM: Final = b"From a@b Thu Jan  1 00:00:00 2015\n"
# What the page itself is made of.
ELEMENTS: Final = frozenset(
    [
        *("html", "head", "meta", "title", "style", "body", "header", "main", "footer", "h1", "h2"),
        *("p", "div", "span", "a", "b", "code", "small", "del", "ins", "ul", "ol", "li"),
        *("table", "thead", "tbody", "tr", "th", "td", "fieldset", "legend", "label", "input"),
        *("details", "summary"),
    ]
)


class Reader(HTMLParser):
    """The elements and attributes of a page, which are its own and in balance."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(source)
        self.close()
        assert self.open == []
        assert {tag for tag, _ in self.elements} <= ELEMENTS
        names = {name for _, given in self.elements for name in given}
        assert not {name for name in names if name.startswith("on")} | (names & {"src", "style"})

    def of_links(self, name: str) -> list[str]:
        """The values of an attribute of links."""
        return [given[name] or "" for tag, given in self.elements if tag == "a" and name in given]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def plain(markup: str) -> str:
    return unescape(re.sub("<[^>]*>", "", markup))


def source_of(markup: str) -> str:
    found = re.search(r'<div class="source".*?>(.*)</div>\n<h2 id="references">', markup, re.DOTALL)
    assert found
    return found[1]


def before_and_after(marked: str) -> tuple[str, str]:
    """The text of a source as it was, and as it will be."""
    marked = re.sub('</div><div class="[a-z ]*">', "", marked)
    before, after = (
        plain(re.sub(f"<{tag}>.*?</{tag}>", "", marked, flags=re.DOTALL)) for tag in ("ins", "del")
    )
    return before, after


def test_it_is_one_page_of_its_own_elements_in_balance() -> None:
    for markup in (explain(PAGE, url=URL), explain(MESSAGE), explain(b""), explain(b"\x00\xff")):
        reader = Reader(markup)
        identities = [f"#{value['id']}" for _, value in reader.elements if "id" in value]
        assert len(identities) == len(set(identities))
        assert set(reader.of_links("href")) <= set(identities)


def test_the_layers_are_nested_as_in_the_figure() -> None:
    markup = explain(PAGE, url=URL, headers={"Base": "mailto:a@b"})
    opened = re.findall(r'<div class="box ([\w ]+)" ', markup)
    assert opened == ["none", "retrieval", "entity missing", "embedded decides"]
    assert "Refused: Base of the HTTP header: 'mailto:a@b'" in markup
    # the label of each box stands below the box inside of it
    assert [found.start() for found in re.finditer('class="section">3.[1-4]', markup)] == sorted(
        markup.index(f'class="section">{section}') for section in ("3.1", "3.2", "3.3", "3.4")
    )
    assert 'class="box retrieval missing"' in explain(PAGE)


def test_what_is_refused_stands_in_its_layer() -> None:
    saved = b"<!-- saved from url=(0005)ftp:x -->\n"
    for section, markup in {
        "3.1": explain(b'<base href="data:,x"><a href=x>', url=URL),
        "3.2": explain(b"<a href=x>", url=URL, headers={"Content-Location": "http://o/"}),
        "3.3": explain(saved + b"<a href=x>"),
    }.items():
        # the label of a box, and what is said below it
        about = re.findall('class="section">(3.[1-4])</span>(.*?)</div>', markup, re.DOTALL)
        assert [found for found, said in about if "Refused:" in said] == [section]
    redirected = explain(b"<a href=x>", url=URL, redirects=["mailto:a@b"])
    assert "Refused: redirect 1" in redirected.partition('class="section">3.3')[2]


def test_the_parts_of_a_message_are_boxes_within_boxes() -> None:
    markup = explain(MESSAGE, url="http://archive.example/")
    drawn = markup[markup.index('id="boxes"') : markup.index('id="source"')]
    names = re.findall(r'<p class="name">([^<]*) ', drawn)
    assert names == ["The message", "Part 1", "Part 2"]
    for base in (
        "http://archive.example/",
        "http://message.example/",
        "http://message.example/sub/deep/",
    ):
        assert f'<code class="url">{base}</code>' in drawn
    assert drawn.count("Decides for everything inside") == 2
    assert "Same base as the enclosing box." in drawn


_INSIDE: Final = b"Content-Type: text/html\n\n<a href=x>"
_AROUND: Final = b"Content-Type: message/rfc822\n"


@pytest.mark.parametrize(
    ("message", "names"),
    [
        # A message and its multipart, or the message in base64 in it, have one number.
        (
            _AROUND + b"\nContent-Type: multipart/mixed; boundary=b\n\n--b\n" + _INSIDE,
            ["The message", "Part 1", "Part 1.1"],
        ),
        (
            _AROUND + b"Content-Transfer-Encoding: base64\n\n" + b64encode(_INSIDE),
            ["The message", "The message"],
        ),
    ],
)
def test_a_box_is_drawn_once(message: bytes, names: list[str]) -> None:
    assert re.findall(r'<p class="name">([^<]*) ', explain(message, kind="mail")) == names


def test_boxes_nest_deeper_than_calls() -> None:
    message = _INSIDE
    for level in range(4):
        message = _AROUND + b"Content-Transfer-Encoding: base64\n\n" + encodebytes(message)
        for number in range(98):
            boundary = b"b%d.%d" % (level, number)
            head = b'Content-Type: multipart/mixed; boundary="%b"\n\n--%b\n'
            message = head % (boundary, boundary) + message
    assert explain(message, kind="mail").count('<p class="name">') == 396


def test_every_reference_is_marked_and_listed() -> None:
    markup = explain(PAGE, url=URL)
    found = list(links(PAGE, url=URL))
    assert len(found) > 7
    for number, link in enumerate(found, 1):
        assert f'id="s{number}" href="#r{number}"' in markup
        [item] = re.findall(f'<li id="r{number}".*?<p class="where">.*?</li>', markup, re.DOTALL)
        assert link.reference in plain(item)
        assert link.url is None or link.url in plain(item)
        assert link.status.value in item
        assert f"line {link.line}, column {link.column}" in item
    assert "RFC 1808 §4 step 6: the last segment" in markup
    assert "a fragment of this document: left unchanged" in markup
    shown = plain(explain(b"<style>a{b:url(x)}</style><a href=%b>" % (b"y" * 3_000), url=URL))
    assert "column 16: style (css)" in shown
    assert "column 35: a/@href (url)" in shown
    assert "1,000 characters more" in shown


def test_each_profile_tells_its_own_steps() -> None:
    for profile, said in (
        (Profile.RFC1808, "RFC 1808 §4 step 3: its net_loc "),
        (Profile.RFC3986, "RFC 3986 §5.2.2: R.authority "),
        (Profile.WHATWG, "URL Standard, inherited: as in the base: scheme"),
    ):
        assert said in explain(b"<a href=//i.example/x>", url=URL, profile=profile)


def test_why_references_stay() -> None:
    policy = Policy(keep=re.compile("^keep/"))
    markup = plain(explain(b"<a href=keep/x><a href=y><form action=''>", policy=policy))
    assert "the policy keeps references like this" in markup
    assert "there is no base URL to resolve it against" in markup
    assert "empty: it means this document" in markup


PIECES: Final = [
    "<a href=", "<img srcset='a 1x, b 2x' src=", "../x", "x", "'y'", '"z?a&amp;b"', ">", "<p>",
    "<style>a{b:url(c)}</style>", "<base href=/d/>", "http://o/", "&", "é", " ", "\u202e", "\n",
    "x" * 9_000,
]  # fmt: skip


def test_before_is_the_document_and_after_the_result() -> None:
    changed = 0

    @settings(max_examples=150)
    @given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
    def law(document: str) -> None:
        nonlocal changed
        data = f"<!doctype html><meta charset=utf-8>{document}".encode()
        result = rewrite(data, url=URL)
        changed += result.changed
        texts = (one.decode().replace("\u202e", "\\u202e") for one in (data, result.data))
        assert before_and_after(source_of(explain(data, url=URL))) == tuple(texts)

    law()
    assert changed > 50


WORDS: Final = "<p>\u65e5\u672c \u3042</p>\n" * 900 + "<a href='../x'>\u65e5</a>\n" * 3


WIDE: Final = ("utf-16le", "utf-16be", "iso-2022-jp", "shift_jis", "gb18030")


@pytest.mark.parametrize("charset", WIDE)
def test_the_source_is_shown_in_the_charset_of_the_document(charset: str) -> None:
    # it is cut in chunks: in UTF-16 not inside of a unit, or the rest of the chunk is another text
    header = {"Content-Type": f"text/html; charset={charset}"}
    for markup in (
        explain(WORDS.encode(charset), url=URL, charset=charset),
        explain(WORDS.encode(charset), url=URL, headers=header),
    ):
        assert before_and_after(source_of(markup))[0] == WORDS
    sheet = f'@charset "{charset}"; /* \u65e5 */ a{{b:url(x)}}'
    if not charset.startswith("utf-16"):  # which cannot be stated so
        assert "/* \u65e5 */" in explain(sheet.encode(charset), url=URL, kind="css")


def test_the_steps_in_a_feed_write_queries_in_its_charset() -> None:
    feed = (
        '<?xml version="1.0" encoding="koi8-r"?><rss><channel><link>x?\u0430</link></channel></rss>'
    )
    markup = explain(feed.encode("koi8-r"), url=URL, kind="xml", profile="whatwg")
    assert "<p>resolved</p>" not in markup  # the steps come to another result
    assert "x?%C1" in markup


HOSTILE: Final = [
    "</title><script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "'><svg/onload=alert(1)>",
    "<!--", "-->", "]]>", "&#60;script&#62;", "{title}", "%s", "\x00\x1b[2J\u202e\u2028",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_document_stays_text(piece: str) -> None:
    raw = piece.encode()
    quoted = raw.replace(b'"', b"&quot;")
    data = b'<base href="http://' + quoted + b'/"><a href="' + quoted + b'">' + raw
    for markup in (
        explain(data, url=f"http://h/{piece}", name=piece, headers={"Base": piece}),
        explain(b"Base: " + raw + b"\nContent-Type: text/html\n\n" + data, kind="mail", name=piece),
        explain(data, profile="whatwg", url="http://h/"),
    ):
        Reader(markup)
        assert not re.search("[\x00\x1b\u202e\u2028]", markup)


# Marks of charsets that browsers do not read too, NULs, and what has parts and encodings.
BYTES: Final = [
    b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff", b"\xef\xbb\xbf", b"\0", b"\xd8\x00",
    b"<a href=x>", b"<\0a\0 \0h\0r\0e\0f\0=\0x\0>\0", b"<style>a{b:url(c)}</style>", b"\x1b$B",
    b"<meta charset=", b"utf-16", b"utf-32", b"replacement", b"iso-2022-kr", b"<?xml version='1.0'",
    b"MIME-Version: 1.0\nContent-Type: text/html; charset=", b"\n\n", b"=\n", b"PGEgaHJlZj14Pg==",
    b"\nContent-Transfer-Encoding: base64\n\n", b"From a@b Thu Jan  1 00:00:00 2015\n",
    b"Content-Type: multipart/mixed; boundary=b\n\n--b\n",
]  # fmt: skip
KINDS: Final = ["html", "css", "xml", "mail", "mbox", "http", "other", None]
CHARSETS: Final = ["utf-16", "utf-16be", "iso-2022-jp", "koi8-r", "x-user-defined", "gb18030", None]


@given(
    st.lists(st.sampled_from(BYTES) | st.binary(max_size=4), max_size=9).map(b"".join),
    st.sampled_from(KINDS),
    st.sampled_from(CHARSETS),
)
@example(b"\xff\xfe\0\0<a href=x>", "html", None)
@example(b"\0\0\xfe\xff\0\0\0x", None, "iso-2022-jp")
@settings(max_examples=300)
def test_no_document_raises(data: bytes, kind: str | None, charset: str | None) -> None:
    Reader(explain(data, kind=kind, charset=charset, url=URL))  # type: ignore[arg-type]


HTML: Final = (
    b"<a href=x>\n",
    b"<a href=x>",
    b"x" * 11,
    b"\xe9\xe9\xe9",
    b"<a href=../x> <p>\n",
    b"&&<<",
)


@pytest.mark.parametrize(
    ("piece", "kind"), [*((one, "html") for one in HTML), (FROM + ENCODED + b"\n", "mbox")]
)
def test_time_is_linear(piece: bytes, kind: Any) -> None:
    assert_linear_from_10_ms(
        lambda data: explain(data, url=URL, kind=kind),
        lambda size: piece * (size // max(64, len(piece))),
    )


@pytest.mark.parametrize("end", ["", "</feed>"])
def test_no_link_holds_more_than_the_page_shows(end: str) -> None:
    """Each entry has a base of its own: what is written pays for those of the listed links."""
    folder = "a/" * 400
    entries = "".join(
        f'<entry xml:base="{number}/"><link href="z"/></entry>' for number in range(4_000)
    )
    feed = f'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://h/{folder}">{entries}{end}'
    kept = list(references.lightened(links(feed.encode(), url=URL, kind="xml")))
    is_resolved = bool(end)  # what is not well-formed stays
    assert [folder in (link.url or "") for link in kept[1:9]] == [is_resolved] * 8
    rest = kept[references.MAX_LISTED :] if is_resolved else kept[1:]
    assert len(rest) > 3_000
    for link in rest:
        assert len(link.base.url) + len(link.url or "") < len(folder)


def test_long_pages_list_some_and_mark_all() -> None:
    count = references.MAX_LISTED + 10
    markup = explain(b"<a href=x>" * count, url=URL)
    assert f'id="s{count}"' in markup
    assert f'id="r{count}"' not in markup
    assert "10 more are marked in the source and not listed." in markup
    assert markup.count("<details>") == references.MAX_STEPS
    assert set(re.findall('href="#(r[0-9]+)"', markup)) <= set(re.findall('id="(r[0-9]+)"', markup))


@pytest.mark.parametrize("piece", [b"<a href=x>", b"<p>word", "\u65e5".encode(), b"\x80"])
def test_a_page_without_line_ends_is_cut_in_chunks(piece: bytes) -> None:
    # a browser lays out a chunk as a whole: one of 5 MB hung it
    marked = source_of(explain(piece * (150_000 // len(piece)), url=URL, kind="html"))
    assert '<div class="all far">' in marked
    chunks = [plain(chunk) for chunk in marked.split('<div class="chunk">')]
    assert len(chunks) > 2
    assert max(len(chunk.encode()) for chunk in chunks) < 400_000  # 64 KiB, with what they become
    assert "\\xe6" not in marked


def test_a_mailbox_of_many_messages_is_drawn_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relbase.explaining.markup.MAX_DRAWN", 10)
    data = (FROM + b"Content-Type: text/html\n\n<a href=x>\n\n") * 30
    more = 1 + len(list(entities(data, kind="mbox"))) - 10  # and the mailbox itself
    assert f"{more} more parts not drawn here." in explain(data, kind="mbox", url=URL)


def test_the_index_has_totals() -> None:
    rows = [
        ("a b.html", page(PAGE, check(url=URL), "a b")[1]),
        ("\udcff<.html", page(b"<a href=x>", check(), "<b>")[1]),
    ]
    markup = index(rows)
    assert Reader(markup).of_links("href")[1:] == ["./a%20b.html", "./%FF%3C.html"]
    assert "What the links of 2 documents mean" in markup
    assert "1 of the documents have no base URL" in markup


def test_encoded_bodies_are_shown_as_they_decode() -> None:
    for data, number in ((ENCODED, ""), (FROM + ENCODED, "1/")):
        marked = source_of(explain(data, url=URL))
        shown = re.findall(
            r'<div class="decoded"><p>(.*?)</p><div class="chunk">(.*?)</div></div>', marked
        )
        assert [title for title, _ in shown] == [
            f"Part {number}1, decoded from quoted-printable",
            f"Part {number}2, decoded from base64",
        ]
        assert [before_and_after(text) for _, text in shown] == [
            ('<p>café</p><a href="../ab">', '<p>café</p><a href="http://h.example/ab">'),
            ("<p>é</p><img src=x>", "<p>é</p><img src=http://h.example/a/x>"),
        ]
        # what is not encoded, and what holds no reference, is as it stands in the message
        assert "PHA+bm90aGluZzwvcD4=" in marked
        assert "PHA+w6k8L3A" not in marked
        listed = [link.reference for link in links(data, url=URL)]
        marks = re.findall(r'id="s(\d+)"', marked)
        assert listed == ["top.html", "../ab", "x", "plain"]
        assert marks == ["1", "2", "3", "4"]
