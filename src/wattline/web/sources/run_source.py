"""A run as a source: what it was at the second that its clock shows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from wattline.model.errors import InputError
from wattline.model.run import EventKind, PowerBound
from wattline.model.signal import Signal
from wattline.web.sources import run_jobs, run_joules, run_words
from wattline.web.sources.part_alarms import part_alarms
from wattline.web.sources.rates import Rates
from wattline.web.sources.replaying import HeldClock
from wattline.web.sources.run_history import history
from wattline.web.sources.run_index import LATER, QUEUED, RUNNING, SAID, Moment, RunIndex
from wattline.web.sources.shape import (
    About,
    AccountTable,
    Act,
    BillTable,
    BudgetTable,
    Done,
    History,
    JobDetail,
    JobPage,
    JobQuestion,
    NodePage,
    Now,
    Part,
    RackTable,
    SourceName,
)

SHARED_OUT = ("the power of nodes, racks and classes is shared out: the machine's power above idle "
              "by what each running job draws above idle then")
NO_NODES = "the run does not know which nodes its jobs held: nodes are shown as if filled in order"


@dataclass(frozen=True)
class RunSource:
    """Everything about a run but changing it."""

    index: RunIndex
    clock: HeldClock
    named: SourceName
    rates: Rates
    unix_start_s: float | None = None
    assumptions: tuple[str, ...] = ()
    feeds: tuple[PowerBound, ...] = ()
    """Parts with a limit, beside those that the run's placement had to keep."""
    target_w: Signal | None = None
    """What a contract with the grid asked for."""

    @property
    def time_s(self) -> float:
        return self.clock.now_s()

    def turn(self) -> None:
        self.clock.turn()

    def users(self, jobs: Collection[str]) -> dict[str, str | None]:
        return run_jobs.users(self.index, self.time_s, jobs)

    def about(self) -> About:
        from importlib.metadata import version

        run = self.index.run
        known = self.index.run.placement is not None
        said = [*run.remarks, *self.assumptions, SHARED_OUT if known else NO_NODES,
                *self.rates.assumptions()]
        if np.any(run.events.kind == EventKind.NODE):
            said.append("which nodes are off is not known: they are shown as idle")
        return About(version("wattline"), self.named, said, [])

    def moment(self) -> Moment:
        return self.index.at(self.time_s)

    def now(self) -> Now:
        index, run = self.index, self.index.run
        moment = self.moment()
        cap_w = run_words.cap_at(index, moment.time_s)
        epoch_s = None if self.unix_start_s is None else self.unix_start_s + run.start_s
        by = self._parts(moment)
        return Now(
            time_s=moment.time_s - run.start_s, epoch_s=epoch_s, power_w=moment.power_w,
            cap_w=cap_w, target_w=self._target_w(moment.time_s), idle_w=run.machine.power_w_idle,
            max_w=run.machine.power_w_max, by=by, running=len(moment.running),
            queued=len(moment.waiting), busy_nodes=self._busy_nodes(moment),
            nodes=run.machine.node_count, decisions=run_words.decisions(index, moment.time_s),
            alarms=[*run_words.alarms(index, moment, cap_w), *part_alarms(by)], stale_s=0.0,
            node_max_w=float(index.active_w.max()))

    def history(self, from_s: float | None, to_s: float | None, points: int) -> History:
        found = history(self.index, self.time_s, from_s, to_s, points)
        if self.target_w is None:
            return found
        start_s = self.index.run.start_s
        return replace(found, target_w=[self._target_w(time_s + start_s)
                                        for time_s in found.time_s])

    def nodes(self, offset: int, limit: int) -> NodePage:
        run = self.index.run
        moment = self.moment()
        rows = slice(offset, min(offset + limit, run.machine.node_count))
        power_w, job = self._by_node(moment)
        state = np.where(job[rows] == -1, "idle", "busy")
        ids = run.jobs.job_id
        return NodePage(
            moment.time_s - run.start_s, run.machine.node_count, offset,
            list(run.machine.hosts[rows]), state.tolist(), power_w[rows].tolist(),
            [str(ids[row]) if row >= 0 else None for row in job[rows].tolist()])

    def racks(self) -> RackTable:
        machine, moment = self.index.run.machine, self.moment()
        power_w, job = self._by_node(moment)
        count = len(machine.racks)
        busy = np.bincount(self.index.rack_of, weights=job != -1, minlength=count)
        watts = np.bincount(self.index.rack_of, weights=power_w, minlength=count)
        sizes = [size for _, size in machine.racks]
        return RackTable(moment.time_s - self.index.run.start_s, _rack_names(count), sizes,
                         watts.tolist(), [{"busy": int(used), "idle": size - int(used)}
                                          for used, size in zip(busy, sizes, strict=True)])

    def queue(self, offset: int, limit: int) -> JobPage:
        return run_jobs.queue(self.index, self.moment(), offset, limit)

    def jobs(self, question: JobQuestion) -> JobPage:
        return run_jobs.page(self.index, self.moment(), question)

    def job(self, job: str) -> JobDetail:
        return run_jobs.detail(self.index, self.moment(), job, self.rates)

    def accounts(self, by: str, owner: str | None) -> AccountTable:
        return run_joules.accounts(self.index, self.moment(), by, owner, self.rates)

    def budget(self) -> BudgetTable:
        return run_joules.budget(self.index, self.time_s, self.rates)

    def bill(self, by: str, owner: str | None) -> BillTable:
        return run_joules.bill(self.index, self.moment(), by, owner, self.rates)

    def energy_j(self) -> float | None:
        return self.index.drawn_j(self.time_s)

    def finished(self) -> dict[str, int]:
        counts = np.bincount(self.index.state_codes(self.time_s), minlength=len(SAID))
        return {word: int(count) for word, count in zip(SAID, counts, strict=True)
                if count and word not in (LATER, QUEUED, RUNNING)}

    def consequences(self, act: Act) -> list[str]:
        raise InputError("this is a run that is over: nothing about it can be changed; look at a "
                         "live machine or at the demo")

    def apply(self, act: Act, who: str) -> Done:
        raise InputError("this is a run that is over: nothing about it can be changed; look at a "
                         "live machine or at the demo")

    def _target_w(self, time_s: float) -> float | None:
        if self.target_w is None or time_s < self.target_w.time_s[0]:
            return None
        return self.target_w.at(time_s)

    def _busy_nodes(self, moment: Moment) -> int:
        run = self.index.run
        if run.units == run.machine.node_count:
            return moment.busy
        return -(-moment.busy * run.machine.node_count // run.units)

    def _by_node(self, moment: Moment) -> tuple[np.ndarray, np.ndarray]:
        """Watts and job of each node; -2 stands for a job that is not known."""
        known = self.index.node_powers(moment)
        if known is not None:
            return known
        busy = self._busy_nodes(moment)
        job = np.full(self.index.run.machine.node_count, -1, dtype=np.int64)
        job[:busy] = -2
        idle_w = self.index.idle_w
        above_w = max(moment.power_w - float(idle_w.sum()), 0.0)
        return idle_w + np.where(job == -2, above_w / max(busy, 1), 0.0), job

    def _parts(self, moment: Moment) -> dict[str, list[Part]]:
        machine = self.index.run.machine
        power_w, _ = self._by_node(moment)
        racks = np.bincount(self.index.rack_of, weights=power_w, minlength=len(machine.racks))
        groups = np.bincount(self.index.class_of, weights=power_w, minlength=len(machine.groups))
        return {
            "class": [Part(group.node_class.name, float(watts))
                      for group, watts in zip(machine.groups, groups, strict=True)],
            "rack": [Part(name, float(watts))
                     for name, watts in zip(_rack_names(len(racks)), racks, strict=True)],
            "feed": [Part(bound.entity, float(power_w[bound.nodes].sum() if bound.share is None
                                              else power_w[bound.nodes] @ bound.share),
                          bound.limit_w) for bound in (*self.index.run.bounds, *self.feeds)],
        }


def _rack_names(count: int) -> list[str]:
    return [f"rack {number}" for number in range(count)]
