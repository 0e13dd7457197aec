"""The arguments that the library's functions share. Bad calls raise; bad documents never do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache, partial, wraps
from inspect import CO_VARKEYWORDS
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    NamedTuple,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeVar,
)

from relbase.expressions import expression
from relbase.kind import Kind, KindName
from relbase.policy import DEFAULT_POLICY, Policy
from relbase.results import Link
from relbase.url.credentials import masked
from relbase.url.profiles import PROFILES, Profile, ProfileName, as_profile
from relbase.url.resolver import parses_alone
from relbase.url.step import check_text, not_text
from relbase.values.syntaxes import C0_AND_SPACE
from relbase.view.charset import lookup

if TYPE_CHECKING:
    from relbase.bases.headers import MessageUrlSource
    from relbase.bases.layers import Statement
    from relbase.notes import Note
    from relbase.savers.rows import LocalFiles


class URLObject(Protocol):
    """A URL object of another package, such as `yarl.URL`; its `str()` is the URL."""

    @property
    def scheme(self) -> Any: ...  # noqa: ANN401 (a str, in some packages a cached property)


URL = str | URLObject
Fields = tuple[tuple[str, str], ...]
Headers = Mapping[str, str] | Iterable[tuple[str, str]]
# A mapping from selectors to URLs, or a function from a message's header fields to a URL.
MessageUrls: TypeAlias = (
    "Mapping[str, URL] | Callable[[list[tuple[str, str]]], URL | None] | MessageUrlSource"
)

# Returns the URL to write for a link: None for that of relbase, `link.reference` for no edit.
Replace: TypeAlias = Callable[[Link], str | None]


class OptionArguments(TypedDict, total=False):
    """The arguments that many calls may share."""

    headers: Headers | None
    kind: Kind | KindName | None
    charset: str | None
    profile: Profile | ProfileName
    policy: Policy
    detect: bool
    message_urls: MessageUrls | None
    images_url: URL | None


class Arguments(OptionArguments, total=False):
    """The arguments of `rewrite`, which `links`, `base` and `entities` also take."""

    url: URL | None
    redirects: Iterable[URL]
    name: str | None


class Origin(NamedTuple):
    """Where a call's URL was found, if it was not given (rule 17)."""

    source: str  # what states the URL, for people
    notes: tuple[Note, ...] = ()  # about candidates that were refused
    # knows the files saved beside the page; None: do not look for them
    local_files: LocalFiles | None = None


class Header(NamedTuple):
    """What the header fields of a document decide."""

    type: str = ""  # the Content-Type that counts
    policies: tuple[str, ...] = ()  # the `base-uri` of each Content-Security-Policy
    stated: tuple[Statement, ...] = ()  # its base (RFC 1808 §3.2)
    refused: tuple[Note, ...] = ()  # statements of a base that do not count
    range: str | None = None  # the Content-Range, if the body is a part of the document


NO_HEADER: Final = Header()


class Options(NamedTuple):
    """What a session is for: what arguments and header fields decide, whatever the document.

    The header fields themselves are not kept: those of no two responses are the same.
    """

    kind: Kind | None = None
    charset: str | None = None  # the label that was given
    profile: Profile = Profile.RFC1808
    policy: Policy = DEFAULT_POLICY
    detect: bool = True
    message_urls: MessageUrlSource | None = None
    header: Header = NO_HEADER
    images_url: str | None = None  # the base of the images of Markdown
    examines: bool = False  # also checks XML that would not change, for `--check`


def as_options(
    *,
    headers: Headers | None = None,
    kind: Kind | KindName | None = None,
    charset: str | None = None,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
    detect: bool = True,
    message_urls: MessageUrls | None = None,
    images_url: URL | None = None,
) -> Options:
    """Return the options; raise TypeError or ValueError whose text says how to fix them."""
    if charset is not None:
        check_text(charset, "charset", "give a label")
        if lookup(charset) is None:
            fix = "give one, such as 'utf-8', or None to detect it"
            raise ValueError(f"{charset[:80]!r} is not a charset label (WHATWG): {fix}")
    if not isinstance(detect, bool):
        raise TypeError(f"detect must be a bool, not {type(detect).__name__}: give True or False")
    known = as_profile(profile)
    return Options(
        None if kind is None else as_kind(kind),
        charset,
        known,
        as_policy(policy),
        detect,
        None if message_urls is None else as_message_urls(message_urls, known),
        NO_HEADER if headers is None else header_of(as_fields(headers)),
        as_url(images_url, "images_url", known) if images_url else None,
    )


