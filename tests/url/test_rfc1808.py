"""RFC 1808: §2.4 and §4, the examples of §5, and the steps of §4 transcribed word by word."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from rfc1808_examples import ABNORMAL, BASE, NORMAL
from rows import cases

from relbase.url.resolver import resolve
from relbase.url.rfc1808 import (
    ALWAYS,
    NET_LOC_REQUIRED,
    NEVER,
    SOMETIMES,
    Category,
    Components,
    category,
    split,
    unsplit,
)

TABLES = Path(__file__).with_name("resolving.txt")


@pytest.mark.parametrize(("reference", "expected"), NORMAL + ABNORMAL)
def test_examples(reference: str, expected: str) -> None:
    assert resolve(BASE, reference) == expected == literally_resolved(BASE, reference)


@cases(TABLES, "by the letter", base=str, reference=str, expected=str)
def test_what_the_rfc_leaves_to_the_reader(base: str, reference: str, expected: str) -> None:
    assert resolve(base, reference) == expected == literally_resolved(base, reference)
    assert split(expected).net_loc in {split(base).net_loc, ""}


# §4 step 7 and §2.2: `/` between a net_loc and what cannot follow it
@cases(TABLES, "unsplit", words=str, url=str)
def test_unsplit_writes_the_slash_that_a_net_loc_needs(words: str, url: str) -> None:
    given = [None if word == "-" else word.strip('"') for word in words.split()]
    given[2] = given[2] or ""  # a path is never absent
    assert unsplit(Components(*given)) == url  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "fix"),
    [
        ("abcdef", "components must be Components, not str: give what split returns"),
        (None, "not NoneType: give what split returns"),
        (("http", "a", "/b", None, None), "components must be Components, not tuple"),
    ],
)
def test_unsplit_says_what_to_give(given: Any, fix: str) -> None:
    with pytest.raises(TypeError, match=fix):
        unsplit(given)


@pytest.mark.parametrize("wrong", [{"scheme": 3}, {"net_loc": b"a"}, {"path": None}, {"path": 5}])
def test_components_are_strings_or_none(wrong: dict[str, Any]) -> None:
    for url in ("x", "//a?q"):
        with pytest.raises(TypeError, match="are not Components of strings: give str"):
            unsplit(split(url)._replace(**wrong))


# ---- §2.3: the three categories, and where later schemes stand in them

CATEGORIES = [
    # "The following schemes are never used with relative URLs"; rule 5, registered later
    ("mailto news telnet data javascript cid mid about blob", Category.NEVER),
    # "whenever the applicable base URL follows the generic-RL syntax"; of no category
    ("gopher prospero wais x-unheard-of", Category.SOMETIMES),
    # "can always be parsed using the generic-RL syntax"; registered later, of the generic syntax
    # (RFC 9110 §4.2.2, RFC 6455 §3, RFC 2557 §5)
    ("file ftp http nntp https wss thismessage", Category.ALWAYS),
]


@pytest.mark.parametrize(("schemes", "expected"), CATEGORIES)
def test_category(schemes: str, expected: Category) -> None:
    # §2.1: "interpreters should treat upper case letters as equivalent to lower case"
    for scheme in schemes.split():
        assert category(scheme) is category(scheme.upper()) is expected


def test_the_tables() -> None:
    known = NEVER | SOMETIMES | ALWAYS
    assert len(known) == len(NEVER) + len(SOMETIMES) + len(ALWAYS)
    for scheme in known:
        assert scheme.replace("-", "").isalnum()
        assert scheme == scheme.lower()
    # rule 5: "http, https and ftp also need a net_loc"
    assert {"http", "https", "ftp"} == NET_LOC_REQUIRED <= ALWAYS


# ---- §2.4 and §4 transcribed: absent is None, but every question is whether a component is empty


def literally_split(url: str) -> dict[str, str | None]:
    parts: dict[str, str | None] = dict.fromkeys(Components._fields)
    parse_string = url
    # The substring after the first (left-most) crosshatch is removed.
    for index, character in enumerate(parse_string):
        if character == "#":
            parts["fragment"] = parse_string[index + 1 :]
            parse_string = parse_string[:index]
            break
    # "a colon ":" after the first character and before any characters not allowed"
    allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+.-"
    for index, character in enumerate(parse_string):
        if character == ":" and index > 0:
            parts["scheme"] = parse_string[:index]
            parse_string = parse_string[index + 1 :]
            break
        if character not in allowed:
            break
    # "up to, but not including, the next slash"
    if parse_string[:2] == "//":
        parse_string = parse_string[2:]
        net_loc = ""
        while parse_string and parse_string[0] != "/":
            net_loc += parse_string[0]
            parse_string = parse_string[1:]
        parts["net_loc"] = net_loc
    for name, delimiter in (("query", "?"), ("params", ";")):
        if delimiter in parse_string:
            index = parse_string.index(delimiter)
            parts[name] = parse_string[index + 1 :]
            parse_string = parse_string[:index]
    parts["path"] = parse_string
    return parts


def literally_merge(base_path: str, path: str) -> str:
    """Step 6. The slash before the path is not part of it (§2.4.6): it is set aside."""
    while base_path and not base_path.endswith("/"):
        base_path = base_path[:-1]
    path = base_path + path
    slash = "/" if path.startswith("/") else ""
    path = path.removeprefix("/")
    # a) "All occurrences of "./", where "." is a complete path segment, are removed."
    while found := re.search(r"(?:\A|(?<=/))\./", path):
        path = path[: found.start()] + path[found.end() :]
    # b) "If the path ends with "." as a complete path segment, that "." is removed."
    path = re.sub(r"(?:\A|(?<=/))\.\Z", "", path)
    # c) "iteratively, removing the leftmost matching pattern on each iteration"
    while found := re.search(r"(?:\A|(?<=/))(?!\.\./)[^/]*/\.\./", path):
        path = path[: found.start()] + path[found.end() :]
    # d) "If the path ends with "<segment>/..", [...] that "<segment>/.." is removed."
    path = re.sub(r"(?:\A|(?<=/))(?!\.\./)[^/]*/\.\.\Z", "", path)
    return slash + path


def literally_recombined(parts: dict[str, str | None]) -> str:
    url = "" if parts["scheme"] is None else parts["scheme"] + ":"
    path = parts["path"] or ""
    after = path
    for name, delimiter in (("params", ";"), ("query", "?")):
        if parts[name] is not None:
            after += f"{delimiter}{parts[name]}"
    if parts["net_loc"] is not None:
        url += "//" + parts["net_loc"]
        if after and not after.startswith("/"):
            url += "/"  # §2.2
    elif path.startswith("//"):
        url += "//"  # a departure: ".." changes no net_loc (§5.2)
    url += after
    return url if parts["fragment"] is None else f"{url}#{parts['fragment']}"


def literally_inherit(embedded: dict[str, str | None], base: dict[str, str | None]) -> None:
    """Steps 3 to 6."""
    if embedded["net_loc"]:  # Step 3
        return
    inherited = ["net_loc"]
    path = embedded["path"] or ""
    if path == "":  # Step 5
        inherited.append("path")
        if not embedded["params"]:  # a)
            inherited.append("params")
            if not embedded["query"]:  # b)
                inherited.append("query")
    elif not path.startswith("/"):  # Step 4
        embedded["path"] = literally_merge(base["path"] or "", path)  # Step 6
    for name in inherited:
        if base[name] is not None:
            embedded[name] = base[name]


def literally_resolved(base_url: str, embedded_url: str) -> str:
    if base_url == "":  # Step 1
        return embedded_url
    base, embedded = literally_split(base_url), literally_split(embedded_url)  # Step 2
    if embedded_url == "":  # a)
        return base_url
    if embedded["scheme"] is not None:  # b)
        return embedded_url
    embedded["scheme"] = base["scheme"]  # c)
    literally_inherit(embedded, base)
    return literally_recombined(embedded)  # Step 7
