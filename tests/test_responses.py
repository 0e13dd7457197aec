"""One call on a response: each client gives what `rewrite` gives with the arguments spelled out."""

import asyncio
import email.message
import http.client
import io
import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any, Final
from urllib.response import addinfourl

import httpx
import pytest
import requests
import urllib3
from extras import needed
from web import Page, serving

from relbase import Layer, Result, response_base, response_links, rewrite, rewrite_response

BODY: Final = (
    '<title>Привет</title><a href="../x?q=я">я</a><img srcset="a 1x, /b 2x"><a href="">'
    "<p style='background:url(\"c.png\")'>"
).encode("windows-1251")
HTML: Final = ("Content-Type", "text/html")
IN_1251: Final = ("Content-Type", 'TEXT/HTML; Charset="windows-1251"')


def redirect(to: str, status: int = 302) -> Page:
    return Page(b"moved", (HTML, ("Location", to)), status)


PAGES: Final[Mapping[str, Page]] = {
    "/plain": Page(BODY, (IN_1251,)),
    # a charset only in the header, three redirects: absolute, relative, to another host
    "/first": redirect("http://127.0.0.1:{port}/a/second?x=1#s"),
    "/a/second": redirect("./b/third", 301),
    "/a/b/third": redirect("http://localhost:{port}/c/last?y#frag", 307),
    "/c/last": Page(BODY, (IN_1251,)),
    "/gzip": Page(BODY, (IN_1251,), coding="gzip"),
    "/deflate": Page(BODY, (IN_1251,), coding="deflate"),
    "/chunked": Page(BODY, (IN_1251,), chunked=True),
    "/closes": Page(BODY, (IN_1251,), closes=True),
    "/both": Page(BODY, (IN_1251,), coding="gzip", chunked=True),
    "/base": Page(BODY, (HTML, ("Content-Base", "http://b.example/s/"))),
    "/repeated": Page(BODY, (HTML, ("Base", "mailto:x"), ("BASE", "<URL:http://b.example/r/>"))),
    "/css": Page(b"a{background:url(x.png)}", (("Content-Type", "text/css"),)),
    "/mail": Page(b"Subject: x\n\nbody", (("Content-Type", "message/rfc822"),)),
    "/empty": Page(b""),
    "/moved": Page(b"", (HTML, ("Location", "/plain")), 301),
    "/error": Page(BODY, (IN_1251,), status=404),
    "/json": Page(b'{"a": "<a href=x>"}', (("Content-Type", "application/json"),)),
}

# What a client's redirects come to, as the arguments of `rewrite`.
REDIRECTS: Final[Mapping[str, list[str]]] = {
    "/first": [
        "http://127.0.0.1:{port}/a/second?x=1",
        "./b/third",
        "http://localhost:{port}/c/last?y",
    ]
}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving(PAGES) as found:
        yield found


def expected(path: str, port: int) -> Result:
    """The result of `rewrite` with the arguments spelled out."""
    redirects = [url.replace("{port}", str(port)) for url in REDIRECTS.get(path, ())]
    page = PAGES["/c/last" if redirects else path]
    return rewrite(
        page.body, url=f"http://127.0.0.1:{port}{path}", redirects=redirects, headers=page.fields
    )


def of_urllib(url: str) -> Result:
    try:
        response = urllib.request.urlopen(url)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        return rewrite_response(response)


def of(client: Any, url: str) -> Result:
    with suppress(AttributeError):  # httpx is told when it is made
        client.trust_env = False
    with client:
        return rewrite_response(client.get(url))


async def of_async(client: Any, url: str) -> Result:
    with suppress(AttributeError):  # httpx is told when it is made
        client.trust_env = False
    async with client:
        return rewrite_response(await client.get(url))


async def of_aiohttp(url: str) -> Result:
    async with needed("aiohttp").ClientSession() as session, session.get(url) as response:
        await response.read()
        return rewrite_response(response)


