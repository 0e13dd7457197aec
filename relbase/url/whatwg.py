"""The WHATWG URL Standard, as in browsers: ada-url, with queries in the document's charset.

ada-url encodes queries in UTF-8, so those of special URLs are encoded before it sees them. It also
parses the base again for each reference; `_known` resolves most references without a parser.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

import ada_url

from relbase.expressions import regex
from relbase.url.credentials import masked
from relbase.url.plain import (
    AFTER_PATH,
    HOST,
    NOT_DOTS,
    PATH,
    SERIALISED,
    SPECIAL,
    serialised,
)
from relbase.url.step import Step, not_text, shown
from relbase.view.characters import scalar_values
from relbase.view.charset import UNREADABLE, WIDE, lookup
from relbase.view.transcode import encode_query

# "If encoding is not UTF-8 and [...] url is not special or url's scheme is ws or wss, then set
# encoding to UTF-8" (query state): these remain.
_ENCODED_SCHEMES: Final = ("http:", "https:", "ftp:", "file:")

_NOT_ASCII: Final = regex(r"[^\x00-\x7f]+")
_ANY: Final = regex(r".+", re.DOTALL)

# https://url.spec.whatwg.org/#special-query-percent-encode-set
_SPECIAL_QUERY_SET: Final = frozenset((*range(0x21), *b"\"#<>'", *range(0x7F, 0x100)))
_IN_QUERY: Final = [
    f"%{byte:02X}" if byte in _SPECIAL_QUERY_SET else chr(byte) for byte in range(0x100)
]


# ---- References that the states of the parser leave as they are

_absolute_match: Final = serialised.fullmatch
_net_path_match: Final = regex(rf"//{HOST}{PATH}{AFTER_PATH}").fullmatch
_abs_path_match: Final = regex(rf"{PATH}{AFTER_PATH}").fullmatch
_names_match: Final = regex(
    rf"{NOT_DOTS}[{SERIALISED}]++(?:/{NOT_DOTS}[{SERIALISED}:]*+)*+{AFTER_PATH}"
).fullmatch
_climbs_match: Final = regex(
    rf"((?:\.\./){{1,8}}+)(?:{NOT_DOTS}[{SERIALISED}:]++(?:/{NOT_DOTS}[{SERIALISED}:]*+)*+)?{AFTER_PATH}"
).fullmatch
_fragment_match: Final = regex(rf"\#[{SERIALISED}:/?]*+").fullmatch

# A base that has been serialised: scheme, authority, path.
_base_match: Final = regex(r"(https?:)//[^/?#]++(/[^?#]*+)").match

# ada-url reads the whole base for each reference, so a longer base is shortened first.
_LONG: Final = 2048


class PreparedBase:
    """A parsed base URL ("" for none), and the charset of the document."""

    __slots__ = ("_above", "_base", "_charset", "_encode_query", "_origin", "_scheme", "_slashes")

    def __init__(self, base: str, charset: str = "utf-8") -> None:
        self._charset = charset
        try:
            url = _scalar_values(base, charset)
            is_serialised = not url or _absolute_match(url)
            self._base = url if is_serialised else str(ada_url.normalize_url(url))
        except ValueError:
            raise ValueError(
                f"the base {_shown(base)} is not a valid absolute URL (WHATWG URL Standard): "
                "give one such as 'http://host/'"
            ) from None
        self._encode_query = _query_encoder(charset)
        match = _base_match(self._base)
        # For a base of http or https; otherwise "", and ada-url parses every relative reference.
        self._scheme = match[1] if match else ""
        self._origin = self._base[: match.start(2)] if match else ""
        # The directory of the base and those above it, as far as references have needed them.
        self._above = [self._base[: self._base.rfind("/", 0, match.end()) + 1]] if match else []
        self._slashes: list[int] | None = None

    def resolve(self, reference: str) -> str:
        """Return the serialised URL; raise ValueError where parsing is a failure."""
        try:
            return self._known(reference) or self._parsed(reference)
        except (TypeError, AttributeError):
            raise not_text(reference) from None

    def steps(self, reference: str) -> list[Step]:
        """Return the parser's input and output as steps; the last value is the result."""
        cleaned = _cleaned(reference)
        white = "" if cleaned == reference else "without white space "
        steps = [Step("basic URL parser", f"the reference {white}is parsed", cleaned)]
        base = split(self._base) if self._base else None
        if base is not None:
            steps.append(Step("base", f"the URL record of the base has {shown(base)}"))
        try:
            url = self.resolve(reference)
        except ValueError:
            return [*steps, Step("failure", "the parser returns failure")]
        record = split(url)
        steps.append(Step("URL record", f"the URL record of the result has {shown(record)}"))
        if base is not None:
            pairs = zip(Record._fields, base, record, strict=True)
            same = [name for name, before, after in pairs if before == after and after]
            text = f"as in the base: {', '.join(same) or 'nothing'}"
            steps.append(Step("inherited", text))
        return [*steps, Step("URL serializer", "the URL record is serialized", url)]

    def _known(self, reference: str) -> str:
        """Return the URL of a reference that needs no parser, or ""."""
        first = reference[:1]
        if ":" in reference and _absolute_match(reference):
            return reference
        if not self._scheme:
            return ""
        if first == "/":
            if reference[1:2] != "/":
                return self._origin + reference if _abs_path_match(reference) else ""
            return self._scheme + reference if _net_path_match(reference) else ""
        if first == "#":
            return self._base.partition("#")[0] + reference if _fragment_match(reference) else ""
        if first == ".":
            climbs = _climbs_match(reference)
            return (
                self._directory(climbs.end(1) // 3) + reference[climbs.end(1) :] if climbs else ""
            )
        return self._above[0] + reference if _names_match(reference) else ""

    def _directory(self, level: int) -> str:
        above, root = self._above, len(self._origin)
        while len(above) <= level:
            inner = above[-1]
            above.append(inner[: max(inner.rfind("/", root, -1), root) + 1])
        return above[level]

    def _parsed(self, reference: str) -> str:
        reference = _scalar_values(reference, self._charset)
        try:
            url = self._parse(reference)
            if not reference.isascii() and self._encode_query and url.startswith(_ENCODED_SCHEMES):
                # In a special URL, the first `?` before the fragment begins the query.
                rest, hash_, fragment = _cleaned(reference).partition("#")
                rest, mark, query = rest.partition("?")
                url = self._parse(rest + mark + self._encode_query(query) + hash_ + fragment)
        except ValueError:
            why = f"cannot be resolved against the base {_shown(self._base)}"
            why = why if self._base else "is not a valid absolute URL, and there is no base"
            raise ValueError(f"{_shown(reference)} {why} (WHATWG URL Standard)") from None
        return url

    def _parse(self, reference: str) -> str:
        if not self._base:
            return str(ada_url.normalize_url(reference))
        if len(self._base) > _LONG and self._scheme:
            return str(ada_url.join_url(*self._shortened(_cleaned(reference))))
        return str(ada_url.join_url(self._base, reference))

    def _shortened(self, reference: str) -> tuple[str, str]:
        """Return a shorter base and a reference that resolve to the same URL together."""
        root = f"{self._origin}/"
        if reference[:1] in {"/", "\\"} or is_absolute(reference, self._base):
            return root, reference
        path = _path_match(reference)
        if path is None or _SCHEME.match(reference):
            return self._base, reference
        climbs, kept = _climbs_of(_slash_split(path[0]))
        if not climbs:
            return self._base, reference
        if self._slashes is None:
            start, directory = len(self._origin), self._above[0]
            self._slashes = [slash.start() for slash in _slashes.finditer(directory, start)]
        climbed = self._base[: self._slashes[max(len(self._slashes) - 1 - climbs, 0)] + 1]
        # The dot segment protects a rest that begins with a slash or like a scheme.
        return climbed, "/".join([".", *kept]) + reference[path.end() :]


_path_match: Final = regex(r"[^?#]++").match
_slash_split: Final = regex(r"[/\\]").split
_slashes: Final = regex("/")


def _climbs_of(segments: list[str]) -> tuple[int, list[str]]:
    """Return how many levels a path climbs, and the segments that follow ("path state")."""
    climbs, name = 0, ""
    kept: list[str] = []
    for segment in segments:
        name = segment.lower().replace("%2e", ".") if len(segment) <= len("%2e%2e") else segment
        if name == "..":
            if kept:
                kept.pop()
            else:
                climbs += 1
        elif name != ".":
            kept.append(segment)
    if name in {".", ".."}:
        kept.append("")
    return climbs, kept


class Record(NamedTuple):
    """The parts of a URL record (https://url.spec.whatwg.org/#concept-url); None is null.

    `path` is serialised: its segments with slashes, or an opaque path.
    """

    scheme: str
    username: str
    password: str
    host: str | None
    port: str | None
    path: str
    query: str | None
    fragment: str | None


def split(url: str) -> Record:
    """Parse an absolute URL, and return the parts of its URL record."""
    parsed = ada_url.URL(NO_BASE.resolve(url))
    rest, crosshatch, fragment = parsed.href.partition("#")
    rest, mark, query = rest.partition("?")
    return Record(
        scheme=parsed.protocol[:-1],
        username=parsed.username,
        password=parsed.password,
        host=parsed.hostname if rest.startswith("//", len(parsed.protocol)) else None,
        port=parsed.port or None,
        path=parsed.pathname,
        query=query if mark else None,
        fragment=fragment if crosshatch else None,
    )


def is_absolute(reference: str, base: str = "") -> bool:
    """Return whether a reference parses the same against any base, or fails against all."""
    cleaned = _cleaned(reference)
    scheme_end = _SCHEME.match(cleaned)
    if scheme_end is None:
        return False
    # A scheme makes it absolute, except that a special scheme without `//` is relative to a base of
    # the same scheme ("special relative or authority state", "file state").
    scheme, end = scheme_end[1].lower(), scheme_end.end()
    if scheme not in SPECIAL or cleaned[end : end + 2] in _TWO_SLASHES:
        return True
    return base != "" and not base.startswith(f"{scheme}:")


def parses_alone(url: str) -> bool:
    """Return whether a URL needs no base, as `file:/a`."""
    try:
        NO_BASE.resolve(url)
    except ValueError:
        return False
    return True


_SCHEME: Final = regex(r"([A-Za-z][A-Za-z0-9+.-]*):")
_TWO_SLASHES: Final = frozenset(("//", "/\\", "\\/", "\\\\"))
_C0_OR_SPACE: Final = "".join(map(chr, range(0x21)))
_REMOVED: Final = str.maketrans("", "", "\t\n\r")


def _cleaned(reference: str) -> str:
    """Basic URL parser, steps 1 and 3: strip and remove characters before the states run."""
    return reference.strip(_C0_OR_SPACE).translate(_REMOVED)


def _shown(url: str) -> str:
    """Shorten a URL for an error: references may be megabytes long, and many may fail."""
    url = masked(url)
    cut = url[:200]
    return repr(url if cut == url else f"{cut}\N{HORIZONTAL ELLIPSIS}")


def _scalar_values(text: str, charset: str) -> str:
    """Convert to a scalar value string; a surrogate stands for a byte that did not decode."""
    if text.isascii():
        return text
    return scalar_values(text, lookup(charset) or charset)


def _query_encoder(charset: str) -> Callable[[str], str] | None:
    """Return "percent-encode after encoding", or None if the output encoding is UTF-8."""
    if charset == "utf-8":
        return None
    name = lookup(charset) or charset
    # https://encoding.spec.whatwg.org/#get-an-output-encoding
    if name == "utf-8" or name in WIDE or name in UNREADABLE:
        return None

    def percent_encode(run: re.Match[str]) -> str:
        # https://url.spec.whatwg.org/#string-percent-encode-after-encoding, step 4.3
        encoded = encode_query(run[0], name, lambda character: b"%%26%%23%d%%3B" % ord(character))
        return "".join(map(_IN_QUERY.__getitem__, encoded))

    # ISO-2022-JP has states, so that it needs the whole query at once.
    run = _ANY if name == "iso-2022-jp" else _NOT_ASCII
    return lambda query: run.sub(percent_encode, query)


NO_BASE: Final = PreparedBase("")  # for URLs that need none
