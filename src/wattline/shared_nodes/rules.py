"""How Slurm decides: the settings of `slurm.conf` that scheduling follows, with its defaults."""

from __future__ import annotations

from dataclasses import dataclass

MULTIFACTOR, BASIC = "multifactor", "basic"
CONS_TRES, LINEAR = "cons_tres", "linear"
FAIR_TREE, CLASSIC = "fair_tree", "classic"
BACKFILL, BUILTIN = "backfill", "builtin"


@dataclass(frozen=True)
class Priority:
    """`priority/multifactor`; weights of resources stand in the columns of the machine's TRES."""

    kind: str = BASIC
    age: int = 0
    fairshare: int = 0
    job_size: int = 0
    partition: int = 0
    qos: int = 0
    association: int = 0
    tres: tuple[float, ...] = ()
    no_normal_tres: bool = False
    max_age_s: float = 7 * 86400.0
    half_life_s: float = 7 * 86400.0
    """0: usage never decays."""
    reset_period: str = "none"
    calc_period_s: float = 300.0
    favor_small: bool = False
    small_relative_to_time: bool = False
    fairshare_rule: str = FAIR_TREE
    dampening: float = 1.0
    accrue_always: bool = False
    billing: tuple[tuple[float, ...], ...] = ()
    """Per partition `TRESBillingWeights`; empty: a CPU counts 1."""
    by_joules: bool = False
    """Not of Slurm: usage is joules instead of what is billed."""


@dataclass(frozen=True)
class Rules:
    """Settings of the scheduler itself."""

    scheduler: str = BACKFILL
    select: str = CONS_TRES
    memory_counts: bool = True
    """`CR_*_Memory`."""
    least_loaded: bool = False
    """`CR_LLN`."""
    default_queue_depth: int = 100
    sched_interval_s: float = 60.0
    sched_min_interval_s: float = 0.0
    batch_sched_delay_s: float = 3.0
    partition_job_depth: int = 0
    """0: no bound (`partition_job_depth`)."""
    bf_interval_s: float = 30.0
    bf_window_s: float = 86400.0
    bf_resolution_s: float = 60.0
    bf_max_job_test: int = 500
    bf_max_job_user: int = 0
    bf_max_job_part: int = 0
    bf_max_job_assoc: int = 0
    bf_max_job_start: int = 0
    bf_max_job_array_resv: int = 20
    """Tasks of an array that nodes are held for in a cycle; of one there always are."""
    bf_min_age_reserve_s: float = 0.0
    bf_min_prio_reserve: int = 0
    bf_max_time_s: float = 30.0
    bf_try_s: float = 0.0
    """What a cycle takes for each job that it looks at: cycles follow each other's ends, so a long
    queue moves them against all other loops."""
    bf_continue: bool = False
    bf_licences: bool = False
    bf_one_resv_per_job: bool = False
    preempt: str = "none"
    """"none", "qos" or "partition"."""
    requeue_delay_s: float = 0.0
    """So long a requeued job waits at least before it may start again."""
    enforce_limits: bool = False
    enforce_qos: bool = False
    enforce_associations: bool = False
    enforce_part_limits: str = "no"
    topology_tree: bool = False
    kill_wait_s: float = 30.0
    over_time_limit_s: float = 0.0
    kill_late_s: float = 15.0
    """Limits are looked at every 30 s in a real Slurm: killed 0 to 30 s late."""
    max_job_count: int = 10000
    """Of all jobs in memory there are fewer."""
    min_job_age_s: float = 300.0
    """For how long jobs that are over stay there."""
    kill_invalid_depend: bool = False
    """Jobs whose dependency can never be met are cancelled, unless they say otherwise."""
    suspend_time_s: float = -1.0
    resume_timeout_s: float = 60.0
    suspend_excluded: tuple[str, ...] = ()
    asleep_first: tuple[str, ...] = ()
    """Nodes that sleep from the beginning, where nodes sleep at all."""
    prompt_ends: float = 0.0
    """Part of the jobs that end by themselves whose nodes say so by a message of their own, which
    a pass follows at once (all of them with an `Epilog`); the others ask for the next pass."""
    tick_s: float = 1.0
    """From one look of the controller's loop to the next: a second, and what it takes itself."""
    unix_start_s: float = 0.0
    """Unix time of second 0: backfill plans in whole `bf_resolution` of Unix time."""
    start_latency_s: float = 0.0
    """From the decision to the first line of the script."""
    priority: Priority = Priority()
