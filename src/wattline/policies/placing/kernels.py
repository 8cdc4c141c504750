"""The placements, one function each; `seed` is the state of the random ones, changed in place."""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import kernel


@kernel
def _random(seed, below):
    """A random number below a bound: a Lehmer sequence, the same compiled and plain."""
    seed[0] = seed[0] * 48271 % 2147483647
    return seed[0] % below


@kernel
def _take_router(layout, free, router, chosen, count):
    """Take the free nodes of a router in label order until all wanted are chosen."""
    for node in range(layout.first_node[router], layout.first_node[router + 1]):
        if count == len(chosen):
            break
        if free[node]:
            chosen[count] = node
            count += 1
    return count


@kernel
def idle_by_router(layout, free):
    """Free nodes of each router."""
    idle = np.zeros(len(layout.first_node) - 1, dtype=np.int64)
    for router in range(len(idle)):
        for node in range(layout.first_node[router], layout.first_node[router + 1]):
            idle[router] += free[node]  # no branch: it would be guessed wrong half of the time
    return idle


@kernel
def simple(layout, free, wanted):
    """The first free nodes in label order."""
    chosen = np.empty(wanted, dtype=np.int64)
    count = 0
    for node in range(len(free)):
        if count == wanted:
            break
        if free[node]:
            chosen[count] = node
            count += 1
    return chosen


@kernel
def from_the_end(layout, free, wanted):
    """The last free nodes, from the last one down."""
    chosen = np.empty(wanted, dtype=np.int64)
    count = 0
    for node in range(len(free) - 1, -1, -1):
        if count == wanted:
            break
        if free[node]:
            chosen[count] = node
            count += 1
    return chosen


@kernel
def slurm(layout, free, wanted):
    """Slurm's rule for dragonflies: the first router that fits the job, else fewest idle first."""
    idle = idle_by_router(layout, free)
    chosen = np.empty(wanted, dtype=np.int64)
    for router in range(len(idle)):
        if idle[router] >= wanted:
            _take_router(layout, free, router, chosen, 0)
            return chosen
    return _by_idle(layout, free, idle, chosen, False)


@kernel
def fewer_router(layout, free, wanted):
    """Routers with the most idle nodes first, so that the job touches few of them."""
    idle = idle_by_router(layout, free)
    return _by_idle(layout, free, idle, np.empty(wanted, dtype=np.int64), True)


@kernel
def _by_idle(layout, free, idle, chosen, most_first):
    """Take whole routers by the number of their idle nodes, ties in label order."""
    widest = 0
    for router in range(len(idle)):
        widest = max(widest, idle[router])
    # A counting sort, since a router has few nodes.
    start = np.zeros(widest + 2, dtype=np.int64)
    for router in range(len(idle)):
        start[idle[router] + 1] += 1
    for i in range(widest + 1):
        start[i + 1] += start[i]
    order = np.empty(len(idle), dtype=np.int64)
    filled = start[:-1].copy()
    for router in range(len(idle)):
        order[filled[idle[router]]] = router
        filled[idle[router]] += 1
    count = 0
    for step in range(1, widest + 1):
        bucket = widest + 1 - step if most_first else step
        for i in range(start[bucket], start[bucket + 1]):
            if count == len(chosen):
                return chosen
            count = _take_router(layout, free, order[i], chosen, count)
    return chosen


@kernel
def rdn(layout, free, wanted, seed):
    """Nodes drawn at random from the whole machine."""
    pool = np.flatnonzero(free)
    for i in range(wanted):
        other = i + _random(seed, len(pool) - i)
        pool[i], pool[other] = pool[other], pool[i]
    return pool[:wanted].copy()


@kernel
def rdr(layout, free, wanted, seed):
    """Routers drawn at random, each with its idle nodes in label order."""
    pool = np.flatnonzero(idle_by_router(layout, free))
    chosen = np.empty(wanted, dtype=np.int64)
    count, i = 0, 0
    while count < wanted:
        other = i + _random(seed, len(pool) - i)
        pool[i], pool[other] = pool[other], pool[i]
        count = _take_router(layout, free, pool[i], chosen, count)
        i += 1
    return chosen


@kernel
def rdg(layout, free, wanted, seed):
    """Groups drawn at random, each with its idle nodes in label order."""
    pool = np.arange(len(layout.first_router) - 1)
    chosen = np.empty(wanted, dtype=np.int64)
    count, i = 0, 0
    while count < wanted:
        other = i + _random(seed, len(pool) - i)
        pool[i], pool[other] = pool[other], pool[i]
        for router in range(layout.first_router[pool[i]], layout.first_router[pool[i] + 1]):
            count = _take_router(layout, free, router, chosen, count)
        i += 1
    return chosen


@kernel
def rrn(layout, free, wanted):
    """One node from each group in turn, in label order within the group."""
    groups = len(layout.first_router) - 1
    chosen = np.empty(wanted, dtype=np.int64)
    at = np.empty(groups, dtype=np.int64)
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
                chosen[count] = at[group]
                at[group] += 1
                count += 1
    return chosen


