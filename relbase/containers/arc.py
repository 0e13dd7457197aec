"""The records of ARC files, which came before WARC: one line in front of each block.

The fields of a line get the names that WARC has for them. The first record, `filedesc:`, describes
the file.
"""

from __future__ import annotations

import re
from typing import Final

VERSION: Final = "ARC"

# A line with a longer URL is not known as one.
MAX_LINE: Final = 1 << 14

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
line: Final = re.compile(_LINE).match

# Where a record begins inside of other text: a line with a date in the right place.
STARTS: Final = rb"(?<=\n)(?:[a-z]++:)(?:[^ \r\n]++ ){2}[0-9]{14} [^\r\n]*+(?<=[0-9])\r?\n"


def fields(found: re.Match[bytes]) -> tuple[tuple[str, str], ...]:
    r"""Return the fields of a line, under the names of WARC; the length is the last."""
    url, address, date, type_, length = (
        (group or b"").decode("utf-8", "surrogateescape") for group in found.groups()
    )
    kind = "response" if url.lower().startswith(("http:", "https:")) else "resource"
    return (
        ("warc-type", "warcinfo" if url.startswith("filedesc:") else kind),
        ("warc-target-uri", url),
        ("warc-date", _iso_date(date)),
        ("warc-ip-address", address),
        ("content-type", type_),
        ("content-length", length),
    )


def _iso_date(date: str) -> str:
    """Return `20081113213051` as WARC writes it; what is left out is zero."""
    date = date.ljust(14, "0")
    day = f"{date[:4]}-{date[4:6]}-{date[6:8]}"
    return f"{day}T{date[8:10]}:{date[10:12]}:{date[12:14]}Z"
