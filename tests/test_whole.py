"""whole.txt: rules that no table of another folder shows in a whole document."""

from pathlib import Path
from typing import Any, Final

from rows import cases, pairs

from relbase import rewrite

TABLES: Final = Path(__file__).with_name("whole.txt")


@cases(TABLES, "documents", call=pairs, document=bytes, expected=bytes, note=str)
def test_documents(call: Any, document: bytes, expected: bytes | None, note: str | None) -> None:
    result = rewrite(document, url="http://h.example/d/p", **dict(call))
    assert result.data == (expected or document)
    for start, end, new in result.edits:  # the smallest ones
        assert start == end or document[end - 1 : end] != new[-1:]
    texts = [one.text for one in result.notes]
    assert (note in texts[0]) if note else not texts
