"""The fixed point of adaptive routing, and paths drawn from it."""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import array_kernel


@array_kernel
def _chances(low, high, link_start, link, minimal, price, routing, sharpness, detoured, cost):
    """Write the chance of each path of a pair to `cost`, not yet divided by their sum.

    Where the routing looks at loads (2 and above), `detoured` is the weight of all detours together
    over that of the minimal paths.
    """
    direct = 0
    cheapest = np.inf
    for q in range(low, high):
        found = 0.0
        for k in range(link_start[q], link_start[q + 1]):
            found += price[link[k]]
        cost[q - low] = found
        cheapest = min(cheapest, found)
        if minimal[q]:
            direct += 1
    detours = high - low - direct
    weights = 0.0
    for q in range(low, high):
        # One minimal path and one detour are drawn, so each kind has its weight as a whole. A pair
        # without detours (routers of one group) goes the minimal way.
        if minimal[q]:
            chance = 0.0 if routing == 1 and detours > 0 else 1.0 / direct
        else:
            chance = 0.0 if routing == 0 else 1.0 / detours
        if routing >= 2:
            if not minimal[q]:
                chance *= detoured
            chance *= np.exp(sharpness * (cheapest - cost[q - low]))
        cost[q - low] = chance
        weights += chance
    return weights


@array_kernel
def split(rows, demand, path_start, link_start, link, minimal, scale, routing,
          sharpness, detoured, tolerance, sweeps):
    """Share of each path of each row's demand, the part that would still move, and the sweeps.

    `scale[e]` turns the load of link e into units of what it can carry. The shares of row i stand
    from `offset[i]` to `offset[i + 1]`, in the order of its paths.
    """
    offset = np.zeros(len(rows) + 1, dtype=np.int64)
    most = 1
    for i in range(len(rows)):
        paths = path_start[rows[i] + 1] - path_start[rows[i]]
        most = max(most, paths)
        offset[i + 1] = offset[i] + paths
    share = np.zeros(offset[len(rows)])
    price = np.ones(len(scale))
    cost = np.empty(most)
    moved, last, gain = 0.0, np.inf, 0.5
    sweep = 0
    while sweep < sweeps:
        load = np.zeros(len(scale))
        moved, total = 0.0, 0.0
        step = gain if sweep > 0 else 1.0
        for i in range(len(rows)):
            low, high = path_start[rows[i]], path_start[rows[i] + 1]
            weights = _chances(low, high, link_start, link, minimal, price, routing, sharpness,
                               detoured, cost)
            for q in range(low, high):
                at = offset[i] + q - low
                wish = cost[q - low] / weights
                moved += demand[i] * abs(wish - share[at])
                share[at] += step * (wish - share[at])
                for k in range(link_start[q], link_start[q + 1]):
                    load[link[k]] += demand[i] * share[at]
            total += demand[i]
        sweep += 1
        moved = 0.5 * moved / total if total > 0.0 else 0.0
        if routing < 2:
            return offset, share, 0.0, sweep
        for e in range(len(scale)):
            used = load[e] * scale[e]
            price[e] = 1.0 + used * used
        if sweep > 1:
            if moved < tolerance:
                break
            # Steps that overshoot are made shorter; steps that go well a little longer.
            gain = gain * 0.6 if moved > 0.8 * last else min(0.7, gain * 1.1)
            last = moved
    return offset, share, moved, sweep


@array_kernel
def _parts(share, begin, end, draws, alike):
    """Into how many parts a large flow is divided, which is not less than `draws`.

    Where ways weigh alike, so many that each of them gets as many parts as the others.
    """
    if not alike:
        return draws
    used = 0
    for k in range(begin, end):
        used += share[k] > 0.0
    return -(-draws // used) * used


@array_kernel
def draw_paths(pairs, offset, share, pair, path_start, packets, draws, alike, seed):
    """Divide each flow over paths drawn by their shares: flow, path and part of each division.

    A flow of few packets draws a path for each; a larger one draws evenly spaced quantiles, since
    the law of large numbers leaves it little to chance.
    """
    most = 0
    for i in range(len(pair)):
        parts = _parts(share, offset[pair[i]], offset[pair[i] + 1], draws, alike)
        most += min(parts, max(1, int(np.ceil(packets[i]))))
    flow = np.empty(most, dtype=np.int64)
    path = np.empty(most, dtype=np.int64)
    part = np.empty(most)
    count = 0
    for i in range(len(pair)):
        low = path_start[pairs[pair[i]]]
        begin, end = offset[pair[i]], offset[pair[i] + 1]
        parts = _parts(share, begin, end, draws, alike)
        times = min(parts, max(1, int(np.ceil(packets[i]))))
        first_part = count
        seed = seed * 48271 % 2147483647
        shift = seed / 2147483647.0
        for d in range(times):
            if packets[i] <= parts:
                seed = seed * 48271 % 2147483647
                level = seed / 2147483647.0
            else:
                level = (d + shift) / times
            chosen = low + _drawn(share, begin, end, level) - begin
            known = -1
            for m in range(first_part, count):
                if path[m] == chosen:
                    known = m
            if known < 0:
                flow[count] = i
                path[count] = chosen
                part[count] = 0.0
                known = count
                count += 1
            part[known] += 1.0 / times
    return flow[:count].copy(), path[:count].copy(), part[:count].copy()


@array_kernel
def _drawn(share, begin, end, level):
    """The place at which the shares, added up from `begin`, pass a level."""
    reached = 0.0
    for k in range(begin, end):
        reached += share[k]
        if level < reached:
            return k
    return end - 1


@array_kernel
def list_uses(flow, path, part, link_start, link, source, target, rate, sent, received, first,
              links, nodes):
    """The links of every part of a flow, those of its nodes included, and its use of each."""
    count = len(flow)
    start = np.zeros(count + 1, dtype=np.int64)
    for m in range(count):
        i = flow[m]
        used = link_start[path[m] + 1] - link_start[path[m]]
        for n in range(first[source[i] + 1] - first[source[i]]):
            used += sent[i, n] > 0.0
        for n in range(first[target[i] + 1] - first[target[i]]):
            used += received[i, n] > 0.0
        start[m + 1] = start[m] + used
    used_link = np.empty(start[count], dtype=np.int32)
    use = np.empty(start[count])
    for m in range(count):
        i = flow[m]
        at = start[m]
        for k in range(link_start[path[m]], link_start[path[m] + 1]):
            used_link[at] = link[k]
            use[at] = rate[i] * part[m]
            at += 1
        for n in range(first[source[i] + 1] - first[source[i]]):
            if sent[i, n] > 0.0:
                used_link[at] = links + first[source[i]] + n
                use[at] = sent[i, n] * part[m]
                at += 1
        for n in range(first[target[i] + 1] - first[target[i]]):
            if received[i, n] > 0.0:
                used_link[at] = links + nodes + first[target[i]] + n
                use[at] = received[i, n] * part[m]
                at += 1
    return start, used_link, use
