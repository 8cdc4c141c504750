"""Broker, fleet and agent under the load of many agents, each in a process that is measured."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from wattline.controller.testbed.daemons import program
from wattline.controller.testbed.emulator import Node
from wattline.controller.testbed.layout import NodePower
from wattline.live.transport.broker import BrokerFiles, make_broker_files
from wattline.model.errors import InputError, WattlineError

AGENTS = 10_000
FEW = 10
WINDOW_S = 20.0
AGENT_S = 20.0
START_S = 180.0
KEPT_UP = 0.97
SPARE_FILES = 200
CLUSTER = "bench"


def measure_agents(progress: Callable[[float], None]) -> dict[str, Any]:
    if program("mosquitto") is None or program("openssl") is None:
        raise InputError("the load of agents needs the Debian packages mosquitto and openssl: "
                         "apt-get install --no-install-recommends mosquitto openssl")
    many = min(AGENTS, _most_files() - SPARE_FILES)
    found: dict[str, Any] = {"agents": AGENTS, "goal_readings_per_s": AGENTS,
                             "goal_cpu_share": 1.0, "goal_fleet_mb": 1000, "goal_lowered_s": 2.0,
                             "load_average_before": os.getloadavg()[0]}
    found["few_connections"] = _load(FEW)
    progress(0.4)
    found["many_connections"] = _load(many)
    progress(0.8)
    found["one_agent"] = _one_agent()
    progress(1.0)
    return found


def _most_files() -> int:
    """Raise our limit of open files, which the processes inherit, as far as it goes."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def _load(connections: int) -> dict[str, Any]:
    """Agents at 1 Hz on so many connections; then all draw more than the cap at once."""
    with _broker() as (files, broker), _helper(files, "_live_control", AGENTS) as control, \
            _helper(files, "_live_load", AGENTS, connections) as load:
        connect_s = _said(load, "connected")["connect_s"]
        _said(control, "complete")
        pids = {"broker": broker.pid, "fleet": control.pid}
        first = _counted(control)
        before, began_s = {name: cpu_s(pid) for name, pid in pids.items()}, time.monotonic()
        time.sleep(WINDOW_S)
        readings, passed_s = _counted(control) - first, time.monotonic() - began_s
        shares = {f"{name}_cpu_share": (cpu_s(pid) - before[name]) / passed_s
                  for name, pid in pids.items()}
        _tell(load, "step")
        lowered = _said(load, "lowered")
        _tell(control, "end")
        ended = _said(control, "ended")
        return {
            "connections": connections, "connect_s": connect_s,
            "readings_per_s": readings / passed_s,
            # Otherwise shares and latency are those of a machine that was too busy for the load.
            "kept_up": readings / passed_s > KEPT_UP * AGENTS, **shares,
            "together_cpu_share": sum(shares.values()),
            "together_us_per_reading": 1e6 * sum(shares.values()) * passed_s / max(readings, 1),
            **{f"{name}_mb": highest_mb(pid) for name, pid in pids.items()},
            "readings_missing": ended["missing"],
            "lowered_s": lowered["lowered_s"], "lowered_after_decision_s":
            lowered["lowered_at_s"] - ended["decided_at_s"],
        }


def _counted(control: subprocess.Popen[str]) -> int:
    """Readings that the fleet has had so far."""
    _tell(control, "count")
    return int(_said(control, "counted")["readings"])


def _one_agent() -> dict[str, Any]:
    """`wattline agent` itself, on a tree like the kernel's, connected."""
    with _broker(("n1",)) as (files, _), tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        Node(place).describe(NodePower())
        own = files.of("n1")
        (place / "agent.toml").write_text(
            f'cluster = "{CLUSTER}"\nnode = "n1"\norder_key = "{files.order_key("n1")}"\n'
            f'folder = "{place}/agent"\n[broker]\nhost = "{own.host}"\nport = {own.port}\n'
            f'ca = "{own.ca}"\ncertificate = "{own.certificate}"\nkey = "{own.key}"\n'
            f'[sensor]\nplace = "{place}/powercap"\n[limits]\nplace = "{place}/powercap"\n'
            'knobs = ["psys@0"]\nsafe = 120\n', encoding="utf-8")
        (place / "powercap" / "intel-rapl:0" / "energy_uj").write_text("0\n", encoding="ascii")
        with _process([sys.executable, "-m", "wattline", "agent", "--config",
                       str(place / "agent.toml")]) as agent:
            time.sleep(5.0)  # it has started and is connected
            before, began_s = cpu_s(agent.pid), time.monotonic()
            time.sleep(AGENT_S)
            share = (cpu_s(agent.pid) - before) / (time.monotonic() - began_s)
            return {"cpu_share": share, "goal_cpu_share": 0.005, "mb": highest_mb(agent.pid),
                    "goal_mb": 60}


@contextmanager
def _broker(nodes: Sequence[str] = ()) -> Iterator[tuple[BrokerFiles, subprocess.Popen[str]]]:
    """A mosquitto of its own, with keys of its own."""
    with tempfile.TemporaryDirectory() as folder:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        files = make_broker_files(Path(folder) / "keys", CLUSTER, nodes, host="127.0.0.1",
                                  port=port, user="root", everyone=True)
        with _process([str(program("mosquitto")), "-c", str(files.configuration)]) as process:
            until_s = time.monotonic() + START_S
            while not _listens(port):
                if process.poll() is not None or time.monotonic() > until_s:
                    raise WattlineError("mosquitto did not come up")
                time.sleep(0.05)
            yield files, process


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def _helper(files: BrokerFiles, module: str, *numbers: int) -> Iterator[subprocess.Popen[str]]:
    with _process([sys.executable, "-m", f"wattline.benchmarks.{module}", str(files.folder),
                   str(files.port), *map(str, numbers)]) as process:
        yield process


@contextmanager
def _process(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    with ExitStack() as last:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        last.callback(process.wait)
        last.callback(process.kill)
        yield process


def _said(process: subprocess.Popen[str], what: str) -> dict[str, Any]:
    """Wait for a line that says this."""
    assert process.stdout is not None
    for line in process.stdout:
        said: dict[str, Any] = json.loads(line)
        if said["said"] == what:
            return said
    raise WattlineError(f"a process of the benchmark ended before it was {what}")


def _tell(process: subprocess.Popen[str], what: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{what}\n")
    process.stdin.flush()


def cpu_s(pid: int) -> float:
    """Processor time of all threads of a process so far, as the kernel's scheduler counts it."""
    return sum(int(file.read_text(encoding="ascii").split()[0])
               for file in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def highest_mb(pid: int) -> float:
    """The most memory that a process had."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0
