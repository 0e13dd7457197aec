"""Responses of HTTP clients in, results out: requests, httpx, urllib, aiohttp, Scrapy, niquests.

Strategy: no client is imported, each is known by what its responses have. The body, the header and
the URLs are read from the object, and handed to `rewrite`, `links` or `base`. A body that the
client has left encoded is decoded. Nothing is fetched: a body that the client has not read yet is
an error that names the call which reads it; of urllib alone, whose responses keep no body, it is
read here.

To mind: the charset that a client guesses is none that the server stated (requests takes every text
for ISO-8859-1), so the Content-Type is read, and not `response.encoding`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from relbase import pipeline
from relbase.kind import Kind
from relbase.notes import Note, Reason
from relbase.opening.recognition import may_hold_references
from relbase.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Unpack

    from relbase.bases.layers import Base
    from relbase.call import Arguments
    from relbase.results import Link, Result


class Response(Protocol):
    """What a client's response has: its final URL, and its header."""

    @property
    def url(self) -> Any: ...  # noqa: ANN401, D102 (a str, or the client's own type)
    @property
    def headers(self) -> Any: ...  # noqa: ANN401, D102 (likewise)


def rewrite_response(response: Response, **arguments: Unpack[Arguments]) -> Result:
    """Make every relative reference of a response's body absolute.

    Args:
        response: of requests, httpx, urllib, aiohttp, Scrapy or niquests, its body read.
        **arguments: as of `rewrite`; what is given here counts in place of what the response says.

    Returns:
        what `rewrite` gives for the body, the header, the URL and the redirects of the response.

    Raises:
        TypeError: if it is not a response, or an argument is of another type.
        ValueError: if the body is not read yet, was read before, or an argument is not known.

    >>> import io
    >>> from urllib.response import addinfourl
    >>> page = addinfourl(io.BytesIO(b"<a href=x>"), {"Content-Type": "text/html"}, "http://h/d/")
    >>> rewrite_response(page).data
    b'<a href=http://h/d/x>'
    """
    entity = _read(response, arguments.get("kind"))
    result = pipeline.rewrite(entity.data, **_call(entity, arguments))
    if entity.fault is None:
        return result
    return result._replace(notes=(*result.notes, entity.fault))


def response_links(response: Response, **arguments: Unpack[Arguments]) -> Iterator[Link]:
    """Return an iterator over every reference of a response's body, with what it resolves to.

    Args:
        response: as of `rewrite_response`.
        **arguments: as of `rewrite_response`.
    """
    entity = _read(response, arguments.get("kind"))
    return pipeline.links(entity.data, **_call(entity, arguments))


def response_base(response: Response, **arguments: Unpack[Arguments]) -> Base:
    """Return the base URL of a response, with its reason and the layers outside (RFC 1808 §3).

    Args:
        response: as of `rewrite_response`.
        **arguments: as of `rewrite_response`.
    """
    entity = _read(response, arguments.get("kind"))
    return pipeline.base(entity.data, **_call(entity, arguments))


class _Received(NamedTuple):
    """What a response says, in the types of this library.

    Args:
        data: the body, decoded; as it is where it cannot be.
        fields: the header, each value of a repeated field by itself.
        urls: what was requested first, and where each redirect led.
        fault: why the body cannot be decoded, if it cannot.
    """

    data: bytes
    fields: tuple[tuple[str, str], ...]
    urls: tuple[str, ...]
    fault: Note | None


def _read(response: object, kind: object) -> _Received:
    if isinstance(response, (str, bytes)) or not hasattr(type(response), "__dict__"):
        raise TypeError(_no_response(response))
    headers = _attribute(response, "headers")
    if headers is None:
        raise TypeError(_no_response(response))
    from relbase.containers.codings import decoded  # noqa: PLC0415 (start-up time)
    from relbase.containers.http import with_range  # noqa: PLC0415 (likewise)

    fields = with_range(_fields(headers, _getlist(response)), _status(response))
    body = _body(response)
    codings = [value for name, value in fields if name.lower() == "content-encoding"]
    undone = decoded(body, (), codings)
    fault = None
    if kind is None and undone.undone:
        # Archives are gzip by themselves: what passes through is what the client holds.
        type_ = next((value for name, value in fields if name.lower() == "content-type"), "")
        seen = undone.data if len(undone.undone) <= len(codings) else body
        if not may_hold_references(type_, seen):
            return _Received(body, fields, _urls(response), None)
    if undone.data is None:
        text = f"the body is left as it is: {undone.fault}"
        fault = Note(Reason.ENCODING_UNSUPPORTED, "", None, text)
    data = body if undone.data is None else undone.data
    return _Received(data, fields, _urls(response), fault)


def _no_response(found: object) -> str:
    if isinstance(found, (str, bytes)):
        fix = "give a document to rewrite, with url=... and headers=..."
    elif iscoroutinefunction(found) or hasattr(found, "__await__"):
        fix = "await it first"
    else:
        fix = "give what requests.get, httpx.get, urlopen, ... returned"
    return f"the response has no headers, it is a {type(found).__name__}: {fix}"


def _attribute(response: object, name: str) -> Any:  # noqa: ANN401 (of any client)
    """An attribute of a response; None where it has none, or cannot tell (httpx raises then)."""
    try:
        return getattr(response, name, None)
    except (AttributeError, RuntimeError):
        return None


# ---- the header


