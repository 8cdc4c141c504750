"""How large the machine is, and which jobs fit on it: by the scenario, else by the log's header.

A log may count cores while its machine draws power by the node: nobody may find out from the
joules that the two were confused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wattline.books.opening import units_of
from wattline.engine.prepare import sizes_of
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.scenario.model import MachineSection
from wattline.traces import Trace
from wattline.traces.trace import header_sizes


@dataclass(frozen=True)
class Size:
    """Equal nodes, and how many of what the log counts make one."""

    nodes: int
    cores_per_node: int
    remark: str = ""
    """What of it comes from the log's header, in words; empty where the scenario says it all."""


@dataclass(frozen=True)
class Dropped:
    """Jobs that were left out because they are larger than the machine."""

    jobs: int
    job_share: float
    work_share: float
    """Their part of processors x run time."""

    @property
    def remark(self) -> str:
        one = self.jobs == 1
        return (f"{self.jobs:,} job{' is' if one else 's are'} larger than the machine and "
                f"{'was' if one else 'were'} dropped ({self.job_share:.2%} of the jobs, "
                f"{self.work_share:.2%} of their processor time); the figures are of the others")


def machine_size(section: MachineSection, trace: Trace | None) -> Size:
    """Nodes and cores of equal nodes, as far as the scenario says them; else by the header."""
    nodes, procs = header_sizes(trace.header) if trace is not None else (None, None)
    cores = section.cores_per_node
    if cores is None and nodes is not None and procs is not None and procs > nodes:
        cores = _cores_by_header(nodes, procs, section.nodes)
        count = section.nodes or nodes
        what = "" if section.nodes is None else "the cores "
        return Size(count, cores, f"{_machine(count, cores)}, {what}from the log's header "
                                  f"(MaxNodes {nodes:,}, MaxProcs {procs:,})")
    if section.nodes is not None:
        return Size(section.nodes, cores or 1)
    if procs is None and nodes is None:
        raise InputError("machine.nodes: say how many nodes the machine has (the log does not), "
                         "and machine.cores_per_node if the log counts cores")
    return _by_header_alone(nodes, procs, cores)


def fits(jobs: JobTable, machine: Machine, granularity: str) -> npt.NDArray[np.bool_]:
    """By row, as a log may have the same job number twice."""
    size = sizes_of(jobs, machine, granularity)
    return np.asarray(size <= units_of(machine, granularity), dtype=np.bool_)


def fitting(
    jobs: JobTable, machine: Machine, granularity: str, drop: bool
) -> tuple[JobTable, Dropped | None]:
    """The jobs that the machine can hold; a larger one is a mistake unless they may be dropped."""
    kept = fits(jobs, machine, granularity)
    if kept.all():
        return jobs, None
    if not drop:
        largest = int(np.argmax(sizes_of(jobs, machine, granularity)))
        raise InputError(_too_large(jobs, machine, granularity, largest, int((~kept).sum())))
    if not kept.any():
        raise InputError(f"no job is left: all {len(jobs):,} are larger than the machine")
    work = jobs.procs * jobs.run_s
    out = ~kept
    found = Dropped(int(out.sum()), float(out.mean()), float(work[out].sum() / work.sum()))
    return jobs.take(kept), found


def _cores_by_header(nodes: int, procs: int, given: int | None) -> int:
    """Cores per node of a log that counts them, where its header leaves no doubt."""
    if given == procs:
        raise InputError(
            f"machine.nodes: {given:,} is what the log's header gives as processors "
            f"(MaxProcs), on {nodes:,} nodes (MaxNodes); give --nodes {nodes}, or say with "
            "--cores-per-node (machine.cores_per_node) how many processors make a node"
        )
    if procs % nodes:
        raise InputError(
            f"machine.cores_per_node: the log counts cores, {procs:,} (MaxProcs) on {nodes:,} "
            f"nodes (MaxNodes), which is {procs / nodes:.1f} per node; say how many make a node, "
            f"like --cores-per-node {procs // nodes}"
        )
    return procs // nodes


def _by_header_alone(nodes: int | None, procs: int | None, cores: int | None) -> Size:
    total = procs or nodes or 0
    per_node = cores or 1
    count = -(-total // per_node)
    if cores is not None and count != nodes:
        return Size(count, per_node, f"{_machine(count, per_node)}, to hold the {total:,} "
                                     "processors of the log's header")
    if cores is None and nodes is None:
        raise InputError(
            f"machine.cores_per_node: the log's header gives {total:,} processors (MaxProcs) and "
            "no nodes (MaxNodes); say how many make a node with --cores-per-node, 1 where each "
            "is a node"
        )
    said = ", ".join(f"{name} {value:,}" for name, value in (("MaxNodes", nodes),
                                                             ("MaxProcs", procs)) if value)
    return Size(count, per_node, f"{_machine(count, per_node)}, from the log's header ({said})")


def _machine(nodes: int, cores: int) -> str:
    return (f"{nodes:,} node{'' if nodes == 1 else 's'} of {cores:,} "
            f"core{'' if cores == 1 else 's'}")


def _too_large(jobs: JobTable, machine: Machine, granularity: str, row: int, count: int) -> str:
    """The largest job, in the units that it is counted by."""
    procs, units = int(jobs.procs[row]), units_of(machine, granularity)
    size = int(sizes_of(jobs, machine, granularity)[row])
    unit = "core" if granularity == "core" else "node"
    asks = f"{procs:,} processors, {size:,} nodes" if size != procs else f"{size:,} {unit}s"
    others = f" ({count:,} jobs are larger than that)" if count > 1 else ""
    return (f"machine.nodes: job {jobs.job_id[row]} asks for {asks}, the machine has "
            f"{units:,}{others}; give more nodes, or machine.cores_per_node if the log counts "
            "cores, or leave such jobs out with --drop-larger (trace.drop_larger)")
