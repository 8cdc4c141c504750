"""A made-up machine under load: a Slurm that prints its queue, and nodes that report."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from wattline.live.fleet import NodeReport
from wattline.live.slurm.commands import Commands
from wattline.live.slurm.reading import JOB_COLUMNS, SEPARATOR
from wattline.model.units import fold_hosts

NODES_PER_JOB = (1, 2, 4)
SPARE_NODES = 64
SHOWN_LOOKS = 10
"""For so many looks Slurm shows a job that has ended."""
IDLE_W, NODE_W = 90.0, 250.0
RECORD = " ".join(f"{name}=(null)" for name in (
    "JobName", "UserId", "Account", "QOS", "JobState", "Reason", "Dependency", "RunTime",
    "TimeLimit", "SubmitTime", "EligibleTime", "StartTime", "EndTime", "Partition", "ReqNodeList",
    "NodeList", "NumNodes", "NumCPUs", "TRES", "Features", "OverSubscribe", "Licenses", "Command",
    "WorkDir", "StdErr", "StdIn", "StdOut", "Power"))
"""Filler as long as what scontrol prints of a job beside its number."""
BETWEEN = "\0"
"""Stands for the separator of each look."""


@dataclass
class OwnTime:
    """What the made-up machine itself takes, which a real one does not take of a controller."""

    clock_s: float = 0.0
    cpu_s: float = 0.0

    @contextmanager
    def taken(self) -> Iterator[None]:
        began_s, used_s = time.perf_counter(), time.process_time()
        yield
        self.clock_s += time.perf_counter() - began_s
        self.cpu_s += time.process_time() - used_s


class Queue:
    """Jobs and nodes as Slurm has them: some run, many wait held for a controller."""

    def __init__(self, running: int, pending: int, seed: int = 1) -> None:
        self.own_time = OwnTime()
        self._random = random.Random(seed)
        sizes = [self._random.choice(NODES_PER_JOB) for _ in range(running)]
        self.nodes = [f"n{number:05}" for number in range(1, sum(sizes) + SPARE_NODES + 1)]
        self._cells: dict[str, dict[str, str]] = {}
        self._rows: dict[str, str] = {}
        self._held: dict[str, tuple[str, ...]] = {}
        """By label the nodes of jobs that run."""
        self._ended: list[list[str]] = []
        self._released: list[str] = []
        self._next = 1000
        first = 0
        for size in sizes:
            label = self._submit(size)
            self._begin(label, self.nodes[first: first + size])
            first += size
        for _ in range(pending):
            self.submit()

    @property
    def running(self) -> int:
        return len(self._held)

    @property
    def pending(self) -> int:
        return sum(cells["State"] == "PENDING" for cells in self._cells.values())

    def submit(self) -> str:
        return self._submit(self._random.choice(NODES_PER_JOB))

    def pass_time(self, changing: int) -> None:
        """What was released begins; some that run end, as many come; old ends are forgotten."""
        released, self._released = self._released, []
        for label in released:
            self._begin(label, self._cells[label]["ReqNodes"].split(","))
        ended = self._random.sample(sorted(self._held), changing)
        for label in ended:
            del self._held[label]
            self._change(label, State="COMPLETED", EndTime=_moment())
        self._ended.append(ended)
        for label in self._ended.pop(0) if len(self._ended) > SHOWN_LOOKS else ():
            del self._cells[label], self._rows[label]
        for _ in range(changing):
            self.submit()

    def print_jobs(self, separator: str, only: str = "") -> str:
        rows = [self._rows[only]] if only else self._rows.values()
        return "".join(rows).replace(BETWEEN, separator)

    def print_records(self, only: str = "") -> str:
        """As `scontrol -o show job` does: a line for each job, most of it of no matter here."""
        labels = [only] if only else list(self._cells)
        return "".join(f"JobId={label} {RECORD}\n" for label in labels)

    def print_nodes(self) -> str:
        busy = {node for nodes in self._held.values() for node in nodes}
        return "".join(SEPARATOR.join([node, "allocated" if node in busy else "idle", "64",
                                       "batch", "up", "\n"]) for node in self.nodes)

    def update(self, label: str, nodes: str) -> None:
        self._change(label, ReqNodes=nodes)

    def release(self, label: str) -> None:
        self._released.append(label)
        self._change(label, PriorityLong="4294901000", Reason="None")

    def _submit(self, size: int) -> str:
        self._next += 1
        label, user = str(self._next), self._random.randrange(200)
        self._cells[label] = {
            "JobArrayID": label, "JobID": label, "RestartCnt": "0", "State": "PENDING",
            "NumNodes": str(size), "NumCPUs": str(64 * size), "TimeLimit": "12:00:00",
            "StartTime": "N/A", "EndTime": "N/A", "SubmitTime": _moment(), "Partition": "batch",
            "UserName": f"user{user:03}", "Account": f"group{user % 20:02}", "NodeList": "",
            "Reason": "JobHeldUser", "Nice": "0", "PriorityLong": "0",
            "Licenses": f"watts:{NODE_W * size:.0f}", "ReqNodes": "", "Name": f"solver{user % 7}",
            "Comment": "wattline", "admin_comment": "(null)", "MaxNodes": "0",
            "tres-alloc": f"cpu={64 * size},mem={250 * size}G,node={size},billing={64 * size}",
            "Dependency": "(null)", "EligibleTime": "N/A",
            "Feature": "(null)", "Reservation": "(null)"}
        self._change(label)
        return label

    def _begin(self, label: str, nodes: Sequence[str]) -> None:
        self._held[label] = tuple(nodes)
        self._change(label, State="RUNNING", NodeList=fold_hosts(nodes), StartTime=_moment(),
                     EndTime="2030-01-01T00:00:00", PriorityLong="4294901000", Reason="None")

    def _change(self, label: str, **cells: str) -> None:
        """Slurm prints the row anew; other rows stay as they are."""
        self._cells[label].update(cells)
        self._rows[label] = BETWEEN.join(
            [*(self._cells[label][name] for name in JOB_COLUMNS), "\n"])


def _moment() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())


@dataclass(frozen=True)
class QueueCommands(Commands):
    """The commands of a Slurm that has this queue."""

    queue: Queue = field(default_factory=lambda: Queue(0, 0))

    def run(self, *command: str) -> str:
        with self.queue.own_time.taken():
            return self._answer(command)

    def _answer(self, command: tuple[str, ...]) -> str:
        if command[0] == "squeue":
            separator = command[-1].split(",")[0].partition(":")[2]
            only = command[command.index("-j") + 1] if "-j" in command else ""
            return self.queue.print_jobs(separator, only)
        if command[0] == "sinfo":
            return self.queue.print_nodes()
        if command[:2] == ("scontrol", "update"):
            said = dict(word.split("=", 1) for word in command[2:])
            self.queue.update(said["JobId"], said["ReqNodeList"])
        elif command[:2] == ("scontrol", "release"):
            self.queue.release(command[2])
        elif command[:4] == ("scontrol", "-o", "show", "job"):
            return self.queue.print_records(*command[4:])
        elif command[-2:] == ("show", "reservation"):
            return "No reservations in the system\n"
        else:
            raise AssertionError(f"the benchmark's Slurm has no {' '.join(command[:3])}")
        return ""


class QueueFleet:
    """Nodes that report once per second, half of them at each look."""

    def __init__(self, nodes: Sequence[str], own_time: OwnTime) -> None:
        self._nodes, self._turn, self._own_time = nodes, 0, own_time
        self.orders = 0

    def reports(self) -> Sequence[NodeReport]:
        self._turn += 1
        now_s = time.time()
        with self._own_time.taken():
            return [NodeReport(node, now_s, 240.0, 240.0 * self._turn, math.inf)
                    for node in self._nodes[self._turn % 2::2]]

    def cap(self, order: int, caps_w: Mapping[str, float], lease_s: float) -> None:
        self.orders += 1

    def restore(self, nodes: Collection[str] | None = None) -> None:
        pass

    def close(self) -> None:
        pass
