"""What the test clients of web frameworks return, and the pages of browsers that tests drive."""

import gzip
import zlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import quote

import httpx
import pytest
from browsing import EXECUTABLES, executable
from web import CODINGS

from relbase import response_base, response_links, rewrite_response

PAGE: Final = "<title>я</title><a href=x>"
REWRITTEN: Final = "<title>я</title><a href=http://{host}/d/x>"
FIELDS: Final = {"Link": "<next>; rel=next"}
GZIPPED: Final = gzip.compress(b"<a href=x>", mtime=0)


class Urls:
    """The URLs of a site of Django: a module, or what has its names."""

    def __init__(self) -> None:
        http, urls = pytest.importorskip("django.http"), pytest.importorskip("django.urls")
        self.urlpatterns = [
            urls.path("d/page", lambda _request: http.HttpResponse(PAGE, headers=FIELDS)),
            urls.path("moved", lambda _request: http.HttpResponseRedirect("/d/page?q=1")),
        ]


def of_django() -> tuple[Any, Any]:
    django = pytest.importorskip("django")
    settings = pytest.importorskip("django.conf").settings
    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"], SECRET_KEY="x", LOGGING_CONFIG=None)
        django.setup()
    settings.ROOT_URLCONF = Urls()
    client = pytest.importorskip("django.test").Client()
    return client.get("/d/page"), client.get("/moved", follow=True)


def of_flask() -> tuple[Any, Any]:
    flask = pytest.importorskip("flask")
    app = flask.Flask("pages")
    app.add_url_rule("/d/page", "page", lambda: (PAGE, FIELDS))
    app.add_url_rule("/moved", "moved", lambda: flask.redirect("/d/page?q=1"))
    client = app.test_client()
    return client.get("/d/page"), client.get("/moved", follow_redirects=True)


def of_starlette() -> tuple[Any, Any]:
    app = pytest.importorskip("fastapi").FastAPI()
    responses = pytest.importorskip("starlette.responses")
    app.get("/d/page")(lambda: responses.HTMLResponse(PAGE, headers=FIELDS))
    app.get("/moved")(lambda: responses.RedirectResponse("/d/page?q=1"))
    client = pytest.importorskip("starlette.testclient").TestClient(app)
    return client.get("/d/page"), client.get("/moved")


CLIENTS: Final[list[tuple[Callable[[], tuple[Any, Any]], str, str]]] = [
    (of_django, "testserver", "retrieval URL"),  # it tells the last URL alone
    (of_flask, "localhost", "redirect 1"),
    (of_starlette, "testserver", "redirect 1"),
]


@pytest.mark.filterwarnings("ignore")  # of the packages of others
@pytest.mark.parametrize(("client", "host", "source"), CLIENTS)
def test_a_test_client(client: Callable[[], tuple[Any, Any]], host: str, source: str) -> None:
    direct, moved = client()
    result = rewrite_response(direct)
    assert result.data.decode() == REWRITTEN.format(host=host)
    assert (result.base.url, result.notes) == (f"http://{host}/d/page", ())
    links = [(link.attribute, link.url) for link in response_links(direct)]
    assert links == [("link", f"http://{host}/d/next"), ("href", f"http://{host}/d/x")]
    base = response_base(moved)
    assert base.url.startswith(f"http://{host}/d/page?q")
    assert base.source == source


def test_a_response_that_a_view_makes_has_no_url() -> None:
    werkzeug = pytest.importorskip("werkzeug")
    made = werkzeug.Response(PAGE, headers=FIELDS, mimetype="text/html")
    assert [note.reason.value for note in rewrite_response(made).notes] == ["base-none"]
    assert rewrite_response(made, url="http://h/d/").changed


# ---- pages of browsers


def test_the_page_of_selenium() -> None:
    driver = SimpleNamespace(current_url="http://h.example/d/p", page_source=PAGE)
    assert rewrite_response(driver).data.decode() == REWRITTEN.format(host="h.example")
    driver.current_url = "data:,x"
    assert response_base(driver).url == ""


def playwright(**names: Any) -> SimpleNamespace:
    """A page or a response of Playwright, with those of its names that are asked for."""
    return SimpleNamespace(url="http://h.example/d/p", **names)


RESPONSE: Final[dict[str, Any]] = {
    "headers": {"content-type": "text/html; charset=utf-8", "content-encoding": "gzip"},
    "status": 200,
    "request": SimpleNamespace(
        redirected_from=SimpleNamespace(url="http://h.example/a", redirected_from=None)
    ),
}


async def awaited() -> str:
    return PAGE


def test_playwright() -> None:
    response = playwright(**RESPONSE, body=PAGE.encode)
    for one in (playwright(content=lambda: PAGE), response):
        assert rewrite_response(one).data.decode() == REWRITTEN.format(host="h.example")
    assert response_base(response).source == "redirect 1"
    with pytest.raises(ValueError, match=r"give await page\.content\(\) to rewrite_text"):
        rewrite_response(playwright(content=awaited))
    with pytest.raises(ValueError, match=r"await response\.body\(\)"):
        rewrite_response(playwright(**RESPONSE, body=awaited))


@pytest.mark.long
def test_the_page_of_a_real_browser() -> None:
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=executable(EXECUTABLES))
        except Exception as error:  # noqa: BLE001 (where there is no browser)
            pytest.skip(str(error)[:80])
        page = browser.new_page()
        page.route(
            "**/*", lambda route: route.fulfill(body=PAGE, content_type="text/html; charset=utf-8")
        )
        response = page.goto("http://h.example/d/p")
        assert b'<a href="http://h.example/d/x">' in rewrite_response(page).data
        assert rewrite_response(response).data.decode() == REWRITTEN.format(host="h.example")
        browser.close()


