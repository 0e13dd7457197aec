"""What is remembered of bases: of long ones some, of longer ones none (threat N3)."""

from __future__ import annotations

from relbase.bases.layers import remembering


def test_what_was_made_is_made_once_by_the_length_of_the_base() -> None:
    made: list[str] = []

    @remembering
    def make(url: str) -> str:
        made.append(url)
        return url.upper()

    counts = {}
    for name, length in {"short": 1 << 12, "long": 1 << 16, "longer": (1 << 16) + 1}.items():
        urls = [letter * length for letter in "abcde"] * 3
        made.clear()
        assert [make(url)(url) for url in urls] == [url.upper() for url in urls]
        in_turns = len(made)
        made.clear()
        assert {make(urls[-1])(urls[-1]) for _ in range(3)} == {"E" * length}
        counts[name] = (in_turns, len(made))
    # Of five in turns the next is forgotten where four are remembered.
    assert counts == {"short": (5, 0), "long": (15, 0), "longer": (15, 3)}
