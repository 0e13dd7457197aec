"""Messages as Apple Mail keeps them: a line with their length, the message, a property list.

The line is `1234      `: how many bytes the message has that follows it. What stands after these is
a property list in XML (flags, dates), or nothing, and no part of the message.
"""

from __future__ import annotations

import re
from typing import Final

from relbase.edit import Span
from relbase.records import NamedTuple


class Envelope(NamedTuple):
    """What is around a message of Apple Mail.

    Args:
        number: the digits of its length, and the spaces that they are padded with.
        message: the message; empty when the length is not that of any.
    """

    number: Span
    message: Span


_first_line: Final = re.compile(rb"([0-9]{1,18} {0,20})\r?\n(?=[!-9;-~]{1,99}[ \t]{0,9}:)").match
_property_list: Final = re.compile(rb"[\t\n\r ]*+(?:<\?xml|<!DOCTYPE plist|<plist|\Z)").match


def read_envelope(data: bytes) -> Envelope | None:
    r"""Return what is around a message of Apple Mail, None for any other text.

    >>> read_envelope(b"6    \nA: b\n\n<?xml version='1.0'?>")
    Envelope(number=Span(start=0, end=5), message=Span(start=6, end=12))
    """
    first = _first_line(data)
    if first is None:
        return None
    start = first.end()
    end = start + int(first[1])
    is_true = end <= len(data) and _property_list(data, end) is not None
    return Envelope(Span(*first.span(1)), Span(start, end if is_true else start))
