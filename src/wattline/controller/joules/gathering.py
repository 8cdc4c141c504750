"""What nodes and Slurm say of jobs, gathered between two entries into the ledger.

All of it may be told again: a reading is known by its node and time, a life by its job and start.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from wattline.account.measured.records import RUNAWAY, Kind, Life, LifeKey, Series
from wattline.live.agent.marks import BEGIN, END
from wattline.live.fleet import NodeReport
from wattline.live.sensor import Quality
from wattline.live.slurm.reading import ACTIVE, ENDING, STARTING, WAITING, SlurmJob, hosts
from wattline.model.units import fold_hosts

METER = "agent"
DIGITS = 2
"""Of seconds and joules: counters are no finer, and a ledger has many of them."""
REQUEUED = "REQUEUED"
MOST_READINGS = 3_000_000
"""More are not kept where they cannot be entered: nodes have them, and are asked for them again."""


@dataclass(frozen=True)
class Marked:
    """A prolog or epilog that ran on a node."""

    node: str
    what: str
    job_id: int
    time_s: float
    """By the node's clock, as those of its readings."""


@dataclass(frozen=True)
class Lost:
    """A node that will run no epilog of a job's life in time: Slurm had lost the node when the job
    left it, or has forgotten the job."""

    label: str
    node: str
    time_s: float
    """When that was seen, or when the life began: lives that began later are others."""


@dataclass(frozen=True)
class Batch:
    """What came in a while."""

    lives: Mapping[LifeKey, Life] = field(default_factory=dict)
    readings: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    """Per node times and joules."""
    marks: tuple[Marked, ...] = ()
    begun_s: Mapping[LifeKey, float] = field(default_factory=dict)
    """Of lives that were seen to begin, about when: between two looks."""
    left_s: Mapping[tuple[LifeKey, str], float] = field(default_factory=dict)
    """Of lives that go on without a node that they had, about when they left it."""
    lost: frozenset[Lost] = frozenset()
    running: frozenset[LifeKey] | None = None
    """All that Slurm showed running at its last look; None where there was none."""
    seen: Mapping[str, tuple[int, int, float]] = field(default_factory=dict)
    """Up to where nodes need not be asked again once all this is entered."""

    def __or__(self, later: Batch) -> Batch:
        readings = {node: list(each) for node, each in self.readings.items()}
        for node, each in later.readings.items():
            readings.setdefault(node, []).extend(each)
        lives = {**self.lives, **later.lives}
        for key in self.lives.keys() & later.lives.keys():
            lives[key] = with_nodes(later.lives[key], hosts(self.lives[key].node_list))
        return Batch(lives, readings, self.marks + later.marks,
                     {**later.begun_s, **self.begun_s}, {**later.left_s, **self.left_s},
                     self.lost | later.lost,
                     self.running if later.running is None else later.running,
                     later.seen or self.seen)

    def series(self, cluster: str) -> tuple[Series, ...]:
        return tuple(
            Series(cluster, node, Kind.JOULES, np.array([at for at, _ in each]),
                   np.array([joules for _, joules in each]), METER)
            for node, each in sorted(self.readings.items()) if each)


