"""The files of --map and --message-map: a name and a URL on each line, separated by a tab, or CSV.

What spreadsheets and Windows make of such a file is read where it is certain what was meant. Any
other line is an error that says where it is, what is wrong and what to do.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, TypeAlias

from relbase.bases.layers import unsuitable
from relbase.cli import windows
from relbase.cli.origins.paths import FoundUrl
from relbase.cli.streams import printable
from relbase.expressions import expression
from relbase.url.credentials import masked

_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_SAVE: Final = "save it as UTF-8"
# Before a cell that a spreadsheet would compute, `'` keeps it a text; it is taken off again.
_computed: Final = expression(r"'*+[=+@\t\r-]")

Row: TypeAlias = tuple[int, list[str]]  # the number of its line, and its cells


def read_map(
    file: str, data: bytes, what: str, key: Callable[[str], str], comments: tuple[str, ...] = ()
) -> dict[str, FoundUrl]:
    """Return the URLs by the keys of their names, each with its line as the source.

    Raises:
        ValueError: At the first line that cannot be read, with the fix.
    """
    urls: dict[str, FoundUrl] = {}
    shown = printable(file)
    for number, cells in _rows(_text(shown, data).split("\n"), comments):
        place, url = f"{shown}:{number}", cells[-1].strip()
        if not (_is_text(url) and (_is_text(cells[0]) or os.path.lexists(cells[0]))):
            raise ValueError(f"{place}: the line is not UTF-8: {_SAVE}")
        why = unsuitable(url)
        if len(cells) == 1 or not cells[0]:
            why = "it has no tab after a name"
        elif len(cells) > len(("name", "url")):
            why = "it has several columns: name them in the first line, such as file,url"
        try:
            if why is None and urls.setdefault(key(cells[0]), FoundUrl(url, place)).url != url:
                why = "a line before gives it another URL"
        except ValueError as error:
            why = str(error)
        if why:
            line = printable("\t".join(map(masked, cells)))[:200]
            text = f"{place}: '{line}': {why}. Write {what}, a tab or comma, and an absolute URL"
            raise ValueError(text)
    return urls


def _is_text(cell: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in cell)


def file_key(name: str) -> str:
    r"""Return a file's name as it is compared: with `/` for `\`, unless a file has that name."""
    if "\\" in name and not os.path.lexists(name):
        name = name.replace("\\", "/")
    return windows.key(name)


def _text(shown: str, data: bytes) -> str:
    mark = next((mark for mark in _MARKS if data.startswith(mark)), b"")
    if not mark and b"\0" in data:
        raise ValueError(f"{shown}:1: it is UTF-16 without a byte order mark: {_SAVE}")
    # Names of files may have any bytes.
    errors = "replace" if mark else "surrogateescape"
    return data[len(mark) :].decode(_MARKS.get(mark, "utf-8"), errors)


def _rows(lines: Sequence[str], comments: tuple[str, ...]) -> Iterator[Row]:
    numbered = enumerate((line.removesuffix("\r") for line in lines), 1)
    given = ((number, line) for number, line in numbered if line.strip())
    given = ((number, line) for number, line in given if not line.startswith(comments))
    before = next(given, (0, ""))
    first = before[1]
    separator = next((mark for mark in "\t,;" if _is_table(_cells(first, mark))), "\t")
    names = _header(_cells(first, separator))
    url = names.index("url") if names else 1
    name = names.index("file") if "file" in names else int(url == 0)
    for number, line in given if names or not first else chain([before], given):
        cells = _cells(line, separator, (f"\n{more}" for _, more in numbered))
        if names:
            cells = [cells[name], cells[url]] if len(cells) > max(name, url) else cells[:1]
        if not (names and cells[1:] == [""]):  # its URL is unknown
            yield number, [*map(_unguarded, cells)]


def guarded(cell: str) -> str:
    return f"'{cell}" if _computed.match(cell) else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _computed.match(cell) else cell


def _cells(line: str, separator: str, more: Iterable[str] = ()) -> list[str]:
    """The cells of a line, and of those after it if it ends inside of quotes."""
    from csv import reader

    if separator == "\t" and '"' not in line:  # a name may end in a space, and hold anything
        return line.split("\t")
    return next(reader(chain([line], more), delimiter=separator), [""])


def _header(cells: list[str]) -> list[str]:
    """The names of the columns, if a first line has them."""
    names = [cell.strip().lower() for cell in cells]
    return names if "url" in names and all(map(unsuitable, names)) else []


def _is_table(cells: list[str]) -> bool:
    """Whether a first line has a header, or a name and a URL."""
    is_row = len(cells) > 1 and unsuitable(cells[-1].strip()) is None
    return is_row or bool(_header(cells))
