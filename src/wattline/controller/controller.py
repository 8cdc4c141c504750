"""The controller's cycle: look at Slurm, tell the books, write the journal, carry out.

What was decided is in the journal, on disk, before anything is done about it. Without `act` nothing
is done: what would be is said.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wattline.books import Books, Decision, Event
from wattline.controller.watching import Watcher
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import SlurmError


@dataclass(frozen=True)
class Cycle:
    """What one cycle did."""

    time_s: float
    decisions: tuple[Decision, ...] = ()
    remarks: tuple[str, ...] = ()
    """What went wrong, was refused, or would be done."""
    looked: bool = True
    """Whether Slurm answered; otherwise nothing was told and nothing decided."""


@dataclass
class Controller:
    """Decides what starts, when and where; Slurm carries it out."""

    books: Books
    slurm: Slurm
    watcher: Watcher
    act: bool = False
    clock: Callable[[], float] = time.time
    sources: Sequence[Callable[[float], Sequence[Event]]] = ()
    """Who else has something to tell the books before they decide."""
    listeners: Sequence[Callable[[Cycle], None]] = ()
    """Who wants to know what each cycle did, after it."""
    done: int = field(default=0, init=False)
    """Orders carried out."""

    def cycle(self) -> Cycle:
        done = self._cycle()
        for listener in self.listeners:
            listener(done)
        return done

    def _cycle(self) -> Cycle:
        try:
            seen = self.slurm.look()
        except SlurmError as error:
            return Cycle(self._now_s(), remarks=(str(error),), looked=False)
        news = self.watcher.news(seen)
        now_s = self._now_s()
        remarks = list(news.remarks)
        if news.applied:
            self.books.apply(now_s, news.applied)
            remarks += [each.reason for each in self.books.refused]
        told = [event for source in self.sources for event in source(now_s)]
        decisions = self.books.step(now_s, [*news.events, *told])
        remarks += [each.reason for each in self.books.refused]
        for decision in decisions:
            remarks += self._carry_out(decision, now_s)
        return Cycle(now_s, decisions, tuple(remarks))

    def _now_s(self) -> float:
        """Never back: a clock that is set back stands still for the books."""
        return max(self.clock(), self.books.now_s)

    def _carry_out(self, decision: Decision, now_s: float) -> list[str]:
        name = str(decision.job)
        if decision.kind == "refuse":
            return [f"job {name} could never start under the highest cap; it stays held"]
        if decision.kind != "start":
            return []
        nodes = self.watcher.node_names(decision.control.nodes)
        if not self.act:
            return [f"would start {name} on {','.join(nodes)}"]
        label = self.watcher.told[name].label
        self.watcher.asked(name, now_s)
        try:
            self.slurm.start(label, nodes)
        except SlurmError as error:  # it may have done half: the next looks will tell
            return [f"job {name} could not be started: {error}"]
        self.done += 1
        return []
