"""A real mosquitto on loopback, with certificates of its own."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from wattline.controller.testbed.daemons import program
from wattline.live.transport.broker import BrokerFiles, make_broker_files

START_S = 20.0


class Broker:
    """Started, killed and started again as a test asks."""

    def __init__(self, folder: Path, nodes: list[str]) -> None:
        found = program("mosquitto")
        if found is None or shutil.which("openssl") is None:
            pytest.skip("no mosquitto and openssl here; Debian's packages of these names have them")
        self._program: str = found
        self._log = folder / "mosquitto.log"
        self.files: BrokerFiles = make_broker_files(
            folder / "keys", "bed", nodes, host="127.0.0.1", port=free_port(), user="root",
            everyone=True)
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [self._program, "-c", str(self.files.configuration)], stdout=log, stderr=log)
        until(self._listens, START_S)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(10)

    @property
    def pid(self) -> int:
        return self._process.pid

    def _listens(self) -> bool:
        assert self._process.poll() is None, self._log.read_text()
        with socket.socket() as tried:
            return tried.connect_ex(("127.0.0.1", self.files.port)) == 0


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def until(ready: Callable[[], bool], within_s: float = 20.0) -> float:
    """Seconds that it took."""
    began_s = time.monotonic()
    while not ready():
        assert time.monotonic() < began_s + within_s, "it did not happen"
        time.sleep(0.02)
    return time.monotonic() - began_s
