"""What each header field means in mail and in HTTP, one row per field.

If several fields of a header state a base, the first row counts (rule 2).
"""

from __future__ import annotations

from enum import Enum, Flag, auto
from typing import Final, NamedTuple


class States(Flag):
    """Where a field states the base of the entity that its header belongs to."""

    NOWHERE = 0
    MAIL = auto()
    HTTP = auto()
    BOTH = MAIL | HTTP


class ValueKind(Enum):
    """How a field contains references."""

    URL = "one URL, bare or wrapped, comments around it"
    WORD = "one URL without white space"
    LIST = "a list of <URL>"
    LINK = "a list of <URL> with parameters"
    REFRESH = "a delay and a URL"


class Follows(Enum):
    """What a field says about the body, so that it changes with the body (rule 11)."""

    LENGTH = "its bytes"
    LINES = "its lines"
    DIGEST = "the MD5 of what it means"


class FieldRow(NamedTuple):
    """A field of a header."""

    name: str  # as its specification spells it; a header may have it in any case
    states: States = States.NOWHERE  # where it states a base
    # Whether links can refer to the part by it (RFC 2557 §4). It resolves against the base that
    # the other fields of its header state, and it is not a base if it is a `cid:`.
    names_part: bool = False
    holds: ValueKind | None = None  # how it contains references, in mail and in HTTP
    follows: Follows | None = None  # what it says about the body
    signs: bool = False  # whether it signs a message
    is_read: bool = False  # whether it is read for something else: types, encodings, marks
    of_mail: bool = False  # whether messages often begin with it, and other texts rarely
    # Whether in HTTP its reference resolves against the URL of the request, whatever base the
    # header states (RFC 9110 §8.7, §10.2.2).
    on_request: bool = False


FIELDS: Final = (
    # Fields that state a base, strongest first.
    FieldRow("Base", States.BOTH, holds=ValueKind.URL, of_mail=True),  # RFC 1808 §3.1
    # RFC 2068 §14.11, RFC 2110 §4.2
    FieldRow("Content-Base", States.BOTH, holds=ValueKind.URL, of_mail=True),
    # RFC 2557 §4; in HTTP it does not affect the base (RFC 9110 §8.7)
    FieldRow(
        "Content-Location",
        States.MAIL,
        names_part=True,
        holds=ValueKind.URL,
        of_mail=True,
        on_request=True,
    ),
    # Fields that hold references.
    # RFC 9110 §10.2.2; in mail it may name a place
    FieldRow("Location", holds=ValueKind.WORD, on_request=True),
    FieldRow("URI", holds=ValueKind.LIST),  # RFC 2068 §19.6.2.5
    FieldRow("Link", holds=ValueKind.LINK),  # RFC 8288 §3
    FieldRow("Refresh", holds=ValueKind.REFRESH),  # WHATWG HTML, shared refresh steps
    FieldRow("Archived-At", holds=ValueKind.LIST),  # RFC 5064 §2
    *(  # RFC 2369 §3.1 to §3.6
        FieldRow(f"List-{name}", holds=ValueKind.LIST)
        for name in ("Help", "Unsubscribe", "Subscribe", "Post", "Owner", "Archive")
    ),
    # Fields that describe a body.
    FieldRow("Content-Length", follows=Follows.LENGTH),
    FieldRow("Lines", follows=Follows.LINES),
    FieldRow("Content-MD5", follows=Follows.DIGEST),  # RFC 1864
    # Fields that sign a message.
    FieldRow("DKIM-Signature", signs=True),  # RFC 6376
    FieldRow("DomainKey-Signature", signs=True),  # RFC 4870
    FieldRow("ARC-Seal", signs=True),  # RFC 8617
    FieldRow("ARC-Message-Signature", is_read=True),  # sealed by the one above
    # Fields that say how a body is read (RFC 2045, RFC 2183, RFC 2392).
    FieldRow("MIME-Version", is_read=True, of_mail=True),
    FieldRow("Content-Type", is_read=True, of_mail=True),
    FieldRow("Content-Transfer-Encoding", is_read=True, of_mail=True),
    FieldRow("Content-Disposition", is_read=True),
    FieldRow("Content-ID", is_read=True),
    # How HTTP encodes and describes a body (RFC 9110 §8.4, RFC 9112 §6.1, RFC 9530).
    *(FieldRow(name, is_read=True) for name in ("Transfer-Encoding", "Content-Encoding")),
    FieldRow("Content-Range", is_read=True),
    *(FieldRow(name, is_read=True) for name in ("Content-Digest", "Repr-Digest", "Digest")),
    FieldRow("Content-Security-Policy", is_read=True),  # CSP 3 §3.1
    # Chromium saves pages as messages, and states the retrieval URL here.
    FieldRow("Snapshot-Content-Location", is_read=True, of_mail=True),
    # Fields that messages begin with (RFC 5322 §3.6, RFC 9228).
    *(FieldRow(name, of_mail=True) for name in ("From", "To", "Cc", "Date", "Subject", "Sender")),
    *(FieldRow(name, of_mail=True) for name in ("Reply-To", "Received", "Return-Path")),
    *(FieldRow(name, of_mail=True) for name in ("Delivered-To", "Message-ID")),
)
