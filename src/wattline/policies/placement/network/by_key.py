"""Routers by what their counters show: the quietest first, or the busiest."""

from __future__ import annotations

from typing import Any

from wattline.model.kernel import kernel
from wattline.policies.placement.network.kernels import count_idle


@kernel
def by_key(layout: Any, free: Any, wanted: int, room: Any, key: Any, sign: float) -> None:
    """Take routers in the order of `sign * key`, ties in label order.

    A sort is not needed: weighted selection finds the value up to which routers are taken, in
    linear time on average. The nodes are left in label order.
    """
    count_idle(layout, free, room)
    size = 0
    for router in range(room.idle.size):
        if room.idle[router] > 0:
            room.routers[size] = router
            room.values[size] = sign * key[router]
            size += 1
    cut, under = _select(room, size, wanted)
    at_cut = wanted - under
    count = 0
    for router in range(room.idle.size):
        value = sign * key[router]
        if room.idle[router] == 0 or value > cut:
            continue
        for node in range(layout.first_node[router], layout.first_node[router + 1]):
            if not free[node]:
                continue
            if value == cut:
                if at_cut == 0:
                    break
                at_cut -= 1
            room.chosen[count] = node
            count += 1


@kernel
def _select(room: Any, size: int, wanted: int) -> tuple[float, int]:
    """The value at which the idle nodes of the routers up to it reach `wanted`, and how many
    idle nodes the routers strictly below it have."""
    value, pool = room.values, room.routers
    low, high = 0, size
    before = 0
    while True:
        one, two, three = value[low], value[(low + high) // 2], value[high - 1]
        pivot = max(min(one, two), min(max(one, two), three))
        left, middle, right = low, low, high
        under, equal = 0, 0
        while middle < right:
            if value[middle] < pivot:
                under += room.idle[pool[middle]]
                value[left], value[middle] = value[middle], value[left]
                pool[left], pool[middle] = pool[middle], pool[left]
                left += 1
                middle += 1
            elif value[middle] > pivot:
                right -= 1
                value[right], value[middle] = value[middle], value[right]
                pool[right], pool[middle] = pool[middle], pool[right]
            else:
                equal += room.idle[pool[middle]]
                middle += 1
        if before + under >= wanted:
            high = left
        elif before + under + equal >= wanted:
            return float(pivot), int(before + under)
        else:
            before += under + equal
            low = right
