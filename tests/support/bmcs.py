"""An emulated node and its management controllers, for tests."""

from __future__ import annotations

import io
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from wattline.controller.testbed.bmc.ipmi import Bmc
from wattline.controller.testbed.bmc.node import ManagedNode
from wattline.controller.testbed.bmc.redfish import NodeResources
from wattline.controller.testbed.bmc.serving import serve_ipmi, serve_redfish
from wattline.controller.testbed.emulator import Emulator, Work
from wattline.controller.testbed.layout import Bed, NodePower

POWER = NodePower(idle_w=100.0, active_w=300.0, least_w=120.0, maximum_w=400.0)
USER, PASSWORD = "admin", "secret"


class Played:
    """One emulated node that works at 350 W where nothing limits it; `tick` lets time pass."""

    def __init__(self, folder: Path) -> None:
        bed = Bed(folder, nodes=1, port=21000, power=POWER)
        bed.work.mkdir(parents=True)
        self.emulator = Emulator(bed, io.StringIO())
        self.emulator.now_s = 1000.0
        self.folder = bed.meters / "n0001"
        self.node = self.emulator.nodes[0]
        self.node.jobs.append(Work("1.0", 1e9, 350.0, 1, [0], 1000.0))
        self.tick()

    def tick(self, seconds: float = 1.0) -> None:
        for _ in range(round(10 * seconds)):
            self.emulator.tick(self.emulator.now_s + 0.1)

    @property
    def power_w(self) -> float:
        self.tick(0.1)
        return self.node.power_w


@contextmanager
def ipmi(played: Played, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Bmc]]:
    """The place of the node's controller for `ipmitool`."""
    if shutil.which("ipmitool") is None:
        pytest.skip("ipmitool is not installed (Debian package ipmitool)")
    monkeypatch.setenv("IPMI_PASSWORD", PASSWORD)
    bmc = Bmc(ManagedNode(played.folder), USER, PASSWORD)
    with serve_ipmi(bmc) as port:
        yield f"lan://{USER}@127.0.0.1:{port}", bmc


@contextmanager
def redfish(played: Played, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("REDFISH_PASSWORD", PASSWORD)
    with serve_redfish(NodeResources(ManagedNode(played.folder)), USER, PASSWORD) as port:
        yield f"http://{USER}@127.0.0.1:{port}"


@contextmanager
def dripping() -> Iterator[int]:
    """A server that sends a byte of an answer now and then, and never ends; gives its port."""
    stop = threading.Event()

    def serve(link: socket.socket) -> None:
        with link, socket.socket() as nothing:
            nothing.settimeout(1)
            for letter in "HTTP/1.1 200 OK\r\nX-Slow: " + 1000 * "x":
                if stop.wait(0.05):
                    return
                try:
                    link.sendall(letter.encode())
                except OSError:
                    return

    def accept() -> None:
        while not stop.is_set():
            try:
                link, _ = door.accept()
            except TimeoutError:
                continue
            threading.Thread(target=serve, args=(link,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as door:
        door.settimeout(0.05)
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield door.getsockname()[1]
        stop.set()
        thread.join()