P = ParamSpec("P")
T = TypeVar("T")


def with_hints(function: Callable[P, T]) -> Callable[P, T]:
    """Wrap a public function so that its TypeError for a wrong argument says what to write."""
    code = getattr(function, "__code__")  # noqa: B009 (only functions have one, and these all are)
    names = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    if code.co_flags & CO_VARKEYWORDS:
        names |= Arguments.__annotations__.keys()

    @wraps(function)
    def call(*args: P.args, **given: P.kwargs) -> T:
        try:
            return function(*args, **given)
        except TypeError:
            if len(args) > code.co_argcount == 1 or not names.issuperset(given):
                mistake = _mistake(function.__name__, names, args, tuple(given))
                raise TypeError(mistake) from None
            raise

    return call


def _mistake(
    function: str, names: set[str], args: tuple[object, ...], given: tuple[str, ...]
) -> str:
    if names.issuperset(given):
        shown = repr(args[1])[:80] if isinstance(args[1], str) else "..."
        name = "url" if "url" in names else "profile"
        return f"{function}() takes one argument without a name: give {name}={shown}"
    from difflib import get_close_matches

    unknown = next(name for name in given if name not in names)
    guess = _SYNONYMS.get(unknown) or next(iter(get_close_matches(unknown, names, 1)), "")
    guess = guess if guess in names else _SYNONYMS.get(guess, "")
    fix = f"give {guess}=..." if guess in names else f"it takes {', '.join(sorted(names))}"
    if "policy" in names and unknown in Policy.__dataclass_fields__:
        fix = f"give policy=Policy({unknown}=...)"
    return f"{function}() has no argument {unknown!r}: {fix}"


# What other libraries call these arguments.
_SYNONYMS: Final = {
    "base": "url",
    "url": "base_url",
    "base_url": "url",
    "baseurl": "url",
    "uri": "url",
    "location": "url",
    "history": "redirects",
    "encoding": "charset",
    "content_type": "headers",
    "type": "kind",
    "filename": "name",
    "path": "name",
}


def as_url(url: URL, name: str = "url", profile: Profile = Profile.RFC1808) -> str:
    """Return a retrieval URL as text; raise ValueError if the profile cannot parse it alone."""
    text = (str(url) if isinstance(url, str) else _url_text(url, name)).strip(C0_AND_SPACE)
    if not text:
        raise ValueError(f"{name} is empty: give the document's absolute URL, or None when unknown")
    if not _absolute.match(text):
        fix = "give it with its scheme, as in 'http://host/path'"
        raise ValueError(f"{name} is not absolute: {masked(text)[:80]!r}: {fix}")
    row = PROFILES[profile]
    if row.normalizes and not (row.plain_base.fullmatch(text) or parses_alone(text, profile)):
        fix = f"{masked(text)[:80]!r}: correct it, or give profile='rfc3986'"
        raise ValueError(f"{name} is not valid by {PROFILES[profile].standard}: {fix}")
    return text


# A scheme (RFC 3986 §3.1), but not the drive of `C:\x`, nor the host of `h.example:80/d`, which the
# grammar reads as a scheme.
_absolute: Final = expression(r"[A-Za-z][A-Za-z0-9+.-]++:(?![0-9]++(?:[/?#]|\Z))")


def as_redirects(redirects: Iterable[URL]) -> tuple[str, ...]:
    """Return the redirects as text, absolute or relative; raise TypeError if they are not URLs."""
    if isinstance(redirects, (str, bytes)) or not isinstance(redirects, Iterable):
        raise TypeError("redirects must be a sequence of URLs: give [redirect], or () for none")
    return tuple(_url_text(url, "each of redirects") for url in redirects)


def _url_text(url: URL, name: str) -> str:
    if isinstance(url, str):
        return str(url)
    if isinstance(url, (bytes, bytearray)):
        raise not_text(url, name)
    if callable(getattr(url, "geturl", None)):
        raise not_text(url, name, "give url.geturl()")
    if not isinstance(getattr(url, "scheme", None), str):
        raise not_text(url, name, "give one as 'http://host/x'")
    return str(url)


def as_message_urls(urls: MessageUrls, profile: Profile) -> MessageUrlSource:
    """Return a source of message URLs; raise TypeError or ValueError for a wrong one."""
    from relbase.bases import headers as known

    if isinstance(urls, (known.MessageUrlTable, known.MessageUrlFunction)):
        return urls
    if isinstance(urls, Mapping):
        name = "message_urls[{!r:.80}]".format
        table = {known.key(given): as_url(url, name(given), profile) for given, url in urls.items()}
        return known.MessageUrlTable(table)
    if not callable(urls):
        fix = f"not {type(urls).__name__}: give a mapping of selectors to URLs"
        raise TypeError(f"message_urls must be a mapping or a function, {fix}")
    check = partial(as_url, name="what message_urls returns", profile=profile)
    return known.MessageUrlFunction(urls, check)


