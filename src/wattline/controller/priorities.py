"""Shares of joules as Slurm's own priority, where Slurm starts the jobs.

In decide mode the books order the queue. In guard mode Slurm does, by its priorities: the first of
its waiting jobs get those that the order by joules would give them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.account.fairshare import ShareTree, decay, read_shares
from wattline.books import Books
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import PENDING, SlurmJob
from wattline.model.signal import FloatArray

if TYPE_CHECKING:
    from wattline.controller.configuration import SiteConfig
    from wattline.controller.controller import Controller, Cycle

HIGHEST = 4_294_960_000
"""Above what Slurm gives by itself, below the numbers that mean something else to it."""
FIRST = 50
"""So many get a priority of ours; those behind them keep theirs."""
EVERY_S = 5.0


def shares_of(site: SiteConfig) -> ShareTree | None:
    """The tree of shares that a site's order goes by, if it goes by shares."""
    chosen = site.policy.order
    file = chosen.get("shares") if isinstance(chosen, Mapping) else None
    return read_shares(Path(file)) if file and not site.scenario else None


@dataclass
class SharePriorities:
    """Listens to the cycles of a controller in guard mode."""

    controller: Controller
    tree: ShareTree
    looked_s: float = 0.0

    def __call__(self, cycle: Cycle) -> None:
        if not cycle.looked or cycle.time_s - self.looked_s < EVERY_S:
            return
        self.looked_s = cycle.time_s
        waiting = [job for job in self.controller.watcher.seen
                   if job.state == PENDING and not job.held and self.controller.watcher.ours(job)]
        wanted = self.ordered(waiting, cycle.time_s)[:FIRST]
        theirs = sorted(waiting, key=lambda job: (-job.priority, job.submit_s, job.job_id))
        if [job.label for job in wanted] == [job.label for job in theirs[:len(wanted)]]:
            return
        given = {job.label: HIGHEST - rank for rank, job in enumerate(wanted)}
        given |= {job.label: HIGHEST - FIRST for job in waiting
                  if job.priority > HIGHEST - FIRST and job.label not in given}
        for job in waiting:
            if given.get(job.label, job.priority) != job.priority:
                self._give(job, given[job.label])

    def ordered(self, jobs: list[SlurmJob], now_s: float) -> list[SlurmJob]:
        """Who has drawn less of its share first; age and size count as the site weighs them."""
        books = self.controller.books
        order: Any = books.policy.order
        standings = self.tree.standings(usage_j(books, self.tree, now_s))
        factor = {each.name: each.factor for each in standings}
        units = int(books.state.clock[0].units)

        def priority(job: SlurmJob) -> float:
            age = min(max(now_s - job.submit_s, 0.0) / order.age_max_s, 1.0)
            return float(order.fair * factor.get(job.user, 0.0)
                         + order.age * age + order.size * job.nodes / units)

        return sorted(jobs, key=lambda job: (-priority(job), job.submit_s, job.job_id))

    def _give(self, job: SlurmJob, priority: int) -> None:
        try:
            self.controller.slurm.prioritise(job.label, priority)
        except SlurmError as error:  # it may have begun: the next look will tell
            self.controller.notes.append(str(error))


def usage_j(books: Books, tree: ShareTree, now_s: float) -> dict[str, float]:
    """Return the energy that each account drew, also in jobs that run: the books stand still while
    nothing happens. Users who are in no account are none of them."""
    leaves = set(tree.leaves)
    return {account.name: float(joules) for account, joules
            in zip(tree.accounts, used_until_j(books, now_s)[:-1], strict=True)
            if account.name in leaves}


def used_until_j(books: Books, now_s: float) -> FloatArray:
    """The same of the order's accounts in their order, faded until now as the order fades it."""
    order: Any = books.policy.order
    memory, state = order.memory, books.state
    passed_s = max(now_s - float(memory.faded_s[0]), 0.0)
    # Before the first decision nothing has faded, nor is it known since when.
    used_j: FloatArray = memory.used_j * (1.0 if math.isnan(passed_s)
                                          else decay(float(order.half_life_s), passed_s))
    for row in state.running[: int(state.clock[0].running)].tolist():
        live = state.live[row]
        drawn_j = live.energy_j + live.power_w * max(now_s - live.updated_s, 0.0)
        used_j[memory.account[row]] += drawn_j - memory.charged_j[row]
    return used_j


def factors_of(order: Any, used_j: FloatArray) -> FloatArray:
    """The factor of each account as the order computes it, from what each has used."""
    total = summed_j(order, used_j)
    everything = float(total[:-1][order.parent[:-1] < 0].sum())
    effective = total / everything if everything > 0.0 else np.zeros_like(total)
    for account in order.order.tolist():
        if (parent := order.parent[account]) >= 0:
            own = effective[account]
            effective[account] = own + (effective[parent] - own) * order.share[account]
    found: FloatArray = np.append(np.exp2(-effective[:-1] / order.norm_share[:-1]), 0.0)
    return found


def summed_j(order: Any, used_j: FloatArray) -> FloatArray:
    """Sum the energy that each account and all below it have used."""
    total = used_j.copy()
    for account in reversed(order.order.tolist()):
        if order.parent[account] >= 0:
            total[order.parent[account]] += total[account]
    return total
