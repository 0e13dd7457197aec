"""The codings of HTTP bodies (threats W3, W5)."""

from __future__ import annotations

import builtins
import gzip
import zlib
from typing import TYPE_CHECKING, Final
from unittest import mock

import brotli
import pytest
import zstandard
from growth import assert_linear_from_10_ms
from hypothesis import event, given
from hypothesis import strategies as st

from relbase.compression import codings
from relbase.compression.codings import MAX_CHUNK_LINE, MAX_CODINGS, decoded

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE: Final = b"<html><a href=x>" * 300


def raw_deflate(body: bytes) -> bytes:
    compressor = zlib.compressobj(6, zlib.DEFLATED, -15)
    return compressor.compress(body) + compressor.flush()


def raw_stored(body: bytes) -> bytes:
    """Two stored blocks that begin as zlib does (RFC 1950 §2.2): padding bits say nothing."""
    blocks = ((b"\x78", body[:0x9C]), (b"\x01", body[0x9C:]))
    return b"".join(
        begin + len(one).to_bytes(2, "little") + (len(one) ^ 0xFFFF).to_bytes(2, "little") + one
        for begin, one in blocks
    )


def chunked(body: bytes, size: int = 999, extension: bytes = b"") -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    lines = [b"%X%b\r\n%b\r\n" % (len(piece), extension, piece) for piece in pieces]
    return b"".join(lines) + b"0\r\n\r\n"


def zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


def gzipped(body: bytes) -> bytes:
    """Without the time, which would be another name of a test in each process."""
    return gzip.compress(body, mtime=0)


ENCODERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gzip": gzipped,
    "deflate": zlib.compress,
    "br": lambda body: brotli.compress(body, quality=5),
    "zstd": zstd,
}


# ---- codings


@pytest.mark.parametrize(
    ("body", "transfer", "content", "undone"),
    [
        (PAGE, "", "", ()),
        (PAGE, "identity", "none, identity", ()),
        (chunked(PAGE), "chunked", "", ("chunked",)),  # RFC 9112 §7.1
        (chunked(PAGE, extension=b';a="b;c"'), "Chunked", "", ("chunked",)),  # §7.1.1
        (chunked(PAGE, extension=b"   "), "chunked", "", ("chunked",)),  # padded by some servers
        (chunked(PAGE)[:-2] + b"T: x\r\n\r\n", "chunked", "", ("chunked",)),  # §7.1.2
        (chunked(PAGE).replace(b"\r\n", b"\n"), "chunked", "", ("chunked",)),  # §2.2
        (gzipped(PAGE), "", "gzip", ("gzip",)),
        (gzipped(PAGE), "gzip", "", ("gzip",)),  # RFC 9112 §7.2
        (gzipped(PAGE), "", '"X-GZIP"', ("gzip",)),  # RFC 9110 §8.4.1.3
        (gzipped(PAGE[:9]) + gzipped(PAGE[9:]), "", "gzip", ("gzip",)),  # RFC 1952 §2.2
        (zlib.compress(PAGE), "", "deflate", ("deflate",)),  # RFC 9110 §8.4.1.2
        (raw_deflate(PAGE), "", "deflate", ("deflate",)),  # its note
        (raw_stored(PAGE), "", "deflate", ("deflate",)),  # RFC 1951 §3.2.4
        (brotli.compress(PAGE), "", "br", ("br",)),  # RFC 7932
        (zstd(PAGE), "", "zstd", ("zstd",)),  # RFC 8878
        (zstd(PAGE[:9]) + zstd(PAGE[9:]), "", "zstd", ("zstd",)),  # §3.1
        (chunked(gzipped(PAGE)), "chunked", "gzip", ("chunked", "gzip")),
        (gzipped(zlib.compress(PAGE)), "", "deflate, gzip", ("gzip", "deflate")),
        (b"", "", "gzip", ("gzip",)),  # a response to HEAD
    ],
)
def test_codings_are_undone(
    body: bytes, transfer: str, content: str, undone: tuple[str, ...]
) -> None:
    found = decoded(body, [transfer], [content])
    assert found[:4] == (b"" if body == b"" else PAGE, undone, (), "")


