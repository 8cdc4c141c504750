"""The controller of a bed as a process of its own: the very command that a site runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from wattline.controller.lease import age_s, holder
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.own_site import site_file
from wattline.model.errors import WattlineError

READY_S = 180.0
"""The first cycle may have to compile the policy."""
STOP_S = 30.0


class ControllerProcess:
    """Starts, kills and stops a controller; what it says is in the bed's logs."""

    def __init__(self, bed: Bed, site: Mapping[str, Any]) -> None:
        self.bed = bed
        self.folder = bed.folder / "controller"
        self.config = site_file(bed)
        self.config.write_text(tomli_w.dumps(dict(site)), encoding="utf-8")
        self.log = bed.logs / "controller.out"
        self.path = ""
        """Folders that are looked at first for Slurm's commands."""
        self._pid = bed.pids / "controller"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def journal(self) -> Path:
        """The one that it writes."""
        return max(self.folder.glob("*.journal"))

    def start(self) -> None:
        environment = {**os.environ}
        if self.path:
            environment["PATH"] = f"{self.path}:{environment.get('PATH', '')}"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "wattline", "controller", "--config", str(self.config),
                 "--act"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                start_new_session=True)
        # A bed that is taken down in the middle of a run takes its controller with it.
        self._pid.write_text(f"{self._process.pid}\n", encoding="ascii")

    def until_ready(self) -> None:
        until_s = time.monotonic() + READY_S
        while not (self._process is not None and holder(self.folder) == self._process.pid
                   and age_s(self.folder) < 2.0):
            if not self.runs or time.monotonic() > until_s:
                raise WattlineError(f"the controller did not come up: {self._last_line()}")
            time.sleep(0.1)

    def kill(self) -> None:
        """At once, whatever it is at."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._pid.unlink(missing_ok=True)

    def stop(self) -> None:
        """As a site stops it; one that does not obey is killed."""
        self._pid.unlink(missing_ok=True)
        if self._process is None or not self.runs:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def remarks(self) -> list[str]:
        """What it said beside its starts."""
        if not self.log.exists():
            return []
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line for line in lines if not line.startswith(("start ", "wattline: "))]

    def _last_line(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"
