"""What the caller may choose (design §2)."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest

from relbase import Policy, Status, links, rewrite

DEFAULTS = {
    "keep_fragments": False,
    "keep": None,
    "extended": False,
    "attachments": True,
    "dkim_signed": True,
}


def test_the_defaults() -> None:
    assert dataclasses.asdict(Policy()) == DEFAULTS


def test_a_policy_is_frozen_and_equal_to_its_like() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Policy().extended = True  # type: ignore[misc]
    assert Policy(keep=re.compile("x")) == Policy(keep=re.compile("x"))
    assert hash(Policy()) == hash(Policy())


@pytest.mark.parametrize("keep", ["^/x", b"^/x", re.compile(b"^/x"), 5, ["x"]])
def test_keep_is_a_compiled_pattern_of_strings(keep: Any) -> None:
    with pytest.raises(TypeError, match=r"give re\.compile"):
        Policy(keep=keep)


# (policy, reference, what becomes of it) in <a href>
ROWS = [
    (Policy(), "#s", Status.REWRITTEN),
    (Policy(keep_fragments=True), "#s", Status.KEPT),
    (Policy(keep_fragments=True), "#", Status.KEPT),
    (Policy(keep_fragments=True), "", Status.REWRITTEN),
    (Policy(keep_fragments=True), "p.html#s", Status.REWRITTEN),
    (Policy(keep=re.compile("^/x")), "/x/y", Status.KEPT),
    (Policy(keep=re.compile("^/x")), "/y/x", Status.REWRITTEN),
    (Policy(keep=re.compile("y$")), "/x/y", Status.KEPT),  # found, not matched
    (Policy(keep=re.compile("^$")), "", Status.KEPT),
    (Policy(keep=re.compile("")), "x", Status.KEPT),
    (Policy(keep=re.compile("")), "http://a.example/", Status.ABSOLUTE),
    (Policy(keep=re.compile("^a b$")), " a b ", Status.KEPT),  # as the URL parser reads it
    (Policy(keep=re.compile("^ab$")), "a\nb", Status.KEPT),
    (Policy(keep=re.compile("&")), "x?a&amp;b", Status.KEPT),
    (Policy(keep=re.compile("amp")), "x?a&amp;b", Status.REWRITTEN),
]


@pytest.mark.parametrize(("policy", "reference", "status"), ROWS)
@pytest.mark.parametrize("url", ["http://h.example/d/p.html", None])
def test_what_is_left_alone(
    policy: Policy, reference: str, status: Status, url: str | None
) -> None:
    document = f'<a href="{reference}">'.encode()
    (link,) = links(document, url=url, policy=policy)
    result = rewrite(document, url=url, policy=policy)
    if url is None and status is Status.REWRITTEN:
        status = Status.UNRESOLVED
    assert link.status is status
    assert result.changed == (status is Status.REWRITTEN)
    # What is kept is missing nothing: only what nobody can resolve is remarked.
    assert [note.reason.value for note in result.notes] == (
        ["base-none"] if status is Status.UNRESOLVED else []
    )
