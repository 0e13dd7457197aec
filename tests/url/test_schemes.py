"""RFC 1808 §2.3: the three categories, and where later schemes stand in them."""

from __future__ import annotations

import pytest

from relbase.url.schemes import ALWAYS, NET_LOC_REQUIRED, NEVER, SOMETIMES, Category, category

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
