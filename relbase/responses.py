"""Rewrites the responses of HTTP clients, and of the test clients of web frameworks.

No client is imported; each is recognised by the attributes of its responses. `response.encoding` is
not read, since it may be a guess of the client and not what the server stated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import iscoroutine, iscoroutinefunction
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Protocol, Unpack, cast

from relbase import api
from relbase.edit import Span
from relbase.formats.recognition import may_hold_references
from relbase.kind import Kind
from relbase.notes import Note, Reason
from relbase.session.options import Arguments, as_fields
from relbase.url.credentials import masked

if TYPE_CHECKING:
    from relbase.bases.layers import Base
    from relbase.results import Link, Result
    from relbase.session.options import Replace


class Response(Protocol):
    """What every client's response has: its final URL and its headers."""

    @property
    def url(self) -> Any: ...  # noqa: ANN401, D102 (a str, or the client's own type)
    @property
    def headers(self) -> Any: ...  # noqa: ANN401, D102 (as above)


def rewrite_response(
    response: Response, *, replace: Replace | None = None, **arguments: Unpack[Arguments]
) -> Result:
    """Make every relative reference of a response's body absolute.

    Args:
        response: A response of an HTTP client or test client whose body was read, or a page of
            Playwright or Selenium. The guide "In your program" lists them.
        replace: A function that returns the URL to write for a link, as in `rewrite`.
        **arguments: Arguments of `rewrite`, which replace what the response says.

    Returns:
        The result of `rewrite` for the response's body, headers, URL and redirects.

    Raises:
        TypeError: If it is not a response, or an argument has the wrong type.
        ValueError: If the body was not read, was partly read before, or an argument is unknown.

    >>> import io
    >>> from urllib.response import addinfourl
    >>> page = addinfourl(io.BytesIO(b"<a href=x>"), {"Content-Type": "text/html"}, "http://h/d/")
    >>> rewrite_response(page).data
    b'<a href=http://h/d/x>'
    """
    data, call, notes = _read(response, arguments)
    result = api.rewrite(data, **call, replace=replace)
    return result._replace(notes=(*result.notes, *notes)) if notes else result


def response_links(
    response: Response, *, texts: bool = False, **arguments: Unpack[Arguments]
) -> Iterator[Link]:
    """Return an iterator over every link of a response.

    The links of its header (`Link`, `Location`, `Refresh`, ...) come first. They have no bytes in
    the body: their span is empty, at its beginning.

    Args:
        response: A response, as for `rewrite_response`.
        texts: Whether to fill in `text` and `rel`, as `relbase.links` does.
        **arguments: Arguments of `rewrite`, which replace what the response says.
    """
    data, call, _ = _read(response, arguments)
    call["headers"] = fields = as_fields(call["headers"])
    lines = (f"{name}: {value}".replace("\r", " ").replace("\n", " ") for name, value in fields)
    text = "\r\n".join(("HTTP/1.1 200 OK", *lines, "\r\n"))
    head = text.encode("utf-8", "surrogateescape")
    about: Arguments = {**call, "kind": Kind.HTTP, "headers": None}
    of_header = (
        link._replace(span=Span(0, 0), line=1, column=1) for link in api.links(head, **about)
    )
    return chain(of_header, api.links(data, texts=texts, **call))


def response_base(response: Response, **arguments: Unpack[Arguments]) -> Base:
    """Return the base URL of a response, with the layers around it (RFC 1808 §3).

    Args:
        response: A response, as for `rewrite_response`.
        **arguments: Arguments of `rewrite`, which replace what the response says.
    """
    data, call, _ = _read(response, arguments)
    return api.base(data, **call)


