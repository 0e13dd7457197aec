"""The values of options: what is read, and what is refused with the fix."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from relbase.cli import option_values
from relbase.cli.origins.paths import Mirror, Root

if TYPE_CHECKING:
    from collections.abc import Callable

READ: Final[list[tuple[Callable[[str], object], str, object]]] = [
    (option_values.url, " http://h/a ", "http://h/a"),
    (option_values.charset, "latin1", "latin1"),
    (option_values.pattern, "^/x", re.compile("^/x")),
    (option_values.xml_rows, "a@b=url", ("a@b=url",)),
    (option_values.xml_rows, "@rows", ("a@b=url", "c=css")),
    (option_values.attributes, "data-x=srcset", (("data-x", "srcset"),)),
    (option_values.kinds, "HTML, feeds", frozenset(("html", "feeds"))),
    (option_values.backup, ".bak", ".bak"),
    (option_values.date, "2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
    (option_values.root, ".=http://h/d", Root(".", "http://h/d/")),
    (option_values.mirror, ".=https", Mirror(".", "https")),
    (option_values.mirror, ".", Mirror(".")),
    (option_values.message_base, "X-Url:, Archived-At", ("X-Url", "Archived-At")),
]
REFUSED: Final[list[tuple[Callable[[str], object], str, str]]] = [
    (option_values.url, "h/a", "give an absolute URL, such as http://host/path"),
    (option_values.url, "http//me:secret@h", "give an absolute URL"),
    (option_values.charset, "utf-7", "give one, such as utf-8"),
    (option_values.headers, "page.html", "give the file that 'curl -D FILE'"),
    (option_values.pattern, "(", "before a character to match it literally"),
    (option_values.xml_rows, "a", "give '{namespace}element@attribute=url'"),
    (option_values.xml_rows, "@none", "give a file with a row on each line"),
    (option_values.attributes, "data-x", "give NAME=url, NAME=srcset or NAME=css"),
    (option_values.kinds, "html,pdf", "'pdf': give some of "),
    (option_values.backup, "-i", "give one, as in -i --backup .bak"),
    (option_values.sidecar, "a/b", "give one, as in --sidecar .headers"),
    (option_values.date, "today", "2026"),
    (option_values.root, "none=http://h/", "'none' is not a directory"),
    (option_values.root, ".=http://h/?q", "write it as in site=http://host/path/"),
    (option_values.mirror, "none", "or --mirror saved=https"),
    (option_values.message_base, "a b", "give some, such as List-Archive,Archived-At"),
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
