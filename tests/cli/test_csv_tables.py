"""Tables as CSV: what a reader of CSV gets back, whatever the cells hold."""

from __future__ import annotations

import csv
import io
from codecs import BOM_UTF8
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import done, run

from relbase.cli import streams
from relbase.cli.csv_tables import CsvTable
from relbase.cli.files import InputError
from relbase.cli.outputs import csv_written

CELLS: Final = st.text(st.characters(exclude_categories=["Cs"]))


def table(*, mark: bool = False) -> tuple[CsvTable, io.BytesIO]:
    file = io.BytesIO()
    return CsvTable(file.write, ("a", "b"), mark=mark), file


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1))
def test_a_reader_gets_the_cells_and_computes_none(rows: list[tuple[str, str]]) -> None:
    made, file = table()
    for first, second in rows:
        made.add({"a": first, "b": second})
    text = io.StringIO(file.getvalue().decode(), newline="")
    header, *read = csv.reader(text, strict=True)
    assert header == ["a", "b"]
    for row, cells in zip(rows, read, strict=True):
        for value, cell in zip(row, cells, strict=True):
            assert cell in {value, f"'{value}"}
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_lines_end_with_crlf_and_bad_bytes_are_replaced() -> None:
    made, file = table(mark=True)
    made.add({"a": None, "b": {"x": 1, "y": 2}})
    made.add({"a": -1, "b": '\udcff\n"'})
    assert file.getvalue() == BOM_UTF8 + b'a,b\r\n,x: 1; y: 2\r\n-1,"\xef\xbf\xbd\n"""\r\n'


def test_a_table_has_one_set_of_columns() -> None:
    made, _ = table()
    made.add({"a": 1, "b": 2})
    with pytest.raises(InputError, match="other columns"):
        made.add({"a": 1})


def test_a_terminal_obeys_no_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "is_terminal", lambda **_: True)
    shown = done("links", "--csv", "-", stdin=b"<a href='a\x1b[31m'>").stdout
    assert "\x1b" not in shown
    assert r"\x1b[31m" in shown


def test_an_interrupted_table_leaves_the_one_before() -> None:
    path = Path("x.csv")
    path.write_bytes(b"file,url\r\n")

    def stop() -> None:
        with csv_written(str(path), (), (), mark=False) as made:
            made.add({"a": 1})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()
    assert path.read_bytes() == b"file,url\r\n"
    assert [*Path().iterdir()] == [path]


def test_no_input_means_no_table() -> None:
    Path("x.csv").write_bytes(b"file,url\r\n")
    for command in ("links", "base"):
        assert run(command, "nosuch.html", "--csv", "x.csv").exit_code == 3
        assert Path("x.csv").read_bytes() == b"file,url\r\n"
