"""Sorting as much of a queue with changing keys as a decision looks at.

Where keys change with time, the queue has to be sorted at every decision; but under a power cap
thousands of jobs may wait, and a decision often ends at the first. If the order can say how far a
key will fall by some time (`key_by`), a few entries at the front, the leaders, hold everything
that can be among the first until then: every other entry stays behind `leaders_key`. Only the
leaders are sorted, and those of them that are not behind `leaders_key` are the beginning of the
queue, exactly. Whoever goes on past them sorts the rest first.

Orders that use this say so with `uses_leaders`; for all others nothing of it is compiled.
"""

from __future__ import annotations

from typing import Any, TypeVar

from wattline.model.kernel import implement, kernel, kernel_part, slot
from wattline.policies.contract import Composition, key_by
from wattline.policies.queue import join_leaders, sort_part, sort_queue, swap_entries
from wattline.policies.state import State

T = TypeVar("T", bound=type)

ANCHORS = 16
"""The key of this entry is the one that all but the leaders have to stay behind."""

LEAD_S_MAX = 1e8
"""Further ahead no promise is asked for."""


@slot(1, default=True)
def sort_front(st: State, order: Any, policy: Composition) -> None:
    """Bring the beginning of the queue, up to `clock.sorted_end`, into its order of now."""
    sort_queue(st, policy)


@slot(1, default=True)
def sort_rest(st: State, order: Any, policy: Composition, position: int) -> None:
    """Before the entry at `position` is looked at: see that it is the next in order."""
    return


@slot(1, default=True)
def sorted_until(st: State, order: Any) -> int:
    """Entries before this position are in order; `sort_rest` sees to those from there on."""
    return int(st.clock[0].queue_last)


def uses_leaders(order: T) -> T:
    """Mark an order that implements `key_by`."""
    implement(sort_front, order)(_sort_front)
    implement(sort_rest, order)(_sort_rest)
    implement(sorted_until, order)(_sorted_until)
    implement(join_leaders, order)(_join_leaders)
    return order


@kernel
def _sort_front(st: State, order: Any, policy: Composition) -> None:
    clock = st.clock[0]
    if clock.leaders > 0 and clock.now_s <= clock.leaders_until_s:
        first = clock.queue_first
        zone_end = first + clock.leaders
        sort_part(st, policy, first, zone_end)
        end = first
        while end < zone_end and st.queue[end].key <= clock.leaders_key:
            end += 1
        if end > first:
            clock.examined = 0
            clock.sorted_end = end
            return
    sort_queue(st, policy)
    clock.leaders = 0
    clock.sorted_end = clock.queue_last
    if clock.reached <= ANCHORS and clock.queue_last - clock.queue_first >= 2 * ANCHORS:
        _find_leaders(st, policy)


@kernel
def _sorted_until(st: State, order: Any) -> int:
    return int(st.clock[0].sorted_end)


@kernel
def _sort_rest(st: State, order: Any, policy: Composition, position: int) -> None:
    clock = st.clock[0]
    if position >= clock.sorted_end:
        sort_part(st, policy, position, clock.queue_last)
        clock.sorted_end = clock.queue_last
        clock.leaders = 0


@kernel
def _join_leaders(st: State, order: Any, index: int) -> None:
    clock = st.clock[0]
    zone_end = clock.queue_first + clock.leaders
    if clock.leaders == 0:
        return
    if index < zone_end:
        clock.leaders += 1
    elif key_by(st, order, st.queue[index].job, clock.leaders_until_s) <= clock.leaders_key:
        swap_entries(st, index, zone_end)
        clock.leaders += 1


@kernel_part
def _find_leaders(st: State, policy: Composition) -> None:
    """The queue is sorted: bring forward what can be among the first for some time to come."""
    clock = st.clock[0]
    first = clock.queue_first
    if key_by(st, policy.order, st.queue[first].job, clock.now_s) == -float("inf"):
        return  # the order makes no promise
    limit = st.queue[first + ANCHORS - 1].key
    until_s = clock.now_s + clock.lead_s
    zone_end = first + ANCHORS
    for position in range(zone_end, clock.queue_last):
        if key_by(st, policy.order, st.queue[position].job, until_s) <= limit:
            swap_entries(st, position, zone_end)
            zone_end += 1
    clock.leaders = zone_end - first
    clock.leaders_key = limit
    clock.leaders_until_s = until_s
    clock.sorted_end = first + ANCHORS
    # Many leaders are as dear as a sorted queue; a time that is soon over is, too.
    if clock.leaders > 4 * ANCHORS:
        clock.lead_s /= 2.0
    elif clock.leaders < 2 * ANCHORS:
        clock.lead_s = min(2.0 * clock.lead_s, LEAD_S_MAX)
