"""Does a schedule keep to the machine and to what jobs asked for? Told from the results alone.

Shares no code with the kernels: allocations are added up over time in numpy, per node, QOS and
user.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wattline.model.signal import Signal
from wattline.shared_nodes.checker_classes import needed_s, of_one_class
from wattline.shared_nodes.checker_per_job import (
    devices_in_all,
    held_tres,
    longest_s,
    per_job,
    tasks_on_nodes,
)
from wattline.shared_nodes.checker_watts import joules_of_stays, watts_of_parts
from wattline.shared_nodes.machine import (
    NO_LIMIT,
    NODE,
    FloatArray,
    IntArray,
    SharedMachine,
)
from wattline.shared_nodes.outcome import KILLED, NODE_FAILED, PREEMPTED, RAN, Schedule
from wattline.shared_nodes.requests import AFTER, SINGLETON, Dependencies, Requests
from wattline.shared_nodes.rules import Rules

ROUNDING = 1e-6


def broken_rules(
    machine: SharedMachine, requests: Requests, rules: Rules, found: Schedule,
    cap: Signal | None = None,
) -> list[str]:
    """One line per rule that is broken, with the first job or node that breaks it.

    `cap` is the one that was kept.
    """
    return [*_times(requests, rules, found), *_walls(machine, requests, rules, found),
            *_gaps(found), *_nodes_given(machine, requests, found),
            *_one_user(machine, requests, found), *of_one_class(requests, found),
            *tasks_on_nodes(requests, found), *per_job(machine, requests, rules, found),
            *devices_in_all(machine, requests, rules, found),
            *_capacity(machine, rules, found), *_limits(machine, requests, rules, found),
            *_waited(requests, rules, found), *_reserved(machine, requests, rules, found),
            *_energy(machine, found), *_under_cap(machine, found, cap),
            *watts_of_parts(machine, requests, found),
            *(() if rules.suspend_time_s >= 0.0 else joules_of_stays(machine, found))]


def _first(bad: Any, text: str) -> Iterator[str]:
    rows = np.flatnonzero(bad)
    if len(rows):
        yield f"{len(rows)} {text}, the first in row {rows[0]}"


def _ran(found: Schedule) -> Any:
    return np.isin(found.state, (RAN, KILLED, NODE_FAILED, PREEMPTED)) & ~np.isnan(found.start_s)


def _ran_s(found: Schedule) -> FloatArray:
    """How long each job ran, without the time that it was suspended."""
    return np.asarray(found.end_s - found.start_s - found.suspended_s)


def _held_from_s(found: Schedule) -> FloatArray:
    """Since when each job holds its nodes: its start, or when it went on for the last time."""
    since_s = found.start_s.copy()
    np.maximum.at(since_s, found.gap_job, found.gap_to_s)
    return since_s


def _gaps(found: Schedule) -> Iterator[str]:
    """Suspensions lie within their runs, one after the other, and make up what a job lost."""
    job, from_s, to_s = found.gap_job, found.gap_from_s, found.gap_to_s
    yield from _first(~((from_s >= found.start_s[job]) & (to_s >= from_s)
                        & (to_s <= found.end_s[job])), "suspensions outside of their runs")
    order = np.lexsort((from_s, job))
    again = np.diff(job[order]) == 0
    yield from _first(again & (from_s[order][1:] < to_s[order][:-1]), "suspensions that overlap")
    lost_s = np.bincount(job, to_s - from_s, len(found.start_s))
    yield from _first(np.abs(lost_s - found.suspended_s) > ROUNDING,
                      "jobs suspended for another time than it took")


def _times(requests: Requests, rules: Rules, found: Schedule) -> Iterator[str]:
    ran = _ran(found)
    yield from _first(found.state == 0, "jobs without an outcome")
    yield from _first(ran & ~np.isfinite(found.end_s), "jobs that ran and have no end")
    yield from _first(~ran & ~np.isnan(found.start_s), "jobs that started and did not run")
    with np.errstate(invalid="ignore"):
        yield from _first(found.start_s < requests.submit_s, "jobs before their submission")
        yield from _first(found.start_s < requests.begin_s, "jobs before their begin time")
        yield from _first(found.start_s < found.eligible_s, "jobs before they were eligible")
        yield from _first(found.end_s < found.start_s, "jobs that end before they start")
        took_s = _ran_s(found)
        short = (found.state == RAN) & (took_s < needed_s(requests, found) - ROUNDING)
        yield from _first(short, "jobs that ended too early")
    known = requests.limit_s > 0
    allowed_s = np.ceil(requests.limit_s / 60.0) * 60.0 + _late_s(rules)
    over = ran & known & (np.nan_to_num(_ran_s(found)) > allowed_s + ROUNDING)
    yield from _first(over, "jobs far past their limit")


def _walls(
    machine: SharedMachine, requests: Requests, rules: Rules, found: Schedule
) -> Iterator[str]:
    """MaxWall of QOS and associations, also of jobs that name no limit."""
    if rules.enforce_limits:
        allowed_s = longest_s(machine, requests, found) + _late_s(rules)
        over = _ran(found) & (np.nan_to_num(_ran_s(found)) > allowed_s + ROUNDING)
        yield from _first(over, "jobs far past MaxWall")


def _late_s(rules: Rules) -> float:
    """How long after its limit a job may end at most."""
    return (rules.over_time_limit_s + 2 * rules.kill_late_s + rules.start_latency_s
            + _boot_s(rules))


def _boot_s(rules: Rules) -> float:
    """How long before its start a job may have got its nodes: they boot, and are seen to be up."""
    return rules.resume_timeout_s + 2 * rules.kill_late_s if rules.suspend_time_s >= 0 else 0.0


def _waited(requests: Requests, rules: Rules, found: Schedule) -> Iterator[str]:
    """All that a job waits for had ended, or started; of jobs that never ran that is not known."""
    asked = requests.dependencies
    if asked is None:
        return
    for row, job in enumerate(asked.job):
        others = asked.awaited[asked.first[row]:asked.first[row + 1]]
        if asked.any_of[job] or np.isnan(found.start_s[job]) or found.requeues[others].any():
            continue
        times_s = (found.start_s - _boot_s(rules) if asked.kind[row] == AFTER
                   else found.end_s)[others]
        early = times_s + asked.delay_s[row] > found.start_s[job] + ROUNDING
        if early.any():
            yield f"job in row {job} before the one in row {others[early][0]} lets it go"
            return
    yield from _namesakes(asked, found)


def _namesakes(asked: Dependencies, found: Schedule) -> Iterator[str]:
    """While a job runs that must be alone, no earlier job of its user and name does."""
    for job in asked.job[asked.kind == SINGLETON]:
        before = np.flatnonzero(asked.namesakes[:job] == asked.namesakes[job])
        late = before[found.end_s[before] > found.start_s[job] + ROUNDING]
        if len(late) and not asked.any_of[job] and not found.requeues[late].any():
            yield f"job in row {job} before the one of its name in row {late[0]} was over"
            return


def _nodes_given(
    machine: SharedMachine, requests: Requests, found: Schedule
) -> Iterator[str]:
    job, node = found.allocation_job, found.allocation_node
    count = len(requests.submit_s)
    pairs = job * len(machine.nodes.names) + node
    if len(np.unique(pairs)) != len(pairs):
        yield "a job has the same node twice"
    yield from _first(~machine.partitions.nodes[found.partition[job], node],
                      "allocations outside the partition")
    named = requests.partitions[job, found.partition[job]]
    yield from _first(~named & requests.partitions[job].any(axis=1),
                      "allocations in a partition that the job did not name")
    rows = requests.features[job]
    if len(requests.feature_masks):
        lacks = (rows >= 0) & ~requests.feature_masks[np.maximum(rows, 0), node]
        yield from _first(lacks, "allocations without the features")
    if len(requests.node_masks):
        rows = requests.excluded[job]
        hit = (rows >= 0) & requests.node_masks[np.maximum(rows, 0), node]
        yield from _first(hit, "allocations on excluded nodes")
        yield from _required(requests, found)
    nodes = np.bincount(job, minlength=count)
    cpus = np.bincount(job, weights=found.allocation_cpus, minlength=count)
    ran = _ran(found)
    yield from _first(ran & (nodes < np.maximum(requests.min_nodes, 1)), "jobs on too few nodes")
    most = np.where(requests.max_nodes > 0, requests.max_nodes, np.int64(1 << 40))
    yield from _first(ran & (nodes > np.maximum(most, 1)), "jobs on too many nodes")
    asked = np.maximum(requests.tasks, 1) * np.maximum(requests.cpus_per_task, 1)
    yield from _first(ran & (cpus < asked), "jobs with too few CPUs")
    memory = requests.memory_per_node_mb[job]
    less = (memory > 0) & (found.allocation_memory_mb < memory) & (
        found.allocation_memory_mb > 0)
    yield from _first(less, "allocations with too little memory")
    devices = found.allocation_gres.sum(axis=1)
    wanted = np.maximum(requests.gres_per_node, 0).sum(axis=1)[job]
    yield from _first(devices < wanted, "allocations with too few devices")


def _one_user(machine: SharedMachine, requests: Requests, found: Schedule) -> Iterator[str]:
    """While a job runs that shares with its own user alone, no other user's is on its nodes."""
    if requests.own_user is None or not requests.own_user.any():
        return
    job, node = found.allocation_job, found.allocation_node
    start_s, end_s = _held_from_s(found)[job], found.end_s[job]
    user = machine.associations.user[requests.association[job]]
    for row in np.flatnonzero(requests.own_user[job]):
        beside = (node == node[row]) & (user != user[row]) & (
            start_s < end_s[row] - ROUNDING) & (end_s > start_s[row] + ROUNDING)
        if beside.any():
            yield (f"job in row {job[np.argmax(beside)]} is on a node that is of one user, by the "
                   f"job in row {job[row]}")
            return


