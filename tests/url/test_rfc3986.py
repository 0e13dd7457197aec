"""RFC 3986: the examples of §5.4, and §5.2 transcribed word by word."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relbase.url.rfc3986 import (
    Components,
    PreparedBase,
    follow,
    is_absolute,
    remove_dot_segments,
    resolve,
    split,
    unsplit,
)

BASE = "http://a/b/c/d;p?q"  # §5.4

# §5.4.1 Normal Examples, whole and in order
NORMAL = [
    ("g:h", "g:h"),
    ("g", "http://a/b/c/g"),
    ("./g", "http://a/b/c/g"),
    ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"),
    ("//g", "http://g"),
    ("?y", "http://a/b/c/d;p?y"),
    ("g?y", "http://a/b/c/g?y"),
    ("#s", "http://a/b/c/d;p?q#s"),
    ("g#s", "http://a/b/c/g#s"),
    ("g?y#s", "http://a/b/c/g?y#s"),
    (";x", "http://a/b/c/;x"),
    ("g;x", "http://a/b/c/g;x"),
    ("g;x?y#s", "http://a/b/c/g;x?y#s"),
    ("", "http://a/b/c/d;p?q"),
    (".", "http://a/b/c/"),
    ("./", "http://a/b/c/"),
    ("..", "http://a/b/"),
    ("../", "http://a/b/"),
    ("../g", "http://a/b/g"),
    ("../..", "http://a/"),
    ("../../", "http://a/"),
    ("../../g", "http://a/g"),
]

# §5.4.2 Abnormal Examples, whole and in order
ABNORMAL = [
    ("../../../g", "http://a/g"),
    ("../../../../g", "http://a/g"),
    ("/./g", "http://a/g"),
    ("/../g", "http://a/g"),
    ("g.", "http://a/b/c/g."),
    (".g", "http://a/b/c/.g"),
    ("g..", "http://a/b/c/g.."),
    ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"),
    ("./g/.", "http://a/b/c/g/"),
    ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"),
    ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
    ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"),
    ("g?y/../x", "http://a/b/c/g?y/../x"),
    ("g#s/./x", "http://a/b/c/g#s/./x"),
    ("g#s/../x", "http://a/b/c/g#s/../x"),
    ("http:g", "http:g"),  # for strict parsers
]


@pytest.mark.parametrize(("reference", "expected"), NORMAL)
def test_normal_examples(reference: str, expected: str) -> None:
    assert resolve(BASE, reference) == expected


@pytest.mark.parametrize(("reference", "expected"), ABNORMAL)
def test_abnormal_examples(reference: str, expected: str) -> None:
    assert resolve(BASE, reference) == expected


# Columns: scheme, authority, path, query, fragment
SPLIT = [
    # Appendix B, its own example
    (
        "http://www.ics.uci.edu/pub/ietf/uri/#Related",
        ("http", "www.ics.uci.edu", "/pub/ietf/uri/", None, "Related"),
    ),
    # §3.1 a scheme begins with a letter
    ("10.0.0.7:80/x", (None, None, "10.0.0.7:80/x", None, None)),
    ("a+1.-:x", ("a+1.-", None, "x", None, None)),
    (":x", (None, None, ":x", None, None)),
    # §3.2 an authority ends at the next slash, question mark or number sign
    ("//h?y", (None, "h", "", "y", None)),
    ("//h#f", (None, "h", "", None, "f")),
    ("///x", (None, "", "/x", None, None)),
    # §3.4, §3.5
    ("?", (None, None, "", "", None)),
    ("#", (None, None, "", None, "")),
    ("#a?b", (None, None, "", None, "a?b")),
    ("?a?b", (None, None, "", "a?b", None)),
    ("g;x", (None, None, "g;x", None, None)),
]


@pytest.mark.parametrize(("uri", "components"), SPLIT)
def test_split(uri: str, components: tuple[str | None, ...]) -> None:
    assert split(uri) == components


# §5.2.4 has these two; the others are one for each branch of its loop.
DOT_SEGMENTS = [
    ("/a/b/c/./../../g", "/a/g"),
    ("mid/content=5/../6", "mid/6"),
    ("../a", "a"),  # 2A
    ("./../.././a", "a"),
    ("/./a", "/a"),  # 2B
    ("/a/.", "/a/"),
    ("/../a", "/a"),  # 2C
    ("/a/..", "/"),
    ("a/..", "/"),
    ("a/../b", "/b"),
    ("/a//../b", "/a/b"),
    (".", ""),  # 2D
    ("..", ""),
    ("", ""),
    ("a//b", "a//b"),  # 2E
    (".a/..b/c.", ".a/..b/c."),
]


@pytest.mark.parametrize(("path", "expected"), DOT_SEGMENTS)
def test_remove_dot_segments(path: str, expected: str) -> None:
    assert remove_dot_segments(path) == expected


# What may matter to a parser: delimiters, dot segments whole and as parts of names, and names.
PIECES = ["/", "//", ".", "..", "./", "../", "/..", "g", "h/", "..g", "g.", ":", ";", "?", "#"]
PIECES += ["http:", "a1+", "\u00e9", " ", "\n", "\\", "%2e", "\udc80"]
STARTS = ["", "/", "//", "#", "?", ";", ".", "g", "http:", "http:."]
tails = st.lists(st.sampled_from(PIECES), max_size=9).map("".join)
references = st.builds("{}{}".format, st.sampled_from(STARTS), tails)
# Paths of little else than dot segments.
dotted = st.lists(st.sampled_from(["../", "../", "./", "g/", "/"]), max_size=6).map("".join)
dotted = st.builds("{}{}".format, dotted, st.sampled_from(["", ".", "..", "..", "g"]))
bases = st.builds(
    "{}:{}{}".format,
    st.sampled_from(["http", "ftp", "x"]),
    st.sampled_from(["", "//a", "//u:p@a:8", "//", "//a/b/c/d;p?q#f"]),
    tails,
)


def test_every_string_is_its_components_put_together() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=500)
    @given(st.one_of(references, bases, st.text()))
    def law(uri: str) -> None:
        components = split(uri)
        seen.update(name for name, value in components._asdict().items() if value)
        assert unsplit(components) == uri

    law()
    assert min(seen[name] for name in Components._fields) > 0, seen


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


def test_the_transcription_passes_the_examples() -> None:
    rows = NORMAL + ABNORMAL
    assert [literally_resolved(BASE, reference) for reference, _ in rows] == [
        expected for _, expected in rows
    ]


def test_dot_segments_are_removed_as_in_the_loop_with_two_buffers() -> None:
    changed = 0
    segments = st.sampled_from(["/", "//", ".", "..", "./", "../", "/.", "/..", "a", "a/", "\n"])

    @settings(max_examples=500)
    @given(st.lists(segments, max_size=10).map("".join))
    def law(path: str) -> None:
        nonlocal changed
        expected = literally_without_dot_segments(path)
        changed += expected != path
        assert remove_dot_segments(path) == expected
        assert remove_dot_segments(expected) == expected

    law()
    assert changed > 50


def test_every_answer_is_that_of_the_pseudo_code() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=500)
    @given(st.one_of(bases, st.just(BASE)), st.one_of(references, dotted))
    @example("x:a/b", "..//../../g")
    @example("http://a", "g")
    @example("x:", "../g")
    @example("x:./", ".")
    @example("x:/a/..//b/c", "../g")
    @example("http://a/../b/", "../../g")
    def law(base: str, reference: str) -> None:
        shape = "absolute" if is_absolute(reference) else reference[:1]
        seen[shape] += 1
        seen["dots"] += "/." in reference
        assert PreparedBase(base).resolve(reference) == literally_resolved(base, reference)

    law()
    shapes = ("absolute", "", "/", "#", "?", ";", ".", "g", "dots")
    assert all(seen[shape] for shape in shapes), seen


def test_the_result_is_absolute_and_resolving_it_again_changes_nothing() -> None:
    relative = 0

    @given(bases, references, bases)
    def law(base: str, reference: str, other: str) -> None:
        nonlocal relative
        relative += not is_absolute(reference)
        result = resolve(base, reference)
        assert is_absolute(result)
        # §5.2.2 leaves the dot segments of a base's path where the whole path is inherited, and
        # removes them from a reference that is absolute: these alone go with the second time.
        again = resolve(other, result)
        path = split(result).path
        assert again == unsplit(split(result)._replace(path=remove_dot_segments(path)))
        if not is_absolute(reference) and split(reference).path == "" != split(base).path:
            return
        assert again == result

    law()
    assert relative > 20


@given(references)
def test_an_unknown_base_leaves_the_reference(reference: str) -> None:
    assert resolve("", reference) == reference


# §3.3: (base, reference, target)
WITHOUT_AUTHORITY = [
    ("file:/a/b", "..//evil.example/x", "file:/.//evil.example/x"),
    ("foo:/a", "/.//h/x", "foo:/.//h/x"),
    ("foo:/a", "foo:/.//h/x", "foo:/.//h/x"),
    ("foo:/.//h/x", "../../g", "foo:/g"),
    ("foo:/.//h/x", "g", "foo:/.//h/g"),
    ("file:///a/b", "..//h/x", "file:////h/x"),
    ("http://a/b/c", "..//h/x", "http://a//h/x"),
]


@pytest.mark.parametrize(("base", "reference", "expected"), WITHOUT_AUTHORITY)
def test_no_path_becomes_an_authority(base: str, reference: str, expected: str) -> None:
    assert resolve(base, reference) == expected == literally_resolved(base, reference)
    assert split(expected).authority == split(base).authority


def test_following_is_resolving_again_and_again() -> None:
    merged = 0

    @settings(max_examples=300)
    @given(bases, st.lists(st.one_of(references, dotted), max_size=5))
    @example("x:./a", ["./b", "../c"])
    @example("x:/..", ["..//", "../", "?q../#f?q"])
    def law(base: str, chain: list[str]) -> None:
        nonlocal merged
        expected = base
        for reference in chain:
            expected = resolve(expected, reference)
        assert follow(base, chain) == expected
        merged += len(chain) > 1 and not any(map(is_absolute, chain))

    law()
    assert merged > 50


def test_a_long_way_takes_linear_time() -> None:  # threat N9
    assert_linear_from_10_ms(lambda chain: follow("http://a/", chain), lambda size: ["a/"] * size)


def test_long_references_are_resolved() -> None:
    assert resolve(BASE, "../" * 100_000 + "g") == "http://a/g"
    assert resolve(BASE, "a/../" * 100_000 + "g") == "http://a/b/c/g"
    assert resolve(BASE, "./" * 100_000 + "g") == "http://a/b/c/g"
    for repeated in "g/?;#. ":
        reference = "x" + repeated * 1_000_000
        assert resolve(BASE, reference) == "http://a/b/c/" + reference
