"""Recommended practice: what is a URL by the grammar, and still not what should be written.

What depends on a base that is not known is said conditionally, or not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.url import schemes
from relbase.url.grammar.characters import Severity, finding
from relbase.url.rfc1808 import split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.url.grammar.characters import Violation
    from relbase.url.rfc1808 import Components

_KNOWN: Final = schemes.NEVER | schemes.SOMETIMES | schemes.ALWAYS

# Those with "//" in RFC 1738 §5 whose URLs can be bases (§2.3), and https (RFC 2818 §2.4).
_WITH_NET_LOC: Final = frozenset(
    ("file", "ftp", "http", "https", "nntp", "gopher", "prospero", "wais")
)


class _Judged(NamedTuple):
    """A reference to judge: its text, its components, and those of the base (None: unknown)."""

    text: str
    parts: Components
    base: Components | None


def remarks(reference: str, base: str | None = None) -> Iterator[Violation]:
    """Remark on a reference against recommended practice."""
    judged = _Judged(reference, split(reference), None if base is None else split(base))
    for practice in (_colon, _same_scheme, _type_d, _above_root):
        yield from practice(judged)


def base_remarks(base: str) -> Iterator[Violation]:
    """Remark on a URL that is to serve as a base: whether relative URLs can be used with it."""
    judged = _Judged(base, split(base), None)
    # `_same_scheme` is of references: a base keeps its scheme.
    for practice in (_colon, _type_d, _above_root):
        yield from practice(judged)
    scheme, net_loc, path, *_ = judged.parts
    if scheme is None:
        yield _practice(base, (0, 0), ("generic-RL", "RFC 1808 §2.2"), "a base has a scheme")
    elif schemes.category(scheme) is schemes.Category.NEVER:
        message = f'"{_short(scheme)}" is never used with relative URLs'
        yield _practice(base, (0, len(scheme)), ("generic-RL", "RFC 1808 §2.3"), message)
    elif net_loc is None and not path.startswith("/"):
        message = "relative URLs need a base with a net_loc, or a path that begins with a slash"
        yield _practice(
            base, (len(scheme) + 1, len(base)), ("generic-RL", "RFC 1808 §2.3"), message
        )
    elif net_loc is not None and not path:
        at = len(scheme) + len("://") + len(net_loc)
        message = "a base without a path leaves nothing to put a relative path in the place of"
        yield _practice(base, (at, at), ("abs_path", "RFC 1808 §4"), message, "/")


def _colon(judged: _Judged) -> Iterator[Violation]:
    """§5.3: a path name with a colon is mistaken for a scheme name as the first component."""
    scheme, net_loc, path, *_ = judged.parts
    if net_loc is not None or path.startswith("/"):
        return
    if scheme is None:
        segment = path.partition("/")[0]
        if ":" not in segment:
            return
        message = "a colon in the first segment is likely mistaken for the end of a scheme name"
    elif scheme.lower() in _KNOWN:
        return
    else:
        segment = f"{scheme}:" + path.partition("/")[0]
        message = (
            f'"{_short(scheme)}" reads as a scheme, and no known one: if a relative path is meant,'
            ' precede it by "./", or escape the colon'
        )
    end = segment.rfind(":") + 1
    # The preferred remedy first: "it does not affect the absolute form of the URL".
    remedies = "./" + segment[:end], segment[:end].replace(":", "%3A")
    yield _practice(judged.text, (0, end), ("fsegment", "RFC 1808 §5.3"), message, *remedies)


def _same_scheme(judged: _Judged) -> Iterator[Violation]:
    """§5.2: `http:g`, a loophole of prior specifications."""
    scheme, net_loc, path, *_ = judged.parts
    if scheme is None or net_loc is not None:
        return
    name = scheme.lower()
    if judged.base is None:
        if name not in _WITH_NET_LOC:
            return
        message = f'not needed where the base is of scheme "{name}" too'
    elif (judged.base.scheme or "").lower() != name or judged.base.net_loc is None:
        return
    else:
        message = "the scheme of the base does not make this relative: leave it out"
    # Without its scheme the path could show one again.
    replacement = "./" if ":" in path.partition("/")[0] else ""
    end = len(scheme) + 1
    yield _practice(judged.text, (0, end), ("absoluteURL", "RFC 1808 §5.2"), message, replacement)


def _type_d(judged: _Judged) -> Iterator[Violation]:
    """§5.3: `;type=d` has no place where relative URLs are used; a trailing slash has."""
    _, _, path, params, query, fragment = judged.parts
    scheme = judged.parts.scheme or (judged.base.scheme if judged.base else None)
    if scheme is None or scheme.lower() != "ftp" or (params or "").lower() != "type=d":
        return
    after = sum(len(part) + 1 for part in (query, fragment) if part is not None)
    end = len(judged.text) - after
    message = "a directory is better shown by a trailing slash, which relative URLs need"
    remedy = None if path == "" else "" if path.endswith("/") else "/"
    if path == "":
        message = f"{message}: write the name of the directory, or leave the reference empty"
    start = end - len(";type=d")
    remedies = () if remedy is None else (remedy,)
    yield _practice(judged.text, (start, end), ("params", "RFC 1808 §5.3"), message, *remedies)


def _above_root(judged: _Judged) -> Iterator[Violation]:
    """§5.2: more ".." segments than there are levels above them."""
    scheme, net_loc, path, *_ = judged.parts
    levels = 0
    if scheme is not None and net_loc is None and not path.startswith("/"):
        return
    if net_loc is None and not path.startswith("/"):
        if judged.base is None:
            return
        levels = _levels(judged.base.path)
    at = 0 if scheme is None else len(scheme) + 1
    at += 0 if net_loc is None else len(net_loc) + 2
    excess = _excess(path, levels)
    if excess is None:
        return
    start, end = at + excess[0], at + excess[1]
    message = 'more ".." than levels: RFC 1808 keeps it, RFC 3986 and browsers drop it'
    remedies = _remedies_above_root(judged, start, end)
    yield _practice(judged.text, (start, end), ("segment", "RFC 1808 §5.2"), message, *remedies)


def _remedies_above_root(judged: _Judged, start: int, end: int) -> tuple[str, ...]:
    """What to write instead of the ".." segments so that what is left is read as the same path."""
    for remedy in ("", "./"):
        parts = split(judged.text[:start] + remedy + judged.text[end:])
        same = parts.scheme == judged.parts.scheme and parts.net_loc == judged.parts.net_loc
        is_absolute = judged.parts.path.startswith("/")
        if same and parts.path and parts.path.startswith("/") == is_absolute:
            return (remedy,)
        if is_absolute:  # a dot segment in an absolute path is kept too (RFC 1808 §4 step 4)
            return ()
    return ()


def _levels(path: str) -> int:
    """How many segments a relative path can take away from the path of its base."""
    levels = 0
    for segment in path.removeprefix("/").split("/")[:-1]:
        levels = _level_after(segment, levels)
    return max(levels, 0)


def _level_after(segment: str, level: int) -> int:
    """The level below the root after a segment; -1: it is a ".." too many."""
    if segment == "..":
        return level - 1
    return level if segment == "." else max(level, 0) + 1


def _excess(path: str, level: int) -> tuple[int, int] | None:
    """Bounds of the first run of ".." segments above the root, slashes after them included."""
    if ".." not in path:
        return None
    start: int | None = None
    at = 1 if path.startswith("/") else 0
    for segment in path[at:].split("/"):
        level = _level_after(segment, max(level, 0))
        if level < 0 and start is None:
            start = at
        if level >= 0 and start is not None:
            return start, at
        at += len(segment) + 1
    return None if start is None else (start, len(path))


def _short(name: str) -> str:
    """Enough of a scheme name, which is ASCII but may be long, to know it by."""
    limit = 40
    return name if len(name) <= limit else name[:limit] + "..."


def _practice(
    text: str, place: tuple[int, int], rule: tuple[str, str], message: str, *remedies: str
) -> Violation:
    """A finding: where it is, its production and section, and at most two remedies."""
    production, section = rule
    found = finding(text, *place, production, message, *remedies, section=section)
    return found._replace(kind=Severity.PRACTICE)
