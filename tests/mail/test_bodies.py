"""Lines that edits make where nothing is encoded (RFC 5322 §2.1.1, RFC 2046 §5.1.1; threat M6)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import cases
from view_laws import edits_of

from relbase.containers.mail import walk
from relbase.edit import Edit, Span, splice
from relbase.mail.allowed_edits import MAX_LINE, in_lines, only_allowed
from relbase.mail.parts import MailPart, line_end, transfer_view
from relbase.notes import Note, Reason
from relbase.rewriting.context import Wanted
from relbase.rewriting.outcomes import split_edits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relbase.rewriting.context import Context
    from relbase.view.runs import View

TABLES: Final = Path(__file__).with_name("bodies.txt")


def fitted(
    data: bytes, edits: list[Edit], boundaries: Sequence[bytes], eol: bytes = b"\n"
) -> tuple[list[Edit], list[Note]]:
    part = walk(b"")[0]._replace(boundaries=tuple(boundaries))
    context = cast("Context", SimpleNamespace(part="", wanted=Wanted.ALL))
    entity = MailPart(
        data, eol, part, context, states_base=False, attached=False, apart=True, notes=()
    )
    kept: list[Edit] = []
    rules = [partial(in_lines, Span(0, len(data)))]
    notes = list(split_edits(only_allowed(entity, edits, rules), kept))
    return kept, cast("list[Note]", notes)


@cases(TABLES, "line ends", data=bytes, eol=bytes)
def test_the_line_end_of_a_message(data: bytes, eol: bytes) -> None:
    assert line_end(data) == eol


@pytest.mark.parametrize("eol", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("length", [MAX_LINE - 1, MAX_LINE, MAX_LINE + 1])
@pytest.mark.parametrize("edits", [1, 2])
def test_a_line_that_grows_beyond_the_limit_is_told_once(
    eol: bytes, length: int, edits: int
) -> None:
    line = b"x" * (length - 20)
    data = eol.join((b"before", line, b"after", b"x" * 2000, b""))
    start = len(b"before" + eol)
    made = [Edit(start + 5 * n, start + 5 * n, b"y" * (20 // edits)) for n in range(edits)]
    kept, notes = fitted(data, made, (), eol)
    assert kept == made
    assert [note.reason for note in notes] == [Reason.LINE_LENGTH] * (length > MAX_LINE)
    for note in notes:
        assert note.span is not None
        assert data[slice(*note.span)] == line + eol


def test_lines_that_are_joined_count_as_one() -> None:
    data = b"x" * 600 + b"\n" + b"y" * 600 + b"\nz"
    kept, notes = fitted(data, [Edit(600, 601, b"")], ())
    assert len(kept) == len(notes) == 1
    assert notes[0].span == (0, 1202)


def test_a_long_line_that_becomes_shorter_than_a_boundary_is_read_to_its_end() -> None:
    boundary, rest = b"b" * 40, b"x" * MAX_LINE
    data = b"\nab" + rest
    edit = Edit(1, 3, b"--" + boundary[:20])
    assert fitted(data, [edit], (boundary,))[0] == [edit]
    closing = [edit, Edit(3, len(data), boundary[20:])]
    assert fitted(data, closing, (boundary,))[0] == []


@cases(TABLES, "delimiters", line=bytes, new=bytes, boundaries=list[bytes], stays=bool)
def test_no_line_becomes_a_delimiter(
    line: bytes, new: bytes, boundaries: list[bytes], *, stays: bool
) -> None:
    at = line.index(b"ab") + 2
    for before, after in ((b"", b""), (b"text\n", b"\ntext"), (b"--q\n", b"\n--abc")):
        data = before + line + after
        edit = Edit(len(before) + at, len(before) + at, new)
        other = Edit(len(data), len(data), b"!")
        edits = [edit, other] if after else [edit]
        kept, notes = fitted(data, edits, boundaries)
        assert (edit in kept) == stays
        assert [note.reason for note in notes] == [Reason.MIME_BOUNDARY] * (not stays)
        if after and stays:
            assert other in kept


@pytest.mark.parametrize(("line", "stays"), [(b"--a", False), (b"-a", True), (b"x--a", True)])
def test_a_long_line_becomes_no_delimiter(line: bytes, *, stays: bool) -> None:
    """Of such a line no more is written than its beginning."""
    data = line + b"y" * 2000 + b"z\n"
    at = len(line)
    edits = [Edit(at, at, b"b"), Edit(len(data) - 2, len(data) - 1, b"")]
    for around in (b"", b"text\n"):
        moved = [Edit(e.start + len(around), e.end + len(around), e.new) for e in edits]
        whole = around + data
        kept, notes = fitted(whole, moved, [b"ab", b"abyy"])
        assert kept == (moved if stays else [])
        assert [note.reason for note in notes] == [Reason.MIME_BOUNDARY] * (not stays)


@given(
    st.text("ab-\n\r", max_size=40).map(str.encode),
    st.lists(
        st.tuples(
            st.integers(0, 40), st.integers(0, 3), st.sampled_from((b"", b"a", b"-", b"--a", b"\n"))
        )
    ),
)
def test_whatever_is_edited_no_delimiter_comes_to_be(
    data: bytes, drawn: list[tuple[int, int, bytes]]
) -> None:
    edits: list[Edit] = []
    for start, size, new in sorted(drawn):
        end = min(start + size, len(data))
        if start <= end and (not edits or start > edits[-1].end):
            edits.append(Edit(start, end, new))
    eol = b"\r" if b"\n" not in data and b"\r" in data else b"\n"
    kept, notes = fitted(data, edits, [b"a", b"ab"], eol)
    assert set(kept) <= set(edits)
    assert kept == sorted(kept)
    assert bool(notes) == (len(kept) < len(edits))
    if kept and not notes:
        for delimiter in (b"--a", b"--ab"):
            if not any(line.startswith(delimiter) for line in data.split(eol)):
                after = splice(data, kept)
                assert not any(line.startswith(delimiter) for line in after.split(eol))


# ---- Quoted-printable in a message whose lines end with CR alone (threat M14)

_QP: Final = b"Content-Type: text/html\rContent-Transfer-Encoding: quoted-printable\r\r"


def bare(raw: bytes) -> View:
    message = _QP + raw
    (part,) = walk(message)
    view = transfer_view(part, raw, line_end(message))
    assert view is not None
    return view


@given(
    st.lists(
        st.sampled_from((b"\r", b"=\r", b" \r", b"=3D", b"=0A", b"=0D", b"z", b"=", b"x" * 30)),
        max_size=12,
    ).map(b"".join),
    st.data(),
)
def test_the_law_of_views_with_bare_returns(raw: bytes, data: st.DataObject) -> None:
    view = bare(raw)
    edits = data.draw(edits_of(view.inner, st.sampled_from((b"", b"x", b"http://h/=.&" * 5))))
    after = splice(raw, view.lower(edits))
    assert b"\n" not in after
    assert bare(after).inner == splice(view.inner, edits)
