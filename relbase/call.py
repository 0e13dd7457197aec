"""The arguments that the library's functions share, and how a call is checked.

Bad calls raise at once, with the fix in the text; bad documents never do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypedDict

from relbase.kind import Kind
from relbase.policy import Policy
from relbase.url.resolver import Profile, as_profile
from relbase.view.charset import lookup

if TYPE_CHECKING:
    from relbase.bases.marks import Places
    from relbase.notes import Note

Headers = Mapping[str, str] | Iterable[tuple[str, str]]

DEFAULT_POLICY: Final = Policy()


class Arguments(TypedDict, total=False):
    """What `links`, `base` and `entities` take: the same as `rewrite`."""

    url: str | None
    redirects: Iterable[str]
    headers: Headers | None
    kind: Kind | str | None
    charset: str | None
    profile: Profile | str
    policy: Policy
    detect: bool


class Origin(NamedTuple):
    """What is known of where a call's URL comes from (rule 17).

    Args:
        source: what states it, for people.
        notes: on what does not count.
        places: knows what was saved beside the page, None where nothing is to be looked for.
    """

    source: str
    notes: tuple[Note, ...] = ()
    places: Places | None = None


class Call(NamedTuple):
    """A call whose arguments have been checked."""

    url: str | None
    redirects: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]
    kind: Kind | None
    charset: str | None
    profile: Profile
    policy: Policy
    detect: bool
    origin: Origin | None = None


def check(
    data: bytes,
    *,
    url: str | None = None,
    redirects: Iterable[str] = (),
    headers: Headers | None = None,
    kind: Kind | str | None = None,
    charset: str | None = None,
    profile: Profile | str = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
    detect: bool = True,
) -> Call:
    """Return the call; raise TypeError or ValueError with the fix in the text."""
    if not isinstance(data, bytes):
        fix = "read the file in binary mode" if isinstance(data, str) else "give bytes(data)"
        raise TypeError(f"the document is bytes, not {type(data).__name__}: {fix}")
    if url is not None and not isinstance(url, str):
        raise TypeError(f"url is a str, not {type(url).__name__}: decode it first")
    if not isinstance(policy, Policy):
        raise TypeError(f"policy is a Policy, not {type(policy).__name__}: give Policy(...)")
    if charset is not None and not isinstance(charset, str):
        raise TypeError(f"charset is a str, not {type(charset).__name__}: give a label")
    if charset is not None and lookup(charset) is None:
        raise ValueError(
            f"{charset[:80]!r} is no charset label of the WHATWG Encoding Standard: "
            "give one, such as 'utf-8', or None to have it found"
        )
    return Call(
        url,
        _redirects(redirects),
        _fields(headers),
        None if kind is None else as_kind(kind),
        charset,
        as_profile(profile),
        policy,
        detect,
    )


def as_kind(kind: Kind | str) -> Kind:
    """Return the kind that a member or its value names; ValueError lists the values."""
    if not isinstance(kind, (Kind, str)):
        raise TypeError(f"kind is a Kind or its value, not {type(kind).__name__}: give 'html'")
    try:
        return Kind(kind)
    except ValueError:
        values = ", ".join(member.value for member in Kind)
        raise ValueError(f"{kind!r} is no kind: give one of {values}") from None


def _redirects(redirects: Iterable[str]) -> tuple[str, ...]:
    if isinstance(redirects, (str, bytes)) or not isinstance(redirects, Iterable):
        raise TypeError("redirects is a sequence of URLs: give [redirect], or () for none")
    urls = tuple(redirects)
    if not all(isinstance(url, str) for url in urls):
        raise TypeError("each of redirects is a str: decode them first")
    return urls


def _fields(headers: Headers | None) -> tuple[tuple[str, str], ...]:
    if headers is None:
        return ()
    pairs: object = headers.items() if isinstance(headers, Mapping) else headers
    if isinstance(pairs, (str, bytes)) or not isinstance(pairs, Iterable):
        raise TypeError("headers is a mapping or pairs: parse the heading first")
    try:
        fields = tuple((name, value) for name, value in pairs)
    except (TypeError, ValueError):
        raise TypeError("headers is a mapping or pairs: give headers.items()") from None
    if not all(isinstance(name, str) and isinstance(value, str) for name, value in fields):
        raise TypeError("names and values of headers are str: decode them first")
    return fields
