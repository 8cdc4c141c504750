"""Counting the messages of jobs by router and by node."""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import array_kernel


@array_kernel
def count_messages(nodes, node_of_task, source, target, messages, node_router, first, widest):
    """Messages of one job by pair of routers; those inside a node do not use the network."""
    routers = np.unique(node_router[nodes])
    place = np.zeros(int(routers.max()) + 1 if len(routers) else 1, dtype=np.int64)
    for i in range(len(routers)):
        place[routers[i]] = i
    many = len(routers)
    index = np.full(many * many, -1, dtype=np.int64)
    pairs = 0
    for m in range(len(source)):
        one, other = node_of_task[source[m]], node_of_task[target[m]]
        if one != other:
            code = place[node_router[one]] * many + place[node_router[other]]
            if index[code] < 0:
                index[code] = pairs
                pairs += 1
    from_router = np.empty(pairs, dtype=np.int64)
    to_router = np.empty(pairs, dtype=np.int64)
    total = np.zeros(pairs)
    sent = np.zeros((pairs, widest))
    received = np.zeros((pairs, widest))
    for code in range(many * many):
        if index[code] >= 0:
            from_router[index[code]] = routers[code // many]
            to_router[index[code]] = routers[code % many]
    for m in range(len(source)):
        one, other = node_of_task[source[m]], node_of_task[target[m]]
        if one != other:
            here, there = node_router[one], node_router[other]
            i = index[place[here] * many + place[there]]
            total[i] += messages[m]
            sent[i, one - first[here]] += messages[m]
            received[i, other - first[there]] += messages[m]
    return from_router, to_router, total, sent, received


@array_kernel
def node_rates(job, source, target, messages, sent, received, first, nodes, jobs):
    """Rates of the flows when every node sends at rate one, and the busiest node of each job.

    A node divides its rate over its messages, so a flow's rate is the sum of its nodes' parts.
    """
    up = np.zeros(nodes)
    down = np.zeros(nodes)
    for i in range(len(job)):
        for n in range(first[source[i] + 1] - first[source[i]]):
            up[first[source[i]] + n] += sent[i, n]
        for n in range(first[target[i] + 1] - first[target[i]]):
            down[first[target[i]] + n] += received[i, n]
    rate = np.zeros(len(job))
    sent_rate = np.zeros(sent.shape)
    received_rate = np.zeros(received.shape)
    busiest = np.zeros(jobs)
    for i in range(len(job)):
        for n in range(first[source[i] + 1] - first[source[i]]):
            if sent[i, n] > 0.0:
                sent_rate[i, n] = sent[i, n] / up[first[source[i]] + n]
                rate[i] += sent_rate[i, n]
                busiest[job[i]] = max(busiest[job[i]], up[first[source[i]] + n])
        for n in range(first[target[i] + 1] - first[target[i]]):
            if received[i, n] > 0.0:
                received_rate[i, n] = rate[i] * received[i, n] / messages[i]
                busiest[job[i]] = max(busiest[job[i]], down[first[target[i]] + n])
    return rate, sent_rate, received_rate, busiest
