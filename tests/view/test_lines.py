"""Lines and columns: in order, back again, and where columns are not those of the document."""

from __future__ import annotations

import pytest

from relbase.view.charset import Lines

TEXT = "ab\ncé\nd".encode()


@pytest.mark.parametrize(
    ("encoding", "places"),
    [
        ("utf-8", ["1:1", "1:3", "2:2", "2:4", "3:1"]),
        ("shift_jis", ["1:1", "1:3", "2:2", "line 2", "3:1"]),
        ("utf-16le", ["line 1", "line 1", "line 2", "line 2", "line 3"]),
    ],
)
def test_places(encoding: str, places: list[str]) -> None:
    offsets = [0, 2, 4, 6, 7]
    lines = Lines(TEXT, encoding)
    assert [lines.of(at) for at in offsets] == places
    assert [lines.of(at) for at in reversed(offsets)] == places[::-1]
