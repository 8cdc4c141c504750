"""What a controller does now and then beside its cycles: one thing at a time.

Saving the books, forgetting jobs that are over and looking for garbage take as long as a third of a
cycle each. None of them is urgent: the journal has all that was not saved. So no cycle does two of
them, and one that has written `machine.json` none, unless it is late.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

LATEST_S = 10.0
"""So late it is done in any cycle: where cycles are long, each of them writes `machine.json`."""
_NEVER = 1 << 30
"""So many smaller searches for garbage there are before a whole one: it is left to us."""


@dataclass
class Task:
    """Something that is due so often."""

    do: Callable[[], object]
    every_s: float
    done_s: float

    def late_s(self, now_s: float) -> float:
        return now_s - self.done_s - self.every_s


@dataclass
class Upkeep:
    """Does what is due for the longest time."""

    tasks: Sequence[Task]
    otherwise: Callable[[], object] = lambda: None
    """What is done in cycles in which nothing is due."""

    def __call__(self, now_s: float, *, busy: bool) -> None:
        """After a cycle; `busy`: it has done enough."""
        task = max(self.tasks, key=lambda each: each.late_s(now_s))
        if task.late_s(now_s) < (LATEST_S if busy else 0.0):
            self.otherwise()
            return
        task.do()
        task.done_s = now_s


@contextmanager
def settled() -> Iterator[None]:
    """What was loaded until now is not searched for garbage again: that takes half a cycle.

    The rest is not searched in the middle of a cycle: `gc.collect` is a task of the upkeep.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*before[:2], _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