def _status(response: object) -> int | None:
    """The status: requests, httpx and niquests call it otherwise than the others."""
    found = (_attribute(response, name) for name in ("status_code", "status"))
    return next((one for one in found if isinstance(one, int)), None)


def _fields(
    headers: Any,  # noqa: ANN401 (of any client)
    getlist: Callable[[str], list[str]],
) -> tuple[tuple[str, str], ...]:
    """The header, each value of a repeated field by itself."""
    pairs: Iterable[tuple[Any, Any]]
    if callable(getattr(headers, "multi_items", None)):  # httpx
        pairs = headers.multi_items()
    elif isinstance(headers, Mapping) or callable(getattr(headers, "items", None)):
        pairs = headers.items()
    else:
        pairs = headers
    try:
        return tuple(
            (_text(name), _text(one))
            for name, value in pairs
            for one in _each(name, value, getlist)
        )
    except (TypeError, ValueError):
        raise TypeError(
            f"the response's headers are a {type(headers).__name__}: give a response whose headers "
            "are a mapping, or pairs"
        ) from None


def _each(name: str, value: object, getlist: Callable[[str], list[str]]) -> Iterable[object]:
    """The values of a field: Scrapy has a list of all, requests joins them, the others give one."""
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, str) and ", " in value:
        apart = getlist(name)
        return apart if ", ".join(apart) == value else (value,)
    return (value,)


def _getlist(response: object) -> Callable[[str], list[str]]:
    """What tells the values of a field apart: that of urllib3, on which requests stands."""
    under = _attribute(_attribute(response, "raw"), "headers")
    found = getattr(under, "getlist", None)
    return found if callable(found) else lambda _name: []


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")  # RFC 9110 §5.5
    return str(value)


# ---- the URLs


def _urls(response: object) -> tuple[str, ...]:
    """The URL that was requested first, and where each redirect led, as far as it is known."""
    history = _attribute(response, "history")
    if isinstance(history, (list, tuple)):  # requests, httpx, aiohttp, niquests
        chain = [_attribute(one, "url") for one in history]
    else:
        meta = _attribute(_attribute(response, "request"), "meta")  # Scrapy
        chain = list(meta.get("redirect_urls", ())) if isinstance(meta, Mapping) else []
    # aiohttp takes the fragment off in `url`; it is none of the base either way.
    last = _attribute(response, "url")
    if last is None and callable(getattr(response, "geturl", None)):
        try:
            last = cast("Any", response).geturl()
        except AttributeError:  # http.client's, when nobody has told it
            last = None
    return tuple(str(url) for url in (*chain, last) if url)


def _call(entity: _Received, arguments: Arguments) -> Arguments:
    """The arguments of the library for a response; those that are given count first."""
    call: Arguments = {"headers": entity.fields}
    if entity.urls and "url" not in arguments:
        call["url"] = entity.urls[0]
        call["redirects"] = entity.urls[1:]
    if entity.fault is not None:
        call["kind"] = Kind.OTHER
    return {**call, **arguments}


# ---- the body


def _body(response: object) -> bytes:
    """The bytes of the body; ValueError with the call that reads it where it is not read."""
    own = getattr(response, "__dict__", {})
    if own.get("_content", b"") is False:  # requests, niquests: with stream=True
        raise ValueError("the response's body is not read yet: call response.content first")
    for name in _BODIES:
        try:
            found = getattr(response, name, None)
        except Exception as error:
            raise ValueError(
                f"the response's body is not read: {error}: call response.read() first, or await "
                "response.aread()"
            ) from error
        if isinstance(found, (bytes, bytearray, memoryview)):
            return bytes(found)
    read = getattr(response, "read", None)
    if iscoroutinefunction(read):
        raise ValueError("the response's body is not read yet: call await response.read() first")
    if not callable(read):
        raise TypeError(
            f"a {type(response).__name__} has no body in {', '.join(_BODIES)} or read(): give its "
            "bytes to rewrite, with url=... and headers=..."
        )
    return _read_once(response, read)


# requests, httpx, niquests; Scrapy; aiohttp, which has no public name for what it has read;
# urllib3, Werkzeug
_BODIES: Final = ("content", "body", "_body", "data")


def _read_once(response: object, read: Any) -> bytes:  # noqa: ANN401 (of any client)
    """The body of a response that does not keep it: urllib's."""
    gone = (
        "the response's body was read before, and urllib keeps none: give what you read to "
        "rewrite, with url=response.url and headers=response.headers.items()"
    )
    is_closed = _attribute(response, "isclosed") or _attribute(response, "closed")
    if (is_closed() if callable(is_closed) else is_closed) or _is_begun(response):
        raise ValueError(gone)
    try:
        found = read()
    except ValueError as error:  # of a closed file
        raise ValueError(gone) from error
    if not isinstance(found, bytes):
        raise TypeError(
            f"response.read() gave a {type(found).__name__}, not bytes: give bytes to rewrite, or "
            "a str to rewrite_text"
        )
    return found


def _is_begun(response: object) -> bool:
    """Whether something of a body was read, as far as urllib knows: a rest is not a document."""
    left = _attribute(response, "length")
    tell = _attribute(response, "tell")
    try:
        if isinstance(left, int):  # 0 after a HEAD, whatever the header states
            return 0 < left < int(cast("Any", response).headers["Content-Length"])
        if _attribute(response, "chunked"):
            return isinstance(_attribute(response, "chunk_left"), int)
        return callable(tell) and tell() > 0  # of a file, or of bytes
    except (KeyError, OSError, TypeError, ValueError):  # of a connection
        return False
