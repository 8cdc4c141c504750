"""Max-min fair sharing of links, and the time in which every flow gets its bytes through."""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import array_kernel

FEW = 32
"""With so few flows left, links are shared anew at every end."""


@array_kernel
def fair_rates(start, link, use, alive, capacity):
    """Max-min fair rate of each flow.

    Flow i uses `use[k]` units of link `link[k]` for each unit of its rate, k from `start[i]` to
    `start[i + 1]`. All rates rise together; when a link is full, the flows on it stop rising.
    Flows that are not alive get rate 0, flows without links an infinite rate.
    """
    rate = np.zeros(len(start) - 1)
    uses = start, link, use, *_members(start, link, len(capacity))
    _fill(uses, np.flatnonzero(alive), rate, _links(capacity))
    return rate


@array_kernel
def finish_times(start, link, use, job, size, jobs, capacity, window):
    """Time at which the last flow of each job is done, when all start together.

    `size[i]` is what flow i has to carry for each unit of `use`. Rates are found anew when flows
    end. As long as there are many, those that end within a `window`, a small part of the time so
    far, leave their shares to the others together: at their mean end, so that on the whole the
    links carry what they would.
    """
    done_s = np.zeros(jobs)
    flows = np.arange(len(start) - 1)
    left = size.copy()
    now = 0.0
    while len(flows) > 0:
        # Halving the arrays as flows end keeps the cost of each sharing down to what is left.
        some_start, some_link, some_use, room = _pick(start, link, use, flows, capacity)
        uses = some_start, some_link, some_use, *_members(some_start, some_link, len(room))
        now, ongoing = _run_down(uses, room, left, job[flows], done_s, now, window)
        flows, left = flows[ongoing], left[ongoing]
    return done_s


@array_kernel
def _run_down(uses, capacity, left, job, done_s, now, window):
    """Let flows end until half of them are left, or none where there are few: time, and who."""
    flows = len(left)
    stop = 0 if flows <= FEW else flows // 2
    ongoing, changing = np.arange(flows), np.arange(flows)
    rate, need = np.zeros(flows), np.zeros(flows)
    links = _links(capacity)
    count = flows
    while True:
        _fill(uses, changing[:count], rate, links)
        first = np.inf
        for i in ongoing:
            need[i] = left[i] / rate[i]
            first = min(first, need[i])
        last = first * (1.0 + 1e-9)
        if len(ongoing) > FEW:
            last = max(last, first + window * (now + first))
        step, slowest = _mean_end(ongoing, rate, need, left, last)
        kept, count = 0, 0
        for i in ongoing:
            if need[i] <= last:
                done_s[job[i]] = max(done_s[job[i]], now + need[i])
                _give_back(uses, i, rate, links)
                continue
            left[i] -= rate[i] * step
            ongoing[kept] = i
            kept += 1
            # Links that were full at a lower level had none of the flows that end.
            if rate[i] >= slowest * (1.0 - 1e-9):
                _give_back(uses, i, rate, links)
                changing[count] = i
                count += 1
        ongoing = ongoing[:kept]
        now += step
        if kept <= stop:
            return now, ongoing


@array_kernel
def _mean_end(ongoing, rate, need, left, last):
    """When the flows that end by `last` free what they free, in the mean, and their least rate."""
    freed, carried, slowest, first = 0.0, 0.0, np.inf, np.inf
    for i in ongoing:
        if need[i] <= last:
            first = min(first, need[i])
            slowest = min(slowest, rate[i])
            if rate[i] < np.inf:
                freed += rate[i]
                carried += left[i]
    return carried / freed if freed > 0.0 else first, slowest


@array_kernel
def _links(capacity):
    """Of each link: what is spare, use by rising flows, their number, level when full; a heap."""
    count = len(capacity)
    return (capacity.copy(), np.zeros(count), np.zeros(count, dtype=np.int64), np.zeros(count),
            np.zeros(count, dtype=np.int64))


