"""The quick test of CSS never misses a reference."""

import pytest

from relbase.css.candidates import NAMES, holds_none

HOLDS = [b"a{b:url(x)}", b"URL( x", b'@import "x"', b"src('x')", b"u\\72l(x)", b"\\@import 'x'"]
NONE = [b"", b"a{b:c(d)}", b"@media x{}", b"a:b\\\n", b"calc(1px)"]


@pytest.mark.parametrize("text", HOLDS)
def test_css_with_a_reference_is_not_passed_over(text: bytes) -> None:
    assert not holds_none(text)


@pytest.mark.parametrize("text", NONE)
def test_css_without_functions_that_count_holds_none(text: bytes) -> None:
    assert holds_none(text)


def test_each_function_counts() -> None:
    assert all(not holds_none(name + b"(x)") for name in NAMES)
