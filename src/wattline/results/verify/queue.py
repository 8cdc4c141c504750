"""Rules of the queue: its order, the reservation of its head, and that nobody waits idly.

At every instant of a run the definition of its policy is asked anew with what everybody could know
then: which jobs run, until when by their requests, what they draw, who waits, what the cap is. The
engine's sums and the scheduler's plans are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import NO_JOB, IntArray
from wattline.model.promises import HEAD, IN_ORDER, PLANNED, STOPS, QueueRule
from wattline.model.run import EventKind, Run
from wattline.model.signal import FloatArray
from wattline.results.verify._base import Counted, Finding, Skipped, Verdicts, by_job
from wattline.results.verify.idle_power import of_units
from wattline.results.verify.pace import due_s

MOST_CELLS = 100_000_000
"""So many jobs are looked at, over all instants, before instants are left out..."""
MOST_DECISIONS = 15_000
"""...and so many instants: some ten seconds of a processor."""
_NEAR = 1e-9
"""Relative to the cap: watts that are closer than this count as equal, for or against nobody."""
Key = Callable[[Run, IntArray, float], FloatArray]
"""Places of jobs in the queue at a time: the smaller goes first, ties by row."""


def key_of(rule: QueueRule) -> Key | None:
    """The key of an order by its name; None for one that is not known here."""
    terms = rule.terms
    if rule.order == "fcfs":
        return lambda run, jobs, now_s: np.zeros(len(jobs))
    if rule.order == "sjf":
        return lambda run, jobs, now_s: run.jobs.requested_s[jobs]
    if rule.order == "largest":
        return lambda run, jobs, now_s: -run.schedule.nodes[jobs].astype(np.float64)
    if rule.order == "wfp":
        return lambda run, jobs, now_s: _wfp(run, jobs, now_s, terms["exponent"])
    if rule.order == "multifactor":
        return lambda run, jobs, now_s: -(
            terms["age"] * np.minimum((now_s - run.jobs.submit_s[jobs]) / terms["age_max_s"], 1.0)
            + terms["size"] * (run.schedule.nodes[jobs] / run.units))
    return None


def _wfp(run: Run, jobs: IntArray, now_s: float, exponent: float) -> FloatArray:
    asked_s = run.jobs.requested_s[jobs]
    waited = (now_s - run.jobs.submit_s[jobs]) / np.where(asked_s > 0.0, asked_s, 1.0)
    weight = waited * waited * waited if exponent == 3.0 else waited**exponent
    return np.asarray(-run.schedule.nodes[jobs] * weight)


def why_not(run: Run) -> str:
    """Say why decisions of a run cannot be worked out again from its records; empty if they can.
    """
    log, schedule = run.events, run.schedule
    kinds = set(np.unique(log.kind).tolist())
    classes = [group.node_class for group in run.machine.groups]
    if run.node_stays is not None:
        return "jobs share nodes"
    if len(classes) > 1 or any(node.speed != 1.0 for node in classes):
        return "node classes differ in power or speed"
    if kinds & {EventKind.PAUSE, EventKind.RESUME, EventKind.REQUEUE}:
        return "jobs were paused or requeued"
    if EventKind.NODE in kinds:
        return "nodes were switched off and on"
    if run.reservations or run.promises.windows:
        return "nodes or watts were reserved"
    if run.bounds:
        return "placement may refuse free nodes"
    if schedule.configuration.any():
        return "jobs ran in other configurations than they asked for"
    if np.any(log.kind == EventKind.RATE):
        return "running jobs changed their speed"
    return ""


@dataclass(eq=False)
class _Known:
    """Facts known of all jobs of a run, by row."""

    run: Run
    key: Key
    power: str
    ready_s: FloatArray = field(init=False)
    due_s: FloatArray = field(init=False)
    """When each one that started is gone if it takes all the time it asked for."""
    need_w: FloatArray = field(init=False)
    """Watts above the idle power of its units, without which none is started."""
    held_w: FloatArray = field(init=False)
    """The same while it runs, by the log."""
    idle_w: float = field(init=False)

    def __post_init__(self) -> None:
        run, nodes = self.run, self.run.schedule.nodes
        unit_idle_w = float(of_units(run, lambda node: node.power_w_idle)[0])
        active_w = nodes * float(of_units(run, lambda node: node.power_w_active)[0])
        own_w = np.where(np.isnan(run.jobs.power_w), active_w, run.jobs.power_w)
        self.idle_w = unit_idle_w * run.units
        self.ready_s = join_s(run)
        self.due_s = due_s(run)
        rise_w = np.maximum(own_w - nodes * unit_idle_w, 0.0)
        self.need_w = rise_w * _lowest(run)
        self.held_w = np.zeros(len(nodes))
        rows = by_job(run, (EventKind.START,))
        job = run.events.job[rows]
        self.held_w[job] = np.maximum(run.events.value[rows] - nodes[job] * unit_idle_w, 0.0)

    def cap_w(self, now_s: float) -> float:
        return np.inf if self.run.cap_w is None or not self.power else self.run.cap_w.at(now_s)

    def in_order(self, jobs: IntArray, now_s: float) -> IntArray:
        if jobs.size < 2:
            return jobs
        return jobs[np.lexsort((jobs, self.key(self.run, jobs, now_s)))]

    def name(self, job: int) -> int:
        return int(self.run.jobs.job_id[job])


def join_s(run: Run) -> FloatArray:
    """When each job joined the queue; never for one that was refused, or waits for such a one."""
    after = run.jobs.after_job
    first = np.maximum(after, 0)
    freed_s = np.where(run.ran[first], run.schedule.end_s[first] + run.jobs.think_s,
                       np.where(run.refused[first], -np.inf, np.inf))
    ready_s = np.where(after == NO_JOB, run.jobs.submit_s,
                       np.maximum(run.jobs.submit_s, freed_s))
    return np.where(run.refused, np.inf, ready_s)


def _lowest(run: Run) -> FloatArray | float:
    """Power above idle at the lowest frequency that each job allows, relative to full speed."""
    ladder = run.promises.frequencies
    if ladder is None:
        return 1.0
    low_hz, _ = ladder.allowed()
    return np.asarray(ladder.dynamic[np.searchsorted(ladder.frequency_hz, low_hz)])


@dataclass(eq=False)
class _Instant:
    """Jobs that run and jobs that wait after all events of one time."""

    known: _Known
    now_s: float
    runs: IntArray
    waits: IntArray
    """In the order of the queue; without those that the cap of now could never let start."""
    began: IntArray
    cap_w: float

    @property
    def slack_w(self) -> float:
        return _NEAR * self.cap_w if np.isfinite(self.cap_w) else 0.0

    @property
    def head(self) -> int:
        return int(self.waits[0]) if self.waits.size else NO_JOB

    @property
    def passed(self) -> IntArray:
        """Jobs that began now and stand behind the head."""
        if not self.waits.size or not self.began.size:
            return self.began[:0]
        both = self.known.in_order(np.append(self.began, self.head), self.now_s)
        return both[int(np.flatnonzero(both == self.head)[0]) + 1:]

    def free(self, runs: IntArray) -> tuple[int, float]:
        """Units and watts that these jobs leave."""
        run = self.known.run
        units = run.units - int(run.schedule.nodes[runs].sum())
        return units, self.cap_w - self.known.idle_w - float(self.known.held_w[runs].sum())

    def fits(self, job: int, runs: IntArray, slack_w: float = 0.0) -> tuple[bool, bool]:
        """Say whether a job fits beside these in units, and in watts."""
        units, watts = self.free(runs)
        return (int(self.known.run.schedule.nodes[job]) <= units,
                bool(self.known.need_w[job] <= watts + slack_w))

    def shadow(self, job: int, runs: IntArray) -> tuple[float, int, float]:
        """The first time at which a job has its units (and watts where they are planned), by the
        requests of these; and the units and watts that it then leaves."""
        known, nodes = self.known, self.known.run.schedule.nodes
        planned = known.power == PLANNED and np.isfinite(self.cap_w)
        expected_s = np.maximum(known.due_s[runs], self.now_s)
        order = np.argsort(expected_s, kind="stable")
        expected_s = expected_s[order]
        units, watts = self.free(runs)
        upto = units + np.append(0, np.cumsum(nodes[runs][order])) - int(nodes[job])
        upto_w = np.full(len(upto), np.inf)
        if planned:
            upto_w = (watts + np.append(0.0, np.cumsum(known.held_w[runs][order]))
                      - known.need_w[job])
        enough = np.flatnonzero((upto >= 0) & (upto_w >= -self.slack_w))
        if not enough.size:
            return np.inf, int(upto[-1]), float(upto_w[-1])
        at_s = self.now_s if enough[0] == 0 else float(expected_s[enough[0] - 1])
        last = int(np.searchsorted(expected_s, at_s, "right"))  # all that are due at that time
        return at_s, int(upto[last]), float(upto_w[last])


def _instants(known: _Known, times_s: FloatArray) -> Iterator[_Instant]:
    """The state of the run at each of these times."""
    run = known.run
    start_s = np.where(run.ran, run.schedule.start_s, np.inf)
    by_start, by_ready = (np.argsort(column, kind="stable") for column in (start_s, known.ready_s))
    started = np.searchsorted(start_s[by_start], times_s, "right")
    joined = np.searchsorted(known.ready_s[by_ready], times_s, "right")
    runs = waits = by_start[:0]
    done = [0, 0]
    for now_s, here, there in zip(times_s.tolist(), started.tolist(), joined.tolist(), strict=True):
        runs = np.append(runs, by_start[done[0]:here])
        runs = runs[run.schedule.end_s[runs] > now_s]
        waits = np.append(waits, by_ready[done[1]:there])
        waits = waits[start_s[waits] > now_s]
        done = [here, there]
        cap_w = known.cap_w(now_s)
        possible = waits
        if known.power == PLANNED:  # a job that not even the idle machine has watts for is no head
            possible = waits[known.idle_w + known.need_w[waits] <= cap_w * (1 + _NEAR)]
        began = runs[start_s[runs] == now_s]
        yield _Instant(known, now_s, runs, known.in_order(possible, now_s), began, cap_w)


def _judged_times(run: Run) -> tuple[FloatArray, int]:
    """Times of decisions that are judged, evenly spread where there are too many, and of how many.
    """
    times_s = np.unique(run.events.time_s)
    held = np.searchsorted(run.events.time_s, times_s, "right") - 1
    cells = int((run.events.busy[held] + run.events.queued[held] + 50).sum())
    step = max(-(-cells // MOST_CELLS), -(-len(times_s) // MOST_DECISIONS), 1)
    return times_s[::step], len(times_s)


def queue(
    run: Run, rule: QueueRule | None = None, key: Key | None = None, *, greedy: bool = True
) -> Verdicts:
    """Judge the promises of a rule (the run's own if none is given) at every decision.

    `key` is the place of jobs in the queue where the order has no name. Where the policy is not
    `greedy`, it may let jobs wait that could start.
    """
    rule = rule or run.promises.queue
    if rule is None:
        yield Skipped("the run does not say by which rule jobs wait")
        return
    if (why := why_not(run)) or (key := key or key_of(rule)) is None:
        yield Skipped(why or f"the order '{rule.order}' is not known here")
        return
    known = _Known(run, key, rule.power)
    if np.isnan(known.due_s[run.ran]).any():
        yield Skipped("nobody can tell when running jobs were due")
        return
    times_s, total = _judged_times(run)
    yield Counted(len(times_s), total)
    whole = len(times_s) == total
    promise = _Promise()
    for instant in _instants(known, times_s):
        if instant.head == NO_JOB:
            promise = _Promise()
            continue
        yield from _in_order(instant, rule)
        if greedy:
            yield from _head_could_start(instant)
        if rule.keeps == HEAD:
            yield from _head_delayed(instant, promise, whole)
        if rule.keeps == HEAD and greedy:
            yield from _others_could_start(instant, rule)


def _in_order(instant: _Instant, rule: QueueRule) -> Verdicts:
    """Nobody starts behind the first that waits where nobody may pass it."""
    passed, known = instant.passed, instant.known
    if not passed.size:
        return
    behind = (f"at {instant.now_s:g} s job {known.name(passed[0])} starts while job "
              f"{known.name(instant.head)} waits, which stands before it")
    if rule.keeps == IN_ORDER:
        yield Finding(behind, known.name(passed[0]), instant.now_s)
    elif rule.power == STOPS and rule.keeps == HEAD:
        before = instant.runs[~np.isin(instant.runs, passed)]
        fits, powered = instant.fits(instant.head, before, -instant.slack_w)
        if fits and not powered:
            yield Finding(f"{behind} and lacks only watts, which lets nobody pass",
                          known.name(passed[0]), instant.now_s)


def _head_could_start(instant: _Instant) -> Verdicts:
    """The first that waits has too few units or watts, by what was there before any passed it."""
    known = instant.known
    before = instant.runs[~np.isin(instant.runs, instant.passed)]
    if all(instant.fits(instant.head, before)):
        name = known.name(instant.head)
        yield Finding(f"job {name}, first in the queue, waits at {instant.now_s:g} s though there "
                      "are units and watts for it", name, instant.now_s)


@dataclass(eq=False)
class _Promise:
    """The start that the head of the queue counts on."""

    job: int = NO_JOB
    start_s: float = np.inf
    cap_w: float = np.nan


def _head_delayed(instant: _Instant, promise: _Promise, whole: bool) -> Verdicts:
    """Neither the jobs that pass it, nor time, take the head's earliest start away."""
    known, head, passed = instant.known, instant.head, instant.passed
    overdue = bool((known.due_s[instant.runs] < instant.now_s).any())
    key = known.in_order(np.append(instant.began, head), instant.now_s)
    in_order = bool(instant.began.size and key[0] != head)
    lacks_watts = known.power == STOPS and instant.fits(head, instant.runs)[0]
    if (head != promise.job or overdue or in_order or instant.cap_w != promise.cap_w
            or lacks_watts):
        promise.job, promise.start_s, promise.cap_w = head, np.inf, instant.cap_w
    name = known.name(head)
    before = instant.runs[~np.isin(instant.runs, passed)]
    before_s = instant.shadow(head, before)[0]
    after_s = instant.shadow(head, instant.runs)[0] if passed.size else before_s
    if passed.size and after_s > before_s:
        yield Finding(f"at {instant.now_s:g} s job {known.name(passed[0])} passes job {name}, "
                      f"first in the queue, which can then start at {after_s:g} s instead of "
                      f"{before_s:g} s", name, instant.now_s)
    elif not overdue and whole and after_s > promise.start_s:
        yield Finding(f"job {name}, first in the queue, was promised {promise.start_s:g} s and can "
                      f"now start at {after_s:g} s", name, instant.now_s)
    promise.start_s = min(promise.start_s, before_s) if after_s <= before_s else after_s


def _others_could_start(instant: _Instant, rule: QueueRule) -> Verdicts:
    """No job behind the head waits that would fit beside its reservation."""
    known, others = instant.known, instant.waits[1:]
    if not others.size or known.run.promises.frequencies is not None:
        return
    units, watts = instant.free(instant.runs)
    if rule.power == STOPS and instant.fits(instant.head, instant.runs)[0]:
        return  # the head lacks only watts, which lets nobody pass
    slack_w = instant.slack_w
    shadow_s, extra, extra_w = instant.shadow(instant.head, instant.runs)
    nodes, need_w = known.run.schedule.nodes[others], known.need_w[others]
    in_time = instant.now_s + known.run.jobs.requested_s[others] <= shadow_s
    spare = (nodes <= extra) & (need_w <= extra_w - slack_w)
    may: npt.NDArray[np.bool_] = (nodes <= units) & (in_time | spare)
    powered = need_w <= watts
    if rule.power == STOPS:  # the first that lacks only watts stops all behind it
        stop = np.flatnonzero(may & ~powered)
        if stop.size:
            may[stop[0]:] = False
    could = np.flatnonzero(may & powered)
    if could.size:
        name = known.name(int(others[could[0]]))
        yield Finding(f"job {name} waits at {instant.now_s:g} s though it fits beside the "
                      f"reservation of job {known.name(instant.head)} at {shadow_s:g} s", name,
                      instant.now_s)
