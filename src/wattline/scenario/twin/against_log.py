"""Where a log contradicts the machine that it is said to be of: named, with counts and first jobs.

Jobs of such a log are simulated all the same; what they did is a sign of files of another cluster,
or of another time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from wattline.model.units import fold_hosts
from wattline.scenario.twin.asked import AskedJob, Log
from wattline.shared_nodes.machine import BoolArray, FloatArray, IntArray
from wattline.site.lines import hosts_of
from wattline.site.slurm_conf import Partition, SlurmConf

SLACK_S = 60.0
"""What a log and a file of events may differ by on one moment: jobs of a node that fails end when
slurmctld has cleaned up after them."""
_FIRST = 5


@dataclass(frozen=True)
class Span:
    """A node that took no jobs, in seconds of the log."""

    node: int
    start_s: float
    end_s: float
    drains: bool
    """What runs may end; else it is lost."""
    reserved: bool = False
    """For maintenance or a reservation, whose own jobs may run."""


@dataclass(frozen=True, eq=False)
class Placed:
    """One row per job of the log and node that it ran on."""

    jobs: Sequence[AskedJob]
    job: IntArray
    node: IntArray
    start_s: FloatArray
    end_s: FloatArray
    cpus: IntArray
    """At least so many on this node."""

    def ids(self, rows: Iterable[int]) -> str:
        names = list(dict.fromkeys(self.jobs[self.job[row]].job_id for row in rows))
        return _first(names)

    def count(self, rows: BoolArray) -> int:
        return len(np.unique(self.job[rows]))


def against_log(log: Log, conf: SlurmConf, spans: Sequence[Span]) -> list[str]:
    """What of the log cannot have been on this machine."""
    said: list[str] = []
    jobs = [job for job in log.jobs if job.node_list and math.isfinite(job.start_s)]
    if not jobs:
        return said
    placed = _placed(jobs, conf, log.source, said)
    said += _outside(placed, conf, log.source)
    said += _on_nodes_down(placed, conf, spans, log.source)
    said += _overfull(placed, conf, log.source)
    return said


def _placed(jobs: Sequence[AskedJob], conf: SlurmConf, source: str, said: list[str]) -> Placed:
    row_of = {node.name: at for at, node in enumerate(conf.nodes)}
    strange: dict[str, None] = {}
    lost: list[str] = []
    known: dict[str, tuple[list[int], list[str]]] = {}
    rows: list[int] = []
    lengths: list[int] = []
    for job in jobs:
        if job.node_list not in known:
            names = hosts_of(job.node_list, job.where)
            known[job.node_list] = ([row_of[name] for name in names if name in row_of],
                                    [name for name in names if name not in row_of])
        nodes, others = known[job.node_list]
        if others:
            strange |= dict.fromkeys(others)
            lost.append(job.job_id)
        rows += nodes
        lengths.append(len(nodes))
    if lost:
        said.append(f"{source}: {_jobs(len(lost))} ran on nodes that {conf.source} does not have "
                    f"({_first(fold_hosts(sorted(strange)).split(','))}): {_first(lost)}")
    at, node = np.repeat(np.arange(len(jobs)), lengths), np.array(rows, dtype=np.int64)
    start_s, end_s, asked = (np.array([getattr(job, name) for job in jobs])[at]
                             for name in ("start_s", "end_s", "cpus"))
    return Placed(jobs, at, node, start_s, np.where(np.isnan(end_s), np.inf, end_s),
                  _least_cpus(at, node, asked, conf, np.array(
                      [bool(known[job.node_list][1]) for job in jobs])[at]))


def _least_cpus(job: IntArray, node: IntArray, asked: IntArray, conf: SlurmConf,
                in_part: BoolArray) -> IntArray:
    """What a job of so many CPUs has on each node at least: those that the others cannot hold."""
    size = np.array([each.cpus for each in conf.nodes])[node]
    others = np.bincount(job, size)[job].astype(np.int64) - size if len(job) else size
    return np.maximum(np.where(in_part, 1, asked - others), 1)


def _outside(placed: Placed, conf: SlurmConf, source: str) -> list[str]:
    """Jobs on nodes that none of their partitions has."""
    members = {part.name: set(part.nodes) for part in conf.partitions}
    named = list(dict.fromkeys(job.partition for job in placed.jobs))
    code = {text: at for at, text in enumerate(named)}
    # A job of a partition that is not there is named as such, and not for its nodes.
    inside = np.array([[any(part not in members or node.name in members[part]
                            for part in text.split(",")) for node in conf.nodes] for text in named])
    of_job = np.array([code[job.partition] for job in placed.jobs], dtype=np.int64)
    outside = ~inside[of_job[placed.job], placed.node]
    if not outside.any():
        return []
    rows = np.flatnonzero(outside).tolist()
    where = dict.fromkeys(f"{conf.nodes[placed.node[row]].name} of "
                          f"'{placed.jobs[placed.job[row]].partition}'" for row in rows)
    return [f"{source}: {_jobs(placed.count(outside))} ran on nodes outside of their partitions ("
            f"{_first(where)}): {placed.ids(rows)}"]


def _on_nodes_down(placed: Placed, conf: SlurmConf, spans: Sequence[Span], source: str,
                   ) -> list[str]:
    """Jobs that ran on where nodes were down, or started where they were drained."""
    order = np.argsort(placed.node, kind="stable")
    first = np.searchsorted(placed.node[order], np.arange(len(conf.nodes) + 1))
    reserves = np.array([bool(job.reservation) for job in placed.jobs])[placed.job]
    ran, began = (np.zeros(len(placed.job), dtype=np.bool_) for _ in range(2))
    for span in spans:
        here = order[first[span.node]:first[span.node + 1]]
        start_s, end_s = placed.start_s[here], placed.end_s[here]
        if span.drains:
            inside = (start_s > span.start_s + SLACK_S) & (start_s < span.end_s)
            began[here[inside & ~(reserves[here] & span.reserved)]] = True
        else:
            inside = (start_s < span.end_s - SLACK_S) & (end_s > span.start_s + SLACK_S)
            ran[here[inside]] = True
    words = (("ran", ran, "down"), ("started", began, "drained"))
    return [f"{source}: {_jobs(placed.count(rows))} {word} on nodes while they were {state} by "
            f"the files ({_nodes(placed, conf, rows)}): {placed.ids(np.flatnonzero(rows))}"
            for word, rows, state in words if rows.any()]


def _overfull(placed: Placed, conf: SlurmConf, source: str) -> list[str]:
    """Nodes with more CPUs in use at once than they have.

    Partitions that share CPUs on purpose, and jobs that were suspended, are no sign of it.
    """
    sharing = {part.name for part in conf.partitions if _shares_cpus(part)}
    counts = np.array([job.cpus > 0 and job.suspended_s <= 0 and not (
        set(job.partition.split(",")) & sharing) for job in placed.jobs])[placed.job]
    rows = np.flatnonzero(counts & (placed.end_s > placed.start_s))
    time_s = np.concatenate((placed.start_s[rows], placed.end_s[rows]))
    change = np.concatenate((placed.cpus[rows], -placed.cpus[rows]))
    node = np.concatenate((placed.node[rows], placed.node[rows]))
    order = np.lexsort((change, time_s, node))  # what ends at a moment is free for what starts then
    used = np.cumsum(change[order])  # each node gives back all that it took before the next begins
    over = used > np.array([each.cpus for each in conf.nodes])[node[order]]
    if not over.any():
        return []
    most = np.zeros(len(conf.nodes), dtype=np.int64)
    np.maximum.at(most, node[order], used)
    full = np.unique(node[order][over])
    last_s = dict(zip(node[order][over].tolist(), time_s[order][over].tolist(), strict=True))
    beside = [row for row in rows.tolist() if int(placed.node[row]) in last_s and
              placed.start_s[row] <= last_s[int(placed.node[row])] < placed.end_s[row]]
    listed = [f"{conf.nodes[row].name}: {int(most[row]):,} of {conf.nodes[row].cpus:,}"
              for row in full.tolist()]
    return [f"{source}: more CPUs were in use at once than {len(full):,} "
            f"node{'' if len(full) == 1 else 's'} of {conf.source} "
            f"{'has' if len(full) == 1 else 'have'} ({_first(listed)}): jobs {placed.ids(beside)}"]


def _shares_cpus(partition: Partition) -> bool:
    text = partition.settings.get("oversubscribe", partition.settings.get("shared", "no"))
    word, _, times = text.strip().lower().partition(":")
    return word in ("yes", "force") and times != "1"


def _nodes(placed: Placed, conf: SlurmConf, rows: BoolArray) -> str:
    return _first([conf.nodes[node].name for node in np.unique(placed.node[rows]).tolist()])


def _jobs(count: int) -> str:
    return f"{count:,} job{'' if count == 1 else 's'}"


def _first(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:_FIRST]) + (", ..." if len(listed) > _FIRST else "")
