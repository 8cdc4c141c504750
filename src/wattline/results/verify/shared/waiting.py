"""Nobody waits at the head of the queue who could start: by nodes, limits, watts and joules.

A job is held to have been able to start only where that is beyond doubt: it is the first of all
that wait for nodes of its partition, enough nodes have what it asks for and are neither down nor
reserved while it may run, and with the watts that it may add at most the machine, its parts and the
period's joules stay within their limits until the job is over at the latest, whoever else ends
before. Whatever makes that uncertain leaves the job out, and the rule says of how many jobs.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.results.verify._base import Counted, Finding, Skipped, Verdicts
from wattline.results.verify.shared._case import (
    EXCLUSIVE,
    NO_LIMIT,
    REFUSED,
    SHARED,
    Case,
)
from wattline.results.verify.shared.limits import limited_jobs
from wattline.results.verify.shared.power import drawn_by_machine, watts_per_node
from wattline.results.verify.shared.room import Room, latest_ends

FOR_WANT_OF_ROOM = (
    "", "no node has what it asks for", "too few licences", "the power cap leaves no room for it",
    "its nodes are down, drained or reserved",
    "a limit of a part of the machine leaves no room for it",
    "no period of the energy budget has the joules for it",
    "no period of the energy budget has the joules for it on the nodes that it would get",
)
"""Reasons for which a job waits for ever that are held against what the machine has."""
SLACK_W = 5e-7
"""Sums of watts may differ by so much from one another."""
MOST_LOOKS = 20_000
"""Times at which the heads of queues are looked at, of a run with more of them the first."""


@dataclass(frozen=True)
class Waits:
    """From when to when jobs wait: for their first start, to go on, or to run again."""

    job: IntArray
    from_s: FloatArray
    to_s: FloatArray
    is_first: Any


def heads(case: Case) -> Verdicts:
    """The first job of a queue starts when it can, as soon as the scheduler has looked."""
    waits = waits_of(case)
    long = waits.is_first & (waits.to_s > waits.from_s + slack_s(case))
    plain = plain_jobs(case)
    asked = np.zeros(case.count, bool)
    asked[waits.job[long]] = True
    if not asked.any():
        return
    sweep = Sweep(case, waits, plain)
    seen: set[int] = set()
    done: set[int] = set()
    for looks, (now_s, until_s) in enumerate(sweep.steps()):
        if looks >= MOST_LOOKS:
            yield Skipped(f"the queue was looked at up to {now_s:g} s, for {MOST_LOOKS:,} times")
            return
        for job in sweep.heads():
            seen.add(job)
            if job in done or not sweep.could_start(job, now_s):
                sweep.since_s.pop(job, None)
                continue
            since_s = sweep.since_s.setdefault(job, now_s)
            if until_s - since_s > slack_s(case) and sweep.could_start(
                job, max(now_s, since_s + slack_s(case))
            ):
                done.add(job)
                yield Finding(
                    f"job {case.job_id[job]} is the first of its queue and could start at "
                    f"{since_s:.10g} s, and waits until {_end(sweep.given_s(job))}",
                    int(case.job_id[job]),
                    float(since_s),
                )
    yield Counted(int((asked & plain).sum()), int(asked.sum()))


def _end(time_s: float) -> str:
    return f"{time_s:.10g} s" if np.isfinite(time_s) else "the end of the run"


def slack_s(case: Case) -> float:
    """After how long every loop of the scheduler has looked at the queue at least once."""
    rules = case.rules
    return float(
        rules.sched_interval_s
        + rules.sched_min_interval_s
        + rules.batch_sched_delay_s
        + 2 * rules.bf_interval_s
        + 2 * rules.tick_s
        + 2 * rules.kill_late_s
    )


def waits_of(case: Case) -> Waits:
    """All waits, jobs that were refused left out; of one that never ran it lasts for ever."""
    order = np.lexsort((case.given_s, case.stays.job))
    job, given_s = case.stays.job[order], case.given_s[order]
    first = (np.diff(job, prepend=-1) != 0) | (np.diff(given_s, prepend=-np.inf) != 0)
    job, given_s, left_s = job[first], given_s[first], case.stays.to_s[order][first]
    again = np.diff(job, prepend=-1) == 0
    from_s = np.where(again, np.append(0.0, left_s[:-1]), eligible_s(case)[job])
    never = np.setdiff1d(np.flatnonzero(case.outcome.state != REFUSED), job)
    return Waits(
        np.append(job, never),
        np.append(from_s, eligible_s(case)[never]),
        np.append(given_s, np.full(len(never), np.inf)),
        np.append(~again, np.ones(len(never), bool)),
    )


def eligible_s(case: Case) -> FloatArray:
    """When a job may start at the earliest: submitted, past its begin time, and let go."""
    asked = np.maximum(case.jobs.submit_s, case.jobs.begin_s)
    known_s = case.outcome.eligible_s
    return np.asarray(np.where(np.isnan(known_s), asked, np.maximum(asked, known_s)))


def plain_jobs(case: Case) -> Any:
    """Jobs of which it can be told whether they could start: nothing about them is unusual."""
    asked, rules, parts = case.jobs, case.rules, case.partitions
    one = asked.partitions.sum(axis=1) == 1
    part = np.argmax(asked.partitions, axis=1)
    known = (
        one
        & parts.up[part]
        & (parts.max_cpus_per_node[part] >= NO_LIMIT)
        & np.isin(parts.sharing[part], (SHARED, EXCLUSIVE))
        & (asked.tasks_per_node <= 0)
        & (asked.gres_per_job <= 0).all(axis=1)
        & (asked.gres_per_task <= 0).all(axis=1)
        & ~asked.held
        & ((asked.array < 0) | (asked.array_limit <= 0))
        & (case.outcome.requeues == 0)
        & (asked.limit_s > 0)
        & np.isfinite(asked.limit_s)
        & (asked.begin_s <= asked.submit_s)
    )
    # Where the number of its nodes is open, so are its watts, unless only its CPUs draw.
    fixed = (asked.tasks <= 1) | ((asked.min_nodes > 0) & (asked.max_nodes <= asked.min_nodes))
    of_cpus = (asked.gres_per_node <= 0).all(axis=1) & np.isnan(asked.power_per_node_w)
    known &= fixed | (of_cpus & ~asked.exclusive & (parts.sharing[part] == SHARED)
                      & (rules.select != "linear") & (rules.suspend_time_s < 0))
    about_room = np.isin(case.outcome.reason, FOR_WANT_OF_ROOM)
    known &= case.ran | about_room
    for name in ("cpus_per_gpu", "memory_per_gpu_mb", "reservation"):
        column = asked.get(name)
        if column is not None:
            known &= column < 0
    for name in ("own_user", "as_many_nodes"):
        column = asked.get(name)
        if column is not None:
            known &= ~column
    if case.has("dependencies"):
        known[case.dependencies.job] = False
    if case.has("options") or rules.topology_tree:
        known &= False
    if rules.enforce_limits:
        known &= ~limited_jobs(case)
    if rules.memory_counts:  # defaults of partitions and the site fill in the rest
        known &= (asked.memory_per_node_mb > 0) | (asked.memory_per_cpu_mb > 0)
    return known


@dataclass
class Sweep:
    """The machine from one change to the next, and who is first in line then."""

    case: Case
    waits: Waits
    plain: Any
    since_s: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        case = self.case
        self.room = Room(case)
        self.rank = _ranks(case)
        self.part = np.argmax(case.jobs.partitions, axis=1)
        nodes = case.partitions.nodes.astype(np.int64)
        self.meets = (nodes @ nodes.T) > 0
        self.latest_s = latest_ends(case)
        self.time_s, self.drawn_w = drawn_by_machine(case)
        self.node_w = watts_per_node(case)
        self.waiting: list[tuple[float, int]] = []

    def given_s(self, job: int) -> float:
        """When the job got its nodes first."""
        mine = self.waits.is_first & (self.waits.job == job)
        return float(self.waits.to_s[mine][0])

    def steps(self) -> Iterator[tuple[float, float]]:
        """Each time at which something changes, and the next one; the state follows."""
        case, waits = self.case, self.waits
        times = [case.given_s, case.stays.to_s, waits.from_s, waits.to_s]
        if case.cap is not None:
            times.append(case.cap.time_s)
        for name in ("outages", "reservations"):
            if case.has(name):
                table = getattr(case, name)
                times += [table.start_s, table.end_s]
        if case.has("budget"):
            budget = case.budget
            last_s = float(np.nanmax(case.end_s, initial=budget.start_s))
            times.append(np.arange(budget.start_s, last_s, budget.length_s))
        every = np.unique(np.concatenate(times))
        every = every[np.isfinite(every)]
        begins, ends = (
            np.argsort(waits.from_s, kind="stable"),
            np.argsort(waits.to_s, kind="stable"),
        )
        begun = ended = 0
        for at, now_s in enumerate(every.tolist()):
            while begun < len(begins) and waits.from_s[begins[begun]] <= now_s:
                if waits.to_s[begins[begun]] > now_s:
                    insort(self.waiting, self._place(int(begins[begun])))
                begun += 1
            while ended < len(ends) and waits.to_s[ends[ended]] <= now_s:
                self._leave(int(ends[ended]))
                ended += 1
            self.room.move_to(now_s)
            if at + 1 < len(every):
                yield now_s, float(every[at + 1])

    def _place(self, wait: int) -> tuple[float, int]:
        return float(self.rank[self.waits.job[wait]]), wait

    def _leave(self, wait: int) -> None:
        at = bisect_left(self.waiting, self._place(wait))
        if at < len(self.waiting) and self.waiting[at][1] == wait:
            del self.waiting[at]

    def heads(self) -> list[int]:
        """Plain jobs on their first wait with nobody before them in partitions that share nodes."""
        found: list[int] = []
        barred = np.zeros(len(self.meets), bool)
        for _, wait in self.waiting:
            job = int(self.waits.job[wait])
            named = np.flatnonzero(self.case.jobs.partitions[job])
            if (
                self.waits.is_first[wait]
                and self.plain[job]
                and not barred[named].any()
                and (np.isfinite(self.rank[job]) or len(self.waiting) == 1)
            ):
                found.append(job)
            barred |= self.meets[named].any(axis=0)
            if barred.all():
                break
        return found

    def could_start(self, job: int, now_s: float) -> bool:
        """Say whether enough nodes have room for it now, and its watts fit until it is over."""
        case = self.case
        nodes, cpus = self.room.nodes_for(job, int(self.part[job]), now_s)
        wanted = max(int(case.jobs.min_nodes[job]), 1)
        if len(nodes) < wanted:
            return False
        if not self._has_licences(job):
            return False
        added_w = self._watts_on(job, nodes, cpus)
        most_w = wanted * float(added_w.max())
        until_s = now_s + float(self.room.longest_s(job))
        woken_w = (
            float(np.sort(case.nodes.idle_w[nodes])[::-1][:wanted].sum())
            if case.rules.suspend_time_s >= 0
            else 0.0
        )
        return (
            self._under_cap(now_s, until_s, most_w + woken_w)
            and self._within_bounds(nodes, added_w, wanted)
            and self.room.has_joules(job, now_s, most_w)
        )

    def _watts_on(self, job: int, nodes: Any, cpus: Any) -> FloatArray:
        """Most watts that it may add on each of these nodes."""
        case = self.case
        if not np.isnan(self.node_w[job]):
            return np.asarray(np.maximum(self.node_w[job] - case.nodes.idle_w[nodes], 0.0))
        of_kind_w = np.broadcast_to(case.nodes.gres_w, case.nodes.gres.shape)[nodes]
        devices_w = np.zeros(len(nodes))
        number = int(np.maximum(case.jobs.gres_per_node[job], 0).sum())
        if number:
            devices_w = number * of_kind_w.max(axis=1, initial=0.0)
        return np.asarray(cpus * case.nodes.cpu_w[nodes] * case.jobs.cpu_load[job] + devices_w)

    def _under_cap(self, now_s: float, until_s: float, added_w: float) -> bool:
        """With all that runs lasting as long as the job may."""
        case = self.case
        if case.cap is None:
            return True
        drawn_w = float(self.drawn_w[np.searchsorted(self.time_s, now_s, "right")])
        later = case.cap.time_s[(case.cap.time_s > now_s) & (case.cap.time_s < until_s)]
        least_w = float(case.cap.sample(np.append(now_s, later)).min())
        return drawn_w + self.room.booting_w + added_w <= least_w + SLACK_W

    def _within_bounds(self, nodes: Any, added_w: FloatArray, wanted: int) -> bool:
        for bound, left_w in zip(self.case.bounds, self.room.left_in_bounds_w(), strict=True):
            share = np.zeros(len(self.case.nodes.names))
            share[bound.nodes] = 1.0 if bound.share is None else bound.share
            most_w = wanted * float((added_w * share[nodes]).max())
            if most_w > 0.0 and most_w > left_w + SLACK_W:
                return False
        return True

    def _has_licences(self, job: int) -> bool:
        case = self.case
        wanted = case.jobs.licences[job]
        if not wanted.any():
            return True
        running = np.unique(case.stays.job[self.room.present])
        return bool((case.jobs.licences[running].sum(axis=0) + wanted <= case.licences.count).all())


def _ranks(case: Case) -> FloatArray:
    """Place of each job in the queue, lower first; infinite where it depends on what was used.

    With `priority/basic` submissions stand in their order, an array as one, less their nice; a
    partition of a higher tier comes before all others.
    """
    asked = case.jobs
    if case.priority.kind != "basic":
        return np.full(case.count, np.inf)
    rows = np.arange(case.count)
    _, first, of = np.unique(
        np.where(asked.array >= 0, asked.array, -1 - rows), return_index=True, return_inverse=True
    )
    is_first = np.zeros(case.count, np.int64)
    is_first[first] = 1
    number = np.cumsum(is_first)[first[of]] + asked.nice
    tiers = np.where(asked.partitions, case.partitions.tier[None, :], 0)
    tier = tiers.max(axis=1, initial=0)
    order = np.lexsort((rows, number, -tier))
    rank = np.empty(case.count)
    rank[order] = np.arange(case.count)
    return rank