class Gathering:
    """Takes reports of nodes and looks at Slurm; gives them as batches."""

    def __init__(self, cluster: str, lost: Iterable[Lost] = ()) -> None:
        self.cluster = cluster
        self.remarks: list[str] = []
        self._lives: dict[LifeKey, Life] = {}
        self._readings: dict[str, list[tuple[float, float]]] = {}
        self._count = 0
        self._marks: list[Marked] = []
        self._begun_s: dict[LifeKey, float] = {}
        self._left_s: dict[tuple[LifeKey, str], float] = {}
        self._had: dict[LifeKey, tuple[str, ...]] = {}
        """Nodes of the lives of the last look, also those that they have given back."""
        self._lost = set(lost)
        self._ran: Mapping[str, tuple[int, Sequence[str]]] = {}
        self._last: dict[str, SlurmJob] = {}
        """By label, the life that was seen last and had begun."""
        self._running: frozenset[LifeKey] | None = None
        self._looked_s = math.nan

    def hear(self, reports: Iterable[NodeReport]) -> None:
        for report in reports:
            what, _, job = report.job.partition(" ")
            time_s = round(report.time_s, DIGITS)
            if what in (BEGIN, END) and job.isdecimal():
                self._marks.append(Marked(report.node, what, int(job), time_s))
            if report.quality is not Quality.MISSING and math.isfinite(report.energy_j):
                self._readings.setdefault(report.node, []).append(
                    (time_s, round(report.energy_j, DIGITS)))
                self._count += 1
            goes_on = report.quality is Quality.FIRST and report.energy_j > 0.0
            if report.quality is Quality.RESET or (goes_on and report.reason):
                self.remarks.append(f"{report.node}: {report.reason}: what it drew before is in no "
                                    "job's joules")
        if self._count > MOST_READINGS:
            self._readings, self._count = {}, 0
            self.remarks.append(f"{MOST_READINGS} readings could not be entered into the ledger and"
                                " are let go; nodes are asked for them again at the next start")

    def recall(self, ran: Mapping[str, tuple[int, Sequence[str]]]) -> None:
        """Jobs that ran when a controller before this one was ended: by label which of their lives
        it was, counted from 0, and its nodes."""
        self._ran = ran

    def look(
        self, jobs: Iterable[SlurmJob], now_s: float, dead: Collection[str] = ()
    ) -> list[Lost]:
        """Take up what Slurm shows of jobs that have begun; `dead` are nodes that it has lost.

        What is returned are those of them that jobs have left since the last look, and the nodes of
        jobs that Slurm has forgotten.
        """
        seen = {job.label: job for job in jobs}
        lost = self._lost_meanwhile(seen, now_s, dead)
        for label, job in seen.items():
            before = self._last.get(label)
            if before is not None and _is_other(before, job):
                lost += self._forgotten(before, now_s)
                before = None
                del self._last[label]
            if before is not None and job.restarts > before.restarts:
                self._requeued(before, job, now_s)
            leaves = before is not None and (job.restarts > before.restarts
                                             or job.state not in ACTIVE)
            if before is not None and leaves and _runs(before):
                lost += [Lost(label, node, now_s) for node in before.node_list if node in dead]
            known = before is not None and before.restarts == job.restarts
            # What is being requeued shows its next life on the nodes of the last.
            if _has_begun(job) and (known or job.state not in ENDING):
                self._begun(job, before, now_s)
        for label, gone in self._last.items():
            if label not in seen and _runs(gone):  # Slurm shows for a while what has ended
                lost += self._forgotten(gone, now_s)
        self._last = {label: job for label, job in self._last.items() if label in seen}
        self._had = {key: nodes for key, nodes in self._had.items() if key.label in seen}
        self._running = frozenset(LifeKey(self.cluster, label, int(job.start_s))
                                  for label, job in self._last.items() if _runs(job))
        self._looked_s = now_s
        self._lost.update(lost)
        return lost

    def _lost_meanwhile(
        self, seen: Mapping[str, SlurmJob], now_s: float, dead: Collection[str]
    ) -> list[Lost]:
        """Of jobs that ran before this controller and do not any more."""
        over = {label: nodes for label, (restarts, nodes) in self._ran.items()
                if label not in seen or seen[label].restarts > restarts
                or seen[label].state not in ACTIVE}
        self._ran = {}
        return [Lost(label, node, now_s) for label, nodes in over.items()
                for node in nodes if node in dead]

    def batch(self, seen: Mapping[str, tuple[int, int, float]]) -> Batch:
        """All that came since the last call."""
        found = Batch(self._lives, self._readings, tuple(self._marks), self._begun_s,
                      self._left_s, frozenset(self._lost), self._running, seen)
        self._lives, self._readings, self._marks, self._begun_s = {}, {}, [], {}
        self._left_s, self._lost = {}, set()
        self._count = 0
        return found

    def _begun(self, job: SlurmJob, before: SlurmJob | None, now_s: float) -> None:
        life = life_of(job, self.cluster, now_s)
        new = before is None or before.restarts != job.restarts
        if new and not math.isnan(self._looked_s):
            self._begun_s[life.key] = max((self._looked_s + now_s) / 2, job.start_s)
        if before is not None and not new and job.state in ACTIVE:
            for node in set(before.node_list).difference(job.node_list):
                self._left_s[life.key, node] = (self._looked_s + now_s) / 2
        # Of a job that ends Slurm shows those nodes alone that it has not left yet.
        life = with_nodes(life, self._had.get(life.key, ()))
        self._had[life.key] = hosts(life.node_list)
        if new or _runs(job) or before is None or before.state != job.state:
            self._lives[life.key] = life
        self._last[job.label] = job

    def _forgotten(self, gone: SlurmJob, now_s: float) -> list[Lost]:
        """End a life that Slurm does not know any more; accounting, where it says an end, knows
        better."""
        life = life_of(gone, self.cluster, now_s)
        life = with_nodes(life, self._had.get(life.key, ()))
        self._lives[life.key] = replace(life, state=RUNAWAY, end_s=now_s)
        return _all_lost(gone)

    def _requeued(self, before: SlurmJob, now: SlurmJob, now_s: float) -> None:
        """Slurm shows the next life only; it was submitted when the last one ended."""
        if _runs(before):
            life = replace(life_of(before, self.cluster, now_s), state=REQUEUED,
                           end_s=max(now.submit_s, before.start_s), seen_s=math.nan)
            self._lives[life.key] = life


def life_of(job: SlurmJob, cluster: str, looked_s: float) -> Life:
    """A job that has begun as the ledger knows it."""
    runs = _runs(job)
    return Life(
        LifeKey(cluster, job.label, int(job.start_s)), job_id=job.job_id, user=job.user,
        account=job.account, partition=job.partition, application=job.name,
        state="RUNNING" if runs else job.state, nodes=len(job.node_list), cores=job.cpus,
        node_list=fold_hosts(job.node_list), submit_s=job.submit_s,
        end_s=math.nan if runs else max(job.end_s, job.start_s),
        limit_s=job.limit_s if math.isfinite(job.limit_s) else math.nan,
        seen_s=looked_s if runs else math.nan)


def with_nodes(life: Life, nodes: Sequence[str]) -> Life:
    """A life with nodes that it had before: what it drew there is its own."""
    now = hosts(life.node_list)
    if set(nodes) <= set(now):
        return life
    all_nodes = sorted({*now, *nodes})
    return replace(life, nodes=len(all_nodes), node_list=fold_hosts(all_nodes))


def _has_begun(job: SlurmJob) -> bool:
    return (job.state not in WAITING and job.state not in STARTING and bool(job.node_list)
            and not math.isnan(job.start_s) and (_runs(job) or not math.isnan(job.end_s)))


def _is_other(before: SlurmJob, now: SlurmJob) -> bool:
    """Say whether a slurmctld that was killed has reused the number of a job that ran, or has
    forgotten that it had started it."""
    return _runs(before) and now.restarts <= before.restarts and (
        now.submit_s > before.submit_s or now.state in WAITING)


def _all_lost(job: SlurmJob) -> list[Lost]:
    """By when it began: the number may have been given again by the time that is seen."""
    return [Lost(job.label, node, job.start_s) for node in job.node_list]


def _runs(job: SlurmJob) -> bool:
    return job.state in (*ACTIVE, *ENDING)
