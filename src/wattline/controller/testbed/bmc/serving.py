"""Management controllers on loopback, each in a thread that ends with its `with`."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path

from wattline.controller.testbed.bmc.ipmi import Bmc
from wattline.controller.testbed.bmc.node import ManagedNode
from wattline.controller.testbed.bmc.redfish import NodeResources, Resources, handler_of

HOST = "127.0.0.1"
USER = PASSWORD = "admin"


@dataclass(frozen=True)
class ManagedPlaces:
    """Where the controller of a node is found, as sensors and actuators take it."""

    ipmi: str
    redfish: str


def serve_node(
    folder: Path, ipmi_port: int, redfish_port: int, say: Callable[[ManagedPlaces], None],
    seconds: float | None = None,
) -> None:
    """Answer for an emulated node, both ways, for so long."""
    node = ManagedNode(folder)
    with (serve_ipmi(Bmc(node, USER, PASSWORD), ipmi_port) as ipmi,
          serve_redfish(NodeResources(node), USER, PASSWORD, redfish_port) as redfish):
        say(ManagedPlaces(f"lan://{USER}@{HOST}:{ipmi}", f"http://{USER}@{HOST}:{redfish}"))
        threading.Event().wait(seconds)


@contextmanager
def serve_ipmi(bmc: Bmc, port: int = 0) -> Iterator[int]:
    """Answer on UDP; gives the port."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            packet, link = self.request
            answer = bmc.answer(packet)
            if answer is not None:
                link.sendto(answer, self.client_address)

    with socketserver.UDPServer((HOST, port), Handler) as server, _served(server):
        yield int(server.server_address[1])


@contextmanager
def serve_redfish(
    resources: Resources, user: str, password: str, port: int = 0
) -> Iterator[int]:
    """Answer on TCP without encryption, for loopback only; gives the port."""
    with (ThreadingHTTPServer((HOST, port), handler_of(resources, user, password)) as server,
          _served(server)):
        yield int(server.server_address[1])


@contextmanager
def _served(server: socketserver.BaseServer) -> Iterator[None]:
    """Let a server answer until the `with` ends."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02},
                              daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
