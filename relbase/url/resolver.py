"""One interface to the three algorithms: a profile selects one, a resolver prepares one base."""

from __future__ import annotations

from collections.abc import Callable

from relbase.url.profiles import Prepared, Profile, ProfileName, algorithm, as_profile
from relbase.url.step import Step, check_text
from relbase.view.charset import lookup


class Resolver:
    """Resolves references against one base, prepared once.

    Args:
        base: The absolute base URL. "" and None stand for an unknown base (RFC 1808 §3.4): rfc1808
            and rfc3986 then return every reference as it is.
        profile: A `Profile` or its value.
        charset: WHATWG label of the document's charset, in which profile whatwg encodes the
            query. The other profiles ignore it.

    `resolve(reference)` returns the absolute form, and `steps(reference)` the steps that lead
    to it. `resolve` raises ValueError if the algorithm fails, as only whatwg can.

    Raises:
        ValueError: If the profile or charset is unknown, or if whatwg cannot parse the base.
        TypeError: If the base or the charset is not a string.

    >>> Resolver("http://a/b/c/d;p?q").resolve("../g")
    'http://a/b/g'
    """

    __slots__ = ("_key", "_prepared", "resolve")

    # The prepared algorithm's own method: a method here would double the cost of a short reference.
    resolve: Callable[[str], str]

    def __init__(
        self,
        base: str | None,
        profile: Profile | ProfileName = Profile.RFC1808,
        charset: str = "utf-8",
    ) -> None:
        base = "" if base is None else base
        check_text(base, "the base")
        check_text(charset, "the charset")
        if charset != "utf-8" and lookup(charset) is None:
            raise ValueError(f"{charset[:80]!r} is not a charset label: give 'utf-8', ...")
        self._key = (base, as_profile(profile), charset)
        self._prepared = prepared_base(*self._key)
        self.resolve = self._prepared.resolve

    @property
    def base(self) -> str:
        """The base URL."""
        return self._key[0]

    @property
    def profile(self) -> Profile:
        """The algorithm."""
        return self._key[1]

    @property
    def charset(self) -> str:
        """The label of the document's charset."""
        return self._key[2]

    def steps(self, reference: str) -> list[Step]:
        """Return the steps that the algorithm takes, in the numbers of its specification.

        The value of the last step is what `resolve` returns, or None if it fails. In profile
        whatwg, the steps show the URL records of the base and of the result.

        >>> for step in Resolver("http://a/b/c").steps("../g")[-6:]:
        ...     print(step.number, step.text, step.value)
        6 the last segment of the base's path, "c", is removed /b/../g
        6a no "./" is left /b/../g
        6b no "." is left at the end /b/../g
        6c "b/../" is removed None
        6d no "<segment>/.." is left at the end /g
        7 the components are recombined http://a/g
        """
        check_text(reference)
        return self._prepared.steps(reference)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Resolver) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[type[Resolver], tuple[str, Profile, str]]:
        return Resolver, self._key

    def __repr__(self) -> str:
        return f"Resolver({self.base!r}, {self.profile.value!r}, {self.charset!r})"


def prepared_base(base: str, profile: Profile, charset: str) -> Prepared:
    """Prepare a base for the profile's algorithm; `Resolver` has checked the arguments."""
    return algorithm(profile).PreparedBase(base, charset)


def resolve(
    base: str | None, reference: str, profile: Profile | ProfileName = Profile.RFC1808
) -> str:
    """Return the absolute form of a reference.

    Args:
        base: The absolute base URL. With "" or None, rfc1808 and rfc3986 return the reference
            unchanged (RFC 1808 §4 step 1); whatwg requires an absolute reference.
        reference: Any string.
        profile: A `Profile` or its value.

    Raises:
        ValueError: If whatwg cannot parse the base or the reference.
        TypeError: If the base or the reference is not a string.

    Implements RFC 1808 §4, RFC 3986 §5.2 and the WHATWG URL parser.

    >>> resolve("http://a/b/c/d;p?q#f", "../../../g")
    'http://a/../g'
    >>> resolve("http://a/b/c/d;p?q#f", "../../../g", profile="rfc3986")
    'http://a/g'
    """
    check_text(reference)
    return Resolver(base, profile).resolve(reference)


def is_absolute(reference: str, profile: Profile, base: str = "") -> bool:
    """Return whether the profile's own parser finds the reference absolute."""
    return algorithm(profile).is_absolute(reference, base)


def parses_alone(url: str, profile: Profile) -> bool:
    """Return whether the profile's parser needs no base for a URL: `file:/a` in whatwg."""
    return algorithm(profile).parses_alone(url)


def has_net_loc(url: str) -> bool:
    """Return whether an absolute URL has a network location, even if empty (RFC 1808 §2.4.3)."""
    return url.startswith("//", url.find(":") + 1)
