"""RFC 1808 §2.3: which schemes relative URLs can be used with, later ones by their syntax."""

from __future__ import annotations

from enum import Enum
from typing import Final


class Category(Enum):
    """How a scheme goes with relative URLs (RFC 1808 §2.3)."""

    NEVER = "never used with relative URLs"
    SOMETIMES = "used with relative URLs when the base follows the generic-RL syntax"
    ALWAYS = "always parsed by the generic-RL syntax"


NEVER: Final = frozenset(
    {
        *("mailto", "news", "telnet"),  # RFC 1808 §2.3
        *("data", "cid", "mid"),  # RFC 2397, RFC 2392: content and parts of messages
        *("javascript", "vbscript", "about", "blob", "view-source"),  # WHATWG and browsers
        *("geo", "magnet", "sip", "sips", "sms", "tel", "urn", "xmpp"),  # opaque as registered
    }
)

SOMETIMES: Final = frozenset(
    {
        *("gopher", "prospero", "wais"),  # RFC 1808 §2.3
        *("imap", "ldap", "ldaps", "pop"),  # RFC 5092, 4516, 2384: reserved characters of their own
        "jar",  # a URL inside a URL
    }
)

ALWAYS: Final = frozenset(
    {
        *("file", "ftp", "http", "nntp"),  # RFC 1808 §2.3
        *("https", "ws", "wss", "ftps", "sftp", "rtsp", "rtsps", "nfs", "smb", "dav", "davs"),
        *("gemini", "git", "ssh", "svn", "rsync", "thismessage", "chrome-extension"),
    }
)

# Of these a URL without a network location names nothing (RFC 1738 §3.2, §3.3; RFC 9110 §4.2).
NET_LOC_REQUIRED: Final = frozenset(("http", "https", "ftp"))

_CATEGORIES: Final = {
    **dict.fromkeys(NEVER, Category.NEVER),
    **dict.fromkeys(SOMETIMES, Category.SOMETIMES),
    **dict.fromkeys(ALWAYS, Category.ALWAYS),
}


def category(scheme: str) -> Category:
    """Return the category of a scheme, given in any case and without its colon.

    A scheme that is not known is taken for one that follows the generic-RL syntax only sometimes:
    §2.3 recommends that new schemes do, and cannot promise it.
    """
    # A scheme is ASCII: other letters have lower-case forms in ASCII, the Kelvin sign among them.
    known = scheme.lower() if scheme.isascii() else scheme
    return _CATEGORIES.get(known, Category.SOMETIMES)
