"""Nodes that draw power without any hardware: a process that plays all of them.

Jobs say by a file what they do (`job.sh`); each node draws what runs on it, as far as its cap lets
it, and shows that in files like those of a real node: Cray's pm_counters, which slurmd reads, and
the kernel's powercap tree, which takes the cap. What it drew is logged, per machine and per job:
the truth that everything measured is held to.
"""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from wattline.controller.testbed.layout import Bed, NodePower
from wattline.model.units import parse_hosts

TICK_S = 0.1
LOG_EVERY_S = 1.0
RANGE_UJ = 262_143_328_850
"""Where the counters go round, as on common processors."""
GONE, STOPPED = ("", "Z", "X"), ("T", "t")
"""States of the process of a job that was killed, and of one that was suspended."""
OFF = "off"
"""A file of this name in its folder says that a node is switched off."""
SLOWER = 0.5
"""Speed falls with the square root of the power that a cap leaves above idle."""


@dataclass
class Work:
    """A job as the emulator sees it."""

    name: str
    """Its number and life, `12.0`."""
    left_s: float
    watts: float
    pid: int
    nodes: list[int]
    start_s: float
    energy_j: float = 0.0
    stopped: bool = False
    """Suspended: it makes no progress and draws nothing above idle."""


@dataclass(frozen=True)
class Held:
    """Since when a job holds a node, and what the node had drawn by then."""

    start_s: float
    energy_j: float
    late_j: float
    """What its counters should have shown of them by then and did not, because a tick was late."""


@dataclass
class Node:
    """A node's cap, power and counter, and the files that show them."""

    folder: Path
    power_w: float = 0.0
    energy_j: float = 0.0
    shown_j: float = 0.0
    """What its counters show: that of the last tick."""
    cap_w: float = math.inf
    off: bool = False
    jobs: list[Work] = field(default_factory=list)

    def __post_init__(self) -> None:
        counters, zone = self.folder / "pm_counters", self.zone
        counters.mkdir(parents=True, exist_ok=True)
        zone.mkdir(parents=True, exist_ok=True)
        self._power = _opened(counters / "power")
        self._energy = _opened(counters / "energy")
        self._counter = _opened(zone / "energy_uj")
        self._limit = zone / "constraint_0_power_limit_uw"

    @property
    def zone(self) -> Path:
        return self.folder / "powercap" / "intel-rapl:0"

    def describe(self, power: NodePower) -> None:
        """The files of the powercap zone that do not change by themselves."""
        most_uw = int(power.maximum_w * 1e6)
        for name, value in {"name": "psys", "enabled": 1, "max_energy_range_uj": RANGE_UJ,
                            "constraint_0_name": "long_term",
                            "constraint_0_max_power_uw": most_uw,
                            "constraint_0_time_window_us": 100_000}.items():
            (self.zone / name).write_text(f"{value}\n", encoding="ascii")
        if not self._limit.exists():
            self._limit.write_text(f"{most_uw}\n", encoding="ascii")

    def read_cap(self) -> None:
        self.off = (self.folder / OFF).exists()
        try:
            self.cap_w = float(self._limit.read_text(encoding="ascii")) / 1e6
        except (OSError, ValueError):
            return  # somebody is writing it: the last one holds

    def show(self, now_s: float) -> None:
        now_us = int(now_s * 1e6)
        self.shown_j = self.energy_j
        _write(self._power, f"{round(self.power_w)} W {now_us} us\n")
        _write(self._energy, f"{int(self.energy_j)} J {now_us} us\n")
        _write(self._counter, f"{int(self.energy_j * 1e6) % RANGE_UJ}\n")