def _required(requests: Requests, found: Schedule) -> Iterator[str]:
    for job in np.flatnonzero(_ran(found) & (requests.required >= 0)):
        mine = found.allocation_node[found.allocation_job == job]
        missing = np.setdiff1d(np.flatnonzero(requests.node_masks[requests.required[job]]), mine)
        if len(missing):
            yield f"job in row {job} lacks a node that it must have"
            return


def _highest(group: IntArray, start_s: FloatArray, end_s: FloatArray, amount: Any) -> Any:
    """(Groups, the most that each uses at a time); an end comes before a start at one time."""
    groups = np.concatenate((group, group))
    times = np.concatenate((start_s, end_s))
    change = np.concatenate((amount, -amount)).astype(np.float64)
    order = np.lexsort((change, times, groups))
    groups, change = groups[order], change[order]
    used = np.cumsum(change)
    first = np.flatnonzero(np.diff(groups, prepend=groups[:1] - 1))
    before = np.zeros(len(first))
    before[1:] = used[first[1:] - 1]
    within = used - np.repeat(before, np.diff(np.append(first, len(groups))))
    return groups[first], np.maximum.reduceat(within, first) if len(first) else within


def _most_nodes(found: Schedule, rows: IntArray, group: IntArray) -> Any:
    """(Groups, the most nodes that jobs of each are on at a time): a node counts once for all.

    Stretches in which any job of a group is on a node are joined to one before they are added up.
    """
    of_job = np.full(len(found.start_s), -1)
    of_job[rows] = group
    mine = of_job[found.allocation_job] >= 0
    job, node = found.allocation_job[mine], found.allocation_node[mine]
    start_s, end_s = _held_from_s(found)[job], found.end_s[job]
    begin: list[float] = []
    end: list[float] = []
    owner: list[int] = []
    last = (-1, -1)
    for at in np.lexsort((start_s, node, of_job[job])):
        here = (int(of_job[job[at]]), int(node[at]))
        if here == last and start_s[at] <= end[-1]:
            end[-1] = max(end[-1], float(end_s[at]))
            continue
        last = here
        begin.append(float(start_s[at]))
        end.append(float(end_s[at]))
        owner.append(here[0])
    return _highest(np.array(owner, np.int64), np.array(begin), np.array(end), np.ones(len(owner)))


