"""The placements, one function each, but for those that read counters (`by_key`)."""

from __future__ import annotations

from typing import Any

from wattline.model.kernel import kernel


@kernel
def _random(room: Any, below: int) -> int:
    """A random number below a bound: a Lehmer sequence, the same compiled and plain."""
    room.seed[0] = room.seed[0] * 48271 % 2147483647
    return int(room.seed[0] % below)


@kernel
def _take_router(layout: Any, free: Any, wanted: int, room: Any, router: int,
                 count: int) -> int:
    """Take the free nodes of a router in label order until all wanted are chosen."""
    for node in range(layout.first_node[router], layout.first_node[router + 1]):
        if count == wanted:
            break
        if free[node]:
            room.chosen[count] = node
            count += 1
    return count


@kernel
def count_idle(layout: Any, free: Any, room: Any) -> None:
    """Free nodes of each router."""
    for router in range(room.idle.size):
        found = 0
        for node in range(layout.first_node[router], layout.first_node[router + 1]):
            found += int(free[node])  # no branch: it would be guessed wrong half of the time
        room.idle[router] = found


@kernel
def simple(layout: Any, free: Any, wanted: int, room: Any) -> None:
    """The first free nodes in label order."""
    count = 0
    node = 0
    while count < wanted:
        if free[node]:
            room.chosen[count] = node
            count += 1
        node += 1


@kernel
def from_the_end(layout: Any, free: Any, wanted: int, room: Any) -> None:
    """The last free nodes, from the last one down."""
    count = 0
    node = layout.router.size - 1
    while count < wanted:
        if free[node]:
            room.chosen[count] = node
            count += 1
        node -= 1


@kernel
def slurm(layout: Any, free: Any, wanted: int, room: Any) -> None:
    """Slurm's rule for dragonflies: the first router that fits the job, else fewest idle first."""
    count_idle(layout, free, room)
    for router in range(room.idle.size):
        if room.idle[router] >= wanted:
            _take_router(layout, free, wanted, room, router, 0)
            return
    _by_idle(layout, free, wanted, room, False)


@kernel
def fewer_router(layout: Any, free: Any, wanted: int, room: Any) -> None:
    """Routers with the most idle nodes first, so that the job touches few of them."""
    count_idle(layout, free, room)
    _by_idle(layout, free, wanted, room, True)


@kernel
def _by_idle(layout: Any, free: Any, wanted: int, room: Any, most_first: bool) -> None:
    """Take whole routers by the number of their idle nodes, ties in label order."""
    # A counting sort, since a router has few nodes.
    counts = room.counts
    for i in range(counts.size):
        counts[i] = 0
    for router in range(room.idle.size):
        counts[room.idle[router]] += 1
    before = 0
    for i in range(counts.size):
        bucket = counts.size - 1 - i if most_first else i
        here = counts[bucket]
        counts[bucket] = before
        before += here
    for router in range(room.idle.size):
        room.routers[counts[room.idle[router]]] = router
        counts[room.idle[router]] += 1
    count = 0
    for i in range(room.idle.size):
        if count == wanted:
            break
        count = _take_router(layout, free, wanted, room, room.routers[i], count)


@kernel
def rdn(layout: Any, free: Any, wanted: int, room: Any) -> None:
    """Nodes drawn at random from the whole machine."""
    pool = room.nodes
    size = 0
    for node in range(layout.router.size):
        pool[size] = node
        size += int(free[node])
    for i in range(wanted):
        other = i + _random(room, size - i)
        pool[i], pool[other] = pool[other], pool[i]
        room.chosen[i] = pool[i]


@kernel
def rdr(layout: Any, free: Any, wanted: int, room: Any) -> None:
    """Routers drawn at random, each with its idle nodes in label order."""
    count_idle(layout, free, room)
    pool = room.routers
    size = 0
    for router in range(room.idle.size):
        pool[size] = router
        size += room.idle[router] > 0
    count, i = 0, 0
    while count < wanted:
        other = i + _random(room, size - i)
        pool[i], pool[other] = pool[other], pool[i]
        count = _take_router(layout, free, wanted, room, pool[i], count)
        i += 1


