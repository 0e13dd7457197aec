"""The network of a browser under test: one proxy that answers for every host, and logs.

A page is served at its own URL, whatever host that names, and nothing outside of this process is
reached. Only http is served: a request for an https URL arrives as CONNECT, which is refused. A
browser asks by https for hosts on its HSTS preload list, whatever the page says: give a page a host
that is on no such list (`www.example.com.test`).
"""

import sys
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple, Self


class Answer(NamedTuple):
    """What is served at a URL."""

    body: bytes
    headers: Mapping[str, str] = {"Content-Type": "text/html"}
    status: int = 200


class Site:
    """A proxy on a port of its own; use it as a context manager.

    `answers` maps absolute URLs without fragment to what is served there; anything else is 404.
    `requests` has the URL of every request, in the order of arrival; clear it as you like, and
    `refused` the host and port of every one by https.
    """

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.requests: list[str] = []
        self.refused: list[str] = []
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.address = f"127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a browser that hangs up: it does when it leaves a page."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Without it an answer waits for the acknowledgement of its own headers: 40 ms each.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._answer()

        def do_HEAD(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._answer()

        def do_CONNECT(self) -> None:
            site.refused.append(self.path)
            self.send_error(502)

        def _answer(self) -> None:
            site.requests.append(self.path)
            answer = site.answers.get(self.path, Answer(b"", {}, 404))
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            """Say nothing: the tests look at `requests`."""

    return Handler
