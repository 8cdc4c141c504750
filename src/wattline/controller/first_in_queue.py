"""Said once: jobs that wait for a higher cap, set aside or first of the queue with all behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wattline.books.stuck import Stuck, first_stuck, set_aside
from wattline.books.waiting import queued_rows
from wattline.controller.resting import cap_now_w

if TYPE_CHECKING:
    from wattline.controller.controller import Controller, Cycle


@dataclass
class FirstInQueue:
    """Listens to the cycles of a controller that decides."""

    controller: Controller
    _looked_at: tuple[int, float] | None = field(default=None, init=False)
    """Which row was the first under which cap when it was last tried."""
    _aside: frozenset[Any] = field(default=frozenset(), init=False)
    """Jobs of which it was said that they are set aside."""

    def __call__(self, cycle: Cycle) -> None:
        books = self.controller.books
        self._say_aside(set_aside(books) if self.controller.watcher.decides else [])
        queue = queued_rows(books.state)
        now = (queue[0], cap_now_w(books)) if queue and self.controller.watcher.decides else None
        if now == self._looked_at:
            return
        self._looked_at = now
        found = first_stuck(books) if now is not None else None
        if found is not None and not found.aside:
            self.controller.notes.append(f"job {found.job} waits for a higher cap: "
                                         f"{found.sentence}")

    def _say_aside(self, found: list[Stuck]) -> None:
        """Of each job once, until it is back in the queue."""
        self.controller.notes += [f"job {each.job} waits for a higher cap: {each.sentence}"
                                  for each in found if each.job not in self._aside]
        self._aside = frozenset(each.job for each in found)
