"""A machine whose nodes are shared: nodes, partitions, QOS and associations as arrays.

Everything that has a name is referred to by its row; -1 stands for none. Whatever may be limited
holds `NO_LIMIT` where it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

NO_LIMIT = np.int64(1 << 60)

KEEP, REQUEUE, SUSPEND, CANCEL = 0, 1, 2, 3
"""What happens to a job whose nodes another one takes (`PreemptMode`); KEEP: it is left alone."""

SHARED, EXCLUSIVE, EXCLUSIVE_USER = 0, 1, 2
"""Who may be on a node of a partition beside a job (`OverSubscribe`, `ExclusiveUser`)."""

CPU, MEMORY_MB, NODE, FIRST_GRES = 0, 1, 2, 3
"""Columns of every table of limits and of priority weights; GRES kinds follow in their order, then
for each name that has types all of its devices (`device_totals`)."""


def device_totals(kinds: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Names of devices that have types: a limit on all of a name is another than on each type."""
    return tuple(dict.fromkeys(name for name, model in kinds if model))


@dataclass(frozen=True, eq=False)
class Nodes:
    """One row per node."""

    names: tuple[str, ...]
    cpus: IntArray
    """What Slurm schedules: cores, or threads where `threads_per_core` > 1."""
    threads_per_core: IntArray
    sockets: IntArray
    memory_mb: IntArray
    gres_kinds: tuple[tuple[str, str], ...]
    """(name, type) of each column of `gres`, as ("gpu", "v100"); the type may be empty."""
    gres: IntArray
    """Nodes x kinds: how many of each kind."""
    feature_names: tuple[str, ...]
    features: BoolArray
    """Nodes x features."""
    weight: IntArray
    """Lower is taken first (`Weight`)."""
    leaf: IntArray
    """Row of the leaf switch that the node hangs on, or -1."""
    switch_parent: IntArray
    """Per switch its parent, or -1; leaves are switches too."""
    idle_w: FloatArray
    cpu_w: FloatArray
    """Added by each CPU in use at full load."""
    gres_w: FloatArray
    """Per kind, or nodes x kinds: added by each device in use."""


@dataclass(frozen=True, eq=False)
class SharedLimits:
    """One row per partition, QOS or association; TRES tables have one column per resource."""

    group_tres: IntArray
    """`GrpTRES`: of all its running jobs together."""
    group_jobs: IntArray
    group_submit: IntArray
    group_wall_s: IntArray
    group_tres_minutes: IntArray
    """`GrpTRESMins`."""
    user_tres: IntArray
    """`MaxTRESPerUser`."""
    user_jobs: IntArray
    user_submit: IntArray
    account_tres: IntArray
    """`MaxTRESPerAccount`."""
    account_jobs: IntArray
    account_submit: IntArray
    job_tres: IntArray
    """`MaxTRES` (per job)."""
    job_wall_s: IntArray
    """`MaxWall`."""
    max_jobs: IntArray
    """`MaxJobs` of an association."""
    max_submit: IntArray


@dataclass(frozen=True, eq=False)
class Partitions:
    names: tuple[str, ...]
    nodes: BoolArray
    """Partitions x nodes."""
    tier: IntArray
    """`PriorityTier`: partitions of a higher one are looked at first, and may preempt."""
    job_factor: IntArray
    """`PriorityJobFactor`."""
    default_time_s: IntArray
    """-1 without one: `MaxWall` of who asks, and no more than the longest that is allowed."""
    max_time_s: IntArray
    min_nodes: IntArray
    max_nodes: IntArray
    default_memory_per_cpu_mb: IntArray
    """0 where not said; then `default_memory_per_node_mb`, and 0 there: the whole node's."""
    default_memory_per_node_mb: IntArray
    max_memory_per_cpu_mb: IntArray
    max_memory_per_node_mb: IntArray
    max_cpus_per_node: IntArray
    sharing: IntArray
    preempt_mode: IntArray
    grace_s: IntArray
    qos: IntArray
    allowed_qos: BoolArray
    """Partitions x QOS."""
    allowed_accounts: BoolArray
    """Partitions x accounts (rows of `Associations.accounts`)."""
    up: BoolArray
    default: int


@dataclass(frozen=True, eq=False)
class Qos:
    names: tuple[str, ...]
    priority: IntArray
    usage_factor: FloatArray
    preempts: BoolArray
    """QOS x QOS: row may take the nodes of column."""
    preempt_mode: IntArray
    grace_s: IntArray
    limits: SharedLimits
    no_reserve: BoolArray
    """`Flags=NoReserve`: its jobs are backfilled but nothing is held for them."""
    deny_on_limit: BoolArray | None = None
    """`Flags=DenyOnLimit`: a job that is over a limit by itself is refused; None: no QOS has it."""


@dataclass(frozen=True, eq=False)
class Associations:
    """A tree: row 0 is the root; an account's children are accounts or users."""

    accounts: tuple[str, ...]
    users: tuple[str, ...]
    account: IntArray
    """Row of `accounts` of each association."""
    user: IntArray
    """Row of `users`, or -1 for an account itself."""
    parent: IntArray
    shares: IntArray
    """Raw shares; -1 uses those of the parent (`Fairshare=parent`)."""
    default_qos: IntArray
    allowed_qos: BoolArray
    """Associations x QOS."""
    priority: IntArray
    limits: SharedLimits
    partition: tuple[str, ...] = ()
    """Of each association, the partition whose jobs alone it is for; empty for all partitions."""


@dataclass(frozen=True, eq=False)
class Reservations:
    """Nodes kept for some jobs for a time; one row each."""

    names: tuple[str, ...]
    nodes: BoolArray
    """Reservations x nodes."""
    start_s: FloatArray
    end_s: FloatArray
    kill_s: FloatArray
    """When its jobs that still run are killed (`ResvOverRun` after its end)."""
    maintenance: BoolArray
    """`Flags=MAINT`: it has its nodes whatever other reservations are there."""
    overlaps: BoolArray
    """`Flags=OVERLAP`: the same, but for maintenance."""


@dataclass(frozen=True, eq=False)
class SharedMachine:
    """All that scheduling needs to know of a machine."""

    cluster: str
    nodes: Nodes
    partitions: Partitions
    qos: Qos
    associations: Associations
    licence_names: tuple[str, ...] = ()
    licences: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    reservations: Reservations | None = None

    @property
    def resources(self) -> int:
        """Columns of a table of limits."""
        kinds = self.nodes.gres_kinds
        return FIRST_GRES + len(kinds) + len(device_totals(kinds))
