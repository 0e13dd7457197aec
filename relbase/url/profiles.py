"""The profiles: a row for each algorithm that resolves references.

What depends on the profile is a field of its row, so code elsewhere never asks which profile it is.
A new profile is a member of `Profile`, its value in `ProfileName`, a row of `_ROWS`, and a module
in `relbase.url` with what `Algorithm` lists.
"""

import re
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Final, Literal, NamedTuple, Protocol, cast, get_args

from relbase.url.credentials import without_credentials, without_userinfo
from relbase.url.plain import plain_base, serialised
from relbase.url.step import Step


class Profile(StrEnum):
    """The algorithm that resolves references.

    >>> Profile("rfc3986")
    <Profile.RFC3986: 'rfc3986'>
    """

    RFC1808 = "rfc1808"
    RFC3986 = "rfc3986"
    WHATWG = "whatwg"

    __hash__ = str.__hash__  # in C


# Type checkers find misspelt names; importing this module compares them with the members.
ProfileName = Literal["rfc1808", "rfc3986", "whatwg"]


class Prepared(Protocol):
    """A base that was prepared for one algorithm."""

    @property
    def resolve(self) -> Callable[[str], str]:
        """Returns the absolute form of a reference, or raises ValueError if that fails."""

    def steps(self, reference: str) -> list[Step]:
        """Return the steps; the value of the last is the result, or None if that fails."""


class Algorithm(Protocol):
    """What the module of a profile has."""

    @property
    def PreparedBase(self) -> Callable[[str, str], Prepared]:  # noqa: N802 (a class)
        """Prepares a base ("" for none), with the charset of the document."""

    @property
    def is_absolute(self) -> Callable[[str, str], bool]:
        """Tells whether a reference is absolute against a base."""

    @property
    def parses_alone(self) -> Callable[[str], bool]:
        """Tells whether a URL needs no base."""

    @property
    def split(self) -> Callable[[str], tuple[str | None, ...]]:
        """Returns the components of a URL, as a named tuple."""


class ProfileRow(NamedTuple):
    """What a profile is, and what depends on it outside of its algorithm."""

    profile: Profile
    module: str  # in `relbase.url`
    standard: str  # what notes, errors and `explain` call its specification
    steps: str  # what stands before the number of one of its steps
    # The beginnings of the numbers of steps that only carry out an earlier decision.
    following: tuple[str, ...]
    dots: tuple[str, ...] = ()  # the numbers of the steps that remove `..`
    hint: str = ""  # what the help of `--profile` says of it
    package: str = ""  # of Python, that its module imports
    # Whether it changes more than RFC 1808 §4 does: hosts, characters of paths, absolute URLs.
    normalizes: bool = False
    # Matches absolute URLs that are bases as they stand.
    plain_base: re.Pattern[str] = plain_base
    encodes_queries: bool = False  # in the charset of the document
    # The section that leaves `..` above the root in the URL; "" if that is removed.
    climbs_by: str = ""
    honours_xml_base: bool = True  # in documents that browsers show, too (rule 7)
    fetches_early: bool = False  # what precedes a `<base>` (rule 4)
    honours_codebase: bool = True  # of object and applet (rule 7)
    # Removes a user name and a password from a URL; None if there are none.
    without_credentials: Callable[[str], str | None] = without_userinfo
    slashes: str = "/"  # what a reference may begin with that replaces the whole path


_ROWS: Final = (
    ProfileRow(
        Profile.RFC1808,
        "rfc1808",
        "RFC 1808",
        "RFC 1808 §4 step ",
        ("7", "6a", "6b", "6c", "6d"),  # merging and recomposition
        ("6c", "6d"),
        climbs_by="RFC 1808 §5.2",
    ),
    ProfileRow(
        Profile.RFC3986, "rfc3986", "RFC 3986", "RFC 3986 §", ("5.2.4", "5.3"), ("5.2.4 2C",)
    ),
    ProfileRow(
        Profile.WHATWG,
        "whatwg",
        "the WHATWG URL Standard",
        "URL Standard, ",
        ("URL serializer",),
        hint="as browsers do",
        package="ada_url",
        normalizes=True,
        plain_base=serialised,
        encodes_queries=True,
        honours_xml_base=False,
        fetches_early=True,
        honours_codebase=False,
        without_credentials=without_credentials,
        slashes="/\\",
    ),
)

PROFILES: Final = {row.profile: row for row in _ROWS}

# What a call takes that names none, and what browsers do.
DEFAULT: Final = Profile.RFC1808
BROWSERS: Final = Profile.WHATWG


def _check() -> None:
    for profile in Profile:
        if profile not in PROFILES:
            raise TypeError(f"{profile!r} has no row: add one to _ROWS in relbase/url/profiles.py")
    if get_args(ProfileName) != tuple(Profile):
        raise TypeError(f"ProfileName in relbase/url/profiles.py is not {[*map(str, Profile)]}")


_check()


@cache
def algorithm(profile: Profile) -> Algorithm:
    """Return the module of a profile, which is loaded on first use (start-up time)."""
    return cast("Algorithm", import_module(f"relbase.url.{PROFILES[profile].module}"))


def as_profile(profile: Profile | str) -> Profile:
    """Return the profile of a member or value; the ValueError for others lists the values."""
    try:
        known = profile if isinstance(profile, Profile) else Profile(profile)
    except ValueError:
        values = ", ".join(Profile)
        raise ValueError(f"{profile!r} is not a profile: give one of {values}") from None
    if package := PROFILES[known].package:
        _check_package(known, package)
    return known


def _check_package(profile: Profile, package: str) -> None:
    name = package.replace("_", "-")
    try:
        import_module(package)
    except ImportError as error:
        problem = f"cannot load {name} in this interpreter ({error})"
        if isinstance(error, ModuleNotFoundError):
            if error.name != package:
                raise
            problem = f"needs the package {name}, which is not installed here"
        others = " or ".join(row.profile for row in _ROWS if not row.package)
        fix = f"give {others}, or use the main interpreter of a process with {name}"
        raise ValueError(f"profile {profile} {problem}: {fix}") from None


def offered() -> str:
    """Return the names of the profiles for a help text, with what there is to say of each."""
    *names, last = (
        f"{row.profile} ({hint})" if hint else str(row.profile)
        for row in _ROWS
        for hint in ["default" if row.profile is DEFAULT else row.hint]
    )
    return f"{', '.join(names)} or {last}"
