"""Messages as Apple Mail keeps them: a line with their length, the message, a property list.

The line is `1234      `: how many bytes the message has that follows it. What stands after these is
a property list in XML (flags, dates), or nothing, and no part of the message.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from relbase.edit import Span


class Envelope(NamedTuple):
    """What is around a message of Apple Mail."""

    number: Span  # the digits of its length, and the spaces that they are padded with
    # the message; empty when the length is not that of any
    message: Span


_first_line: Final = re.compile(rb"([0-9]{1,18} {0,20})\r?\n(?=[!-9;-~]{1,99}[ \t]{0,9}:)").match
_property_list: Final = re.compile(rb"[\t\n\r ]*+(?:<\?xml|<!DOCTYPE plist|<plist|\Z)").match


def read_envelope(data: bytes) -> Envelope | None:
    """Return what is around a message of Apple Mail, None for any other text."""
    first = _first_line(data)
    if first is None:
        return None
    start = first.end()
    end = start + int(first[1])
    is_true = end <= len(data) and _property_list(data, end) is not None
    return Envelope(Span(*first.span(1)), Span(start, end if is_true else start))
