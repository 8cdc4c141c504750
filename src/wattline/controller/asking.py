"""What a job asks for, as the books are told: compared with what they were told of it before."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from wattline.books import Submitted
from wattline.controller.frequencies_asked import logged_frequencies
from wattline.controller.node_power import NodePower
from wattline.controller.where import of_partition
from wattline.live.slurm.reading import SUSPENDED, WATTS, SlurmJob
from wattline.policies.configuration.offers import NODES_MAX, NODES_MIN

if TYPE_CHECKING:
    from wattline.controller.watching import Watcher

LONGEST_S = 365 * 86400.0
"""A request without a limit counts as so long."""


def submission(
    watcher: Watcher, name: str, job: SlurmJob, held: tuple[int, ...] = ()
) -> Submitted:
    """Of a job that waits, as its user asks for it, or that runs on what it holds."""
    chosen = watcher.molds and not held
    least = most = job.nodes
    if chosen:
        most = most_nodes(job, len(of_partition(watcher, job.partition)))
    return Submitted(
        name, units=len(held) or most, requested_s=limit_s(job),
        watts=watcher.watts(job), names={"user": job.user, "partition": job.partition},
        account=job.account, application=job.name,
        logged={**({NODES_MIN: least, NODES_MAX: most} if chosen
                   else {} if held or watcher.classes is None
                   else watcher.classes.logged(watcher, job)),
                **logged_frequencies(job.cpu_freq)},
        place=None if held else watcher.places.get(job.label))


def most_nodes(job: SlurmJob, there: int) -> int:
    """What a job may get of so many nodes: Slurm takes the most of a range (`-N 2-100`) for as many
    as there are."""
    return max(min(job.most_nodes, there), job.nodes)


def limit_s(job: SlurmJob) -> float:
    return min(job.limit_s, LONGEST_S) if job.limit_s > 0 else LONGEST_S


def suspended_limit_s(job: SlurmJob, told_s: float) -> float:
    """Time limit of a job that Slurm ends as much later as others have suspended it: as long as it
    is suspended nobody knows when. `told_s` is what the books were told last."""
    if job.state == SUSPENDED:
        return LONGEST_S
    least_s, runs_s = limit_s(job), job.end_s - job.start_s
    return min(runs_s, LONGEST_S) if told_s > least_s and runs_s > least_s else least_s


def asks_of(said: Submitted) -> tuple[object, ...]:
    """What would be another submission if it were otherwise; a time limit can be changed."""
    return (said.units, None if math.isnan(said.watts) else said.watts, dict(said.names),
            said.account, said.application, dict(said.logged))


def held_for_us_once(watcher: Watcher, job: SlurmJob) -> bool:
    """Whether the books had a job that is held, marked and in a partition of Slurm's by now: nobody
    else would ever release it."""
    return (watcher.decides and job.held and not job.held_by_operator and not watcher.ours(job)
            and (not watcher.mark or job.marked(watcher.mark))
            and job.label in watcher.left and job.label not in watcher.freed)


def watts_of_licences(power: NodePower | None = None) -> Callable[[SlurmJob], float]:
    """What a job draws, by the licences called watts that it asks for.

    At least what its nodes draw idle, those that draw least while it waits: a job that claims less
    would make room for others.
    """
    nodes = power or NodePower()

    def watts(job: SlurmJob) -> float:
        licences: Mapping[str, int] = job.licenses
        if WATTS not in licences:
            return math.nan
        idle_w = (sum(nodes.idle_w.get(name, nodes.least_idle_w) for name in job.node_list)
                  or job.nodes * nodes.least_idle_w)
        return max(float(licences[WATTS]), idle_w)

    return watts


def claims_too_little(job: SlurmJob, counted_w: float) -> str:
    """What is said of a job that claims fewer watts than are counted; empty where it does not."""
    said_w = job.licenses.get(WATTS, math.inf)
    if not counted_w > said_w:
        return ""
    return (f"it claims {said_w:,.0f} W, less than its nodes draw idle: {counted_w:,.0f} W are "
            "counted")
