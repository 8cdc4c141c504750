"""A run that begins many times from the same point: one set of arrays, filled anew each time.

To allocate and to fill all arrays costs as much as a short run. So the memory stays, and only what
a run reads before it writes is put back: not the log, which nobody reads, not what jobs asked for,
which does not change, and of lists only what they hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wattline.books.record import LOG
from wattline.books.world import copied_world
from wattline.engine.compiling import Parts
from wattline.model.kernel_arrays import KernelArrays
from wattline.model.records import as_bytes
from wattline.policies.memory import each_memory
from wattline.policies.state import BLOCK, State

UNREAD = frozenset(("scratch", "scratch_nodes", "no_room", "actions", "jobs", *LOG, "spans"))
"""Arrays of state and record that need not be as they were."""


class Again:
    """Own copies of state, record, world and policy; the pattern must not change meanwhile.

    Another pattern whose arrays are as long, like another candidate of the same moment, is taken
    into the same memory. `beside` are arrays of the state that whoever begins puts back himself.
    """

    def __init__(self, beside: tuple[str, ...] = ()) -> None:
        self._unread = UNREAD.union(beside)
        self._state: State | None = None
        self._own: Parts | None = None
        self._pairs: list[tuple[Any, Any]] = []

    def take(self, pattern: Parts) -> None:
        """From now on begin from here."""
        state, record, world, policy = pattern
        if self._state is not None and _as_long(self._state, state):
            as_bytes(self._state.jobs)[:] = as_bytes(state.jobs)
        else:
            self._state = state.copy()
        self._own = (self._state, record.copy(), copied_world(world),
                     each_memory(policy, lambda memory: memory.copy()))
        self._pairs = []
        for before, own in zip(_bundles(pattern), _bundles(self._own), strict=True):
            kept = before is state or before is record
            held = _held(pattern) if before is state else {}
            for name in before.FIELDS:
                if not (kept and name in self._unread):
                    count = held.get(name)
                    self._pairs.append((as_bytes(getattr(own, name)[:count]),
                                        as_bytes(getattr(before, name)[:count])))

    def begin(self) -> Parts:
        """The copies, as the pattern is."""
        assert self._own is not None
        for own, before in self._pairs:
            own[:] = before
        return self._own


def _held(pattern: Parts) -> dict[str, int]:
    """How much of the lists of a state is in use."""
    state, record, _, _ = pattern
    clock = state.clock[0]
    blocks = state.blocks.order[: clock.blocks]
    return {"queue": int(clock.queue_last), "aside": int(clock.aside),
            "timers": int(record.meter[0].timers), "profile": int(clock.step_last),
            "releases": BLOCK * (int(blocks.max()) + 1) if len(blocks) else 0}


def _as_long(one: State, other: State) -> bool:
    return all(getattr(one, name).shape == getattr(other, name).shape for name in State.FIELDS)


def _bundles(parts: Any) -> Iterator[KernelArrays]:
    if isinstance(parts, KernelArrays):
        yield parts
    elif isinstance(parts, tuple):
        for part in parts:
            yield from _bundles(part)
