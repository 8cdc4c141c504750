"""The controller's cycle: look at Slurm, tell the books, write the journal, carry out.

What was decided is in the journal, on disk, before anything is done about it. Without `act` nothing
is done: what would be is said.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wattline.books import Books, Cancelled, Decision, Event, Refused, Started, Submitted
from wattline.books.waiting import left_w
from wattline.controller.hands import Hands
from wattline.controller.kept_jobs import say_unmanaged, tell_users
from wattline.controller.passing import let_go
from wattline.controller.reserved_jobs import let_in
from wattline.controller.watching import Watcher
from wattline.controller.wording import in_slurm_words
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import SlurmError
from wattline.policies.contract import Composition
from wattline.policies.state import REFUSED, RUNNING


@dataclass(frozen=True)
class Cycle:
    """What one cycle did."""

    time_s: float
    decisions: tuple[Decision, ...] = ()
    remarks: tuple[str, ...] = ()
    """What went wrong, was refused, or would be done."""
    looked: bool = True
    """Whether Slurm answered; otherwise nothing was decided."""


@dataclass
class Controller:
    """Decides what starts, when and where; Slurm carries it out."""

    books: Books
    slurm: Slurm
    watcher: Watcher
    act: bool = False
    clock: Callable[[], float] = time.time
    sources: Sequence[Callable[[float], Sequence[Event]]] = ()
    """What tells events beside Slurm: meters, a cap that follows a file, orders of people."""
    urgent: Sequence[Callable[[float], Sequence[Event]]] = ()
    """Those of them that do not wait for Slurm's answer: what they tell may lower caps of nodes."""
    listeners: Sequence[Callable[[Cycle], None]] = ()
    """What is done after each cycle, with what it did."""
    hands: Hands = field(default_factory=Hands)
    why: Callable[[str], str] = lambda label: ""
    """A reason for which a held job of ours waits, where others than the books decide."""
    ended: Callable[[list[Event], float], list[Event]] = lambda events, now_s: events
    """Adds to the ends of jobs what these have drawn, where that is measured."""
    notes: list[str] = field(default_factory=list)
    """What sources and listeners have to say; the next cycle says it."""
    took_over: bool = False
    """Whether another policy decides since the last step: it is asked though nothing happened."""
    refused: list[Refused] = field(default_factory=list)
    """What the books did not take since the last cycle ended."""
    turned_away: dict[str, str] = field(default_factory=dict)
    """Jobs that the books did not take, and why, by name, as long as Slurm shows them."""
    _told_again: set[str] = field(default_factory=set, init=False)
    """Jobs that run and that the books did not take at first: it is said once."""
    _behind: bool = field(default=False, init=False)
    """Whether jobs were seen of which the books have not been told yet."""
    _attended: bool = field(default=False, init=False)
    """Whether the books were told something since the policy was last asked."""

    def __post_init__(self) -> None:
        self.watcher.knows = self._knows
        self.watcher.place_of = self._place
        self.watcher.counted_w = self._counted_w
        self.watcher.booked_w = self._booked_w

    def cycle(self) -> Cycle:
        done = self._cycle()
        for listener in self.listeners:
            listener(done)
        self.watcher.freed.flush()
        self.refused.clear()
        return done

    def attend(self) -> None:
        """Tell the books what cannot wait for Slurm; what follows from it the next cycle decides.
        """
        if self._behind:  # a moment later they are told of what runs, and then of its watts
            return
        now_s = self.now_s()
        events = [event for source in self.urgent for event in source(now_s)]
        if events or self.books.next_s() <= now_s:  # watts that were reserved ahead may begin
            self.tell(events)

    def tell(self, events: Sequence[Event]) -> None:
        """Let the books know something between two decisions; the next cycle asks the policy."""
        self.books.apply(self.now_s(), events)
        self._attended = True
        self.notes += self._not_taken()

    def _knows(self, name: str) -> bool:
        return name in self.books.roll or name in self.books.roll.over

    def _place(self, name: str) -> tuple[float, int] | None:
        return self.books.place(name)

    def _counted_w(self, name: str) -> float:
        roll = self.books.roll
        return float(self.books.state.live[roll.row(name)].watts) if name in roll else math.nan

    def _booked_w(self, name: str) -> float:
        roll = self.books.roll
        live = self.books.state.live
        if name not in roll or int(live[roll.row(name)].state) != RUNNING:
            return math.nan
        return float(live[roll.row(name)].power_w)

    def booked_j(self, name: str) -> float:
        """Return a running job's energy until now by the books; NaN where they do not know it."""
        roll = self.books.roll
        if name not in roll:
            return math.nan
        live = self.books.state.live[roll.row(name)]
        return float(live.energy_j + live.power_w * max(self.now_s() - live.updated_s, 0.0))

    def _cycle(self) -> Cycle:
        try:
            seen = self.slurm.look()
        except SlurmError as error:
            self.attend()
            return Cycle(self.now_s(), remarks=(*self._noted(), str(error)), looked=False)
        self._behind = True
        news = self.watcher.news(seen)
        self.hands.caps.follow(self.watcher)
        self._told_again &= self.watcher.told.keys()
        self.turned_away = {name: reason for name, reason in self.turned_away.items()
                            if name in self.watcher.told}
        now_s = self.now_s()
        remarks = list(news.remarks)
        events = self.ended(news.events, now_s)
        events += [event for source in self.sources for event in source(now_s)]
        if news.applied:
            self.books.apply(now_s, news.applied)
            remarks += self._not_taken()
        decisions: tuple[Decision, ...] = ()
        # As in a simulation, a policy is asked when something happens or when it wanted to be.
        if (events or news.applied or self.books.untold or self.took_over or self._attended
                or self.books.next_s() <= now_s):
            decisions = self.books.step(now_s, events)
            self.took_over = self._attended = False
            remarks += self._not_taken()
        self._behind = False
        remarks += self._withdraw(news.withdrawn) + tell_users(self, news)
        remarks += let_go(self, news.let_go)
        remarks += let_in(self, news.reserved, left_w(self.books.state))
        remarks += self.hands.carry_out(self, decisions, now_s)
        return Cycle(now_s, decisions, (*self._noted(), *remarks))

    def change_policy(
        self, policy: Composition, scenario: Mapping[str, Any], now_s: float
    ) -> None:
        """From now on this policy decides, which was made from a scenario; the journal says so."""
        self.books.apply(now_s, ())
        self.books = self.books.with_policy(policy, scenario)
        self.took_over = True

    def _not_taken(self) -> list[str]:
        """What the books refused; a job whose submission it was says so to its user."""
        said: list[str] = []
        self.refused += self.books.refused
        for refused in self.books.refused:
            reason = in_slurm_words(refused.reason, self.watcher.node_names, self.watcher.units)
            event = refused.event
            if isinstance(event, Cancelled) and not self._waits(str(event.job)):
                continue  # a job that was refused is withdrawn: the books waited for it no more
            if isinstance(event, Started) and event.job in self.watcher.told:
                said += self._tell_again(str(event.job), reason)
                continue
            if not isinstance(event, Submitted) or event.job not in self.watcher.told:
                said.append(f"the books do not take what they are told: {reason}")
                continue
            said.append(reason)
            name = str(event.job)
            self.turned_away[name] = reason.removeprefix(f"job {name}: ")
            said += say_unmanaged(
                self, [(self.watcher.told[name].label, self.turned_away[name])])
        return said

    def _waits(self, name: str) -> bool:
        """Whether the books have a job of this name that they did not refuse."""
        roll = self.books.roll
        return name in roll and int(self.books.state.live[roll.row(name)].state) != REFUSED

    def _tell_again(self, name: str, reason: str) -> list[str]:
        """A job runs and the books do not know it: at the next look they may."""
        if name in self.turned_away:
            return []
        live, roll = self.books.state.live, self.books.roll
        self.watcher.not_taken(
            name, running=name in roll and int(live[roll.row(name)].state) == RUNNING)
        if name in self._told_again:
            return []
        self._told_again.add(name)
        return [f"the books do not take that job {name} runs, and are told again: {reason}"]

    def _noted(self) -> list[str]:
        noted = list(self.notes)
        self.notes.clear()
        return noted

    def now_s(self) -> float:
        """Never back: a clock that is set back stands still for the books."""
        return max(self.clock(), self.books.now_s)

    def _withdraw(self, labels: Sequence[str]) -> list[str]:
        """Hold what did not start again: Slurm would start it when the books count on nothing."""
        said = []
        self.watcher.freed.take_back(labels)
        for label in labels if self.act else ():
            try:
                self.slurm.withdraw(label)
            except SlurmError as error:  # it may have begun or gone: the next look will tell
                said.append(str(error))
        return said
