"""What a replayed run says in words: decisions, alarms, and what a job waits for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from wattline.analysis.summary import time_text
from wattline.model.cap_slack import CAP_SLACK
from wattline.model.fields import name_of
from wattline.model.run import EventKind
from wattline.model.units import format_power
from wattline.web.sources.run_index import Moment, RunIndex
from wattline.web.sources.shape import Alarm, Decision

SHOWN = 12
NO_CAP_W = 1e11
"""A cap above what any machine draws is none."""


def decisions(index: RunIndex, time_s: float) -> list[Decision]:
    """The last decisions before a time, the newest first."""
    log = index.run.events
    upto = int(np.searchsorted(log.time_s[index.decision_rows], time_s, side="right"))
    rows = index.decision_rows[max(0, upto - SHOWN):upto][::-1]
    return [_decision(index, int(row)) for row in rows]


def _decision(index: RunIndex, row: int) -> Decision:
    run = index.run
    kind, job = int(run.events.kind[row]), int(run.events.job[row])
    value = float(run.events.value[row])
    at_s = float(run.events.time_s[row]) - run.start_s
    name = str(run.jobs.job_id[job]) if job >= 0 else None
    if kind == EventKind.CAP:
        text = (f"the cap is {format_power(value)} from now on" if value < NO_CAP_W
                else "there is no cap any more")
        return Decision(at_s, text)
    if kind == EventKind.RATE:
        who = f"job {name} draws {format_power(value)}" if name else "all jobs changed their speed"
        return Decision(at_s, f"{who}, to keep the cap", name)
    if kind == EventKind.SUBMIT:
        return Decision(at_s, f"job {name} was refused: it could never start here", name)
    if kind == EventKind.PAUSE:
        return Decision(at_s, f"job {name} was paused", name)
    if kind == EventKind.REQUEUE:
        return Decision(at_s, f"job {name} lost its nodes and waits again", name)
    waited_s = float(run.events.time_s[row] - run.jobs.submit_s[job])
    verb = "goes on" if kind == EventKind.RESUME else "starts"
    queue = "at once" if waited_s < 1 else f"after {time_text(waited_s)} in the queue"
    count = int(run.schedule.nodes[job])
    return Decision(at_s, f"job {name} {verb} on {count:,} node{'' if count == 1 else 's'} with "
                    f"{format_power(value)}, {queue}", name)


def cap_at(index: RunIndex, time_s: float) -> float | None:
    """Watts, less those that are reserved then; None without a cap."""
    run = index.run
    if run.cap_w is None:
        return None
    cap_w = run.cap_w.at(time_s) - sum(
        each.watts for each in run.reservations if each.start_s <= time_s < each.end_s)
    return cap_w if cap_w < NO_CAP_W else None


def alarms(index: RunIndex, moment: Moment, cap_w: float | None) -> list[Alarm]:
    run = index.run
    if cap_w is None or moment.power_w <= cap_w * (1 + CAP_SLACK):
        return []
    log = run.events
    place = int(np.searchsorted(log.time_s, moment.time_s, side="right")) - 1
    while place > 0 and log.power_w[place - 1] > cap_w:
        place -= 1
    since_s = max(float(log.time_s[max(place, 0)]), _cap_since(index, moment.time_s)) - run.start_s
    over_w = moment.power_w - cap_w
    return [Alarm("critical", f"{format_power(over_w)} above the cap of {format_power(cap_w)}",
                  since_s)]


def _cap_since(index: RunIndex, time_s: float) -> float:
    """Since when the cap of a time holds."""
    run = index.run
    edges = [run.start_s] + ([] if run.cap_w is None else run.cap_w.time_s.tolist())
    for each in run.reservations:
        edges += [each.start_s, each.end_s]
    return max(float(edge) for edge in edges if edge <= time_s)


def why_waiting(index: RunIndex, moment: Moment, row: int) -> str:
    """Say what a job waits for: power where it would start now if the cap were lifted, which is
    asked of the run's own policies; else nodes, else other jobs."""
    free = index.run.units - moment.busy
    needs = int(index.units_of[row])
    nodes = f"nodes: it needs {needs:,}, {free:,} are free"
    cap_w = cap_at(index, moment.time_s)
    if cap_w is not None:
        found = index.without_cap.starting(moment.time_s, np.array([row]))
        if found is None and needs <= free:
            return ("power or the jobs before it: which of them cannot be told, because "
                    "simulating this run again does not give the same run")
        if found is not None and found[0]:
            return f"power: without the cap of {format_power(cap_w)} it would start now"
    if needs > free:
        return nodes
    if len(moment.waiting) == 1:
        return "the policy, though nodes and power are free"
    if _backfill(index) == "none":
        return "the jobs before it in the queue"
    return ("the earliest start kept for a job before it: nodes are free, but to start it now "
            "could delay that one")


def _backfill(index: RunIndex) -> str:
    policy = index.run.scenario.get("policy")
    chosen = policy.get("backfill") if isinstance(policy, Mapping) else None
    return name_of(chosen or "easy")

