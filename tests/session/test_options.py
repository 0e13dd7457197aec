"""Bad calls raise TypeError or ValueError, with the fix in the text."""

import inspect
import pickle
import sys
from io import BytesIO, StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args
from urllib.parse import urlsplit

import bs4
import httpx
import lxml.etree
import lxml.html
import pytest
import requests
import yarl

import relbase
import relbase.grammar
from relbase import Kind, Policy, Profile, Resolver, base, entities, links, rewrite
from relbase.kind import KindName
from relbase.session.options import NO_HEADER, Header, as_kind
from relbase.session.session import Call, check
from relbase.url.profiles import ProfileName

# (arguments, the error, what its text says to do)
BAD = [
    ({"data": bytearray(b"<p>")}, TypeError, r"give bytes\(data\)"),
    ({"data": memoryview(b"<p>")}, TypeError, r"give bytes\(data\)"),
    ({"data": None}, TypeError, "bytes, not NoneType: give what open"),
    ({"data": 5}, TypeError, "bytes, not int: give what open"),
    ({"data": Path("x.html")}, TypeError, "read_bytes"),
    ({"data": BytesIO(b"<p>")}, TypeError, r"give file\.read\(\)"),
    ({"data": StringIO("<p>")}, TypeError, r"give file\.read\(\)"),
    ({"data": bs4.BeautifulSoup("<p>", "html.parser")}, TypeError, r"relbase\.trees"),
    ({"data": bs4.BeautifulSoup("<p>", "html.parser").p}, TypeError, "make_links_absolute"),
    ({"data": lxml.html.fromstring("<p>")}, TypeError, r"relbase\.trees"),
    ({"data": lxml.etree.fromstring("<p/>")}, TypeError, r"relbase\.trees"),
    ({"data": lxml.etree.ElementTree()}, TypeError, r"relbase\.trees"),
    ({"data": requests.Response()}, TypeError, "give a response to rewrite_response"),
    ({"data": httpx.Response(200)}, TypeError, "give a response to rewrite_response"),
    ({"url": b"http://h.example/"}, TypeError, "url must be a str, not bytes: decode it"),
    ({"url": bytearray(b"http://h.example/")}, TypeError, "decode it first"),
    ({"url": 5}, TypeError, "url must be a str, not int: give one as 'http://host/x'"),
    ({"url": Path("/d")}, TypeError, "url must be a str, not PosixPath"),
    ({"url": ["http://h.example/"]}, TypeError, "url must be a str, not list"),
    ({"url": urlsplit("http://h.example/")}, TypeError, r"give url\.geturl\(\)"),
    ({"url": yarl.URL("/d/")}, ValueError, "url is not absolute: '/d/': give it with its scheme"),
    ({"url": " "}, ValueError, "None when unknown"),
    ({"url": "/d/"}, ValueError, "as in 'http://host/path'"),
    ({"url": "//h.example/d"}, ValueError, "not absolute"),
    ({"url": "h.example/d"}, ValueError, "not absolute"),
    ({"url": "127.0.0.1:80/d"}, ValueError, "not absolute"),
    ({"url": "h.example:80/d"}, ValueError, "not absolute"),
    ({"url": "C:\\d\\x.html"}, ValueError, "not absolute"),
    ({"url": "?"}, ValueError, "not absolute"),
    ({"url": "http://[", "profile": "whatwg"}, ValueError, "url is not valid by the WHATWG URL"),
    ({"url": "http://", "profile": "whatwg"}, ValueError, "'http://': correct it, or give profile"),
    ({"url": yarl.URL("http://h%7F/"), "profile": "whatwg"}, ValueError, "url is not valid"),
    ({"message_urls": {"@x": "relative"}}, ValueError, r"message_urls\['@x'\] is not absolute"),
    (
        {"message_urls": {"@x": "http://h:x/"}, "profile": "whatwg"},
        *(ValueError, r"message_urls\['@x'\] is not valid by the WHATWG"),
    ),
    ({"message_urls": 5}, TypeError, "message_urls must be a mapping or a function, not int"),
    ({"url": "x" * 100_000}, ValueError, "not absolute"),
    ({"redirects": "http://h.example/"}, TypeError, r"give \[redirect\]"),
    ({"redirects": b"x"}, TypeError, r"give \[redirect\]"),
    ({"redirects": None}, TypeError, r"\(\) for none"),
    ({"redirects": 5}, TypeError, r"give \[redirect\]"),
    ({"redirects": [b"x"]}, TypeError, "each of redirects must be a str, not bytes: decode it"),
    ({"redirects": ["x", None]}, TypeError, "each of redirects must be a str, not NoneType"),
    ({"redirects": [5]}, TypeError, "give one as 'http://host/x'"),
    ({"headers": "Base: x"}, TypeError, "parse the header first"),
    ({"headers": b"Base: x"}, TypeError, "parse the header first"),
    ({"headers": 5}, TypeError, "mapping or pairs"),
    ({"headers": ["Base: x"]}, TypeError, r"give headers\.items\(\)"),
    ({"headers": [("Base", "x", "y")]}, TypeError, r"give headers\.items\(\)"),
    ({"headers": [5]}, TypeError, r"give headers\.items\(\)"),
    ({"headers": {b"Base": b"x"}}, TypeError, "decode them first"),
    ({"headers": {"Base": ["x"]}}, TypeError, "names and values of headers must be str"),
    ({"headers": [("Base", None)]}, TypeError, "names and values of headers must be str"),
    ({"kind": "pdf"}, ValueError, "json, jsonld, mail, mbox, http, markdown, other"),
    ({"kind": "HTML"}, ValueError, "one of html, css"),
    ({"kind": 5}, TypeError, "kind must be a Kind or its value, not int: give 'html'"),
    ({"name": Path("x.html")}, TypeError, r"name must be a str, not PosixPath: give os\.fspath"),
    ({"charset": "utf-7"}, ValueError, "WHATWG"),  # threat E3
    ({"charset": "unicode_escape"}, ValueError, "give one, such as 'utf-8'"),
    ({"charset": "idna"}, ValueError, "WHATWG"),
    ({"charset": ""}, ValueError, "WHATWG"),
    ({"charset": "utf-8\0"}, ValueError, "WHATWG"),
    ({"charset": "x" * 100_000}, ValueError, "WHATWG"),
    ({"charset": b"utf-8"}, TypeError, "charset must be a str, not bytes"),
    ({"profile": "rfc2396"}, ValueError, "one of rfc1808, rfc3986, whatwg"),
    ({"kind": "warc"}, ValueError, r"give \[data\] to relbase\.warc\.pages"),
    ({"detect": None}, TypeError, "detect must be a bool, not NoneType: give True or False"),
    ({"detect": "no"}, TypeError, "detect must be a bool, not str"),
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


# (the function, arguments by position, arguments by name, what to write instead)
MISTAKES: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("rewrite", (b"", "http://h/"), {}, r"rewrite\(\) .*: give url='http://h/'"),
    ("links", (b"", 5), {}, r"links\(\) takes one argument without a name: give url=\.\.\."),
    ("rewrite_text", ("", "http://h/"), {}, "give url='http://h/'"),
    ("rewrite", (b"",), {"base": "http://h/"}, r"rewrite\(\) has no argument 'base': give url="),
    ("links", (b"",), {"base_url": "http://h/"}, "give url="),
    ("base", (b"",), {"uri": "http://h/"}, "give url="),
    ("links", (b"",), {"extended": True}, r"give policy=Policy\(extended="),
    ("entities", (b"",), {"encoding": "utf-8"}, "give charset="),
    ("explain", (b"",), {"redirect": []}, r"explain\(\) has no .*: give redirects="),
    ("rewrite_response", (object(),), {"profil": "whatwg"}, r"rewrite_response\(\) .*profile="),
    ("response_links", (object(), "http://h/"), {}, "give url='http://h/'"),
    ("rewrite_text", ("",), {"charset": "utf-8"}, "'charset': it takes base, headers"),
    ("rewrite", (b"",), {"zzz": 1}, "'zzz': it takes charset, data, detect, headers, images_url"),
]