def _capacity(machine: SharedMachine, rules: Rules, found: Schedule) -> Iterator[str]:
    job, node = found.allocation_job, found.allocation_node
    start_s, end_s = _held_from_s(found)[job], found.end_s[job]
    nodes = machine.nodes
    held = [("CPUs", found.allocation_cpus, nodes.cpus)]
    if rules.memory_counts:
        held.append(("memory", found.allocation_memory_mb, nodes.memory_mb))
    held += [(":".join(name), found.allocation_gres[:, kind], nodes.gres[:, kind])
             for kind, name in enumerate(nodes.gres_kinds)]
    for name, amount, whole in held:
        if not len(job):
            return
        which, most = _highest(node, start_s, end_s, amount)
        over = np.flatnonzero(most > whole[which] + ROUNDING)
        if len(over):
            row = over[0]
            yield (f"node {nodes.names[which[row]]} gives {most[row]:g} of {whole[which[row]]} "
                   f"{name} at a time")


def _limits(
    machine: SharedMachine, requests: Requests, rules: Rules, found: Schedule
) -> Iterator[str]:
    """GrpTRES, GrpJobs, MaxTRESPerUser and MaxJobsPerUser of the jobs' own QOS."""
    ran = _ran(found) & (requests.qos >= 0)
    if not rules.enforce_limits or not ran.any() or not machine.qos.names:
        return
    tres = held_tres(machine, requests, found)
    rows = np.flatnonzero(ran)
    qos, limits = requests.qos[rows], machine.qos.limits
    user = machine.associations.user[np.maximum(requests.association[rows], 0)]
    users = len(machine.associations.users) + 1
    scopes = (("group", qos, qos), ("user", qos * users + user + 1, qos))
    for scope, group, of_qos in scopes:
        amounts = [("jobs", np.ones(len(rows)), getattr(limits, f"{scope}_jobs"))]
        amounts += [(f"resource {column}", tres[rows, column],
                     getattr(limits, f"{scope}_tres")[:, column])
                    for column in range(machine.resources)]
        for name, amount, limit in amounts:
            if (limit[of_qos] >= NO_LIMIT).all():
                continue
            if name == f"resource {NODE}":
                which, most = _most_nodes(found, rows, group)
            else:
                which, most = _highest(group, _held_from_s(found)[rows], found.end_s[rows], amount)
            of_group = which if scope == "group" else which // users
            if np.any(most > limit[of_group] + ROUNDING):
                yield f"a QOS has more {name} running per {scope} than it may"


