"""Plain references: what holds of all of them, whatever their shape."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relbase.policy import is_template
from relbase.references.plain import url_matcher

PIECES = st.sampled_from(
    [
        *("a", "B7", "/", "../", "./", "?", "#", ".", "-", "_", ":", ";", "=", "//", " "),
        *("%", "%%", "%20", "%7b", "%7B", "%7d", "{", "}", "{{", "}}", "[", "]", "[[", "]]"),
        *("*|", "|*", "*", "|", "${", "#{", "{!", "<%", "<?", "&amp;", "\u00e9"),
    ]
)


@pytest.mark.parametrize("whatwg", [False, True])
def test_a_plain_reference_is_no_template(whatwg: bool) -> None:  # noqa: FBT001
    # So `keep_templates` need not be asked of them.
    matches = url_matcher(whatwg=whatwg)
    counts = {"plain": 0, "template": 0}

    @given(st.lists(PIECES, max_size=6).map("".join))
    def law(reference: str) -> None:
        is_plain = matches(reference.encode()) is not None
        is_one = is_template(reference.replace("&amp;", "&"))
        assert not (is_plain and is_one)
        counts["plain"] += is_plain
        counts["template"] += is_one

    law()
    assert min(counts.values()) > 0
