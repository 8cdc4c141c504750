"""The rules for runs on shared nodes, in the order in which they are judged."""

from __future__ import annotations

from wattline.model.run import Run
from wattline.results.verify._base import Remark, Rule, Skipped, Verdicts
from wattline.results.verify.shared import (
    backfill,
    limits,
    placement,
    power,
    times,
    waiting,
)
from wattline.results.verify.shared._case import Case, case_of

NOT_KEPT = (
    "the run folder has no slurm.npz: it was made by an earlier version, which kept neither "
    "the site nor what its jobs asked for"
)


SHARED_RULES: tuple[Rule[Case], ...] = (
    Rule("shared.stays", "stays on nodes are of jobs that run then", power.stays_are_whole),
    Rule(
        "shared.outcomes", "each job has an outcome, and starts when it may", times.outcomes
    ),
    Rule("shared.run-times", "jobs end when their work is done", times.run_times),
    Rule(
        "shared.time-limits",
        "no job runs past its time limit, suspensions apart, and none is killed before it",
        times.time_limits,
    ),
    Rule(
        "shared.suspensions",
        "suspended jobs hold nothing, and lose that time",
        times.suspensions,
        lambda case: bool(len(case.outcome.gap_job)),
    ),
    Rule(
        "shared.dependencies",
        "jobs start after those that they wait for",
        times.dependencies,
        lambda case: case.has("dependencies"),
    ),
    Rule(
        "shared.nodes",
        "nodes are of the job's partition, up, and with its features",
        placement.nodes_given,
    ),
    Rule("shared.amounts", "each job has what it asks for", placement.amounts),
    Rule(
        "shared.capacity",
        "no node gives more CPUs, memory or devices than it has",
        placement.capacity,
    ),
    Rule(
        "shared.one-user",
        "jobs that share with their own user alone do",
        placement.one_user,
        lambda case: case.jobs.get("own_user") is not None,
    ),
    Rule(
        "shared.reservations",
        "reserved nodes are for jobs of the reservation",
        placement.reservations,
        lambda case: case.has("reservations"),
    ),
    Rule(
        "shared.limits-per-job",
        "no job has more than MaxTRES",
        limits.limits_per_job,
        lambda case: bool(case.rules.enforce_limits),
    ),
    Rule(
        "shared.limits",
        "limits of QOS, users and associations hold at each start",
        limits.limits_at_starts,
        lambda case: bool(case.rules.enforce_limits),
    ),
    Rule(
        "shared.arrays",
        "no array runs more tasks than it allows",
        limits.arrays,
        lambda case: bool((case.jobs.array >= 0).any()),
    ),
    Rule(
        "shared.licences",
        "no more licences are in use than there are",
        limits.licences,
        lambda case: len(case.licences.names) > 0,
    ),
    Rule(
        "shared.watts", "jobs add to a node what their parts draw there", power.watts_on_nodes
    ),
    Rule(
        "shared.energy-of-jobs", "joules of jobs are those of their nodes", power.energy_of_jobs
    ),
    Rule(
        "shared.power", "the machine draws what its nodes and jobs draw", power.machine_power
    ),
    Rule(
        "shared.cap", "the machine keeps its cap", power.cap, lambda case: case.cap is not None
    ),
    Rule(
        "shared.bounds",
        "parts of the machine keep their limits",
        power.bounds,
        lambda case: bool(case.bounds),
    ),
    Rule(
        "shared.waiting", "nobody waits at the head of the queue who could start", waiting.heads
    ),
    Rule("shared.backfill", "no start ahead of the first job of a partition delays it",
         backfill.starts_ahead),
)


def is_shared(run: Run) -> bool:
    """True where jobs share nodes."""
    return run.node_stays is not None or run.slurm is not None


def _on_run(rule: Rule[Case]) -> Rule[Run]:
    def judge(run: Run) -> Verdicts:
        yield from rule.judge(case_of(run))

    return Rule(
        rule.code, rule.title, judge, lambda run: _is_recorded(run) and rule.applies(case_of(run))
    )


def _is_recorded(run: Run) -> bool:
    return run.slurm is not None and run.node_stays is not None


def _not_recorded(run: Run) -> Verdicts:
    yield Skipped(NOT_KEPT)


RULES: tuple[Rule[Run], ...] = (
    Rule(
        "shared",
        "the rules of Slurm on shared nodes",
        _not_recorded,
        lambda run: is_shared(run) and not _is_recorded(run),
    ),
    *map(_on_run, SHARED_RULES),
)


def verdicts(case: Case) -> list[tuple[str, Remark]]:
    """Remarks of every rule that applies to a case, with its code."""
    return [
        (rule.code, remark)
        for rule in SHARED_RULES
        if rule.applies(case)
        for remark in rule.judge(case)
    ]
