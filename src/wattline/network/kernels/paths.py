"""Finding paths in a network that is given as arrays (`routes.Wiring`)."""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import array_kernel, kernel

MOST_COUNTED = 1e37
"""Ways are counted up to here, which a float of four bytes still holds."""
EXACT = 2.0**24
"""Below this a float of four bytes holds every whole number."""


@array_kernel
def measure_distance(domain, first, next_start, next_link, link_to):
    """Between routers of one domain: hops (-1 where there is no way), and how many shortest ways.

    By breadth-first search: all ways to a router are counted before it is left.
    """
    routers = len(domain)
    widest = 0
    for i in range(len(first) - 1):
        widest = max(widest, first[i + 1] - first[i])
    distance = np.full((routers, widest), -1, dtype=np.int16)
    ways = np.zeros((routers, widest), dtype=np.float32)
    queue = np.empty(widest, dtype=np.int64)
    for start in range(routers):
        base = first[domain[start]]
        distance[start, start - base] = 0
        ways[start, start - base] = 1.0
        queue[0] = start
        head, tail = 0, 1
        while head < tail:
            here = queue[head]
            head += 1
            hops = distance[start, here - base] + 1
            for i in range(next_start[here], next_start[here + 1]):
                there = link_to[next_link[i]] - base
                if distance[start, there] < 0:
                    distance[start, there] = hops
                    queue[tail] = there + base
                    tail += 1
                if distance[start, there] == hops:
                    ways[start, there] = min(
                        MOST_COUNTED, ways[start, there] + ways[start, here - base])
    return distance, ways


@kernel
def _hops(wiring, here, there):
    """Hops inside a domain; a large number where there is no way inside it."""
    found = wiring.distance[here, there - wiring.first[wiring.domain[here]]]
    return int(found) if found >= 0 else 10_000


@kernel
def _ways(wiring, here, there):
    """Shortest ways inside a domain."""
    return float(wiring.ways[here, there - wiring.first[wiring.domain[here]]])


@kernel
def _place(salt, ways):
    """Where the salt-th of so many ways, counted round, stands among them: above 0, below 1."""
    return (salt % ways + 0.5) / ways


@kernel
def _walk(wiring, here, there, place, out, used):
    """Write a shortest path inside a domain to `out` from `used` on.

    `place` (0 to 1) says which, of all in the order of their links. Each link has the part of them
    that is as large as its part of the ways, so that other places are other paths.
    """
    # Every link has a twin, so the way back is as long; all hops are then in the target's row.
    while here != there:
        left = _hops(wiring, there, here)
        if left >= 10_000:
            return -1
        place *= _ways_onward(wiring, here, there, left)
        for i in range(wiring.next_start[here], wiring.next_start[here + 1]):
            near = wiring.link_to[wiring.next_link[i]]
            if near == there if left == 1 else _hops(wiring, there, near) == left - 1:
                out[used] = wiring.next_link[i]
                ways = _ways(wiring, near, there)
                if place < ways:
                    break
                place -= ways
        here = wiring.link_to[out[used]]
        place /= ways
        used += 1
    return used


@kernel
def _ways_onward(wiring, here, there, left):
    """The shortest ways from a router as those from its neighbours add up to.

    Which is their own number, unless that was rounded: then the parts of a way would not fit.
    """
    ways = _ways(wiring, here, there)
    if ways < EXACT:
        return ways
    total = 0.0
    for i in range(wiring.next_start[here], wiring.next_start[here + 1]):
        near = wiring.link_to[wiring.next_link[i]]
        if _hops(wiring, there, near) == left - 1:
            total += _ways(wiring, near, there)
    return total


@kernel
def _around(wiring, here, there, link):
    """Hops before and behind a link between domains; `there` is -1 for no router in particular."""
    hops = _hops(wiring, here, wiring.link_from[link])
    return hops if there < 0 else hops + _hops(wiring, wiring.link_to[link], there)


@kernel
def _ways_by(wiring, here, there, link):
    """Shortest ways that cross this link between domains."""
    ways = _ways(wiring, here, wiring.link_from[link])
    return ways if there < 0 else ways * _ways(wiring, wiring.link_to[link], there)


