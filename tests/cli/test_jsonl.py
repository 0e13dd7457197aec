"""JSON Lines: the field names of the library's classes, in ASCII whatever the document holds."""

from __future__ import annotations

import dataclasses
import json

from hypothesis import given
from hypothesis import strategies as st

import relbase
from relbase.cli.jsonl import line
from relbase.url.grammar import violations


def test_a_link() -> None:
    [link] = relbase.links(b"<a\nhref=x>", url="http://h/d/")
    written = line("a.html", link)
    assert json.loads(written) == {
        "file": "a.html",
        "part": "",
        "element": "a",
        "attribute": "href",
        "syntax": "url",
        "reference": "x",
        "url": "http://h/d/x",
        "status": "rewritten",
        "layer": "retrieval",
        "base": "http://h/d/",
        "base_source": "retrieval URL",
        "line": 2,
        "column": 6,
        "start": 8,
        "end": 9,
    }
    assert list(json.loads(written)) == ["file", *link.as_dict()]


def test_an_entity() -> None:
    [entity] = relbase.entities(b"<base href=x>")
    found = json.loads(line("a.html", entity))
    names = [field.name for field in dataclasses.fields(relbase.Entity)]
    assert list(found) == ["file", *names]
    [refused] = found["base"]["refused"]
    assert (refused["reason"], refused["part"], refused["span"]) == ("base-relative", "", [11, 12])
    assert refused["text"]


def test_violations() -> None:
    [link] = relbase.links(b"<a href='{'>", url="http://h/")
    [found] = json.loads(line("a", link, violations=violations("{")))["violations"]
    assert (found["start"], found["end"], found["kind"]) == (0, 1, "violation")


def test_what_could_not_be_decoded_stays_in_ascii() -> None:
    [link] = relbase.links(b"<a href='\xff\x1b\x07'>", url="http://h/")
    written = line("a\udcff\n", link)
    assert written.isascii()
    assert "\\udcff\\n" in written
    assert json.loads(written)["file"] == "a\udcff\n"


@given(st.binary(max_size=20))
def test_any_reference_is_one_line_and_comes_back(raw: bytes) -> None:
    for link in relbase.links(b'<a href="x' + raw + b'">', url="http://h/", charset="utf-8"):
        written = line("a", link)
        assert written.isascii()
        assert "\n" not in written
        assert json.loads(written)["reference"] == link.reference
