"""Finding paths in a network that is given as arrays (`routes.Wiring`)."""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import array_kernel


@array_kernel
def measure_distance(domain, first, next_start, next_link, link_to):
    """Hops between routers of one domain, by breadth-first search; -1 where there is no way."""
    routers = len(domain)
    widest = 0
    for i in range(len(first) - 1):
        widest = max(widest, first[i + 1] - first[i])
    distance = np.full((routers, widest), -1, dtype=np.int16)
    queue = np.empty(widest, dtype=np.int64)
    for start in range(routers):
        base = first[domain[start]]
        distance[start, start - base] = 0
        queue[0] = start
        head, tail = 0, 1
        while head < tail:
            here = queue[head]
            head += 1
            for i in range(next_start[here], next_start[here + 1]):
                there = link_to[next_link[i]]
                if distance[start, there - base] < 0:
                    distance[start, there - base] = distance[start, here - base] + 1
                    queue[tail] = there
                    tail += 1
    return distance


@array_kernel
def _hops(wiring, here, there):
    """Hops inside a domain; a large number where there is no way inside it."""
    found = wiring.distance[here, there - wiring.first[wiring.domain[here]]]
    return int(found) if found >= 0 else 10_000


@array_kernel
def _walk(wiring, here, there, salt, out, used):
    """Write a shortest path inside a domain to `out` from `used` on; `salt` breaks ties."""
    while here != there:
        left = _hops(wiring, here, there)
        if left >= 10_000:
            return -1
        ways = 0
        for i in range(wiring.next_start[here], wiring.next_start[here + 1]):
            if _hops(wiring, wiring.link_to[wiring.next_link[i]], there) == left - 1:
                ways += 1
        chosen = salt % ways
        salt = salt // ways + 7 * salt
        for i in range(wiring.next_start[here], wiring.next_start[here + 1]):
            link = wiring.next_link[i]
            if _hops(wiring, wiring.link_to[link], there) == left - 1:
                if chosen == 0:
                    out[used] = link
                    used += 1
                    here = wiring.link_to[link]
                    break
                chosen -= 1
    return used


@array_kernel
def _crossing(wiring, here, there, domain, salt):
    """The salt-th best link from the domain of `here` to `domain`: least hops around it.

    `there` is the router to be reached in that domain, or -1 for none in particular.
    """
    domains = len(wiring.first) - 1
    row = wiring.domain[here] * domains + domain
    low, high = wiring.between_start[row], wiring.between_start[row + 1]
    best = 1_000_000
    ways = 0
    for i in range(low, high):
        link = wiring.between_link[i]
        cost = _hops(wiring, here, wiring.link_from[link])
        if there >= 0:
            cost += _hops(wiring, wiring.link_to[link], there)
        if cost < best:
            best, ways = cost, 1
        elif cost == best:
            ways += 1
    if ways == 0 or best >= 10_000:
        return -1, 0
    chosen = salt % ways
    for i in range(low, high):
        link = wiring.between_link[i]
        cost = _hops(wiring, here, wiring.link_from[link])
        if there >= 0:
            cost += _hops(wiring, wiring.link_to[link], there)
        if cost == best:
            if chosen == 0:
                return link, ways
            chosen -= 1
    return -1, 0


@array_kernel
def _cross(wiring, here, there, domain, salt, out, used):
    """Write the way into `domain`, to router `there` in it unless that is -1."""
    link, _ = _crossing(wiring, here, there, domain, salt)
    if link < 0:
        return -1
    used = _walk(wiring, here, wiring.link_from[link], salt, out, used)
    if used < 0:
        return -1
    out[used] = link
    used += 1
    if there >= 0:
        used = _walk(wiring, wiring.link_to[link], there, salt, out, used)
    return used


@array_kernel
def _same(links, start, other, length):
    for i in range(length):  # noqa: SIM110  compiled code has no all()
        if links[start + i] != links[other + i]:
            return False
    return True


@array_kernel
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


@array_kernel
def _path(wiring, here, there, k, minimal_paths, detours, links, start):
    """Write the k-th candidate path of a pair, minimal ones first; its end, or -1 for none."""
    one, other = wiring.domain[here], wiring.domain[there]
    mix = here * 31 + there * 17
    end = -1
    if k < minimal_paths:
        if one == other:
            return _walk(wiring, here, there, mix + k, links, start)
        return _cross(wiring, here, there, other, mix + k, links, start)
    if here == there:
        return -1
    if one != other:
        third = _third(wiring, here, there, k - minimal_paths, detours)
        if third >= 0:
            end = _cross(wiring, here, -1, third, mix + k, links, start)
            if end >= 0:
                middle = wiring.link_to[links[end - 1]]
                end = _cross(wiring, middle, there, other, mix + k, links, end)
    elif wiring.detour_inside:
        size = wiring.first[one + 1] - wiring.first[one]
        # All third routers where they are few enough, otherwise some that differ from pair to pair.
        ahead = k - minimal_paths if size - 2 <= detours else (mix * 7 + k * 7919) % size
        if ahead >= size:
            return -1
        middle = wiring.first[one] + ahead
        if middle not in (here, there):
            end = _walk(wiring, here, middle, mix + k, links, start)
            end = _walk(wiring, middle, there, mix + k, links, end)
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
        for k in range(minimal_paths + detours):
            start = link_start[paths]
            if start + longest > len(links):
                grown = np.empty(2 * len(links) + longest, dtype=np.int32)
                grown[:start] = links[:start]
                links = grown
            end = _path(wiring, here, there, k, minimal_paths, detours, links, start)
            if end < 0:
                continue
            known = False
            for q in range(first_path, paths):
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