@kernel
def _crossings(wiring, here, there, domain):
    """The least hops around a link from the domain of `here` to `domain`, and the ways of so many.

    `there` is the router to be reached in that domain, or -1 for none in particular.
    """
    row = wiring.domain[here] * (len(wiring.first) - 1) + domain
    least = 10_000
    ways = 0.0
    for i in range(wiring.between_start[row], wiring.between_start[row + 1]):
        hops = _around(wiring, here, there, wiring.between_link[i])
        if hops < least:
            least, ways = hops, 0.0
        if hops == least and hops < 10_000:
            ways += _ways_by(wiring, here, there, wiring.between_link[i])
    return least, ways


@kernel
def _cross(wiring, here, there, domain, salt, out, used):
    """Write the salt-th way into `domain`, to router `there` in it unless that is -1."""
    least, ways = _crossings(wiring, here, there, domain)
    return _cross_one(wiring, here, there, domain, least, ways, salt, out, used)


@kernel
def _cross_one(wiring, here, there, domain, least, ways, salt, out, used):
    """The same where the hops around a link, and the ways of so many, are known."""
    if ways == 0.0:
        return -1
    place = _place(salt, ways) * ways
    row = wiring.domain[here] * (len(wiring.first) - 1) + domain
    link = -1
    for i in range(wiring.between_start[row], wiring.between_start[row + 1]):
        if _around(wiring, here, there, wiring.between_link[i]) == least:
            link = wiring.between_link[i]
            ways = _ways_by(wiring, here, there, link)
            if place < ways:
                break
            place -= ways
    place /= ways
    used = _walk(wiring, here, wiring.link_from[link], place, out, used)
    out[used] = link
    used += 1
    if there >= 0:
        behind = place * _ways(wiring, here, wiring.link_from[link]) % 1.0
        used = _walk(wiring, wiring.link_to[link], there, behind, out, used)
    return used


@kernel
def _direct(wiring, here, there, k, wanted, salt, out, used):
    """Write the k-th of so many wanted shortest ways; -1 where there are not that many.

    Where there are more, those that are written stand at equal distances among all of them.
    """
    one, other = wiring.domain[here], wiring.domain[there]
    least, ways = 0, _ways(wiring, here, there) if one == other else 0.0
    if one != other:
        least, ways = _crossings(wiring, here, there, other)
    if k >= ways:
        return -1
    ahead = salt + np.floor(k * max(1.0, ways / wanted))
    if one == other:
        return _walk(wiring, here, there, _place(ahead, ways), out, used)
    return _cross_one(wiring, here, there, other, least, ways, ahead, out, used)


@kernel
def _same(links, start, other, length):
    for i in range(length):  # noqa: SIM110  compiled code has no all()
        if links[start + i] != links[other + i]:
            return False
    return True


@kernel
def _third(wiring, here, there, step, detours):
    """The third domain by which the step-th detour of a pair goes, or -1 for none.

    All of them where they are few enough. Otherwise the pairs of routers of two domains take
    turns: each goes on where the one before it stopped, so that together they use all third
    domains alike. Where the turns begin differs from target to target.
    """
    domains = len(wiring.first) - 1
    one, other = wiring.domain[here], wiring.domain[there]
    others = domains - 2
    if others <= detours:
        return step if step < domains and step not in (one, other) else -1
    pair = (here - wiring.first[one]) * (wiring.first[other + 1] - wiring.first[other])
    pair += there - wiring.first[other]
    ahead = 1 + (pair * detours + step + other) % others
    if ahead >= (other - one) % domains:
        ahead += 1  # pass over the target's own
    return (one + ahead) % domains


@kernel
def _mixed(value):
    """A number from 0 to 1 that has nothing to do with those of the numbers beside it."""
    value &= 0x7FFFFFFF
    for _ in range(2):
        value = ((value >> 16) ^ value) * 0x45D9F3B & 0x7FFFFFFF
    return ((value >> 16) ^ value) / 2147483648.0


