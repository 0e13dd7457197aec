"""References that the resolvers of both RFCs answer by putting a prefix of the base before them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final

from relbase.expressions import regex

# References that begin so are more than names: they are empty, or a query, params, a fragment, or
# they may begin with a dot segment.
MORE_THAN_NAMES: Final = frozenset(("", "?", ";", "#", ".", "/"))

# As many levels above the base are remembered, each as text: hostile bases have millions of them.
_CLIMBED: Final = 8


class Prefixes(ABC):
    """What stands before references that are names, after "./" or a few "../" at most."""

    __slots__ = (
        *("_above", "_base", "_components", "_directory"),
        *("_root", "_scheme", "_whole_path", "_without_dots"),
    )

    # What a base begins with: its scheme with the colon, and what is up to its path; and its path.
    prefixes: ClassVar[re.Pattern[str]]
    path: ClassVar[re.Pattern[str]]

    def __init__(self, base: str) -> None:
        self._base = base
        found = self.prefixes.match(base)
        assert found is not None  # every group of it may be empty
        self._scheme = found[1] or ""
        self._root = found[0]
        # These are made when they are first asked for: many a base has one reference.
        self._directory = self._whole_path = ""
        self._above: list[str] = []
        self._components: Any = None
        self._without_dots: str | None = None

    @abstractmethod
    def _by_steps(self, reference: str) -> str:
        """The result of all steps of the algorithm."""

    @abstractmethod
    def _parent(self, directory: str) -> str:
        """What is above a directory."""

    def _make_directory(self) -> str:
        """What is put before a reference of names alone: the result of "x" without the "x"."""
        base, root = self._base, len(self._root)
        end = self.path.match(base, root).end()  # type: ignore[union-attr] # it may be empty
        after_last = base.rfind("/", root, end) + 1
        if base.startswith("/", root) and base.find("/.", root, after_last) < 0:
            self._directory = base[:after_last]
        elif len(base) == root and not base.endswith(("/", ":")):
            self._directory = f"{base}/"
        else:
            self._directory = self._by_steps("x")[:-1]
        return self._directory

    def _dotted(self, reference: str) -> str:
        """The result where "./", or "../" repeated, and names are all there is; otherwise ""."""
        if reference[1:3] == "./":
            return self._climbed(reference)
        is_plain = reference[1:2] == "/" and reference[2:3] not in MORE_THAN_NAMES
        if not is_plain or reference.find("/.", 2) >= 0:
            return ""
        return (self._directory or self._make_directory()) + reference[2:]

    def _climbed(self, reference: str) -> str:
        """The result where "../" repeated, and then names, are all there is; otherwise ""."""
        after = 3
        if reference.find("/.", 2) >= 0:
            after = reference.rfind("../") + 3
            if reference.count("../") * 3 != after or reference.find("/.", after - 1) >= 0:
                return ""
        # Without a network location an empty segment could come to stand after the scheme.
        if after > _CLIMBED * 3 or len(self._root) == len(self._scheme):
            return ""
        above = self._above
        level = after // 3
        while len(above) < level:
            directory = self._directory or self._make_directory()
            above.append(self._parent(above[-1] if above else directory))
        return above[level - 1] + reference[after:]

    def _backed(self, reference: str) -> str:
        """The result where names stand after others that "../" takes away; otherwise ""."""
        taken = _taken(reference)
        # Without a network location nothing may be left before a slash.
        if taken is None or len(self._root) == len(self._scheme):
            return ""
        after = taken.end()
        if reference[after : after + 1] in MORE_THAN_NAMES or reference.find("/.", after) >= 0:
            return ""
        return (self._directory or self._make_directory()) + reference[after:]


_taken: Final = regex(r"(?:[^/.?#;:][^/?#;:]*+/\.\./)++").match