class Emulator:
    """All nodes of a bed, tick by tick."""

    def __init__(self, bed: Bed, log: IO[str]) -> None:
        self.bed, self.log = bed, log
        self.nodes = [Node(bed.meters / name) for name in bed.names]
        self.place = {name: number for number, name in enumerate(bed.names)}
        for node in self.nodes:
            node.describe(bed.power)
        self.works: dict[str, Work] = {}
        self.held: dict[tuple[str, str], Held] = {}
        """By job and node: what jobs hold now, from prolog to epilog."""
        self.pipes: dict[str, tuple[int, int]] = {}
        """Of jobs that are done and have not gone yet: pipe and process."""
        self.now_s = time.time()
        self.logged_s = -math.inf
        self.logged_w = -1.0

    def tick(self, now_s: float) -> None:
        """Let time pass, look at what came and went, and show it."""
        passed_s = max(now_s - self.now_s, 0.0)
        self.now_s = now_s
        self._draw(passed_s)
        self._hear_marks()
        self._hear(now_s)
        for node in self.nodes:
            node.read_cap()
            node.power_w = drawn_w(self.bed.power, [work.watts for work in node.jobs
                                                      if not work.stopped], node.cap_w)
            if node.off:
                node.power_w = self.bed.power.off_w
                self._die(node.folder.name)
            node.show(now_s)
        self._say_power(now_s)

    def _draw(self, passed_s: float) -> None:
        """Count what was drawn since the last tick, and what was done."""
        for node in self.nodes:
            node.energy_j += node.power_w * passed_s
            for work in node.jobs:
                work.energy_j += node.power_w / len(node.jobs) * passed_s
        for work in list(self.works.values()):
            state = state_of(work.pid)
            work.stopped = state in STOPPED
            if state in GONE:
                self._end(work, done=False)
            elif not work.stopped:
                work.left_s -= passed_s * min(self._speed(self.nodes[each], work)
                                              for each in work.nodes)
                if work.left_s <= 0.0:
                    self._let_go(work)
                    self._end(work, done=True)
        self._forget_pipes()

    def _speed(self, node: Node, work: Work) -> float:
        idle_w = self.bed.power.idle_w
        wanted_w = work.watts - idle_w
        if wanted_w <= 0.0:
            return 1.0
        return float(min(max((node.power_w - idle_w) / wanted_w, 0.0), 1.0) ** SLOWER)

    def _hear_marks(self) -> None:
        """Prolog and epilog of jobs: what a node drew between them is what its job drew."""
        for file in [*self.bed.work.glob("*.begin"), *self.bed.work.glob("*.end")]:
            job, name, what = file.name.split(".")
            at_s = min(file.stat().st_mtime, self.now_s)
            file.unlink()
            if what == "begin":
                self._hold(job, name, at_s)
            else:
                self._leave(job, name, at_s)

    def _hold(self, job: str, name: str, at_s: float) -> None:
        self.held.setdefault((job, name), Held(at_s, *self._drawn_j(name, at_s)))

    def _leave(self, job: str, name: str, at_s: float, *, died: bool = False) -> None:
        held = self.held.pop((job, name), None)
        if held is not None:
            drawn_j, late_j = self._drawn_j(name, at_s)
            self._say({"held": job, "node": name, "start_s": held.start_s, "end_s": at_s,
                       "died": died, "energy_j": drawn_j - held.energy_j,
                       "late_j": max(held.late_j, late_j)})

    def _die(self, name: str) -> None:
        """A node that is off holds no job any more, and runs no epilog."""
        for job in [job for job, node in self.held if node == name]:
            self._leave(job, name, self.now_s, died=True)

    def _drawn_j(self, name: str, at_s: float) -> tuple[float, float]:
        """What a node had drawn a moment ago, and what of it counters should have shown then."""
        node = self.nodes[self.place[name]]
        drawn_j = node.energy_j - node.power_w * (self.now_s - at_s)
        return drawn_j, max(drawn_j - node.power_w * TICK_S - node.shown_j, 0.0)

    def _hear(self, now_s: float) -> None:
        """Take up jobs that have begun."""
        for file in sorted(self.bed.work.glob("*.job")):
            try:
                work = self._read(file, now_s)
            except (OSError, ValueError, KeyError) as error:
                self._say({"time_s": now_s, "unreadable": file.name, "reason": str(error)})
                file.unlink(missing_ok=True)
                continue
            file.unlink()
            self._give_way(work.name)
            self.works[work.name] = work
            for number in work.nodes:
                self.nodes[number].jobs.append(work)
                # Slurm runs no prolog for a job that was queued again and came back soon.
                self._hold(work.name.partition(".")[0], self.bed.names[number], work.start_s)

    def _give_way(self, name: str) -> None:
        """End what ran under a name that comes again, with a pipe of its own: a slurmctld that was
        killed forgets that it had started a job, and starts it again under the same number."""
        if name in self.works:
            self._end(self.works[name], done=False, again=True)
        if name in self.pipes:
            os.close(self.pipes.pop(name)[0])
            (self.bed.work / f"{name}.done").unlink(missing_ok=True)

    def _read(self, file: Path, now_s: float) -> Work:
        seconds, watts, pid, hosts = file.read_text(encoding="ascii").split()
        drawn = float(watts)
        return Work(file.name.removesuffix(".job"), float(seconds),
                    self.bed.power.active_w if math.isnan(drawn) else drawn, int(pid),
                    [self.place[name] for name in parse_hosts(hosts)], now_s)

    def _let_go(self, work: Work) -> None:
        """A line for each process of the job that waits; those that come late find theirs too."""
        pipe = os.open(self.bed.work / work.name, os.O_RDWR | os.O_NONBLOCK)
        (self.bed.work / f"{work.name}.done").touch()
        os.write(pipe, b"\n" * (4 * len(work.nodes)))  # also for those that have to try again
        self.pipes[work.name] = (pipe, work.pid)

    def _forget_pipes(self) -> None:
        for name, (pipe, pid) in list(self.pipes.items()):
            if state_of(pid) in GONE:
                os.close(pipe)
                (self.bed.work / name).unlink(missing_ok=True)
                (self.bed.work / f"{name}.done").unlink(missing_ok=True)
                del self.pipes[name]

    def _end(self, work: Work, *, done: bool, again: bool = False) -> None:
        del self.works[work.name]
        for number in work.nodes:
            self.nodes[number].jobs.remove(work)
        if not done and not again:
            (self.bed.work / work.name).unlink(missing_ok=True)
        self._say({"job": work.name, "start_s": work.start_s, "end_s": self.now_s, "done": done,
                   "energy_j": work.energy_j, "nodes": [self.bed.names[n] for n in work.nodes]})

    def _say_power(self, now_s: float) -> None:
        power_w = sum(node.power_w for node in self.nodes)
        if power_w != self.logged_w or now_s >= self.logged_s + LOG_EVERY_S:
            self._say({"time_s": now_s, "power_w": power_w,
                       "energy_j": sum(node.energy_j for node in self.nodes)})
            self.logged_s, self.logged_w = now_s, power_w

    def _say(self, said: dict[str, Any]) -> None:
        self.log.write(json.dumps(said) + "\n")
        self.log.flush()


