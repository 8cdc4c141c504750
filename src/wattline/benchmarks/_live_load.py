"""Many agents in one process that is not measured: their messages, without their sensors.

It speaks MQTT by itself, because thousands of clients of a library would not fit into a process.
Each agent reports once a second, at its own moment, and checks the signature of its orders.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import ssl
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from wattline.live.fleet import NodeReport
from wattline.live.transport.broker import AGENTS, CONTROLLER, BrokerFiles
from wattline.live.transport.link import read_key
from wattline.live.transport.messages import (
    Kind,
    key_of,
    pack_reading,
    pack_report,
    topic,
    verify,
)

CLUSTER = "bench"
QUIET_W, CAP_W, LOUD_W, LOWERED_W = 200.0, 250.0, 300.0, 180.0
SLICE_S = 0.02
TOPICS_AT_ONCE = 200
_CONNECT, _PUBLISH, _SUBSCRIBE = 0x10, 0x30, 0x82


def load_files(folder: Path, port: int) -> BrokerFiles:
    return BrokerFiles(folder, CLUSTER, "127.0.0.1", port)


def node_names(count: int) -> list[str]:
    return [f"n{number:05d}" for number in range(count)]


def packet(kind: int, body: bytes) -> bytes:
    length, size = len(body), bytearray()
    while True:
        length, digit = divmod(length, 128)
        size.append(digit | (128 if length else 0))
        if not length:
            return bytes([kind]) + bytes(size) + body


def text(value: str) -> bytes:
    return struct.pack(">H", len(value)) + value.encode()


class Connection:
    """One client of the broker, for some of the agents."""

    def __init__(self, files: BrokerFiles, context: ssl.SSLContext, name: str,
                 nodes: Sequence[str]) -> None:
        plain = socket.create_connection((files.host, files.port))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = context.wrap_socket(plain, server_hostname=files.host)
        self.send(packet(_CONNECT, text("MQTT") + b"\x04\x02\x00\x00" + text(name)))
        for at in range(0, len(nodes), TOPICS_AT_ONCE):
            topics = b"".join(text(topic(CLUSTER, node, "order")) + b"\0"
                              for node in nodes[at:at + TOPICS_AT_ONCE])
            self.send(packet(_SUBSCRIBE, b"\x00\x01" + topics))
        self._socket.setblocking(False)
        self._came = b""

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, data: bytes) -> None:
        while data:
            try:
                data = data[self._socket.send(data):]
            except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                select.select([], [], [], 0.001)

    def published(self) -> Iterator[tuple[str, bytes]]:
        """Topics and payloads that came."""
        with contextlib.suppress(ssl.SSLWantReadError):
            while data := self._socket.recv(65536):
                self._came += data
        while (cut := _first_packet(self._came)) is not None:
            kind, body, self._came = cut
            if kind & 0xF0 == _PUBLISH:
                size = struct.unpack_from(">H", body)[0]
                yield body[2:2 + size].decode(), body[2 + size:]


def _first_packet(data: bytes) -> tuple[int, bytes, bytes] | None:
    length = shift = 0
    for at in range(1, min(len(data), 5)):
        length |= (data[at] & 127) << shift
        shift += 7
        if data[at] < 128:
            end = at + 1 + length
            return (data[0], data[at + 1:end], data[end:]) if len(data) >= end else None
    return None


class Load:
    """All agents."""

    def __init__(self, folder: Path, port: int, count: int, connections: int) -> None:
        self._names = node_names(count)
        files = load_files(folder, port)
        master = read_key(str(files.order_key(CONTROLLER)))
        self._keys = {name: key_of(master, CLUSTER, name) for name in self._names}
        context = files.of(AGENTS).context()
        self._connections = [
            Connection(files, context, f"load{number}", self._names[number::connections])
            for number in range(connections)]
        self._poll = select.epoll()
        self._by_file = {each.fileno(): each for each in self._connections}
        for file in self._by_file:
            self._poll.register(file, select.EPOLLIN)
        self._power_w = QUIET_W
        self._energy_j = 0.0
        self._lowered: set[str] = set()
        self._number = 1
        self._stepped_s = 0.0

    def run(self) -> None:
        at, next_s = 0, time.monotonic()
        step = max(int(len(self._names) * SLICE_S), 1)
        while len(self._lowered) < len(self._names):
            self._report(at, at + step)
            at += step
            if at >= len(self._names):
                at, self._number = 0, self._number + 1
                self._energy_j += self._power_w
            next_s += SLICE_S
            self._hear(next_s)
            if not self._stepped_s and select.select([sys.stdin], [], [], 0.0)[0]:
                self._stepped_s, self._power_w = time.time(), LOUD_W
        now_s = time.time()
        _say({"said": "lowered", "lowered_s": now_s - self._stepped_s, "lowered_at_s": now_s})
        while True:  # until whoever measures has seen enough
            time.sleep(1.0)

    def _report(self, first: int, last: int) -> None:
        now_s = time.time()
        for place in range(first, min(last, len(self._names))):
            name = self._names[place]
            reading = pack_reading(self._number, NodeReport(
                name, now_s, self._power_w, self._energy_j, CAP_W, 0))
            self._connections[place % len(self._connections)].send(packet(
                _PUBLISH, text(topic(CLUSTER, name, "report")) + pack_report(1, 1, [reading])))

    def _hear(self, until_s: float) -> None:
        while True:
            wait_s = until_s - time.monotonic()
            for file, _ in self._poll.poll(max(wait_s, 0.0)):
                for where, payload in self._by_file[file].published():
                    name = where.split("/")[2]
                    order = verify(payload, self._keys[name])
                    if order.kind is Kind.CAP and order.cap_w == LOWERED_W:
                        self._lowered.add(name)
            if time.monotonic() >= until_s:
                return


def _say(said: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    began_s = time.monotonic()
    load = Load(Path(sys.argv[1]), *map(int, sys.argv[2:]))
    _say({"said": "connected", "connect_s": time.monotonic() - began_s})
    load.run()
