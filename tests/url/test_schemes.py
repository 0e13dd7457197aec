"""RFC 1808 §2.3: the three categories, and where later schemes stand in them."""

from __future__ import annotations

import pytest

from relbase.url.schemes import ALWAYS, NET_LOC_REQUIRED, NEVER, SOMETIMES, Category, category

CATEGORIES = [
    # "The following schemes are never used with relative URLs"
    ("mailto", Category.NEVER),
    ("news", Category.NEVER),
    ("telnet", Category.NEVER),
    # "whenever the applicable base URL follows the generic-RL syntax"
    ("gopher", Category.SOMETIMES),
    ("prospero", Category.SOMETIMES),
    ("wais", Category.SOMETIMES),
    # "can always be parsed using the generic-RL syntax"
    ("file", Category.ALWAYS),
    ("ftp", Category.ALWAYS),
    ("http", Category.ALWAYS),
    ("nntp", Category.ALWAYS),
    # rule 5, registered later: never a base
    ("data", Category.NEVER),
    ("javascript", Category.NEVER),
    ("cid", Category.NEVER),
    ("mid", Category.NEVER),
    ("about", Category.NEVER),
    ("blob", Category.NEVER),
    # registered later, of the generic syntax (RFC 9110 §4.2.2, RFC 6455 §3, RFC 2557 §5)
    ("https", Category.ALWAYS),
    ("wss", Category.ALWAYS),
    ("thismessage", Category.ALWAYS),
    # of no category: judged by the URL
    ("x-unheard-of", Category.SOMETIMES),
    ("", Category.SOMETIMES),
]


@pytest.mark.parametrize(("scheme", "expected"), CATEGORIES)
def test_category(scheme: str, expected: Category) -> None:
    # §2.1: "interpreters should treat upper case letters as equivalent to lower case"
    assert category(scheme) is category(scheme.upper()) is expected


def test_no_scheme_is_in_two_categories() -> None:
    assert len(NEVER | SOMETIMES | ALWAYS) == len(NEVER) + len(SOMETIMES) + len(ALWAYS)


def test_the_tables_hold_scheme_names_in_lower_case() -> None:
    for scheme in NEVER | SOMETIMES | ALWAYS:
        assert scheme.replace("-", "").isalnum()
        assert scheme == scheme.lower()
        assert scheme.isascii()


def test_what_needs_a_net_loc_has_the_generic_syntax() -> None:
    # rule 5: "http, https and ftp also need a net_loc"
    assert {"http", "https", "ftp"} == NET_LOC_REQUIRED <= ALWAYS
