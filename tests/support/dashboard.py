"""`wattline serve --demo` as a process of its own: started, held, let go, killed, started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE_S = 180.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Dashboard:
    """A server on a port that stays the same when it is started again."""

    def __init__(self, folder: Path, *, plain: bool = True,
                 options: tuple[str, ...] = ("--demo",)) -> None:
        self.folder = folder
        self.plain, self.options = plain, options
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        with (self.folder / "serve.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "wattline", "serve", *self.options, "--port",
                 str(self.port), "--no-warm"],
                stdout=log, stderr=log, cwd=self.folder, env=self._environment())

    def _environment(self) -> dict[str, str]:
        found = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        return found | {"WATTLINE_PLAIN": "1"} if self.plain else found

    def wait(self) -> None:
        """Until it answers."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            assert self.process is not None
            if self.process.poll() is not None:
                break
            try:
                urllib.request.urlopen(f"{self.address}api/now", timeout=5).close()
                return
            except urllib.error.HTTPError:  # it asks who one is, or sees no machine: it answers
                return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise AssertionError((self.folder / "serve.log").read_text(encoding="utf-8"))

    def hold(self) -> None:
        """It stands still: connections stay, and nothing comes."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def let_go(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
            self.process = None
