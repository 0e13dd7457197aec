"""RFC 1808 §3: the base URL of a document, from the four layers in their order.

As in browsers, the first `<base>` decides, even if nothing can be resolved against it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.private import owner
from relbase.expressions import expression
from relbase.notes import Note, Reason
from relbase.url import rfc1808, rfc3986
from relbase.url.credentials import masked
from relbase.url.plain import WEB
from relbase.url.profiles import DEFAULT, PROFILES, Profile
from relbase.url.resolver import has_net_loc, is_absolute, parses_alone, prepared_base
from relbase.url.rfc1808 import NET_LOC_REQUIRED, Category, category

if TYPE_CHECKING:
    from relbase.edit import Span


class Layer(StrEnum):
    """Where a base URL comes from (RFC 1808 §3), innermost first."""

    EMBEDDED = "embedded"  # §3.1 the document's own content
    ENTITY = "entity"  # §3.2 the header of the entity, or of one around it
    RETRIEVAL = "retrieval"  # §3.3 the URL it was retrieved from
    NONE = "none"  # §3.4 ""


@dataclass(frozen=True, slots=True)
class Base:
    """The base URL of a document or message part, and the layers around it.

    Args:
        url: The absolute URL; "" in layer NONE.
        layer: Which of the four layers states it.
        source: What states it, for people: "Content-Base of part 1.2", "<base href> at 12:5".
        outer: The base of the next layer out; None after NONE.
        refused: Notes on statements of a base that do not count, innermost first.
    """

    url: str
    layer: Layer
    source: str
    outer: Base | None = None
    refused: tuple[Note, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether relative references can be resolved against it (§2.3)."""
        return unsuitable(self.url) is None

    def as_dict(self) -> dict[str, object]:
        """Return the base in JSON's types; `outer` nests the next layer, and so on to the last.

        >>> Base("http://h/", Layer.RETRIEVAL, "retrieval URL", UNKNOWN).as_dict()["outer"]["layer"]
        'none'
        """
        chain: dict[str, object] | None = None
        for base in reversed([*outward(self)]):
            chain = {
                "url": base.url,
                "layer": base.layer.value,
                "source": base.source,
                "outer": chain,
                "refused": [note.as_dict() for note in base.refused],
            }
        assert chain is not None
        return chain


def outward(base: Base | None) -> Iterator[Base]:
    """Yield a base and those of the layers around it."""
    while base is not None:
        yield base
        base = base.outer


UNKNOWN: Final = Base("", Layer.NONE, "nothing states a base URL")


class Statement(NamedTuple):
    """A base URL as it was stated, absolute or relative."""

    layer: Layer  # the layer that it belongs to
    value: str  # the URL, without wrapper and white space
    source: str  # where it was stated, for people
    span: Span | None = None  # its bytes in the input, if it is there
    flaw: str | None = None  # why it is not a URL at all, None if it may be one
    may_be_relative: bool = False  # whether that gets no note


def establish(  # noqa: PLR0917 (as one says it: within a base, by a profile)
    statements: Iterable[Statement],
    around: Base,
    profile: Profile,
    part: str = "",
    charset: str = "utf-8",
    resolve: Callable[[str], str] | None = None,
    *,
    private_bases: bool = False,
) -> tuple[Base, list[Note]]:
    """Return the base of an entity (RFC 1808 §3), and notes on it.

    `resolve` resolves against the base around it, if that is prepared.
    """
    refused: list[Note] = []
    for statement in statements:
        url, reason, text = _resolved(statement, around, profile, charset, resolve)
        if url is not None and not (private_bases or url.startswith(WEB)):
            is_element = statement.source.startswith("<base")
            if whose := owner(url, around.url, is_base_element=is_element):
                counts = f"{_shown(around.url)} does" if around.url else "no other base is known"
                text = f"{_shown(url)} means something only to {whose}: it does not count, {counts}"
                url, reason = None, Reason.BASE_PRIVATE
        if reason is not None:
            refused.append(Note(reason, part, statement.span, f"{statement.source}: {text}"))
        if url is not None:
            counted = tuple(refused if reason is None else refused[:-1])
            return Base(url, statement.layer, statement.source, around, counted), refused
        if statement.layer is Layer.EMBEDDED:
            break  # the first <base> is the only one (WHATWG HTML, frozen base URL)
    if not refused:
        return around, []
    return replace(around, refused=(*refused, *around.refused)), refused