@pytest.mark.parametrize(("function", "args", "given", "fix"), MISTAKES)
def test_a_mistaken_argument_is_answered_with_what_to_write(
    function: str, args: tuple[Any, ...], given: dict[str, Any], fix: str
) -> None:
    with pytest.raises(TypeError, match=fix):
        getattr(relbase, function)(*args, **given)


@pytest.mark.parametrize("name", ["url", "base", "base_ur"])
def test_a_mistaken_argument_of_a_tree(name: str) -> None:
    calls: list[Any] = [relbase.trees.make_links_absolute, relbase.trees.tree_links]
    for call in calls:
        with pytest.raises(TypeError, match=f"has no argument '{name}': give base_url="):
            call(None, **{name: "http://h/"})
        assert pickle.loads(pickle.dumps(call)) is call


def test_public_functions_can_be_pickled_and_inspected() -> None:
    for name in ("rewrite", "links", "explain", "rewrite_response"):
        function = getattr(relbase, name)
        assert pickle.loads(pickle.dumps(function)) is function
        assert next(iter(inspect.signature(function).parameters)) in {"data", "response"}
        assert function.__doc__


def test_the_packages_are_loaded_when_they_are_asked_for() -> None:
    pytest.importorskip("pyspark")  # of the extra `spark`
    for package in (relbase.trees, relbase.warc, relbase.spark):
        assert package is sys.modules[package.__name__]
    assert {"grammar", "trees", "warc", "spark", *relbase.__all__} == set(dir(relbase))


