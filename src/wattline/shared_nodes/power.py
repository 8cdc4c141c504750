"""Watts from parts: what a job adds to its nodes, and its share of what they draw anyway."""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import ASLEEP, Books


@kernel_part
def picked_watts(st: Books, job: int, bank: int) -> float:
    """What the job would add to the machine on the nodes that were picked, as free as in `bank`."""
    total = 0.0
    for place in range(st.clock[0].picked):
        total += node_watts(st, job, place, bank)
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
def node_watts(st: Books, job: int, place: int, bank: int) -> float:
    """Added by the job on one picked node; measured watts contain the node's idle power."""
    ask = st.ask[job]
    node = st.pick[place]
    if not np.isnan(ask.node_w):
        return float(max(ask.node_w - st.node_idle_w[node], 0.0))
    cpus = st.pick_cpus[place]
    watts = float(given_cpus(st, job, node, cpus) * st.node_cpu_w[node] * ask.load)
    if ask.any_gres == 0 and ask.exclusive == 0:
        return watts
    rules = st.rules[0]
    for kind in range(rules.kinds):
        watts += (st.kind_w[node * rules.kinds + kind]
                  * devices_used(st, job, node, kind, cpus, bank))
    return watts


@kernel_part
def devices_used(st: Books, job: int, node: int, kind: int, cpus: int, bank: int) -> int:
    """Devices of a kind that the job uses on a node: the first free ones that match, as it takes
    them when it starts; where a plan needs more, the first of those that others still hold.

    An exclusive job holds all of them, but only those that it asked for draw power.
    """
    rules = st.rules[0]
    here = node * rules.kinds
    bank_here = (bank * rules.nodes + node) * rules.kinds
    count = 0
    for choice in range(rules.choices):
        if not st.choice_kind[choice * rules.kinds + kind]:
            continue
        asked = st.need[job * rules.choices + choice] + (
            st.need_task[job * rules.choices + choice] * (cpus // st.ask[job].cpus_per_task))
        free_before, free_all, held_before = 0, 0, 0
        for other in range(rules.kinds):
            if st.choice_kind[choice * rules.kinds + other]:
                free = st.gres_free[bank_here + other]
                free_all += free
                if other < kind:
                    free_before += free
                    held_before += st.node_gres[here + other] - free
        free = st.gres_free[bank_here + kind]
        count += min(max(asked - free_before, 0), free)
        count += min(max(asked - free_all - held_before, 0), st.node_gres[here + kind] - free)
    return int(min(count, st.node_gres[here + kind]))