def _read(response: object, given: Arguments) -> tuple[bytes, Arguments, tuple[Note, ...]]:
    """The body of a response, decoded if possible, the arguments of `rewrite`, and notes."""
    if isinstance(response, (str, bytes)) or not hasattr(type(response), "__dict__"):
        raise TypeError(_no_response(response))
    headers = _at(response, "headers")
    if headers is None:
        if (page := _page(response)) is None:
            raise TypeError(_no_response(response))
        text, urls = page
        return text.encode("utf-8", "surrogatepass"), _arguments(_PAGE_FIELDS, urls, given), ()
    from relbase.compression.codings import decoded
    from relbase.containers.http import REDIRECTION, with_range

    # requests, httpx and niquests have `status_code`, the others `status`.
    statuses = (_at(response, name) for name in ("status_code", "status"))
    status = next((stated for stated in statuses if isinstance(stated, int)), None)
    # requests joins the values of a repeated field; urllib3, which it uses, keeps them apart.
    getlist: Callable[[str], list[str]] = _at(response, "raw.headers.getlist") or (lambda _: [])
    fields = with_range(_fields(headers, getlist), status)
    call = _arguments(fields, _urls(response), given)
    notes, body = _doubts(response), _body(response)
    if not body and status is not None and status in REDIRECTION:
        notes += _unfollowed(status, fields)
    codings = [value for name, value in fields if name.lower() == "content-encoding"]
    if not codings and len(body) < _bytes_read(_at(response, "raw")):
        raise ValueError(_GONE)  # requests, niquests: the rest of a body that was begun before
    undone = decoded(body, (), codings)
    if given.get("kind") is None and undone.undone:
        # The file may itself be gzip, such as an archive: return what the client holds.
        type_ = next((value for name, value in fields if name.lower() == "content-type"), "")
        seen = undone.data if len(undone.undone) <= len(codings) else body
        if not may_hold_references(type_, seen):
            return body, call, notes
    if undone.data is not None:
        remarks = undone.remarks if undone.undone else ()  # else the client undid what is stated
        mislabelled = (Note(Reason.ENCODING_MISLABELLED, "", None, remark) for remark in remarks)
        return undone.data, call, (*notes, *mislabelled)
    fault = f"the body is left as it is: {undone.fault}"
    opaque: Arguments = {"kind": Kind.OTHER, **call}
    return body, opaque, (*notes, Note(Reason.ENCODING_UNSUPPORTED, "", None, fault))


def _arguments(
    fields: tuple[tuple[str, str], ...], urls: Sequence[str], given: Arguments
) -> Arguments:
    """The arguments that the response states, and instead of them those that the caller gave."""
    call: Arguments = {"headers": fields}
    if urls and "url" not in given:
        if urls[0].startswith("/"):
            raise ValueError(
                f"the response knows only the path of its URL, {masked(urls[0])[:80]!r}: give the "
                "URL that was requested as url=..."
            )
        call["url"], call["redirects"] = urls[0], urls[1:]
    return {**call, **given}


# ---- the page of a browser: its tree as text, and no headers

_PAGE_FIELDS: Final = (("Content-Type", "text/html; charset=utf-8"),)


def _page(response: object) -> tuple[str, tuple[str, ...]] | None:
    """The HTML and URL of a page of Selenium or Playwright; None if this is not a page."""
    url, text = _at(response, "current_url"), _at(response, "page_source")  # Selenium
    if not isinstance(text, str):
        url, content = _at(response, "url"), _at(response, "content")
        if not callable(content):
            return None
        text = content()  # Playwright
        if iscoroutine(text):
            text.close()
            raise ValueError(
                "the page is of an async API: give await page.content() to rewrite_text, "
                "with url=page.url"
            )
    is_known = isinstance(url, str) and not url.startswith(("about:", "data:"))
    return str(text), ((url,) if is_known else ())


def _no_response(given: object) -> str:
    if isinstance(given, (str, bytes)):
        fix = "give a document to rewrite, with url=... and headers=..."
    elif iscoroutinefunction(given) or hasattr(given, "__await__"):
        fix = "await it first"
    else:
        fix = "give what requests.get, httpx.get, urlopen, ... returned"
    return f"{type(given).__name__} is not an HTTP response (it has no headers): {fix}"


