"""The values of options: what is read, and what is refused with the fix."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from relbase.cli import values
from relbase.cli.origins.paths import Mirror, Root

if TYPE_CHECKING:
    from collections.abc import Callable

READ: Final[list[tuple[Callable[[str], object], str, object]]] = [
    (values.url, " http://h/a ", "http://h/a"),
    (values.charset, "latin1", "latin1"),
    (values.pattern, "^/x", re.compile("^/x")),
    (values.xml_rows, "a@b=url", ("a@b=url",)),
    (values.xml_rows, "@rows", ("a@b=url", "c=css")),
    (values.attributes, "data-x=srcset", (("data-x", "srcset"),)),
    (values.kinds, "HTML, feeds", frozenset(("html", "feeds"))),
    (values.backup, ".bak", ".bak"),
    (values.date, "2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
    (values.root, ".=http://h/d", Root(".", "http://h/d/")),
    (values.mirror, ".=https", Mirror(".", "https")),
    (values.mirror, ".", Mirror(".")),
    (values.message_base, "X-Url:, Archived-At", ("X-Url", "Archived-At")),
]
REFUSED: Final[list[tuple[Callable[[str], object], str, str]]] = [
    (values.url, "h/a", "give an absolute URL, such as http://host/path"),
    (values.url, "http//me:secret@h", "give an absolute URL"),
    (values.charset, "utf-7", "give one, such as utf-8"),
    (values.headers, "page.html", "give the file that 'curl -D FILE'"),
    (values.pattern, "(", "before a character to match it literally"),
    (values.xml_rows, "a", "give '{namespace}element@attribute=url'"),
    (values.xml_rows, "@none", "give a file with a row on each line"),
    (values.attributes, "data-x", "give NAME=url, NAME=srcset or NAME=css"),
    (values.kinds, "html,pdf", "'pdf': give some of "),
    (values.backup, "-i", "give one, as in -i --backup .bak"),
    (values.sidecar, "a/b", "give one, as in --sidecar .headers"),
    (values.date, "today", "2026"),
    (values.root, "none=http://h/", "'none' is not a directory"),
    (values.root, ".=http://h/?q", "write it as in site=http://host/path/"),
    (values.mirror, "none", "or --mirror saved=https"),
    (values.message_base, "a b", "give some, such as List-Archive,Archived-At"),
]


@pytest.fixture(autouse=True)
def here() -> None:
    Path("rows").write_text("# places\n\na@b=url\n c=css \n", "utf-8")
    Path("page.html").write_text("<p>", "utf-8")


@pytest.mark.parametrize(("read", "given", "expected"), READ)
def test_what_is_read(read: Callable[[str], object], given: str, expected: object) -> None:
    assert read(given) == expected


@pytest.mark.parametrize(("read", "given", "fix"), REFUSED)
def test_what_is_refused(read: Callable[[str], object], given: str, fix: str) -> None:
    with pytest.raises(ValueError, match=re.escape(fix)):
        read(given)
