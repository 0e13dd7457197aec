"""ARC files, which came before WARC: one line in front of each block."""

from __future__ import annotations

import re
from typing import Final

from relbase.expressions import regex

ARC: Final = "ARC"

# A line with a longer URL is not known as one.
MAX_ARC_LINE: Final = 1 << 14

# url-record = URL IP-address Archive-date Content-type [ Result-code Checksum Location Offset
# Filename ] Archive-length   (ARC file format, versions 1 and 2)
# However, a URL may have spaces in it, and a type may have parameters, or be empty or left out; the
# address may be `0` or `-`.
_WORD: Final = rb"[^ \r\n]++"
_LINE: Final = (
    rb"([a-zA-Z][a-zA-Z0-9+.-]*+:[^ \r\n]*+(?: %b){0,50}?) ([0-9a-fA-F.:]{1,45}+|-)"
    rb" ([0-9]{14}|[0-9]{12}|[0-9]{8})(?: ((?:%b(?<=;) )*+%b|))?"
    rb"(?: %b %b %b [0-9]++ %b)?+ ([0-9]{1,18})\r?\n"
) % ((_WORD,) * 7)
arc_line: Final = regex(_LINE).match

# Where a record begins inside of other text: a line with a date in the right place.
ARC_STARTS: Final = rb"(?<=\n)(?:[a-z]++:)(?:[^ \r\n]++ ){2}[0-9]{14} [^\r\n]*+(?<=[0-9])\r?\n"


def arc_fields(found: re.Match[bytes]) -> tuple[tuple[str, str], ...]:
    """Return the fields of a line, under the names of WARC; the length is the last."""
    url, address, date, type_, length = (
        (group or b"").decode("utf-8", "surrogateescape") for group in found.groups()
    )
    kind = "response" if url.lower().startswith(("http:", "https:")) else "resource"
    return (
        ("warc-type", "warcinfo" if url.startswith("filedesc:") else kind),
        ("warc-target-uri", url),
        # `20081113213051` as WARC writes it; what is left out is zero
        ("warc-date", re.sub(_DATE, r"\1-\2-\3T\4:\5:\6Z", date.ljust(14, "0"))),
        ("warc-ip-address", address),
        ("content-type", type_),
        ("content-length", length),
    )


_DATE: Final = "(....)(..)(..)(..)(..)(..)"