def _at(response: object, path: str) -> Any:  # noqa: ANN401 (of any client)
    """The value at a path of attributes; None if there is none, or access raises (httpx)."""
    value: Any = response
    for name in path.split("."):
        try:
            value = getattr(value, name.removesuffix("()"), None)
            if name.endswith("()"):
                value = value() if callable(value) else None
        except (AttributeError, RuntimeError):
            return None
    return value


def _fields(
    headers: Any,  # noqa: ANN401 (of any client)
    getlist: Callable[[str], list[str]],
) -> tuple[tuple[str, str], ...]:
    """The header fields as pairs, one for each value of a repeated field."""
    read = getattr(headers, "multi_items", None) or getattr(headers, "items", None)  # httpx
    fields: list[tuple[str, str]] = []
    try:
        pairs: Iterable[tuple[Any, Any]] = read() if callable(read) else headers
        for name, value in pairs:
            # Scrapy has a list of all values, requests joins them, the others have a pair for each.
            values = value if isinstance(value, (list, tuple)) else [value]
            if isinstance(value, str) and ", " in value:
                apart = getlist(name)
                values = apart if ", ".join(apart) == value else values
            fields += [(_text(name), _text(value)) for value in values]
    except (TypeError, ValueError):
        raise TypeError(
            f"the response's headers must be a mapping or pairs, not {type(headers).__name__}: "
            "give its body to rewrite, with url=... and headers=..."
        ) from None
    return tuple(fields)


def _text(value: object) -> str:
    """A name or value as text: servers write UTF-8, which many clients read as Latin-1."""
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _urls(response: object) -> tuple[str, ...]:
    urls: list[object] = []
    if isinstance(history := _at(response, "retries.history"), tuple):
        urls = _urls_of_urllib3(response, history)
    else:
        if isinstance(history := _at(response, "history"), (list, tuple)):
            urls += map(_own_url, history)  # requests, httpx, aiohttp, niquests; Werkzeug
        elif isinstance(meta := _at(response, "request.meta"), Mapping):
            urls += meta.get("redirect_urls", ())  # Scrapy
        else:
            request = _at(response, "request.redirected_from")  # Playwright
            while request is not None:
                urls.insert(0, _at(request, "url"))
                request = _at(request, "redirected_from")
        urls.append(_own_url(response))
    return tuple(str(url) for url in urls if url)


# Where clients keep it: most in `url` (aiohttp without the fragment, which a base does not need),
# http.client, Django's test client, those of Werkzeug and Flask.
_OWN_URL: Final = ("url", "geturl()", "wsgi_request.build_absolute_uri()", "request.url")


def _own_url(response: object) -> object:
    return next(filter(None, (_at(response, path) for path in _OWN_URL)), None)


def _urls_of_urllib3(response: object, history: Iterable[Any]) -> list[object]:
    """The URLs of urllib3, whose responses know only a path and their connection pool."""
    asked = [attempt for attempt in history if attempt.redirect_location]
    urls = [attempt.redirect_location for attempt in asked]
    urls.insert(0, asked[0].url if asked else _at(response, "url"))
    pool = _at(response, "_pool")
    if str(urls[0]).startswith("/") and pool is not None:
        host = f"[{pool.host}]" if ":" in pool.host else pool.host
        port = "" if pool.port is None else f":{pool.port}"
        urls[0] = f"{pool.scheme}://{host}{port}{urls[0]}"
    return urls


