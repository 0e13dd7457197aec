"""What a header states: base URLs (rules 2 and 3), and the URL of a message (rule 16)."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from relbase.bases.layers import Layer, Statement, retrieval, unsuitable
from relbase.containers.header_fields import FieldRow, States
from relbase.containers.known_fields import bases
from relbase.edit import Span
from relbase.expressions import regex
from relbase.notes import Note, Reason
from relbase.url.profiles import Profile
from relbase.values.headers import brackets, find_url
from relbase.view.characters import decode_inner, encode_inner
from relbase.view.folding import decoded_words

_WHITE_SPACE: Final = bytes(range(0x21)) + b"\x7f"


def http_statements(fields: Iterable[tuple[str, str]]) -> tuple[list[Statement], list[Note]]:
    """Return the bases that an HTTP header states, strongest first, and notes."""
    given = [(name.strip().lower(), value, None) for name, value in fields]
    if not given:
        return [], []
    notes = [
        Note(
            Reason.CONTENT_LOCATION_HTTP,
            "",
            None,
            f"{row.name} of the HTTP header: {value.strip() if url is None else url!a} is not a "
            "base in HTTP (RFC 9110 §8.7)",
        )
        for row in bases(States.MAIL)
        if States.HTTP not in row.states
        for name, value, _ in given
        if name == row.name.lower()
        for url in [url_of(value)]
    ]
    return statements_of(given, States.HTTP, "the HTTP header"), notes


def statements_of(
    given: Sequence[tuple[str, str, Span | None]], where: States, name: str
) -> list[Statement]:
    """Return the bases that a header states (RFC 2557 §5), strongest first."""
    return [
        statement
        for row in bases(where)
        for field, value, span in given
        if field == row.name.lower()
        and (statement := _statement(row, value, f"{row.name} of {name}", span)) is not None
    ]


# RFC 2392: with these URLs, links refer to parts of a message.
_NAMES: Final = ("cid:", "mid:")
_NO_URL: Final = "is not one URL, perhaps wrapped, with comments around it"


def _statement(row: FieldRow, value: str, source: str, span: Span | None) -> Statement | None:
    """Return what a field states; None if it is empty or only names the part."""
    url = url_of(value)
    if url is None:
        return Statement(Layer.ENTITY, value.strip(), source, span, _NO_URL)
    if not url or (row.names_part and url.lower().startswith(_NAMES)):
        return None
    return Statement(Layer.ENTITY, url, source, span)


def snapshot_statements(value: str | None, profile: Profile) -> tuple[list[Statement], list[Note]]:
    """Return the retrieval URL that Chromium leaves in messages; `file:` is refused (rule 5)."""
    source = "Snapshot-Content-Location of the message"
    statements, notes = retrieval(url_of(value or ""), (), profile, source)
    if statements and statements[0].value[:5].lower() == "file:":
        text = f"{source}: a file: URL that was only detected does not count"
        return [], [Note(Reason.BASE_UNSUITABLE, "", None, text)]
    return statements, notes


def url_of(value: str) -> str | None:
    """Return the URL that a field's value states, without wrapper, comments and white space.

    "" if nothing else is there; None for several URLs, or quotes or brackets that do not wrap one.
    """
    raw = encode_inner(decoded_words(value))
    span = find_url(raw)
    if span is None:
        return None
    return decode_inner(raw[span.start : span.end].translate(None, _WHITE_SPACE))


# ---- the URLs of the messages of a mailbox: by Message-ID, List-Id or sender, or a field

# The fields of a header: names in lower case, values unfolded.
Fields = Sequence[tuple[str, str]]


class Selected(NamedTuple):
    """The URL of a message, and how it was found, for people."""

    url: str
    source: str


@dataclass(frozen=True, slots=True)
class MessageUrlTable:
    """A table of selectors, and the fields to try if no row matches a message."""

    urls: Mapping[str, str] = field(default_factory=dict)  # by selector, as `key` returns it
    fields: tuple[str, ...] = ()  # in lower case
    matched: set[str] = field(default_factory=set)  # the selectors that have matched so far

    def find(self, header: Fields) -> Selected | None:
        if matching := [selector for selector in _selectors(header) if selector in self.urls]:
            self.matched.update(matching)
            return Selected(self.urls[matching[0]], f"message map, {matching[0]}")
        for name in self.fields:
            for value in (value for other, value in header if other == name):
                for url in _absolute_urls(value):
                    return Selected(url, f"{name} of the message")
        return None


def key(selector: str) -> str:
    """Return the normal form of a selector, as in `urls`; ValueError if it selects nothing."""
    if (message := _message_id(selector)) is not None:
        return message
    local, at, host = selector.strip().rpartition("@")
    if not host.strip(".") or "*" in selector or _SEPARATOR.search(local + host):
        raise ValueError(
            f"{selector[:80]!r} selects no message: give a Message-ID (<id@host>), a List-Id "
            "(list.example.org), an address (news@example.org), a domain (@example.org), or a "
            "domain with its subdomains (@.example.org)"
        )
    return f"{local}{at}{host.lower()}"


_SEPARATOR: Final = regex(r'[\s<>,;"]')


def _selectors(header: Fields) -> Iterator[str]:
    """The keys that select a message, strongest first."""
    if selector := message_id(header):
        yield selector
    if selector := list_id(header):
        yield selector
    if selector := sender(header):
        yield selector
        host = selector.rpartition("@")[2][-_LONGEST_HOST:]
        yield f"@{host}"
        while host:
            yield f"@.{host}"
            host = host.partition(".")[2]


def _first(header: Fields, name: str) -> str:
    return next((value[:_LOOKED_AT] for other, value in header if other == name), "")


_LOOKED_AT: Final = 1_000  # characters of a field; the longest address has 320
_LONGEST_HOST: Final = 255  # RFC 1035 §2.3.4


def message_id(header: Fields) -> str:
    """Return the Message-ID of a message in its brackets, "" for none."""
    return _message_id(_first(header, "message-id")) or ""


_message_id_of: Final = regex(r"\s*<\s*([^<>\s]+?)\s*>").match


def _message_id(value: str) -> str | None:
    """The `<id@host>` that a value begins with: msg-id (RFC 5322 §3.6.4)."""
    match = _message_id_of(value)
    if match is None:
        return None
    local, at, host = match[1].rpartition("@")
    return f"<{local}{at}{host.lower()}>"


_list_id_of: Final = regex(r"<\s*([^<>\s]+)\s*>\s*\Z").search


def list_id(header: Fields) -> str:
    """Return the List-Id of a message, "" for none (RFC 2919 §3); some write it bare."""
    value = _first(header, "list-id").strip()
    match = _list_id_of(value)
    bare = "" if _SEPARATOR.search(value) else value
    return (match[1] if match else bare).lower()


# Quoted strings and comments hold no address.
_NO_ADDRESS: Final = regex(r'"(?:[^"\\]++|\\.)*+"(?!@)|\((?:[^()\\]++|\\.)*+\)')
_in_brackets: Final = regex(r"<\s*([^<>\s,]+@[^<>\s,]+)\s*>").search
_bare: Final = regex(r"[^\s,;:<>()@]++@[^\s,;:<>()]++").search


def sender(header: Fields) -> str:
    """Return the first address of From, its domain in lower case; "" for none."""
    value = _NO_ADDRESS.sub(" ", _first(header, "from")).partition(",")[0]
    match = _in_brackets(value)
    bare = None if match else _bare(value)
    address = match[1] if match else bare[0] if bare else ""
    local, at, host = address.rpartition("@")
    return f"{local}{at}{host.lower()}"


def _absolute_urls(value: str) -> Iterator[str]:
    """The URLs of a field that can be bases: a list of `<URL>`, or one URL."""
    raw = encode_inner(decoded_words(value))
    bare = find_url(raw)
    spans = [*brackets(raw), *(() if bare is None else (bare,))]
    for start, end in spans:
        url = re.sub(r"\s+", "", decode_inner(raw[start:end]))
        if unsuitable(url) is None:
            yield url


@dataclass(frozen=True, slots=True)
class MessageUrlFunction:
    """A caller's function that gets the fields of a header, with encoded words decoded."""

    function: Callable[[list[tuple[str, str]]], object]
    as_url: Callable[[Any], str]

    def find(self, header: Fields) -> Selected | None:
        url = self.function([(name, decoded_words(value)) for name, value in header])
        return None if url is None else Selected(self.as_url(url), "message_urls")


MessageUrlSource: TypeAlias = MessageUrlTable | MessageUrlFunction
