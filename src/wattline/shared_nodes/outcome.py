"""What happened to each job on a machine with shared nodes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from wattline.shared_nodes.machine import BoolArray, FloatArray, IntArray

WAITING, RAN, KILLED, REFUSED, CANCELLED, NEVER, NODE_FAILED, PREEMPTED = range(8)
"""KILLED: at its limit. REFUSED: at submission. CANCELLED: before it ran. NEVER: waits for what
cannot happen. NODE_FAILED, PREEMPTED: lost its nodes while it ran, and was not requeued."""

REASONS = (
    "", "no node has what it asks for", "unknown or closed partition", "over the partition's time",
    "over a limit on submissions", "QOS not allowed", "dependency never satisfied", "held",
    "over a limit per job", "other", "account not allowed in the partition",
    "over the partition's nodes", "cancelled, as its dependency can never be satisfied",
    "its reservation is over", "too few licences", "the power cap leaves no room for it",
    "over a limit on what runs at once", "its nodes are down, drained or reserved",
    "unknown licence", "unknown account or user", "no reservation that it may use",
    "over the partition's memory per node", "what it asks for contradicts itself",
    "a limit of a part of the machine leaves no room for it",
    "no period of the energy budget has the joules for it",
    "no period of the energy budget has the joules for it on the nodes that it would get",
)


@dataclass(frozen=True, eq=False)
class Schedule:
    """One row per request; times are NaN for jobs that never ran."""

    start_s: FloatArray
    """Of the last run, where a job was requeued; a suspended job keeps its start."""
    end_s: FloatArray
    eligible_s: FloatArray
    state: IntArray
    reason: IntArray
    """Row of `REASONS`."""
    partition: IntArray
    """The one it ran in."""
    requeues: IntArray
    energy_j: FloatArray
    """Of all runs."""
    lost_energy_j: FloatArray
    """Of these, what runs took that the job was requeued from."""
    suspended_s: FloatArray
    """Of the time from start to end, in which it held no nodes that are up and drew nothing."""
    gap_job: IntArray
    """One row per suspension within such a run, the last one of its job: the job."""
    gap_from_s: FloatArray
    gap_to_s: FloatArray
    gap_energy_j: FloatArray
    """Of the job up to then."""
    lost_run_job: IntArray
    """One row per run that a job was requeued from, in the order of their ends: the job."""
    lost_run_start_s: FloatArray
    lost_run_end_s: FloatArray
    lost_run_energy_j: FloatArray
    """Of the job up to then."""
    lost_gap_job: IntArray
    """One row per suspension within such a run, in the order in which they came: the job."""
    lost_gap_from_s: FloatArray
    lost_gap_to_s: FloatArray
    lost_gap_energy_j: FloatArray
    """Of the job up to then."""
    allocation_job: IntArray
    """One row per job and node held, since it went on for the last time: the job."""
    allocation_node: IntArray
    allocation_cpus: IntArray
    allocation_memory_mb: IntArray
    allocation_gres: IntArray
    """Rows x kinds of GRES."""
    allocation_w: FloatArray
    """Added by the job on the node, once its nodes were up."""
    allocation_from_s: FloatArray
    allocation_given_s: FloatArray
    """Since when the job holds the node, which may have booted first."""
    never_up: BoolArray
    """Of each job: it was stopped for good while nodes of its last stretch still booted."""
    left_job: IntArray
    """One row per job and node that it held and left, to be requeued or to go on: the job."""
    left_node: IntArray
    left_cpus: IntArray
    left_memory_mb: IntArray
    left_gres: IntArray
    """Rows x kinds of GRES."""
    left_w: FloatArray
    left_given_s: FloatArray
    left_from_s: FloatArray
    left_to_s: FloatArray
    event_time_s: FloatArray
    """When the machine's power changed."""
    event_power_w: FloatArray
    event_busy_cpus: IntArray
    passes: int
    """Main passes."""
    backfill_passes: int
    above_cap_s: float
    alone_w: FloatArray
    """Under an energy budget: what each request would add to the empty machine, in the partition
    where it is least (infinite where it does not fit), or on the nodes that are too dear for it if
    these were all that was left..."""
    alone_s: FloatArray
    """...and how long it may last there."""
    charged_period: IntArray
    """Where periods pay for all of a job that starts in them: those that do, and what they pay."""
    charged_j: FloatArray
    option: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    """Row of the request's options that a job ran by the last time, or -1; empty where jobs do not
    choose among classes of node."""
    engine_s: float = 0.0
    """Wall time of the simulation itself."""
    engine_cpu_s: float = 0.0
    """The same as time of a processor: where others share the machine, it says more."""
