"""HAR of what a real Chromium loads: the links of each page are those of what was served."""

from __future__ import annotations

import json
from typing import Any

import browsing
from held import har
from served import Answer, Site

import relbase
from relbase.warc import Page, link_rows
from relbase.warc.held import HOLDERS, pages_in

HTML = {"Content-Type": "text/html; charset=utf-8"}
SERVED = {
    "http://www.example.test/old": Answer(b"", {"Location": "/d/page?q"}, 302),
    "http://www.example.test/d/page?q": Answer(
        "<meta charset=utf-8><link rel=stylesheet href=s.css><a href='x?é'>é</a>"
        "<iframe src=../f/></iframe><img src=i.png><iframe src=1251.html></iframe>".encode(),
        HTML,
    ),
    "http://www.example.test/d/s.css": Answer(
        b"p{background:url(b.png)}", {"Content-Type": "text/css"}
    ),
    "http://www.example.test/f/": Answer(b"<base href=g/><a href=x>x</a>", HTML),
    "http://www.example.test/d/1251.html": Answer(
        "<meta charset=windows-1251><a href='?я'>я</a>".encode("cp1251"),
        {"Content-Type": "text/html"},
    ),
    "http://www.example.test/d/i.png": Answer(b"\x89PNG\r\n\x1a\n", {"Content-Type": "image/png"}),
}


def logged(driver: Any) -> list[dict[str, Any]]:
    """Entries of a HAR from the events of the DevTools protocol, as DevTools makes them."""
    requests: dict[str, dict[str, Any]] = {}
    entries = []
    for line in driver.get_log("performance"):
        event = json.loads(line["message"])["message"]
        method, given = event["method"], event["params"]
        if method == "Network.requestWillBeSent":
            if redirect := given.get("redirectResponse"):
                to = redirect["headers"].get("Location", "")
                entries.append(_entry(requests[given["requestId"]], redirect, {}, to))
            requests[given["requestId"]] = given["request"]
        elif method == "Network.responseReceived" and given["requestId"] in requests:
            try:
                asked = {"requestId": given["requestId"]}
                content = driver.execute_cdp_cmd("Network.getResponseBody", asked)
            except Exception:  # noqa: BLE001 (of selenium: it has no body)
                content = {}
            entries.append(_entry(requests[given["requestId"]], given["response"], content, ""))
    return entries


def _entry(
    request: dict[str, Any], response: dict[str, Any], body: dict[str, Any], to: str
) -> dict[str, Any]:
    content = {"size": 1, "mimeType": response["mimeType"]}
    if body:
        content["text"] = body["body"]
    if body.get("base64Encoded"):
        content["encoding"] = "base64"
    headers = [{"name": name, "value": value} for name, value in response["headers"].items()]
    return {
        "request": {"method": request["method"], "url": request["url"], "headers": []},
        "response": {
            "status": response["status"],
            "headers": headers,
            "content": content,
            "redirectURL": to,
        },
        "startedDateTime": "2026-01-02T03:04:05.006Z",
    }


def test_links_are_those_of_what_was_served() -> None:
    with Site() as site:
        site.answers.update(SERVED)
        driver = browsing.start(site, logs=True)
        try:
            driver.get("http://www.example.test/old")
            entries = logged(driver)
        finally:
            driver.quit()
    pages = [page for page in pages_in(HOLDERS["har"], har(*entries)) if isinstance(page, Page)]
    read = {
        url: answer
        for url, answer in SERVED.items()
        if b"href" in answer.body or b"url(" in answer.body
    }
    assert {page.url for page in pages} == {*read}
    for page in pages:
        answer = read[page.url]
        expected = list(relbase.links(answer.body, url=page.url, headers=answer.headers))
        assert [row.url for row in link_rows(page)] == [link.url for link in expected]
        assert expected
        is_led = page.url.endswith("page?q")
        assert {row.base_source == "redirect 1" for row in link_rows(page)} == {is_led}