CLIENTS: Final[Mapping[str, Callable[[str], Result]]] = {
    "requests": lambda url: of(requests.Session(), url),
    "httpx": lambda url: of(httpx.Client(follow_redirects=True, trust_env=False), url),
    "httpx async": lambda url: asyncio.run(
        of_async(httpx.AsyncClient(follow_redirects=True, trust_env=False), url)
    ),
    "urllib": of_urllib,
    "aiohttp": lambda url: asyncio.run(of_aiohttp(url)),
    "niquests": lambda url: of(needed("niquests").Session(), url),
    "niquests async": lambda url: asyncio.run(of_async(needed("niquests").AsyncSession(), url)),
}


@pytest.mark.parametrize(
    "path", sorted(PAGES.keys() - {"/a/second", "/a/b/third", "/c/last", "/moved"})
)
@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_gives_what_rewrite_gives(client: str, path: str, port: int) -> None:
    result, spelled = CLIENTS[client](f"http://127.0.0.1:{port}{path}"), expected(path, port)
    assert result.data == spelled.data
    assert result.base.url == spelled.base.url
    assert [link.url for link in result.links] == [link.url for link in spelled.links]
    if client == "urllib":  # which tells the last URL alone, and counts no bytes
        reasons = sorted(note.reason.value for note in result.notes)
        more = ["body-partial"] * (path == "/closes")
        assert reasons == sorted([*more, *(note.reason.value for note in spelled.notes)])
    else:
        assert result == spelled


def test_the_redirects_are_the_layers_reason(port: int) -> None:
    result = CLIENTS["requests"](f"http://127.0.0.1:{port}/first")
    assert result.base.url == f"http://localhost:{port}/c/last?y"
    assert (result.base.layer, result.base.source) == (Layer.RETRIEVAL, "redirect 3")
    assert f'<a href="http://localhost:{port}/x?q=я">'.encode("windows-1251") in result.data


SPIDER: Final = """
import json, sys, scrapy
from scrapy.crawler import CrawlerProcess
from relbase import rewrite_response

class Spider(scrapy.Spider):
    name = "pages"
    custom_settings = {"LOG_ENABLED": False, "HTTPERROR_ALLOW_ALL": True, "TELNETCONSOLE_ENABLED": False}
    async def start(self):
        for url in sys.argv[1:]:
            yield scrapy.Request(url, meta={"asked": url})
    def parse(self, response):
        result = rewrite_response(response)
        print(json.dumps([response.meta["asked"], result.data.hex(), result.base.as_dict()]))

process = CrawlerProcess()
process.crawl(Spider)
process.start()
"""  # noqa: E501 (a script)


def test_scrapy_gives_what_rewrite_gives(port: int) -> None:
    """In a process of its own: Twisted's reactor starts once."""
    needed("scrapy")
    paths = ["/plain", "/first", "/gzip", "/deflate", "/both", "/repeated", "/css", "/error"]
    urls = [f"http://127.0.0.1:{port}{path}" for path in paths]
    ran = subprocess.run(
        [sys.executable, "-c", SPIDER, *urls], capture_output=True, text=True, check=False
    )
    found = {asked: rest for asked, *rest in map(json.loads, ran.stdout.splitlines())}
    assert found.keys() == set(urls), ran.stderr[-2000:]
    for path, url in zip(paths, urls, strict=True):
        spelled = expected(path, port)
        assert found[url] == [spelled.data.hex(), spelled.base.as_dict()], path


# ---- responses that a program made, or holds in other ways


def test_links_and_the_base_of_a_response(port: int) -> None:
    url = f"http://127.0.0.1:{port}/base"
    response = requests.get(url, timeout=10)
    spelled = expected("/base", port)
    header, *body = response_links(response)
    assert tuple(body) == spelled.links
    assert (header.attribute, header.url) == ("content-base", "http://b.example/s/")
    assert response_base(response) == spelled.base
    assert response_base(response).source == "Content-Base of the HTTP header"