@kernel
def rrr(layout, free, wanted):
    """One router from each group in turn, with all of its idle nodes."""
    groups = len(layout.first_router) - 1
    idle = idle_by_router(layout, free)
    chosen = np.empty(wanted, dtype=np.int64)
    at = layout.first_router[:-1].copy()
    count = 0
    while count < wanted:
        for group in range(groups):
            if count == wanted:
                break
            while at[group] < layout.first_router[group + 1] and idle[at[group]] == 0:
                at[group] += 1
            if at[group] < layout.first_router[group + 1]:
                count = _take_router(layout, free, at[group], chosen, count)
                at[group] += 1
    return chosen


@kernel
def _idle_of_group(layout, idle, group):
    total = 0
    for router in range(layout.first_router[group], layout.first_router[group + 1]):
        total += idle[router]
    return total


@kernel
def level_spread(layout, free, wanted):
    """Spread the job in the smallest level that it fits in: a router, a group, the machine.

    Of the routers, or groups, that fit, it takes the one with the most idle nodes, and inside
    a group it takes nodes from the routers in turn.
    """
    idle = idle_by_router(layout, free)
    best = 0
    for router in range(len(idle)):
        if idle[router] > idle[best]:
            best = router
    chosen = np.empty(wanted, dtype=np.int64)
    if idle[best] >= wanted:
        _take_router(layout, free, best, chosen, 0)
        return chosen
    best, most = 0, -1
    for group in range(len(layout.first_router) - 1):
        total = _idle_of_group(layout, idle, group)
        if total > most:
            best, most = group, total
    if most < wanted:
        return rrn(layout, free, wanted)
    low, high = layout.first_router[best], layout.first_router[best + 1]
    at = layout.first_node[low:high].copy()
    count = 0
    while count < wanted:
        for i in range(high - low):
            if count == wanted:
                break
            end = layout.first_node[low + i + 1]
            while at[i] < end and not free[at[i]]:
                at[i] += 1
            if at[i] < end:
                chosen[count] = at[i]
                at[i] += 1
                count += 1
    return chosen


@kernel
def jokanovic(layout, free, wanted):
    """Small and large jobs from the two ends of the machine, with a boundary that moves.

    A job that fits a group goes to the first group that has room for it; a larger one takes the
    last nodes. The boundary lies wherever the two have met so far.
    """
    idle = idle_by_router(layout, free)
    widest = 0
    for group in range(len(layout.first_router) - 1):
        nodes = (layout.first_node[layout.first_router[group + 1]]
                 - layout.first_node[layout.first_router[group]])
        widest = max(widest, nodes)
    if wanted > widest:
        return from_the_end(layout, free, wanted)
    for group in range(len(layout.first_router) - 1):
        if _idle_of_group(layout, idle, group) >= wanted:
            chosen = np.empty(wanted, dtype=np.int64)
            count = 0
            for router in range(layout.first_router[group], layout.first_router[group + 1]):
                count = _take_router(layout, free, router, chosen, count)
            return chosen
    return simple(layout, free, wanted)


@kernel
def by_key(layout, free, wanted, key, ascending):
    """Routers in the order of a key (their traffic, their stalls), ties in label order.

    The routers needed are found by weighted selection, which is linear on average where a sort
    is not; only those are then put in order.
    """
    idle = idle_by_router(layout, free)
    pool = np.flatnonzero(idle)
    value = np.empty(len(pool))
    for i in range(len(pool)):
        value[i] = key[pool[i]] if ascending else -key[pool[i]]
    low, high = 0, len(pool)
    before = 0  # idle nodes of the routers in front of `low`, which are all taken
    while high - low > 32:
        one, two, three = value[low], value[(low + high) // 2], value[high - 1]
        pivot = max(min(one, two), min(max(one, two), three))
        left, middle, right = low, low, high
        while middle < right:
            if value[middle] < pivot:
                value[left], value[middle] = value[middle], value[left]
                pool[left], pool[middle] = pool[middle], pool[left]
                left += 1
                middle += 1
            elif value[middle] > pivot:
                right -= 1
                value[right], value[middle] = value[middle], value[right]
                pool[right], pool[middle] = pool[middle], pool[right]
            else:
                middle += 1
        under = 0
        for i in range(low, left):
            under += idle[pool[i]]
        equal = 0
        for i in range(left, right):
            equal += idle[pool[i]]
        if before + under >= wanted:
            high = left
        elif before + under + equal >= wanted:
            low, high = right, right
        else:
            before += under + equal
            low = right
    order = np.sort(pool[:high])
    # Stable: equal values stay in label order.
    ranks = np.empty(len(order))
    for i in range(len(order)):
        ranks[i] = key[order[i]] if ascending else -key[order[i]]
    order = order[np.argsort(ranks, kind="mergesort")]
    chosen = np.empty(wanted, dtype=np.int64)
    count = 0
    for i in range(len(order)):
        if count == wanted:
            break
        count = _take_router(layout, free, order[i], chosen, count)
    return chosen
