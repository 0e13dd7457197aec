"""RFC 1808: Relative Uniform Resource Locators. §2.4 parses a URL, §4 resolves one.

A component that is absent is None, one that is empty is "": the delimiter that the author wrote
stays (`g?` gives `.../g?`), while inheritance asks, as the RFC does, whether it is empty.

`resolve` first answers the references that no step changes beyond putting the base before them;
`_steps` is §4 itself and gives the same for all of them.

Departure: step 7 does not say how a net_loc and a path, params or query that begins with no slash
are recombined (base `http://a`, reference `?y`). §2.2 lets nothing but `/` follow a net_loc, so
`/` is written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# scheme = 1*( alpha | digit | "+" | "-" | "." ), and the colon after it (§2.2, §2.4.2)
_scheme_match: Final = re.compile(r"[A-Za-z0-9+.-]+:").match

# References that begin so need the steps: empty ones, queries, params, dot segments.
_NEEDS_STEPS: Final = frozenset(("", "?", ";", "."))


class Components(NamedTuple):
    """The six components of a URL (§2.1), each without its delimiter; None where it is absent.

    `path` is never None: it is "" where the URL has none, and keeps the slash before it (§2.4.6).
    """

    scheme: str | None
    net_loc: str | None
    path: str
    params: str | None
    query: str | None
    fragment: str | None


def split(url: str) -> Components:
    """Break a URL, absolute or relative, down into its components (RFC 1808 §2.4).

    Args:
        url: any string; there is none that cannot be split.

    >>> split("http://a/b;p?q#f")
    Components(scheme='http', net_loc='a', path='/b', params='p', query='q', fragment='f')
    >>> split("?")
    Components(scheme=None, net_loc=None, path='', params=None, query='', fragment=None)
    """
    # §2.4.1 the fragment identifier
    rest, fragment = _cut(url, "#")
    # §2.4.2 the scheme
    scheme: str | None = None
    if found := _scheme_match(rest):
        scheme = rest[: found.end() - 1]
        rest = rest[found.end() :]
    # §2.4.3 the network location/login
    net_loc: str | None = None
    if rest.startswith("//"):
        slash = rest.find("/", 2)
        end = len(rest) if slash < 0 else slash
        net_loc, rest = rest[2:end], rest[end:]
    # §2.4.4 the query information
    rest, query = _cut(rest, "?")
    # §2.4.5 the parameters; §2.4.6 all that is left is the path
    path, params = _cut(rest, ";")
    return Components(scheme, net_loc, path, params, query, fragment)


def unsplit(components: Components) -> str:
    """Put the components of a URL together again (RFC 1808 §2.1 and §4 step 7).

    `unsplit(split(url)) == url` for every string. Where the components were put together by the
    caller, `/` is written between a net_loc and what cannot follow it (§2.2).

    >>> unsplit(Components("http", "a", "b", None, "q", None))
    'http://a/b?q'
    """
    scheme, net_loc, path, params, query, fragment = components
    pieces = [] if scheme is None else [scheme, ":"]
    if net_loc is not None:
        pieces += ("//", net_loc)
        if path[:1] != "/" and (path or params is not None or query is not None):
            pieces.append("/")
    pieces.append(path)
    for delimiter, component in ((";", params), ("?", query), ("#", fragment)):
        if component is not None:
            pieces += (delimiter, component)
    return "".join(pieces)


def is_absolute(reference: str) -> bool:
    """Tell whether a reference starts with a scheme name (§2.4.2, §4 step 2b)."""
    return _scheme_match(reference) is not None


class PreparedBase:
    """A base URL prepared once, so that most references cost one concatenation."""

    __slots__ = ("_base", "_components", "_directory", "_root", "_scheme", "_whole")

    def __init__(self, base: str) -> None:
        self._base = base
        if not base:  # step 1 is all there is; whoever asks for a base often asks with none
            return
        self._components = split(base)
        nothing_after = self._components._replace(params=None, query=None, fragment=None)
        self._scheme = unsplit(nothing_after._replace(net_loc=None, path=""))
        self._root = unsplit(nothing_after._replace(path=""))
        self._directory = unsplit(nothing_after._replace(path=_merge(nothing_after.path, "x")))[:-1]
        self._whole = unsplit(self._components._replace(fragment=None))

    def resolve(self, reference: str) -> str:
        """Return the absolute form of a reference (§4)."""
        # Step 1
        if not self._base:
            return reference
        first = reference[:1]
        if first == "/":
            if reference[1:2] != "/":
                return self._root + reference
            if reference[2:3] not in {"", "/", "#"}:
                return self._scheme + reference
        elif first == "#":
            return self._whole + reference
        elif ":" in reference and _scheme_match(reference):
            return reference
        elif first not in _NEEDS_STEPS and "/." not in reference:
            return self._directory + reference
        return self._steps(reference)

    def _steps(self, reference: str) -> str:
        base = self._components
        # Step 2: both are parsed.
        # a) an entirely empty reference inherits the entire base
        if reference == "":
            return self._base
        _, net_loc, path, params, query, fragment = embedded = split(reference)
        # b) one that starts with a scheme name is absolute
        if embedded.scheme is not None:
            return reference
        # c) otherwise it inherits the scheme
        # Step 3: a non-empty net_loc skips to step 7, otherwise the base's is inherited
        if not net_loc:
            net_loc = base.net_loc if base.net_loc is not None else net_loc
            # Step 4: an absolute path skips to step 7
            # Step 5: an empty path inherits the path, and
            if path == "":
                path = base.path
                # a) if params are empty, the params, and
                # b) if the query is empty as well, the query
                if not params:
                    params = _inherit(base.params, params)
                    query = query or _inherit(base.query, query)
            # Step 6
            elif not path.startswith("/"):
                path = _merge(base.path, path)
        # Step 7
        return unsplit(Components(base.scheme, net_loc, path, params, query, fragment))


def resolve(base: str, reference: str) -> str:
    """Resolve one reference (RFC 1808 §4); with an empty base it is returned as it is.

    >>> resolve("http://a/b/c/d;p?q#f", "../../../g")
    'http://a/../g'
    """
    return PreparedBase(base).resolve(reference)


def _cut(text: str, delimiter: str) -> tuple[str, str | None]:
    """Split at the first delimiter: what is before, and what is after (None: no delimiter)."""
    before, found, after = text.partition(delimiter)
    return before, after if found else None


def _inherit(inherited: str | None, own: str | None) -> str | None:
    """What an empty component becomes; a lone delimiter stays where nothing is inherited."""
    return own if inherited is None else inherited


def _merge(base_path: str, path: str) -> str:
    """Step 6: the last segment of the base's path is replaced, and dot segments are removed.

    The removal is done with one stack of segments, as the note after step 7 suggests: "/../" takes
    away the nearest segment before it that is not "..", which is the leftmost match of 6c.
    """
    merged = base_path[: base_path.rfind("/") + 1] + path
    slash = "/" if merged.startswith("/") else ""
    last_at = max(merged.rfind("/") + 1, len(slash))
    last = merged[last_at:]
    kept: list[str] = []
    for segment in _segments(merged, len(slash), last_at):
        if segment == ".":  # a)
            continue
        if segment != "..":
            kept.append(segment)
        elif kept and kept[-1] != "..":  # c)
            kept.pop()
        else:
            kept.append("..")
    if last == ".":  # b)
        last = ""
    elif last == ".." and kept and kept[-1] != "..":  # d)
        kept.pop()
        last = ""
    return slash + "/".join([*kept, last])


def _segments(path: str, start: int, end: int) -> Iterator[str]:
    """The segments that a slash ends, one at a time: a hostile path has millions."""
    while (slash := path.find("/", start, end)) >= 0:
        yield path[start:slash]
        start = slash + 1
