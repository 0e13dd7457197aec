"""RFC 3986 §5.2: reference resolution, strict.

Without an authority, §5.3 would let a path that begins with `//` be read as one (base `file:/a/b`,
reference `..//h/x`). §3.3 forbids that, so relbase writes a dot segment before the path, as the
WHATWG URL Standard does: `file:/.//h/x`.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from relbase.expressions import regex
from relbase.url.prefixes import Prefixes
from relbase.url.step import Step, Trace, Tracer, no_trace, not_text

# scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ), and the colon after it (§3.1)
_scheme_match: Final = regex(r"[A-Za-z][A-Za-z0-9+.-]*:").match

_components_match: Final = regex(
    r"""(?: ([A-Za-z][A-Za-z0-9+.-]*+) : )? (?: // ([^/?\#]*+) )? ([^?\#]*+)
    (?: \? ([^\#]*+) )? (?: \# (.*+) )?""",
    re.VERBOSE | re.DOTALL,
).match


class Components(NamedTuple):
    """The five components of §3; None means undefined (the path never is)."""

    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None


def split(uri: str) -> Components:
    """Parse a URI reference (Appendix B, the scheme by the grammar of §3.1)."""
    return Components(*_components_match(uri).groups())  # type: ignore[union-attr] # it always matches


def unsplit(components: Components) -> str:
    """§5.3 Component Recomposition."""
    scheme, authority, path, query, fragment = components
    pieces = [] if scheme is None else [scheme, ":"]
    if authority is not None:
        pieces += ("//", authority)
    elif path.startswith("//"):
        pieces.append("/.")
    pieces.append(path)
    if query is not None:
        pieces += ("?", query)
    if fragment is not None:
        pieces += ("#", fragment)
    return "".join(pieces)


def is_absolute(reference: str, _base: str = "") -> bool:
    """Return whether a reference has a scheme (§4.1)."""
    return _scheme_match(reference) is not None


parses_alone: Final = is_absolute


class PreparedBase(Prefixes):
    """A base URI prepared once, so that most references cost one concatenation."""

    __slots__ = ()

    prefixes = regex(r"([A-Za-z][A-Za-z0-9+.-]*+:)?(?://[^/?#]*+)?")  # Appendix B
    path = regex(r"[^?#]*+")

    def resolve(self, reference: str) -> str:  # noqa: C901 (a call for each case costs more)
        """Return the target of a reference (§5.2)."""
        try:
            # An unknown base: there is nothing to inherit from (as in RFC 1808 §4 step 1).
            if not self._base:
                return reference
            first = reference[:1]
            dots = "/." in reference
            if first == "/":
                if not dots:
                    return (self._scheme if reference[1:2] == "/" else self._root) + reference
            elif first == "#":
                return self._base.partition("#")[0] + reference
            elif first == "?":
                if not self._whole_path:
                    self._whole_path = self._base.partition("#")[0].partition("?")[0]
                return self._whole_path + reference
            elif first == ".":
                if target := self._dotted(reference):
                    return target
            elif ":" in reference and (scheme := _scheme_match(reference)):
                if not dots and not reference.startswith(".", scheme.end()):
                    return reference
            elif first and not dots:
                return (self._directory or self._make_directory()) + reference
            return self._backed(reference) or self._by_steps(reference)
        except TypeError:
            raise not_text(reference) from None

    def steps(self, reference: str) -> list[Step]:
        """Return the steps of §5.2 taken; the value of the last one is the result."""
        trace = Trace()
        if not self._base:
            trace("5.1", "there is no base: the reference stays as it is", value=reference)
            return trace.steps()
        r = split(reference)
        trace("5.2.1", "Base has {}; R has {}", split(self._base), r)
        trace("5.3", "the components are recomposed", value=unsplit(self._transform(r, trace)))
        return trace.steps()

    def _by_steps(self, reference: str) -> str:
        return unsplit(self._transform(split(reference)))

    def _transform(self, r: Components, trace: Tracer = no_trace) -> Components:
        base = self._components = self._components or split(self._base)
        if r.scheme is not None:
            trace("5.2.2", "R.scheme {} is defined: all components are R's", r.scheme)
            return r._replace(path=remove_dot_segments(r.path, trace))
        trace("5.2.2", "R.scheme is undefined: T.scheme is Base's, {}", base.scheme)
        if r.authority is not None:
            trace("5.2.2", "R.authority {} is defined: path and query are R's", r.authority)
            return r._replace(scheme=base.scheme, path=remove_dot_segments(r.path, trace))
        trace("5.2.2", "R.authority is undefined: T.authority is Base's, {}", base.authority)
        query = r.query
        if r.path == "":
            path = base.path
            trace("5.2.2", "R.path is empty: T.path is Base's", value=path)
            if query is None:
                query = base.query
                trace("5.2.2", "R.query is undefined: T.query is Base's, {}", query)
        elif r.path.startswith("/"):
            trace("5.2.2", 'R.path begins with "/": it is not merged')
            path = remove_dot_segments(r.path, trace)
        else:
            trace("5.2.2", 'R.path does not begin with "/": it is merged')
            path = self._merged(base, r.path, trace)
        return Components(base.scheme, base.authority, path, query, r.fragment)

    def _merged(self, base: Components, path: str, trace: Tracer) -> str:
        """§5.2.3 and §5.2.4: merge a path with that of the base, and remove dot segments."""
        if trace is no_trace:
            if self._without_dots is None:
                self._without_dots = remove_dot_segments(_directory_of(base))
            return remove_dot_segments(self._without_dots + path)
        merged = _directory_of(base) + path
        last = base.path.rpartition("/")[2]
        trace("5.2.3", "the last segment of Base.path, {}, is removed", last, value=merged)
        return remove_dot_segments(merged, trace)

    def _parent(self, directory: str) -> str:
        """Return the directory above a directory; that of the root is the root (2C)."""
        slash = directory.rfind("/", len(self._root), -1)
        return directory if slash < 0 else directory[: slash + 1]


def follow(base: str, references: Iterable[str]) -> str:
    """Resolve each reference against the target of the one before, as redirects are.

    The result is that of resolving one by one, but takes linear time in all: the path is kept in
    pieces, and its dot segments are removed only at the end.
    """
    target = split(base)
    path = [target.path]
    is_merged = False
    for r in map(split, references):
        is_here = r.scheme is None and r.authority is None
        if not is_merged and target == _UNKNOWN:
            target, path = r, [r.path]
        elif is_here and r.path == "":
            query = target.query if r.query is None else r.query
            target = target._replace(query=query, fragment=r.fragment)
        else:
            if not is_here or r.path.startswith("/"):
                path = []
            elif target.authority is not None and path == [""]:
                path = ["/"]
            else:
                # A path without its dot segments ends in a slash instead of one.
                last = path[-1].rpartition("/")[2]
                is_dots = is_merged and last in {".", ".."}
                path[-1] = f"{path[-1]}/" if is_dots else path[-1].removesuffix(last)
            path.append(r.path)
            scheme = target.scheme if r.scheme is None else r.scheme
            authority = target.authority if is_here else r.authority
            target = r._replace(scheme=scheme, authority=authority)
            is_merged = True
    whole = "".join(path)
    return unsplit(target._replace(path=remove_dot_segments(whole) if is_merged else whole))


_UNKNOWN: Final = Components(None, None, "", None, None)


def remove_dot_segments(path: str, trace: Tracer = no_trace) -> str:
    """§5.2.4 Remove Dot Segments."""
    start = _after_2a(path).end()  # type: ignore[union-attr] # it may be empty
    if start:
        trace("5.2.4 2A", "{} before the input is removed", path[:start])
    if path[start:] in {".", ".."}:
        trace("5.2.4 2D", "{} is removed", path[start:])
        return ""
    first, *segments = path[start:].split("/")
    output = [first] if first else []
    if first:
        trace(*_MOVES, first, value=output)
    if segments and segments[-1] in {".", ".."}:
        segments.append("")
    for segment in segments:
        if segment == "..":  # 2C
            if output:
                output.pop()
        elif segment != ".":  # 2E; otherwise 2B
            output.append("/" + segment)
        if trace is not no_trace:
            trace(*_TURNS.get(segment, _MOVES), f"/{segment}", value=output)
    return "".join(output)


_after_2a: Final = regex(r"(?:\.\.?/)*+").match
_MOVES: Final = ("5.2.4 2E", "{} moves to the output")
_TURNS: Final = {
    "..": ("5.2.4 2C", "{} is removed, and the last segment of the output"),
    ".": ("5.2.4 2B", "{} is removed"),
}


def _directory_of(base: Components) -> str:
    """Return the part of the base's path that §5.2.3 keeps."""
    if base.authority is not None and base.path == "":
        return "/"
    return base.path[: base.path.rfind("/") + 1]
