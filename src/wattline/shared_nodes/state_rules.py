"""The record of a scheduler's rules: see rules.py and prepare.py."""

from __future__ import annotations

from wattline.model.records import Record


class RuleNumbers(Record):
    """The rules, as numbers."""

    nodes: int
    largest_node: int  # CPUs
    kinds: int
    choices: int
    most_gpus: int  # of a node
    ranks: int  # weights of nodes
    resources: int
    licences: int
    partitions: int
    multifactor: int
    backfill: int
    memory_counts: int
    least_loaded: int
    tree: int
    switches: int
    depth: int
    part_depth: int
    sched_interval_s: float
    batch_delay_s: float
    phase_s: float
    bf_interval_s: float
    bf_window_s: float
    bf_resolution_s: float
    unix_s: float
    tick_s: float
    bf_try_s: float
    bf_max_time_s: float
    prompt_ends: float
    bf_max_job_test: int
    bf_max_job_user: int
    bf_max_job_part: int
    bf_max_job_assoc: int
    bf_max_job_start: int
    bf_max_array_resv: int
    bf_min_age_reserve_s: float
    bf_min_prio_reserve: int
    bf_licences: int
    bf_one_resv: int
    enforce_limits: int
    kill_late_s: float
    over_limit_s: float
    start_latency_s: float
    max_job_count: int
    min_job_age_s: float
    requeue_delay_s: float
    own_users: int  # whether any job shares nodes with those of its user alone
    preempt: int  # 0 none, 1 QOS, 2 partition
    age: float
    fairshare: float
    job_size: float
    max_age_s: float
    half_life_s: float
    calc_period_s: float
    fair_tree: int
    dampening: float
    by_joules: int  # usage is joules
    accrue_always: int
    favor_small: int
    size_by_time: int
    suspend_time_s: float
    resume_timeout_s: float
    least_idle_w: float  # of the machine, with all nodes asleep that may be
    capped: int
    cpus: int  # of all nodes
    bounded: int  # limits of parts of the machine: see bounds.py
    budgeted: int  # joules of periods: see joule_book.py
