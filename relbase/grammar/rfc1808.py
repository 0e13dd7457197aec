"""RFC 1808 §2.2, production by production: relative URLs and fragments; recommended practice.

Only the first segment of a path must not be empty: `//h//x` is not a URL, while `//h/x//y` is one.
A net_loc may contain `?` and `;`: `//h?q` has no query.
"""

# ruff: noqa: ERA001 - the grammar stands above what implements it

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from relbase.expressions import expression, regex
from relbase.grammar.characters import (
    RFC_1808,
    Component,
    Cut,
    Severity,
    Violation,
    components,
    cut_by,
    finding,
    missing,
    searched,
)
from relbase.url.rfc1808 import ALWAYS, NEVER, SOMETIMES, Category, Components, category, split

# URL         = ( absoluteURL | relativeURL ) [ "#" fragment ]
# absoluteURL = generic-RL | ( scheme ":" *( uchar | reserved ) )
# generic-RL  = scheme ":" relativeURL
#
# The second alternative of absoluteURL accepts whatever the first accepts. `rfc1738` decides for
# each scheme which URLs it has: `http:g` is a generic-RL, but not an httpurl.

# scheme      = 1*( alpha | digit | "+" | "-" | "." )
scheme_match: Final = regex(r"[A-Za-z0-9+.-]++(?=:)").match

_CHECKS: Final = components(
    """
    absoluteURL = *( uchar | reserved )
    pchar       = uchar | ":" | "@" | "&" | "="
    fsegment    = 1*pchar
    segment     =  *pchar
    path        = fsegment *( "/" segment )
    param       = *( pchar | "/" )
    params      = param *( ";" param )
    net_loc     =  *( pchar | ";" | "?" )
    query       =  *( uchar | reserved )
    fragment    =  *( uchar | reserved )
    """,
    RFC_1808,
)
check_fragment: Final = _CHECKS["fragment"]


_GROUPS: Final = {name: (name, check) for name, check in _CHECKS.items()}
# An fsegment is not empty, so the path after a net_loc cannot begin with a slash.
_GROUPS["no_fsegment"] = ("", missing("fsegment", "a pchar", RFC_1808))

# relativeURL = net_path | abs_path | rel_path
# net_path    = "//" net_loc [ abs_path ]
# abs_path    = "/"  rel_path
# rel_path    = [ path ] [ ";" params ] [ "?" query ]
_AFTER_PATH: Final = r"(?:;(?P<params>[^?]*+))?+(?:\?(?P<query>.*+))?+"
_REL_PATH: Final = rf"(?P<path>[^;?]*+){_AFTER_PATH}"
_net_path: Final = expression(
    rf"//(?P<net_loc>[^/]*+)(?:/(?P<no_fsegment>(?=/))?+{_REL_PATH})?+", re.DOTALL
)
_abs_path: Final = expression(rf"/{_REL_PATH}", re.DOTALL)
_rel_path: Final = expression(rf"(?P<path>[^;?]++)?+{_AFTER_PATH}", re.DOTALL)


def url(text: str, start: int, end: int) -> Cut:
    """Cut a URL by this grammar alone, without its fragment."""
    scheme = scheme_match(text, start, end)
    if scheme is None:
        return relative_url(text, start, end)
    after = scheme.end() + 1
    parts = relative_url(text, after, end).parts
    if next(searched(text, parts), None) is None:
        return Cut("generic-RL", parts)
    return Cut("absoluteURL", [Component("schemepart", after, end, _CHECKS["absoluteURL"])])


def relative_url(text: str, start: int, end: int) -> Cut:
    """Cut the relativeURL between two offsets of the text, without its fragment."""
    if text.startswith("//", start, end):
        return Cut("net_path", cut_by(_net_path, _GROUPS, text, start, end))
    if text.startswith("/", start, end):
        return Cut("abs_path", cut_by(_abs_path, _GROUPS, text, start, end))
    return Cut("rel_path", cut_by(_rel_path, _GROUPS, text, start, end))


# ---- Recommended practice: URLs that the grammar accepts, but that should not be written. If the
# base is unknown, remarks that depend on it are conditional, or left out.

_practice: Final = partial(finding, kind=Severity.PRACTICE)

_KNOWN: Final = NEVER | SOMETIMES | ALWAYS

# Schemes with "//" in RFC 1738 §5 whose URLs can be bases (§2.3), and https (RFC 2818 §2.4).
_WITH_NET_LOC: Final = frozenset(
    ("file", "ftp", "http", "https", "nntp", "gopher", "prospero", "wais")
)


def remarks(reference: str, base: str | None = None) -> Iterator[Violation]:
    """Remark on a reference against recommended practice."""
    parts, around = split(reference), None if base is None else split(base)
    yield from _colon(reference, parts)
    yield from _same_scheme(reference, parts, around)
    yield from _type_d(reference, parts, around)
    yield from _above_root(reference, parts, around)


