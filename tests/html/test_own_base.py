"""What `base-uri` of a Content-Security-Policy forbids (CSP 3 §6.7.2, §7.5)."""

from __future__ import annotations

from html import escape
from pathlib import Path
from timeit import repeat

import pytest
from rows import cases

from relbase import Policy, base, entities, rewrite
from relbase.html.own_base import forbidding
from relbase.scan import binding

TABLES = Path(__file__).with_name("own_base.txt")

OWN = "http://h.example/d/p.html"


@cases(TABLES, "policies", policy=str, base=str, allowed=bool, alone=bool)
def test_what_is_allowed(policy: str, base: str, *, allowed: bool, alone: bool) -> None:
    assert (forbidding([policy], base, OWN) is None) == allowed
    assert (forbidding([policy], base, None) is None) == alone


def test_each_policy_has_to_allow_it() -> None:
    both = ["base-uri *", "base-uri 'self'"]
    assert forbidding(both, "http://b.example/", OWN) == "base-uri 'self'"
    assert forbidding([], "http://b.example/", OWN) is None


# ---- what a page or its header forbids does not count, as in browsers [C]

META = b"<meta http-equiv='Content-Security-Policy' content=\"base-uri &#39;none&#39;\">"
BASE = b"<base href='http://b.example/'>"
LINK = b"<a href='x'>"

# (document, fields of its header, where its link leads)
ROWS = [
    (META + BASE + LINK, {}, "http://h.example/d/x"),
    (BASE + META + LINK, {}, "http://b.example/x"),  # it comes too late
    (
        BASE + LINK,
        {"Content-Security-Policy": "img-src *, base-uri 'self'"},
        "http://h.example/d/x",
    ),
    (BASE + LINK, {"Content-Security-Policy-Report-Only": "base-uri 'none'"}, "http://b.example/x"),
    (b"<!-- " + META + b" -->" + BASE + LINK, {}, "http://b.example/x"),
    (b"<template>" + META + b"</template>" + BASE + LINK, {}, "http://b.example/x"),
    (META.replace(b"none", b"self") + BASE + LINK, {}, "http://h.example/d/x"),
]


@pytest.mark.parametrize(("document", "headers", "leads"), ROWS)
def test_where_links_lead(document: bytes, headers: dict[str, str], leads: str) -> None:
    result = rewrite(document, url=OWN, headers=headers)
    assert result.data == document.replace(b"'x'", f"'{leads}'".encode())
    assert result.links[-1].url == leads
    forbidden = ["base-forbidden"] if "h.example" in leads else []
    assert [note.reason.value for note in result.notes] == forbidden
    assert [note.reason.value for note in result.base.refused] == forbidden


def test_a_page_whose_url_nobody_knows() -> None:
    """Where \'self\' is cannot be known: the base counts. 'none' is none everywhere."""
    itself = META.replace(b"none", b"self") + BASE + LINK
    assert base(itself).url == "http://b.example/"
    assert base(META + BASE + LINK).url == ""


def test_a_base_after_one_that_is_forbidden_does_not_count() -> None:
    [entity] = entities(META + BASE + BASE, url=OWN)
    found = entity.base
    assert [note.reason.value for note in found.refused] == ["base-forbidden", "base-ignored"]
    assert [note.span.start for note in found.refused if note.span] == [89, 120]


def test_the_base_alone_is_found_without_what_follows_it() -> None:
    document = META + BASE + LINK
    assert [note.reason.value for note in base(document + BASE, url=OWN).refused] == [
        "base-forbidden"
    ]
    response = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + BASE
    assert not base(response + BASE, url=OWN).refused
    [entity] = entities(response + BASE, url=OWN)
    assert [note.reason.value for note in entity.base.refused] == ["base-ignored"]


def seconds(document: bytes) -> float:
    return min(repeat(lambda: base(document, url=OWN), number=3, repeat=5))


def test_the_base_takes_no_longer_in_a_longer_document() -> None:
    long = BASE + b"<a href=x>" * 200_000
    assert seconds(long + BASE) < 100 * seconds(BASE + LINK)


@pytest.mark.parametrize("walk", [binding.compiled, None], ids=["built", "exact"])
def test_a_document_whose_base_comes_late_is_visited_twice_at_most(
    walk: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not twice on each level of nesting: 16 levels would be visited 65,536 times."""
    monkeypatch.setattr(binding, "compiled", walk)
    seen: list[str] = []

    class Counting(Policy):
        def keeps(self, reference: str) -> bool:
            seen.append(reference)
            return super().keeps(reference)

    nested, levels = "<a href=x>", 14
    for _ in range(levels):
        nested = f'<iframe srcdoc="{escape(nested)}"></iframe><base href="y/">'
    result = rewrite(nested.encode(), url="http://h.example/", policy=Counting())
    assert seen.count("x") == 2
    assert len(result.edits) == levels + 1
