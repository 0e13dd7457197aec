"""References that the resolvers of both RFCs resolve by prepending a prefix of the base."""

import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final

from relbase.expressions import regex

# The first characters of references that are not just names: they are empty, a query, params, a
# fragment, begin with a slash, or may begin with a dot segment.
MORE_THAN_NAMES: Final = frozenset(("", "?", ";", "#", ".", "/"))

# The most levels above the base that are kept, each as text: hostile bases have millions.
_CLIMBED: Final = 8


class Prefixes(ABC):
    """The prefixes of references that are names, perhaps after "./" or a few "../"."""

    __slots__ = (
        *("_above", "_base", "_components", "_directory"),
        *("_root", "_scheme", "_whole_path", "_without_dots"),
    )

    # Match what precedes the path of a base (group 1: the scheme with its colon), and the path.
    prefixes: ClassVar[re.Pattern[str]]
    path: ClassVar[re.Pattern[str]]

    def __init__(self, base: str, _charset: str = "utf-8") -> None:
        self._base = base
        match = self.prefixes.match(base)
        assert match is not None  # every group of it may be empty
        self._scheme = match[1] or ""
        self._root = match[0]
        # These are computed on first use: many bases have only one reference.
        self._directory = self._whole_path = ""
        self._above: list[str] = []
        self._components: Any = None
        self._without_dots: str | None = None

    @abstractmethod
    def _by_steps(self, reference: str) -> str:
        """Resolve a reference by all steps of the algorithm."""

    @abstractmethod
    def _parent(self, directory: str) -> str:
        """Return the directory above a directory."""

    def _make_directory(self) -> str:
        """Return the prefix of a reference of names alone: the result of "x" without the "x"."""
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
        """Resolve "./" or repeated "../" with only names after it; return "" for others."""
        if reference[1:3] == "./":
            return self._climbed(reference)
        is_plain = reference[1:2] == "/" and reference[2:3] not in MORE_THAN_NAMES
        if not is_plain or reference.find("/.", 2) >= 0:
            return ""
        return (self._directory or self._make_directory()) + reference[2:]

    def _climbed(self, reference: str) -> str:
        """Resolve repeated "../" with only names after it; return "" for others."""
        after = 3
        if reference.find("/.", 2) >= 0:
            after = reference.rfind("../") + 3
            if reference.count("../") * 3 != after or reference.find("/.", after - 1) >= 0:
                return ""
        # Without a network location, an empty segment could end up after the scheme.
        if after > _CLIMBED * 3 or len(self._root) == len(self._scheme):
            return ""
        above = self._above
        level = after // 3
        while len(above) < level:
            directory = self._directory or self._make_directory()
            above.append(self._parent(above[-1] if above else directory))
        return above[level - 1] + reference[after:]

    def _backed(self, reference: str) -> str:
        """Resolve names after others that "../" removes ("x/../y"); return "" for others."""
        taken = _taken(reference)
        # Without a network location, a slash could be left with nothing before it.
        if taken is None or len(self._root) == len(self._scheme):
            return ""
        after = taken.end()
        if reference[after : after + 1] in MORE_THAN_NAMES or reference.find("/.", after) >= 0:
            return ""
        return (self._directory or self._make_directory()) + reference[after:]


_taken: Final = regex(r"(?:[^/.?#;:][^/?#;:]*+/\.\./)++").match
