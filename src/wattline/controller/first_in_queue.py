"""Said once: that the first job of the queue waits for a higher cap, and how many behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wattline.books.stuck import first_stuck
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

    def __call__(self, cycle: Cycle) -> None:
        books = self.controller.books
        queue = queued_rows(books.state)
        now = (queue[0], cap_now_w(books)) if queue and self.controller.watcher.decides else None
        if now == self._looked_at:
            return
        self._looked_at = now
        found = first_stuck(books) if now is not None else None
        if found is not None:
            self.controller.notes.append(f"job {found.job} waits for a higher cap: "
                                         f"{found.sentence}")
