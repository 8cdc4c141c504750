"""Ceilings on connections and the time limit of a header, on a real server."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress

import httpx
import pytest
from tests.support.demos import KeptDemo

from wattline.web.app import create_app
from wattline.web.security.connections import (
    LOG_EVERY_S,
    SPARED_FILES,
    ConnectionLimits,
    client_of,
)
from wattline.web.serving import _listening, limited_server
from wattline.web.settings import Settings

pytestmark = pytest.mark.waits
MOST = 40
HEADER_S = 1.5


@contextmanager
def running(most: int = MOST, header_s: float = HEADER_S, **said: str) -> Iterator[int]:
    """A server that bears so many connections; its port."""
    settings = Settings(host="127.0.0.1", port=0, **said)  # type: ignore[arg-type]
    listener = _listening(settings)
    server = limited_server(create_app(KeptDemo(speed=0.0, jobs=20), settings), settings, listener,
                            files=most + SPARED_FILES, header_s=header_s)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    until_s = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < until_s
        time.sleep(0.02)
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(30)
        listener.close()


def idle(held: ExitStack, port: int, count: int, source: str = "127.0.0.1") -> None:
    """Connections over which nothing is said; some may be refused."""
    for _ in range(count):
        with suppress(ConnectionResetError):
            held.enter_context(closing(socket.create_connection(
                ("127.0.0.1", port), timeout=20, source_address=(source, 0))))


def answered(port: int, source: str = "127.0.0.1") -> bool:
    """Return whether a question from this address is answered at once."""
    transport = httpx.HTTPTransport(local_address=source)
    try:
        with httpx.Client(transport=transport, timeout=5) as client:
            return client.get(f"http://127.0.0.1:{port}/api/now").status_code == 200
    except httpx.HTTPError:
        return False


def test_idle_connections_of_one_address_leave_room_for_others_and_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with running() as port, ExitStack() as held:
        idle(held, port, 4 * MOST)
        assert answered(port, "127.0.0.2")
        assert not answered(port, "127.0.0.1")  # this address has half of all there may be
        time.sleep(HEADER_S + 0.7)
        assert answered(port, "127.0.0.1")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert "127.0.0.1 has 20 connections" in lines[0]


def test_connections_of_many_addresses_end_too() -> None:
    with running() as port, ExitStack() as held:
        for last in range(2, 8):
            idle(held, port, MOST // 2, f"127.0.0.{last}")
        time.sleep(HEADER_S + 0.7)
        assert answered(port, "127.0.0.9")


def test_a_proxy_may_have_all_the_connections_there_are() -> None:
    with running(proxy="127.0.0.1") as port, ExitStack() as held:
        idle(held, port, MOST - 5)
        asked = held.enter_context(closing(socket.create_connection(("127.0.0.1", port), 5)))
        asked.sendall(b"GET /app/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert asked.recv(20).startswith(b"HTTP/1.1 ")


@pytest.mark.parametrize("first", [b"", b"GET /api/now HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_a_header_that_comes_drop_by_drop_ends_in_time(first: bytes) -> None:
    """Also on a connection that was kept after a whole request."""
    with running() as port, closing(
            socket.create_connection(("127.0.0.1", port), timeout=20)) as made:
        if first:
            made.sendall(first)
            assert made.recv(65536).startswith(b"HTTP/1.1 200")
        began_s, ended = time.monotonic(), False
        while not ended and time.monotonic() < began_s + 4 * HEADER_S:
            try:
                made.sendall(b"G")
                made.settimeout(0.2)
                ended = made.recv(65536) == b""
            except TimeoutError:
                continue
            except OSError:
                ended = True
        assert ended
        assert time.monotonic() - began_s > HEADER_S - 0.3


def test_a_page_that_listens_stays() -> None:
    with running() as port, httpx.stream(
            "GET", f"http://127.0.0.1:{port}/api/events", timeout=10) as answer:
        began_s = time.monotonic()
        for _ in answer.iter_lines():
            if time.monotonic() > began_s + 2 * HEADER_S:
                break
        else:
            raise AssertionError("the stream was cut off")


def test_a_request_that_says_its_length_twice_is_refused_and_the_connection_closed() -> None:
    with running() as port, closing(
            socket.create_connection(("127.0.0.1", port), timeout=20)) as made:
        made.sendall(b"POST /api/whatif HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
                     b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                     b"GET /api/now HTTP/1.1\r\nHost: localhost\r\n\r\n")
        got = b""
        while piece := made.recv(65536):
            got += piece
    assert got.startswith(b"HTTP/1.1 400")
    assert got.count(b"HTTP/1.1 ") == 1


def test_refused_connections_are_one_line_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    passed = [0.0]
    limits = ConnectionLimits(SPARED_FILES + 10, clock=lambda: passed[0])
    with caplog.at_level(logging.WARNING):
        taken = sum(limits.take("10.0.0.5") for _ in range(1000))
        passed[0] = LOG_EVERY_S + 1
        assert not limits.take("10.0.0.5")
    assert taken == limits.most_by_client == 5
    assert len(caplog.records) == 2
    assert "996 since" not in caplog.records[0].getMessage()
    assert "995 since" in caplog.records[1].getMessage()
    for _ in range(taken):
        limits.give_back("10.0.0.5")
    assert limits.open == 0
    assert limits.take("10.0.0.5")


@pytest.mark.parametrize(("address", "client"), [
    ("10.0.0.5", "10.0.0.5"), ("::ffff:10.0.0.5", "10.0.0.5"), ("2001:db8::1", "2001:db8::/64"),
    ("2001:db8::ffff:1", "2001:db8::/64"), ("fe80::1%eth0", "fe80::/64"), ("unknown", "unknown")])
def test_one_client_is_an_address_or_a_network_of_ipv6(address: str, client: str) -> None:
    assert client_of(address) == client
