"""Watts from parts: what a job adds to its nodes, and its share of what they draw anyway."""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.devices import use_devices
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
def least_idle_w(st: Books) -> float:
    """Idle power of the machine with the picked nodes awake and as many others asleep as may be."""
    total_w = st.rules[0].least_idle_w
    asleep = st.rules[0].suspend_time_s >= 0.0
    for place in range(st.clock[0].picked):
        if asleep and st.node_sleeper[st.pick[place]]:
            total_w += st.node_idle_w[st.pick[place]]
    return float(total_w)


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
    # An exclusive job holds all devices, but only those that it asked for draw power.
    use_devices(st, job, place, bank)
    kinds = st.rules[0].kinds
    for kind in range(kinds):
        watts += st.kind_w[node * kinds + kind] * st.used[kind]
    return watts