@pytest.mark.parametrize("value", [None, b"x", 5])
def test_what_is_no_string_is_answered_with_what_to_give(value: Any) -> None:
    calls: list[Any] = [
        relbase.grammar.split,
        relbase.grammar.parse_url,
        relbase.grammar.violations,
    ]
    calls += [Resolver("http://h/", profile).resolve for profile in Profile]
    calls += [Resolver("http://h/", profile).steps for profile in Profile]
    for call in calls:
        with pytest.raises(TypeError, match=r"the (URL|reference) must be a str, not \w+: "):
            call(value)


GOOD: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"url": None, "redirects": (), "header": NO_HEADER, "kind": None, "charset": None}),
    ({"kind": "css"}, {"kind": Kind.CSS}),
    ({"kind": Kind.MBOX}, {"kind": Kind.MBOX}),
    ({"profile": "whatwg"}, {"profile": Profile.WHATWG}),
    ({"profile": Profile.RFC3986}, {"profile": Profile.RFC3986}),
    ({"charset": " Latin1 "}, {"charset": " Latin1 "}),
    ({"url": " http://h.example/d \n"}, {"url": "http://h.example/d"}),
    ({"url": "http://["}, {"url": "http://["}),  # RFC 1808 and RFC 3986 split every string
    ({"url": "http://\xe9.example/", "profile": "whatwg"}, {"profile": Profile.WHATWG}),
    ({"url": "mailto:joe"}, {"url": "mailto:joe"}),  # absolute: refused as a base, with a note
    ({"url": yarl.URL("http://h.example/d")}, {"url": "http://h.example/d"}),
    ({"url": httpx.URL("http://h.example/d")}, {"url": "http://h.example/d"}),
    ({"redirects": [yarl.URL("x"), httpx.URL("/y")]}, {"redirects": ("x", "/y")}),
    ({"redirects": iter(["x", "y"])}, {"redirects": ("x", "y")}),
    ({"headers": None}, {"header": NO_HEADER}),
    ({"headers": {}}, {"header": NO_HEADER}),
    ({"headers": {"X-Base": "x"}}, {"header": NO_HEADER}),
    ({"headers": MappingProxyType({"Content-Type": "x"})}, {"header": Header("x")}),
    ({"headers": [("Content-Type", "a/x"), ("Content-Type", "a/y")]}, {"header": Header("a/y")}),
    ({"headers": iter([["Content-Type", "x"]])}, {"header": Header("x")}),
]


@pytest.mark.parametrize(("arguments", "expected"), GOOD)
def test_a_good_call(arguments: dict[str, Any], expected: dict[str, Any]) -> None:
    call = check(**arguments)
    found = {**call._asdict(), **call.options._asdict()}
    assert {name: found[name] for name in expected} == expected
    assert isinstance(call, Call)


@pytest.mark.parametrize("kind", list(Kind))
def test_a_kind_is_named_by_itself_or_its_value(kind: Kind) -> None:
    assert as_kind(kind) is as_kind(kind.value) is kind


def test_the_literals_of_type_checkers_are_the_members() -> None:
    assert list(get_args(KindName)) == [kind.value for kind in Kind]
    assert list(get_args(ProfileName)) == [profile.value for profile in Profile]
