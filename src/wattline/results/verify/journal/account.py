"""An account of a journal: jobs, nodes and watts, from what was told and ordered alone.

It follows the journal line by line and knows nothing of the scheduler that wrote it. Whoever told
an event is believed; what is judged is that orders fit what had been told by then.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from wattline.results.verify._base import Finding, Skipped, Verdicts
from wattline.results.verify.journal._reading import MARK, Lines, Order, Step, Told
from wattline.results.verify.journal.licences import RESTING, Licences

REACTION_S = 60.0
"""So long may pass from an order to what came of it, and from a lower cap to what keeps it."""
TOLERANCE = 1e-6
LATE_S = 5.0
"""Meters of a job are read up to so much before its start or after its end is seen..."""
ROUGH = 0.1
"""...and may be off by this part."""
LEAST = 0.5
"""Nodes with a job draw no less than this part of their idle power."""
KEEP_CAP = ("watts", "lending", "adaptive", "budget", "block")
"""Power policies under which no start takes the machine above its cap."""
WAITING, RUNNING, PAUSED, OVER = "waits", "runs", "is paused", "is over"


@dataclass
class Job:
    """One job as the journal tells of it."""

    units: int
    watts: float
    """Of the whole job at full speed, where it was told; else NaN."""
    state: str = WAITING
    nodes: tuple[int, ...] = ()
    power_w: float = 0.0
    energy_j: float = 0.0
    """The last that its meters showed."""
    is_metered: bool = False
    most_w: float = 0.0
    """The most that was expected or measured of it."""
    held_s: float = 0.0
    """Time for which it had nodes, up to `since_s`."""
    since_s: float = math.nan
    after: str | None = None
    seen_s: float = math.nan
    """When it was seen to run; NaN also once it was paused."""


@dataclass(frozen=True)
class Over:
    """A job that ended with joules by its meters."""

    line: int
    job: str
    time_s: float
    energy_j: float
    most_w: float


@dataclass
class Account:
    """Jobs, nodes and the cap at one time after the other; findings by their rule."""

    lines: Lines
    jobs: dict[str, Job] = field(default_factory=dict)
    running: dict[str, Job] = field(default_factory=dict)
    ordered: dict[str, float] = field(default_factory=dict)
    """When a start was ordered of which nothing was heard since, by its job."""
    taken: dict[int, str] = field(default_factory=dict)
    down: set[int] = field(default_factory=set)
    down_units: int = 0
    cap_w: float = math.inf
    reserved: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """Watts by the name of the reservation: from when, until when, how many."""
    found: dict[str, list[Finding]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    above_since_s: float = math.nan
    over: list[Over] = field(default_factory=list)
    licences: Licences = field(default_factory=lambda: Licences(REACTION_S))
    is_live: bool = False
    """Somebody said what came of orders: a controller did, a simulation does not."""

    def __post_init__(self) -> None:
        head = self.lines.head
        scenario = head.get("scenario") or {}
        machine = scenario.get("machine") or {}
        self.begins_anew = "books" not in head
        # The first version goes on in another file with the cap that the first one began with.
        knows_cap = self.begins_anew or int(head[MARK]) > 1
        self.cap_w = float(head.get("cap_w", math.inf)) if knows_cap else math.inf
        classes = machine.get("classes") or [{
            "count": machine.get("nodes"), "idle_w": machine.get("node_idle_w"),
            "active_w": machine.get("node_active_w")}]
        if any(each.get("count") is None for each in classes):
            classes = []
        self.idle_w = [float(each.get("idle_w") or 0.0) for each in classes
                       for _ in range(int(each["count"]))]
        self.active_w = max((float(each.get("active_w") or 0.0) for each in classes), default=0.0)
        self.nodes = len(self.idle_w)
        plain = self.nodes > 0 and machine.get("granularity", "node") == "node"
        self.has_whole_nodes = plain
        power = scenario.get("power") or {}
        policy = _name((scenario.get("policy") or {}).get("power"))
        self.counts_jobs = power.get("cap_counts") == "jobs"
        if not plain:
            self._skip(("cap", "units"), "it does not say what its nodes are, or cores are given")
        elif policy not in KEEP_CAP or "watch_cap" in power:
            self._skip(("cap",), f"the power policy {policy or 'of its scenario'} lets jobs start "
                                 "above the cap, or it is only watched")
        if not self.begins_anew:
            self._skip(("cap", "units", "orders", "events"),
                       "it goes on from another journal, whose jobs it does not name")
        self.is_live = any(event.kind in ("started", "notstarted")
                           for step in self.lines.steps for event in step.events)
        if not self.is_live:
            self._skip(("carried-out",), "nobody said what came of orders: it is a simulation's")

    def _skip(self, rules: tuple[str, ...], why: str) -> None:
        for rule in rules:
            self.skipped.setdefault(rule, why)

    def _broken(self, rule: str, step: Step, sentence: str, job: str | None = None) -> None:
        if rule in self.skipped:
            return
        number = int(job) if job is not None and job.isdecimal() else None
        self.found.setdefault(rule, []).append(Finding(
            f"line {step.line} ({step.time_s:.10g} s): {sentence}", number, step.time_s))

    def follow(self) -> None:
        """Read the journal to its end."""
        last: Step | None = None
        for step in self.lines.steps:
            if last is not None and step.time_s < last.time_s:
                self._broken("time", step, f"time goes back from {last.time_s:.10g} s")
            if step.policy:
                self._skip(("cap",), "another policy decides from some time on")
            for event in step.events:
                self._hear(step, event)
            for order in step.orders:
                self._obey(step, order)
            if any(order.kind in ("start", "resume") for order in step.orders):
                self._look_at_cap(step)
            if step.orders or step.events:
                self._look_at_units(step)
            self._late_orders(step)
            self.licences.cap(step.time_s, self._cap_now_w(step.time_s, RESTING))
            for job, sentence in self.licences.look(step) if step.licences else ():
                self._broken("licences", step, sentence, job)
            last = step
        if not self.licences.lines:
            self._skip(("licences",), "it has no lines about them: no controller with "
                                      "licences = true wrote it, or one of an earlier version")

    def _hear(self, step: Step, event: Told) -> None:
        given = event.fields
        name = str(given["job"]) if given.get("job") is not None else None
        heard = getattr(self, f"_hear_{event.kind}", None)
        if heard is not None:
            heard(step, name, given)

    def _known(self, step: Step, name: str | None, *states: str) -> Job | None:
        """The job, which is to be in one of these states."""
        job = self.jobs.get(name or "")
        if job is None:
            self._broken("events", step, f"job {name} was never submitted", name)
        elif job.state not in states:
            self._broken("events", step, f"something is told of job {name}, which {job.state}",
                         name)
        return job

    def _hear_submitted(self, step: Step, name: str, given: Mapping[str, Any]) -> None:
        old = self.jobs.get(name)
        if old is not None and old.state != OVER:
            self._broken("events", step, f"job {name} is submitted, and {old.state} already", name)
        after = given.get("after")
        self.jobs[name] = Job(int(given["units"]), float(given.get("watts", math.nan)),
                              after=None if after is None else str(after))

    def _hear_started(self, step: Step, name: str, given: Mapping[str, Any]) -> None:
        job = self._known(step, name, WAITING, RUNNING)
        if job is None:
            return
        nodes = tuple(given.get("nodes", ()))
        if job.state == WAITING:  # nobody here asked for it
            self._take(step, name, job, nodes)
            job.power_w = self._believed_w(job)
        elif nodes and job.nodes and set(nodes) != set(job.nodes):
            self._broken("carried-out", step, f"job {name} was ordered to start on other nodes "
                                              "than it runs on", name)
        self.ordered.pop(name, None)
        job.seen_s = step.time_s

    def _hear_notstarted(self, step: Step, name: str, given: Mapping[str, Any]) -> None:
        job = self._known(step, name, RUNNING)
        if job is not None:
            self._leave(name, job)
            job.state = WAITING

    def _hear_ended(self, step: Step, name: str, given: Mapping[str, Any]) -> None:
        job = self._known(step, name, RUNNING, PAUSED)
        if job is None:
            return
        self._meter(step, name, job, given)
        self._is_enough(step, name, job)
        self._leave(name, job)
        job.state = OVER

    def _hear_cancelled(self, step: Step, name: str, given: Mapping[str, Any]) -> None:
        job = self._known(step, name, WAITING, PAUSED)
        if job is not None:
            job.state = OVER

    def _hear_measured(self, step: Step, name: str | None, given: Mapping[str, Any]) -> None:
        watts = float(given["watts"])
        if name is None:
            self._machine_measured(step, watts)
            return
        job = self._known(step, name, RUNNING, PAUSED)
        if job is not None:
            self._meter(step, name, job, given)
            if job.state == RUNNING:
                job.power_w = watts
                job.most_w = max(job.most_w, watts)

    def _hear_paced(self, step: Step, name: str, given: Mapping[str, Any]) -> None:
        job = self.jobs.get(name)
        if job is not None and job.state == RUNNING:
            job.power_w = float(given["power_w"])

    def _hear_capchanged(self, step: Step, name: None, given: Mapping[str, Any]) -> None:
        watts = given.get("watts", math.inf)
        self.cap_w = math.inf if isinstance(watts, str) else float(watts)

    def _hear_reserved(self, step: Step, name: None, given: Mapping[str, Any]) -> None:
        start_s = float(given["start_s"])
        self.reserved[str(given["name"])] = (
            start_s, start_s + float(given["duration_s"]), float(given.get("watts", 0.0)))

    def _hear_reservationremoved(self, step: Step, name: None, given: Mapping[str, Any]) -> None:
        self.reserved.pop(str(given["name"]), None)

    def _hear_nodesdown(self, step: Step, name: None, given: Mapping[str, Any]) -> None:
        self.down.update(given.get("nodes", ()))
        self.down_units += int(given.get("units", 0))

    def _hear_nodesup(self, step: Step, name: None, given: Mapping[str, Any]) -> None:
        self.down.difference_update(given.get("nodes", ()))
        self.down_units -= int(given.get("units", 0))

    def _obey(self, step: Step, order: Order) -> None:
        if order.kind in ("down", "up"):
            self._skip(("cap",), "nodes are switched off and on")
        elif order.kind == "level":
            self._skip(("cap",), "all jobs change their speed at once")
        if order.job is None:
            return
        job = self.jobs.get(order.job)
        wanted = {"start": WAITING, "resume": PAUSED, "speed": RUNNING, "pause": RUNNING,
                  "refuse": WAITING}.get(order.kind)
        if job is None or (wanted is not None and job.state != wanted):
            why = "was never submitted" if job is None else job.state
            self._broken("orders", step, f"{order.kind} is ordered of job {order.job}, which {why}",
                         order.job)
        if job is None:
            return
        if order.kind in ("start", "resume"):
            self._start(step, order, job)
        elif order.kind == "pause":
            self._count_time(step, job)
            self._leave(order.job, job)
            job.state, job.seen_s = PAUSED, math.nan
        elif order.kind == "speed":
            job.power_w = order.power_w
        elif order.kind == "refuse":
            job.state = OVER

    def _start(self, step: Step, order: Order, job: Job) -> None:
        name = str(order.job)
        before = self.jobs.get(job.after or "")
        if order.kind == "start" and before is not None and before.state != OVER:
            self._broken("orders", step, f"job {name} starts before job {job.after} is over", name)
        job.units = int(order.control.get("units") or len(order.control.get("nodes", ()))
                        or job.units)
        self._take(step, name, job, tuple(order.control.get("nodes", ())))
        job.power_w = order.power_w
        job.most_w = max(job.most_w, order.power_w)
        self.ordered[name] = step.time_s

    def _take(self, step: Step, name: str, job: Job, nodes: tuple[int, ...]) -> None:
        job.state, job.nodes = RUNNING, nodes
        self.running[name] = job
        job.since_s = step.time_s
        for node in nodes:
            other = self.taken.get(node)
            if other is not None and other != name:
                self._broken("nodes", step, f"job {name} gets node {node}, which job {other} holds",
                             name)
            elif node in self.down:
                self._broken("nodes", step, f"job {name} gets node {node}, which is out of order",
                             name)
            self.taken[node] = name

    def _leave(self, name: str, job: Job) -> None:
        for node in job.nodes:
            if self.taken.get(node) == name:
                del self.taken[node]
        job.nodes, job.power_w, job.since_s = (), 0.0, math.nan
        self.running.pop(name, None)
        self.ordered.pop(name, None)

    def _believed_w(self, job: Job) -> float:
        return self.active_w * job.units if math.isnan(job.watts) else job.watts

    def _idle_rest_w(self) -> float:
        """Power of nodes without a job; where it is open which these are, of the thriftiest."""
        if all(job.nodes for job in self.running.values()):
            return sum(watts for node, watts in enumerate(self.idle_w) if node not in self.taken)
        free = self.nodes - sum(job.units for job in self.running.values())
        return sum(sorted(self.idle_w)[:max(free, 0)])

    def _cap_now_w(self, time_s: float, without: Collection[str] = ()) -> float:
        """The cap less what reservations take, some of which may be left out."""
        return self.cap_w - sum(watts for name, (begin_s, end_s, watts) in self.reserved.items()
                                if begin_s <= time_s < end_s and name not in without)

    def _look_at_cap(self, step: Step) -> None:
        """With what was just started the machine, or its jobs, draw no more than the cap."""
        running = self.running.values()
        power_w = sum(job.power_w for job in running)
        if not self.counts_jobs:
            power_w += self._idle_rest_w()
        cap_w = self._cap_now_w(step.time_s)
        if power_w > cap_w * (1 + TOLERANCE) + TOLERANCE:
            self._broken("cap", step, f"with the jobs that start {power_w:.10g} W are drawn, where "
                                      f"the cap is {cap_w:.10g} W")

    def _machine_measured(self, step: Step, watts: float) -> None:
        """The machine may be above its cap for as long as it takes to react."""
        if watts <= self._cap_now_w(step.time_s) * (1 + TOLERANCE):
            self.above_since_s = math.nan
            return
        if math.isnan(self.above_since_s):
            self.above_since_s = step.time_s
        elif step.time_s - self.above_since_s > REACTION_S:
            self._broken("measured", step, f"the machine is measured at {watts:.10g} W, above its "
                         f"cap of {self._cap_now_w(step.time_s):.10g} W since "
                         f"{self.above_since_s:.10g} s")
            self.above_since_s = math.inf  # said once

    def _meter(self, step: Step, name: str, job: Job, given: Mapping[str, Any]) -> None:
        """Joules of a job by its meters never become less."""
        energy_j = float(given.get("energy_j", math.nan))
        self._count_time(step, job)
        most_j = max(job.most_w, self.active_w * job.units) * (job.held_s + LATE_S)
        if energy_j > most_j * (1 + ROUGH):
            self._broken("energy", step, f"the meters of job {name} show {energy_j:.10g} J, and "
                         f"its nodes draw {most_j:.10g} J at most in its time", name)
        if energy_j < job.energy_j * (1 - TOLERANCE):
            self._broken("energy", step, f"the meters of job {name} show {energy_j:.10g} J, and "
                                         f"showed {job.energy_j:.10g} J before", name)
        if not math.isnan(energy_j):
            job.energy_j, job.is_metered = energy_j, True

    def _count_time(self, step: Step, job: Job) -> None:
        """Add up for how long a job has had its nodes."""
        if not math.isnan(job.since_s):
            job.held_s += step.time_s - job.since_s
            job.since_s = step.time_s

    def _is_enough(self, step: Step, name: str, job: Job) -> None:
        """A job that is over has drawn what its nodes draw idle, or most of it."""
        if not job.is_metered:
            return
        most_w = max(job.most_w, self.active_w * job.units)
        self.over.append(Over(step.line, name, step.time_s, job.energy_j, most_w))
        if self.has_whole_nodes and job.nodes and not math.isnan(job.seen_s):
            idle_w = sum(self.idle_w[node] for node in job.nodes)
            least_j = LEAST * idle_w * max(step.time_s - job.seen_s - LATE_S, 0.0)
            if job.energy_j < least_j:
                self._broken("energy", step, f"the meters of job {name} show {job.energy_j:.10g} "
                             f"J, and its nodes draw {least_j / LEAST:.10g} J idle in its time",
                             name)

    def _look_at_units(self, step: Step) -> None:
        if not self.nodes:
            return
        held = sum(job.units for job in self.running.values())
        if held > self.nodes and "units" not in self.found:
            self._broken("units", step, f"jobs hold {held:,} nodes of {self.nodes:,}")

    def _late_orders(self, step: Step) -> None:
        for name, ordered_s in list(self.ordered.items()):
            if self.is_live and step.time_s - ordered_s > REACTION_S:
                self._broken("carried-out", step, f"the start of job {name}, ordered at "
                             f"{ordered_s:.10g} s, is neither seen nor taken back", name)
                del self.ordered[name]


def _name(value: Any) -> str:
    return str(value.get("name", "")) if isinstance(value, Mapping) else str(value or "")


def remarks(account: Account, rule: str) -> Verdicts:
    """Findings of the account about one rule."""
    if rule in account.skipped:
        yield Skipped(account.skipped[rule])
    yield from account.found.get(rule, ())
