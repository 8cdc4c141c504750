"""Helpers of tests on a bed: submitting, asking, waiting, and the emulator's truth."""

from __future__ import annotations

import json
import math
import os
import subprocess
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import BedRun

OURS = ("-H", "--comment=wattline")
"""Options of a job that waits for a controller."""


PATIENCE_S = 180.0
"""One limit of all waits, for programs too: a machine that is slow is no failure. What has a limit
of its own is measured, not waited for."""


def slurm(bed: Bed, *command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True,
                          timeout=PATIENCE_S, env={**os.environ, **bed.environment})
    return done.stdout.strip()


def submit(bed: Bed, seconds: float, watts: float, *options: str) -> str:
    return slurm(bed, "sbatch", "--parsable", "-o", "/dev/null", *options,
                 str(bed.folder / "job.sh"), str(seconds), str(watts))


LONG_S = 900.0
"""Of work that a test ends itself: on a busy machine a minute is over before all is looked at."""
STARTED: list[subprocess.Popen[str]] = []
"""Controllers of the test: one that a failed test left would start the jobs of the next."""


def until(ready: Callable[[], bool]) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < until_s, "it did not happen"
        time.sleep(0.1)


def state(bed: Bed, job: str) -> str:
    return slurm(bed, "sacct", "-n", "-X", "-P", "-j", job, "-o", "State").split(" ")[0]


def runs(bed: Bed, job: str) -> bool:
    """By the controller, which knows at once; accounting may be seconds late."""
    return slurm(bed, "squeue", "-h", "-j", job, "-o", "%T") == "RUNNING"


def finish(
    bed: Bed, job: str, nodes: int, wait: Callable[[Callable[[], bool]], object] = until
) -> None:
    """Let the work of a running job be done now: a test need not wait for a length of time.

    `wait` is how it is waited for: a controller of this process goes on only where it cycles.
    """
    pipe = bed.work / f"{job}.0"
    until(pipe.exists)
    opened = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)  # it stays open until the last node has read
    try:
        os.write(opened, b"ended\n" * nodes)
        wait(lambda: not runs(bed, job))
    finally:
        os.close(opened)


def cap_w(bed: Bed, node: str) -> float:
    limit = bed.meters / node / "powercap" / "intel-rapl:0" / "constraint_0_power_limit_uw"
    until(lambda: bool(limit.read_text().strip()))  # a file is empty while it is written
    return float(limit.read_text() or "nan") / 1e6


def truth(bed: Bed, job: str) -> dict[str, Any]:
    """Return what the emulator says of a job that has ended."""
    lines = (bed.logs / "emulator.jsonl").read_text().splitlines()
    found = [said for said in map(json.loads, lines) if said.get("job") == f"{job}.0"]
    return found[0] if found else {}


def held_j(bed: Bed, job: str) -> list[float]:
    """Per node what it drew between prolog and epilog of a job, by the emulator."""
    lines = (bed.logs / "emulator.jsonl").read_text().splitlines()
    return [said["energy_j"] for said in map(json.loads, lines) if said.get("held") == job]


def stay(bed: Bed, job: str, node: str = "") -> dict[str, Any]:
    """Return what the emulator says of a job that was on a node, or on one alone, and left it."""
    lines = (bed.logs / "emulator.jsonl").read_text().splitlines()
    found, = (said for said in map(json.loads, lines)
              if said.get("held") == job and node in ("", said["node"]))
    return dict(found)


def start_s(run: BedRun) -> float:
    """Seconds by which a decided start may differ from Slurm's: those of this run took so long in
    the median until they were seen, and Slurm's times are whole seconds."""
    return 1.0 + float(np.nanmedian([job.delay_s for job in run.seen]))


def under_s(bed: Bed, cap_w: float, since_s: float) -> float:
    """Return how long after a moment the machine drew no more than this, by the emulator's own
    log."""
    lines = map(json.loads, (bed.logs / "emulator.jsonl").read_text().splitlines())
    drawn = [(said["time_s"], said["power_w"]) for said in lines if "power_w" in said]
    above_s = [time_s for time_s, watts in drawn if time_s >= since_s and watts > cap_w]
    under = (time_s for time_s, _ in drawn if time_s > max(above_s, default=since_s))
    return min(under, default=math.inf) - since_s