def drawn_w(power: NodePower, jobs_w: list[float], cap_w: float) -> float:
    """What a node draws with these jobs under a cap, which cannot take it below its least."""
    if not jobs_w:
        return power.idle_w
    wanted_w = power.idle_w + sum(watts - power.idle_w for watts in jobs_w)
    return min(wanted_w, max(cap_w, power.least_w), power.maximum_w)


def _opened(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT, 0o644)


def _write(file: int, text: str) -> None:
    """In one write, so that nobody reads a half."""
    data = text.encode("ascii")
    os.pwrite(file, data, 0)
    os.ftruncate(file, len(data))


def state_of(pid: int) -> str:
    """The state of a process as the kernel's letter for it; empty where it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[0]


def go_first() -> None:
    """Be late as seldom as may be: counters of real nodes do not wait for a processor."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def run(folder: Path) -> None:
    """Play the nodes of a bed until told to stop."""
    go_first()
    bed = Bed.open(folder)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * bed.nodes + 256,) * 2)
    stop: list[int] = []
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda number, frame: stop.append(number))
    with (bed.logs / "emulator.jsonl").open("a", encoding="utf-8") as log:
        emulator = Emulator(bed, log)
        next_s = time.monotonic()
        while not stop:
            emulator.tick(time.time())
            next_s += TICK_S
            time.sleep(max(next_s - time.monotonic(), 0.0))


if __name__ == "__main__":
    run(Path(sys.argv[1]))
