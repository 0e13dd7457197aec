"""The table of fields: what one row does everywhere (rules 2, 3 and 11)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from relbase.registry import FIELDS, REMEMBERED, ROWS, States, bases


def test_every_field_has_one_row_that_counts_for_something() -> None:
    assert len(ROWS) == len(FIELDS)
    for row in FIELDS:
        assert row.name.isascii()
        assert row.name.lower() in REMEMBERED or row.of_mail, row.name


def test_the_fields_that_state_a_base() -> None:
    """Rules 2 and 3."""
    assert [row.name for row in bases(States.MAIL)] == ["Base", "Content-Base", "Content-Location"]
    assert [row.name for row in bases(States.HTTP)] == ["Base", "Content-Base"]


# One more header that states a base, weaker than the others, in a process of its own.
ONE_MORE = """
import sys, types
from importlib.util import find_spec
path = find_spec("relbase").origin.replace("__init__", "registry")
source = open(path, encoding="utf-8").read()
row = '    FieldRow("X-Base", States.{where}, holds=Holds.URL),\\n    # What holds references.\\n'
assert source.count("    # What holds references.\\n") == 1
module = types.ModuleType("relbase.registry")
sys.modules["relbase.registry"] = module
exec(source.replace("    # What holds references.\\n", row), module.__dict__)
import relbase
page, url = b"<a href=x>", "http://h/d/"
mail = b"X-BASE: <URL:../e/>\\nContent-Type: text/html\\n\\n" + page
print(relbase.rewrite(page, url=url, headers={{"x-base": "../e/"}}).base.url)
print(relbase.base(mail, kind="mail", url=url).url)
print(relbase.rewrite(mail, kind="mail", url=url).data)
"""
MAIL = b"X-BASE: <URL:http://h/e/>\nContent-Type: text/html\n\n<a href=http://h/%bx>"


@pytest.mark.parametrize(
    ("where", "http", "mail"),
    [
        ("BOTH", "http://h/e/", "http://h/e/"),
        ("MAIL", "http://h/d/", "http://h/e/"),
        ("HTTP", "http://h/e/", "http://h/d/"),
    ],
)
def test_one_more_field_is_one_row(where: str, http: str, mail: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", ONE_MORE.format(where=where)],
        capture_output=True,
        text=True,
        check=True,
    )
    # As a reference it is resolved wherever it stands in mail.
    data = MAIL % mail.removeprefix("http://h/").encode()
    assert ran.stdout.splitlines() == [http, mail, repr(data)]
