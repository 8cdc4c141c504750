"""Nodes and CPUs of jobs: as asked for, no more than there are, and nobody else's."""

from __future__ import annotations

import numpy as np

from wattline.results.verify._base import Finding, Verdicts
from wattline.results.verify.shared._case import ROUNDING, Case, jobs, of_stay


def capacity(case: Case) -> Verdicts:
    """No node gives more CPUs, memory or devices at a time than it has, also while it boots."""
    nodes = case.nodes
    held = [("CPUs", case.stays.cpus, nodes.cpus)]
    if case.rules.memory_counts:
        held.append(("MB", case.memory_mb, nodes.memory_mb))
    held += [
        (":".join(filter(None, kind)), np.maximum(case.devices[:, at], 0), nodes.gres[:, at])
        for at, kind in enumerate(case.kinds)
    ]
    lasting = np.flatnonzero(case.stays.to_s > case.given_s)
    time_s = np.concatenate((case.stays.to_s[lasting], case.given_s[lasting]))
    node = np.tile(case.stays.node[lasting], 2)
    order = np.lexsort((np.repeat((0, 1), len(lasting)), time_s, node))  # who leaves goes first
    for name, amount, whole in held:
        change = np.concatenate((-amount[lasting], amount[lasting]))[order]
        given = np.cumsum(change)  # of each node all is given back
        over = np.flatnonzero(given > whole[node[order]])
        if len(over):
            at = order[over[np.argmin(time_s[order[over]])]]
            row = over[np.argmin(time_s[order[over]])]
            stay = int(np.tile(lasting, 2)[at])
            yield Finding(
                f"node {nodes.names[node[at]]} gives {given[row]:g} of "
                f"{whole[node[at]]:g} {name} at {time_s[at]:g} s",
                int(case.job_id[case.stays.job[stay]]),
                float(time_s[at]),
            )


def nodes_given(case: Case) -> Verdicts:
    """Nodes are of a partition that the job named, with its features, none that it excludes."""
    stays, asked = case.stays, case.jobs
    job, node = stays.job, stays.node
    pair = job * len(case.nodes.names) + node
    order = np.lexsort((case.given_s, pair))
    again = (np.diff(pair[order]) == 0) & (
        case.given_s[order][1:] < stays.to_s[order][:-1] - ROUNDING
    )
    twice = np.zeros(len(job), bool)
    twice[order[1:][again]] = True
    yield from of_stay(case, twice, "has the node twice")
    partition = case.outcome.partition[job]
    last = case.is_last & (partition >= 0)
    outside = ~case.partitions.nodes[np.maximum(partition, 0), node]
    yield from of_stay(case, last & outside, "is not of its partition")
    named = asked.partitions[job, np.maximum(partition, 0)]
    yield from of_stay(
        case,
        last & ~named & asked.partitions[job].any(axis=1),
        "is in a partition that the job did not name",
    )
    if len(asked.feature_masks):
        rows = asked.features[job]
        yield from of_stay(
            case,
            (rows >= 0) & ~asked.feature_masks[np.maximum(rows, 0), node],
            "is without the features that the job asks for",
        )
    if len(asked.node_masks):
        rows = asked.excluded[job]
        yield from of_stay(
            case,
            (rows >= 0) & asked.node_masks[np.maximum(rows, 0), node],
            "is on a node that the job excludes",
        )
        yield from _required(case)
    yield from _outages(case)


def _required(case: Case) -> Verdicts:
    for job in np.flatnonzero(case.ran & (case.jobs.required >= 0)).tolist():
        mine = case.stays.node[case.is_last & (case.stays.job == job)]
        wanted = np.flatnonzero(case.jobs.node_masks[case.jobs.required[job]])
        if len(np.setdiff1d(wanted, mine)):
            yield Finding(
                f"job {case.job_id[job]} lacks a node that it must have",
                int(case.job_id[job]),
                float(case.start_s[job]),
            )
            return


def _outages(case: Case) -> Verdicts:
    """Nobody gets a node that is down or drained, nor keeps one that goes down."""
    if not case.has("outages"):
        return
    out, stays = case.outages, case.stays
    for node, from_s, to_s, drain in zip(
        out.node.tolist(), out.start_s.tolist(), out.end_s.tolist(), out.drain.tolist(), strict=True
    ):
        mine = (stays.node == node) & (stays.to_s > from_s + ROUNDING)
        given = mine & (case.given_s > from_s + ROUNDING) & (case.given_s < to_s - ROUNDING)
        yield from of_stay(case, given, "is given a node that is drained or down")
        if not drain:
            kept = mine & (case.given_s < from_s - ROUNDING)
            yield from of_stay(case, kept, f"keeps a node that is down from {from_s:g} s on")


