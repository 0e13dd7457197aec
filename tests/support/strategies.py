"""Pages, and bases that try to end the value that they are written into, to try laws on."""

from random import Random
from typing import Final

from hypothesis import strategies as st
from soup import Soup

# Base URLs that try to end the value they are written into (threat A4).
HOSTILE: Final = (
    *('http://h.example/"><script src=//evil.example/>/', "http://h.example/'onload='x'/"),
    *("http://h.example/a)b(c/d", "http://h.example/a,b, c 2x/", "http://h.example/&copy=1&lt;/"),
    *("http://h.example/</style></script></noscript>-->]]>/", "http://h.example/\\22 );x:url(/"),
    *("http://h.example/a b\tc\nd\re\x00f/", "http://h.example/é\u202e\udc80/"),
    *("http://h.example/;'\"/", "http://h.example/`|=<>/", "http://u:p@h.example/d/"),
    *("http://h.example?q", "http://h.example", "x-a://h/,;'\"()<>&amp;\\/"),
    *("http://h.example/=?utf-8?Q?x?=", "http://h.example/" + "d/" * 40),
)
PLAIN: Final = "http://h.example/d/p.html"
# Of one that is plain a few examples are enough.
bases = st.sampled_from((PLAIN, PLAIN, PLAIN, *HOSTILE))

_soup: Final = Soup(Random())


def _page(seed: int) -> bytes:
    _soup.random.seed(seed)
    return _soup.page().encode()


pages = st.integers(0, (1 << 32) - 1).map(_page)
