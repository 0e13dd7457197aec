"""A row is enough: one row more in a table works wherever the table counts."""

import subprocess
import sys
from typing import Final

import pytest

import relbase
from relbase.header_fields import FIELDS as FIELD_ROWS
from relbase.header_fields import REMEMBERED, ROWS, States, bases

# Puts a row into the source of a module before anything is imported, in a process of its own.
WITH_ROW: Final = """
import sys, types
from importlib.util import find_spec
path = find_spec({module!r}).origin
source = open(path, encoding="utf-8").read()
assert source.count({before!r}) == 1, "the place of the row"
module = types.ModuleType({module!r})
sys.modules[{module!r}] = module
exec(compile(source.replace({before!r}, {row!r} + {before!r}), path, "exec"), module.__dict__)
import relbase
def rewritten(data, **arguments):
    print(relbase.rewrite(data, url="http://h/d/", **arguments).data)
"""
PAGE: Final = b"<a href=x>"


def run(module: str, before: str, row: str, *calls: str) -> list[str]:
    script = WITH_ROW.format(module=module, before=before, row=row) + "\n".join(calls)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


FIELDS: Final = "relbase.header_fields", "    # Fields that hold references.\n"


@pytest.mark.parametrize(
    ("where", "http", "mail"),
    [
        ("BOTH", "http://h/e/", "http://h/e/"),
        ("MAIL", "http://h/d/", "http://h/e/"),
        ("HTTP", "http://h/e/", "http://h/d/"),
    ],
)
def test_a_header_that_states_a_base(where: str, http: str, mail: str) -> None:
    response = b"HTTP/1.1 200 OK\r\nX-BASE: <URL:../e/>\r\nContent-Type: text/html\r\n\r\n"
    message = b"X-BASE: <URL:../e/>\nContent-Type: text/html\n\n"
    found = run(
        *FIELDS,
        f'    FieldRow("X-Base", States.{where}, holds=ValueKind.URL),\n',
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
def test_a_header_that_holds_references(form: str, value: bytes, expected: bytes) -> None:
    heads = [
        (b"HTTP/1.1 200 OK\r\nX-Where: %b\r\nContent-Type: text/plain\r\n\r\n", "http"),
        (b"MIME-Version: 1.0\nX-Where: %b\n\n", "mail"),
    ]
    calls = [f"rewritten({head % value!r}, kind={kind!r})" for head, kind in heads]
    found = run(*FIELDS, f'    FieldRow("X-Where", holds=ValueKind.{form}),\n', *calls)
    assert found == [repr(head % expected) for head, _ in heads]


MARKED: Final = "print(relbase.rewrite({page!r}).base.url)"


def test_a_comment_mark() -> None:
    row = '    _Comment("Saver", b"SAVER ", expression(rb" SAVER (\\S+) "), _plain),\n'
    page = b"<!-- SAVER http://h/p --><a href=/x>"
    before = "    # monolith: at byte 0"
    assert run("relbase.savers.marks", before, row, MARKED.format(page=page)) == ["http://h/p"]


@pytest.mark.parametrize(
    ("row", "page"),
    [
        ('_Attribute("Saver", b"html", b"data-saver")', b"<html data-saver=http://h/p>"),
        (
            '_Attribute("Saver", b"meta", b"value", (b"id", b"saver"))',
            b"<meta id=saver value=http://h/p>",
        ),
    ],
)
def test_an_attribute_mark(row: str, page: bytes) -> None:
    before = '    _Attribute("Save Page WE"'
    marked = MARKED.format(page=page + b"<a href=/x>")
    assert run("relbase.savers.marks", before, f"    {row},\n", marked) == ["http://h/p"]


@pytest.mark.parametrize("scanner", ["exact", "compiled"])
@pytest.mark.parametrize(
    ("place", "row", "page"),
    [
        (
            ("relbase.html.vocabulary", '        ("video audio", "poster", _URL),\n'),
            '        ("dialog", "portrait", _URL),\n',
            b"<dialog portrait=%bx>",
        ),
        (
            ("relbase.css.functions", '    Function(b"image-set", '),
            '    Function(b"picture", Form.SRC),\n',
            b"<style>a{b:picture('%bx')}</style>",
        ),
    ],
)
def test_an_attribute_and_a_function_of_css(
    place: tuple[str, str], row: str, page: bytes, scanner: str, monkeypatch: pytest.MonkeyPatch
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
    assert run(*place, row, *calls) == [repr(page % b"http://h/d/" * 50), "50"]


def test_a_charset_with_code_units_of_two_bytes() -> None:
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
        '"utf-16be": "utf-16-be", ',
        '"koi8-u": "utf-16-be", ',
        f"rewritten({page!r}, kind='html', charset='koi8-u')",
        f"rewritten({xml!r}, kind='xml', charset='koi8-u')",
        f"print(relbase.rewrite({page!r}, kind='html', charset='koi8-u', url='http://h/',"
        " profile='whatwg').links[0].url)",
    )
    assert found == [repr(expected), repr(xml_expected), "http://h/x?%E2%82%AC"]


def test_every_field_has_one_row_that_counts_for_something() -> None:
    assert len(ROWS) == len(FIELD_ROWS)
    for row in FIELD_ROWS:
        assert row.name.isascii()
        assert row.name.lower() in REMEMBERED or row.of_mail, row.name


def test_the_fields_that_state_a_base() -> None:
    """Rules 2 and 3."""
    assert [row.name for row in bases(States.MAIL)] == ["Base", "Content-Base", "Content-Location"]
    assert [row.name for row in bases(States.HTTP)] == ["Base", "Content-Base"]
