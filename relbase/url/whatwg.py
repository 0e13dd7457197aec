"""The WHATWG URL Standard, as browsers resolve: ada-url, with the query in the document's charset.

https://url.spec.whatwg.org/. ada-url parses and serialises in UTF-8. The standard's parser has one
more argument, the encoding of the document, which decides how the query's characters outside ASCII
are percent-encoded in special URLs ("query state"). Here they are encoded before ada-url sees the
reference, which it then leaves as they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import ada_url

if TYPE_CHECKING:
    from collections.abc import Callable

# "If encoding is not UTF-8 and [...] url is not special or url's scheme is ws or wss, then set
# encoding to UTF-8" (query state): these are what is left.
_ENCODED_SCHEMES: Final = ("http:", "https:", "ftp:", "file:")

_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
_ANY: Final = re.compile(r".+", re.DOTALL)

# https://url.spec.whatwg.org/#special-query-percent-encode-set
_SPECIAL_QUERY_SET: Final = frozenset((*range(0x21), *b"\"#<>'", *range(0x7F, 0x100)))
_IN_QUERY: Final = [
    f"%{byte:02X}" if byte in _SPECIAL_QUERY_SET else chr(byte) for byte in range(0x100)
]


class PreparedBase:
    """A base URL that has been parsed, and the encoding of the document around its references.

    Args:
        base: an absolute URL, or "" for none: then only absolute references parse.
        charset: a WHATWG label.

    Raises:
        ValueError: if the base does not parse on its own or the label is not known.
    """

    __slots__ = ("_base", "_charset", "_encode_query")

    def __init__(self, base: str, charset: str = "utf-8") -> None:
        self._charset = charset
        try:
            self._base = ada_url.normalize_url(_scalar_values(base, charset)) if base else ""
        except ValueError:
            raise ValueError(
                f"{_shown(base)} is no absolute URL by the WHATWG URL Standard: "
                "give a base with a scheme, such as http://host/"
            ) from None
        self._encode_query = _query_encoder(charset)

    def resolve(self, reference: str) -> str:
        """Return the serialised URL; raise ValueError where parsing is a failure."""
        reference = _scalar_values(reference, self._charset)
        try:
            url = self._parse(reference)
            if not reference.isascii() and self._encode_query and url.startswith(_ENCODED_SCHEMES):
                url = self._parse(self._with_query_encoded(_cleaned(reference)))
        except ValueError:
            raise ValueError(
                f"{_shown(reference)} is a failure by the WHATWG URL Standard, "
                f"on the base {_shown(self._base)}"
            ) from None
        return url

    def _parse(self, reference: str) -> str:
        if not self._base:
            return str(ada_url.normalize_url(reference))
        return str(ada_url.join_url(self._base, reference))

    def _with_query_encoded(self, reference: str) -> str:
        """In a special URL the first `?` that is not in the fragment begins the query."""
        assert self._encode_query is not None
        rest, hash_, fragment = reference.partition("#")
        rest, mark, query = rest.partition("?")
        return rest + mark + self._encode_query(query) + hash_ + fragment


def resolve(base: str, reference: str, charset: str = "utf-8") -> str:
    """Resolve one reference as a browser does.

    Raises:
        ValueError: if the base or the reference is a failure.

    >>> resolve("http://a/b/c/d;p?q", "../../../g")
    'http://a/g'
    """
    return PreparedBase(base, charset).resolve(reference)


def is_absolute(reference: str, base: str = "") -> bool:
    """Tell whether a reference parses the same on any base, or fails on all of them.

    Args:
        reference: any string.
        base: the base that it stands on, serialised; "" when it is not known.

    >>> is_absolute("http:g"), is_absolute("http:g", "https://a/"), is_absolute(" HTTP://a")
    (False, True, True)
    """
    cleaned = _cleaned(reference)
    found = _SCHEME.match(cleaned)
    if found is None:
        return False
    # A scheme decides, but for a special one without `//`: that is relative to a base of the same
    # scheme ("special relative or authority state", "file state").
    scheme, end = found[1].lower(), found.end()
    if scheme not in _SPECIAL or cleaned[end : end + 2] in _TWO_SLASHES:
        return True
    return base != "" and not base.startswith(f"{scheme}:")


_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_SPECIAL: Final = frozenset(("http", "https", "ftp", "ws", "wss", "file"))
_TWO_SLASHES: Final = frozenset(("//", "/\\", "\\/", "\\\\"))
_C0_OR_SPACE: Final = "".join(map(chr, range(0x21)))
_REMOVED: Final = str.maketrans("", "", "\t\n\r")


def _cleaned(reference: str) -> str:
    """Basic URL parser, steps 1 and 3: what is stripped and removed before the states run."""
    return reference.strip(_C0_OR_SPACE).translate(_REMOVED)


def _shown(url: str) -> str:
    """How an error shows a URL: references may be megabytes long, and each is one error."""
    return repr(url if len(url) <= _SHOWN else url[:_SHOWN] + "\N{HORIZONTAL ELLIPSIS}")


_SHOWN: Final = 200


def _scalar_values(text: str, charset: str) -> str:
    """Strings become scalar value strings; a surrogate stands for a byte that did not decode."""
    if text.isascii():
        return text
    from relbase.view.characters import scalar_values  # noqa: PLC0415
    from relbase.view.charset import lookup  # noqa: PLC0415

    return scalar_values(text, lookup(charset) or charset)


def _query_encoder(charset: str) -> Callable[[str], str] | None:
    """Percent-encode after encoding, or None where the output encoding is UTF-8."""
    if charset == "utf-8":
        return None
    # Most documents are UTF-8: start-up time.
    from relbase.view.charset import lookup  # noqa: PLC0415
    from relbase.view.encoders import encode  # noqa: PLC0415

    name = lookup(charset)
    if name is None:
        raise ValueError(f"{charset!r} is no charset label: give one of the WHATWG Encoding table")
    # https://encoding.spec.whatwg.org/#get-an-output-encoding
    if name in {"utf-8", "utf-16le", "utf-16be", "replacement"}:
        return None

    def percent_encode(run: re.Match[str]) -> str:
        encoded = encode(run[0], name, _unencodable)
        return "".join(map(_IN_QUERY.__getitem__, encoded))

    # ISO-2022-JP has states, which what stands between changes.
    run = _ANY if name == "iso-2022-jp" else _NOT_ASCII
    return lambda query: run.sub(percent_encode, query)


def _unencodable(character: str) -> bytes:
    """https://url.spec.whatwg.org/#string-percent-encode-after-encoding, step 4.3."""
    return b"%%26%%23%d%%3B" % ord(character)
