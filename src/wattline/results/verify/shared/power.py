"""Watts and joules of shared nodes, from what jobs had on them: node, part, machine, job."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.signal import FloatArray
from wattline.results.verify._base import Finding, Verdicts
from wattline.results.verify.shared._case import Case, jobs, of_stay

RELATIVE = 1e-9
SLACK_W = 1e-6


def watts_on_nodes(case: Case) -> Verdicts:
    """On each node a job adds what its CPUs and devices draw, or what was measured or claimed.

    A job with all CPUs of a node may hold devices that it did not ask for, which draw nothing. It
    also adds nothing where it left its nodes while they booted.
    """
    rows = np.flatnonzero(case.is_last | _is_known_before(case))
    stays, nodes = case.stays, case.nodes
    job, node, cpus = stays.job[rows], stays.node[rows], stays.cpus[rows]
    of_cpus_w = cpus * nodes.cpu_w[node] * case.jobs.cpu_load[job]
    of_kind_w = np.broadcast_to(nodes.gres_w, nodes.gres.shape)[node]
    most_w = of_cpus_w + (case.devices[rows] * of_kind_w).sum(axis=1)
    least_w = np.where(cpus < nodes.cpus[node], most_w, of_cpus_w)
    measured_w = watts_per_node(case)[job]
    above_w = np.maximum(measured_w - nodes.idle_w[node], 0.0)
    least_w, most_w = (np.where(np.isnan(measured_w), each, above_w) for each in (least_w, most_w))
    least_w = np.where(case.outcome.never_up[job], 0.0, least_w)  # stopped while nodes booted
    drawn_w = stays.watts_w[rows]
    may_boot = ~case.is_last[rows] & (case.rules.suspend_time_s >= 0)
    least_w = np.where(may_boot & (drawn_w == 0.0), 0.0, least_w)
    apart = (drawn_w < least_w - SLACK_W) | (drawn_w > most_w + SLACK_W)
    for row in np.flatnonzero(apart)[:1].tolist():
        yield Finding(
            f"job {case.job_id[job[row]]} adds {drawn_w[row]:.10g} W on "
            f"{nodes.names[node[row]]}, where its parts draw {least_w[row]:.10g} to "
            f"{most_w[row]:.10g} W",
            int(case.job_id[job[row]]),
            float(stays.from_s[rows][row]),
        )


def _is_known_before(case: Case) -> Any:
    """Earlier stays of which it is known what draws: devices, and by which option the job ran."""
    known = (case.devices >= 0).all(axis=1)
    return known & (case.outcome.option[case.stays.job] < 0) if case.has("options") else known


def watts_per_node(case: Case) -> FloatArray:
    """Measured or claimed watts of each job on a node, idle power included; NaN: of its parts."""
    own_w = case.jobs.power_per_node_w
    if not case.has("options"):
        return np.asarray(own_w)
    chosen = case.outcome.option
    found = own_w.copy()
    found[chosen >= 0] = case.options.power_per_node_w[chosen[chosen >= 0]]
    return np.asarray(found)


def energy_of_jobs(case: Case) -> Verdicts:
    """A job's joules are what it had on nodes, with its part of their idle power, for its time."""
    stays, nodes = case.stays, case.nodes
    idle_w = stays.cpus / nodes.cpus[stays.node] * nodes.idle_w[stays.node]
    drawn_j = np.bincount(
        stays.job, (stays.watts_w + idle_w) * (stays.to_s - stays.from_s), case.count
    )
    apart = ~np.isclose(drawn_j, case.energy_j, rtol=RELATIVE, atol=1e-3)
    for row in np.flatnonzero(apart & np.isfinite(case.end_s))[:1].tolist():
        yield Finding(
            f"job {case.job_id[row]} has {case.energy_j[row]:.10g} J, and drew "
            f"{drawn_j[row]:.10g} J on its nodes",
            int(case.job_id[row]),
            float(case.end_s[row]),
        )


def machine_power(case: Case) -> Verdicts:
    """At each event the machine draws what its nodes that are awake and the jobs on them draw."""
    time_s, drawn_w = drawn_by_machine(case)
    rows = np.flatnonzero(np.diff(case.log_s, append=np.inf) > 0)  # the last of each time
    log_s, log_w = case.log_s[rows], case.log_w[rows]
    if not len(rows):
        return
    expected_w = drawn_w[np.searchsorted(time_s, log_s, "right")]
    scale_w = np.maximum(np.abs(log_w), 1.0)
    apart = np.flatnonzero(np.abs(log_w - expected_w) > 1e3 * RELATIVE * scale_w + SLACK_W)
    for row in apart[:1].tolist():
        yield Finding(
            f"the log has {log_w[row]:.10g} W at {log_s[row]:.10g} s and {len(apart) - 1:,}"
            f" other times, where nodes and jobs draw {expected_w[row]:.10g} W",
            None,
            float(log_s[row]),
        )


def drawn_by_machine(case: Case) -> tuple[FloatArray, FloatArray]:
    """Times, and power before the first and from each of them on."""
    stays = case.stays
    up = np.flatnonzero(stays.to_s > stays.from_s)
    sleep_node, sleep_s, wake_s = asleep(case)
    idle_w = case.nodes.idle_w
    time_s = np.concatenate((stays.to_s[up], stays.from_s[up], sleep_s, wake_s))
    change_w = np.concatenate(
        (-stays.watts_w[up], stays.watts_w[up], -idle_w[sleep_node], idle_w[sleep_node])
    )
    order = np.argsort(time_s, kind="stable")
    order = order[: np.count_nonzero(np.isfinite(time_s))]
    drawn_w = float(idle_w.sum()) + np.concatenate(([0.0], np.cumsum(change_w[order])))
    return time_s[order], drawn_w


