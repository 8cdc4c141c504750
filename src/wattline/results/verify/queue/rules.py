"""Rules of the queue: its order, the reservation of its head, and that nobody waits idly.

At every instant of a run the definition of its policy is asked anew with what everybody could know
then: which jobs run, until when by their requests, what they draw, who waits, what the cap is. The
engine's sums and the scheduler's plans are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wattline.model.jobs import NO_JOB, IntArray
from wattline.model.promises import HEAD, IN_ORDER, PLANNED, STOPS, QueueRule
from wattline.model.run import EventKind, Run
from wattline.results.verify._base import (
    Counted,
    Finding,
    Skipped,
    Verdicts,
    placed_wrongly,
)
from wattline.results.verify.queue.instants import Instant, Known, instants, judged_times
from wattline.results.verify.queue.orders import Key, key_of


def why_not(run: Run) -> str:
    """Say why decisions of a run cannot be worked out again from its records; empty if they can.
    """
    kinds = set(np.unique(run.events.kind).tolist())
    several = len(run.machine.groups) > 1
    if run.node_stays is not None:
        return "jobs share nodes"
    if kinds & {EventKind.PAUSE, EventKind.RESUME, EventKind.REQUEUE}:
        return "jobs were paused or requeued"
    if EventKind.NODE in kinds:
        return "nodes were switched off and on"
    if run.promises.windows or any(each.watts for each in run.reservations):
        return "watts were reserved"
    if run.bounds:
        return "placement may refuse free nodes"
    if run.schedule.configuration.any():
        return "jobs ran in other configurations than they asked for"
    if several and (run.placement is None or placed_wrongly(run, run.placement).any()):
        return "nodes of several classes are not named"
    speeds = {group.node_class.speed for group in run.machine.groups}
    if not several and speeds != {1.0}:
        return "all nodes are of another speed than those of the log"
    if several and any(each.nodes for each in run.reservations):
        planned = run.promises.queue is not None and run.promises.queue.power == PLANNED
        if len(speeds) > 1 or planned:
            return "units are reserved, and time or watts of a job depend on its nodes"
    if run.promises.frequencies is not None and any(each.nodes for each in run.reservations):
        return "units are reserved, and the time of a job depends on its frequency"
    if several and run.promises.frequencies is not None:
        return "node classes differ, and jobs have frequencies"
    rates = run.events.job[run.events.kind == EventKind.RATE]
    rule = run.promises.queue
    together = rule is not None and rule.least_power < 1.0
    if (rates != NO_JOB).any() or (rates.size and not together):
        return "running jobs changed their speed"
    return ""


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
    if (why := why_not(run)) or (key := key or key_of(run, rule)) is None:
        yield Skipped(why or f"the order '{rule.order}' is not known here")
        return
    known = Known(run, key, rule)
    if np.isnan(known.own_due_s[run.ran]).any():
        yield Skipped("nobody can tell when running jobs were due")
        return
    times_s, total = judged_times(run)
    # Watts that a job needs on several classes depend on the nodes that are free when it starts.
    firm = not (known.classes.several and rule.power == PLANNED)
    whole, left_out = firm and len(times_s) == total, 0
    promise = _Promise()
    for instant in instants(known, times_s):
        if instant.head == NO_JOB:
            promise = _Promise()
            continue
        if instant.is_tied:
            promise = _Promise()
            left_out += 1
            continue
        yield from _in_order(instant, rule)
        if greedy:
            yield from _head_could_start(instant)
        if rule.keeps == HEAD:
            yield from _head_delayed(instant, promise, whole)
        if rule.keeps == HEAD and greedy:
            yield from _others_could_start(instant, rule)
    yield Counted(len(times_s) - left_out, total)


def _in_order(instant: Instant, rule: QueueRule) -> Verdicts:
    """Nobody starts behind the first that waits where nobody may pass it."""
    passed, known = instant.passed, instant.known
    if not passed.size:
        return
    behind = (f"at {instant.now_s:g} s job {known.name(passed[0])} starts while job "
              f"{known.name(instant.head)} waits, which stands before it")
    if rule.keeps == IN_ORDER:
        yield Finding(behind, known.name(passed[0]), instant.now_s)
    elif rule.power == STOPS and rule.keeps == HEAD:
        fits, powered = instant.fits(instant.head, instant.before, -instant.slack_w)
        if fits and not powered:
            yield Finding(f"{behind} and lacks only watts, which lets nobody pass",
                          known.name(passed[0]), instant.now_s)


def _head_could_start(instant: Instant) -> Verdicts:
    """The first that waits has too few units or watts, by what was there before any passed it."""
    known = instant.known
    if all(instant.fits(instant.head, instant.before, -known.speed.slack(instant.slack_w))):
        name = known.name(instant.head)
        yield Finding(f"job {name}, first in the queue, waits at {instant.now_s:g} s though there "
                      "are units and watts for it", name, instant.now_s)


@dataclass(eq=False)
class _Promise:
    """The start that the head of the queue counts on."""

    job: int = NO_JOB
    start_s: float = np.inf
    cap_w: float = np.nan
    speed: float = 1.0
    instant: Instant | None = None
    """The last one at which it was asked for."""

    def met_late_end(self, now_s: float) -> bool:
        """Say whether a job that ran at the last instant went on past the time that it asked for.
        """
        if self.instant is None:
            return False
        known, runs = self.instant.known, self.instant.runs
        due_s = known.due_s(runs, self.instant.now_s)
        return bool(((due_s < now_s) & (known.run.schedule.end_s[runs] > due_s)).any())


def _head_delayed(instant: Instant, promise: _Promise, whole: bool) -> Verdicts:
    """Neither the jobs that pass it, nor time, take the head's earliest start away."""
    known, head, passed = instant.known, instant.head, instant.passed
    overdue, speed = instant.overdue, known.speed.at(instant.now_s)
    met_late_end, promise.instant = promise.met_late_end(instant.now_s), instant
    key = known.in_order(np.append(instant.began, head), instant.now_s)
    in_order = bool(instant.began.size and key[0] != head)
    lacks_watts = known.rule.power == STOPS and instant.fits(head, instant.runs)[0]
    if (head != promise.job or overdue or met_late_end or in_order or instant.cap_w != promise.cap_w
            or speed != promise.speed or lacks_watts):
        promise.job, promise.start_s = head, np.inf
        promise.cap_w, promise.speed = instant.cap_w, speed
    name = known.name(head)
    before_s = instant.shadow_before[0]
    if before_s <= instant.now_s and known.classes.several and known.rule.power == PLANNED:
        return  # it has the watts on other nodes than those that are free
    after_s = instant.shadow_now[0]
    if passed.size and known.later(after_s, before_s):
        yield Finding(f"at {instant.now_s:g} s job {known.name(passed[0])} passes job {name}, "
                      f"first in the queue, which can then start at {after_s:g} s instead of "
                      f"{before_s:g} s", name, instant.now_s)
    elif not overdue and whole and known.later(after_s, promise.start_s):
        yield Finding(f"job {name}, first in the queue, was promised {promise.start_s:g} s and can "
                      f"now start at {after_s:g} s", name, instant.now_s)
    promise.start_s = min(promise.start_s, before_s) if after_s <= before_s else after_s
    if lacks_watts:  # it has units now, which a window may take before it has the watts
        promise.start_s = np.inf