def test_arguments_count_before_the_response(port: int) -> None:
    response = requests.get(f"http://127.0.0.1:{port}/first", timeout=10)
    given = {"Content-Type": "text/html; charset=utf-8"}
    result = rewrite_response(response, url="http://o.example/", headers=given, profile="whatwg")
    assert result == rewrite(BODY, url="http://o.example/", headers=given, profile="whatwg")


def test_a_scrapy_response_without_a_request() -> None:
    url, type_ = "http://h.example/c", "text/html; charset=windows-1251"
    fields = {"Content-Type": [type_], "Base": ["mailto:x", "http://b/"]}
    headers = [("Content-Type", type_), ("Base", "mailto:x"), ("Base", "http://b/")]
    response = needed("scrapy.http").HtmlResponse(url, headers=fields, body=BODY)
    assert rewrite_response(response) == rewrite(BODY, url=url, headers=headers)


def test_a_scrapy_response_after_redirects() -> None:
    scrapy = needed("scrapy.http")
    request = scrapy.Request("http://h.example/c", meta={"redirect_urls": ["http://h.example/a"]})
    response = scrapy.HtmlResponse("http://h.example/c", body=b"<a href=x>", request=request)
    assert response_base(response).source == "redirect 1"


@pytest.mark.parametrize("path", ["/plain", "/gzip", "/first", "/closes"])
def test_a_response_of_urllib3(path: str, port: int) -> None:
    with urllib3.PoolManager() as manager:
        response = manager.request("GET", f"http://127.0.0.1:{port}{path}")
        assert rewrite_response(response) == expected(path, port)
        given = rewrite_response(response, url="http://o.example/")
        assert given.base.url == "http://o.example/"
    with urllib3.HTTPConnectionPool("127.0.0.1", port) as pool:  # knows the path alone
        if path != "/first":  # which leads to another host
            assert rewrite_response(pool.request("GET", path)) == expected(path, port)


def test_a_response_of_urllib3_that_knows_no_host() -> None:
    response = urllib3.HTTPResponse(b"<a href=x>", {"Content-Type": "text/html"}, request_url="/d/")
    with pytest.raises(ValueError, match=r"only the path of its URL, '/d/': give .* as url="):
        rewrite_response(response)
    assert rewrite_response(response, url="http://h/d/").data == b"<a href=http://h/d/x>"


# ---- bad calls: the error names the fix


async def coroutine() -> None:
    pass


def read_before() -> addinfourl:
    response = addinfourl(io.BytesIO(b"x"), email.message.Message(), "http://h.example/")
    response.close()
    return response


class Stream:
    """A client's response whose body is read by a coroutine."""

    url = "http://h.example/"
    headers: Mapping[str, str] = {}

    async def read(self) -> bytes:
        return b""


BAD: Final[list[tuple[Any, type[Exception], str]]] = [
    (None, TypeError, r"NoneType is not an HTTP response \(it has no headers\): give what"),
    (5, TypeError, "int is not an HTTP response"),
    (b"<p>", TypeError, "give a document to rewrite"),
    ("<p>", TypeError, "give a document to rewrite"),
    (object(), TypeError, "give what requests.get"),
    ([], TypeError, "give what requests.get"),
    (coroutine, TypeError, "await it first"),
    (SimpleNamespace(__await__=None), TypeError, "await it first"),
    (SimpleNamespace(url="http://h/", content=b""), TypeError, "is not an HTTP response"),
    (SimpleNamespace(url="http://h/", headers={}), TypeError, "give its bytes to rewrite"),
    (SimpleNamespace(url="http://h/", headers=5, content=b""), TypeError, "or pairs, not int"),
    (SimpleNamespace(url="http://h/", headers="a: b", content=b""), TypeError, "or pairs, not str"),
    (SimpleNamespace(url="/d/", headers={}, content=b""), ValueError, "only the path of its URL"),
    (SimpleNamespace(url="http://h/", headers={}, content="<p>"), TypeError, "rewrite"),
    (SimpleNamespace(url="http://h/", headers={}, read=lambda: "<p>"), TypeError, "rewrite_text"),
    (Stream(), ValueError, "call await response.read"),
    (read_before(), ValueError, "give what you read to rewrite"),
    (httpx.Response(200, stream=httpx.ByteStream(b"x")), ValueError, r"await response\.aread"),
]  # fmt: skip