def amounts(case: Case) -> Verdicts:
    """Each job has the nodes, CPUs, memory and devices that it asks for."""
    asked, last = case.jobs, np.flatnonzero(case.is_last)
    job = case.stays.job[last]
    nodes = np.bincount(job, minlength=case.count)
    cpus = np.bincount(job, case.stays.cpus[last], case.count)
    yield from jobs(
        case,
        case.ran & (nodes < np.maximum(asked.min_nodes, 1)),
        "is on fewer nodes than it asks for",
        case.start_s,
    )
    most = np.where(asked.max_nodes > 0, asked.max_nodes, np.int64(1 << 40))
    yield from jobs(
        case,
        case.ran & (nodes > np.maximum(most, 1)),
        "is on more nodes than it asks for",
        case.start_s,
    )
    needed = np.maximum(asked.tasks, 1) * np.maximum(asked.cpus_per_task, 1)
    yield from jobs(
        case, case.ran & (cpus < needed), "has fewer CPUs than it asks for", case.start_s
    )
    memory = asked.memory_per_node_mb[job]
    few = np.zeros(len(case.is_last), bool)
    few[last] = (memory > 0) & (case.memory_mb[last] < memory) & (case.memory_mb[last] > 0)
    yield from of_stay(case, few, "has less memory than it asks for")
    wanted = np.maximum(asked.gres_per_node, 0).sum(axis=1)[case.stays.job]
    few = (case.devices.sum(axis=1) < wanted) & (case.devices >= 0).all(axis=1)
    yield from of_stay(case, few, "has fewer devices than it asks for")
    yield from _tasks_on_nodes(case, last)
    yield from _devices_in_all(case, last)
    yield from _partition_sizes(case, nodes)
    yield from _one_class(case)


