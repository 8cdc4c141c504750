"""What placements know of the network: where nodes stand, what flows, and how jobs suffer.

Made by `wattline.network.fabric` from a topology and the jobs, since this layer knows no
topologies. Arrays that change while jobs come and go say so.
"""

from __future__ import annotations

from typing import Any

from wattline.model.books import Books
from wattline.model.kernel import kernel
from wattline.policies.placement.nodes import adopt_kinds, give_back_nodes, take_run
from wattline.policies.starting import note
from wattline.policies.state import ACT_SPEED, State

JOB_PAIRS = 96
"""Pairs of routers that stand for the traffic of one job, unless it has more routers."""
SWEEPS = 4
"""Rounds in which the routing of all traffic settles, each taking half of the step."""


class Fabric(Books):
    """The network as the allocator sees it, in the form that kernels take as one pointer.

    It serves the placement kernels both as their map (`Layout`) and as their room (`Room`).
    """

    FIELDS = (
        # The map: router of each node, first node of each router, first router of each group.
        "router", "first_node", "first_router",
        # Room for choosing nodes; `marks` has one a node, all zero between calls.
        "chosen", "idle", "nodes", "routers", "counts", "values", "seed", "marks",
        # Paths between each two routers, as in `wattline.network.routes`.
        "path_start", "link_start", "link", "minimal", "link_from", "link_gbit_s",
        # Jobs: share of time that waits on messages, traffic of one node, whether it is sensitive.
        "job_share", "job_gbit_s", "job_sensitive",
        # Counters of the routers, which change: Gbit/s of their nodes, overload of their links.
        "traffic", "stalls",
        # Whether jobs came or went since the rates were found, and whether congestion counts.
        "flags",
        # Room for the flows.
        "load", "fresh", "price", "cost", "pair_row", "pair_gbit_s", "job_router",
    )
    router: Any
    first_node: Any
    first_router: Any
    chosen: Any
    idle: Any
    nodes: Any
    routers: Any
    counts: Any
    values: Any
    seed: Any
    marks: Any
    path_start: Any
    link_start: Any
    link: Any
    minimal: Any
    link_from: Any
    link_gbit_s: Any
    job_share: Any
    job_gbit_s: Any
    job_sensitive: Any
    traffic: Any
    stalls: Any
    flags: Any
    load: Any
    fresh: Any
    price: Any
    cost: Any
    pair_row: Any
    pair_gbit_s: Any
    job_router: Any


CHANGED, CONGESTED = 0, 1
"""Places in `flags`."""


@kernel
def take_chosen(st: State, fabric: Fabric, job: int) -> bool:
    """Give the nodes in `room.chosen` to the job, as runs of neighbours."""
    wanted = st.live[job].units
    chosen = fabric.chosen
    low, high = chosen[0], chosen[0]
    for i in range(wanted):
        node = chosen[i]
        low, high = min(low, node), max(high, node)
        fabric.marks[node] = 1
        fabric.traffic[fabric.router[node]] += fabric.job_gbit_s[job]
    node = low
    while node <= high:
        if fabric.marks[node]:
            first = node
            while node <= high and fabric.marks[node]:
                fabric.marks[node] = 0
                node += 1
            take_run(st, job, first, node - first)
        node += 1
    adopt_kinds(st, job)
    fabric.flags[CHANGED] = 1
    return True


@kernel
def return_nodes(st: State, fabric: Fabric, job: int) -> None:
    """The job's nodes are free again, and its traffic is gone."""
    run = st.live[job].first_node
    while run >= 0:
        for node in range(run, run + st.nodes[run].length):
            router = fabric.router[node]
            left = fabric.traffic[router] - fabric.job_gbit_s[job]
            fabric.traffic[router] = left if left > 1e-9 else 0.0
        run = st.nodes[run].next
    give_back_nodes(st, job)
    fabric.flags[CHANGED] = 1


@kernel
def rerate(st: State, fabric: Fabric) -> bool:
    """Find the congestion of all running jobs anew and ask for their new rates."""
    if fabric.flags[CHANGED] == 0:
        return False
    fabric.flags[CHANGED] = 0
    if fabric.flags[CONGESTED] == 0:
        return False
    running = st.clock[0].running
    pairs = 0
    for index in range(running):
        pairs = _add_pairs(st, fabric, st.heap[index].job, pairs)
    _settle_routing(fabric, pairs)
    first = 0
    asked = False
    for index in range(running):
        job = st.heap[index].job
        end = first + _pair_count(st, fabric, job)
        slowed = _slowdown(fabric, first, end)
        first = end
        asked = _ask(st, fabric, job, slowed) or asked
    return asked


@kernel
def _routers_of(st: State, fabric: Fabric, job: int) -> int:
    """Write the routers of a job, in order, and return how many there are."""
    count = 0
    run = st.live[job].first_node
    while run >= 0:
        for node in range(run, run + st.nodes[run].length):
            router = fabric.router[node]
            if count == 0 or fabric.job_router[count - 1] != router:
                fabric.job_router[count] = router
                count += 1
        run = st.nodes[run].next
    return count


