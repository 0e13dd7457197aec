"""What `base-uri` of a Content-Security-Policy forbids (CSP 3 §6.7.2, §7.5)."""

from __future__ import annotations

import pytest

from relbase.bases.policies import forbidding

OWN = "http://h.example/d/p.html"

# (policy, base, whether it is allowed on a page of OWN, and on one of no known URL)
POLICIES = [
    ("default-src 'none'", "http://b.example/", True, True),
    ("base-uri 'none'", "http://h.example/", False, False),
    ("base-uri", "http://h.example/", False, False),
    ("base-uri 'self'", "http://h.example/x/", True, True),
    ("base-uri 'self'", "https://h.example/x/", True, True),
    ("base-uri 'self'", "http://b.example/", False, True),
    ("base-uri 'self'", "http://h.example:81/", False, True),
    ("script-src 'self';BASE-URI http://b.example", "http://b.example/y", True, True),
    ("base-uri http://b.example", "https://b.example/y", True, True),
    ("base-uri https://b.example", "http://b.example/y", False, False),
    ("base-uri b.example", "http://b.example/", True, True),
    ("base-uri *.example", "http://b.example/", True, True),
    ("base-uri *.b.example", "http://b.example/", False, False),
    ("base-uri b.example:*", "http://b.example:99/", True, True),
    ("base-uri b.example:98", "http://b.example:99/", False, False),
    ("base-uri b.example/x/", "http://b.example/x/y", True, True),
    ("base-uri b.example/x", "http://b.example/x/y", False, False),
    ("base-uri https:", "https://b.example/", True, True),
    ("base-uri https:", "http://b.example/", False, False),
    ("base-uri *", "http://b.example/", True, True),
    ("base-uri 'none'; base-uri *", "http://b.example/", False, False),
    ("base-uri * ; base-uri 'none'", "http://b.example/", True, True),
    ("; ;base-uri ((", "http://b.example/", False, False),
]


@pytest.mark.parametrize(("policy", "base", "allowed", "alone"), POLICIES)
def test_what_is_allowed(policy: str, base: str, *, allowed: bool, alone: bool) -> None:
    assert (forbidding([policy], base, OWN) is None) == allowed
    assert (forbidding([policy], base, None) is None) == alone


def test_each_policy_has_to_allow_it() -> None:
    both = ["base-uri *", "base-uri 'self'"]
    assert forbidding(both, "http://b.example/", OWN) == "base-uri 'self'"
    assert forbidding([], "http://b.example/", OWN) is None