def base_remarks(base: str) -> Iterator[Violation]:
    """Remark on a URL as a base: whether relative URLs can be used with it."""
    parts = split(base)
    # No `_same_scheme`: a base needs its scheme.
    yield from _colon(base, parts)
    yield from _type_d(base, parts, None)
    yield from _above_root(base, parts, None)
    scheme, net_loc, path, *_ = parts
    if scheme is None:
        yield _practice(base, 0, 0, "generic-RL", "a base has a scheme", section="RFC 1808 §2.2")
    elif category(scheme) is Category.NEVER:
        message = f'"{_short(scheme)}" is never used with relative URLs'
        yield _practice(base, 0, len(scheme), "generic-RL", message, section="RFC 1808 §2.3")
    elif net_loc is None and not path.startswith("/"):
        message = "relative URLs need a base with a net_loc, or a path that begins with a slash"
        at = len(scheme) + 1
        yield _practice(base, at, len(base), "generic-RL", message, section="RFC 1808 §2.3")
    elif net_loc is not None and not path:
        at = len(scheme) + len("://") + len(net_loc)
        message = "a base without a path has no last segment for a relative path to replace"
        yield _practice(base, at, at, "abs_path", message, "/", section="RFC 1808 §4")


def _colon(text: str, parts: Components) -> Iterator[Violation]:
    """§5.3: a first path segment with a colon is mistaken for a scheme name."""
    scheme, net_loc, path, *_ = parts
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
    yield _practice(text, 0, end, "fsegment", message, *remedies, section="RFC 1808 §5.3")


def _same_scheme(text: str, parts: Components, base: Components | None) -> Iterator[Violation]:
    """§5.2: `http:g`, a loophole of prior specifications."""
    scheme, net_loc, path, *_ = parts
    if scheme is None or net_loc is not None:
        return
    name = scheme.lower()
    if base is None:
        if name not in _WITH_NET_LOC:
            return
        message = f'not needed if the base has the scheme "{name}" too'
    elif (base.scheme or "").lower() != name or base.net_loc is None:
        return
    else:
        message = "the scheme of the base does not make this relative: leave it out"
    # Without this scheme, the path could begin like a scheme again.
    replacement = "./" if ":" in path.partition("/")[0] else ""
    end = len(scheme) + 1
    yield _practice(text, 0, end, "absoluteURL", message, replacement, section="RFC 1808 §5.2")


def _type_d(text: str, parts: Components, base: Components | None) -> Iterator[Violation]:
    """§5.3: where relative URLs are used, a trailing slash should replace `;type=d`."""
    _, _, path, params, query, fragment = parts
    scheme = parts.scheme or (base.scheme if base else None)
    if scheme is None or scheme.lower() != "ftp" or (params or "").lower() != "type=d":
        return
    after = sum(len(part) + 1 for part in (query, fragment) if part is not None)
    end = len(text) - after
    message = "a directory is better written with a trailing slash, which relative URLs need"
    remedies = ["" if path.endswith("/") else "/"]
    if path == "":
        message = f"{message}: write the name of the directory, or leave the reference empty"
        remedies = []
    start = end - len(";type=d")
    yield _practice(text, start, end, "params", message, *remedies, section="RFC 1808 §5.3")


def _above_root(text: str, parts: Components, base: Components | None) -> Iterator[Violation]:
    """§5.2: more ".." segments than there are levels above them."""
    scheme, net_loc, path, *_ = parts
    levels = 0
    if scheme is not None and net_loc is None and not path.startswith("/"):
        return
    if net_loc is None and not path.startswith("/"):
        if base is None:
            return
        # The last segment of the base is replaced.
        *_, (_, levels) = [(0, 0), *_levels(base.path)][:-1]
    at = 0 if scheme is None else len(scheme) + 1
    at += 0 if net_loc is None else len(net_loc) + 2
    walked = list(_levels(path, levels)) if ".." in path else []
    first = next((place for place, level in walked if level < 0), None)
    if first is None:
        return
    last = next((place for place, level in walked if place > first and level >= 0), len(path))
    start, end = at + first, at + last
    message = 'more ".." than levels: RFC 1808 keeps it, RFC 3986 and browsers drop it'
    remedies: list[str] = []
    is_absolute = path.startswith("/")
    # The rest must still be read as a path. In an absolute one, dot segments are kept as well (§4
    # step 4).
    for remedy in ("",) if is_absolute else ("", "./"):
        left = split(text[:start] + remedy + text[end:])
        if left[:2] == parts[:2] and left.path and left.path.startswith("/") == is_absolute:
            remedies = [remedy]
            break
    yield _practice(text, start, end, "segment", message, *remedies, section="RFC 1808 §5.2")


def _levels(path: str, level: int = 0) -> Iterator[tuple[int, int]]:
    """Yield where each segment begins, and its level below the root; -1 for a ".." too many."""
    at = 1 if path.startswith("/") else 0
    for segment in path[at:].split("/"):
        level = max(level, 0)
        if segment != ".":
            level += -1 if segment == ".." else 1
        yield at, level
        at += len(segment) + 1


def _short(name: str) -> str:
    """Shorten a scheme name, which is ASCII but may be long, for a message."""
    limit = 40
    return name if len(name) <= limit else name[:limit] + "..."
