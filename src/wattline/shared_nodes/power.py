"""Watts from parts: what a job adds to its nodes, and its share of what they draw anyway."""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import ASLEEP, Books


@kernel_part
def picked_watts(st: Books, job: int) -> float:
    """What the job would add to the machine on the nodes that were picked."""
    total = 0.0
    for place in range(st.clock[0].picked):
        node = st.pick[place]
        total += node_watts(st, job, node, given_cpus(st, job, node, st.pick_cpus[place]))
    return total


@kernel_part
def woken_watts(st: Books) -> float:
    """Idle power of the nodes that were picked and are asleep."""
    total = 0.0
    for place in range(st.clock[0].picked):
        if st.node_power[st.pick[place]] == ASLEEP:
            total += st.node_idle_w[st.pick[place]]
    return total


@kernel_part
def given_cpus(st: Books, job: int, node: int, cpus: int) -> int:
    """CPUs that the job holds on a node: all of an exclusive one, else whole cores."""
    if st.ask[job].exclusive != 0:
        return int(st.node_cpus[node])
    threads = st.node_threads[node]
    return int(min((cpus + threads - 1) // threads * threads, st.node_cpus[node]))


@kernel_part
def node_watts(st: Books, job: int, node: int, cpus: int) -> float:
    """Added by the job on one node; measured watts contain the node's idle power."""
    ask = st.ask[job]
    if not np.isnan(ask.node_w):
        return float(max(ask.node_w - st.node_idle_w[node], 0.0))
    watts = float(cpus * st.node_cpu_w[node] * ask.load)
    if ask.any_gres == 0 and ask.exclusive == 0:
        return watts
    rules = st.rules[0]
    for kind in range(rules.kinds):
        watts += (st.kind_w[node * rules.kinds + kind]
                  * devices_asked(st, job, node, kind, cpus))
    return watts


@kernel_part
def devices_asked(st: Books, job: int, node: int, kind: int, cpus: int) -> int:
    """Devices of a kind that the job uses on a node if it has the first that match.

    An exclusive job holds all of them, but only those that it asked for draw power.
    """
    rules = st.rules[0]
    count = 0
    for choice in range(rules.choices):
        if not st.choice_kind[choice * rules.kinds + kind]:
            continue
        left = st.need[job * rules.choices + choice] + (
            st.need_task[job * rules.choices + choice] * (cpus // st.ask[job].cpus_per_task))
        for earlier in range(kind):
            if st.choice_kind[choice * rules.kinds + earlier]:
                left -= st.node_gres[node * rules.kinds + earlier]
        count += max(left, 0)
    return int(min(count, st.node_gres[node * rules.kinds + kind]))
