"""A row is enough: one row more in a table works wherever the table counts."""

import subprocess
import sys
from typing import Final

import pytest

import relbase

# Adds a row to a public table before anything else is loaded, in a process of its own.
WITH_ROW: Final = """
import {module} as rows
{change}
import relbase
def rewritten(data, **arguments):
    print(relbase.rewrite(data, url="http://h/d/", **arguments).data)
"""
PAGE: Final = b"<a href=x>"


def run(module: str, change: str, *calls: str) -> list[str]:
    script = WITH_ROW.format(module=module, change=change) + "\n".join(calls)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def added(table: str, row: str) -> str:
    return f"rows.{table} = (*rows.{table}, rows.{row})"


@pytest.mark.parametrize(
    ("where", "http", "mail"),
    [
        ("BOTH", "http://h/e/", "http://h/e/"),
        ("MAIL", "http://h/d/", "http://h/e/"),
        ("HTTP", "http://h/e/", "http://h/d/"),
    ],
)
def test_a_row_makes_a_header_state_a_base(where: str, http: str, mail: str) -> None:
    response = b"HTTP/1.1 200 OK\r\nX-BASE: <URL:../e/>\r\nContent-Type: text/html\r\n\r\n"
    message = b"X-BASE: <URL:../e/>\nContent-Type: text/html\n\n"
    found = run(
        "relbase.containers.header_fields",
        added("FIELDS", f"FieldRow('X-Base', rows.States.{where}, holds=rows.ValueKind.URL)"),
        f"print(relbase.rewrite({PAGE!r}, url='http://h/d/', headers={{'x-base': '../e/'}}).data)",
        f"rewritten({response + PAGE!r}, kind='http')",
        f"rewritten({message + PAGE!r}, kind='mail')",
    )
    # As a reference it is made absolute wherever it stands.
    response, message = (head.replace(b"../e/", b"http://h/e/") for head in (response, message))
    assert found == [
        repr(b"<a href=%bx>" % http.encode()),
        repr(response + b"<a href=%bx>" % http.encode()),
        repr(message + b"<a href=%bx>" % mail.encode()),
    ]


@pytest.mark.parametrize(
    ("form", "value", "expected"),
    [
        ("URL", b"x", b"http://h/d/x"),
        ("LIST", b"<x>, <y>", b"<http://h/d/x>, <http://h/d/y>"),
        ("LINK", b"<x>; rel=next", b"<http://h/d/x>; rel=next"),
        ("REFRESH", b"0; url=x", b"0; url=http://h/d/x"),
    ],
)
def test_a_row_makes_a_header_hold_references(form: str, value: bytes, expected: bytes) -> None:
    heads = [
        (b"HTTP/1.1 200 OK\r\nX-Where: %b\r\nContent-Type: text/plain\r\n\r\n", "http"),
        (b"MIME-Version: 1.0\nX-Where: %b\n\n", "mail"),
    ]
    calls = [f"rewritten({head % value!r}, kind={kind!r})" for head, kind in heads]
    row = added("FIELDS", f"FieldRow('X-Where', holds=rows.ValueKind.{form})")
    found = run("relbase.containers.header_fields", row, *calls)
    assert found == [repr(head % expected) for head, _ in heads]


MARKED: Final = "print(relbase.rewrite({page!r}).base.url)"


def test_a_row_makes_a_comment_a_mark() -> None:
    url = "lambda mark: (mark[1].decode(), '')"
    mark = f"CommentMark('Saver', b'SAVER ', rows.expression(rb' SAVER (\\S+) '), {url})"
    page = b"<!-- SAVER http://h/p --><a href=/x>"
    found = run("relbase.savers.rows", added("COMMENTS", mark), MARKED.format(page=page))
    assert found == ["http://h/p"]


@pytest.mark.parametrize(
    ("row", "page"),
    [
        ('AttributeMark("Saver", b"html", b"data-saver")', b"<html data-saver=http://h/p>"),
        (
            'AttributeMark("Saver", b"meta", b"value", (b"id", b"saver"))',
            b"<meta id=saver value=http://h/p>",
        ),
    ],
)
def test_a_row_makes_an_attribute_a_mark(row: str, page: bytes) -> None:
    marked = MARKED.format(page=page + b"<a href=/x>")
    assert run("relbase.savers.rows", added("ATTRIBUTES", row), marked) == ["http://h/p"]


@pytest.mark.parametrize("scanner", ["exact", "compiled"])
@pytest.mark.parametrize(
    ("module", "change", "page"),
    [
        (
            "relbase.html.vocabulary",
            (
                "new = ('dialog', 'portrait', rows.Row(rows.Syntax.URL))\n"
                "rows.TABLE = {**rows.TABLE, rows.HTML: (*rows.TABLE[rows.HTML], new)}"
            ),
            b"<dialog portrait=%bx>",
        ),
        (
            "relbase.css.functions",
            added("FUNCTIONS", "Function(b'picture', rows.Form.SRC)"),
            b"<style>a{b:picture('%bx')}</style>",
        ),
    ],
)
def test_a_row_makes_an_attribute_or_a_function_of_css_count(
    module: str, change: str, page: bytes, scanner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if scanner == "compiled" and relbase.scanner != "compiled":
        pytest.skip("the compiled scanner is not there")
    monkeypatch.setenv("RELBASE_SCANNER", scanner)
    pages = page % b"" * 50  # more than is looked at element by element
    calls = (
        f"rewritten({pages!r}, kind='html')",
        (
            f"print(len([link for link in relbase.links({pages!r}, url='http://h/d/', kind='html')"
            " if link.url == 'http://h/d/x']))"
        ),
    )
    assert run(module, change, *calls) == [repr(page % b"http://h/d/" * 50), "50"]


def test_a_row_makes_a_charset_have_code_units_of_two_bytes() -> None:
    """A name that the Encoding Standard has for another charset, since no other name is a label."""
    page, expected = (
        text.encode("utf-16-be")
        for text in ("<a href='x?\u20ac'>", "<a href='http://h/d/x?\u20ac'>")
    )
    xml, xml_expected = (
        f"<a xmlns:x='http://www.w3.org/1999/xlink' x:href='{url}'/>".encode("utf-16-be")
        for url in ("x", "http://h/d/x")
    )
    found = run(
        "relbase.view.charset",
        "rows.WIDE['koi8-u'] = 'utf-16-be'",
        f"rewritten({page!r}, kind='html', charset='koi8-u')",
        f"rewritten({xml!r}, kind='xml', charset='koi8-u')",
        f"print(relbase.rewrite({page!r}, kind='html', charset='koi8-u', url='http://h/',"
        " profile='whatwg').links[0].url)",
    )
    assert found == [repr(expected), repr(xml_expected), "http://h/x?%E2%82%AC"]
