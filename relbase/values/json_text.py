"""The strings of JSON, and the URLs in that of script elements: import maps, speculation rules.

The text is walked twice, since browsers drop a block that is not JSON [C]. Of members with the same
name the last counts, but all are yielded: if only its name changed, an earlier one would count.
"""

import re
from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import partial
from typing import Final, NamedTuple

from relbase.edit import Span
from relbase.expressions import expression
from relbase.values.syntaxes import C0_AND_SPACE_BYTES
from relbase.view.runs import Run, RunView, read

# Of objects and arrays; Chromium drops blocks with deeper nesting.
MAX_DEPTH: Final = 1000


def relative_patterns(text: bytes) -> list[Span]:
    if b"href_matches" not in text or not _is_json(text):
        return []
    return [
        Span(string.start, string.end)
        for string in strings(text)
        if string.kind in {JsonKind.MEMBER, JsonKind.ITEM}
        and b"where" in string.names
        and _PATTERN in string.names[-2:]
        and not _has_scheme.match(unescaped(text[string.start : string.end]))
    ]


_PATTERN: Final = b"href_matches"
# The scheme of a pattern may be a pattern itself: `http{s}?://*`, `*://h/`.
_has_scheme: Final = expression(rb"[^/#:]*+:")


class JsonKind(Enum):
    KEY = auto()  # the name of a member of an object
    MEMBER = auto()  # the value of a member
    ITEM = auto()  # an item of an array, or the whole text
    NULL = auto()  # no string: null, as a member's value, an item or the whole text
    END = auto()  # no string: the end of the whole text, with white space after it


class JsonString(NamedTuple):
    """A string without its quotes, and where it stands.

    For each open container, `names` has the name of its current member, or None for an array, and
    `places` the number of values before the current one. The walk changes both as it goes on.
    """

    kind: JsonKind
    start: int
    end: int
    names: list[bytes | None]
    places: list[int]


# ECMA-404: white space is TAB, LF, CR, SPACE. Possessive throughout: nothing is read twice.
_SPACE: Final = rb"[\t\n\r\ ]*+"
_STRING: Final = rb""" "( (?: [^"\\\x00-\x1F]++ | \\ (?: ["\\/bfnrt] | u[0-9A-Fa-f]{4} ) )*+ )" """
# member = string ws ":" ws ...
_KEY: Final = expression(_STRING + _SPACE + rb":" + _SPACE, re.VERBOSE)
# value = string / number / literal / object / array; the empty containers count as literals.
# number = [ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ "e" [ "+" / "-" ] 1*digit ]
_VALUE: Final = expression(
    rb"(?:"
    + _STRING
    + rb"""
    | -?+ (?: 0 | [1-9][0-9]*+ ) (?: \.[0-9]++ )?+ (?: [Ee][+-]?+[0-9]++ )?+
    | true | false | (null)
    | \[ [\t\n\r\ ]*+ \] | \{ [\t\n\r\ ]*+ \}
    | ( [\[{] )
    )"""
    + _SPACE,
    re.VERBOSE,
)
_IS_NULL, _OPENING = 2, 3  # its groups
_COMMA: Final = expression(rb"," + _SPACE)
_OBJECT_END: Final = expression(rb"\}" + _SPACE)
_ARRAY_END: Final = expression(rb"\]" + _SPACE)


def strings(text: bytes) -> Iterator[JsonString]:
    """Yield every string and null of a JSON value, then END; an error ends the walk without END."""
    names: list[bytes | None] = []
    places: list[int] = []
    at = len(text) - len(text.lstrip(b"\t\n\r "))
    while True:
        if names and names[-1] is not None:
            key = _KEY.match(text, at)
            if key is None:
                return
            yield JsonString(JsonKind.KEY, *key.span(1), names, places)
            names[-1] = unescaped(key[1])
            at = key.end()
        value = _VALUE.match(text, at)
        if value is None:
            return
        at = value.end()
        form = value.lastindex
        if form == _OPENING:
            if len(names) == MAX_DEPTH:
                return
            names.append(b"" if value[form] == b"{" else None)
            places.append(0)
            continue
        if form is not None:
            kind = JsonKind.ITEM if not names or names[-1] is None else JsonKind.MEMBER
            kind = JsonKind.NULL if form == _IS_NULL else kind
            yield JsonString(kind, *value.span(form), names, places)
        at = _close(text, at, names)
        if not names:
            yield JsonString(JsonKind.END, at, at, names, places)
            return
        comma = _COMMA.match(text, at)
        if comma is None:
            return
        at = comma.end()
        del places[len(names) :]
        places[-1] += 1


def _close(text: bytes, at: int, names: list[bytes | None]) -> int:
    """Remove from `names` the containers that end at `at`; return the offset after their ends."""
    while names:
        end = (_ARRAY_END if names[-1] is None else _OBJECT_END).match(text, at)
        if end is None:
            break
        names.pop()
        at = end.end()
    return at


def unescaped(raw: bytes) -> bytes:
    return read(raw, _runs(raw)) if b"\\" in raw else raw