def _tasks_on_nodes(case: Case, last: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Verdicts:
    """Each node gives CPUs for so many tasks as the job has per node, unless it has one alone.

    Jobs with devices in all are spread by these.
    """
    asked, job = case.jobs, case.stays.job[last]
    counts = (asked.tasks != 1) & ~(asked.gres_per_job > 0).any(axis=1)
    least = np.maximum(asked.tasks_per_node, 0) * np.maximum(asked.cpus_per_task, 1) * counts
    few = np.zeros(len(case.is_last), bool)
    few[last] = case.stays.cpus[last] < least[job]
    yield from of_stay(case, few, "has fewer CPUs than its tasks per node need")


def _devices_in_all(case: Case, last: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Verdicts:
    """Devices asked for in all: so many and no more, but for whole nodes; one at least on each."""
    asked, kinds, whole = case.jobs, case.kinds, case.whole_nodes
    job, held = case.stays.job[last], case.devices[last]
    choices = [(str(name), str(model)) for name, model in asked.gres_choices.reshape(-1, 2)]
    for row in np.unique(job[(asked.gres_per_job[job] > 0).any(axis=1)]).tolist():
        mine = held[job == row]
        for at, (name, model) in enumerate(choices):
            number = int(asked.gres_per_job[row, at])
            of_name = [other == name for other, _ in choices]
            by_part = (asked.gres_per_node + asked.gres_per_task)[row, of_name].any()
            same = [kind[0] == name and model in ("", kind[1]) for kind in kinds]
            on_node = mine[:, same].sum(axis=1)
            most = int(asked.gres_per_job[row, of_name].sum())
            found = int(on_node.sum())
            if number > found or (number > 0 and most < found and not whole[row] and not by_part):
                yield Finding(
                    f"job {case.job_id[row]} has {found} {name} where it asks for {number} in all",
                    int(case.job_id[row]),
                    float(case.start_s[row]),
                )
                return
            if number >= len(mine) and not on_node.all():
                yield Finding(
                    f"job {case.job_id[row]} has a node without the {name} that it asks for in all",
                    int(case.job_id[row]),
                    float(case.start_s[row]),
                )
                return


def _partition_sizes(case: Case, nodes: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Verdicts:
    """MinNodes and MaxNodes of the partition."""
    parts, at = case.partitions, np.maximum(case.outcome.partition, 0)
    wrong = case.ran & ((nodes < parts.min_nodes[at]) | (nodes > parts.max_nodes[at]))
    yield from jobs(
        case, wrong, "is on a number of nodes that its partition does not allow", case.start_s
    )


def _one_class(case: Case) -> Verdicts:
    """All nodes of a job are of the class that it chose, by an option of its own."""
    if not case.has("options"):
        return
    options, chosen = case.options, case.outcome.option
    known = np.append(options.kind, -2)  # -2: chose none
    mine = known[np.where(chosen >= 0, chosen, -1)][case.stays.job]
    other = options.class_of_node[case.stays.node] != mine
    yield from of_stay(
        case, case.is_last & (mine >= -1) & other, "is on a node of another class than it chose"
    )
    foreign = (chosen >= 0) & ~((chosen >= options.first[:-1]) & (chosen < options.first[1:]))
    yield from jobs(case, foreign, "ran by an option of another job", case.start_s)


def one_user(case: Case) -> Verdicts:
    """Whoever shares nodes with the own user alone has no other user beside."""
    alone = case.jobs.get("own_user")
    if alone is None or not alone.any():
        return
    job, node, user = case.stays.job, case.stays.node, case.user[case.stays.job]
    for row in np.flatnonzero(alone[job]).tolist():
        beside = (
            (node == node[row])
            & (user != user[row])
            & (case.given_s < case.stays.to_s[row] - ROUNDING)
            & (case.stays.to_s > case.given_s[row] + ROUNDING)
        )
        if beside.any():
            other = job[np.argmax(beside)]
            yield Finding(
                f"job {case.job_id[other]} is on a node that is of one user, by job "
                f"{case.job_id[job[row]]}",
                int(case.job_id[other]),
                float(case.given_s[np.argmax(beside)]),
            )
            return


def reservations(case: Case) -> Verdicts:
    """Nobody is on a reserved node in its time but jobs of it, which are nowhere else.

    Others that are over before it by their limits may be killed late.
    """
    if not case.has("reservations"):
        return
    kept, stays = case.reservations, case.stays
    job, node = stays.job, stays.node
    mine = case.jobs.get("reservation")
    mine = np.full(case.count, -1) if mine is None else mine
    limit_s = case.jobs.limit_s
    limit_s = np.where(limit_s > 0, np.ceil(limit_s / 60.0) * 60.0, 0.0)
    done_s = _done_before(case)
    planned_s = case.given_s + limit_s[job] - done_s
    boot_s = case.rules.resume_timeout_s if case.rules.suspend_time_s >= 0 else 0.0
    for row, name in enumerate(kept.names.tolist()):
        in_time = planned_s <= kept.start_s[row] + ROUNDING
        begin_s = np.where(in_time, case.late_s + boot_s + 2 * case.rules.kill_late_s, 0.0)
        inside = (case.given_s < kept.end_s[row] - ROUNDING) & (
            stays.to_s > kept.start_s[row] + begin_s + ROUNDING
        )
        others = (mine[job] != row) & kept.nodes[row, node] & inside
        for other in np.unique(mine[job][others]).tolist():
            if other >= 0 and (kept.maintenance[other] or kept.overlaps[other]):
                others &= mine[job] != other
        yield from of_stay(case, others, f"is on a node of the reservation {name}")
        own = mine[job] == row
        yield from of_stay(
            case,
            own
            & (
                ~kept.nodes[row, node]
                | (case.given_s < kept.start_s[row] - ROUNDING)
                | (case.given_s >= kept.end_s[row])
            ),
            f"is outside of its reservation {name}",
        )


def _done_before(case: Case) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Of each stay, how long its job ran in stretches of the same run before it."""
    done_s = np.zeros(len(case.stays.job))
    gap = case.outcome
    for job, from_s in zip(gap.gap_job.tolist(), gap.gap_from_s.tolist(), strict=True):
        later = (case.stays.job == job) & (case.given_s >= from_s)
        before = (gap.gap_job == job) & (gap.gap_from_s < from_s)
        lost_s = float((gap.gap_to_s - gap.gap_from_s)[before].sum())
        done_s[later] = np.maximum(done_s[later], from_s - case.start_s[job] - lost_s)
    return done_s
