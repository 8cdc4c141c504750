"""Slowness of this machine: how much longer than alone a process takes for its work, by seconds.

Some rules have a limit in seconds: above all that a cap is kept again within two. They hold for a
machine that gives the controller and Slurm their time. On a busy one the same rule has the same
limit in seconds of work, and a test that lets a clock run out lets it run as much longer.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from pathlib import Path
from statistics import fmean

PROBE = """
import os, sys, time
parent = os.getppid()
while os.getppid() == parent:
    began_s, worked_s = time.monotonic(), time.process_time()
    while time.process_time() - worked_s < 0.05:
        pass
    print(time.time(), (time.monotonic() - began_s) / 0.05, flush=True)
    time.sleep(0.45)
"""
RECENT_S = 10.0
TWO_S = 4
"""So many looks are two seconds, or more on a busy machine."""


class Pace:
    """Process that measures twice a second how long 0.05 s of work take."""

    def __init__(self, file: Path) -> None:
        self._file = file
        with file.open("w") as out:
            self._process = subprocess.Popen([sys.executable, "-c", PROBE], stdout=out)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def slowest(self, since_s: float = -math.inf) -> float:
        """Return how many times as long as alone work took in the worst two seconds since a moment
        (Unix seconds)."""
        found = self._since(since_s)
        return max((fmean(found[at:at + TWO_S]) for at in range(max(len(found) - TWO_S, 0) + 1)
                    if found), default=1.0)

    @property
    def now(self) -> float:
        """Return the same on average of the last seconds."""
        return fmean(self._since(time.time() - RECENT_S) or [1.0])

    def _since(self, since_s: float) -> list[float]:
        """Return what was measured since, and in the two seconds before: of a short time there may
        be nothing yet."""
        rows = [line.split() for line in self._file.read_text().splitlines(keepends=True)
                if line.endswith("\n")]
        before = sum(float(at_s) < since_s for at_s, _ in rows)
        return [float(slower) for _, slower in rows[max(before - TWO_S, 0):]]