def asleep(case: Case) -> tuple[np.ndarray[tuple[int], np.dtype[np.intp]], FloatArray, FloatArray]:
    """Nodes that sleep, from when to when: idle for SuspendTime, until a job is given them."""
    none = np.zeros(0, np.intp), np.zeros(0), np.zeros(0)
    rules, names = case.rules, case.nodes.names
    if rules.suspend_time_s < 0:
        return none
    begin_s = float(case.jobs.submit_s.min(initial=0.0)) if case.count else 0.0
    excluded = np.isin(names, rules.suspend_excluded)
    at_once = np.isin(names, rules.asleep_first)
    found: list[tuple[int, float, float]] = []
    order = np.lexsort((case.given_s, case.stays.node))
    node_of = case.stays.node[order]
    for node in np.flatnonzero(~excluded).tolist():
        mine = order[
            np.searchsorted(node_of, node, "left") : np.searchsorted(node_of, node, "right")
        ]
        free_s, wait_s = begin_s, 0.0 if at_once[node] else float(rules.suspend_time_s)
        for given_s, to_s in zip(
            case.given_s[mine].tolist(), case.stays.to_s[mine].tolist(), strict=True
        ):
            if given_s > free_s + wait_s:
                found.append((node, free_s + wait_s, given_s))
            if to_s > free_s or free_s == begin_s:
                free_s = max(to_s, free_s)
            wait_s = float(rules.suspend_time_s)
        found.append((node, free_s + wait_s, np.inf))
    if not found:
        return none
    nodes, from_s, to_s = zip(*found, strict=True)
    return np.array(nodes, np.intp), np.array(from_s), np.array(to_s)


def cap(case: Case) -> Verdicts:
    """With the jobs that run the machine never draws more than the cap."""
    if case.cap is None:
        return
    time_s, drawn_w = drawn_by_machine(case)
    last_s = np.nanmax(case.end_s, initial=0.0)
    steps_s = case.cap.time_s[(case.cap.time_s <= last_s)]
    at_s = np.unique(np.concatenate((time_s[np.isfinite(time_s)], steps_s)))
    power_w = drawn_w[np.searchsorted(time_s, at_s, "right")]
    cap_w = case.cap.sample(at_s)
    added_w = power_w - _idle_at(case, at_s)
    over = np.flatnonzero((power_w > cap_w * (1 + RELATIVE) + SLACK_W) & (added_w > SLACK_W))
    for row in over[:1].tolist():
        yield Finding(
            f"the machine draws {power_w[row]:.10g} W at {at_s[row]:.10g} s, where the "
            f"cap is {cap_w[row]:.10g} W",
            None,
            float(at_s[row]),
        )


def _idle_at(case: Case, at_s: FloatArray) -> FloatArray:
    """Power of the nodes alone at these times."""
    node, sleep_s, wake_s = asleep(case)
    found = np.full(len(at_s), float(case.nodes.idle_w.sum()))
    order_s, order_w = np.argsort(sleep_s), np.argsort(wake_s)
    for times_s, order, sign in ((sleep_s, order_s, -1.0), (wake_s, order_w, 1.0)):
        sums_w = np.concatenate(([0.0], np.cumsum(case.nodes.idle_w[node[order]])))
        found += sign * sums_w[np.searchsorted(times_s[order], at_s, "right")]
    return found


def bounds(case: Case) -> Verdicts:
    """No part of the machine draws more than its limit; of a node its share in the part counts."""
    stays = case.stays
    up = np.flatnonzero(stays.to_s > stays.from_s)
    time_s = np.concatenate((stays.to_s[up], stays.from_s[up]))
    order = np.lexsort((np.repeat((0, 1), len(up)), time_s))  # who leaves goes first
    for bound in case.bounds:
        share = np.zeros(len(case.nodes.names))
        share[bound.nodes] = 1.0 if bound.share is None else bound.share
        counted_w = stays.watts_w[up] * share[stays.node[up]]
        drawn_w = float(share @ case.nodes.idle_w) + np.cumsum(
            np.concatenate((-counted_w, counted_w))[order]
        )
        over = np.flatnonzero(drawn_w > bound.limit_w * (1 + RELATIVE) + SLACK_W)
        if len(over):
            row, at = int(over[0]), int(order[over[0]])
            job = int(case.job_id[np.tile(stays.job[up], 2)[at]])
            yield Finding(
                f"{bound.entity} draws {drawn_w[row]:.10g} W at {time_s[at]:.10g} s, and "
                f"its limit is {bound.limit_w:.10g} W",
                job,
                float(time_s[at]),
            )


def stays_are_whole(case: Case) -> Verdicts:
    """A stay is of a job and a node, with a CPU at least, and begins when its nodes are up."""
    stays, nodes = case.stays, len(case.nodes.names)
    strange = (stays.node < 0) | (stays.node >= nodes) | (stays.job < 0) | (stays.job >= case.count)
    if strange.any():
        yield Finding(f"{np.count_nonzero(strange)} stays are of no job or node")
        return
    yield from of_stay(case, stays.cpus < 1, "has no CPU")
    yield from of_stay(
        case, (stays.from_s < case.given_s) | (stays.to_s < stays.from_s), "ends before it begins"
    )
    last_s = np.full(case.count, -np.inf)
    np.maximum.at(last_s, stays.job, stays.to_s)
    wrong = case.ran & (last_s != case.end_s)
    yield from jobs(case, wrong, "leaves its nodes at another time than it ends", case.end_s)
