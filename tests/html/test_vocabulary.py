"""Which attribute of which element holds a URL: every row, and what is in none.

`@` stands where the base's directory is written: `<a href="@x">` says that `<a href="x">` becomes
`<a href="http://h.example/d/x">`, and `<p href="x">` that it stays.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from rows import cases, rows
from scanners import SCANNERS, assert_agreed, scanning

from relbase import Policy, Profile, links, rewrite
from relbase.html.places import PLACES

TABLES = Path(__file__).with_name("vocabulary.txt")

URL = "http://h.example/d/p.html"
DIRECTORY = "http://h.example/d/"


def each(title: str) -> list[str]:
    """The rows of a table; `[a b]` in one makes two."""
    found = []
    for (row,) in rows(TABLES, title, str):
        parts = re.split(r"\[([^\[\]]+ [^\[\]]*)\]", row)
        choices = [part.split() if at % 2 else [part] for at, part in enumerate(parts)]
        found += ["".join(chosen) for chosen in product(*choices)]
    return found


HTML_ROWS, FOREIGN_ROWS, CONDITIONS = each("html"), each("foreign"), each("conditions")
EXTENDED = each("extended")


def html(row: str) -> bytes:
    return row.replace("@", "").encode()


def expected(row: str) -> bytes:
    return row.replace("@", DIRECTORY).encode()


@pytest.mark.parametrize("row", HTML_ROWS + FOREIGN_ROWS + CONDITIONS)
@pytest.mark.parametrize("extended", [False, True])
def test_rows(row: str, extended: bool) -> None:  # noqa: FBT001
    policy = Policy(extended=extended)
    assert rewrite(html(row), url=URL, kind="html", policy=policy).data == expected(row)


@pytest.mark.parametrize("row", each("never"))
@pytest.mark.parametrize("extended", [False, True])
def test_what_is_in_no_row_stays(row: str, extended: bool) -> None:  # noqa: FBT001
    document = html(row)
    assert (
        rewrite(document, url=URL, kind="html", policy=Policy(extended=extended)).data is document
    )


@pytest.mark.parametrize("row", EXTENDED)
def test_extended_rows(row: str) -> None:
    document = html(row)
    assert rewrite(document, url=URL, kind="html").data is document
    assert rewrite(document, url=URL, kind="html", policy=Policy(extended=True)).data == expected(
        row
    )


@pytest.mark.parametrize("row", each("amp"))
@pytest.mark.parametrize("scanner", SCANNERS)
def test_rows_of_amp(row: str, scanner: str) -> None:
    plain, root, policy = html(row), "<html ⚡4email>".encode(), Policy(extended=True)
    call: dict[str, Any] = {"url": URL, "kind": "html"}
    with scanning(scanner):
        assert (b"<img" in plain) != (rewrite(plain, **call).data is plain)
        assert rewrite(plain, **call, policy=policy).data == expected(row)
        assert rewrite(root + plain, **call).data == root + expected(row)
        labelled = rewrite(plain, url=URL, headers={"Content-Type": "text/x-amp-html"})
        assert labelled.data == expected(row)
        listed = [link.url for link in links(root + plain, **call)]
        assert listed == [link.url for link in labelled.links]


@cases(TABLES, "amp roots", root=str, is_amp=str)
def test_roots_of_amp(root: str, is_amp: str) -> None:
    page = f"{root}<amp-img src='x' srcset='y 2x'></amp-img><form action-xhr='/z'>"
    for profile in Profile:
        result = assert_agreed(page.encode(), url=URL, kind="html", profile=profile)
        found = [link.attribute for link in result.links if link.attribute != "title"]
        assert found == (["src", "srcset", "action-xhr"] if is_amp else [])
        assert bool(rewrite(page.encode(), kind="html").notes) == bool(is_amp)


@pytest.mark.parametrize("scanner", SCANNERS)
@pytest.mark.parametrize(
    "root", ["amp=''", "lang='en' amp='amp'", "amp4email=''", "amp4ads=''", ""]
)
def test_roots_of_amp_in_xhtml(root: str, scanner: str) -> None:
    page = f"""<?xml version="1.0"?><!-- a --><html xmlns="http://www.w3.org/1999/xhtml" {root}>
