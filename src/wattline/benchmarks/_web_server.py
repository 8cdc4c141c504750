"""`wattline serve` in a process of its own on one core, to be measured from this one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

READY_S = 180.0


@contextmanager
def server(*options: str) -> Iterator[tuple[str, int]]:
    """Its address and its process; its workers run on the same core."""
    core = min(os.sched_getaffinity(0))
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "wattline", "serve", "--port", "0", "--no-warm", *options],
            stdout=log, stderr=log, text=True)
        os.sched_setaffinity(process.pid, {core})
        try:
            yield _address(process, log), process.pid
        finally:
            process.terminate()
            process.wait(20)


@contextmanager
def large_machine(nodes: int) -> Iterator[tuple[str, int]]:
    """A server that replays a simulated machine of so many nodes."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        _write_run(run, nodes)
        with server("--run", str(run), "--speed", "60", "--at", "12h") as served:
            yield served


def cpu_s(pid: int) -> float:
    """Processor seconds that a process and those that it started have used so far."""
    total_s = 0.0
    with suppress(OSError):  # it may end while it is asked
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        total_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        for task in Path(f"/proc/{pid}/task").iterdir():
            total_s += sum(cpu_s(int(child)) for child in
                           (task / "children").read_text(encoding="utf-8").split())
    return total_s


def _address(process: subprocess.Popen[str], log: Any) -> str:
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        log.seek(0)
        text = log.read()
        found = [line.split()[1] for line in text.splitlines() if line.startswith("wattline: http")]
        if found:
            url = str(found[0]).rstrip("/")
            urlopen(f"{url}/api/me", timeout=READY_S).close()
            return url
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start: {text}")


def _write_run(folder: Path, nodes: int) -> None:
    from wattline.analysis import rundir
    from wattline.scenario.api import simulate
    from wattline.scenario.objects import Machine
    from wattline.traces import generate

    machine = Machine(nodes=nodes, nodes_per_rack=50, node_idle_w=90, node_active_w=300)
    trace = generate("lublin", seed=1, jobs=5000, nodes=nodes)
    rundir.write(simulate(trace, machine=machine, placement="first-fit"), folder)