@pytest.mark.parametrize(
    ("body", "transfer", "content", "undone"),
    [
        (PAGE, "chunked", "gzip", ()),  # written down decoded, by curl --compressed -i
        (PAGE, "", "br", ()),
        (PAGE, "", "zstd", ()),
        (PAGE, "", "deflate", ()),
        (PAGE, "", "utf-8", ()),
        (gzipped(PAGE), "", "", ("gzip",)),
        (gzipped(gzipped(PAGE)), "", "gzip", ("gzip", "gzip")),
        (gzipped(PAGE), "", "gzip, gzip", ("gzip",)),
        (gzipped(PAGE) + b"\0\0", "", "gzip", ("gzip",)),
        (gzipped(PAGE)[:-4] + b"\0\0\0\0", "", "gzip", ("gzip",)),  # all bytes are there
        (gzipped(PAGE)[:-8], "", "gzip", ("gzip",)),
        (gzipped(PAGE)[:3] + b"\1" + gzipped(PAGE)[4:-8], "", "gzip", ("gzip",)),  # FTEXT
        (zlib.compress(PAGE)[:-4] + b"\0\0\0\0", "", "deflate", ("deflate",)),
        (gzipped(PAGE), "chunked", "gzip", ("gzip",)),  # written down without its chunks
        (zstd(PAGE), "chunked", "zstd", ("zstd",)),
        (gzipped(PAGE), "", "br", ("gzip",)),
    ],
)
def test_what_is_not_as_stated_is_remarked(
    body: bytes, transfer: str, content: str, undone: tuple[str, ...]
) -> None:
    found = decoded(body, [transfer], [content])
    assert found.data == PAGE
    assert found.undone == undone
    assert found.remarks


@pytest.mark.parametrize(
    ("body", "transfer", "content"),
    [
        (b"\0\1\2", "", "gzip"),  # neither gzip nor text
        (b"\x89PNG\0", "", "unknown"),
        # a reserved flag: nobody knows what stands before the data (RFC 1952 §2.3.1.2)
        (gzipped(PAGE)[:3] + b"\x20" + gzipped(PAGE)[4:], "", "gzip"),
        (b"\x1f\x8b\x07" + gzipped(PAGE)[3:], "", "gzip"),  # a reserved method (§2.3.1)
        (b"ffffffffffffffff\r\n" + PAGE, "chunked", ""),  # threat W5
        (b"5\r\nabcdefgh\r\n0\r\n\r\n", "chunked", ""),
        (b"5\r\nabcde\r\n0x10\r\n", "chunked", ""),
    ],
)
def test_what_does_not_decode_is_refused(body: bytes, transfer: str, content: str) -> None:
    found = decoded(body, [transfer], [content])
    assert found.data is None
    assert found.fault


@pytest.mark.parametrize("extra", [b"", b"\0" * 9])
def test_the_header_of_a_gzip_may_hold_more(extra: bytes) -> None:
    """RFC 1952 §2.3: FEXTRA, FNAME, FCOMMENT, FHCRC."""
    plain = gzipped(PAGE)
    fields = len(extra).to_bytes(2, "little") + extra + b"name\0comment\0" + b"\0\0"
    body = plain[:3] + b"\x1e" + plain[4:10] + fields + plain[10:]
    assert decoded(body, [], ["gzip"])[:3] == (PAGE, ("gzip",), ())


@pytest.mark.parametrize(
    ("body", "transfer", "content"),
    [
        (chunked(PAGE)[:-5], "chunked", ""),  # without its last chunk
        (chunked(gzipped(PAGE)[:40]), "chunked", "gzip"),
        (chunked(gzipped(PAGE), 9)[:80], "chunked", "gzip"),
        (raw_deflate(PAGE)[:40], "", "deflate"),
        (b"5\r\nabcde\r\n-1\r\n", "chunked", ""),
    ],
)
def test_what_was_decoded_until_then_is_given_to_who_asks(
    body: bytes, transfer: str, content: str
) -> None:
    assert decoded(body, [transfer], [content]).data is None
    found = decoded(body, [transfer], [content], salvage=True)
    assert found.data
    assert PAGE.startswith(found.data) or found.data == b"abcde"
    assert found.fault


@pytest.mark.parametrize("line", [b"-1", b"0x10", b" 5", b"+5", b"1_0", b"\xd9\xa1", b""])
def test_a_size_is_hexadecimal_digits(line: bytes) -> None:
    found = decoded(line + b"\r\nabcde\r\n0\r\n\r\n", ["chunked"])
    assert found.undone == ()
    assert found.remarks


@pytest.mark.parametrize("name", [*ENCODERS, "chunked"])
def test_a_body_cut_at_any_byte_is_refused(name: str) -> None:
    body = chunked(PAGE[:64], 9) if name == "chunked" else ENCODERS[name](PAGE[:64])
    # What is missing in the end may hold no byte of the page.
    check = {"chunked": 2, "gzip": 8, "deflate": 4}.get(name, 0)
    for size in range(1, len(body) - check):
        assert decoded(body[:size], [], [name]).data is None, size
        found = decoded(body[:size], [], [name], salvage=True)
        assert PAGE.startswith(found.data or b"")
        assert found.fault
    for size in range(len(body) - check, len(body)):
        found = decoded(body[:size], [], [name])
        assert (found.data, bool(found.remarks)) == (PAGE[:64], name != "chunked")
    raw = raw_deflate(PAGE)
    assert [size for size in range(1, len(raw)) if decoded(raw[:size], [], ["deflate"])[0]] == []


# ---- limits


