"""User names and passwords in URLs (threat A7)."""

import re
from typing import Final

from relbase.expressions import expression
from relbase.url import rfc3986


def without_userinfo(url: str) -> str | None:
    """Return a URL without the userinfo in its authority (RFC 3986 §3.2.1); None if it has none."""
    components = rfc3986.split(url)
    _, at, host = (components.authority or "").rpartition("@")
    return rfc3986.unsplit(components._replace(authority=host)) if at else None


def without_credentials(url: str) -> str | None:
    """Return a URL without what the WHATWG parser takes for credentials; None if it has none."""
    match = _special.match(url.translate(_REMOVED))
    return None if match is None else f"{match[1]}{match.string[match.end() :]}"


# The authority states of the parser: it also begins without slashes, and after any number of them.
_special: Final = expression(
    r"([\x00-\x20]*+(?:(?:https?|ftp|wss?):[/\\]*+|(?!file:)[a-z][a-z0-9+.-]*+://))[^/\\?#]*@",
    re.IGNORECASE,
)
_REMOVED: Final = str.maketrans("", "", "\t\n\r")


def masked(url: str) -> str:
    """Return a URL for a message, with `***` for the credentials that it has, or seems to have.

    >>> masked("user:secret@h.example/"), masked("mailto:a@b"), masked("/a@b:c")
    ('user:***@h.example/', 'mailto:a@b', '/a@b:c')
    """
    if "@" not in url:
        return url
    return _inside.sub("***@", _userinfo.sub(r"\1***@", url, 1))


def quoted(url: str) -> str:
    """Return a URL or a reference in quotes for a note, cut, and `masked`."""
    return repr(masked(url)[:_SHOWN])


_SHOWN: Final = 200

# Of a URL in quotes or brackets, behind another one, or in another one: an archive's, a proxy's.
_inside: Final = expression(r"(?<=:[/\\]{2})[^/\\?#\s]*@")


# After a scheme and slashes, two slashes, or `user:`. A password may have a slash, which makes the
# text before it look like a host with a malformed port.
_userinfo: Final = expression(
    r"""
    \A ( [\x00-\x20]*+
        (?! (?: file | data | javascript | mailto | [cm]id | news | sips? | xmpp | tag | urn ) : )
        (?: [a-z][a-z0-9+.\s-]*+ : [/\\\s]++ | (?= [/\\]\s*[/\\] ) [/\\\s]++
          | [^/\\?\#@:]++ : (?= (?! [0-9]*+ (?: [/\\?\#] | \Z ) ) .*@ ) )
    )
    (?: [^/\\?\#]*@ | [^/\\?\#@:\[]*+ : (?! [0-9]*+ (?: [/\\?\#] | \Z ) ) .*@
      | (?<= : ) (?! [/\\\s] ) .*@ )
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
