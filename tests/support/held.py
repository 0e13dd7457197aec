"""Files that hold pages, made as the programs write them: Safari's web archives, HAR."""

from __future__ import annotations

import base64
import json
import plistlib
from typing import Any, Final

FORMS: Final = {"binary": plistlib.FMT_BINARY, "XML": plistlib.FMT_XML}


def resource(url: str, type_: str, data: bytes, charset: str = "") -> dict[str, Any]:
    """A resource as WebKit writes it (LegacyWebArchive.cpp)."""
    made = {
        "WebResourceData": data,
        "WebResourceFrameName": "",
        "WebResourceMIMEType": type_,
        "WebResourceURL": url,
    }
    if charset:
        made["WebResourceTextEncodingName"] = charset
    return made


def archive(
    main: dict[str, Any], others: list[Any] | None = None, frames: list[Any] | None = None
) -> dict[str, Any]:
    made: dict[str, Any] = {"WebMainResource": main}
    if others:
        made["WebSubresources"] = others
    if frames:
        made["WebSubframeArchives"] = frames
    return made


def webarchive(made: object, form: str = "binary") -> bytes:
    return plistlib.dumps(made, fmt=FORMS[form])  # type: ignore[arg-type] # "binary" or "XML"


PAGE: Final = b'<link rel=stylesheet href=s.css><a href="../b?x">x</a><img src=i.png>'
SHEET: Final = b"a{background:url(i.png)}"
FRAME: Final = b"<a href=g>"
PICTURE: Final = b"\x89PNG\r\n\x1a\n" + bytes(range(256))

SAVED: Final = archive(
    resource("http://h.example/a/page?q#f", "text/html", PAGE, "UTF-8"),
    [
        {
            **resource("http://h.example/a/s.css", "text/css", SHEET, "UTF-8"),
            "WebResourceResponse": webarchive({"$archiver": "NSKeyedArchiver"}),
        },
        resource("http://h.example/a/i.png", "image/png", PICTURE),
        resource("http://h.example/a/copy.png", "image/png", PICTURE),
    ],
    [
        archive(
            resource("http://h.example/f/", "text/html", FRAME, "UTF-8"),
            None,
            [archive(resource("about:blank", "text/html", b"<a href=x>"))],
        ),
        archive(resource("http://k.example/f/", "text/html", FRAME, "UTF-8")),
    ],
)


def entry(
    url: str,
    body: bytes | str | None,
    type_: str = "text/html; charset=utf-8",
    *,
    status: int = 200,
    to: str = "",
    headers: tuple[tuple[str, str], ...] = (),
    size: int | None = None,
) -> dict[str, Any]:
    """An entry as Chromium's developer tools export it; bytes are in base64."""
    content: dict[str, Any] = {"size": len(body or b"") if size is None else size}
    content["mimeType"] = type_
    if isinstance(body, bytes):
        content |= {"text": base64.b64encode(body).decode(), "encoding": "base64"}
    elif body is not None:
        content["text"] = body
    listed = [{"name": name, "value": value} for name, value in headers]
    return {
        "_initiator": {"type": "other", "url": "http://no.example/"},
        "cache": {},
        "request": {
            "method": "GET",
            "url": url,
            "httpVersion": "http/2.0",
            "headers": [{"name": "base", "value": "http://no.example/"}],
            "queryString": [],
        },
        "response": {
            "status": status,
            "statusText": "OK",
            "headers": listed,
            "content": content,
            "redirectURL": to,
        },
        "startedDateTime": "2026-01-02T03:04:05.006Z",
        "time": 1.5,
        "timings": {"send": 0, "wait": 1, "receive": 0.5},
    }


def har(*entries: dict[str, Any], indent: int | None = 2) -> bytes:
    log = {
        "version": "1.2",
        "creator": {"name": "WebInspector", "version": "537.36"},
        "pages": [{"id": "page_1", "title": "http://h.example/"}],
        "entries": entries,
    }
    return json.dumps({"log": log}, indent=indent, ensure_ascii=False).encode()


def firefox_entry(url: str, text: str, type_: str = "text/html; charset=utf-8") -> dict[str, Any]:
    """An entry as Firefox exports it: the members stand in another order."""
    return {
        "startedDateTime": "2026-01-02T03:04:05.006+01:00",
        "request": {"bodySize": 0, "method": "GET", "url": url, "headers": [], "headersSize": 9},
        "response": {
            "status": 200,
            "statusText": "OK",
            "httpVersion": "HTTP/1.1",
            "headers": [{"name": "Content-Type", "value": type_}],
            "cookies": [],
            "content": {"mimeType": type_, "size": len(text), "text": text},
            "redirectURL": "",
            "headersSize": 99,
            "bodySize": 9,
        },
        "cache": {},
        "timings": {"blocked": 0},
        "time": 9,
        "_securityState": "secure",
    }
