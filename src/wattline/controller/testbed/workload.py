"""Jobs of a log as jobs of a bed: submitted at their times, held, with the watts they will draw."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wattline.controller.testbed.layout import Bed
from wattline.live.slurm.commands import Commands, SlurmError
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.traces.raw import NODE_RANGE

MINUTE_S = 60.0
PARTITION_LIMIT_S = 365 * 86400.0
RETRY_S = 60.0
NO_INDEX = "the DB index is being set"
"""What Slurm says of a job that its database has not numbered yet."""


@dataclass(frozen=True)
class MeasuredSize:
    """Time and power per node of an application on so many nodes at full speed."""

    nodes: int
    run_s: float
    node_w: float


@dataclass(frozen=True)
class BedJob:
    """What is submitted: times are seconds from the beginning of the run."""

    number: int
    submit_s: float
    run_s: float
    limit_s: float
    nodes: int
    node_w: float
    user: str = ""
    application: str = ""
    least_nodes: int = 0
    """Least and most of the range of nodes that it asks for; 0 where it asks for none."""
    most_nodes: int = 0
    sizes: tuple[MeasuredSize, ...] = ()
    """Of a measured application: on these numbers of nodes it runs as was measured."""

    @property
    def watts(self) -> int:
        """All nodes that it may get, rounded up: licences are whole."""
        return math.ceil(self.range[1] * self.node_w - 1e-9)

    @property
    def name(self) -> str:
        """Its own among the jobs of a run."""
        return f"job{self.number}"

    @property
    def node_words(self) -> str:
        """Argument of `sbatch --nodes`."""
        least, most = self.range
        return str(most) if least == most else f"{least}-{most}"

    @property
    def range(self) -> tuple[int, int]:
        """The least and the most nodes that it may get."""
        least = self.least_nodes or self.nodes
        return least, max(self.most_nodes or self.nodes, least)


def faster(table: JobTable, speed: float) -> JobTable:
    """The same jobs in less time: all times divided by `speed`."""
    if not (speed > 0.0 and math.isfinite(speed)):
        raise InputError(f"speed is {speed:g}, must be above 0; 60 makes seconds of minutes")
    return table.with_columns(submit_s=table.submit_s / speed, run_s=table.run_s / speed,
                              requested_s=table.requested_s / speed)


def jobs_of(
    table: JobTable, bed: Bed, node_w: tuple[float, float] | None = None,
    logged: Mapping[str, Any] | None = None,
) -> list[BedJob]:
    """The jobs of a table; a limit is in whole minutes, as Slurm has it.

    `logged` has the ranges of nodes that jobs ask for (`nodes_min`, `nodes_max`).

    `node_w` is what a node draws with jobs that do not say it: of one of the whole machine, and
    of one on a single node. Those between draw between.
    """
    large = np.flatnonzero(table.procs > bed.nodes)
    if large.size:
        raise InputError(f"job {int(table.job_id[large[0]])} asks for "
                         f"{int(table.procs[large[0]])} nodes and the bed has {bed.nodes}")
    first_s = float(table.submit_s[0]) if len(table) else 0.0
    least, most = (np.nan_to_num((logged or {}).get(name, np.zeros(len(table))))
                   for name in NODE_RANGE)
    found = []
    for row in range(len(table)):
        nodes = int(table.procs[row])
        watts = float(table.power_w[row])
        each_w = _unsaid_w(nodes, bed, node_w) if math.isnan(watts) else watts / nodes
        if not bed.power.idle_w <= each_w <= bed.power.maximum_w:
            raise InputError(f"job {int(table.job_id[row])} draws {each_w:g} W per node; a node of "
                             f"the bed draws from {bed.power.idle_w:g} to {bed.power.maximum_w:g}")
        limit_s = MINUTE_S * math.ceil(max(float(table.requested_s[row]), 1.0) / MINUTE_S)
        code = int(table.application[row])
        found.append(BedJob(
            int(table.job_id[row]), float(table.submit_s[row]) - first_s,
            float(table.run_s[row]), limit_s, nodes, each_w,
            application=table.name_of("application", code) if code >= 0 else "",
            least_nodes=min(int(least[row]), bed.nodes), most_nodes=min(int(most[row]), bed.nodes)))
    return found


def _unsaid_w(nodes: int, bed: Bed, node_w: tuple[float, float] | None) -> float:
    if node_w is None:
        return bed.power.active_w
    widest_w, single_w = node_w
    part = (nodes - 1) / max(bed.nodes - 1, 1)
    return single_w + part * (widest_w - single_w)


@dataclass
class Submitter:
    """Submits jobs at their times, from a thread of its own."""

    bed: Bed
    jobs: list[BedJob]
    held: bool = True
    mark: str = "wattline"
    run: str = field(default_factory=lambda: f"{time.time_ns() // 1_000_000:x}")
    clock: Callable[[], float] = time.time
    labels: dict[str, BedJob] = field(default_factory=dict)
    """By what Slurm calls them."""
    failed: dict[int, str] = field(default_factory=dict)
    """Why jobs were never submitted, by their numbers."""
    forgotten: list[str] = field(default_factory=list)
    """What a slurmctld that was killed knew no more of, and was submitted again."""
    forgotten_s: dict[str, float] = field(default_factory=dict)
    """When that was seen, by what Slurm had called them."""

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, args=(self.clock(),), daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        return not self._thread.is_alive()

    def _run(self, begin_s: float) -> None:
        commands = Commands(self.bed.environment)
        for job in sorted(self.jobs, key=lambda each: (each.submit_s, each.number)):
            time.sleep(max(begin_s + job.submit_s - self.clock(), 0.0))
            self._submit(commands, job)

    def _submit(self, commands: Commands, job: BedJob) -> None:
        try:
            label = self._submitted(commands, job)
        except SlurmError as error:
            self.failed[job.number] = f"job {job.number} was not submitted: {error}"
            return
        before = self.labels.get(label)
        self.labels[label] = job
        if before is not None:  # a number is given again only where its job was forgotten
            self._submit_again(commands, before, label)

    def _submit_again(self, commands: Commands, job: BedJob, label: str) -> None:
        self.forgotten.append(f"Slurm took job {job.number} as {label} and forgot it when it was "
                              "killed: it was submitted again")
        self.forgotten_s[label] = self.clock()
        self._submit(commands, job)

    def again(self) -> bool:
        """Submit what Slurm took and knows no more, as users would; whether there was any."""
        commands = Commands(self.bed.environment)
        known = self._known(commands)
        lost = {label: job for label, job in self.labels.items() if self._name(job) not in known}
        for label in lost:  # all of them first: their numbers are given again
            del self.labels[label]
        for label, job in lost.items():
            self._submit_again(commands, job, label)
        return bool(lost)

    def free(self, labels: Iterable[str]) -> None:
        """Cancel what Slurm lets nobody change any more, and submit it again, as users would.

        One that is killed while its database has not answered yet waits for that answer for ever.
        """
        commands = Commands(self.bed.environment)
        for label in labels:
            try:
                commands.run("scontrol", "update", f"JobId={label}",
                             f"Comment={self._comment(self.labels[label])}")
            except SlurmError as error:
                if NO_INDEX not in str(error):
                    continue
                commands.run("scancel", label)
                job = self.labels.pop(label)
                self.forgotten.append(f"Slurm lets nobody change job {label} ({NO_INDEX}): it was "
                                      "cancelled and submitted again")
                self._submit(commands, job)

    def _known(self, commands: Commands) -> set[str]:
        """Names of jobs that are there, or are over by accounting, which keeps them longer."""
        here = commands.run("squeue", "-h", "-t", "all", "-o", "%k").split()
        rows = commands.run("sacct", "-n", "-X", "-P", "-j", ",".join(self.labels), "-o",
                            "Comment,End").splitlines() if self.labels else []
        return {*here, *(comment.rpartition(" ")[2] for comment, _, end in (
            row.rpartition("|") for row in rows) if end not in ("Unknown", "None"))}

    def _submitted(self, commands: Commands, job: BedJob) -> str:
        """A call that failed may have done it: look before it is repeated."""
        until_s = self.clock() + RETRY_S
        while True:
            try:
                return commands.run(*self._command(job)).strip()
            except SlurmError:
                time.sleep(1.0)
                if self.clock() > until_s:
                    raise
            with suppress(SlurmError):
                for line in commands.run("squeue", "-h", "-t", "all", "-o", "%i %k").splitlines():
                    if line.split()[-1] == self._name(job):
                        return line.split()[0]

    def _name(self, job: BedJob) -> str:
        """No other job of the bed has it in its comment; what Slurm calls it is its application."""
        return f"{job.name}.{self.run}"

    def _comment(self, job: BedJob) -> str:
        return f"{self.mark} {self._name(job)}"

    def _command(self, job: BedJob) -> list[str]:
        return ["sbatch", "--parsable", *(["--hold"] if self.held else []),
                f"--nodes={job.node_words}", f"--time={round(job.limit_s / MINUTE_S)}",
                f"--job-name={job.application or job.name}",
                f"--comment={self._comment(job)}", "--requeue", f"--licenses=watts:{job.watts}",
                "--output=/dev/null",
                str(Path(self.bed.folder) / "job.sh"), f"{job.run_s:g}", f"{job.node_w:g}",
                *(f"{each.nodes}={each.run_s:g},{each.node_w:g}" for each in job.sizes)]