# ---- §3.3: the URL that an entity was retrieved from, which is the last one after redirects. Each
# redirect is resolved against the one before by RFC 3986 in every profile, as HTTP clients do (RFC
# 9110 §10.2.2).


_RETRIEVED: Final = "retrieval URL"


def retrieval(
    url: str | None, redirects: Iterable[str], profile: Profile, source: str = _RETRIEVED
) -> tuple[list[Statement], list[Note]]:
    """Return the retrieval URL as a statement of the base, without fragment and credentials."""
    locations = [redirect.strip() for redirect in redirects]
    last = (url or "").strip()
    if locations:
        source = f"redirect {len(locations)}"
        last = rfc3986.follow(last, locations)
    if not last:
        return [], []
    if "#" not in last and "@" not in last:
        return [Statement(Layer.RETRIEVAL, last, source)], []
    without = PROFILES[profile].without_credentials(last)
    components = rfc3986.split(last if without is None else without)._replace(fragment=None)
    stated = [Statement(Layer.RETRIEVAL, rfc3986.unsplit(components), source)]
    if without is None:
        return stated, []
    return stated, [Note(Reason.CREDENTIALS_REMOVED, "", None, f"{source}: {_REMOVED}")]


def plain_retrieval(url: str, profile: Profile) -> Base | None:
    """Return the base that a retrieval URL alone is, if that takes no more than a look at it."""
    if len(url) > MAX_BASE or "@" in url or "#" in url:
        return None
    is_plain = PROFILES[profile].plain_base.fullmatch(url)
    return Base(url, Layer.RETRIEVAL, _RETRIEVED, UNKNOWN) if is_plain else None


_REMOVED: Final = (
    "the user name and password in it were removed from the base, and stay where they are stated"
)

# All profiles find the same authority.
_web: Final = expression(r"https?://[^/?#\s\\][^/?#\\\t\n\r]*+(?:[/?#]|\Z)", re.IGNORECASE)


def found_url(url: str, source: str) -> tuple[str, str, list[Note]]:
    """Return a detected URL, cleaned, or "" and why it does not count; and notes on it."""
    stated, notes = retrieval(url, (), DEFAULT, source)
    value = stated[0].value if stated else ""
    if _web.match(url.strip()) is None or _web.match(value) is None:
        return "", f"{_shown(url)} is not an http or https URL: it does not count", []
    return value, "", notes


# ---- what can be a base

# Nobody writes a longer base: servers refuse URLs of a few kilobytes. It is counted when it is
# resolved, and the time to resolve a reference grows with it.
MAX_BASE: Final = 1 << 16


def unsuitable(url: str) -> str | None:
    """Return why no relative reference can be resolved against a URL; None if one can."""
    if len(url) > MAX_BASE:
        return f"it has more than {MAX_BASE} characters (rule 12)"
    if _is_suitable.match(url):
        return None
    if not url:
        return "it is empty: the base is unknown, and references count as absolute (RFC 1808 §3.4)"
    why = _hindrance(url)
    return why and f"{why} (RFC 1808 §2.3)"


# Matches most bases.
_is_suitable: Final = expression(r"https?://[^/?#]")


def _hindrance(url: str) -> str | None:
    scheme, net_loc, path, *_ = rfc1808.split(url)
    # RFC 1808 lets a scheme begin with a digit, which makes the URL relative in other profiles.
    if scheme is None or not scheme[0].isalpha():
        return "it has no scheme"
    scheme = scheme.lower()
    if len(scheme) == 1:
        return "it is a file name with a drive letter"
    shown = scheme if len(scheme) <= _SHOWN_SCHEME else f"{scheme[:_SHOWN_SCHEME]}..."
    if category(scheme) is Category.NEVER:
        return f"{shown}: is {Category.NEVER.value}"
    if scheme in NET_LOC_REQUIRED and not net_loc:
        return f"{shown}: needs a network location"
    if net_loc is None and not path.startswith("/"):
        return f"no slash follows {shown}, as the generic-RL syntax requires"
    return None


# No real scheme is longer, and notes do not repeat a hostile one in full.
_SHOWN_SCHEME: Final = 40


def with_path(url: str) -> str:
    """Insert the `/` that http, https and ftp need between an authority and `?`."""
    if _has_path.match(url):
        return url
    scheme, authority, path, query, _ = rfc3986.split(url)
    if scheme is None or not authority or scheme.lower() not in NET_LOC_REQUIRED:
        return url
    end = len(scheme) + len("://") + len(authority)
    return url if path or query is None else f"{url[:end]}/{url[end:]}"


