"""Members of ZIP files: what is read of sound ones, and what of hostile ones is refused."""

from __future__ import annotations

import io
import zipfile
import zlib
from contextlib import suppress

import pytest
from held import zipped
from hypothesis import given
from hypothesis import strategies as st

from relbase.compression import zips
from relbase.compression.zips import MAX_MEMBERS, Members

SOUND = zipped([("d/", b""), ("d/a", b"one"), ("d/é", b"two" * 99)])


def contents(data: bytes, limit: int = 1 << 20, each: int = 1 << 20) -> list[tuple[str, object]]:
    """The names and contents of members, or why they are not read."""
    members, results = Members(data, limit), list[tuple[str, object]]()
    for name, member in members.named:
        try:
            results.append((name, members.content(name, member, each)))
        except ValueError as error:
            results.append((name, str(error)))
    return results


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_sound_members(method: int) -> None:
    files = [("d/a", b""), ("d/b", b"x" * 9_999), ("c", b"y")]
    assert contents(zipped(files, method)) == files
    assert contents(SOUND)[2] == ("d/é", b"two" * 99)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("d\\a.html", "d/a.html"),
        ("../../etc/x", "../../etc/x"),
        ("C:\\x", "C:/x"),
        ("/x", "/x"),
        ("\u2302", "\u2302"),
    ],
)
def test_names_are_only_names(name: str, read: str) -> None:
    assert contents(zipped([(name, b"x")])) == [(read, b"x")]


@pytest.mark.parametrize(("raw", "name"), [("é".encode(), "é"), (b"\x82", "é"), (b"a", "a")])
def test_a_name_in_utf_8_need_not_say_so(raw: bytes, name: str) -> None:
    data = zipped([("x" * len(raw), b"")]).replace(b"x" * len(raw), raw)
    assert contents(data) == [(name, b"")]


def _changed(at: int, value: int, size: int = 2, data: bytes = SOUND) -> bytes:
    """The file with another number in the last member of its directory."""
    entry = data.rindex(b"PK\1\2") + at
    return data[:entry] + value.to_bytes(size, "little") + data[entry + size :]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (_changed(8, 0x801), "it is encrypted or uses an unknown compression method"),
        (_changed(10, zipfile.ZIP_BZIP2), "it is encrypted or uses an unknown compression method"),
        (_changed(16, 1, 4), "it is damaged: its checksum is wrong"),
        (_changed(20, 5, 4), "it is damaged"),
        (_changed(10, zipfile.ZIP_STORED), "it is damaged"),
        (_changed(42, 0, 4), "it overlaps another member"),
        (_changed(42, 1 << 30, 4), "it is damaged"),
        (zipped([("a", b"1"), ("a", b"2")]), "its name is there more than once"),
    ],
)
def test_what_is_not_certain_is_refused(data: bytes, why: str) -> None:
    assert why in str(contents(data)[-1][1])


def test_a_member_before_the_file_is_refused() -> None:
    assert contents(SOUND[10:])[0][1] == "it lies outside of the ZIP file"


def test_members_that_share_their_bytes_are_read_once() -> None:
    bomb = zipped([("a", bytes(1 << 20)), ("b", b"")])
    for size in (16, 20, 24, 42):  # checksum, sizes, place: all as those of the first
        first = bomb.index(b"PK\1\2") + size
        bomb = _changed(size, int.from_bytes(bomb[first : first + 4], "little"), 4, bomb)
    assert [len(str(content)) > 99 for _, content in contents(bomb)] == [True, False]


def test_what_decompresses_to_more_than_a_limit_is_refused() -> None:
    bomb = zipped([(str(n), bytes(1 << 16)) for n in range(4)])
    assert len(bomb) < 1 << 10
    assert [type(content) for _, content in contents(bomb, each=(1 << 16) - 1)] == [str] * 4
    results = [content for _, content in contents(bomb, limit=3 << 16)]
    assert results[:3] == [bytes(1 << 16)] * 3
    assert results[3] == (
        "it decompresses to more than 0 bytes with those before it: the rest is not read"
    )


def test_there_may_not_be_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_MEMBERS == 65_535
    monkeypatch.setattr(zips, "MAX_MEMBERS", 2)
    with pytest.raises(ValueError, match="it has more than 2 members"):
        Members(SOUND, 1)


@given(st.data())
def test_no_bytes_raise_anything_else_when_members_are_read(data: st.DataObject) -> None:
    at, new = data.draw(st.integers(0, len(SOUND))), data.draw(st.binary(max_size=30))
    for made in (SOUND[:at], SOUND[:at] + new + SOUND[at + len(new) :], SOUND[:at] + new):
        try:
            members = Members(made, 1 << 20)
        except Exception:  # noqa: BLE001 (of zipfile, which raises what it meets)
            continue
        for name, member in members.named:
            with suppress(ValueError):
                content = members.content(name, member, 1 << 20)
                assert zlib.crc32(content) == member.CRC


def test_a_file_is_not_copied() -> None:
    data = zipped([("a", bytes(1 << 20))], zipfile.ZIP_STORED)
    assert io.BytesIO(data).getvalue() is data
