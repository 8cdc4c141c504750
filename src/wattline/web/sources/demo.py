"""The demo: a simulated machine in real time or faster, whose cap can really be changed.

An order is put into the plan of the cap at the time at which it was given, and everything is
simulated again. Nobody knows of such a change before, so what had happened by then stays.
"""

from __future__ import annotations

import math
import threading
import time
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wattline.analysis.summary import time_text
from wattline.model.cap_slack import CAP_SLACK
from wattline.model.errors import InputError, WattlineWarning
from wattline.model.run import Run
from wattline.model.units import format_power
from wattline.scenario.model import CapChange, CapPlan, CapReservation
from wattline.web.sources import demo_machine, run_words
from wattline.web.sources.acting import ACTIONS, checked
from wattline.web.sources.replaying import started
from wattline.web.sources.run_index import RunIndex
from wattline.web.sources.run_source import RunSource
from wattline.web.sources.run_words import NO_CAP_W
from wattline.web.sources.shape import (
    About,
    AccountTable,
    Act,
    BillTable,
    BudgetTable,
    Decision,
    Done,
    History,
    JobDetail,
    JobPage,
    JobQuestion,
    NodePage,
    Now,
    RackTable,
    Reservation,
    SourceName,
)

START_SHARE = 0.35
"""How far the demo is when it is opened: the machine is full, and there is a past to show."""


@dataclass(frozen=True)
class DemoPlan:
    """The cap of the demo, and what operators ordered."""

    watts: float = demo_machine.CAP_W
    changes: tuple[tuple[float, float], ...] = ()
    reservations: tuple[tuple[str, float, float, float], ...] = ()
    """Name, start, duration and watts."""

    def with_act(self, act: Act, now_s: float) -> DemoPlan:
        value = act.value
        if act.action == "set_mode":
            raise InputError("the demo has no Slurm beside it that could start jobs: its mode "
                             "cannot be changed")
        if act.action == "set_cap":
            watts = value["watts"]
            return replace(self, changes=(*self.changes, (
                now_s, math.inf if watts is None else float(watts))))
        if act.action == "reserve":
            name = value.get("name") or self._free_name()
            if any(name == each[0] for each in self._lasting(now_s)):
                raise InputError(f"there is a reservation '{name}' already; choose another name")
            start_s = now_s + float(value.get("in_s") or 0.0)
            return replace(self, reservations=(*self.reservations, (
                name, start_s, float(value["duration_s"]), float(value["watts"]))))
        return self._ended(value["name"], now_s)

    def _ended(self, name: str, now_s: float) -> DemoPlan:
        """Without what is to come of a reservation; what it kept free until now stays kept."""
        lasting = self._lasting(now_s)
        ended = [each for each in lasting if each[0] == name]
        if not ended:
            known = ", ".join(each[0] for each in lasting)
            raise InputError(f"there is no reservation '{name}'; there "
                             f"{'are: ' + known if known else 'is none'}")
        return replace(self, reservations=tuple(
            (each[0], each[1], _length_s(each[1], now_s), each[3]) if each in ended else each
            for each in self.reservations if each not in ended or each[1] < now_s))

    def _lasting(self, now_s: float) -> list[tuple[str, float, float, float]]:
        """The reservations that are not over."""
        return [each for each in self.reservations if each[1] + each[2] > now_s]

    def _free_name(self) -> str:
        """For a reservation that was given none."""
        taken = {each[0] for each in self.reservations}
        return next(name for number in range(1, len(taken) + 2)
                    if (name := f"reserved-{number}") not in taken)

    def cap(self) -> CapPlan:
        """As `[power.cap]`, which has watts: no cap is more than any machine draws."""
        return CapPlan(
            watts=self.watts,
            changes=tuple(CapChange(at_s=at_s, watts=min(watts, NO_CAP_W))
                          for at_s, watts in self.changes),
            reservations=tuple(
                CapReservation(name=name, start_s=start_s, duration_s=length_s, watts=watts)
                for name, start_s, length_s, watts in self.reservations))


