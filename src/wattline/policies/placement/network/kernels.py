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
    _sort_by_idle(room, 0, room.idle.size, most_first)
    count = 0
    for i in range(room.idle.size):
        if count == wanted:
            break
        count = _take_router(layout, free, wanted, room, room.routers[i], count)


@kernel
def _sort_by_idle(room: Any, low: int, high: int, most_first: bool) -> None:
    """Write the routers from `low` up to `high` in order of their idle nodes, ties by label."""
    # A counting sort, since a router has few nodes.
    _count_by_idle(room, low, high)
    counts = room.counts
    before = 0
    for i in range(counts.size):
        bucket = counts.size - 1 - i if most_first else i
        here = counts[bucket]
        counts[bucket] = before
        before += here
    for router in range(low, high):
        room.routers[counts[room.idle[router]]] = router
        counts[room.idle[router]] += 1


@kernel
def _count_by_idle(room: Any, low: int, high: int) -> None:
    """Count the routers from `low` up to `high` by their idle nodes."""
    for i in range(room.counts.size):
        room.counts[i] = 0
    for router in range(low, high):
        room.counts[room.idle[router]] += 1


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


@kernel
def best_fit(layout: Any, free: Any, wanted: int, room: Any) -> None:
    """Put the job on the fewest switches, and of several that do on the one with least to spare.

    It goes to one router, else to one group, where there is one that it fits in; of groups to the
    one where it takes the fewest routers. Where it fits in none, it takes the most idle group, and
    what is left goes on in the same way.
    """
    count_idle(layout, free, room)
    count = 0
    while count < wanted:
        left = wanted - count
        router = _tightest(room, 0, room.idle.size, left)
        if router >= 0:
            count = _take_router(layout, free, wanted, room, router, count)
            continue
        group = _tightest_group(layout, room, left)
        low, high = layout.first_router[group], layout.first_router[group + 1]
        _sort_by_idle(room, low, high, True)
        for i in range(high - low):
            router = room.routers[i]
            if room.idle[router] >= wanted - count:
                router = _tightest(room, low, high, wanted - count)
            count = _take_router(layout, free, wanted, room, router, count)
            room.idle[router] = 0
            if count == wanted:
                break


@kernel
def _tightest(room: Any, low: int, high: int, wanted: int) -> int:
    """The router from `low` up to `high` with the fewest idle nodes that suffice; -1 for none."""
    best = -1
    for router in range(low, high):
        if room.idle[router] >= wanted and (best < 0 or room.idle[router] < room.idle[best]):
            best = router
    return best


@kernel
def _tightest_group(layout: Any, room: Any, wanted: int) -> int:
    """The group that gives so many nodes from the fewest routers, then the least idle one; where
    no group has so many, the most idle one."""
    best, fewest, least = -1, 0, 0
    largest, most = 0, -1
    for group in range(layout.first_router.size - 1):
        total = _idle_of_group(layout, room, group)
        if total > most:
            largest, most = group, total
        if total < wanted:
            continue
        routers = _routers_needed(layout, room, group, wanted)
        if best < 0 or routers < fewest or (routers == fewest and total < least):
            best, fewest, least = group, routers, total
    return largest if best < 0 else best


@kernel
def _routers_needed(layout: Any, room: Any, group: int, wanted: int) -> int:
    """Count the routers of the group that give so many nodes, the most idle ones first."""
    _count_by_idle(room, layout.first_router[group], layout.first_router[group + 1])
    routers, left = 0, wanted
    for i in range(room.counts.size - 1, 0, -1):
        need = min(room.counts[i], (left + i - 1) // i)
        routers += need
        left -= need * i
        if left <= 0:
            break
    return routers
