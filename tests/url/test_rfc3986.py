"""RFC 3986: the examples of §5.4, and §5.2 transcribed word by word."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rfc1808_examples import ABNORMAL, NORMAL
from rows import cases

from relbase.url.rfc3986 import PreparedBase, remove_dot_segments, split

BASE = "http://a/b/c/d;p?q"  # §5.4

# §5.4 has the examples of RFC 1808, other results for some, and a few more
EXAMPLES = {
    **dict(NORMAL + ABNORMAL),
    ";x": "http://a/b/c/;x",
    "": "http://a/b/c/d;p?q",
    "../../../g": "http://a/g",
    "../../../../g": "http://a/g",
    "/./g": "http://a/g",
    "/../g": "http://a/g",
    "g;x=1/./y": "http://a/b/c/g;x=1/y",
    "g;x=1/../y": "http://a/b/c/y",
    "g?y/../x": "http://a/b/c/g?y/../x",
    "g#s/../x": "http://a/b/c/g#s/../x",
}


@pytest.mark.parametrize(("reference", "expected"), EXAMPLES.items())
def test_examples(reference: str, expected: str) -> None:
    assert PreparedBase(BASE).resolve(reference) == expected == literally_resolved(BASE, reference)


# ---- §5.2 and Appendix B transcribed


def literally_without_dot_segments(path: str) -> str:
    input_buffer, output_buffer = path, ""
    while input_buffer:
        if found := re.match(r"\.\.?/", input_buffer):  # A
            input_buffer = input_buffer[found.end() :]
        elif found := re.match(r"/\.(?:/|\Z)", input_buffer):  # B
            input_buffer = "/" + input_buffer[found.end() :]
        elif found := re.match(r"/\.\.(?:/|\Z)", input_buffer):  # C
            input_buffer = "/" + input_buffer[found.end() :]
            output_buffer = re.sub(r"/?[^/]*\Z", "", output_buffer, count=1)
        elif input_buffer in {".", ".."}:  # D
            input_buffer = ""
        else:  # E
            segment = re.match(r"/?[^/]*", input_buffer)
            assert segment
            output_buffer += segment[0]
            input_buffer = input_buffer[segment.end() :]
    return output_buffer


class Five(NamedTuple):
    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None


def literally_parsed(uri: str) -> Five:
    """Appendix B; what its pattern takes for a scheme must be one by §3.1."""
    appendix_b = r"(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?"
    found = re.fullmatch(appendix_b, uri, re.DOTALL)
    assert found
    if found[2] and not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", found[2]):
        found = re.fullmatch(appendix_b.replace("(([^:/?#]+):)?", "(())"), uri, re.DOTALL)
        assert found
    return Five(found[2] or None, found[4], found[5], found[7], found[9])


def literally_merged(base: Five, path: str) -> str:
    """§5.2.3."""
    if base.authority is not None and not base.path:
        return "/" + path
    return re.sub(r"[^/]*\Z", "", base.path, count=1) + path


def literally_transformed(base: Five, r: Five) -> Five:
    """§5.2.2, the assignments of one target component at a time."""
    here = r.scheme is None and r.authority is None
    if here and r.path == "":
        path = base.path
    elif here and not r.path.startswith("/"):
        path = literally_without_dot_segments(literally_merged(base, r.path))
    else:
        path = literally_without_dot_segments(r.path)
    return Five(
        scheme=base.scheme if r.scheme is None else r.scheme,
        authority=base.authority if here else r.authority,
        path=path,
        query=base.query if here and r.path == "" and r.query is None else r.query,
        fragment=r.fragment,
    )


def literally_resolved(base: str, reference: str) -> str:
    t = literally_transformed(literally_parsed(base), literally_parsed(reference))
    result = "" if t.scheme is None else t.scheme + ":"  # §5.3
    result += "" if t.authority is None else "//" + t.authority
    # §3.3: a path without an authority does not begin with "//"
    result += "/." if t.authority is None and t.path.startswith("//") else ""
    result += t.path
    result += "" if t.query is None else "?" + t.query
    result += "" if t.fragment is None else "#" + t.fragment
    return result


def test_dot_segments_are_removed_as_in_the_loop_with_two_buffers() -> None:
    changed = 0
    segments = st.sampled_from(["/", "//", ".", "..", "./", "../", "/.", "/..", "a", "a/", "\n"])

    @settings(max_examples=500)
    @given(st.lists(segments, max_size=10).map("".join))
    @example("/a/b/c/./../../g")  # §5.2.4 has these two
    @example("mid/content=5/../6")
    def law(path: str) -> None:
        nonlocal changed
        expected = literally_without_dot_segments(path)
        changed += expected != path
        assert remove_dot_segments(path) == expected
        assert remove_dot_segments(expected) == expected

    law()
    assert changed > 50


@cases(
    Path(__file__).with_name("resolving.txt"),
    "RFC 3986 §3.3",
    base=str,
    reference=str,
    expected=str,
)
def test_no_path_becomes_an_authority(base: str, reference: str, expected: str) -> None:
    assert PreparedBase(base).resolve(reference) == expected == literally_resolved(base, reference)
    assert split(expected).authority == split(base).authority
