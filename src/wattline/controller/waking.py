"""Nodes that Slurm's power saving has switched off, switched on again for jobs that wait.

Jobs start on nodes that are on: nobody has to guess what a node draws that boots under a job. The
power of booting is reserved before a node is told to, and freed once Slurm shows it up. Where Slurm
starts the jobs it switches nodes on by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wattline.books import Event
from wattline.books.waiting import added_w, left_w, queued_rows
from wattline.controller.status import policy_of
from wattline.controller.where import busy_nodes, of_partition
from wattline.live.slurm.commands import SlurmError
from wattline.model.units import fold_hosts
from wattline.policies.state import RUNNING

if TYPE_CHECKING:
    from wattline.controller.controller import Controller, Cycle
    from wattline.live.slurm.reading import SlurmJob

FIRST = 50
"""So many waiting jobs are looked at, in the order of the queue."""
RETRY_S = 30.0


@dataclass
class Waker:
    """Reserves what booting takes as a source of events, and gives the order after the cycle."""

    controller: Controller
    node_idle_w: float
    _orders: list[str] = field(default_factory=list, init=False)
    _refused: tuple[str, float] = field(default=("", 0.0), init=False)
    """Slurm's words against the last order, and the time until which none is given."""
    _would: set[str] = field(default_factory=set, init=False)
    """Nodes of which a dry run has said that they would be switched on."""

    def events(self, now_s: float) -> list[Event]:
        """Choose nodes to be switched on; what they draw meanwhile another source reserves."""
        watcher = self.controller.watcher
        if not watcher.sleeping.off or not watcher.decides or now_s < self._refused[1]:
            return []
        names = self._wanted()
        if self.controller.act:
            self._orders = names
            watcher.sleeping.wake(names, now_s)
        elif new := sorted(set(names) - self._would):
            self._would.update(new)
            self.controller.notes.append(f"would switch on {fold_hosts(new)}")
        return []

    def __call__(self, cycle: Cycle) -> None:
        """Give the order; it is in the journal, as what is reserved for it."""
        if not self._orders:
            return
        names, self._orders = self._orders, []
        try:
            self.controller.slurm.power(names, on=True)
        except SlurmError as error:
            self.controller.watcher.sleeping.woken.clear()
            if str(error) != self._refused[0]:
                self.controller.notes.append(f"nodes that jobs wait for stay off: {error}")
            self._refused = str(error), cycle.time_s + RETRY_S
            return
        self._refused = "", 0.0

    def _wanted(self) -> list[str]:
        """Nodes for jobs that have watts on them, as many as may boot at once; for the first of the
        queue also where the job lacks watts still."""
        books, watcher = self.controller.books, self.controller.watcher
        state, room_w = books.state, left_w(books.state)
        clock = state.clock[0]
        on = int(clock.units - clock.down - clock.down_owed)
        off = watcher.numbers_of(watcher.sleeping.off)
        ready = (set(watcher.number.values()) - busy_nodes(watcher)
                 - watcher.numbers_of(watcher.down | watcher.off))
        ready |= watcher.numbers_of(watcher.sleeping.booting - watcher.sleeping.with_job)
        found: list[str] = []
        rows = queued_rows(state)[: 1 if policy_of(books).get("backfill") == "none" else FIRST]
        turned_back = self._turned_back()
        room_w += sum(added_w(state, row) for row in turned_back)  # which the books count still
        for row in (*turned_back, *rows):
            told = watcher.told.get(str(books.roll.key(row)))
            if told is None or told.row is None:
                continue
            units, added = int(state.live[row].units), added_w(state, row)
            has, lacks = self._nodes_for(told.row, units, ready, off)
            ready -= has
            first = row in rows[:1] and units > on
            names = watcher.node_names(sorted(lacks))
            fits = len(has) + len(lacks) == units and self._up_w(names) + added <= room_w
            # The policy keeps nothing free for a job that asks for more nodes than are on.
            if fits or first:
                wakes = self._within(names, room_w)
                room_w -= max(self._boot_w(wakes), self._up_w(names) + added if fits else 0.0)
                found += wakes
                off -= watcher.numbers_of(names)
        return found

    def _turned_back(self) -> list[int]:
        """Rows of jobs that the books have just started on whatever is free, and that did not start
        as a node that they ask for is off."""
        books, watcher = self.controller.books, self.controller.watcher
        rows = [books.roll.row(name) for name, told in watcher.told.items()
                if told.why_not and not told.running and told.row is not None
                and not watcher.sleeping.off.isdisjoint(told.row.required_nodes)]
        return [row for row in rows if books.state.live[row].state == RUNNING]

    def _nodes_for(
        self, job: SlurmJob, units: int, ready: set[int], off: set[int]
    ) -> tuple[set[int], set[int]]:
        """Choose the nodes for a job: of those that are on or boot, and of those that are off."""
        watcher = self.controller.watcher
        allowed = of_partition(watcher, job.partition) - watcher.numbers_of(
            watcher.kept_from(job))
        own = watcher.numbers_of(job.required_nodes)
        asleep = off & allowed
        lacks = asleep & own
        has = set(_first(ready & allowed, own, units - len(lacks)))
        lacks |= set(_first(asleep - lacks, own, units - len(has) - len(lacks)))
        return has, lacks

    def _boot_w(self, names: Iterable[str]) -> float:
        """Sum what these nodes add to the power of now until they are up; so much is reserved."""
        power = self.controller.watcher.power
        return sum(power.booting_w(name, self.node_idle_w) - power.off_w for name in names)

    def _up_w(self, names: Iterable[str]) -> float:
        """Sum what these nodes add to the power once they are up."""
        power = self.controller.watcher.power
        return sum(power.idle_w.get(name, self.node_idle_w) - power.off_w for name in names)

    def _within(self, names: list[str], room_w: float) -> list[str]:
        """As many of these as may boot at once."""
        while names and self._boot_w(names) > room_w:
            names = names[:-1]
        return names


def _first(numbers: set[int], preferred: set[int], count: int) -> list[int]:
    return sorted(numbers, key=lambda number: (number not in preferred, number))[:max(count, 0)]
