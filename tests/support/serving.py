"""`wattline serve` in a process of its own, on a free port of loopback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

PATIENCE_S = 180.0
"""Of starts, answers and ends alike: a machine that is busy is no failure."""


class Served:
    """A server that runs, and what it has said."""

    def __init__(self, process: subprocess.Popen[str], url: str, log: Path) -> None:
        self.process, self.url, self.log = process, url, log

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.url + path, timeout=PATIENCE_S)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)


@contextmanager
def served(*options: str, log: Path) -> Iterator[Served]:
    """The server with these options; ended by Ctrl-C."""
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "wattline", "serve", "--no-warm", *options], stdout=out,
            stderr=out, text=True, env=os.environ | {"WATTLINE_PLAIN": "1"},
            process_group=0)
    try:
        yield Served(process, _address(process, log), log)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_S)


def _address(process: subprocess.Popen[str], log: Path) -> str:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        for line in log.read_text().splitlines():
            if line.startswith("wattline: http"):
                return line.split()[1].rstrip("/")
        assert process.poll() is None, log.read_text()
        time.sleep(0.05)
    raise AssertionError(log.read_text())
