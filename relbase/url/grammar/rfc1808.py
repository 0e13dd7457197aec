"""RFC 1808 §2.2, production by production: what a relative URL and a fragment are.

Strategy: §2.4 says where a URL is cut, and the productions below say what may stand in each
component. What comes in is a text without its fragment; what goes out is a `Cut`.

Mind two consequences of the grammar. Only the first segment of a path must not be empty, so
`//h//x` is not a URL, while `//h/x//y` is one. And a net_loc takes `?` and `;`: `//h?q` has no
query.
"""

# ruff: noqa: ERA001 - the grammar stands above what implements it
from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Final

from relbase.url.grammar.characters import (
    RESERVED,
    RFC_1808,
    UNRESERVED,
    Component,
    Cut,
    expected,
    of_characters,
)

if TYPE_CHECKING:
    from relbase.url.grammar.characters import Violation

# URL         = ( absoluteURL | relativeURL ) [ "#" fragment ]
# absoluteURL = generic-RL | ( scheme ":" *( uchar | reserved ) )
# generic-RL  = scheme ":" relativeURL
#
# The second alternative of absoluteURL takes whatever the first takes. Which URLs of a scheme there
# are is said by `rfc1738`, scheme by scheme: `http:g` is a generic-RL, and no httpurl.
_check_absolute: Final = of_characters("absoluteURL", UNRESERVED + RESERVED, section=RFC_1808)

# scheme      = 1*( alpha | digit | "+" | "-" | "." )
scheme_match: Final = re.compile(r"[A-Za-z0-9+.-]++(?=:)").match

# uchar       = unreserved | escape
# pchar       = uchar | ":" | "@" | "&" | "="
_PCHAR: Final = UNRESERVED + ":@&="

# path        = fsegment *( "/" segment )
# fsegment    = 1*pchar
# segment     =  *pchar
_check_path: Final = of_characters("segment", _PCHAR + "/", section=RFC_1808)

# params      = param *( ";" param )
# param       = *( pchar | "/" )
_check_params: Final = of_characters("param", _PCHAR + "/;", section=RFC_1808)

# net_loc     =  *( pchar | ";" | "?" )
_check_net_loc: Final = of_characters("net_loc", _PCHAR + ";?", section=RFC_1808)

# query       =  *( uchar | reserved )
_check_query: Final = of_characters("query", UNRESERVED + RESERVED, section=RFC_1808)

# fragment    =  *( uchar | reserved )
check_fragment: Final = of_characters("fragment", UNRESERVED + RESERVED, section=RFC_1808)


def url(text: str, start: int, end: int) -> Cut:
    """Cut a URL by this grammar alone, without its fragment."""
    scheme = scheme_match(text, start, end)
    if scheme is None:
        return relative_url(text, start, end)
    after = scheme.end() + 1
    cut = relative_url(text, after, end)
    searched = chain.from_iterable(part.check(text, *part[1:3]) for part in cut.parts)
    if next(chain(cut.faults, searched), None) is None:
        return cut._replace(production="generic-RL")
    return Cut("absoluteURL", [Component("schemepart", after, end, _check_absolute)], [])


def relative_url(text: str, start: int, end: int) -> Cut:
    """Cut a relativeURL, given as the bounds of it in the text, without its fragment."""
    # relativeURL = net_path | abs_path | rel_path
    if text.startswith("//", start, end):
        return _net_path(text, start, end)
    # abs_path    = "/"  rel_path
    if text.startswith("/", start, end):
        return Cut("abs_path", _rel_path(text, start + 1, end, slash=True), [])
    return Cut("rel_path", _rel_path(text, start, end, slash=False), [])


def _net_path(text: str, start: int, end: int) -> Cut:
    # net_path    = "//" net_loc [ abs_path ]
    slash = text.find("/", start + 2, end)
    stop = end if slash < 0 else slash
    parts = [Component("net_loc", start + 2, stop, _check_net_loc)]
    faults: list[Violation] = []
    if slash >= 0:
        parts += _rel_path(text, slash + 1, end, slash=True)
        if text.startswith("/", slash + 1, end):
            faults.append(expected(text, slash + 1, "fsegment", "a pchar", section=RFC_1808))
    return Cut("net_path", parts, faults)


def _rel_path(text: str, start: int, end: int, *, slash: bool) -> list[Component]:
    # rel_path    = [ path ] [ ";" params ] [ "?" query ]
    question = text.find("?", start, end)
    before_query = end if question < 0 else question
    semicolon = text.find(";", start, before_query)
    before_params = before_query if semicolon < 0 else semicolon
    parts: list[Component] = []
    if slash or before_params > start:
        parts.append(Component("path", start, before_params, _check_path))
    if semicolon >= 0:
        parts.append(Component("params", semicolon + 1, before_query, _check_params))
    if question >= 0:
        parts.append(Component("query", question + 1, end, _check_query))
    return parts
