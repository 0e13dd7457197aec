"""User names and passwords in URLs."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import relbase
from relbase.cli.files import shown_name
from relbase.kind import KindName
from relbase.storage import refuse_unknown
from relbase.trees import make_links_absolute
from relbase.url import whatwg
from relbase.url.credentials import masked, without_credentials

# Each with what is said of it.
MESSAGES = [
    ("http://u:secret@h/x", "http://***@h/x"),
    ("  http://u@h", "  http://***@h"),
    ("http:\\\\u:secret@h/d/", "http:\\\\***@h/d/"),
    ("http:u:secret@h/", "http:***@h/"),
    ("http:/u:secret@h/", "http:/***@h/"),
    ("//u:secret@h/", "//***@h/"),
    ("u:secret@h/", "u:***@h/"),
    ("u:sec/secret@h/", "u:***@h/"),
    ("http://u:sec/secret@h/", "http://***@h/"),
    ("http://u:p@secret@h:99999/", "http://***@h:99999/"),
    ("http://u:se\ncret@h/", "http://***@h/"),
    ("'http://u:secret@h/'", "'http://***@h/'"),
    ("\xa0http://u:secret@h/", "\xa0http://***@h/"),
    ("http://u:secret@h/ http://v:secret@h/", "http://***@h/ http://***@h/"),
    (
        "http://archive.example/web/2020/http://u:secret@h/",
        "http://archive.example/web/2020/http://***@h/",
    ),
]
READABLE = [
    *("mailto:a@b", "/a@b:c", "http://h/a@b", "http://h:80/@u", "http://[::1]:80/a@b", "h:80/a@b"),
    *(
        "a@b",
        "./a:b@c",
        "?a:b@c",
        "#a:b@c",
        "cid:a@b",
        "file:///home/a@b",
        "data:,a:b@c",
        "a/b@c:d",
    ),
    *("http://h/", "", "tag:a@b,2020:c"),
]


@pytest.mark.parametrize(("url", "shown"), [*MESSAGES, *((url, url) for url in READABLE)])
def test_messages_show_no_password(url: str, shown: str) -> None:
    assert masked(url) == shown


# Each with the note that quotes a reference or a base.
QUOTING = [
    ("html", "<a href='//u:secret@h/../x'>", "reference-climbs"),
    ("html", "<a href='//u:secret@h\\x'>", "reference-backslash"),
    ("html", "<base href='//u:secret@h/'>", "base-relative"),
    (
        "html",
        (
            "<meta http-equiv=content-security-policy content='base-uri http://u:secret@k/'>"
            "<base href=/>"
        ),
        "base-forbidden",
    ),
    ("css", "a{b:url(//u:secret@h/../x)}", "reference-climbs"),
    (
        "xml",
        (
            "<rss><channel><link>http://u:secret@h/</link><item><link>http://u:secret@k/</link>"
            "<description>&lt;a href=x&gt;</description></item></channel></rss>"
        ),
        "item-link",
    ),
    (
        "mail",
        (
            "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\n"
            "<//u:secret@h/>\n--b\nContent-Type: text/html\n\n<a href='//u:secret@h/'>\n--b--\n"
        ),
        "text-relative",
    ),
]


@pytest.mark.parametrize(("kind", "text", "reason"), QUOTING)
def test_notes_show_no_password(kind: KindName, text: str, reason: str) -> None:
    notes = relbase.rewrite(text.encode(), url="http://g/d/", kind=kind).notes
    assert reason in [note.reason.value for note in notes]
    assert "secret" not in "".join(note.text for note in notes)


def test_errors_show_no_password() -> None:
    tree = ET.fromstring("<a href='//u:secret@[/'/>")
    with pytest.raises(ValueError, match=re.escape("'//***@[/' cannot be resolved")):
        make_links_absolute(tree, "http://h/", profile="whatwg")
    with pytest.raises(
        ValueError, match=re.escape("cannot open https:// ('https://***@h/x.warc')")
    ):
        refuse_unknown(["https://u:secret@h/x.warc"], "")
    assert shown_name("s3://u:secret@bucket/x.warc") == "s3://***@bucket/x.warc"


@given(
    st.text("hHtTpP:/\\@u?#.\t 1", max_size=12),
    st.sampled_from(("", "http:", "foo://", "file:")),
)
def test_the_rest_of_a_url_stays(rest: str, before: str) -> None:
    url = before + rest
    try:
        parsed = whatwg.split(url)
    except ValueError:
        return
    cut = without_credentials(url)
    if cut is None:
        assert (parsed.username, parsed.password) == ("", "")
    else:
        assert whatwg.split(cut) == parsed._replace(username="", password="")


@pytest.mark.parametrize("piece", ["/", "\\", "a:", "a", " ", ":", "@", "1"])
def test_messages_about_long_urls_take_linear_time(piece: str) -> None:
    long = piece * 200_000
    for url in (long, f"{long}/@", f"http:{long}?@", f"a:{long}", f"://{long}@"):
        masked(url)
        without_credentials(url)
