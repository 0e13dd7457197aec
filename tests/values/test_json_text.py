"""The URLs in the JSON of script elements, and the view of one JSON string."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import given
from hypothesis import strategies as st
from rows import cases, edits
from view_laws import assert_law

from relbase import rewrite
from relbase.edit import Edit, Span, splice
from relbase.values import json_text
from relbase.values.json_text import MAX_DEPTH, import_map, json_view, speculation_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TABLES = Path(__file__).with_name("json_text.txt")

T = TypeVar("T")


def found(find: Callable[[bytes], Iterator[Span]], text: bytes) -> list[str]:
    return [text[start:end].decode() for start, end in find(text)]


@cases(TABLES, "import maps", text=str, urls=list[str])
def test_import_map(text: str, urls: list[str]) -> None:
    assert found(import_map, text.encode()) == urls


@cases(TABLES, "speculation rules", text=str, urls=list[str])
def test_speculation_rules(text: str, urls: list[str]) -> None:
    assert found(speculation_rules, text.encode()) == urls


# ECMA-404. JSON that is one value of what `%s` stands for.
VALID = [
    "0", "-0", "10", "-1.50", "1e9", "1E+09", "0.5e-0", "1e999999", "true", "false", "null",
    '""', "[]", "{}", "[ ]", "{\n}", "[0,[1],{}]", '{"":{"":""}}', r'"\"\\\/\b\f\n\r\t\u00aF"',
    r'"\ud800"', '"\x7f\u2028é😀"', '"\'"',
]  # fmt: skip
INVALID = [
    "", "01", "+1", ".5", "1.", "1e", "1e+", "--1", "0x1", "NaN", "Infinity", "-", "True", "nul",
    "truefalse", "1 2", "'a'", '"', '"a', r'"\"', r'"\x41"', r'"\u12"', r'"\u123g"', r'"\U0041"',
    '"\x01"', '"\t"', '"\n"', "[", "]", "[1,]", "[,1]", "[,]", "[1 2]", "[1}", "{", "}", "{1:2}",
    '{"a"}', '{"a":}', '{"a":1,}', "{,}", '{"a":1 "b":2}', '{"a":1]', '{"a" 1}', "{a:1}",
    "/**/1", "1//", "\x0b1", "\xa01", "\ufeff1", "1\0", "1\x0c",
]  # fmt: skip


@pytest.mark.parametrize(
    "around", ["%s x", "x %s", "%s,", "%s}", "[%s", "%s{}", "\ufeff%s", "%s\0"]
)
def test_the_whole_text_is_json(around: str) -> None:
    text = '{"imports":{"a":"./b"}}'
    assert found(import_map, text.encode())
    assert not found(import_map, (around % text).encode())


TOKENS = [
    *'{}[]:,"\\ \n-0.e',
    '"a":',
    '"imports":{',
    '"prefetch":[{"urls":["',
    '"./b"',
    "true",
    "é",
]


@pytest.mark.parametrize("value", [*VALID, *INVALID])
def test_what_is_json(value: str) -> None:
    assert is_json(value) == (value in VALID)


@given(st.lists(st.sampled_from(TOKENS), max_size=12).map("".join))
def test_json_is_what_the_json_module_reads(value: str) -> None:
    is_json(value)


def is_json(value: str) -> bool:
    def fail(constant: str) -> object:
        raise ValueError(constant)

    raw = f'{{"imports":{{"a":"./b"}},"x":{value}}}'.encode()
    try:
        json.loads(raw.decode(), parse_constant=fail)
    except ValueError:
        assert not list(import_map(raw))
        return False
    assert list(import_map(raw))
    return True


@given(st.binary())
def test_law_6_any_bytes_raise_nothing(raw: bytes) -> None:
    assert list(import_map(raw)) == []
    assert list(speculation_rules(b'{"prefetch":[{"urls":["' + raw)) == []
    json_view(raw).lower([Edit(0, len(json_view(raw).inner), raw)])


# Chromium drops the block from 1001 levels on [C]; the root is one of them.
@pytest.mark.parametrize(
    ("depth", "count"), [(MAX_DEPTH - 1, 1), (MAX_DEPTH, 1), (MAX_DEPTH + 1, 0), (10**5, 0)]
)
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"":', "}")])
def test_depth_limit(depth: int, count: int, opening: str, closing: str) -> None:
    nested = opening * (depth - 1) + "0" + closing * (depth - 1)
    text = f'{{"imports":{{"a":"./b"}},"x":{nested}}}'
    assert len(found(import_map, text.encode())) == count


def wrapped(inner: bytes) -> bytes:
    return b'{"imports":{"a":' + inner + b"}}"


@pytest.mark.parametrize(
    "make",
    [
        lambda n: b"[" * n,
        lambda n: b"[]," * (n // 3),
        lambda n: b"[" + b"[]," * (n // 3) + b"0]",
        lambda n: b" " * n,
        lambda n: b"0" + b" " * n + b"0",
        lambda n: b"0" * n,
        lambda n: b"-" + b"1" * n + b"e",
        lambda n: b'"' + b"a" * n,
        lambda n: b'"' + b"\\\\" * (n // 2),
        lambda n: b'"' + b"\\u0061" * (n // 6) + b"\x01",
        lambda n: wrapped(b'"./' + b"x" * n + b'"'),
        lambda n: wrapped(b'"./' + b"\\ud83d\\ude00" * (n // 12) + b'"'),
        lambda n: wrapped(b'"./"' + b',"./":"/"' * (n // 9)),
        lambda n: wrapped(b'"' + b"k" * n + b'"'),
        lambda n: b'{"a":' * (MAX_DEPTH - 1) + b"[" + b'"./",' * (n // 5) + b"0]",
        lambda n: b'{"' + b"k" * n + b'":' + b"[" + b"0," * n,
        lambda n: b'{"scopes":{' + b'"":{"./a":"./b"},' * (n // 17),
    ],
)
def test_reading_takes_linear_time(make: Callable[[int], bytes]) -> None:
    def read(text: bytes) -> int:
        return sum(1 for _ in import_map(text)) + sum(1 for _ in speculation_rules(text))

    assert_linear_from_10_ms(read, make)


@cases(TABLES, "meanings", raw=str, inner=bytes)
def test_json_view_inner(raw: str, inner: bytes) -> None:
    assert json_view(raw.encode()).inner == inner


@cases(TABLES, "spellings", raw=str, edits=edits, changed=str)
def test_json_view_lower(raw: str, edits: list[Edit], changed: str) -> None:
    assert splice(raw.encode(), json_view(raw.encode()).lower(edits)).decode() == changed


PIECES = st.lists(
    st.sampled_from([r"\u002f", r"\/", r"\"", r"\\", r"\n", r"\ud83d", r"\ude00", r"\ud83d\ude00",
                     "</scr", "<", "<!-", "é", "😀", "a", "/", "u", "0041", "\u2028"]),
    max_size=8,
).map("".join)  # fmt: skip
NEW_TEXTS = st.lists(
    st.sampled_from(
        [b"", b"ipt>", b"<", b"/script", b'"', b"\\", b"\n", b"\0", b"-", b"\xe2\x80\xa8",
         b"\xed\xb8\x80", b"\xed\xa0\xbd", b"u0041", b"http://h/", "é".encode()]
    ),
    max_size=4,
).map(b"".join)  # fmt: skip
PAIR = re.compile(rb"(\xED[\xA0-\xAF][\x80-\xBF])(\xED[\xB0-\xBF][\x80-\xBF])")


def joined(text: bytes) -> bytes:
    """Join a high and a low surrogate, as a JSON string holds UTF-16 and cannot keep them apart."""
    return PAIR.sub(
        lambda pair: (
            pair[0].decode("utf-8", "surrogatepass").encode("utf-16-be", "surrogatepass")
        ).decode("utf-16-be").encode(),
        text,
    )  # fmt: skip


# What the HTML parser finds in the text of a script (HTML §13.2.5.4, 13.2.5.15 to 13.2.5.31).
MARKUP = re.compile(rb"<(?:/?script[\t\n\f\r />]|!--)", re.IGNORECASE)


def test_law_5_lowered_edits_mean_the_edits() -> None:
    def also(raw: bytes, changed: bytes) -> None:
        assert len(MARKUP.findall(changed + b" ")) <= len(MARKUP.findall(raw + b" "))
        assert isinstance(json.loads('"' + changed.decode(errors="replace") + '"'), str)

    raws = PIECES.map(str.encode)
    assert_law(raws, json_view, lambda raw: json_view(raw).inner, NEW_TEXTS, joined, also=also)


@cases(TABLES, "patterns", text=bytes, patterns=list[str])
def test_relative_patterns_of_speculation_rules(text: bytes, patterns: list[str]) -> None:
    found = [text[start:end].decode() for start, end in json_text.relative_patterns(text)]
    assert found == patterns


def test_what_a_charset_lacks_is_escaped_in_units_of_json() -> None:
    page = (
        b'<base href="http://h/&#128512;/&#9731;/">'
        b'<script type=importmap>{"imports":{"a":"./b"}}</script>'
    )
    script = rewrite(page, charset="windows-1252", kind="html").data.partition(b"<script")[2]
    assert b'"http://h/\\ud83d\\ude00/\\u2603/b"' in script
