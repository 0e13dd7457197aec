"""Bad calls raise TypeError or ValueError, with the fix in the text (design §2)."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from relbase import Kind, Policy, Profile, base, entities, links, rewrite
from relbase.call import Call, as_kind, check

# (arguments, the error, what its text says to do)
BAD = [
    ({"data": "<p>"}, TypeError, "read the file in binary mode"),
    ({"data": bytearray(b"<p>")}, TypeError, r"give bytes\(data\)"),
    ({"data": memoryview(b"<p>")}, TypeError, r"give bytes\(data\)"),
    ({"data": None}, TypeError, "bytes, not NoneType"),
    ({"url": b"http://h.example/"}, TypeError, "url is a str, not bytes: decode it"),
    ({"url": 5}, TypeError, "url is a str, not int"),
    ({"redirects": "http://h.example/"}, TypeError, r"give \[redirect\]"),
    ({"redirects": b"x"}, TypeError, r"give \[redirect\]"),
    ({"redirects": None}, TypeError, r"\(\) for none"),
    ({"redirects": 5}, TypeError, r"give \[redirect\]"),
    ({"redirects": [b"x"]}, TypeError, "decode them first"),
    ({"redirects": ["x", None]}, TypeError, "decode them first"),
    ({"headers": "Base: x"}, TypeError, "parse the heading first"),
    ({"headers": b"Base: x"}, TypeError, "parse the heading first"),
    ({"headers": 5}, TypeError, "mapping or pairs"),
    ({"headers": ["Base: x"]}, TypeError, r"give headers\.items\(\)"),
    ({"headers": [("Base", "x", "y")]}, TypeError, r"give headers\.items\(\)"),
    ({"headers": [5]}, TypeError, r"give headers\.items\(\)"),
    ({"headers": {b"Base": b"x"}}, TypeError, "decode them first"),
    ({"headers": {"Base": ["x"]}}, TypeError, "names and values of headers are str"),
    ({"headers": [("Base", None)]}, TypeError, "names and values of headers are str"),
    ({"kind": "pdf"}, ValueError, "one of html, css, xml, mail, mbox, http, other"),
    ({"kind": "HTML"}, ValueError, "one of html, css"),
    ({"kind": 5}, TypeError, "give 'html'"),
    ({"charset": "utf-7"}, ValueError, "WHATWG"),  # threat E3
    ({"charset": "unicode_escape"}, ValueError, "give one, such as 'utf-8'"),
    ({"charset": "idna"}, ValueError, "WHATWG"),
    ({"charset": ""}, ValueError, "WHATWG"),
    ({"charset": "utf-8\0"}, ValueError, "WHATWG"),
    ({"charset": "x" * 100_000}, ValueError, "WHATWG"),
    ({"charset": b"utf-8"}, TypeError, "charset is a str, not bytes"),
    ({"profile": "rfc2396"}, ValueError, "one of rfc1808, rfc3986, whatwg"),
    ({"profile": None}, ValueError, "one of rfc1808, rfc3986, whatwg"),
    ({"policy": None}, TypeError, r"give Policy\(\.\.\.\)"),
    ({"policy": {"extended": True}}, TypeError, r"give Policy\(\.\.\.\)"),
    ({"policy": Policy}, TypeError, r"give Policy\(\.\.\.\)"),
]


@pytest.mark.parametrize("function", [rewrite, links, base, entities])
@pytest.mark.parametrize(("arguments", "error", "fix"), BAD)
def test_a_bad_call_raises_at_once(
    function: Any, arguments: dict[str, Any], error: type[Exception], fix: str
) -> None:
    with pytest.raises(error, match=fix) as raised:
        function(**({"data": b"<p>"} | arguments))
    assert type(raised.value) is error
    assert len(str(raised.value)) < 250


def test_arguments_are_keyword_only_and_unknown_ones_are_refused() -> None:
    with pytest.raises(TypeError):
        rewrite(b"", "http://h.example/")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        links(b"", uri="http://h.example/")  # type: ignore[call-arg]


GOOD: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"url": None, "redirects": (), "fields": (), "kind": None, "charset": None}),
    ({"kind": "css"}, {"kind": Kind.CSS}),
    ({"kind": Kind.MBOX}, {"kind": Kind.MBOX}),
    ({"profile": "whatwg"}, {"profile": Profile.WHATWG}),
    ({"profile": Profile.RFC3986}, {"profile": Profile.RFC3986}),
    ({"charset": " Latin1 "}, {"charset": " Latin1 "}),
    ({"redirects": iter(["x", "y"])}, {"redirects": ("x", "y")}),
    ({"headers": None}, {"fields": ()}),
    ({"headers": {}}, {"fields": ()}),
    ({"headers": {"Base": "x"}}, {"fields": (("Base", "x"),)}),
    ({"headers": MappingProxyType({"Base": "x"})}, {"fields": (("Base", "x"),)}),
    ({"headers": [("A", "x"), ("A", "y")]}, {"fields": (("A", "x"), ("A", "y"))}),
    ({"headers": iter([["A", "x"]])}, {"fields": (("A", "x"),)}),
]


@pytest.mark.parametrize(("arguments", "expected"), GOOD)
def test_a_good_call(arguments: dict[str, Any], expected: dict[str, Any]) -> None:
    call = check(b"", **arguments)
    assert {name: getattr(call, name) for name in expected} == expected
    assert isinstance(call, Call)


@pytest.mark.parametrize("kind", list(Kind))
def test_a_kind_is_named_by_itself_or_its_value(kind: Kind) -> None:
    assert as_kind(kind) is as_kind(kind.value) is kind
