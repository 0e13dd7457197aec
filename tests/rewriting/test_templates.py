"""Placeholders that were made absolute are said to be, once for a document."""

from __future__ import annotations

from typing import Final

import pytest
from growth import assert_linear_from_20_ms

from relbase import Edit, Policy, rewrite
from relbase.rewriting.templates import template_note

URL: Final = "http://h.example/d/p.html"

# (document, how many references with placeholders are changed)
ROWS: Final = [
    (b"<a href='{{ url }}'>", 1),
    (b"<a href='/x/{{ url }}?a=%20b'><img src='{%x%}'>", 2),
    (b"<a href='../{{{x}}}'>", 1),
    (b"<a href='/%20/${x}'>", 1),
    (b"<img srcset='*|A|* 1x, b 2x'>", 1),
    (b"<a href='<?= $x ?>'>", 1),
    (b"<a href='%%x%%'><a href='%7b%7bx%7D%7D'>", 2),
    (b"<p style='background:url({{x}})'>", 1),
    # none
    (b"<a href='x'>{{ y }}</a><script>var a = `${x}` {{</script>", 0),
    (b"<a href=x>{{ y }}</a>", 0),
    (b"<a href='x' class='{{ y }}'>", 0),
    (b"<a href='/a%20b%2F#x[0]'>", 0),
    (b"<a href='/x/${y'>", 0),  # never closed
    (b"<a href='http://h.example/{{ x }}'>", 0),  # not changed
]  # fmt: skip


@pytest.mark.parametrize(("document", "count"), ROWS)
@pytest.mark.parametrize("size", [0, 1 << 18], ids=["exact", "skimmed"])
def test_references_with_placeholders_are_told(document: bytes, count: int, size: int) -> None:
    document += b"<p>text</p>" * (size // 11)
    notes = [note for note in rewrite(document, url=URL).notes if "template" in note.text]
    assert len(notes) == (count > 0)
    if count:
        assert notes[0].reason.value == "reference-template"
        assert notes[0].text.startswith("a reference" if count == 1 else f"{count} references")
        assert "--keep-templates" in notes[0].text


@pytest.mark.parametrize(("document", "count"), ROWS)
def test_with_the_policy_they_stay_and_nothing_is_told(document: bytes, count: int) -> None:
    result = rewrite(document, url=URL, policy=Policy(keep_templates=True))
    assert not [note for note in result.notes if note.reason.value == "reference-template"]
    assert len(result.edits) == len(rewrite(document, url=URL).edits) - count


@pytest.mark.parametrize("piece", [b"{", b"%", b"a", b"$", b"[x"])
def test_one_long_reference_takes_linear_time(piece: bytes) -> None:
    edits = [Edit(0, 0, b"")]
    assert_linear_from_20_ms(
        lambda data: template_note(data, edits), lambda size: piece * (size // len(piece))
    )