class DemoSource:
    """A `RunSource` that is made anew when an operator orders something."""

    def __init__(self, *, speed: float = 60.0, jobs: int = demo_machine.JOBS,
                 monotonic: Callable[[], float] = time.monotonic) -> None:
        self.table = demo_machine.jobs(jobs)
        self.machine = demo_machine.machine()
        self.plan = DemoPlan()
        self.orders: list[Decision] = []
        self.lock = threading.Lock()
        run = self.simulated(self.plan)
        clock = started(run.start_s + START_SHARE * (run.end_s - run.start_s), run.start_s,
                        run.end_s, speed, monotonic)
        self.shown = RunSource(
            RunIndex(run), clock, SourceName("demo", "demo", speed), demo_machine.rates(),
            feeds=demo_machine.feeds(),
            assumptions=("the machine, its jobs and users are invented; after its end the demo "
                         "begins again, with what was ordered",
                         "what the feeds may carry is only watched"))

    def simulated(self, plan: DemoPlan) -> Run:
        from wattline.scenario.api import simulate

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WattlineWarning)  # /api/about says them
            return simulate(self.table, machine=self.machine, order="fcfs", backfill="easy",
                            power="dvfs", placement="first-fit",
                            cap=plan.cap())

    def turn(self) -> None:
        self.shown.turn()

    def users(self, jobs: Collection[str]) -> dict[str, str | None]:
        return self.shown.users(jobs)

    def about(self) -> About:
        return replace(self.shown.about(), operator_actions=[
            action for action in ACTIONS if action != "set_mode"])

    def now(self) -> Now:
        found = self.shown.now()
        mine = [each for each in self.orders if each.time_s <= found.time_s]
        decisions = sorted((*mine, *found.decisions), key=lambda each: -each.time_s)
        start_s = self.shown.index.run.start_s
        kept = [Reservation(name, from_s - start_s, from_s + length_s - start_s, watts)
                for name, from_s, length_s, watts in self.plan.reservations
                if from_s + length_s - start_s > found.time_s]
        return replace(found, decisions=decisions[:run_words.SHOWN], reservations=kept)

    def consequences(self, act: Act) -> list[str]:
        """What the next hours look like under it, from simulating it."""
        checked(act)
        with self.lock:
            plan = self.plan
        now_s = self.shown.time_s
        wanted = plan.with_act(act, now_s)
        after = RunIndex(self.simulated(wanted))
        _refuse_below_idle(after, now_s)
        return [*_above(self.shown.index, after, now_s), *_kept_when(after, now_s),
                *_compared(self.shown.index, after, now_s), *_called(act, wanted)]

    def apply(self, act: Act, who: str) -> Done:
        checked(act)
        with self.lock:
            now_s = self.shown.time_s
            plan = self.plan.with_act(act, now_s)
            run = self.simulated(plan)
            _refuse_below_idle(RunIndex(run), now_s)
            self.plan = plan
            self.shown = replace(self.shown, index=RunIndex(run))
            time_s = now_s - run.start_s
            said = ": ".join((said_of(act), *_called(act, plan)))
            self.orders.append(Decision(time_s, said, who=who))
        return Done(said, time_s, ["the rest of the demo was simulated again"])

    def history(self, from_s: float | None, to_s: float | None, points: int) -> History:
        return self.shown.history(from_s, to_s, points)

    def nodes(self, offset: int, limit: int) -> NodePage:
        return self.shown.nodes(offset, limit)

    def racks(self) -> RackTable:
        return self.shown.racks()

    def queue(self, offset: int, limit: int) -> JobPage:
        return self.shown.queue(offset, limit)

    def jobs(self, question: JobQuestion) -> JobPage:
        return self.shown.jobs(question)

    def job(self, job: str) -> JobDetail:
        return self.shown.job(job)

    def accounts(self, by: str, owner: str | None) -> AccountTable:
        return self.shown.accounts(by, owner)

    def budget(self) -> BudgetTable:
        return self.shown.budget()

    def bill(self, by: str, owner: str | None) -> BillTable:
        return self.shown.bill(by, owner)

    def energy_j(self) -> float | None:
        return self.shown.energy_j()

    def finished(self) -> dict[str, int]:
        return self.shown.finished()