@kernel
def _shifts(many: int) -> int:
    """With how many other routers each of a job's routers is paired."""
    return max(1, min(many - 1, JOB_PAIRS // many)) if many > 1 else 0


@kernel
def _pair_count(st: State, fabric: Fabric, job: int) -> int:
    many = _routers_of(st, fabric, job)
    return many * _shifts(many)


@kernel
def _add_pairs(st: State, fabric: Fabric, job: int, pairs: int) -> int:
    """Add the job's traffic: every router sends to, and hears from, equally many others."""
    many = _routers_of(st, fabric, job)
    shifts = _shifts(many)
    if shifts == 0:
        return pairs
    routers = fabric.first_node.size - 1
    # Messages between nodes of one router stay on it.
    gbit_s = fabric.job_gbit_s[job] * st.live[job].units * (1.0 - 1.0 / many) / (many * shifts)
    step = (many - 1) // shifts
    for k in range(shifts):
        shift = 1 + (job + k * step) % (many - 1)
        for one in range(many):
            here = fabric.job_router[one]
            there = fabric.job_router[(one + shift) % many]
            fabric.pair_row[pairs] = here * routers + there
            fabric.pair_gbit_s[pairs] = gbit_s
            pairs += 1
    return pairs


@kernel
def _weigh(fabric: Fabric, row: int) -> float:
    """Write the chance of each path of a pair, cheaper ones being likelier; return their sum."""
    low, high = fabric.path_start[row], fabric.path_start[row + 1]
    direct = 0
    cheapest = 1e300
    for q in range(low, high):
        cost = 0.0
        for k in range(fabric.link_start[q], fabric.link_start[q + 1]):
            cost += fabric.price[fabric.link[k]]
        fabric.cost[q - low] = cost
        cheapest = min(cheapest, cost)
        direct += fabric.minimal[q]
    total = 0.0
    for q in range(low, high):
        kind = direct if fabric.minimal[q] else high - low - direct
        # 2.718... written out: the power is the same compiled and plain.
        chance = 2.718281828459045 ** (cheapest - fabric.cost[q - low]) / kind
        fabric.cost[q - low] = chance
        total += chance
    return total


@kernel
def _settle_routing(fabric: Fabric, pairs: int) -> None:
    """Loads of the links when traffic takes cheap paths, and their prices: 1 + load squared."""
    for e in range(fabric.load.size):
        fabric.load[e] = 0.0
        fabric.price[e] = 1.0
    for sweep in range(SWEEPS):
        for e in range(fabric.load.size):
            fabric.fresh[e] = 0.0
        for pair in range(pairs):
            row = fabric.pair_row[pair]
            total = _weigh(fabric, row)
            low = fabric.path_start[row]
            for q in range(low, fabric.path_start[row + 1]):
                part = fabric.pair_gbit_s[pair] * fabric.cost[q - low] / total
                for k in range(fabric.link_start[q], fabric.link_start[q + 1]):
                    fabric.fresh[fabric.link[k]] += part
        step = 1.0 if sweep == 0 else 0.5
        for e in range(fabric.load.size):
            fabric.load[e] += step * (fabric.fresh[e] - fabric.load[e])
            used = fabric.load[e] / fabric.link_gbit_s[e]
            fabric.price[e] = 1.0 + used * used
    for router in range(fabric.stalls.size):
        fabric.stalls[router] = 0.0
    for e in range(fabric.load.size):
        over = fabric.load[e] / fabric.link_gbit_s[e] - 1.0
        fabric.stalls[fabric.link_from[e]] += max(0.0, over)


@kernel
def _slowdown(fabric: Fabric, first: int, end: int) -> float:
    """How many times as long the job's slowest pair takes: the fullest link on its paths."""
    worst = 1.0
    for pair in range(first, end):
        row = fabric.pair_row[pair]
        total = _weigh(fabric, row)
        low = fabric.path_start[row]
        expected = 0.0
        for q in range(low, fabric.path_start[row + 1]):
            fullest = 1.0
            for k in range(fabric.link_start[q], fabric.link_start[q + 1]):
                e = fabric.link[k]
                fullest = max(fullest, fabric.load[e] / fabric.link_gbit_s[e])
            expected += fabric.cost[q - low] / total * fullest
        worst = max(worst, expected)
    return worst


@kernel
def _ask(st: State, fabric: Fabric, job: int, slowed: float) -> bool:
    """Ask for a job's new rate, unless it is the one that it has."""
    live = st.live[job]
    waiting = fabric.job_share[job] if fabric.job_sensitive[job] else 0.0
    stretch = (1.0 + waiting * (slowed - 1.0)) / _node_speed(st, job)
    rate = st.clock[0].speed / stretch
    live.stretch = stretch
    if abs(rate - live.rate) <= 1e-9 * rate:
        return False
    note(st, ACT_SPEED, job, rate, live.power_w)
    return True


@kernel
def _node_speed(st: State, job: int) -> float:
    """Speed of the slowest of the job's nodes."""
    if st.kinds.size < 2:
        return 1.0
    speed = 1e300
    run = st.live[job].first_node
    while run >= 0:
        for node in range(run, run + st.nodes[run].length):
            speed = min(speed, st.kinds[st.nodes[node].kind].speed)
        run = st.nodes[run].next
    return float(speed)
