"""One interface to the three algorithms: a profile selects one, a resolver prepares one base."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from relbase.url import rfc1808, rfc3986
from relbase.url.step import Step, check_text

if TYPE_CHECKING:
    from relbase.url import whatwg


class Profile(StrEnum):
    """The algorithm that resolves references.

    >>> Profile("rfc3986")
    <Profile.RFC3986: 'rfc3986'>
    """

    RFC1808 = "rfc1808"
    RFC3986 = "rfc3986"
    WHATWG = "whatwg"


# Type checkers find misspelt names; a test compares these with the members.
ProfileName = Literal["rfc1808", "rfc3986", "whatwg"]


class Resolver:
    """Resolves references against one base, prepared once.

    Args:
        base: The absolute base URL. "" stands for an unknown base (RFC 1808 §3.4): rfc1808 and
            rfc3986 then return every reference as it is.
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
        self, base: str, profile: Profile | ProfileName = Profile.RFC1808, charset: str = "utf-8"
    ) -> None:
        check_text(base, "the base")
        check_text(charset, "the charset")
        if charset != "utf-8":
            from relbase.view.charset import lookup  # noqa: PLC0415 (start-up time)

            if lookup(charset) is None:
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


def prepared_base(
    base: str, profile: Profile, charset: str
) -> rfc1808.PreparedBase | rfc3986.PreparedBase | whatwg.PreparedBase:
    """Prepare a base for the profile's algorithm; `Resolver` has checked the arguments."""
    if profile is Profile.RFC1808:
        return rfc1808.PreparedBase(base)
    if profile is Profile.RFC3986:
        return rfc3986.PreparedBase(base)
    from relbase.url import whatwg  # noqa: PLC0415 (loads a C library: start-up time)

    return whatwg.PreparedBase(base, charset)


def resolve(base: str, reference: str, profile: Profile | ProfileName = Profile.RFC1808) -> str:
    """Return the absolute form of a reference.

    Args:
        base: The absolute base URL. With "", rfc1808 and rfc3986 return the reference unchanged
            (RFC 1808 §4 step 1); whatwg requires an absolute reference.
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
    if profile is Profile.WHATWG:
        from relbase.url import whatwg  # noqa: PLC0415 (loads a C library: start-up time)

        return whatwg.is_absolute(reference, base)
    if profile is Profile.RFC1808:
        return rfc1808.is_absolute(reference)
    return rfc3986.is_absolute(reference)


def parses_alone(url: str, profile: Profile) -> bool:
    """Return whether the profile's parser needs no base for a URL: `file:/a` in whatwg."""
    if profile is not Profile.WHATWG:
        return is_absolute(url, profile)
    from relbase.url import whatwg  # noqa: PLC0415 (loads a C library: start-up time)

    try:
        whatwg.NO_BASE.resolve(url)
    except ValueError:
        return False
    return True


def has_net_loc(url: str) -> bool:
    """Return whether an absolute URL has a network location, even if empty (RFC 1808 §2.4.3)."""
    return url.startswith("//", url.find(":") + 1)


def as_profile(profile: Profile | str) -> Profile:
    """Return the profile of a member or value; the ValueError for others lists the values."""
    try:
        known = profile if isinstance(profile, Profile) else Profile(profile)
    except ValueError:
        values = ", ".join(member.value for member in Profile)
        raise ValueError(f"{profile!r} is not a profile: give one of {values}") from None
    if known is not Profile.WHATWG:
        return known
    try:
        import ada_url  # noqa: F401, PLC0415 (start-up time)
    except ImportError as error:
        problem = f"cannot load ada-url in this interpreter ({error})"
        if isinstance(error, ModuleNotFoundError):
            if error.name != "ada_url":
                raise
            problem = "needs the package ada-url, which is not installed here"
        fix = "give rfc1808 or rfc3986, or use the main interpreter of a process with ada-url"
        raise ValueError(f"profile whatwg {problem}: {fix}") from None
    return known