# ---- what any object tells that has the names of a response

HEADER: Final = {
    "Link": '<next>; rel=next, </style.css>; rel="stylesheet"',
    "Location": "/there",
    "Refresh": "5; url=../again",
}


def test_the_links_of_a_header_come_first() -> None:
    response = made(b"<base href=/b/><a href=x>", "")
    response.headers |= HEADER
    response.url = "http://h.example/d/p"
    links = list(response_links(response))
    assert [(link.attribute, link.reference, link.url) for link in links] == [
        ("link", "next", "http://h.example/d/next"),
        ("link", "/style.css", "http://h.example/style.css"),
        ("location", "/there", "http://h.example/there"),
        ("refresh", "../again", "http://h.example/again"),
        ("href", "/b/", "http://h.example/b/"),
        ("href", "x", "http://h.example/b/x"),
    ]
    assert [tuple(link.span) for link in links[:4]] == [(0, 0)] * 4
    given = response_links(response, headers=iter([("Link", "<y>")]), profile="whatwg")
    assert [link.reference for link in given] == ["y", "/b/", "x"]


# What the server sent | as clients decode it: Latin-1 (requests), UTF-8 (httpx; aiohttp escapes).
@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("日", "\xe6\x97\xa5"),
        ("日", "日"),
        ("à", "\xc3\xa0"),
        ("à", "à"),
        ("\udce9", "\udce9"),
        ("xy", "x\r\n y"),
    ],
)
def test_a_header_that_is_not_ascii(reference: str, value: str) -> None:
    response = made(b"", "")
    response.headers["Link"] = f"<{value}>; rel=next"
    assert [link.reference for link in response_links(response)] == [reference]
    response.headers = {"Base": f"http://b.example/{value}/"}
    quoted = quote(reference, errors="surrogateescape")
    assert response_base(response).url == f"http://b.example/{quoted}/"


@pytest.mark.parametrize(
    ("body", "remarks"),
    [
        (GZIPPED, []),
        (b"<a href=x>", []),  # the client undid the coding, and kept the field
        (GZIPPED[:-3], ["gzip: its checksum is missing"]),
        (GZIPPED[:-8] + bytes(8), ["gzip: its checksum is wrong"]),
        (GZIPPED + b"more", ["gzip: 4 bytes follow its end: left out"]),
    ],
)
def test_a_body_that_is_not_quite_as_its_coding_says(body: bytes, remarks: list[str]) -> None:
    result = rewrite_response(made(body, "gzip"))
    assert result.data == b"<a href=http://h.example/x>"
    assert [note.text for note in result.notes] == remarks


def made(body: bytes, coding: str, **more: Any) -> SimpleNamespace:
    fields = {"Content-Type": "text/html", "Content-Encoding": coding}
    return SimpleNamespace(content=body, headers=fields, url="http://h.example/", **more)


@pytest.mark.parametrize(
    ("more", "is_whole"),
    [({"status_code": 206}, False), ({"status": 206}, False), ({"status_code": 200}, True)],
)
def test_a_part_of_a_document_is_left_unchanged(more: dict[str, int], is_whole: bool) -> None:  # noqa: FBT001
    result = rewrite_response(made(b"<a href=x>", "", **more))
    assert result.changed is is_whole
    assert bool(result.notes) is not is_whole


@pytest.mark.parametrize("coding", CODINGS)
def test_a_body_that_the_client_left_encoded_is_decoded(coding: str) -> None:
    body = CODINGS[coding](b"<a href=x>")
    assert rewrite_response(made(body, coding)).data == b"<a href=http://h.example/x>"


@pytest.mark.parametrize(
    "body", [zlib.compress(b"<a href=x>" * 99)[:20], b"\x1f\x8b\x08\0", b"\0\1\2"]
)
@pytest.mark.parametrize("coding", ["gzip", "zstd", "x-unknown"])
def test_a_body_that_cannot_be_decoded_passes_through_with_a_note(body: bytes, coding: str) -> None:
    response = made(body, coding)
    result = rewrite_response(response)
    assert result.data == body
    assert [note.reason.value for note in result.notes][-1] == "encoding-unsupported"
    assert list(response_links(response)) == list(result.links) == []


@pytest.mark.parametrize(
    "headers", [{b"Content-Type": b"text/css"}, [("content-type", "text/css")]]
)
def test_headers_of_any_kind(headers: Any) -> None:
    response = SimpleNamespace(body=b"a{b:url(x)}", headers=headers, url=httpx.URL("http://h/d/"))
    assert rewrite_response(response).data == b"a{b:url(http://h/d/x)}"


@pytest.mark.parametrize(
    ("type_", "coding", "is_decoded"),
    [
        ("text/xml", None, True),  # servers that say nothing of the coding of sitemap.xml.gz
        ("text/html", "gzip", True),
        ("application/gzip", None, False),
        ("application/octet-stream", None, False),
        ("", None, False),
        ("application/x-gzip", "gzip", False),  # undone by the client already: an archive
    ],
)
def test_what_is_gzip_by_itself_stays(type_: str, coding: str | None, *, is_decoded: bool) -> None:
    document = b"<html><a href=x>" if type_ == "text/html" else b"<rss><docs>x</docs></rss>"
    body = gzip.compress(document)
    headers = {"Content-Type": type_} | ({"Content-Encoding": coding} if coding else {})
    response = SimpleNamespace(url="http://h.example/", headers=headers, content=body)
    result = rewrite_response(response)
    assert result.changed == is_decoded
    assert result.data == (
        document.replace(b"x>", b"http://h.example/x>").replace(b">x<", b">http://h.example/x<")
        if is_decoded
        else body
    )
