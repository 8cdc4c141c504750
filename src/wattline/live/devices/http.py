"""JSON over HTTP with a deadline for the whole exchange.

The time limits of Python's own clients hold for each read: a server that sends a byte now and then
keeps them for ever. Here the socket is told before every read what is left.
"""

from __future__ import annotations

import base64
import http.client
import io
import json
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult

from wattline.model.errors import WattlineError

LARGEST_BYTES = 4 << 20


class HttpError(WattlineError):
    """No answer, an answer that says no, or one that cannot be read."""

    def __init__(self, reason: str, status: int = 0) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True)
class Answer:
    """What a server said."""

    body: Any
    etag: str


class _Reader(io.RawIOBase):
    """Reads from a socket for as long as the deadline lets it."""

    def __init__(self, link: socket.socket, end_s: float) -> None:
        self._link, self._end_s = link, end_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._link.settimeout(_left_s(self._end_s))
        return self._link.recv_into(buffer)


class _Link:
    """As much of a socket as `http.client` uses."""

    def __init__(self, link: socket.socket, end_s: float) -> None:
        self._link, self._end_s = link, end_s

    def sendall(self, data: Any) -> None:
        self._link.settimeout(_left_s(self._end_s))
        self._link.sendall(data)

    def makefile(self, mode: str, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self._link, self._end_s))

    def close(self) -> None:
        self._link.close()


def ask(
    server: SplitResult, method: str, path: str, *, password: str = "", end_s: float,
    body: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None,
) -> Answer:
    """One request; an `HttpError` with the reason where it does not succeed by `end_s`."""
    sent = {"Accept": "application/json", "OData-Version": "4.0", **(headers or {})}
    if server.username:
        secret = base64.b64encode(f"{server.username}:{password}".encode()).decode()
        sent["Authorization"] = f"Basic {secret}"
    data = None if body is None else json.dumps(body).encode()
    if data is not None:
        sent["Content-Type"] = "application/json"
    try:
        return _exchange(server, method, path, data, sent, end_s)
    except TimeoutError:
        raise HttpError("no answer in time") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise HttpError(str(error) or type(error).__name__) from None


def _exchange(
    server: SplitResult, method: str, path: str, data: bytes | None, sent: Mapping[str, str],
    end_s: float,
) -> Answer:
    secure = server.scheme == "https"
    host = server.hostname or ""
    link = _connected(host, server.port or (443 if secure else 80), end_s)
    if secure:
        link = _secured(link, host, end_s)
    with link:
        connection = http.client.HTTPConnection(host)
        connection.sock = _Link(link, end_s)
        connection.request(method, path, data, dict(sent))
        answer = connection.getresponse()
        text = answer.read(LARGEST_BYTES)
        if not 200 <= answer.status < 300:
            raise HttpError(f"{method} {path}: {answer.status} {answer.reason}", answer.status)
        return Answer(json.loads(text) if text.strip() else {}, answer.headers.get("ETag", ""))


def _secured(link: socket.socket, host: str, end_s: float) -> socket.socket:
    """The same with encryption, to whom a certificate names."""
    try:
        link.settimeout(_left_s(end_s))
        return ssl.create_default_context().wrap_socket(link, server_hostname=host)
    except OSError:
        link.close()
        raise


def _connected(host: str, port: int, end_s: float) -> socket.socket:
    """The first address that answers, within the same deadline."""
    failed: OSError = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port,
                                                                 type=socket.SOCK_STREAM):
        link = socket.socket(family, kind, protocol)
        try:
            link.settimeout(_left_s(end_s))
            link.connect(address)
        except OSError as error:
            link.close()
            failed = error
            continue
        return link
    raise failed


def _left_s(end_s: float) -> float:
    left_s = end_s - time.monotonic()
    if left_s <= 0.0:
        raise TimeoutError
    return left_s