def _length_s(start_s: float, end_s: float) -> float:
    """A duration whose sum with the start is not after the end, as rounding could make it."""
    length_s = end_s - start_s
    while start_s + length_s > end_s:
        length_s = math.nextafter(length_s, 0.0)
    return length_s


def said_of(act: Act) -> str:
    """An order in words."""
    value: Mapping[str, Any] = act.value
    if act.action == "set_cap":
        return "no cap" if value["watts"] is None else f"a cap of {format_power(value['watts'])}"
    if act.action == "reserve":
        length, until = (time_text(float(value.get(name) or 0.0))
                         for name in ("duration_s", "in_s"))
        return f"{format_power(value['watts'])} reserved for {length}, in {until}"
    return f"reservation {value['name']} withdrawn"


def _above(before: RunIndex, after: RunIndex, now_s: float) -> list[str]:
    cap_w = run_words.cap_at(after, now_s)
    power_w = before.at(now_s).power_w
    if cap_w is None:
        return ["nothing limits the machine's power any more"]
    if power_w <= cap_w:
        return [f"the machine draws {format_power(power_w)} now, less than the cap of "
                f"{format_power(cap_w)}"]
    return [f"the machine draws {format_power(power_w)} now, {format_power(power_w - cap_w)} above "
            "it: processors slow down at once, and nothing starts before there is room"]


def _called(act: Act, plan: DemoPlan) -> list[str]:
    """By which name a reservation can be given back."""
    return [f"it is called {plan.reservations[-1][0]}"] if act.action == "reserve" else []


def _refuse_below_idle(after: RunIndex, now_s: float) -> None:
    """The rule of scenarios: a cap that idle nodes alone exceed is no cap that could be kept."""
    run = after.run
    edges_s = [now_s, *([] if run.cap_w is None else run.cap_w.time_s.tolist()),
               *(each.start_s for each in run.reservations)]
    caps_w = [cap_w for edge_s in edges_s if edge_s >= now_s
              and (cap_w := run_words.cap_at(after, edge_s)) is not None]
    idle_w = run.machine.power_w_idle
    if caps_w and min(caps_w) < idle_w:
        raise InputError(f"the cap would be {format_power(min(caps_w))}, below the "
                         f"{format_power(idle_w)} that idle nodes alone draw; it must be at least "
                         "that")


def _kept_when(after: RunIndex, now_s: float) -> list[str]:
    """Where slowing down is not enough: how far it stays above the cap, and until when."""
    cap_w, lowest_w = run_words.cap_at(after, now_s), after.at(now_s).power_w
    if cap_w is None or lowest_w <= cap_w * (1 + CAP_SLACK):
        return []
    log = after.run.events
    below = np.flatnonzero((log.time_s > now_s) & (log.power_w <= cap_w))
    until = (f"for {time_text(float(log.time_s[below[0]]) - now_s)}, until jobs end"
             if below.size else "as far as can be seen")
    return [f"the cap cannot be kept at once: at their lowest speed the jobs that run still make "
            f"the machine draw {format_power(lowest_w)}, {format_power(lowest_w - cap_w)} above "
            f"it, {until}"]


def _compared(before: RunIndex, after: RunIndex, now_s: float) -> list[str]:
    """Jobs that would start later, and by how much, of those that wait or come within a day."""
    due = (before.start_s > now_s) & (before.run.jobs.submit_s < now_s + 86400.0) & (
        before.start_s < math.inf)
    later_s = after.start_s[due] - before.start_s[due]
    late = later_s[later_s > 1.0]
    bounded = late[late < math.inf]
    never = int((later_s == math.inf).sum())
    by = f", in the mean by {time_text(float(bounded.mean()))}" if bounded.size else ""
    said = [f"{len(late):,} of {int(due.sum()):,} jobs that wait or come within a day would start "
            f"later{by}"]
    if never:
        said.append(f"{never:,} of them would never start")
    sooner = int((later_s < -1.0).sum())
    if sooner:
        said.append(f"{sooner:,} would start sooner")
    return said
