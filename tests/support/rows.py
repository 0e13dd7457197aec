r"""Plain tables of cases: each row is a line, its cells stand between ` | `.

A line `## title` begins a table, and `# ` a comment, behind a row after two blanks. In a cell `\n`,
`\x20` and `\u20ac` are what they are in Python, `x{76}` is `x` 76 times and `(ab){9}` `ab` 9 times;
`-` alone is None. In a list items stand between blanks, an empty one as `""`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest

from relbase.edit import Edit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    _Type: TypeAlias = type | Callable[[str], Any]

_repeated: Final = partial(
    re.compile(r"(?:\(([^()]+)\)|(.))\{(\d+)\}").sub, lambda one: (one[1] or one[2]) * int(one[3])
)
_without_comment: Final = partial(re.compile(r"(?:^|  )# .*").sub, "")
_edits: Final = re.compile(r"(-?\d+):(\d+)(?: (.*?))?(?:, |\Z)").findall


def lines(path: Path, title: str) -> list[str]:
    """The lines of a table, without comments."""
    table = path.read_text("utf-8").partition(f"## {title}\n")[2].partition("\n## ")[0]
    found = [line for line in map(_without_comment, table.splitlines()) if line]
    assert found, f"{path.name} has no table {title!r}"
    return found


def cases(path: Path, title: str, **types: _Type) -> pytest.MarkDecorator:
    """Run a test with each row of a table, by the names and the types of its columns."""
    return pytest.mark.parametrize(tuple(types), rows(path, title, *types.values()))


def rows(path: Path, title: str, *types: _Type) -> list[tuple[Any, ...]]:
    """The rows of a table, each cell as `str`, `bytes`, or what a function makes of its text."""
    return [
        tuple(
            None if cell.strip() == "-" else _READ.get(type_, type_)(cell.strip())
            for type_, cell in zip(types, line.split("|"), strict=True)
        )
        for line in lines(path, title)
    ]


def edits(cell: str) -> list[Edit]:
    """Edits such as `8:9 /y`, with `, ` between them."""
    return [Edit(int(start), int(end), _bytes(new)) for start, end, new in _edits(cell)]


def pairs(cell: str) -> list[tuple[str, str]]:
    """Items such as `name=value`, with blanks between them."""
    items = [item.partition("=") for item in cell.split()]
    return [(text(name), text(value)) for name, _, value in items]


def filled(**names: bytes) -> Callable[[str], bytes]:
    """What reads bytes in which `{NAME}` stands for longer ones."""
    named = re.compile(rb"\{(%b)\}" % "|".join(names).encode())
    return lambda cell: named.sub(lambda found: names[found[1].decode()], _bytes(cell))


def texts(cell: str) -> list[str]:
    """Texts with ` / ` between them, an empty one as `""`."""
    return [text(item.replace('""', "")) for item in cell.split(" / ")] if cell else []


def text(cell: str) -> str:
    return _repeated(cell).encode("ascii", "backslashreplace").decode("unicode_escape")


def _bytes(cell: str) -> bytes:
    return _repeated(cell).encode().decode("unicode_escape").encode("latin-1")


_READ: Final[dict[Any, Callable[[str], Any]]] = {
    str: text,
    bytes: _bytes,
    bool: {"yes": True, "no": False}.__getitem__,
    list[str]: lambda cell: [text(item.replace('""', "")) for item in cell.split()],
    list[bytes]: lambda cell: [_bytes(item.replace('""', "")) for item in cell.split()],
}
