"""The rule that an energy budget is used: each decision under it is made again from the records.

At every instant, and where a slot begins while jobs wait, the queue is gone through in its order:
nobody waits who has units, watts and joules, and nobody starts without them or, under EASY
backfilling, in the way of the first job that waits. Where rounding decides, the record is followed.
"""

from __future__ import annotations

import numpy as np

from wattline.model.promises import ALL, BUDGET
from wattline.model.run import Run
from wattline.results.verify._base import Counted, Finding, Skipped, Verdicts
from wattline.results.verify.budget.decision import Account, Decision
from wattline.results.verify.queue.instants import Instant, Known, instants, judged_times
from wattline.results.verify.queue.orders import key_of
from wattline.results.verify.queue.rules import why_not

MOST_DECISIONS = 1000
"""So many instants are judged, evenly spread: some seconds, as each job is asked about by itself.
"""


def used(run: Run) -> Verdicts:
    """Nobody waits who could start under the budget, and nobody starts who could not."""
    rule, promised = run.promises.queue, run.promises.budget
    assert promised is not None
    if rule is None or rule.power != BUDGET:
        yield Skipped("the run does not say by which rule jobs wait under its budget")
        return
    if why := why_not(run) or _cannot_judge(run):
        yield Skipped(why)
        return
    key = key_of(run, rule)
    if key is None:
        yield Skipped(f"the order '{rule.order}' is not known here")
        return
    known = Known(run, key, rule)
    if np.isnan(known.own_due_s[run.ran]).any():
        yield Skipped("nobody can tell when running jobs were due")
        return
    account = Account(known, promised)
    times_s, total = judged_times(run, account.slots.begin_s)
    times_s = times_s[::-(-len(times_s) // MOST_DECISIONS)]
    account.know_drawn(times_s)
    left_out = 0
    for instant in instants(known, times_s):
        if not instant.waits.size and not instant.began.size:
            continue
        if instant.is_tied or account.at_once(instant.now_s):
            left_out += 1
            continue
        yield from _decision(account, instant)
    yield Counted(len(times_s) - left_out, total)


def _cannot_judge(run: Run) -> str:
    rule, budget = run.promises.queue, run.promises.budget
    assert rule is not None
    assert budget is not None
    if rule.keeps == ALL:
        return "reservations of conservative backfilling under an energy budget"
    if len(run.machine.groups) > 1:
        return "nodes of several classes under an energy budget"
    if any(each.nodes for each in run.reservations):
        return "units are reserved under an energy budget"
    if not budget.slot_count.size:
        return "the run does not say by which slots its budget was planned"
    return ""


def _decision(account: Account, instant: Instant) -> Verdicts:
    """Go through the queue of an instant, and report the first job that the rule has otherwise."""
    known, now_s = account.known, instant.now_s
    decision = Decision(account, instant)
    if decision.is_near:
        return
    began = set(instant.began.tolist())
    waits = instant.waits[account.has_room(instant.waits)]
    for job in known.in_order(np.append(instant.began, waits), now_s).tolist():
        starts = job in began
        may = decision.may_start(job)
        name = known.name(job)
        if may is not None and may != starts:
            yield Finding(_sentence(decision, name, starts), name, now_s)
            return
        if starts:
            if decision.slowed_wrongly(job):
                yield Finding(f"job {name} starts at {now_s:g} s at another frequency than its "
                              "energy budget and the cap ask for", name, now_s)
                return
            decision.start(job)
        elif not decision.wait(job):
            return


def _sentence(decision: Decision, name: int, starts: bool) -> str:
    known, now_s, head = decision.known, decision.now_s, decision.head
    if head < 0:
        if starts:
            return f"job {name} starts at {now_s:g} s without the units, watts and joules for it"
        return (f"job {name}, first in the queue, waits at {now_s:g} s though its energy budget "
                "has watts and joules for it")
    first = known.name(head)
    if starts:
        return (f"at {now_s:g} s job {name} passes job {first}, first in the queue, against "
                "the rule of its budget")
    return (f"job {name} waits at {now_s:g} s though the energy budget has watts and joules for it "
            f"beside the reservation of job {first} at {decision.shadow_s:g} s")
