"""What the test clients of web frameworks return, and the pages of browsers that tests drive."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import pytest
from browsing import EXECUTABLES, executable

from relbase import response_base, response_links, rewrite_response

PAGE: Final = "<title>я</title><a href=x>"
REWRITTEN: Final = "<title>я</title><a href=http://{host}/d/x>"
FIELDS: Final = {"Link": "<next>; rel=next"}


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
