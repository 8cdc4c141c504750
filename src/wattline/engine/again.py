"""A run that begins many times from the same point: one set of arrays, filled anew each time.

To allocate and to fill all arrays costs as much as a short run. So the memory stays, and only what
a run reads before it writes is put back: not the log, which nobody reads, not what jobs asked for,
which does not change, and of lists only what they hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wattline.books.record import LOG
from wattline.books.world import copied_world
from wattline.engine.compiling import Parts
from wattline.model.kernel_arrays import KernelArrays
from wattline.policies.memory import each_memory

UNREAD = frozenset(("scratch", "scratch_nodes", "actions", "jobs", *LOG, "spans"))
"""Arrays of state and record that need not be as they were."""


class Again:
    """Own copies of state, record, world and policy; the pattern must not change meanwhile."""

    def __init__(self, pattern: Parts) -> None:
        state, record, world, policy = pattern
        self._own: Parts = (state.copy(), record.copy(), copied_world(world),
                            each_memory(policy, lambda memory: memory.copy()))
        clock, meter = state.clock[0], record.meter[0]
        held = {"queue": int(clock.queue_last), "aside": int(clock.aside),
                "timers": int(meter.timers), "profile": int(clock.step_last)}
        self._pairs: list[tuple[Any, Any]] = []
        for before, own in zip(_bundles(pattern), _bundles(self._own), strict=True):
            kept = before is state or before is record
            for name in before.FIELDS:
                if not (kept and name in UNREAD):
                    count = held.get(name) if before is state else None
                    self._pairs.append((_bytes(getattr(own, name)[:count]),
                                        _bytes(getattr(before, name)[:count])))

    def begin(self) -> Parts:
        """The copies, as the pattern is."""
        for own, before in self._pairs:
            own[:] = before
        return self._own


def _bundles(parts: Any) -> Iterator[KernelArrays]:
    if isinstance(parts, KernelArrays):
        yield parts
    elif isinstance(parts, tuple):
        for part in parts:
            yield from _bundles(part)


def _bytes(array: Any) -> Any:
    """The same memory as bytes, which are copied at once whatever they stand for."""
    return array.view(np.ndarray).view(np.uint8)