def _reserved(
    machine: SharedMachine, requests: Requests, rules: Rules, found: Schedule
) -> Iterator[str]:
    """Nobody is on a reserved node in its time but jobs of it, which are nowhere else.

    Others that are over before it by their limits may be killed late.
    """
    kept = machine.reservations
    if kept is None:
        return
    job, node = found.allocation_job, found.allocation_node
    mine = np.full(len(requests.submit_s), -1) if requests.reservation is None \
        else requests.reservation
    start_s, end_s = _held_from_s(found)[job], found.end_s[job]
    late_s = _late_s(rules)
    limit_s = np.where(requests.limit_s > 0, np.ceil(requests.limit_s / 60.0) * 60.0, 0.0)
    planned_s = (found.start_s - _boot_s(rules) + limit_s + found.suspended_s)[job]
    for row, name in enumerate(kept.names):
        begin_s = np.where(planned_s <= kept.start_s[row] + ROUNDING, late_s, 0.0) \
            + kept.start_s[row]
        inside = (start_s < kept.end_s[row] - ROUNDING) & (end_s > begin_s + ROUNDING)
        others = (mine[job] != row) & kept.nodes[row, node] & inside
        for other in np.unique(mine[job][others]):
            if other >= 0 and (kept.maintenance[other] or kept.overlaps[other]):
                others &= mine[job] != other
        yield from _first(others & (found.requeues[job] == 0),
                          f"allocations on nodes of the reservation {name} by others")
        own = mine[job] == row
        early = start_s < kept.start_s[row] - ROUNDING
        yield from _first(own & (~kept.nodes[row, node] | early
                                 | (start_s - _boot_s(rules) >= kept.end_s[row])),
                          f"allocations of jobs of the reservation {name} outside of it")


def _energy(machine: SharedMachine, found: Schedule) -> Iterator[str]:
    """Jobs and the idle rest of their nodes make up the machine's energy.

    Only where nothing ran twice: of a requeued job the last run alone is known, and of a suspended
    one the nodes that it had last.
    """
    if not len(found.event_time_s) or found.requeues.any() or len(found.gap_job):
        return
    power_w = found.event_power_w
    idle_w = float(machine.nodes.idle_w.sum())
    span_s = np.diff(found.event_time_s)
    whole_j = float(np.sum(power_w[:-1] * span_s))
    job, node = found.allocation_job, found.allocation_node
    share = found.allocation_cpus / machine.nodes.cpus[node] * machine.nodes.idle_w[node]
    held_j = float(np.sum(share * (found.end_s - found.start_s)[job]))
    if power_w.min() < idle_w - 1e-3:
        return  # nodes slept: their idle power is not known from here
    rest_j = idle_w * float(span_s.sum()) - held_j
    gap_j = whole_j - float(found.energy_j.sum()) - rest_j
    if abs(gap_j) > 1e-6 * max(whole_j, 1.0):
        yield f"{gap_j:g} J of {whole_j:g} J are nobody's"


def _under_cap(machine: SharedMachine, found: Schedule, cap: Signal | None) -> Iterator[str]:
    """Idle power and what the jobs add, by their own joules, where they start and the cap falls.

    Jobs that were requeued or suspended drew their joules in several runs and are left out, and so
    are runs with nodes that slept.
    """
    idle_w = float(machine.nodes.idle_w.sum())
    if cap is None or (len(found.event_power_w) and found.event_power_w.min() < idle_w - 1e-3):
        return
    job, node = found.allocation_job, found.allocation_node
    share_w = np.bincount(job, found.allocation_cpus / machine.nodes.cpus[node]
                          * machine.nodes.idle_w[node], len(found.start_s))
    once = (found.requeues == 0) & (found.suspended_s == 0.0)
    rows = np.flatnonzero(_ran(found) & once & (found.end_s > found.start_s))
    start_s, end_s = found.start_s[rows], found.end_s[rows]
    added_w = found.energy_j[rows] / (end_s - start_s) - share_w[rows]
    for time_s in np.unique(np.concatenate((start_s, cap.time_s))):
        power_w = idle_w + float(added_w[(start_s <= time_s) & (end_s > time_s)].sum())
        if power_w > float(cap.sample(np.array([time_s]))[0]) * (1 + ROUNDING) and power_w > idle_w:
            yield f"the machine draws {power_w:g} W at {time_s:g} s, which is over the cap"
            return