@array_kernel
def _give_back(uses, flow, rate, links):
    """Stop a flow, and let its links have their capacity back."""
    start, link, use, _, _ = uses
    for k in range(start[flow], start[flow + 1]):
        links[0][link[k]] += rate[flow] * use[k]
    rate[flow] = 0.0


@array_kernel
def _fill(uses, flows, rate, links):
    """Find the max-min fair rates of these flows in what the others leave spare."""
    start, link, use, _, _ = uses
    spare, wanted, rising, level, heap = links
    count = 0
    for i in flows:
        rate[i] = np.inf
        for k in range(start[i], start[i + 1]):
            e = link[k]
            if rising[e] == 0:
                wanted[e] = 0.0
                heap[count] = e
                count += 1
            wanted[e] += use[k]
            rising[e] += 1
    # A link is full at a level that only grows as flows of others stop. So the least known level
    # stands at the top of a heap, and is reckoned anew there: it may have grown since.
    for place in range(count):
        level[heap[place]] = spare[heap[place]] / wanted[heap[place]]
    for place in range(count // 2 - 1, -1, -1):
        _sink(heap, level, place, count)
    while count > 0:
        full = heap[0]
        if rising[full] == 0:
            count -= 1
            heap[0] = heap[count]
        else:
            now = spare[full] / wanted[full]
            if now <= level[full]:
                _stop(uses, full, level[full], rate, links)
                continue
            level[full] = now
        _sink(heap, level, 0, count)


@array_kernel
def _stop(uses, full, level, rate, links):
    """The flows on a full link rise no more: what they use of other links is taken."""
    start, link, use, on_link, members = uses
    spare, wanted, rising, _, _ = links
    for m in range(on_link[full], on_link[full + 1]):
        i = members[m]
        if rate[i] == np.inf:
            rate[i] = level
            for k in range(start[i], start[i + 1]):
                spare[link[k]] -= level * use[k]
                wanted[link[k]] -= use[k]
                rising[link[k]] -= 1


@array_kernel
def _sink(heap, level, place, count):
    """Move the link at a place of the heap down until no link below it has a lower level."""
    moved = heap[place]
    while True:
        below = 2 * place + 1
        if below >= count:
            break
        if below + 1 < count and level[heap[below + 1]] < level[heap[below]]:
            below += 1
        if level[heap[below]] >= level[moved]:
            break
        heap[place] = heap[below]
        place = below
    heap[place] = moved


@array_kernel
def _members(start, link, links):
    """Flows on each link: those of link e stand from `on_link[e]` to `on_link[e + 1]`."""
    on_link = np.zeros(links + 1, dtype=np.int64)
    for k in range(len(link)):
        on_link[link[k] + 1] += 1
    for e in range(links):
        on_link[e + 1] += on_link[e]
    members = np.empty(len(link), dtype=np.int32)
    filled = on_link[:-1].copy()
    for i in range(len(start) - 1):
        for k in range(start[i], start[i + 1]):
            members[filled[link[k]]] = i
            filled[link[k]] += 1
    return on_link, members


@array_kernel
def _pick(start, link, use, flows, capacity):
    """The uses of some flows alone, and the capacity of the links they use, numbered anew."""
    picked_start = np.zeros(len(flows) + 1, dtype=np.int64)
    for n in range(len(flows)):
        picked_start[n + 1] = picked_start[n] + start[flows[n] + 1] - start[flows[n]]
    picked_link = np.empty(picked_start[-1], dtype=np.int32)
    picked_use = np.empty(picked_start[-1])
    number = np.full(len(capacity), -1, dtype=np.int64)
    room = np.empty(len(capacity))
    links, at = 0, 0
    for i in flows:
        for k in range(start[i], start[i + 1]):
            if number[link[k]] < 0:
                number[link[k]] = links
                room[links] = capacity[link[k]]
                links += 1
            picked_link[at] = number[link[k]]
            picked_use[at] = use[k]
            at += 1
    return picked_start, picked_link, picked_use, room[:links].copy()
