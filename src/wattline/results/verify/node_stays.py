"""The audit of what jobs had on nodes that they share: CPUs, watts, and limits of parts."""

from __future__ import annotations

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.run import NodeStays, Run
from wattline.model.signal import FloatArray
from wattline.results.verify._base import TAKING, TOLERANCE, Finding, Verdicts


def node_stays(run: Run) -> Verdicts:
    """Each stretch of a job is among the stays, with no less than the watts that the log has.

    In runs without a record of their site no node gives more CPUs than it has either, and no part
    draws more than its limit; `shared/` judges these by the record.
    """
    held = run.node_stays
    if held is None:
        if run.node_bounds:
            yield Finding("the run has limits of parts, and does not say what its jobs had on "
                          "their nodes")
        return
    outside = ((held.node < 0) | (held.node >= run.machine.node_count) | (held.job < 0)
               | (held.job >= len(run.jobs)) | (held.cpus < 1) | (held.to_s < held.from_s))
    if outside.any():
        yield Finding(f"{np.count_nonzero(outside)} stays on nodes are of no job or node, without "
                      "a CPU, or end before they begin")
        return
    yield from _stretches(run, held)
    if run.slurm is not None:
        return
    yield from _cpus(run, held)
    rows, sign = _comings_and_goings(held)
    watts_w, node = sign * held.watts_w[rows], held.node[rows]
    idle_w = _by_node(run, "power_w_idle")
    for bound in run.node_bounds:
        share = np.zeros(run.machine.node_count)
        share[bound.nodes] = 1.0 if bound.share is None else bound.share
        drawn_w = float(share @ idle_w) + float(np.cumsum(watts_w * share[node]).max(initial=0.0))
        if drawn_w > bound.limit_w * (1 + TOLERANCE) + 1e-6:
            yield Finding(f"{bound.entity} is above its limit of {bound.limit_w:.10g} W: its "
                          f"nodes draw {drawn_w:.10g} W at most")


def _cpus(run: Run, held: NodeStays) -> Verdicts:
    rows, sign = _comings_and_goings(held)
    node = held.node[rows]
    order = np.argsort(node, kind="stable")
    given = np.cumsum((sign * held.cpus[rows])[order])  # of each node all is given back
    over = np.flatnonzero(given > _by_node(run, "cores")[node[order]])
    if over.size:
        first = int(node[order][over[0]])
        yield Finding(f"node {run.machine.hosts[first]} gives {given[over[0]]} CPUs at a time, "
                      f"and has {run.machine.class_of(first).cores}")


def _stretches(run: Run, held: NodeStays) -> Verdicts:
    """Stays by job and begin, and the same of the log."""
    log = run.events
    rows = np.flatnonzero(np.isin(log.kind, TAKING))
    rows = rows[np.lexsort((log.time_s[rows], log.job[rows]))]
    order = np.lexsort((held.from_s, held.job))
    job, from_s = held.job[order], held.from_s[order]
    first = np.flatnonzero((np.diff(job, prepend=-1) != 0) | (np.diff(from_s, prepend=-1.0) != 0))
    if not (np.array_equal(job[first], log.job[rows])
            and np.array_equal(from_s[first], log.time_s[rows])):
        yield Finding(f"jobs take nodes {first.size:,} times by their stays and {rows.size:,} "
                      "times by the log, or at other times")
        return
    cores, idle_w = _by_node(run, "cores"), _by_node(run, "power_w_idle")
    node = held.node[order]
    drawn_w = held.watts_w[order] + held.cpus[order] / cores[node] * idle_w[node]
    sum_w = np.add.reduceat(drawn_w, first) if first.size else np.zeros(0)
    over = np.flatnonzero(log.value[rows] > sum_w * (1 + TOLERANCE) + 1e-6)
    if over.size:
        row = over[0]
        yield Finding(f"job {run.jobs.job_id[log.job[rows[row]]]} draws "
                      f"{log.value[rows[row]]:.10g} W from {log.time_s[rows[row]]} s on, and "
                      f"{sum_w[row]:.10g} W on its nodes")


def _comings_and_goings(held: NodeStays) -> tuple[IntArray, IntArray]:
    """Rows of stays twice, in order of time, with 1 where one begins and -1 where it ends; who
    leaves at an instant has gone before others come."""
    lasting = np.flatnonzero(held.to_s > held.from_s)
    sign = np.repeat((-1, 1), lasting.size)
    time_s = np.concatenate((held.to_s[lasting], held.from_s[lasting]))
    order = np.lexsort((sign, time_s))
    return np.tile(lasting, 2)[order], sign[order]


def _by_node(run: Run, what: str) -> FloatArray:
    return np.concatenate([np.full(group.count, float(getattr(group.node_class, what)))
                           for group in run.machine.groups])
