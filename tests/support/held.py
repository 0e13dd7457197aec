"""Files that hold pages, made as the programs write them: Safari, browsers, Firefox, Evernote."""

from __future__ import annotations

import base64
import io
import json
import plistlib
import warnings
import zipfile
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

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


def index_rdf(url: str, *, file: str = "index.html", charset: str = "UTF-8") -> bytes:
    """What the extension Mozilla Archive Format writes of a page (MaffDataSource.js)."""
    stated = {
        "originalurl": url,
        "title": "A page",
        "archivetime": "Mon, 25 Dec 2017 17:27:46 GMT",
        "indexfilename": file,
        "charset": charset,
    }
    lines = (f"<MAF:{name} RDF:resource={quoteattr(value)}/>" for name, value in stated.items())
    return f"""<?xml version="1.0"?>
<RDF:RDF xmlns:MAF="http://maf.mozdev.org/metadata/rdf#"
         xmlns:NC="http://home.netscape.com/NC-rdf#"
         xmlns:RDF="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <RDF:Description RDF:about="urn:root">
    {"".join(lines)}
  </RDF:Description>
</RDF:RDF>
""".encode()


def zipped(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", method) as made:
        warnings.simplefilter("ignore")  # names may be there twice
        for name, data in members:
            made.writestr(zipfile.ZipInfo(name, (2017, 12, 25, 17, 27, 46)), data, method)
    return file.getvalue()


def maff(*pages: tuple[str, dict[str, bytes]], charset: str = "UTF-8") -> bytes:
    """Pages with their files, each in a directory that is named after the time."""
    members = []
    for number, (url, files) in enumerate(pages):
        folder = f"1514222866000_{number}"
        members += [(f"{folder}/index.rdf", index_rdf(url, charset=charset))]
        members += [(f"{folder}/{name}", data) for name, data in files.items()]
    return zipped(members)


MAFF_PAGE: Final = (
    b"<link rel=stylesheet href=index_files/s.css><a href='../b?x'>x</a>"
    b"<img src=index_files/i.png><iframe src=index_files/f.html></iframe>"
)
MAFF_FILES: Final = {
    "index.html": MAFF_PAGE,
    "index_files/s.css": b"a{background:url(i.png)}",
    "index_files/i.png": PICTURE,
    "index_files/f.html": b"<a href=http://k.example/>",
}


def note(
    content: str, *, url: str = "", title: str = "A note", attached: str = "", is_old: bool = False
) -> str:
    """A note as Evernote 10 exports it, or as Evernote 5 and 6 did."""
    source = f"<source>web.clip7</source><source-url>{escape(url)}</source-url>" if url else ""
    about = f"<note-attributes><author>a</author>{source}</note-attributes>"
    dates = "<created>20240102T030405Z</created><updated>20240102T030405Z</updated>"
    written = content.replace("]]>", "]]]]><![CDATA[>")
    if is_old:
        body = f"<content><![CDATA[{written}]]></content>"
        parts = f"<title>{escape(title)}</title>{body}{dates}{about}"
    else:
        body = f"<content>\n      <![CDATA[{written}      ]]>\n    </content>"
        parts = f"<title>{escape(title)}</title>{dates}<tag>t</tag>{about}{body}"
    resource = (
        f'<resource><data encoding="base64">{attached}</data><mime>image/png</mime>'
        "<resource-attributes><source-url>http://no.example/</source-url></resource-attributes>"
        "</resource>"
    )
    return f"  <note>{parts}{resource if attached else ''}</note>\n"


ENML: Final = (
    '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n'
    '<!DOCTYPE en-note SYSTEM "http://xml.evernote.com/pub/enml2.dtd"><en-note>{}</en-note>'
)


def enex(*notes: str) -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">\n'
        '<en-export export-date="20240102T030405Z" application="Evernote" version="10.73.4">\n'
        f"{''.join(notes)}</en-export>\n"
    ).encode()