@kernel
def _by_third_router(wiring, here, there, step, detours, out, used):
    """Write the step-th detour of a pair in a network without groups, by a third router.

    The thirds stand at equal distances among all routers, and each half takes any of its shortest
    ways. Thirds and ways begin elsewhere in each pair, and the three choices have nothing to do
    with one another: where they had, whole rows of a torus went by the same links.
    """
    routers = len(wiring.domain)
    if routers < 3:
        return -1
    pair = here * routers + there
    begin = np.int64(_mixed(3 * pair) * (routers - 2))
    third = (begin + step * (routers - 2) // detours) % (routers - 2)
    third += third >= min(here, there)
    third += third >= max(here, there)
    # The multiples of these two numbers fill a square evenly, whatever their count.
    there_by = (_mixed(3 * pair + 1) + step * 0.7548776662466927) % 1.0
    on_by = (_mixed(3 * pair + 2) + step * 0.5698402909980532) % 1.0
    used = _walk(wiring, here, third, there_by, out, used)
    return _walk(wiring, third, there, on_by, out, used)


@kernel
def _path(wiring, here, there, k, minimal_paths, detours, links, start):
    """Write the k-th candidate path of a pair, minimal ones first; its end, or -1 for none."""
    one, other = wiring.domain[here], wiring.domain[there]
    mix = here * 31 + there * 17
    end = -1
    if k < minimal_paths:
        return _direct(wiring, here, there, k, minimal_paths, float(mix), links, start)
    if here == there:
        return -1
    if not wiring.grouped:
        return _by_third_router(wiring, here, there, k - minimal_paths, detours, links, start)
    if one != other:
        third = _third(wiring, here, there, k - minimal_paths, detours)
        if third >= 0:
            end = _cross(wiring, here, -1, third, float(mix + k), links, start)
            if end >= 0:
                middle = wiring.link_to[links[end - 1]]
                end = _cross(wiring, middle, there, other, float(mix + k), links, end)
    elif wiring.detour_inside:
        size = wiring.first[one + 1] - wiring.first[one]
        # All third routers where they are few enough, otherwise some that differ from pair to pair.
        # Inside a group two halves have few ways to mix, and published studies stand on this order.
        ahead = k - minimal_paths if size - 2 <= detours else (mix * 7 + k * 7919) % size
        if ahead >= size:
            return -1
        middle = wiring.first[one] + ahead
        if middle not in (here, there):
            there_by = _place(float(mix + k), _ways(wiring, here, middle))
            end = _walk(wiring, here, middle, there_by, links, start)
            on_by = _place(float(mix + k), _ways(wiring, middle, there))
            end = _walk(wiring, middle, there, on_by, links, end)
    return end


@array_kernel
def find_paths(wiring, source, target, minimal_paths, detours):
    """Candidate paths of each pair: the arrays of `Routes`."""
    pairs = len(source)
    longest = 2
    for value in wiring.distance.ravel():
        longest = max(longest, int(value))
    longest = 3 * longest + 2
    path_start = np.zeros(pairs + 1, dtype=np.int64)
    link_start = np.zeros(pairs * (minimal_paths + detours) + 1, dtype=np.int64)
    minimal = np.zeros(pairs * (minimal_paths + detours), dtype=np.bool_)
    links = np.empty(max(1, pairs) * 16, dtype=np.int32)
    paths = 0
    for pair in range(pairs):
        here, there = source[pair], target[pair]
        first_path = paths
        inside = wiring.domain[here] == wiring.domain[there]
        k = -1
        while k + 1 < minimal_paths + detours:
            k += 1
            start = link_start[paths]
            if start + longest > len(links):
                grown = np.empty(2 * len(links) + longest, dtype=np.int32)
                grown[:start] = links[:start]
                links = grown
            end = _path(wiring, here, there, k, minimal_paths, detours, links, start)
            if end < 0:
                # There are no more shortest ways where there is not this one.
                k = max(k, minimal_paths - 1)
                continue
            known = False
            # Without groups a way that several thirds lie on is as much more often taken; detours
            # by other groups are other ways.
            alone = not wiring.grouped or (k >= minimal_paths and not inside)
            for q in range(first_path, first_path if alone else paths):
                if link_start[q + 1] - link_start[q] == end - start and _same(
                        links, link_start[q], start, end - start):
                    known = True
                    break
            if known:
                continue
            minimal[paths] = k < minimal_paths
            paths += 1
            link_start[paths] = end
        path_start[pair + 1] = paths
    return (path_start, link_start[:paths + 1].copy(), links[:link_start[paths]].copy(),
            minimal[:paths].copy())
