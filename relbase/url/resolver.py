"""One door to the three algorithms: a profile names one, a resolver is prepared once per base."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, Literal

from relbase.url import rfc1808, rfc3986

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relbase.url.steps.step import Step


class Profile(Enum):
    """Which algorithm says what a reference means.

    >>> Profile("rfc3986")
    <Profile.RFC3986: 'rfc3986'>
    """

    RFC1808 = "rfc1808"
    RFC3986 = "rfc3986"
    WHATWG = "whatwg"


# Type checkers find what is misspelt; a test compares it with the members.
ProfileName = Literal["rfc1808", "rfc3986", "whatwg"]


class Resolver:
    """Resolves references against one base, prepared once.

    Args:
        base: the base URL, absolute; "" is an unknown base (RFC 1808 §3.4), with which rfc1808 and
            rfc3986 return every reference as it is.
        profile: a `Profile` or its value.
        charset: the WHATWG label of the document's charset, which decides how profile whatwg
            encodes the query; the others do not look at it.

    `resolve(reference)` returns the absolute form, `steps(reference)` how it comes about; the first
    raises ValueError only where the algorithm
    fails (whatwg alone has failures).

    Raises:
        ValueError: if the profile or the charset is not known, or if whatwg cannot parse the base.
        TypeError: if the base is not a string.

    >>> Resolver("http://a/b/c/d;p?q").resolve("../g")
    'http://a/b/g'
    """

    __slots__ = ("base", "charset", "profile", "resolve")

    base: str
    profile: Profile
    charset: str
    # The prepared algorithm's own method: a method here would double the cost of a short reference.
    resolve: Callable[[str], str]

    def __init__(
        self, base: str, profile: Profile | ProfileName = Profile.RFC1808, charset: str = "utf-8"
    ) -> None:
        if not isinstance(base, str):
            raise TypeError(f"the base is a str, not {type(base).__name__}: decode it first")
        self.base = base
        self.profile = as_profile(profile)
        self.charset = charset
        self.resolve = _PREPARE[self.profile](base, charset)

    def steps(self, reference: str) -> Iterator[Step]:
        """Yield the steps that the algorithm takes for a reference, in its own words and numbers.

        The value of the last step is what `resolve` returns, None where it fails: RFC 1808 §4,
        RFC 3986 §5.2, or the states of the WHATWG URL parser.

        >>> for step in Resolver("http://a/b/c").steps("../g"):
        ...     if step.stack is not None:
        ...         print(step.number, step.text, step.stack)
        6 the last segment of the base's path, "c", gives way to the reference's ('b', '..', 'g')
        6a there is no "./" to remove ('b', '..', 'g')
        6c "b/../" is removed ()
        """
        if not isinstance(reference, str):
            raise TypeError(
                f"the reference is a str, not {type(reference).__name__}: decode it first"
            )
        # Who resolves does not need them: start-up time.
        if self.profile is Profile.WHATWG:
            from relbase.url.steps import whatwg  # noqa: PLC0415

            return whatwg.steps(self.base, reference, self.charset)
        from relbase.url.steps.rfc1808 import steps as steps_1808  # noqa: PLC0415
        from relbase.url.steps.rfc3986 import steps as steps_3986  # noqa: PLC0415

        steps = steps_1808 if self.profile is Profile.RFC1808 else steps_3986
        return steps(self.base, reference)

    def __repr__(self) -> str:
        return f"Resolver({self.base!r}, {self.profile.value!r}, {self.charset!r})"


def resolve(base: str, reference: str, profile: Profile | ProfileName = Profile.RFC1808) -> str:
    """Return the absolute form of a reference: the algorithm alone.

    Args:
        base: the base URL, absolute. With "" rfc1808 and rfc3986 return the reference (RFC 1808
            §4 step 1); whatwg wants it absolute.
        reference: any string.
        profile: a `Profile` or its value.

    Raises:
        ValueError: where the algorithm fails: in whatwg a base or a reference that does not parse.
        TypeError: if the base or the reference is not a string.

    Implements RFC 1808 §4, RFC 3986 §5.2 and the WHATWG URL parser.

    >>> resolve("http://a/b/c/d;p?q#f", "../../../g")
    'http://a/../g'
    >>> resolve("http://a/b/c/d;p?q#f", "../../../g", profile="rfc3986")
    'http://a/g'
    """
    if not isinstance(reference, str):
        raise TypeError(f"the reference is a str, not {type(reference).__name__}: decode it first")
    return Resolver(base, profile).resolve(reference)


def is_absolute(reference: str, profile: Profile, base: str = "") -> bool:
    """Return whether the profile's own parser finds the reference absolute."""
    if profile is Profile.WHATWG:
        from relbase.url import whatwg  # noqa: PLC0415 (loads a C library: start-up time)

        return whatwg.is_absolute(reference, base)
    return _IS_ABSOLUTE[profile](reference)


def parses_alone(url: str, profile: Profile) -> bool:
    """Return whether the profile's own parser takes a URL without a base: `file:/a` in whatwg."""
    if profile is not Profile.WHATWG:
        return is_absolute(url, profile)
    try:
        Resolver("", profile).resolve(url)
    except ValueError:
        return False
    return True


def has_net_loc(url: str) -> bool:
    """Return whether an absolute URL has a network location, maybe empty (RFC 1808 §2.4.3)."""
    return url.startswith("//", url.find(":") + 1)


def as_profile(profile: Profile | str) -> Profile:
    """Return the profile that a member or its value names; ValueError lists the values."""
    try:
        found = profile if isinstance(profile, Profile) else Profile(profile)
    except ValueError:
        values = ", ".join(member.value for member in Profile)
        raise ValueError(f"{profile!r} is not a profile: give one of {values}") from None
    if found is Profile.WHATWG:
        _load_ada()
    return found


def _load_ada() -> None:
    """Where the C library of whatwg cannot be had (in a browser), who asks for it is told so."""
    try:
        import ada_url  # noqa: F401, PLC0415 (start-up time)
    except ModuleNotFoundError as error:
        if error.name != "ada_url":
            raise
        raise ValueError(
            "profile whatwg needs the package ada-url, which is not installed here: "
            "install it, or give rfc1808 or rfc3986"
        ) from None


def _rfc1808(base: str, _charset: str) -> Callable[[str], str]:
    return rfc1808.PreparedBase(base).resolve


def _rfc3986(base: str, _charset: str) -> Callable[[str], str]:
    return rfc3986.PreparedBase(base).resolve


def _whatwg(base: str, charset: str) -> Callable[[str], str]:
    from relbase.url import whatwg  # noqa: PLC0415 (loads a C library: start-up time)

    return whatwg.PreparedBase(base, charset).resolve


_PREPARE: Final = {Profile.RFC1808: _rfc1808, Profile.RFC3986: _rfc3986, Profile.WHATWG: _whatwg}
_IS_ABSOLUTE: Final = {
    Profile.RFC1808: rfc1808.is_absolute,
    Profile.RFC3986: rfc3986.is_absolute,
}
