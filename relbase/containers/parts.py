"""What the walk of a message yields: its parts, why one is not entered, types and encodings."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.containers.content_type import is_lone, token
from relbase.containers.fields import text_of

if TYPE_CHECKING:
    from relbase.containers.fields import Header
    from relbase.edit import Span


class Opaque(Enum):
    """Why a part is not entered. The values are stable: they are those of its notes."""

    SIGNED = "mime-signed"  # RFC 1847 §2.1: nothing may change in it
    SEALED = "mime-sealed"  # encrypted, S/MIME, PGP
    PARTIAL = "mime-partial"  # RFC 2046 §5.2.2: a piece of a message
    EXTERNAL = "mime-external"  # RFC 2046 §5.2.3: the body is elsewhere
    ENCODED = "mime-encoded"  # RFC 2045 §6.4 forbids it, and readers differ
    BOUNDARY = "mime-boundary"  # a multipart without a boundary
    DEPTH = "limit-mime-depth"
    PARTS = "limit-mime-parts"  # all that follows in the message is in this part
    HEADER = "limit-header"


class Multipart(NamedTuple):
    """What a multipart has around its parts; spans are empty where there is nothing."""

    boundary: bytes  # as in its delimiters, without the leading `--`
    # what comes before the first delimiter; all of the body when there is none
    preamble: Span
    close: Span  # the closing delimiter with the line break before it
    epilogue: Span  # what follows the closing delimiter, from its line break on


class Part(NamedTuple):
    """An entity: the message, a body part of a multipart, or a message inside of a message."""

    # as IMAP numbers sections (RFC 3501 §6.4.5), "" for the outermost message. A multipart in a
    # message/rfc822 has the number of that: it is its text
    number: str
    parent: int | None  # the index of the part around it, None for the outermost message
    type: str  # the media type in lower case, the default one when none is stated
    header: Header  # its fields with their spans
    body: Span  # exactly its body, without the line break that belongs to the next delimiter
    # the delimiter line in front, with both line breaks; empty for a message
    delimiter: Span
    # those that are open in its body, outermost first, its own left out
    boundaries: tuple[bytes, ...]
    charset: str | None = None  # the label that its Content-Type states
    encoding: str = "7bit"  # the Content-Transfer-Encoding in lower case
    # That encoding as stated, where some mail programs read it and others do not: `base64;`.
    disputed: str = ""
    disposition: str | None = None  # of Content-Disposition in lower case
    name: str = ""  # of the file that it is to be saved as
    opaque: Opaque | None = None  # why it was not entered, None when nothing hindered it
    multipart: Multipart | None = None  # what is around its parts when it was entered
    message: bool = False  # whether its body is a message that was entered: the next part


# Why a media type is never entered.
OPAQUE_TYPES: Final = {
    "multipart/signed": Opaque.SIGNED,
    "multipart/encrypted": Opaque.SEALED,
    "application/pkcs7-mime": Opaque.SEALED,
    "application/x-pkcs7-mime": Opaque.SEALED,
    "message/partial": Opaque.PARTIAL,
    "message/external-body": Opaque.EXTERNAL,
}
OPAQUE_PREFIXES: Final = ("application/pgp", "application/x-pgp")

# The types whose body is a message: RFC 2046 §5.2.1, RFC 6532 §3.7, RFC 5537 §2.3.
MESSAGES: Final = frozenset(["message/rfc822", "message/global", "message/news"])


# The encodings that change nothing (RFC 2045 §6.2), and how mailers misspell them.
IDENTITY: Final = frozenset(["7bit", "8bit", "binary", "7-bit", "8-bit", "7bits", "8bits"])
QUOTED_PRINTABLE: Final = "quoted-printable"
BASE64: Final = "base64"

_SHOWN: Final = 100  # characters of an encoding that nobody can undo
_quoted: Final = re.compile(r'"([^"]++)"').fullmatch


def transfer_encoding(data: bytes, header: Header) -> tuple[str, str]:
    """Return the Content-Transfer-Encoding of a header, and as stated where that is disputed.

    | stated | read as |
    |---|---|
    | nothing | 7bit |
    | a token, comments around it | that token (RFC 2045 §6.1) |
    | a token in quotes, or with more behind it: `base64;` | that token, disputed |
    | several tokens, or none | an encoding that nobody can undo |
    """
    found: dict[str, str] = {}
    for field in header.fields:
        if field.name == "content-transfer-encoding":
            value = text_of(data, field)
            quoted = _quoted(value)
            name = token(quoted[1] if quoted else value)
            disputed = "" if not name or is_lone(value) else value[:_SHOWN]
            if not name and not value.startswith("("):
                name = value.lower()
            if name:
                found[name] = found.get(name) or disputed
    if IDENTITY.issuperset(found):
        return next(iter(found), "7bit"), ""
    name = ", ".join(found)[:_SHOWN]
    return name, found.get(name, "")
