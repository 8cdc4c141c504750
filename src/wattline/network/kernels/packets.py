"""The event loop of the packet simulator; its rules stand in `network.packets`."""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import array_kernel


@array_kernel
def _push(times, codes, count, time, code):
    at = count
    while at > 0:
        up = (at - 1) >> 1
        if times[up] < time or (times[up] == time and codes[up] < code):
            break
        times[at], codes[at] = times[up], codes[up]
        at = up
    times[at], codes[at] = time, code


@array_kernel
def _pop(times, codes, count):
    """Remove the first of `count` events; the caller has read it."""
    time, code = times[count - 1], codes[count - 1]
    last = count - 1
    at = 0
    while True:
        down = 2 * at + 1
        if down >= last:
            break
        if down + 1 < last and (times[down + 1] < times[down] or (
                times[down + 1] == times[down] and codes[down + 1] < codes[down])):
            down += 1
        if time < times[down] or (time == times[down] and code < codes[down]):
            break
        times[at], codes[at] = times[down], codes[down]
        at = down
    times[at], codes[at] = time, code


@array_kernel
def _choose(row, path_start, link_start, link, minimal, waiting, mode, seed):
    """The path of a packet at its source, and the next state of the random sequence."""
    low, high = path_start[row], path_start[row + 1]
    shortest = 0
    while low + shortest < high and minimal[low + shortest]:
        shortest += 1
    seed = seed * 48271 % 2147483647
    direct = low + seed % max(1, shortest)
    if mode == 0 or high - low == shortest:
        return direct, seed
    seed = seed * 48271 % 2147483647
    detour = low + shortest + seed % (high - low - shortest)
    if mode == 1:
        return detour, seed
    near = waiting[link[link_start[direct]]] * (link_start[direct + 1] - link_start[direct])
    far = waiting[link[link_start[detour]]] * (link_start[detour + 1] - link_start[detour])
    return (direct if near <= far else detour), seed


@array_kernel
def simulate(source, target, job, jobs, row, path_start, link_start, link, minimal, link_from,
             node_router, in_start, in_link, links, nodes, service, hop_s, room, channels, mode,
             seed, watched):
    """Run all packets to their targets; see the module's text for the rules.

    With a watched job (not -1) the run ends when all packets of that job have arrived.
    """
    packets = len(source)
    awaited = 0
    for p in range(packets):
        awaited += job[p] == watched
    now = 0.0
    total = links + 2 * nodes
    path = np.full(packets, -1, dtype=np.int64)
    hop = np.zeros(packets, dtype=np.int64)
    following = np.full(packets, -1, dtype=np.int64)
    head = np.full((total, channels), -1, dtype=np.int64)
    tail = np.full((total, channels), -1, dtype=np.int64)
    held = np.zeros((total, channels), dtype=np.int64)
    waiting = np.zeros(total, dtype=np.int64)
    busy = np.zeros(total, dtype=np.bool_)
    turn = np.zeros(total, dtype=np.int64)
    blocked_since = np.full(total, -1.0)
    crossed = np.zeros(total, dtype=np.int64)
    stalled = np.zeros(total)
    done = np.zeros(jobs)
    hops, detoured = 0, 0
    # Codes below `total` free a link; the others bring packet `code - total` to its next queue.
    size = 4 * total + 4 * packets + 16
    times = np.empty(size)
    codes = np.empty(size, dtype=np.int64)
    events = 0
    stack = np.empty(8 * total + 64, dtype=np.int64)
    for p in range(packets):
        up = links + source[p]
        if tail[up, 0] < 0:
            head[up, 0] = p
        else:
            following[tail[up, 0]] = p
        tail[up, 0] = p
    depth = 0
    for n in range(nodes):
        stack[depth] = links + n
        depth += 1
    while True:
        while depth > 0:
            depth -= 1
            e = stack[depth]
            if busy[e]:
                continue
            sent = False
            any_waiting = False
            for k in range(channels):
                v = (turn[e] + k) % channels
                p = head[e, v]
                if p < 0:
                    continue
                any_waiting = True
                if e >= links and e < links + nodes:
                    path[p], seed = _choose(row[p], path_start, link_start, link, minimal,
                                            waiting, mode, seed)
                length = link_start[path[p] + 1] - link_start[path[p]]
                after = -1
                if hop[p] < length:
                    after = link[link_start[path[p]] + hop[p]]
                elif hop[p] == length:
                    after = links + nodes + target[p]
                if after >= 0 and held[after, hop[p] + 1] >= room:
                    continue
                if after >= 0:
                    held[after, hop[p] + 1] += 1
                    waiting[after] += 1
                head[e, v] = following[p]
                if head[e, v] < 0:
                    tail[e, v] = -1
                following[p] = -1
                if not (e >= links and e < links + nodes):
                    if held[e, v] == room:
                        # Room appears here: wake the links that lead to this queue.
                        at = link_from[e] if e < links else node_router[e - links - nodes]
                        # They are asked in an order that starts anywhere, so none starves.
                        ports = in_start[at + 1] - in_start[at]
                        seed = seed * 48271 % 2147483647
                        for step in range(ports):
                            i = in_start[at] + (step + seed) % ports
                            if not busy[in_link[i]]:
                                if depth + 1 >= len(stack):
                                    wider = np.empty(2 * len(stack), dtype=np.int64)
                                    wider[:depth] = stack[:depth]
                                    stack = wider
                                stack[depth] = in_link[i]
                                depth += 1
                    held[e, v] -= 1
                    waiting[e] -= 1
                busy[e] = True
                turn[e] = (v + 1) % channels
                crossed[e] += 1
                if blocked_since[e] >= 0.0:
                    stalled[e] += now - blocked_since[e]
                    blocked_since[e] = -1.0
                _push(times, codes, events, now + service[e], e)
                events += 1
                if after >= 0:
                    hop[p] += 1
                    if after < links:
                        hops += 1
                    wait = hop_s + max(0.0, service[e] - service[after])
                    _push(times, codes, events, now + wait, total + p)
                    events += 1
                else:
                    done[job[p]] = max(done[job[p]], now + service[e])
                    if not minimal[path[p]]:
                        detoured += 1
                    if job[p] == watched:
                        awaited -= 1
                        if awaited == 0:
                            return done, hops, detoured, crossed, stalled
                sent = True
                break
            if not sent and any_waiting and blocked_since[e] < 0.0:
                blocked_since[e] = now
        if events == 0:
            break
        now, code = times[0], codes[0]
        _pop(times, codes, events)
        events -= 1
        if code < total:
            busy[code] = False
            stack[depth] = code
            depth += 1
            continue
        p = code - total
        length = link_start[path[p] + 1] - link_start[path[p]]
        e = link[link_start[path[p]] + hop[p] - 1] if hop[p] <= length else (
            links + nodes + target[p])
        v = hop[p]
        if tail[e, v] < 0:
            head[e, v] = p
        else:
            following[tail[e, v]] = p
        tail[e, v] = p
        if not busy[e]:
            stack[depth] = e
            depth += 1
    return done, hops, detoured, crossed, stalled
