"""The grammar inside of Content-Type: types, tokens, parameters (RFC 2045 §5.1, RFC 2231)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import cases, pairs, texts

from relbase.containers.content_type import (
    MAX_PARAMETERS,
    effective_type,
    media_type,
    parameters,
    read_type,
    token,
)

TABLES: Final = Path(__file__).with_name("content_type.txt")

# ---- Media types and tokens


@cases(TABLES, "media types", value=str, expected=str)
def test_media_types(value: str, expected: str) -> None:
    assert media_type(value) == expected


@cases(TABLES, "tokens", value=str, expected=str)
def test_tokens(value: str, expected: str) -> None:
    assert token(value) == expected


# ---- Parameters


@cases(TABLES, "parameters", value=str, expected=pairs)
def test_parameters(value: str, expected: list[tuple[str, str]]) -> None:
    found = parameters(value)
    # Names that no reader of them would ask for do not matter.
    assert {name: text for name, text in found.items() if name.isalpha() or "-" in name} == dict(
        expected
    )


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_the_limit_of_parameters_and_of_sections(more: int) -> None:
    assert MAX_PARAMETERS == 1000
    numbers = range(MAX_PARAMETERS + more)
    plain, split = ("a/b" + "".join(f"; p{mark}{n}=x" for n in numbers) for mark in ("", "*"))
    assert len(parameters(plain)) == MAX_PARAMETERS + min(more, 0)
    assert len(parameters(split)["p"]) == MAX_PARAMETERS + min(more, 0)


@given(st.text(alphabet="ab0;=\"()\\*' %/\r\n\u212aé\udcff\ud800"))
def test_any_text(value: str) -> None:
    for name in parameters(f"text/plain; {value}"):
        assert name
        assert name == name.lower()
    assert media_type(value) == media_type(value).strip()
    assert token(value) == token(value).strip()


_words = st.text(alphabet='ab1 ;=()"\\', max_size=8)


@given(st.dictionaries(st.sampled_from(("a", "b", "charset")), _words, min_size=1))
def test_what_is_quoted_is_read(stated: dict[str, str]) -> None:
    def quoted(text: str) -> str:
        return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"'))

    value = "".join(f"; {name}={quoted(text)}" for name, text in stated.items())
    assert parameters(f"text/plain{value}") == stated


# Fetch Standard §2.2.2, "extract a MIME type", with its examples.
@cases(TABLES, "several types", values=texts, expected=str)
def test_the_last_valid_of_several_types_counts(values: list[str], expected: str) -> None:
    assert effective_type(values) == expected


def test_boundaries_and_charsets_without_white_space_at_their_ends() -> None:
    stated = read_type('multipart/x; boundary="a b  "; charset=" utf-8 "')
    assert (stated.boundary, stated.charset) == (b"a b", "utf-8")
    assert read_type("multipart/x; boundary=; charset=")[1:3] == (None, None)
