"""Sorting as much of a queue with changing keys as a decision looks at.

Where keys change with time, the queue has to be sorted at every decision; but under a power cap
thousands of jobs may wait, and a decision often ends at the first. If the order can say how far a
key will fall by some time (`key_by`), a few entries at the front, the leaders, hold everything
that can be among the first until then: every other entry stays behind `leaders_key`. Only the
leaders are sorted, and those of them that are not behind `leaders_key` are the beginning of the
queue, exactly. Whoever goes on past them sorts the rest first.
"""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.contract import Composition, key_by, keys_change
from wattline.policies.queue import sort_part, sort_queue, swap_entries
from wattline.policies.state import State

ANCHORS = 16
"""The key of this entry is the one that all but the leaders have to stay behind."""

LEAD_S_MAX = 1e8
"""Further ahead no promise is asked for."""


@kernel
def sort_front(st: State, policy: Composition) -> None:
    """Bring the beginning of the queue, up to `clock.sorted_end`, into its order of now."""
    if not keys_change(st, policy.order):
        return
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
    if clock.reached <= ANCHORS and clock.queue_last - clock.queue_first >= 2 * ANCHORS:
        _find_leaders(st, policy)


@kernel
def sort_rest(st: State, policy: Composition, position: int) -> None:
    """Before the entry at `position` is looked at: see that it is the next in order."""
    clock = st.clock[0]
    if not keys_change(st, policy.order) or position < clock.sorted_end:
        return
    sort_part(st, policy, position, clock.queue_last)
    clock.sorted_end = clock.queue_last
    clock.leaders = 0


@kernel
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