def as_policy(policy: Policy) -> Policy:
    """Return the policy; raise TypeError if it is not one."""
    if not isinstance(policy, Policy):
        raise TypeError(f"policy must be a Policy, not {type(policy).__name__}: give Policy(...)")
    return policy


def as_kind(kind: Kind | str) -> Kind:
    """Return the kind for a member or its value; the ValueError lists the valid values."""
    if isinstance(kind, Kind):
        return kind
    if not isinstance(kind, str):
        raise TypeError(f"kind must be a Kind or its value, not {type(kind).__name__}: give 'html'")
    if kind in _KINDS:
        return _KINDS[kind]
    if kind == "warc":
        raise ValueError("a web archive holds many documents: give [data] to relbase.warc.pages")
    raise ValueError(f"{kind!r} is not a kind: give one of {', '.join(_KINDS)}")


_KINDS: Final = {member.value: member for member in Kind}


def not_bytes(data: object) -> TypeError:
    """Return the error for a document that is not bytes."""
    return TypeError(f"data must be bytes, not {type(data).__name__}: {_advice(data)}")


def _advice(data: object) -> str:
    if isinstance(data, str):
        return "read the file in binary mode, give text to rewrite_text, or encode it"
    if isinstance(data, (bytearray, memoryview)):
        return "give bytes(data)"
    names = {*dir(type(data)), *getattr(data, "__dict__", ())}  # not hasattr: properties may raise
    fitting = (advice for known, advice in _ADVICE if names & known)
    return next(fitting, "give what open(name, 'rb').read() returns")


_ADVICE: Final = (
    ({"find_all", "iterdescendants", "getroot"}, "give it to relbase.trees.make_links_absolute"),
    ({"__fspath__"}, "give pathlib.Path(path).read_bytes()"),
    ({"headers"}, "give a response to rewrite_response"),
    ({"read"}, "give file.read() of a file that is open in binary mode"),
)


def as_fields(headers: Headers | None) -> Fields:
    """Return the header fields as pairs; raise TypeError if they are not pairs of str."""
    if headers is None:
        return ()
    pairs: object = headers.items() if isinstance(headers, Mapping) else headers
    if isinstance(pairs, (str, bytes)) or not isinstance(pairs, Iterable):
        raise TypeError("headers must be a mapping or pairs: parse the header first")
    try:
        fields = tuple([(name, value) for name, value in pairs])
    except (TypeError, ValueError):
        raise TypeError("headers must be a mapping or pairs: give headers.items()") from None
    if not all(isinstance(name, str) and isinstance(value, str) for name, value in fields):
        raise TypeError("names and values of headers must be str: decode them first")
    return fields


def header_of(fields: Fields) -> Header:
    """Return what header fields decide."""
    if not fields:
        return NO_HEADER
    names = _deciding()
    deciding = tuple(
        [(name, value) for field, value in fields if (name := field.strip().lower()) in names]
    )
    # The responses of a site have mostly the same of these. Long ones must not stay in memory.
    is_long = sum([len(value) for _, value in deciding]) > _LONGEST
    return (_header_of if is_long else _known_header)(deciding)


_LONGEST: Final = 1 << 12


@cache
def _deciding() -> frozenset[str]:
    """Return the names of the header fields that decide anything."""
    from relbase.containers.known_fields import ROWS
    from relbase.html.csp import POLICY_FIELD

    states = (name for name, row in ROWS.items() if row.states)
    return frozenset((*states, "content-type", POLICY_FIELD, "content-range"))


def _header_of(fields: Fields) -> Header:
    if not fields:
        return NO_HEADER
    from relbase.bases.headers import http_statements
    from relbase.containers.content_type import effective_type
    from relbase.containers.http import is_partial
    from relbase.html.csp import POLICY_FIELD, base_uris

    def values(name: str) -> list[str]:
        return [value for field, value in fields if field == name]

    stated, refused = http_statements(fields)
    ranges = values("content-range")
    return Header(
        effective_type(values("content-type")),
        tuple(base_uris(values(POLICY_FIELD))),
        tuple(stated),
        tuple(refused),
        ranges[0] if ranges and is_partial(None, ranges) else None,
    )


_known_header: Final = lru_cache(maxsize=64)(_header_of)