@pytest.mark.parametrize("name", [*ENCODERS, "chunked"])
def test_a_body_unfolds_to_the_limit_and_no_byte_more(name: str) -> None:
    body = chunked(PAGE) if name == "chunked" else ENCODERS[name](PAGE)
    for limit, fits in [(len(PAGE) - 1, False), (len(PAGE), True), (len(PAGE) + 1, True)]:
        found = decoded(body, [], [name], limit=limit)
        assert (found.data == PAGE) is fits
        assert (found.data is None) is not fits


@pytest.mark.parametrize("name", ENCODERS)
def test_a_bomb_is_refused_before_it_has_gone_off(name: str) -> None:
    bomb = ENCODERS[name](bytes(1 << 26))
    assert len(bomb) < 1 << 17
    assert decoded(bomb, [], [name], limit=1 << 20).data is None


@pytest.mark.parametrize("count", [MAX_CODINGS - 1, MAX_CODINGS, MAX_CODINGS + 1])
def test_codings_are_stacked_so_high_and_no_higher(count: int) -> None:
    body = PAGE
    for _ in range(count):
        body = gzipped(body)
    found = decoded(body, [], ["gzip"] * count)
    assert (found.data == PAGE) is (count <= MAX_CODINGS)
    assert (found.data is None) is (count > MAX_CODINGS)


@pytest.mark.parametrize(("window", "fits"), [(0x88, True), (0x89, False)])
def test_the_limit_of_a_window_of_zstandard(window: int, *, fits: bool) -> None:
    """RFC 8878 §3.1.1.1.2: 128 MiB, and an eighth more; in a frame of one raw block."""
    frame = b"\x28\xb5\x2f\xfd\x00%c%b" % (window, (9 << 3 | 1).to_bytes(3, "little"))
    assert (decoded(frame + b"x" * 9, [], ["zstd"]).data == b"x" * 9) is fits


def test_the_extension_of_a_chunk_is_so_long_and_no_longer() -> None:
    for size, fits in [(MAX_CHUNK_LINE, True), (MAX_CHUNK_LINE + 1, False)]:
        line = b"3;" + b"x" * size
        found = decoded(line + b"\r\nabc\r\n0\r\n\r\n", ["chunked"])
        assert (found.undone == ("chunked",)) is fits


HOSTILE: Final[dict[str, tuple[str, Callable[[int], bytes]]]] = {
    "empty members": ("gzip", lambda size: gzipped(b"") * (size // 20)),
    "chunks of a byte": ("chunked", lambda size: b"1\r\nx\r\n" * (size // 6) + b"0\r\n\r\n"),
    "frames of nothing": ("zstd", lambda size: zstd(b"") * (size // 9)),
    "commas": ("gzip", lambda size: b"x" * size),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bodies_take_linear_time(name: str) -> None:
    coding, make = HOSTILE[name]
    assert_linear_from_10_ms(lambda body: decoded(body, [], [coding]), make)


@pytest.mark.parametrize("name", ["br", "zstd"])
def test_a_missing_package_is_named_with_its_extra(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = builtins.__import__

    def without(module: str, *rest: object) -> object:
        if module in ("brotli", "zstandard"):
            raise ImportError(module)
        return known(module, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    found = decoded(ENCODERS[name](PAGE), [], [name])
    assert found.data is None
    assert "relbase[warc]" in found.fault
    assert decoded(PAGE, [], [name]).data == PAGE


@given(
    st.binary(max_size=300),
    st.lists(st.sampled_from(sorted(ENCODERS)), max_size=MAX_CODINGS),
    st.booleans(),
)
def test_what_is_encoded_comes_back(body: bytes, names: list[str], in_chunks: bool) -> None:  # noqa: FBT001
    event(f"{len(names)} codings")
    encoded = body
    for name in names:
        encoded = ENCODERS[name](encoded)
    transfer = ["chunked"] if in_chunks and len(names) < MAX_CODINGS else []
    found = decoded(chunked(encoded) if transfer else encoded, transfer, names)
    if not body.startswith(b"\x1f\x8b\x08"):
        assert found.data == body


@given(st.binary(max_size=200), st.sampled_from([*ENCODERS, "chunked", "x", "gzip, br"]))
def test_no_bytes_raise(body: bytes, name: str) -> None:
    found = decoded(body, [], [name])
    event("decodes" if found.data is not None else "is refused")
    assert (found.data is None) == bool(found.fault)


@given(
    st.binary(max_size=99),
    st.lists(st.tuples(st.integers(0, 120), st.integers(0, 255)), max_size=2),
    st.binary(),
)
def test_the_library_decides_nothing_of_a_gzip(
    text: bytes, damage: list[tuple[int, int]], more: bytes
) -> None:
    made = bytearray(gzip.compress(text * 9, mtime=0))
    for at, byte in damage:
        made[at % len(made)] = byte
    by_isal = decoded(bytes(made) + more, content=["gzip"], salvage=True)
    with mock.patch.object(codings, "fast_zlib", return_value=zlib):
        assert by_isal == decoded(bytes(made) + more, content=["gzip"], salvage=True)
