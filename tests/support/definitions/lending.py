"""Jobs that run in a row of a table, and watts that are lent to them while nobody needs them.

The rules are those of docs/overprovisioning.md (scheduling under a bound, lending). Rows that draw
less than their nodes do idle are refused there, so there are none here; a job that nobody measured
may draw so little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.support.definitions.admissions import Verdict, Watts, drawn_w
from tests.support.definitions.world import SLACK, Case, Running, World


class Row(NamedTuple):
    """A configuration: nodes and what is set on them, and what comes of it."""

    nodes: int
    cores: int
    cap_w: float
    time_s: float
    power_w: float


@dataclass(frozen=True)
class Rule:
    """How a job's row is chosen, and what the job holds while it runs."""

    name: str
    """`fixed` (all cores and `cap_w`), `naive` or `adaptive`."""
    cap_w: float = math.nan
    threshold: float = 0.0
    holds_share: bool = False
    lends: bool = True


@dataclass(frozen=True)
class Bounded:
    """A case, the table of its one application, the jobs that have it and the weights of all."""

    case: Case
    rows: tuple[Row, ...]
    measured: tuple[bool, ...]
    weight: tuple[float, ...]


class TableWorld(World):
    """Units, watts and times of jobs are those of the row that each has."""

    def __init__(self, bounded: Bounded) -> None:
        super().__init__(bounded.case)
        self.bounded = bounded
        self.asked, self.asked_s = list(self.units), list(self.requested_s)
        self.row: list[Row | None] = [None] * len(self.units)

    def adopt(self, job: int, row: Row, held_w: float) -> None:
        """The deadline is the requested time, or that of the row where it is longer."""
        self.row[job] = row
        self.units[job], self.watts[job] = row.nodes, max(row.power_w, held_w)
        self.requested_s[job] = max(self.asked_s[job], row.time_s)

    def start(self, job: int, rate: float = 1.0, power_w: float | None = None) -> Running:
        run, row = super().start(job, rate, power_w), self.row[job]
        if row is not None:
            run.end_s = self.now_s + row.time_s
        return run


@dataclass
class Lending(Watts):
    """While it is decided who starts, every running job has what it was started with, or what it
    holds; then the watts that are left are handed out, step by step."""

    rule: Rule
    waits: set[int] = field(default_factory=set)
    """Jobs that had rather wait than start with what there is now."""

    def refuses(self, world: World, job: int) -> bool:
        assert isinstance(world, TableWorld)
        if not world.bounded.measured[job]:
            return super().refuses(world, job)
        return self.alone(world, job, world.highest_cap_w) is None

    def begin(self, world: World) -> bool:
        for run in world.running:
            run.power_w = world.watts[run.job]
        return True

    def sets_aside(self, world: World, job: int, planning: bool) -> bool:
        assert isinstance(world, TableWorld)
        self.waits.discard(job)
        if not world.bounded.measured[job]:
            return super().sets_aside(world, job, planning)
        row = self.alone(world, job, world.cap_w)
        if row is not None:
            held_w = self.share_w(world, job, world.cap_w)
            left_w = world.cap_w - drawn_w(world)
            if self.rule.name == "adaptive" and held_w > left_w * (1 + SLACK):
                now = self.fastest(world, world.free, left_w)
                limit_s = (1 + self.rule.threshold) * world.asked_s[job]
                if now is None or now.time_s > limit_s:
                    self.waits.add(job)
                else:
                    row, held_w = now, left_w
            world.adopt(job, row, held_w if self.rule.holds_share else 0.0)
        return row is None

    def admits(self, world: World, job: int) -> Verdict:
        return Verdict.WAIT if job in self.waits else super().admits(world, job)

    # Rows

    def share_w(self, world: TableWorld, job: int, cap_w: float) -> float:
        """The fair share, as far as there is so much beside all idle nodes."""
        share_w = world.bounded.weight[job] * world.asked[job] * cap_w / world.total
        return min(share_w, cap_w - world.idle_of_w(world.total))

    def alone(self, world: TableWorld, job: int, cap_w: float) -> Row | None:
        """The row that the job is to have, by its request or its share of a cap."""
        if self.rule.name != "fixed":
            return self.fastest(world, world.total, self.share_w(world, job, cap_w))
        left_w = cap_w - world.idle_of_w(world.total)
        cores = max(row.cores for row in world.bounded.rows)
        fitting = [
            row for row in world.bounded.rows
            if row.cores == cores and row.cap_w == self.rule.cap_w
            and row.nodes <= world.asked[job]
            and row.power_w - row.nodes * world.idle_w <= left_w * (1 + SLACK)]
        return max(fitting, default=None)

    def fastest(self, world: TableWorld, units: int, watts: float) -> Row | None:
        """Of equals the one that draws less."""
        fitting = [row for row in world.bounded.rows
                   if row.nodes <= units and row.power_w <= watts * (1 + SLACK)]
        return min(fitting, key=lambda row: (row.time_s, row.power_w), default=None)

    # Loans

    def settle(self, world: World) -> None:
        assert isinstance(world, TableWorld)
        spare_w = world.cap_w - drawn_w(world)
        lent = {run.job: world.row[run.job] for run in world.running}
        while self.rule.lends:
            steps = [(run, row, step) for run in world.running
                     if (row := lent[run.job]) and (step := self.step(world, row))
                     and step.power_w - row.power_w <= spare_w + SLACK * world.cap_w]
            if not steps:
                break
            run, row, step = max(steps, key=lambda each: (
                (1 - each[2].time_s / each[1].time_s) / (each[2].power_w - each[1].power_w),
                -each[0].expected_s, -each[0].job))
            spare_w -= step.power_w - row.power_w
            lent[run.job] = step
        for run in world.running:
            began, row = world.row[run.job], lent[run.job]
            if began is not None and row is not None:
                world.set_rate(run, began.time_s / row.time_s, row.power_w)

    def step(self, world: TableWorld, row: Row) -> Row | None:
        """The next higher cap on the same nodes and cores with which the job is faster."""
        above = [other for other in world.bounded.rows
                 if other[:2] == row[:2] and other.cap_w > row.cap_w
                 and other.time_s < row.time_s]
        return min(above, key=lambda other: other.cap_w, default=None)
