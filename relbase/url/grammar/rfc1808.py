"""RFC 1808 §2.2, production by production: what a relative URL and a fragment are.

Only the first segment of a path must not be empty: `//h//x` is not a URL, while `//h/x//y` is one.
A net_loc takes `?` and `;`: `//h?q` has no query.
"""

# ruff: noqa: ERA001 - the grammar stands above what implements it
from __future__ import annotations

import re
from typing import Final

from relbase.expressions import expression
from relbase.url.grammar.characters import (
    RFC_1808,
    Component,
    Cut,
    components,
    cut_by,
    missing,
    searched,
)

# URL         = ( absoluteURL | relativeURL ) [ "#" fragment ]
# absoluteURL = generic-RL | ( scheme ":" *( uchar | reserved ) )
# generic-RL  = scheme ":" relativeURL
#
# The second alternative of absoluteURL takes whatever the first takes. Which URLs of a scheme there
# are is said by `rfc1738`, scheme by scheme: `http:g` is a generic-RL, and no httpurl.

# scheme      = 1*( alpha | digit | "+" | "-" | "." )
scheme_match: Final = re.compile(r"[A-Za-z0-9+.-]++(?=:)").match

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
# An fsegment is not empty: the path after a net_loc that begins with a slash.
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
    """Cut a relativeURL, given as the bounds of it in the text, without its fragment."""
    if text.startswith("//", start, end):
        return Cut("net_path", cut_by(_net_path, _GROUPS, text, start, end))
    if text.startswith("/", start, end):
        return Cut("abs_path", cut_by(_abs_path, _GROUPS, text, start, end))
    return Cut("rel_path", cut_by(_rel_path, _GROUPS, text, start, end))
