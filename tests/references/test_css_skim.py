import pytest
from growth import assert_linear_from_10_ms
from hypothesis import given, settings
from hypothesis import strategies as st

from relbase.references import css
from relbase.references.css_skim import is_settled, last_relative

SETTLED = (b"http://", b"https://", b"data:")

# Rows: CSS, and how many of its bytes may hold a reference to be rewritten.
ROWS: list[tuple[bytes, int]] = [
    (b"", 0),
    (b"p{color:red}", 0),
    (b"p{background:url(x)}", 17),
    (b'p{background:url("x")}', 17),
    (b"p{background:URL( 'x' )} b{}", 17),
    (b"p{background:url(http://a/x)}", 0),
    (b"p{background:url( 'HTTPS://a/x')}", 0),
    (b"p{background:url(data:,x)} q{background:url(#id)}", 0),
    (b"p{background:url()} q{background:url(\"\")} r{background:url(' ')}", 66 - 7),
    (b"p{background:url(//a/x)}", 17),
    (b"p{background:u\\72l(x)}", 22),
    (b"@import 'x';", 7),
    (b"@IMPORT 'x';", 7),
    (b"p{background:image-set('x' 1x)}", 23),
    (b"p{background:src('x')}", 17),
    (b"p{filter:alpha(opacity=50)\\9}", 0),
    (b"a{} p{background:url(x)} q{background:url(http://a/)}", 21),
]


@pytest.mark.parametrize(("text", "last"), ROWS)
def test_rows(text: bytes, last: int) -> None:
    assert last_relative(text) == last
    assert is_settled(text) == (last == 0)


PIECES = st.sampled_from(
    [
        b"url(",
        b"URL(",
        b"src(",
        b"image-set(",
        b"@import ",
        b"'",
        b'"',
        b")",
        b" ",
        b"\n",
        b";",
        b"{",
    ]
    + [
        b"}",
        b"x.png",
        b"http://a/b",
        b"data:,",
        b"#id",
        b"/*",
        b"*/",
        b"\\",
        b"\\75",
        b"\\72l(",
        b"u",
    ]
    + [b"url(http://a/x)", b"url('data:,x')", b"url(#i)", b"url(x)", b"p{a:url(http://a/)}"] * 3
    + [b"r", b"l", b"(", b"--x:", b"\\69mport ", b"@", b"0", b"//h/x", b"<!--"]
)


def test_what_is_skimmed_is_settled() -> None:
    counts = {"examples": 0, "skimmed": 0}

    @settings(max_examples=400)
    @given(st.lists(PIECES, max_size=12).map(b"".join))
    def law(text: bytes) -> None:
        all_ = list(css.references(text))
        last = last_relative(text)
        relative = [
            found
            for found in all_
            if not found.local and not text[found.start :].lower().startswith(SETTLED)
        ]
        asked = list(css.references(text, until=last))
        assert [found for found in relative if found not in asked] == []
        assert [found for found in asked if found not in all_] == []
        counts["examples"] += 1
        counts["skimmed"] += bool(all_) and len(asked) < len(all_)

    law()
    assert counts["skimmed"] > 0.02 * counts["examples"]


@pytest.mark.parametrize(
    "piece", [b"url(", b"@import", b"\\", b"(", b"url( ", b"src(", b"url(data:"]
)
def test_skimming_takes_linear_time(piece: bytes) -> None:
    assert_linear_from_10_ms(last_relative, lambda n: piece * (n // len(piece)))
