"""Quick tests of CSS never miss a reference."""

import pytest

from relbase.css.candidates import NAMES, has_no_reference, holds_none, last_trigger

HOLDS = [b"a{b:url(x)}", b"URL( x", b'@import "x"', b"src('x')", b"u\\72l(x)", b"\\@import 'x'"]
ABSOLUTE = [b"url(http://h/)", b"url('https://h/')", b"url( data:,x)", b"url(#x)", b"url()"]
NONE = [b"", b"a{b:c(d)}", b"@media x{}", b"a:b\\\n", b"calc(1px)"]


@pytest.mark.parametrize("text", HOLDS)
def test_css_with_a_reference_may_have_one_to_rewrite(text: bytes) -> None:
    assert not holds_none(text)
    assert not has_no_reference(text)
    assert last_trigger(text, 0, len(text)) > 0


@pytest.mark.parametrize("text", ABSOLUTE)
def test_an_absolute_or_local_reference_needs_no_rewriting(text: bytes) -> None:
    assert not holds_none(text)
    assert has_no_reference(text)


@pytest.mark.parametrize("text", NONE)
def test_css_without_functions_that_count_holds_none(text: bytes) -> None:
    assert holds_none(text)
    assert has_no_reference(text)


def test_the_last_trigger_ends_after_the_last_bracket_of_a_function() -> None:
    text = b"url(a) src(b) calc(c)"
    assert last_trigger(text, 0, len(text)) == text.index(b"src(") + 4
    assert last_trigger(text, 0, 3) == 0
    assert all(not holds_none(name + b"(x)") for name in NAMES)
