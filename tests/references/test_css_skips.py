import re

import pytest

from relbase.references import css_skips

# Rows: a skip, what it passes over, and what it stops in front of.
ROWS: list[tuple[re.Pattern[bytes], bytes, bytes]] = [
    (css_skips.OUTSIDE, b"p{color:red;background:rgb(0,0,calc(1))} q{}", b""),
    (css_skips.OUTSIDE, b"p{background:url", b"(x)}"),
    (css_skips.OUTSIDE, b"p{a:src", b"('x')}"),
    (css_skips.OUTSIDE, b"p{a:image-set", b"('x' 1x)}"),
    (css_skips.OUTSIDE, b"p{} /* url(x) */ q{a:'url(x)'}", b""),
    (css_skips.OUTSIDE, b"p{}", b"; @import 'x'"),
    (css_skips.OUTSIDE, b"p", b"{ /**/ --x:url(y)}"),
    (css_skips.OUTSIDE, b"p{--x:red;} q{}", b""),
    (css_skips.OUTSIDE, b"p:not", b"([a=b] {"),
    (css_skips.OUTSIDE, b"p{a:\\9 ;b:c}", b""),
    (css_skips.OUTSIDE, b"p{a:u", b"\\72l(x)}"),
    (css_skips.OUTSIDE, b"a < b ", b"<!-- url(x)"),
    (css_skips.INSIDE_STATEMENT, b" red 'x' (y)", b"; b:c"),
    (css_skips.INSIDE, b"a;b{c:d}'}'(e)", b")"),
    (css_skips.INSIDE, b"a", b"{b:url(c)}"),
    (css_skips.INSIDE_IMAGE_SET, b"calc(1) ", b"'x' 1x"),
]


@pytest.mark.parametrize(("skip", "passed", "left"), ROWS)
def test_where_a_skip_ends(skip: re.Pattern[bytes], passed: bytes, left: bytes) -> None:
    found = skip.match(passed + left)
    assert found is not None
    assert found[0] == passed