@kernel
def rdg(layout: Any, free: Any, wanted: int, room: Any) -> None:
    """Groups drawn at random, each with its idle nodes in label order."""
    pool = room.routers
    size = layout.first_router.size - 1
    for group in range(size):
        pool[group] = group
    count, i = 0, 0
    while count < wanted:
        other = i + _random(room, size - i)
        pool[i], pool[other] = pool[other], pool[i]
        for router in range(layout.first_router[pool[i]], layout.first_router[pool[i] + 1]):
            count = _take_router(layout, free, wanted, room, router, count)
        i += 1


@kernel
def rrn(layout: Any, free: Any, wanted: int, room: Any) -> None:
    """One node from each group in turn, in label order within the group."""
    groups = layout.first_router.size - 1
    at = room.routers
    for group in range(groups):
        at[group] = layout.first_node[layout.first_router[group]]
    count = 0
    while count < wanted:
        for group in range(groups):
            if count == wanted:
                break
            end = layout.first_node[layout.first_router[group + 1]]
            while at[group] < end and not free[at[group]]:
                at[group] += 1
            if at[group] < end:
                room.chosen[count] = at[group]
                at[group] += 1
                count += 1


@kernel
def rrr(layout: Any, free: Any, wanted: int, room: Any) -> None:
    """One router from each group in turn, with all of its idle nodes."""
    count_idle(layout, free, room)
    groups = layout.first_router.size - 1
    at = room.routers
    for group in range(groups):
        at[group] = layout.first_router[group]
    count = 0
    while count < wanted:
        for group in range(groups):
            if count == wanted:
                break
            end = layout.first_router[group + 1]
            while at[group] < end and room.idle[at[group]] == 0:
                at[group] += 1
            if at[group] < end:
                count = _take_router(layout, free, wanted, room, at[group], count)
                at[group] += 1


@kernel
def _idle_of_group(layout: Any, room: Any, group: int) -> int:
    total = 0
    for router in range(layout.first_router[group], layout.first_router[group + 1]):
        total += room.idle[router]
    return total


@kernel
def level_spread(layout: Any, free: Any, wanted: int, room: Any) -> None:
    """Spread the job in the smallest level that it fits in: a router, a group, the machine.

    Of the routers, or groups, that fit, it takes the one with the most idle nodes, and inside
    a group it takes nodes from the routers in turn.
    """
    count_idle(layout, free, room)
    best = 0
    for router in range(room.idle.size):
        if room.idle[router] > room.idle[best]:
            best = router
    if room.idle[best] >= wanted:
        _take_router(layout, free, wanted, room, best, 0)
        return
    best, most = 0, -1
    for group in range(layout.first_router.size - 1):
        total = _idle_of_group(layout, room, group)
        if total > most:
            best, most = group, total
    if most < wanted:
        rrn(layout, free, wanted, room)
        return
    _in_turn(layout, free, wanted, room, best)


@kernel
def _in_turn(layout: Any, free: Any, wanted: int, room: Any, group: int) -> None:
    """One node from each router of a group in turn."""
    low, high = layout.first_router[group], layout.first_router[group + 1]
    at = room.routers
    for router in range(low, high):
        at[router] = layout.first_node[router]
    count = 0
    while count < wanted:
        for router in range(low, high):
            if count == wanted:
                break
            end = layout.first_node[router + 1]
            while at[router] < end and not free[at[router]]:
                at[router] += 1
            if at[router] < end:
                room.chosen[count] = at[router]
                at[router] += 1
                count += 1


@kernel
def jokanovic(layout: Any, free: Any, wanted: int, room: Any) -> None:
    """Small and large jobs from the two ends of the machine, with a boundary that moves.

    A job that fits a group goes to the first group that has room for it; a larger one takes the
    last nodes. The boundary lies wherever the two have met so far.
    """
    count_idle(layout, free, room)
    widest = 0
    for group in range(layout.first_router.size - 1):
        nodes = (layout.first_node[layout.first_router[group + 1]]
                 - layout.first_node[layout.first_router[group]])
        widest = max(widest, nodes)
    if wanted > widest:
        from_the_end(layout, free, wanted, room)
        return
    for group in range(layout.first_router.size - 1):
        if _idle_of_group(layout, room, group) >= wanted:
            count = 0
            for router in range(layout.first_router[group], layout.first_router[group + 1]):
                count = _take_router(layout, free, wanted, room, router, count)
            return
    simple(layout, free, wanted, room)
