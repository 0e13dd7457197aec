"""RFC 3986 §5.2: reference resolution, strict.

§5.2.2's pseudo-code branch for branch. None is an undefined component, "" an empty one, as in §5.3.
`resolve` first answers the references that need no more than the base put before them; `_transform`
gives the same for all of them.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

# scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ), and the colon after it (§3.1)
_scheme_match: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:").match

_NEEDS_TRANSFORM: Final = frozenset(("", "?", "."))


class Components(NamedTuple):
    """The five components of §3; None where one is undefined (the path never is)."""

    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None


def split(uri: str) -> Components:
    """Parse a URI reference (Appendix B, the scheme by the grammar of §3.1)."""
    rest, hash_, fragment = uri.partition("#")
    rest, mark, query = rest.partition("?")
    scheme: str | None = None
    if found := _scheme_match(rest):
        scheme = rest[: found.end() - 1]
        rest = rest[found.end() :]
    authority: str | None = None
    if rest.startswith("//"):
        slash = rest.find("/", 2)
        end = len(rest) if slash < 0 else slash
        authority, rest = rest[2:end], rest[end:]
    return Components(scheme, authority, rest, query if mark else None, fragment if hash_ else None)


def unsplit(components: Components) -> str:
    """§5.3 Component Recomposition."""
    scheme, authority, path, query, fragment = components
    pieces = [] if scheme is None else [scheme, ":"]
    if authority is not None:
        pieces += ("//", authority)
    pieces.append(path)
    if query is not None:
        pieces += ("?", query)
    if fragment is not None:
        pieces += ("#", fragment)
    return "".join(pieces)


def is_absolute(reference: str) -> bool:
    """Tell whether a reference has a scheme (§4.1)."""
    return _scheme_match(reference) is not None


class PreparedBase:
    """A base URI prepared once, so that most references cost one concatenation."""

    __slots__ = ("_base", "_components", "_directory", "_root", "_scheme", "_whole")

    def __init__(self, base: str) -> None:
        self._base = base
        self._components = base_ = split(base)
        up_to_path = base_._replace(query=None, fragment=None)
        self._scheme = unsplit(up_to_path._replace(authority=None, path=""))
        self._root = unsplit(up_to_path._replace(path=""))
        inside = remove_dot_segments(_merge(base_, "x"))
        self._directory = unsplit(up_to_path._replace(path=inside))[:-1]
        self._whole = unsplit(base_._replace(fragment=None))

    def resolve(self, reference: str) -> str:
        """Return the target of a reference (§5.2)."""
        # An unknown base: nothing to inherit from, as RFC 1808 §4 step 1 has it.
        if not self._base:
            return reference
        first = reference[:1]
        dots = "/." in reference
        if first == "/":
            if not dots:
                return (self._scheme if reference[1:2] == "/" else self._root) + reference
        elif first == "#":
            return self._whole + reference
        elif ":" in reference and (scheme := _scheme_match(reference)):
            if not dots and not reference.startswith(".", scheme.end()):
                return reference
        elif not dots and first not in _NEEDS_TRANSFORM:
            return self._directory + reference
        return unsplit(self._transform(split(reference)))

    def _transform(self, r: Components) -> Components:
        """§5.2.2 Transform References."""
        base = self._components
        if r.scheme is not None:
            return r._replace(path=remove_dot_segments(r.path))
        if r.authority is not None:
            return r._replace(scheme=base.scheme, path=remove_dot_segments(r.path))
        query = r.query
        if r.path == "":
            path = base.path
            if query is None:
                query = base.query
        elif r.path.startswith("/"):
            path = remove_dot_segments(r.path)
        else:
            path = remove_dot_segments(_merge(base, r.path))
        return Components(base.scheme, base.authority, path, query, r.fragment)


def resolve(base: str, reference: str) -> str:
    """Resolve one reference (RFC 3986 §5.2, strict); with an empty base it is returned as it is.

    >>> resolve("http://a/b/c/d;p?q", "../../../g")
    'http://a/g'
    """
    return PreparedBase(base).resolve(reference)


def remove_dot_segments(path: str) -> str:
    """§5.2.4 Remove Dot Segments, with a list of segments for the output buffer.

    >>> remove_dot_segments("/a/b/c/./../../g")
    '/a/g'
    """
    # 2A and 2D look at the beginning of the input alone: afterwards it begins with a slash.
    start = 0
    while True:
        if path.startswith("../", start):
            start += 3
        elif path.startswith("./", start):
            start += 2
        else:
            break
    first, *segments = path[start:].split("/")
    if first in {".", ".."} and not segments:
        return ""
    output = [first] if first else []
    for index, segment in enumerate(segments):
        if segment == "..":  # 2C
            if output:
                output.pop()
        elif segment != ".":  # 2E; otherwise 2B
            output.append("/" + segment)
            continue
        if index == len(segments) - 1:
            output.append("/")
    return "".join(output)


def _merge(base: Components, path: str) -> str:
    """§5.2.3 Merge Paths."""
    if base.authority is not None and base.path == "":
        return "/" + path
    return base.path[: base.path.rfind("/") + 1] + path