def _body(response: object) -> bytes:
    own = getattr(response, "__dict__", {})
    if own.get("_content", b"") is False:  # requests, niquests: with stream=True
        is_begun = _bytes_read(_at(response, "raw"))  # `content` would be the rest
        fix = "the response's body is not read yet: call response.content first"
        raise ValueError(_GONE if is_begun else fix)
    if "_body" in own and not own["_body"] and _bytes_read(response):
        raise ValueError(_GONE)  # urllib3: `data` would be the rest
    for name in _BODIES:
        try:
            body = getattr(response, name, None)
            body = body() if name == "body" and callable(body) else body  # Playwright
        except Exception as error:
            fix = "call response.read() first, or await response.aread()"
            text = f"the response's body is not read: {error}: {fix}"
            raise ValueError(_GONE if _at(response, "is_stream_consumed") else text) from error
        if iscoroutine(body):
            body.close()
            raise ValueError("the response's API is async: give what await response.body() returns")
        if isinstance(body, (bytes, bytearray, memoryview)):
            # aiohttp received this many bytes, and someone may have read the first of them.
            fed = _at(response, "content.total_bytes")
            if isinstance(fed, int) and fed > len(body):
                raise ValueError(_GONE)
            return bytes(body)
    read = getattr(response, "read", None)
    if iscoroutinefunction(read):
        raise ValueError("the response's body is not read yet: call await response.read() first")
    if not callable(read):
        raise TypeError(
            f"{type(response).__name__} has no body in {', '.join(_BODIES)} or read(): give its "
            "bytes to rewrite, with url=... and headers=..."
        )
    return _read_once(response, read)


def _bytes_read(response: object) -> int:
    """How many bytes of the body were read, if the response can tell like a file."""
    try:
        return int(_at(response, "tell()") or 0)
    except (OSError, TypeError, ValueError):  # a connection cannot tell
        return 0


# requests, httpx, niquests; Scrapy; aiohttp, which has no public name for the body it read;
# urllib3, Werkzeug
_BODIES: Final = ("content", "body", "_body", "data")
_GONE: Final = (
    "the response's body was already read, at least in part, and is not kept: give what you read "
    "to rewrite, with url=response.url and headers=response.headers.items()"
)


def _read_once(response: object, read: Any) -> bytes:  # noqa: ANN401 (of any client)
    if _at(response, "isclosed()") or _at(response, "closed") or _is_begun(response):
        raise ValueError(_GONE)
    try:
        content = read()
    except ValueError as error:  # the file is closed
        raise ValueError(_GONE) from error
    if not isinstance(content, bytes):
        raise TypeError(
            f"response.read() must return bytes, not {type(content).__name__}: give the document "
            "to rewrite, or to rewrite_text if it is a str"
        )
    return content


def _is_begun(response: object) -> bool:
    """Whether some of the body was read before, as far as urllib knows, so a part is missing."""
    left = _at(response, "length")
    try:
        if isinstance(left, int):  # 0 after a HEAD, whatever the header states
            return 0 < left < int(cast("Any", response).headers["Content-Length"])
    except (KeyError, TypeError, ValueError):
        return False
    if _at(response, "chunked"):
        return isinstance(_at(response, "chunk_left"), int)
    return _bytes_read(response) > 0  # a file, or bytes


def _unfollowed(status: int, fields: Iterable[tuple[str, str]]) -> tuple[Note, ...]:
    """A note if the response is a redirect that the client did not follow."""
    to = next((value for name, value in fields if name.lower() == "location"), None)
    if to is None:
        return ()
    text = f"status {status} without a body: the client did not follow the redirect to {to[:300]!a}"
    fix = "let it follow redirects (httpx: follow_redirects=True)"
    return (Note(Reason.REDIRECT_UNFOLLOWED, "", None, f"{text}; {fix}"),)


def _doubts(response: object) -> tuple[Note, ...]:
    """A note if only the end of the connection ends the body, so that no length is checked."""
    is_open = _at(response, "will_close") and _at(response, "length") is None
    if not is_open or _at(response, "chunked"):
        return ()
    text = "no length is stated: if some of the body was read before, its beginning is missing"
    return (Note(Reason.BODY_PARTIAL, "", None, text),)
