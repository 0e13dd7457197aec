"""What `base-uri` of a Content-Security-Policy forbids (CSP 3 §6.7.2, §7.5)."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import cases

from relbase import base, entities, rewrite
from relbase.html.csp import forbidding

TABLES = Path(__file__).with_name("csp.txt")

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
