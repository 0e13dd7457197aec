"""CSS that is read where HTML is skimmed."""

from __future__ import annotations

import pytest
from scanners import SCANNERS, scanning

import relbase
from relbase.references.skim_css import plain_declarations

DECLARATIONS: list[tuple[bytes, bytes | None]] = [
    (b"color:red", b""),
    (b"a:url(x)", b"a:url(x)"),
    (b"a:url(&quot;x&quot;)", b'a:url(     "x"     )'),
    (b"a:url(x&amp;y)", None),
    (b"a:\\66", None),
    (b"@import", None),
    (b"a:\\&quot;url(&quot;x&quot;)", None),  # an escaped quote opens no string
]


@pytest.mark.parametrize(("raw", "plain"), DECLARATIONS)
def test_what_a_style_attribute_says(raw: bytes, plain: bytes | None) -> None:
    assert plain_declarations(raw) == plain


@pytest.mark.parametrize("name", SCANNERS)
def test_an_escaped_quote_opens_no_string(name: str) -> None:
    with scanning(name):
        text = b'<p style="\\&quot;a{b:url(&quot;x&quot;)}">'
        found = relbase.rewrite(text, url="http://h.example/d/", kind="html")
    assert found.data == text.replace(b";x&", b";http://h.example/d/x&")
