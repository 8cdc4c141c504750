"""What jobs ask for on a machine with shared nodes: one row per job, in order of submission."""

from __future__ import annotations

from dataclasses import dataclass

from wattline.shared_nodes.class_options import ClassOptions
from wattline.shared_nodes.machine import BoolArray, FloatArray, IntArray

AFTERANY, AFTEROK, AFTERNOTOK, AFTER, SINGLETON = range(5)
"""What a job waits for: the end of others, a good or a bad one, their start, to be alone."""


@dataclass(frozen=True, eq=False)
class Dependencies:
    """One row per condition, in the order of the jobs that wait; then columns of all jobs."""

    job: IntArray
    """The job that waits."""
    kind: IntArray
    delay_s: FloatArray
    """Of AFTER: how long after the start."""
    first: IntArray
    """Conditions + 1: where the jobs of each begin in `awaited`."""
    awaited: IntArray
    """The jobs that conditions are about: one, all tasks of an array, or none (SINGLETON)."""
    any_of: BoolArray
    """Per job: one of its conditions is enough (`?`)."""
    namesakes: IntArray
    """Per job: number of the jobs of its user and name, where one of these is to run alone; -1."""
    kill: BoolArray
    """Per job: cancelled when its conditions can no longer be met; otherwise it waits for ever."""


@dataclass(frozen=True, eq=False)
class Requests:
    """As Slurm keeps them after `sbatch` has read the options.

    `-1` in a count says that the job did not ask; the machine's rules then fill it in.
    """

    job_ids: tuple[str, ...]
    submit_s: FloatArray
    run_s: FloatArray
    """What the job needs when nothing stops it."""
    limit_s: FloatArray
    """Asked time limit, whole minutes as Slurm keeps it; -1: the partition's default, inf: without
    end, so that the partition's longest holds."""
    min_nodes: IntArray
    max_nodes: IntArray
    """Equal to `min_nodes` unless a range was asked; -1 leaves the number to the tasks."""
    tasks: IntArray
    tasks_per_node: IntArray
    cpus_per_task: IntArray
    memory_per_node_mb: IntArray
    """0 asks for all of it (`--mem=0`)."""
    memory_per_cpu_mb: IntArray
    gres_per_node: IntArray
    """Jobs x rows of `gres_choices`."""
    gres_per_job: IntArray
    gres_per_task: IntArray
    gres_choices: tuple[tuple[str, str], ...]
    """(name, type) that jobs ask by; an empty type takes any kind of that name."""
    features: IntArray
    """Row of `feature_masks`, or -1."""
    feature_masks: BoolArray
    """Expressions of features x nodes: where each of them holds ("a&b|c" worked out)."""
    exclusive: BoolArray
    partitions: BoolArray
    """Jobs x partitions: those that the job names."""
    qos: IntArray
    association: IntArray
    """Row of the association that is charged."""
    begin_s: FloatArray
    """Not before this time; 0 for at once."""
    nice: IntArray
    array: IntArray
    """Row of its array, or -1."""
    array_limit: IntArray
    """How many of its array may run at once (`%N`), or -1."""
    licences: IntArray
    """Jobs x licences of the machine."""
    excluded: IntArray
    """Row of `node_masks` of nodes that it must not use, or -1."""
    required: IntArray
    """Row of `node_masks` of nodes that it must have, or -1."""
    node_masks: BoolArray
    requeue: BoolArray
    exit_ok: BoolArray
    cpu_load: FloatArray
    """Of its CPUs the part that is busy: 1.0 where a log does not say."""
    power_per_node_w: FloatArray
    """Measured mean watts per node, idle power included; NaN: worked out from the parts."""
    held: BoolArray
    refused: IntArray | None = None
    """Row of `outcome.REASONS` for which whoever read the job found that it cannot run; 0: none."""
    dependencies: Dependencies | None = None
    reservation: IntArray | None = None
    """Row of the machine's reservations that it is to run in, or -1."""
    own_user: BoolArray | None = None
    """Shares its nodes with jobs of the same user alone (`--exclusive=user`)."""
    cpus_per_gpu: IntArray | None = None
    """CPUs and memory for each of the GPUs that a job asks for in all; -1: none."""
    memory_per_gpu_mb: IntArray | None = None
    as_many_nodes: BoolArray | None = None
    """Asks for a range of nodes, of which it gets as many as it can without waiting for them."""
    partition_order: IntArray | None = None
    """Jobs x partitions: at which place the job names each; None: all in the machine's order."""
    options: ClassOptions | None = None
    """Classes of node that jobs choose among; None: nodes are chosen as Slurm does alone."""
    let_go: BoolArray | None = None
    """At `begin_s` somebody lets the job go, and the scheduler looks; None: it is a time alone."""