<amp-img src="x" srcset="y 2x"/><form action-xhr="z"/></html>"""
    with scanning(scanner):
        for call in ({"kind": "xml"}, {"headers": {"Content-Type": "application/xhtml+xml"}}):
            result = rewrite(page.encode(), url=URL, **call)
            is_amp = root not in {"", "amp4ads=''"}
            assert [link.attribute for link in result.links] == (
                ["src", "srcset", "action-xhr"] if is_amp else []
            )
            assert result.data.count(b'"http://h.example/') == 3 * is_amp


@cases(TABLES, "codebase", row=str, added=str)
def test_codebase(row: str, added: str) -> None:
    """Rule 7: a base for rfc1808 and rfc3986, none for browsers."""
    for profile, base in zip(Profile, (added, added, "@"), strict=True):
        result = rewrite(html(row.replace("%", "")), url=URL, kind="html", profile=profile)
        assert result.data == expected(row.replace("%", base)), profile


# Rule 6: (element with an empty value, whether that is a reference)
EMPTY = [
    ("<a href='{}'>", URL),
    ("<area href='{}'>", URL),
    ("<base href='{}'>", URL),
    ("<svg><a href='{}'/></svg>", URL),
    ("<svg><a xlink:href='{}'/></svg>", URL),
    ("<form action='{}'>", URL),
    ("<button formaction='{}'>", URL),
    ("<input formaction='{}'>", URL),
    *[
        (row.replace("@x", "{}"), "")
        for row in HTML_ROWS
        if row.count("@") == 1
        and "'@x'" in row
        and not row.startswith(
            ("<a ", "<area href", "<base", "<form", "<button", "<input formaction")
        )
    ],
    ("<svg><image href='{}'/><use xlink:href='{}'/></svg>", ""),
    ("<math href='{}'></math>", ""),
    ("<a ping='{}' attributionsrc='{}'>", ""),
    ("<img srcset='{}'>", ""),
    ("<meta http-equiv=refresh content='0;url={}'>", ""),
    ("<p style='a:url({})'>", ""),
    ("<p style='a:url(\"{}\")'>", ""),
    ('<script type=speculationrules>{{"prefetch":[{{"urls":["{}"]}}]}}</script>', ""),
    ('<script type=importmap>{{"imports":{{"{}":"{}"}}}}</script>', ""),
    ('<script type=importmap>{{"scopes":{{"{}":{{}}}}}}</script>', URL),
]


@pytest.mark.parametrize(("template", "written"), EMPTY)
@pytest.mark.parametrize("blank", ["", " "])
def test_where_an_empty_value_is_a_reference(template: str, written: str, blank: str) -> None:
    document = template.format(blank, blank).encode()
    becomes = template.format(blank + written, blank + written).encode()
    result = rewrite(document, url=URL, kind="html")
    assert result.data == becomes
    assert result.changed == bool(written)


@pytest.mark.parametrize("row", each("local"))
def test_local_references_stay(row: str) -> None:
    """Rule 8."""
    document = row.encode()
    result = rewrite(document, url=URL, kind="html")
    assert result.data is document
    assert result.notes == ()
    assert [link.status.value for link in result.links] == ["kept"] * ("usemap" not in row)


@pytest.mark.parametrize(
    "row",
    [
        *("<a href='{}#x'>", "<area href='{}#x'>", "<svg><a href='{}#x'/></svg>"),
        *("<svg><a xlink:href='{}#x'/></svg>", "<math href='{}#x'></math>", "<img src='{}#x'>"),
        "<link href='{}#x'>",
    ],
)
def test_other_fragments_are_resolved(row: str) -> None:
    """Rule 8."""
    assert rewrite(row.format("").encode(), url=URL, kind="html").data == row.format(URL).encode()


def test_every_attribute_of_the_vocabulary_is_in_a_row_here() -> None:
    documents = [
        html(row) for row in HTML_ROWS + FOREIGN_ROWS + CONDITIONS + EXTENDED + each("amp")
    ]
    seen = {
        link.attribute.encode()
        for document in documents
        for link in links(document, url=URL, kind="html", policy=Policy(extended=True))
    }
    seen.add(b"srcdoc")  # its links are those of the document in it
    assert seen - {b"", b"style"} == {attribute for _, _, attribute in PLACES} - {b"style"}
