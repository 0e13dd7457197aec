"""Binary property lists: what plistlib writes is read, and what is hostile is refused."""

from __future__ import annotations

import plistlib
from contextlib import suppress
from typing import Any, Final

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import given
from hypothesis import strategies as st

from relbase.containers.plist import MARK, MAX_DEPTH, Binary, Data


class Everything:
    def __contains__(self, name: object) -> bool:
        return True


def read(data: bytes) -> Any:
    return plain(Binary(data, Everything()).root())


def plain(value: Any) -> Any:
    if isinstance(value, Data):
        return bytes(value.body)
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    return list(map(plain, value)) if isinstance(value, list) else value


TEXT: Final = st.text(st.characters(codec="utf-8"), max_size=20)
VALUES: Final = st.recursive(
    st.none() | st.binary(max_size=300) | TEXT | st.integers(0, 9).map(float),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(TEXT, inner, max_size=20),
    max_leaves=40,
)


def without_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_numbers(member) for name, member in value.items()}
    if isinstance(value, list):
        return list(map(without_numbers, value))
    return None if isinstance(value, float) else value


@given(VALUES)
def test_what_plistlib_writes_is_read(value: Any) -> None:
    given_ = [value if value is not None else b"", "é", b"x" * 300]
    if "None" in repr(value):  # which property lists lack
        return
    data = plistlib.dumps(given_, fmt=plistlib.FMT_BINARY)
    assert read(data) == without_numbers(plistlib.loads(data))


def test_only_members_with_the_names_are_read() -> None:
    data = plistlib.dumps({"a": {"b": "x", "c": "y"}, "d": [1]}, fmt=plistlib.FMT_BINARY)
    assert Binary(data, frozenset(("a", "c"))).root() == {"a": {"c": "y"}}


@given(st.binary(max_size=60), st.binary(max_size=40), st.data())
def test_any_bytes_are_read_or_refused(start: bytes, end: bytes, data: st.DataObject) -> None:
    sound = plistlib.dumps({"a": [b"x", {"b": "y"}]}, fmt=plistlib.FMT_BINARY)
    at = data.draw(st.integers(0, len(sound)))
    for made in (start, MARK + start, sound[:at] + end + sound[at + len(end) :], sound[:at]):
        with suppress(ValueError):
            read(made)


def listed(*objects: bytes, size: int = 2, offsets: list[int] | None = None) -> bytes:
    """A list of objects that are written as they stand; the first is the root."""
    at, places = len(MARK), []
    for one in objects:
        places.append(at)
        at += len(one)
    table = b"".join(place.to_bytes(4, "big") for place in offsets or places)
    count = len(offsets or places)
    trailer = bytes(6) + bytes([4, size]) + b"".join(n.to_bytes(8, "big") for n in (count, 0, at))
    return MARK + b"".join(objects) + table + trailer


def of_length(kind: int, count: int, content: bytes) -> bytes:
    return bytes([kind << 4 | 15, 0x12]) + count.to_bytes(4, "big") + content


def test_a_list_that_holds_itself() -> None:
    assert read(listed(b"\xa1\x00\x00")) == [None]


def test_objects_that_overlap_are_refused() -> None:
    refs = b"".join(n.to_bytes(2, "big") for n in range(1, 801))
    first = of_length(0xA, 800, refs)
    at = len(MARK) + len(first)
    many = [at + 6 * n for n in range(800)]  # each has 1,000 bytes
    with pytest.raises(ValueError, match="overlap"):
        read(listed(first, of_length(0x4, 1000, b"") * 1000, offsets=[len(MARK), *many]))


def nested(levels: int) -> bytes:
    return listed(
        *((n + 1).to_bytes(2, "big").join((b"\xa1", b"")) for n in range(levels)), b"\x40"
    )


def test_depth() -> None:
    read(nested(MAX_DEPTH))
    with pytest.raises(ValueError, match="nested too deeply"):
        read(nested(MAX_DEPTH + 2))
    with pytest.raises(ValueError, match="nested too deeply"):
        read(nested(30_000))


def bomb(n: int) -> bytes:
    """A list of lists, each of which begins one byte after the one before."""
    refs = b"".join(k.to_bytes(2, "big") for k in range(1, 1 + min(n // 4, 60_000)))
    count = len(refs) // 2
    body = b"\xaf\x12" * (n // 8)
    at = len(MARK) + 6 + len(refs)
    return listed(of_length(0xA, count, refs), body, offsets=[len(MARK), *range(at, at + count)])


@pytest.mark.parametrize(
    "make",
    [
        bomb,
        lambda n: plistlib.dumps([b"x"] * (n // 2), fmt=plistlib.FMT_BINARY),
        lambda n: plistlib.dumps({str(k): "x" for k in range(n // 20)}, fmt=plistlib.FMT_BINARY),
    ],
)
def test_time_is_linear(make: Any) -> None:
    def tried(data: bytes) -> int:
        try:
            return len(str(read(data))[:10])
        except ValueError:
            return 0

    assert_linear_from_10_ms(tried, make)
