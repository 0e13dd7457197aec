"""A local web server: redirects, codings and headers as the table of a test asks for them."""

import gzip
import re
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, NamedTuple


class Page(NamedTuple):
    """What the server answers for a path."""

    body: bytes = b""  # as a browser would show it
    # of the header, repeated ones too; `{port}` stands for the server's
    fields: tuple[tuple[str, str], ...] = (("Content-Type", "text/html"),)
    status: int = 200
    coding: str = ""  # what the body is sent in: "gzip", "deflate" or nothing
    chunked: bool = False
    closes: bool = False  # whether the body ends with the connection, and no length is stated


CODINGS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "": bytes,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
}


@contextmanager
def serving(pages: Mapping[str, Page]) -> Iterator[int]:
    """Answer with the pages, by their paths; the value is the port of 127.0.0.1 and localhost."""

    class Handler(BaseHTTPRequestHandler):
        server: ThreadingHTTPServer
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            # HTTrack writes escapes in lower case.
            target = re.sub("%[0-9a-f]{2}", lambda found: found[0].upper(), self.path)
            page = pages.get(target) or pages.get(target.partition("?")[0]) or Page(status=404)
            port = str(self.server.server_port)
            body = CODINGS[page.coding](page.body)
            self.send_response_only(page.status)
            for name, value in page.fields:
                self.send_header(name, value.replace("{port}", port))
            if page.coding:
                self.send_header("Content-Encoding", page.coding)
            if page.chunked:
                self.send_header("Transfer-Encoding", "chunked")
                body = b"%x\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (
                    *(1, body[:1]),
                    *(len(body) - 1, body[1:]),
                )
            elif page.closes:
                self.send_header("Connection", "close")
                self.close_connection = True
            else:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                with suppress(OSError):  # a browser that needs no more
                    self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815 (its name)

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
