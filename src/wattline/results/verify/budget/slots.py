"""Slots of the periods of an energy budget: the power that each is planned with."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.promises import EnergyPeriods
from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.results.verify.budget.periods import drawn_energy_j, given_energy_j
from wattline.results.verify.idle_power import of_units

_FULL = 1 - 1e-12
"""So much of full power counts as all of it."""


class Slots:
    """Slots of all periods of a run, each planned from what its period has when it begins.

    Each gets the idle power; what the budget leaves goes to the cheapest slots first, up to full
    power.
    """

    def __init__(
        self, run: Run, promised: EnergyPeriods, above_w: FloatArray, due_s: FloatArray
    ) -> None:
        """`above_w`: power of each job above that of its idle units; `due_s`: ends by request."""
        self._run, self.promised, self._above_w = run, promised, above_w
        self.charges = promised.carry == "charge-now"
        self.length_s = float(promised.edge_s[1] - promised.edge_s[0])
        self.idle_w = float(of_units(run, lambda node: node.power_w_idle).sum())
        self.above_w = float(of_units(run, lambda node: node.power_w_active).sum()) - self.idle_w
        self.above_j = promised.energy_j - self.idle_w * self.length_s
        """Energy of a period above idle power."""
        begin_s = promised.edge_s[:-1]
        drawn_j = drawn_energy_j(run, promised.edge_s)
        self.before_j = drawn_j
        """Energy that the machine had drawn when each period began."""
        by_start = np.argsort(run.schedule.start_s, kind="stable")
        by_start = by_start[run.ran[by_start]]
        self._start_s = run.schedule.start_s[by_start]
        took_s = due_s[by_start] - self._start_s
        self._upto_j = np.append(0.0, np.cumsum(np.maximum(above_w[by_start], 0.0) * took_s))
        used_j = np.diff(drawn_j)
        if self.charges:
            used_j = self.idle_w * self.length_s + np.array(
                [self.charged_j(at, float(end_s)) for at, end_s in enumerate(promised.edge_s[1:])])
        self.given_j = given_energy_j(promised, used_j)
        self.saved_j = self.given_j - promised.energy_j
        upto = np.append(0, np.cumsum(promised.slot_count))
        self._offset_s = [promised.slot_s[a:b] for a, b in pairwise(upto)]
        self._place = [promised.slot_place[a:b] for a, b in pairwise(upto)]
        parts = [begin_s[each] + self.offsets_s(each) for each in range(len(begin_s))]
        self.begin_s = np.concatenate(parts)
        """Beginning of every slot of the run."""
        self.period = np.repeat(np.arange(len(parts)), [len(each) for each in parts])
        self._first = np.searchsorted(self.period, np.arange(len(parts)))
        self.drawn_j = drawn_energy_j(run, self.begin_s) - drawn_j[self.period]
        """Energy that the period of each slot had drawn before it."""
        self._power_w: dict[int, float] = {}

    def offsets_s(self, period: int) -> FloatArray:
        """Beginnings of the slots of a period, from its own."""
        return np.asarray(self._offset_s[min(period, len(self._offset_s) - 1)])

    def at(self, time_s: FloatArray) -> IntArray:
        """The slot that holds at each time."""
        found = np.searchsorted(self.begin_s, time_s, "right") - 1
        return np.asarray(np.maximum(found, 0), dtype=np.int64)

    def number(self, slot: int) -> int:
        """The place of a slot in its period."""
        return slot - int(self._first[self.period[slot]])

    def end_s(self, slot: int) -> float:
        if slot + 1 < len(self.begin_s):
            return float(self.begin_s[slot + 1])
        return float(self.promised.edge_s[-1])

    def charged_j(self, period: int, time_s: float) -> float:
        """Energy charged to a period, up to a time, for jobs that started in it."""
        first, last = np.searchsorted(self._start_s, (self.promised.edge_s[period], time_s))
        return float(self._upto_j[last] - self._upto_j[first])

    def power_w(self, slot: int) -> float:
        """The power that a slot is planned with; infinite where that is full power."""
        if slot not in self._power_w:
            self._power_w[slot] = self._planned_w(slot)
        return self._power_w[slot]

    def _planned_w(self, slot: int) -> float:
        period, number = int(self.period[slot]), self.number(slot)
        offset_s = self.offsets_s(period)
        lasts_s = np.diff(offset_s, append=self.length_s)
        left_j = self.given_j[period] - self.drawn_j[slot] - self.idle_w * (
            self.length_s - offset_s[number])
        free_w = self.idle_w
        if self.charges:  # what runs is paid for
            left_j = (self.above_j + self.saved_j[period]
                      - self.charged_j(period, float(self.begin_s[slot])))
            free_w += max(self._above_idle_w(float(self.begin_s[slot])), 0.0)
        place = self._place[min(period, len(self._place) - 1)]
        cheaper = np.flatnonzero(place < place[number])
        cheaper_s = float(lasts_s[cheaper[cheaper > number]].sum())
        spare_j = max(float(left_j), 0.0) - self.above_w * cheaper_s
        given_w = max(spare_j, 0.0) / float(lasts_s[number])
        return np.inf if given_w >= self.above_w * _FULL else float(free_w + given_w)

    def _above_idle_w(self, time_s: float) -> float:
        """Power above idle, at a time, of the jobs that run on from before it."""
        schedule = self._run.schedule
        runs = (schedule.start_s < time_s) & (schedule.end_s > time_s)
        return float(self._above_w[runs].sum())