@pytest.mark.parametrize("function", [rewrite_response, response_links, response_base])
@pytest.mark.parametrize(("response", "error", "fix"), BAD)
def test_a_bad_response_is_an_error_that_names_the_fix(
    function: Any, response: Any, error: type[Exception], fix: str
) -> None:
    with pytest.raises(error, match=fix) as raised:
        function(response)
    assert type(raised.value) is error


def refused(response: Any, why: str = "was already read") -> None:
    with pytest.raises(ValueError, match=why):
        rewrite_response(response)


def test_bodies_that_are_not_read_yet(port: int) -> None:
    url = f"http://127.0.0.1:{port}/plain"
    with requests.get(url, stream=True, timeout=10) as unread:
        refused(unread, r"call response\.content first")
        assert unread.content == BODY
        assert rewrite_response(unread) == expected("/plain", port)
    with httpx.Client() as client, client.stream("GET", url) as streamed:
        refused(streamed, r"call response\.read\(\) first")
        streamed.read()
        assert rewrite_response(streamed) == expected("/plain", port)
    with urllib.request.urlopen(url) as response:
        assert response.status == HTTPStatus.OK
        assert rewrite_response(response).changed
        refused(response)
    raw = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n"
    head = http.client.HTTPResponse(
        SimpleNamespace(makefile=lambda _mode: io.BytesIO(raw)),  # type: ignore[arg-type]
        method="HEAD",
    )
    head.begin()
    assert rewrite_response(head, url=url).data == b""


def test_a_body_of_which_something_was_read_is_no_document(port: int) -> None:
    url = f"http://127.0.0.1:{port}/plain"
    with urllib3.PoolManager() as manager:
        response = manager.request("GET", url, preload_content=False)
        assert len(response.read(5)) == 5
        refused(response)
        response.release_conn()
    with httpx.Client() as web, web.stream("GET", url) as part:
        next(part.iter_raw(5))
        refused(part)
    for path in ("/plain", "/chunked"):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as begun:
            assert len(begun.read(5)) == 5
            refused(begun)
    with addinfourl(io.BytesIO(BODY), email.message.Message(), url) as begun:
        begun.read(5)
        refused(begun)


@pytest.mark.parametrize("name", ["requests", "niquests"])
def test_a_partly_read_body_of_requests_is_no_document(name: str, port: int) -> None:
    client = needed(name)
    for path in ("/plain", "/chunked", "/closes", "/gzip"):
        with client.get(f"http://127.0.0.1:{port}{path}", stream=True) as part:
            assert len(part.raw.read(5)) == 5
            refused(part)
    for path in ("/plain", "/closes"):  # no size is known of a body that is coded or chunked
        with client.get(f"http://127.0.0.1:{port}{path}", stream=True) as part:
            next(part.iter_content(5))
            assert len(part.content) < len(BODY)
            refused(part)


def test_a_partly_read_body_of_aiohttp_is_no_document(port: int) -> None:
    async def of_aiohttp() -> None:
        url = f"http://127.0.0.1:{port}/plain"
        async with needed("aiohttp").ClientSession() as session, session.get(url) as waiting:
            refused(waiting, r"await response\.read\(\)")
            assert len(await waiting.content.readexactly(5)) == 5
            await waiting.read()
            refused(waiting)

    asyncio.run(of_aiohttp())


def test_a_redirect_that_was_not_followed_is_noted(port: int) -> None:
    url = f"http://127.0.0.1:{port}"
    for path, noted in (("/moved", ["redirect-unfollowed"]), ("/first", []), ("/empty", [])):
        result = rewrite_response(httpx.get(f"{url}{path}", trust_env=False))
        assert [note.reason.value for note in result.notes] == noted
    followed = httpx.get(f"{url}/moved", trust_env=False, follow_redirects=True)
    assert rewrite_response(followed).notes == rewrite_response(httpx.get(f"{url}/plain")).notes
