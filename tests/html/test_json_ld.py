"""JSON-LD in scripts and files: what counts, bases, the note; pyld expands input and output."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest import mock

import pytest
from expanding import expanded
from growth import assert_linear_from_10_ms
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rows import cases

import relbase
from relbase import Policy, Reason, Status
from relbase.html import json_ld
from relbase.html.json_ld import last_relative
from relbase.values.json_text import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Callable

TABLES: Final = Path(__file__).with_name("json_ld.txt")
URL: Final = "http://h/d/p?q"
EXTENDED: Final = Policy(extended=True)
SCHEMA: Final = '"@context":"https://schema.org"'


def page(text: str) -> bytes:
    return f'<script type="application/ld+json">{text}</script>'.encode()


def in_script(data: bytes) -> str:
    return data.decode().partition(">")[2].removesuffix("</script>")


def rewritten(text: str) -> str:
    return in_script(relbase.rewrite(page(text), url=URL, policy=EXTENDED).data)


def filled(text: str | None) -> str | None:
    return text and text.replace("{@,", f"{{{SCHEMA},")


@cases(TABLES, "what counts", text=str, expected=str)
def test_what_counts(text: str, expected: str | None) -> None:
    given = filled(text) or ""
    assert rewritten(given) == (filled(expected) or given)
    assert rewritten(rewritten(given)) == rewritten(given)  # law 3


@cases(TABLES, "bases", text=str, expected=str)
def test_bases(text: str, expected: str | None) -> None:
    assert rewritten(text) == (expected or text)
    if expected is not None:
        assert relbase.rewrite(text.encode(), url=URL, kind="jsonld").data == expected.encode()


def test_links_are_those_of_the_policy() -> None:
    text = '{"@context":{"@base":null},"@id":"x","a":{"@id":"http://k/"}}'
    assert list(relbase.links(page(text), url=URL)) == []
    links = list(relbase.links(page(text), url=URL, policy=EXTENDED))
    found = [(link.element, link.syntax, link.reference, link.status) for link in links]
    assert found == [
        ("script", "JSON-LD", "x", Status.KEPT),
        ("script", "JSON-LD", "http://k/", Status.ABSOLUTE),
    ]


def test_one_note_counts_what_is_relative_without_the_policy() -> None:
    both = page('{"@id":"x","@context":{"@base":"e/"}}') + page('{"@id":"http://k/x"}')
    both += page('{"@id":"/y","a":{"@context":{"@base":null},"@id":"z"}}')
    result = relbase.rewrite(both, url=URL)
    assert not result.changed
    [note] = result.notes
    assert note.reason is Reason.JSON_LD_RELATIVE
    assert both[slice(*note.span or ())] == b"x"
    assert note.text.startswith("3 URLs in JSON-LD are relative: ")


@pytest.mark.parametrize(
    "data", [page('{"@id":"http://k/x"}'), page('{"@id":'), page("x"), page('{"@id":"_:b"}')]
)
def test_no_note_if_nothing_is_relative(data: bytes) -> None:
    assert relbase.rewrite(data, url=URL).notes == ()
    assert relbase.rewrite(data, url=URL, policy=EXTENDED).notes == ()


def test_an_unsuitable_base_is_noted() -> None:
    data = page('{"@context":{"@base":"mailto:x"},"@id":"y"}')
    reasons = [note.reason for note in relbase.rewrite(data, url=URL, policy=EXTENDED).notes]
    assert reasons == [Reason.BASE_UNSUITABLE, Reason.BASE_NONE]


def test_the_base_of_the_page_and_its_place_count() -> None:
    text = page('{"@id":"x"}') + b'<base href="http://k/e/">'
    assert b'"http://k/e/x"' in relbase.rewrite(text, url=URL, policy=EXTENDED).data
    only = Policy(extended=True, only=("a@href",))
    assert not relbase.rewrite(page('{"@id":"x"}'), url=URL, policy=only).changed


def test_a_script_of_another_type_stays() -> None:
    other = page('{"@id":"x"}').replace(b"ld+json", b"json")
    assert not relbase.rewrite(other, url=URL, policy=EXTENDED).changed


def test_xhtml() -> None:
    text = '<html xmlns="http://www.w3.org/1999/xhtml"><script type="application/ld+json">%s'
    text += "</script></html>"
    given = (text % '{"@id":"x"}').encode()
    result = relbase.rewrite(given, url=URL, kind="xml", policy=EXTENDED)
    assert result.data.decode() == text % '{"@id":"http://h/d/x"}'


def test_a_file_needs_no_policy_for_ids() -> None:
    text = b'\xef\xbb\xbf{"@context":"https://schema.org","@id":"x</script>","url":"y"}'
    result = relbase.rewrite(text, url=URL, name="a.jsonld")
    assert result.notes == ()
    assert result.data == text.replace(b"x<", b"http://h/d/x<")
    assert [(link.element, link.attribute) for link in result.links] == [("", "@id")]
    typed = relbase.rewrite(text, url=URL, headers={"Content-Type": "application/ld+json"})
    assert typed.data == result.data
    both = relbase.rewrite(text, url=URL, kind="jsonld", policy=EXTENDED)
    assert both.data == result.data.replace(b'"y"', b'"http://h/d/y"')


@pytest.mark.parametrize("text", [b"", b"x", b'{"@id":"x"', b'{"@id":"x"}}'])
def test_what_is_not_json_stays(text: bytes) -> None:
    result = relbase.rewrite(text, url=URL, kind="jsonld")
    assert not result.changed
    assert [note.reason for note in result.notes] == [Reason.JSON_UNSOUND]


def test_many_bases_share_the_budget_of_the_document() -> None:
    long = '{"@context":[' + '{"@base":"a/"},' * 20_000 + '{}],"@id":"x"}'
    result = relbase.rewrite(page(long), url=URL, policy=EXTENDED)
    assert len(result.data) < 64 << 20


# ---- time

SCHEMA_BYTES: Final = b'{"@context":"https://schema.org",'
HOSTILE: Final[dict[str, Callable[[int], bytes]]] = {
    "ids": lambda n: b"[" + b'{"@id":"x"},' * (n // 12) + b"0]",
    "lists": lambda n: SCHEMA_BYTES + b'"image":[' + b'"x",' * (n // 4) + b"0]}",
    "contexts": lambda n: b"[" + b'{"@context":{"@base":"x"}},' * (n // 27) + b"0]",
    "bases": lambda n: b'{"@context":[' + b'{"@base":"a/"},' * (n // 15) + b'{}],"@id":"x"}',
    "nulls": lambda n: b'{"@context":[' + b"null," * (n // 5) + b'{}],"@id":"x"}',
    "terms": lambda n: b'{"@context":{' + b'"url":"x",' * (n // 10) + b'"a":0},"@id":"x"}',
    "deep contexts": lambda n: (
        b'{"@context":{"@base":"a/"},"a":' * (MAX_DEPTH - 2)
        + b"[" + b'{"@id":"x"},' * (n // 12) + b"0]" + b"}" * (MAX_DEPTH - 2)
    ),
    "arrays": lambda n: b'{"a":' * 300 + b"[[],[0]," * (n // 8),
    "keys": lambda n: b"{" + b'"url":["http://h/",' * (n // 19),
    "spaces": lambda n: SCHEMA_BYTES + b'"url":"' + b"x " * (n // 2) + b'"}',
    "not JSON": lambda n: b'{"@id":"x",' * (n // 11),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear(name: str) -> None:
    def read(text: bytes) -> int:
        result = relbase.rewrite(text, url=URL, kind="jsonld", policy=EXTENDED)
        data = b'<script type="application/ld+json">' + text + b"</script>"
        return len(result.data) + len(relbase.rewrite(data, url=URL).notes)

    assert_linear_from_10_ms(read, HOSTILE[name])


@given(st.binary(max_size=200))
def test_law_6_any_bytes_raise_nothing(raw: bytes) -> None:
    for text in (raw, b'{"@context":{"@base":"' + raw, b'{"@id":"x","@context":[' + raw):
        relbase.rewrite(text, url=URL, kind="jsonld", policy=EXTENDED)


# ---- pyld, another implementation: the input with its base means what the output means without.

BASE: Final = "http://h.example/d/e/p.html"
REFERENCES: Final = st.sampled_from(
    ["x", "/x", "../x", "?q", "#f", "//k.example/x", "./", "..", "x/y;z?q#f", "http://k.example/",
     "_:b0", "urn:a:b", "mailto:x", "é", "x.png", "a%20b", "../../../x", "x\\y", 'x"y', "/."]
)  # fmt: skip
NAMES: Final = st.sampled_from(
    ["url", "image", "logo", "sameAs", "mainEntityOfPage", "item", "contentUrl", "name", "author",
     "itemListElement", "license", "@graph"]
)  # fmt: skip
CONTEXTS: Final = st.sampled_from(
    [
        *[None, "https://schema.org", "http://schema.org/", ["https://schema.org"]],
        *[{"@base": "http://k.example/b/"}, {"@base": "sub/"}, {"@base": None}],
        *[{"@vocab": "http://v.example/"}, {"url": "http://v.example/u"}],
        ["https://schema.org", {"@base": "../up/"}],
        ["https://schema.org", {"logo": "http://v.example/l"}, {"@base": "sub/"}],
        [{"@base": "a/"}, {"@vocab": "http://v.example/"}],
    ]
)


def _nodes(values: Any) -> Any:
    def made(given: tuple[Any, ...]) -> dict[str, Any]:
        at, id_, context, members = given
        node = {name: value for name, value in members.items() if name != "@graph"}
        node.update({"@id": id_} if id_ is not None else {})
        if "@graph" in members:
            node["@graph"] = [value for value in members.values() if isinstance(value, dict)]
        named = list(node.items())
        if at != "none":
            named.insert(len(named) if at == "last" else 0, ("@context", context))
        return dict(named)

    places = st.sampled_from(["none", "first", "last"])
    ids = st.none() | REFERENCES | st.just("")
    return st.tuples(places, ids, CONTEXTS, st.dictionaries(NAMES, values, max_size=4)).map(made)


VALUES: Final = st.recursive(
    REFERENCES,
    lambda inner: (
        _nodes(inner) | st.lists(inner, max_size=3) | st.fixed_dictionaries(
            {"@list": st.lists(REFERENCES, max_size=3)}
        )
    ),
    max_leaves=6,
)  # fmt: skip
DOCUMENTS: Final = _nodes(VALUES)


def flat(value: Any, *, in_list: bool = False) -> Any:
    """Take lists out of lists, which JSON-LD 1.1 does not have in sets."""
    if isinstance(value, dict):
        return {name: flat(member) for name, member in value.items()}
    if isinstance(value, list):
        items = [flat(item, in_list=True) for item in value]
        if not in_list:
            return [one for item in items for one in (item if isinstance(item, list) else [item])]
        return items
    return value


def test_pyld_expands_the_output_to_what_the_input_means() -> None:
    pyld = pytest.importorskip("pyld", reason="pyld: extra `ci`")
    examples = int(os.environ.get("RELBASE_EXAMPLES", "300"))
    changed = 0

    @settings(max_examples=examples)
    @given(DOCUMENTS)
    def assert_the_same(document: dict[str, Any]) -> None:
        nonlocal changed
        text = json.dumps(flat(document))
        # pyld keeps a relative @base as it is, until it meets another one; API §5.1.2 resolves it,
        # and has no meaning for one where the base is null.
        assume(not ('"@base": null' in text and re.search(r'"@base": "[a-z./]+"', text)))
        try:
            means = expanded(text, BASE)
        except (pyld.jsonld.JsonLdError, ValueError):
            assume(False)
        given_, rfc3986 = page(text), relbase.Profile.RFC3986
        result = relbase.rewrite(given_, url=BASE, policy=EXTENDED, profile=rfc3986)
        changed += result.changed
        assert last_relative(text.encode()) >= 0 or not result.changed
        assert expanded(in_script(result.data), "") == means

    assert_the_same()
    assert changed > examples / 3


def test_nothing_is_noted_after_the_last_relative_member() -> None:
    noted = 0

    @settings(max_examples=int(os.environ.get("RELBASE_EXAMPLES", "100")))
    @given(DOCUMENTS)
    def assert_the_same(document: dict[str, Any]) -> None:
        nonlocal noted
        read = page(json.dumps(flat(document)))
        notes = relbase.rewrite(read, url=BASE).notes
        noted += len(notes)
        with mock.patch.object(json_ld, "last_relative", len):
            assert relbase.rewrite(read, url=BASE).notes == notes

    assert_the_same()
    assert noted