class _JsonPlace(NamedTuple):
    """Strings of a kind in the container at `where`, which has None for each array."""

    where: tuple[bytes | None, ...]
    kind: JsonKind
    counts: Callable[[bytes], object]


_has_authority: Final = expression(rb"[A-Za-z][A-Za-z0-9+.-]*+://")


def _is_url_like(url: bytes) -> bool:
    """WHATWG HTML "resolve a URL-like module specifier"; `node:fs` is a bare one."""
    return url.startswith((b"/", b"./", b"../")) or _has_authority.match(url) is not None


# Stands for any member name; no row needs a member with this name.
_ANY: Final = b"*"

_IMPORT_MAP: Final = (
    _JsonPlace((b"imports",), JsonKind.KEY, _is_url_like),
    _JsonPlace((b"imports",), JsonKind.MEMBER, _is_url_like),
    _JsonPlace((b"scopes",), JsonKind.KEY, lambda _: True),
    _JsonPlace((b"scopes", _ANY), JsonKind.KEY, _is_url_like),
    _JsonPlace((b"scopes", _ANY), JsonKind.MEMBER, _is_url_like),
    _JsonPlace((b"integrity",), JsonKind.KEY, _is_url_like),
)
# Any action counts: prefetch and prerender will not stay the only ones. Rule 6: an empty value is
# not a reference.
_SPECULATION_RULES: Final = (
    _JsonPlace((_ANY, None, b"urls"), JsonKind.ITEM, lambda url: url.strip(C0_AND_SPACE_BYTES)),
)


def _references(places: tuple[_JsonPlace, ...], text: bytes) -> Iterator[Span]:
    if not _is_json(text):
        return
    for string in strings(text):
        for place in places:
            if _is_at(string, place) and place.counts(unescaped(text[string.start : string.end])):
                yield Span(string.start, string.end)


# Yield the URLs of an import map, without bare specifiers, and of speculation rules.
import_map: Final = partial(_references, _IMPORT_MAP)
speculation_rules: Final = partial(_references, _SPECULATION_RULES)


def _is_json(text: bytes) -> bool:
    return any(string.kind is JsonKind.END and string.end == len(text) for string in strings(text))


def _is_at(string: JsonString, place: _JsonPlace) -> bool:
    # The last of the names is the string's own, or that of the member before it.
    if string.kind is not place.kind or len(string.names) != len(place.where) + 1:
        return False
    pairs = zip(string.names, place.where, strict=False)
    return all(name == wanted or (wanted == _ANY and name is not None) for name, wanted in pairs)


_ESCAPE: Final = expression(
    rb"""
    \\ (?: u ( [Dd][89ABab][0-9A-Fa-f]{2} ) \\u ( [Dd][C-Fc-f][0-9A-Fa-f]{2} )  # a pair
         | u ( [0-9A-Fa-f]{4} )
         | ( ["\\/bfnrt] ) )
    """,
    re.VERBOSE,
)
_SHORT: Final = bytes.maketrans(b"bfnrt", b"\b\f\n\r\t")
# `<` could begin an end tag, and `>` end a comment, for the HTML around the script; U+2028 and
# U+2029 end a line for JavaScript; surrogates have no bytes in any charset.
_UNSAFE: Final = expression(
    rb'["\\<>\x00-\x1F\x7F] | \xE2\x80[\xA8\xA9] | \xED[\xA0-\xBF][\x80-\xBF]', re.VERBOSE
)


def json_view(raw: bytes, *, in_script: bool = True) -> RunView:
    """Return the view of the inside of a JSON string.

    In a script element, new text never completes a tag that the author has begun.
    """
    if in_script:
        return RunView(raw, _runs, _spell, _tag_begun)
    return RunView(raw, _runs, _spell)


def _runs(raw: bytes) -> Iterator[Run]:
    return (Run(*escape.span(), _meaning(escape)) for escape in _ESCAPE.finditer(raw))


def json_escaped(character: str) -> bytes:
    r"""Return the escape of a character that the charset around JSON does not have."""
    units = character.encode("utf-16-be", "surrogatepass")
    return b"".join(b"\\u" + units[at : at + 2].hex().encode() for at in range(0, len(units), 2))


def _meaning(escape: re.Match[bytes]) -> bytes:
    high, low, unit, short = escape.groups()
    if short is not None:
        return short.translate(_SHORT)
    units = bytes.fromhex((unit or high + low).decode("ascii"))
    return units.decode("utf-16-be", "surrogatepass").encode("utf-8", "surrogatepass")


def _spell(text: bytes) -> bytes:
    return _UNSAFE.sub(_escaped, text)


def _escaped(unsafe: re.Match[bytes]) -> bytes:
    if unsafe[0] in (b'"', b"\\"):
        return b"\\" + unsafe[0]
    return b"\\u%04x" % ord(unsafe[0].decode("utf-8", "surrogatepass"))


def _tag_begun(raw: bytes, at: int) -> int:
    """Return the offset of a `<` whose tag (`</script` has 8 bytes) new text could complete."""
    start = raw.rfind(b"<", max(0, at - len(b"</script")), at)
    return at if start < 0 else start
