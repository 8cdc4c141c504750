"""A small server of OpenADR 3: tokens, events, reports. It keeps what it is told as it is."""

from __future__ import annotations

import json
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

SECRET, TOKEN = "hush", "token-1"


class Vtn3(ThreadingHTTPServer):
    """Its events by their ids, and the reports that came."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.events: dict[str, dict[str, Any]] = {}
        self.reports: list[dict[str, Any]] = []
        self.tokens = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/openadr3"

    def put(self, event: dict[str, Any]) -> dict[str, Any]:
        """Take an event as a business logic posts it, with what a server adds."""
        name = event.get("id") or f"event-{len(self.events) + 1}"
        at = "2026-07-01T11:00:00Z"
        kept = {"createdDateTime": at, "modificationDateTime": at, **event, "id": name}
        self.events[name] = kept
        return kept


class _Handler(BaseHTTPRequestHandler):
    server: Vtn3

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        if not self._knows() or asked.path != "/openadr3/events":
            return
        program = parse_qs(asked.query).get("programID", [None])[0]
        self._say([event for event in self.server.events.values()
                   if program in (None, event.get("programID"))])

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/openadr3/auth/token":
            form = parse_qs(body.decode())
            basic = self.headers.get("Authorization", "").removeprefix("Basic ")
            shown = b64decode(basic).decode().partition(":")[2]
            if SECRET not in (shown, *form.get("client_secret", ())):
                self.send_error(403)
                return
            self.server.tokens += 1
            self._say({"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600})
        elif self._knows():
            if self.path == "/openadr3/events":
                self._say(self.server.put(json.loads(body)), 201)
            else:
                self.server.reports.append(json.loads(body))
                self._say(self.server.reports[-1], 201)

    def _knows(self) -> bool:
        if self.headers["Authorization"] == f"Bearer {TOKEN}":
            return True
        self.send_error(401)
        return False

    def _say(self, said: Any, status: int = 200) -> None:
        text = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


@contextmanager
def vtn3() -> Iterator[Vtn3]:
    with Vtn3() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