def _others_could_start(instant: Instant, rule: QueueRule) -> Verdicts:
    """No job behind the head waits that would fit beside its reservation."""
    known, others = instant.known, instant.waits[1:]
    if not others.size or known.run.promises.frequencies is not None:
        return
    if rule.power == STOPS and instant.fits(instant.head, instant.runs)[0]:
        return  # the head lacks only watts, which lets nobody pass
    shadow = instant.shadow_now
    left_w = instant.free_w(instant.runs)
    sure_w = left_w - known.speed.slack(instant.slack_w)
    for job in _hopeful(instant, others, shadow, sure_w):
        if not _may_pass(instant, job, shadow):
            continue
        if instant.need_w(job, instant.runs) <= sure_w:
            name = known.name(job)
            yield Finding(f"job {name} waits at {instant.now_s:g} s though it fits beside the "
                          f"reservation of job {known.name(instant.head)} at {shadow[0]:g} s",
                          name, instant.now_s)
            return
        if rule.power == STOPS:  # the first that lacks only watts stops all behind it
            return


def _hopeful(
    instant: Instant, others: IntArray, shadow: tuple[float, int, float], sure_w: float
) -> list[int]:
    """Jobs that may pass the head by their units and, where nodes are alike, time and watts."""
    known = instant.known
    nodes = known.run.schedule.nodes[others]
    found = nodes <= instant.free_units(instant.runs)
    if not known.classes.several and not instant.reserved():
        shadow_s, extra, extra_w = shadow
        time_s = known.run.jobs.requested_s[others] / known.speed.at(instant.now_s)
        need_w = known.classes.rise_w[others]
        found &= ((instant.now_s + time_s <= shadow_s)
                  | (nodes <= extra) & (need_w <= extra_w - instant.slack_w))
        if known.rule.power != STOPS:
            found &= need_w <= sure_w
    hopeful: list[int] = others[found].tolist()
    return hopeful


def _may_pass(instant: Instant, job: int, shadow: tuple[float, int, float]) -> bool:
    """Say whether a job that fits now ends by the head's start, or leaves it all that it needs."""
    known = instant.known
    shadow_s, extra, extra_w = shadow
    time_s = instant.time_s(job, instant.runs)
    end_s = instant.now_s + time_s
    units = int(known.run.schedule.nodes[job])
    in_time = end_s <= shadow_s and not (known.rounds and not known.later(shadow_s, end_s))
    spare_w = extra_w - instant.slack_w
    plan = instant.beside_head
    if plan is None:
        return in_time or (units <= extra
                           and instant.need_w(job, instant.runs) <= spare_w)
    if plan.earliest(instant.now_s, time_s, units) > instant.now_s:
        return False
    return in_time or instant.need_w(job, instant.runs) <= spare_w