_has_path: Final = expression(r"[^:/?#]++://[^/?#]*+/")

# "If urlRecord's scheme is data or javascript": the frozen base URL is the fallback base URL.
_NEVER_FROZEN: Final = frozenset(("data", "javascript"))

_UNSAFE: Final = expression(r"[\x00-\x1f\x7f]")
_UNSAFE_OUTSIDE: Final = expression(r"[^ -~]+")


def _resolved(  # noqa: C901 (one question after the other)
    statement: Statement,
    around: Base,
    profile: Profile,
    charset: str,
    resolve: Callable[[str], str] | None,
) -> tuple[str | None, Reason | None, str]:
    """Return the absolute form of a statement, None if it does not count, and what to note."""
    if statement.flaw is not None:
        text = f"{_shown(statement.value)} {statement.flaw}: it does not count"
        return None, Reason.BASE_UNPARSABLE, text
    row = PROFILES[profile]
    if "\\" in statement.value and not row.normalizes:
        return None, Reason.BASE_UNSUITABLE, _with_backslash(statement.value)
    if len(statement.value) <= MAX_BASE and row.plain_base.fullmatch(statement.value):
        return statement.value, None, ""
    embedded = statement.layer is Layer.EMBEDDED
    # Percent-encode what cannot be written into a document as it is (rule 10).
    stated = value = statement.value
    if not (value.isascii() and value.isprintable()):
        stated = value = (_UNSAFE if embedded else _UNSAFE_OUTSIDE).sub(_quoted, value)
    relative = not is_absolute(value, profile, around.url)
    # The profile's parser may accept it without a base, as absolute (rule 5): in whatwg,
    # `file:/a/b` is relative only to a base with the same scheme.
    alone = relative and not around.url and parses_alone(value, profile)
    relative = relative and not alone
    if relative and resolve is None and not around.usable:
        return (
            None,
            Reason.BASE_RELATIVE,
            f"{_shown(stated)} is relative, and no base around it is known",
        )
    try:
        if relative and resolve is not None:
            value = resolve(value)
        elif relative or row.normalizes:
            url = around.url if relative else ""
            prepared = prepared_base(url, profile, charset) if url else _no_base(profile, charset)
            resolved = prepared.resolve(value)
            # The URL that a caller gave stays as it is: callers compare it.
            is_given = statement.layer is Layer.RETRIEVAL and value == statement.value
            is_whole = is_given and has_net_loc(value) and unsuitable(value) is None
            value = value if is_whole else resolved
        url = with_path(value)
    except ValueError:
        return None, Reason.BASE_UNPARSABLE, f"{_shown(stated)} does not parse"
    why = unsuitable(url)
    if why is not None:
        counts = embedded and url.partition(":")[0].lower() not in _NEVER_FROZEN
        verdict = "it decides, and no reference can be resolved" if counts else "it does not count"
        text = f"{_shown(stated)} is not a suitable base because {why}: {verdict}"
        return url if counts else None, Reason.BASE_UNSUITABLE, text
    if relative and not statement.may_be_relative:
        what = "is relative where an absolute URL is required: resolved to"
    elif alone and not (statement.may_be_relative or statement.layer is Layer.RETRIEVAL):
        what = "is treated as absolute, because nothing around it is known:"
    else:
        return url, None, ""
    return url, Reason.BASE_RELATIVE, f"{_shown(stated)} {what} {_shown(url)}"


_no_base: Final = lru_cache(maxsize=16)(partial(prepared_base, ""))


def _with_backslash(value: str) -> str:
    text = f"{_shown(value)} holds a backslash, which no URL may (RFC 1738 §2.2): it does not count"
    try:
        from relbase.url import whatwg  # loads a C library, which may be missing

        read = whatwg.NO_BASE.resolve(value)
    except (ImportError, ValueError):
        return text
    return f"{text}; browsers read {_shown(read)}" if read.startswith("file:") else text


def _quoted(match: re.Match[str]) -> str:
    from urllib.parse import quote

    from relbase.view.transcode import encode

    return quote(encode(match[0], "utf-8"))


def _shown(url: str) -> str:
    url = masked(url)
    return ascii(url if len(url) <= _SHOWN else f"{url[:_SHOWN]}...")


_SHOWN: Final = 200
