"""RFC 1808, Relative URLs: categories of schemes (§2.3), parsing (§2.4) and resolving (§4).

If step 7 recombines components that cannot follow one another by §2.2, the RFC does not say how.
After a net_loc, relbase writes `/` before a path, params or query without one (base `http://a`,
reference `?y`: `http://a/?y`). Before a path that would be read as a net_loc, it writes an empty
one (base `file:/a/b`, reference `..//h/x`: `file:////h/x`), as ".." changes no net_loc (§5.2). By
the letter of step 6a, `.//g` resolves to `http://a/g` against `http://a`, and `./` to `http://a`.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

from relbase.expressions import regex
from relbase.url.prefixes import MORE_THAN_NAMES, Prefixes
from relbase.url.step import Step, Trace, Tracer, check_text, no_trace, not_text

# scheme = 1*( alpha | digit | "+" | "-" | "." ), and the colon after it (§2.2, §2.4.2)
_scheme_match: Final = regex(r"[A-Za-z0-9+.-]+:").match

# §2.4.1 to §2.4.6. Only `/` and the fragment end a net_loc: it may contain `?` and `;`.
_components_match: Final = regex(
    r"""(?: ([A-Za-z0-9+.-]++) : )? (?: // ([^/\#]*+) )? ([^?;\#]*+)
    (?: ; ([^?\#]*+) )? (?: \? ([^\#]*+) )? (?: \# (.*+) )?""",
    re.VERBOSE | re.DOTALL,
).match


class Components(NamedTuple):
    """The six components of a URL (§2.1), each without its delimiter; None if absent.

    `path` is never None: it is "" if the URL has none, and includes the slash before it (§2.4.6).
    """

    scheme: str | None
    net_loc: str | None
    path: str
    params: str | None
    query: str | None
    fragment: str | None


def split(url: str) -> Components:
    """Return the components of an absolute or relative URL (RFC 1808 §2.4).

    Args:
        url: Any string; every string can be split.

    >>> split("http://a/b;p?q#f")
    Components(scheme='http', net_loc='a', path='/b', params='p', query='q', fragment='f')
    >>> split("?")
    Components(scheme=None, net_loc=None, path='', params=None, query='', fragment=None)
    """
    check_text(url, "the URL")
    return Components(*_components_match(url).groups())  # type: ignore[union-attr] # it always matches


def unsplit(components: Components) -> str:
    """Return the URL with these components (RFC 1808 §2.1 and §4 step 7).

    `unsplit(split(url)) == url` for every string. For components that you made yourself, a `/` is
    added between a net_loc and a path that cannot follow it (§2.2), and an empty net_loc before a
    path that would be read as one.

    >>> unsplit(Components("http", "a", "b", None, "q", None))
    'http://a/b?q'
    """
    if not isinstance(components, Components):
        given = type(components).__name__
        raise TypeError(f"components must be Components, not {given}: give what split returns")
    try:
        scheme, net_loc, path, params, query, fragment = components
        pieces = [] if scheme is None else [scheme, ":"]
        if net_loc is not None:
            pieces += ("//", net_loc)
            if path[:1] != "/" and (path or params is not None or query is not None):
                pieces.append("/")
        elif path.startswith("//"):
            pieces.append("//")
        pieces.append(path)
        for delimiter, component in ((";", params), ("?", query), ("#", fragment)):
            if component is not None:
                pieces += (delimiter, component)
        return "".join(pieces)
    except (AttributeError, TypeError):
        fix = "give str, or None for what is absent (not the path)"
        raise TypeError(f"{components!r:.200} are not Components of strings: {fix}") from None


def is_absolute(reference: str, _base: str = "") -> bool:
    """Return whether a reference starts with a scheme name (§2.4.2, §4 step 2b)."""
    return _scheme_match(reference) is not None


parses_alone: Final = is_absolute


class PreparedBase(Prefixes):
    """A base URL prepared once, so that most references cost one concatenation."""

    __slots__ = ()

    # Neither contains a crosshatch, and the path no delimiter of what follows it (§2.4).
    prefixes = regex(r"([A-Za-z0-9+.-]++:)?(?://[^/#]*+)?")
    path = regex(r"[^#?;]*+")

    def resolve(self, reference: str) -> str:  # noqa: C901, PLR0912 (calls cost more)
        """Return the absolute form of a reference (§4)."""
        try:
            # Steps 1 and 2a
            if not self._base or reference == "":
                return self._base or reference
            first = reference[:1]
            if first == "/":
                if reference[1:2] != "/":
                    return self._root + reference
                if reference[2:3] not in {"", "/", "#"}:
                    return self._scheme + reference
            elif first == ".":
                if resolved := self._dotted(reference):
                    return resolved
            elif ":" in reference and _scheme_match(reference):
                return reference
            elif first not in MORE_THAN_NAMES and "/." not in reference:
                return (self._directory or self._make_directory()) + reference
            elif first == "#":
                return self._base.partition("#")[0] + reference
            elif first == "?":
                # Step 7 has more to do if the base has no path.
                if not self._whole_path and self._base.startswith("/", len(self._root)):
                    self._whole_path = self._base.partition("#")[0].partition("?")[0]
                if self._whole_path and reference[1:2] not in {"", "#"}:
                    return self._whole_path + reference
            return self._backed(reference) or self._by_steps(reference)
        except TypeError:
            raise not_text(reference) from None

    def steps(self, reference: str) -> list[Step]:
        """Return the steps taken; the value of the last one is the result."""
        trace = Trace()
        if not self._base:
            trace("1", "the base is unknown: the reference counts as absolute", value=reference)
            return trace.steps()
        trace("1", "the base is established (section 3)", value=self._base)
        self._by_steps(reference, trace)
        return trace.steps()

    def _by_steps(self, reference: str, trace: Tracer = no_trace) -> str:
        base = self._components = self._components or split(self._base)
        scheme, net_loc, path, params, query, fragment = embedded = split(reference)
        trace("2", "the base has {}; the reference has {}", base, embedded)
        if reference == "":
            trace("2a", "the reference is empty: it inherits the entire base", value=self._base)
            return self._base
        if scheme is not None:
            trace(
                "2b", "it starts with the scheme name {}: it is absolute", scheme, value=reference
            )
            return reference
        trace("2c", "it starts with no scheme name: it inherits the scheme {}", base.scheme)
        if net_loc:
            trace("3", "its net_loc {} is not empty: skip to step 7", net_loc)
        else:
            trace("3", "its net_loc is empty: it inherits {}", base.net_loc)
            net_loc = _inherit(base.net_loc, net_loc)
            if path == "":
                path = base.path
                params, query = _inherited(base, params, query, trace)
            elif path.startswith("/"):
                trace("4", "its path is preceded by a slash: skip to step 7")
            else:
                path = self._merged(base.path, path, trace)
        url = unsplit(Components(base.scheme, net_loc, path, params, query, fragment))
        trace("7", "the components are recombined", value=url)
        return url

    def _merged(self, base_path: str, path: str, trace: Tracer) -> str:
        """Step 6. The slash before a path is not part of it (§2.4.6), so it is set aside."""
        slash = "/" if base_path.startswith("/") else ""
        after_last = base_path.rfind("/") + 1
        if trace is no_trace:
            if self._without_dots is None:
                self._without_dots = _without_dots(base_path[len(slash) : after_last])
            return slash + _without_dots(self._without_dots + path)
        merged = base_path[:after_last] + path
        last = base_path[after_last:]
        trace("6", "the last segment of the base's path, {}, is removed", last, value=merged)
        return slash + _without_dots(merged[len(slash) :], trace, slash)

    def _parent(self, directory: str) -> str:
        """Return the directory above; a ".." that finds nothing to remove stays (6c)."""
        slash = directory.rfind("/", len(self._root), -1)
        if slash < 0 or directory[slash + 1 : -1] == "..":
            return f"{directory}../"
        return directory[: slash + 1]


def _inherit(inherited: str | None, own: str | None) -> str | None:
    """Return what an empty component inherits; a lone delimiter stays if that is nothing."""
    return own if inherited is None else inherited


def _inherited(
    base: Components, params: str | None, query: str | None, trace: Tracer
) -> tuple[str | None, str | None]:
    """Step 5: the params and the query of a reference whose path is empty."""
    trace("5", "its path is empty: it inherits the base's", value=base.path)
    if params:
        trace("5a", "its params {} are not empty: skip to step 7", params)
        return params, query
    trace("5a", "its params are empty: it inherits {}", base.params)
    params = _inherit(base.params, params)
    if query:
        trace("5b", "its query {} is not empty: skip to step 7", query)
        return params, query
    trace("5b", "its query is empty: it inherits {}; skip to step 7", base.query)
    return params, _inherit(base.query, query)


# "./", where "." is a complete path segment.
_dots_sub: Final = regex(r"(?<![^/])\./").sub


def _without_dots(path: str, trace: Tracer = no_trace, slash: str = "") -> str:
    """Steps 6a to 6d, with one stack of segments, as the note after step 7 suggests.

    "/../" removes the nearest segment before it that is not "..", which is the leftmost match of
    6c.
    """
    if "./" in path:
        path = _dots_sub("", path)
    trace("6a", 'no "./" is left', value=(slash, path))
    if path == "." or path.endswith("/."):
        path = path[:-1]
    trace("6b", 'no "." is left at the end', value=(slash, path))
    kept: list[str] = []
    # One at a time: a hostile path has millions. No slash ends the last one, so the search would
    # start again at each of its characters.
    for ended in _segments(path, 0, path.rfind("/") + 1):
        segment = ended[1]
        if segment != "..":
            kept.append(segment)
        elif kept and kept[-1] != "..":
            trace("6c", "{} is removed", f"{kept.pop()}/../")
        else:
            kept.append("..")  # one string for all of them: a hostile path has millions
    last = path[path.rfind("/") + 1 :]
    if last == ".." and kept and kept[-1] != "..":
        last = ""
        trace("6d", "{} is removed", f"{kept.pop()}/..")
    merged = "/".join([*kept, last])
    trace("6d", 'no "<segment>/.." is left at the end', value=(slash, merged))
    return merged


_segments: Final = regex(r"([^/]*+)/").finditer


# ---- §2.3: the schemes that relative URLs can be used with; later ones by their syntax


class Category(Enum):
    """Whether relative URLs can be used with a scheme (RFC 1808 §2.3)."""

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

# Schemes whose URLs name nothing without a network location (RFC 1738 §3.2, §3.3; RFC 9110 §4.2).
NET_LOC_REQUIRED: Final = frozenset(("http", "https", "ftp"))

_CATEGORIES: Final = {
    **dict.fromkeys(NEVER, Category.NEVER),
    **dict.fromkeys(SOMETIMES, Category.SOMETIMES),
    **dict.fromkeys(ALWAYS, Category.ALWAYS),
}


def category(scheme: str) -> Category:
    """Return the category of a scheme, given in any case and without its colon.

    An unknown scheme counts as one that follows the generic-RL syntax only sometimes: §2.3
    recommends the syntax for new schemes, but cannot promise it.
    """
    # A scheme is ASCII; other letters, such as the Kelvin sign, can have ASCII lower-case forms.
    known = scheme.lower() if scheme.isascii() else scheme
    return _CATEGORIES.get(known, Category.SOMETIMES)
