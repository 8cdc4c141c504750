"""Max-min fair sharing of links, and the time in which every flow gets its bytes through."""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import array_kernel


@array_kernel
def fair_rates(start, link, use, alive, capacity):
    """Max-min fair rate of each flow.

    Flow i uses `use[k]` units of link `link[k]` for each unit of its rate, k from `start[i]` to
    `start[i + 1]`. All rates rise together; when a link is full, the flows on it stop rising.
    Flows that are not alive get rate 0, flows without links an infinite rate.
    """
    flows, links = len(start) - 1, len(capacity)
    rate = np.full(flows, np.inf)
    wanted = np.zeros(links)
    on_link = np.zeros(links + 1, dtype=np.int64)
    rising = 0
    for i in range(flows):
        if not alive[i]:
            rate[i] = 0.0
            continue
        if start[i + 1] > start[i]:
            rising += 1
        for k in range(start[i], start[i + 1]):
            wanted[link[k]] += use[k]
            on_link[link[k] + 1] += 1
    for e in range(links):
        on_link[e + 1] += on_link[e]
    members = np.empty(on_link[links], dtype=np.int32)
    filled = on_link[:-1].copy()
    for i in range(flows):
        if alive[i]:
            for k in range(start[i], start[i + 1]):
                members[filled[link[k]]] = i
                filled[link[k]] += 1
    left = capacity.copy()
    live = np.empty(links, dtype=np.int64)
    count = 0
    for e in range(links):
        if wanted[e] > 0.0:
            live[count] = e
            count += 1
    while rising > 0 and count > 0:
        level, full = np.inf, -1
        position = 0
        while position < count:
            e = live[position]
            if wanted[e] < 1e-9:
                count -= 1
                live[position] = live[count]
                continue
            now = max(0.0, left[e]) / wanted[e]
            if now < level or (now == level and e < full):
                level, full = now, e
            position += 1
        if full < 0:
            break
        for m in range(on_link[full], on_link[full + 1]):
            i = members[m]
            if rate[i] != np.inf:
                continue
            rate[i] = level
            rising -= 1
            for k in range(start[i], start[i + 1]):
                left[link[k]] -= level * use[k]
                wanted[link[k]] -= use[k]
        wanted[full] = 0.0
    return rate


@array_kernel
def finish_times(start, link, use, job, size, jobs, capacity, epochs):
    """Time at which the last flow of each job is done, when all start together.

    `size[i]` is what flow i has to carry for each unit of `use`. Rates are found anew after each
    epoch, when a good part of the flows is done and leaves its share to the others.
    """
    flows = len(start) - 1
    done_s = np.zeros(jobs)
    left = size.copy()
    alive = np.ones(flows, dtype=np.bool_)
    now = 0.0
    for epoch in range(epochs):
        rate = fair_rates(start, link, use, alive, capacity)
        need = np.full(flows, np.inf)
        remaining = 0
        for i in range(flows):
            if alive[i]:
                need[i] = left[i] / rate[i]
                remaining += 1
        if remaining == 0:
            break
        if epoch == epochs - 1:
            for i in range(flows):
                if alive[i]:
                    done_s[job[i]] = max(done_s[job[i]], now + need[i])
            break
        # The next epoch starts when half of the flows that are left are done.
        step = np.partition(need, (remaining - 1) // 2)[(remaining - 1) // 2]
        step *= 1.0 + 1e-9
        now += step
        for i in range(flows):
            if alive[i]:
                if need[i] <= step:
                    alive[i] = False
                    done_s[job[i]] = max(done_s[job[i]], now - step + need[i])
                else:
                    left[i] -= rate[i] * step
    return done_s
