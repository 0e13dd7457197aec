"""Vectors of other people: RFC 1808 §5, RFC 3986 §5.4, WPT urltestdata and many implementations.

A row is {base, ref, expected}. A base of null is "", an expected null is a failure.
"""

from pathlib import Path

import pytest
from counts import Counts
from tables import load_table

from relbase.url.resolver import Profile, Resolver


def outcome(base: str | None, reference: str, profile: Profile) -> str | None:
    try:
        return Resolver(base or "", profile).resolve(reference)
    except ValueError:
        return None


# How many rows were in each file at least when this was written: one that lost most of its rows
# would show nothing.
@pytest.mark.parametrize(
    ("profile", "least"),
    [(Profile.RFC1808, 400), (Profile.RFC3986, 500), (Profile.WHATWG, 1000)],
    ids=lambda value: value.value if isinstance(value, Profile) else str(value),
)
def test_every_vector(data: Path, counts: Counts, profile: Profile, least: int) -> None:
    rows = load_table(data / "url-vectors" / f"{profile.value}.json")
    assert len(rows) >= least
    wrong = [
        (row["base"], row["ref"], row["expected"], got)
        for row in rows
        if (got := outcome(row["base"], row["ref"], profile)) != row["expected"]
    ]
    assert wrong == []
    counts("URL vectors", len(rows), 0, profile.value)
