"""How jobs that share a network hold each other up: part of a simulated world.

The traffic of all running jobs is routed anew whenever one begins or leaves, and each job that is
sensitive goes as fast as its fullest links let it. A job that takes longer sends the same messages
in more time, so its traffic falls in proportion: how long jobs take and how full links are is found
together. Made by `wattline.engine.network` from a topology and the jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from wattline.books.keeping import note_answer, set_speed
from wattline.books.record import Record
from wattline.model.kernel import implement, kernel, kernel_part, slot
from wattline.model.kernel_arrays import KernelArrays
from wattline.policies.contract import Composition, counters_read
from wattline.policies.memory import Memory
from wattline.policies.state import State

JOB_PAIRS = 96
"""Pairs of routers that stand for the traffic of one job, unless it has more routers."""
SWEEPS = 4
"""Rounds in which the routing of all traffic settles, each taking half of the step."""
SWEEPS_AGAIN = 2
"""The same when traffic has changed a little."""
ROUNDS = 4
"""How often at most the traffic of slowed jobs is found anew; each round halves what is left."""
CLOSE = 0.01
"""Less of a change in how long a job takes leaves its traffic as it is."""


class Paths(KernelArrays):
    """Where nodes stand, and the paths between each two routers as in `wattline.network.routes`.

    Of a very large network these are bundles of routers; `bundle` says which each router is in.
    """

    FIELDS = ("bundle", "router", "first_node", "path_start", "link_start", "link", "minimal",
              "link_from", "link_gbit_s")
    bundle: Any
    router: Any
    first_node: Any
    path_start: Any
    link_start: Any
    link: Any
    minimal: Any
    link_from: Any
    link_gbit_s: Any


class Flows(Memory):
    """Room for the flows, and how jobs use the network.

    Of each job the share of its time that waits on messages, the traffic of one of its nodes,
    whether congestion slows it down, and its `turn`, by which its routers are paired: its row in
    the whole table, which stays when rows move up. While congestion is worked out: how many pairs
    of routers stand for it, how many times as long as on a quiet network its messages take
    (`slowed`) and the job itself (`longer`). `changed` is 1 where jobs came or went since the last
    routing.
    """

    FIELDS = ("load", "fresh", "price", "cost", "pair_row", "pair_gbit_s", "job_router", "order",
              "stalls", "changed", "share", "gbit_s", "sensitive", "turn", "pairs", "slowed",
              "longer")
    PER_JOB: ClassVar[Mapping[str, str]] = {
        "share": "f8", "gbit_s": "f8", "sensitive": "i8", "turn": "i8", "pairs": "i8",
        "slowed": "f8", "longer": "f8"}
    load: Any
    fresh: Any
    price: Any
    cost: Any
    pair_row: Any
    pair_gbit_s: Any
    job_router: Any
    order: Any
    stalls: Any
    changed: Any
    share: Any
    gbit_s: Any
    sensitive: Any
    turn: Any
    pairs: Any
    slowed: Any
    longer: Any


class NoCongestion(NamedTuple):
    """Jobs do not hold each other up."""


class Congestion(NamedTuple):
    """Jobs share the links of a network."""

    paths: Paths
    flows: Flows


@slot(1, default=True)
def network_changed(st: State, network: Any) -> None:
    """A job came or went."""
    return


@slot(2, default=True)
def congest(st: State, record: Record, network: Any, world: Any, policy: Composition) -> None:
    """Give jobs that share the network the rates that it lets them have."""
    return


@implement(network_changed, Congestion)
@kernel
def _changed(st: State, network: Congestion) -> None:
    network.flows.changed[0] = 1


@implement(congest, Congestion)
@kernel_part
def _congest(
    st: State, record: Record, network: Congestion, world: Any, policy: Composition
) -> None:
    """Find the congestion of all running jobs anew, and their rates."""
    if network.flows.changed[0] == 0:
        return
    network.flows.changed[0] = 0
    running = st.clock[0].running
    for index in range(running):
        network.flows.order[index] = world.ends.heap[index].job
    pairs = 0
    for index in range(running):
        pairs = _add_pairs(st, network, network.flows.order[index], pairs)
    _settle_routing(network, pairs, 0)
    _find_slowed(network, running)
    for round_ in range(ROUNDS):
        if not _send_less(network, running, round_):
            break
        _settle_routing(network, pairs, 1)
        _find_slowed(network, running)
    _count_stalls(network)
    for router in range(network.paths.bundle.size):
        stalls = network.flows.stalls[network.paths.bundle[router]]
        counters_read(st, policy.placement, router, stalls)
    for index in range(running):
        job = network.flows.order[index]
        _repace(st, record, network, world, policy, job, network.flows.slowed[job])


@kernel
def _find_slowed(network: Congestion, running: int) -> None:
    """How many times as long the messages of each job take on these loads."""
    first = 0
    for index in range(running):
        job = network.flows.order[index]
        end = first + network.flows.pairs[job]
        network.flows.slowed[job] = _slowdown(network, first, end)
        first = end


@kernel
def _send_less(network: Congestion, running: int, round_: int) -> bool:
    """Give jobs the traffic that goes with how long they take; whether any has changed.

    Between what a job was taken to need and what it would need on these loads, the geometric mean
    is never on the far side by more than it was on the near one.
    """
    changed = False
    first = 0
    for index in range(running):
        job = network.flows.order[index]
        end = first + network.flows.pairs[job]
        before = network.flows.longer[job] if round_ > 0 else 1.0
        longer = (before * _stretch(network, job, network.flows.slowed[job])) ** 0.5
        network.flows.longer[job] = longer
        if abs(longer - before) > CLOSE * before:
            changed = True
            for pair in range(first, end):
                network.flows.pair_gbit_s[pair] *= before / longer
        else:
            network.flows.longer[job] = before  # its traffic is still that of before
        first = end
    return changed


@kernel
def _stretch(network: Congestion, job: int, slowed: float) -> float:
    """How many times as long a job takes whose messages take so many times as long."""
    waiting = network.flows.share[job] if network.flows.sensitive[job] else 0.0
    return float(1.0 + waiting * (slowed - 1.0))


@kernel
def _routers_of(st: State, network: Congestion, job: int) -> int:
    """Write the routers of a job, in order, and return how many there are."""
    count = 0
    run = st.live[job].first_node
    while run >= 0:
        for node in range(run, run + st.nodes[run].length):
            router = network.paths.router[node]
            if count == 0 or network.flows.job_router[count - 1] != router:
                network.flows.job_router[count] = router
                count += 1
        run = st.nodes[run].next
    return count


@kernel
def _shifts(many: int) -> int:
    """With how many other routers each of a job's routers is paired."""
    return max(1, min(many - 1, JOB_PAIRS // many)) if many > 1 else 0


@kernel
def _add_pairs(st: State, network: Congestion, job: int, pairs: int) -> int:
    """Add the job's traffic: every router sends to, and hears from, equally many others."""
    many = _routers_of(st, network, job)
    shifts = _shifts(many)
    network.flows.pairs[job] = many * shifts
    if shifts == 0:
        return pairs
    routers = network.paths.first_node.size - 1
    # Messages between nodes of one router stay on it.
    gbit_s = network.flows.gbit_s[job] * st.live[job].units * (1.0 - 1.0 / many) / (many * shifts)
    step = (many - 1) // shifts
    for k in range(shifts):
        shift = 1 + (network.flows.turn[job] + k * step) % (many - 1)
        for one in range(many):
            here = network.flows.job_router[one]
            there = network.flows.job_router[(one + shift) % many]
            network.flows.pair_row[pairs] = here * routers + there
            network.flows.pair_gbit_s[pairs] = gbit_s
            pairs += 1
    return pairs


@kernel
def _weigh(network: Congestion, row: int) -> float:
    """Write the chance of each path of a pair, cheaper ones being likelier; return their sum."""
    link_start, link, minimal = (
        network.paths.link_start, network.paths.link, network.paths.minimal)
    price, costs = network.flows.price, network.flows.cost
    low, high = network.paths.path_start[row], network.paths.path_start[row + 1]
    direct = 0
    cheapest = 1e300
    for q in range(low, high):
        cost = 0.0
        for k in range(link_start[q], link_start[q + 1]):
            cost += price[link[k]]
        costs[q - low] = cost
        cheapest = min(cheapest, cost)
        direct += minimal[q]
    total = 0.0
    for q in range(low, high):
        kind = direct if minimal[q] else high - low - direct
        # 2.718... written out: the power is the same compiled and plain.
        chance = 2.718281828459045 ** (cheapest - costs[q - low]) / kind
        costs[q - low] = chance
        total += chance
    return total


@kernel
def _settle_routing(network: Congestion, pairs: int, again: int) -> None:
    """Loads of the links when traffic takes cheap paths, and their prices: 1 + load squared.

    `again`: from what was found before.
    """
    load, price, fresh = network.flows.load, network.flows.price, network.flows.fresh
    if not again:
        for e in range(load.size):
            load[e] = 0.0
            price[e] = 1.0
    for sweep in range(SWEEPS_AGAIN if again else SWEEPS):
        for e in range(load.size):
            fresh[e] = 0.0
        for pair in range(pairs):
            _spread(network, network.flows.pair_row[pair], network.flows.pair_gbit_s[pair])
        step = 1.0 if sweep == 0 else 0.5
        for e in range(load.size):
            load[e] += step * (fresh[e] - load[e])
            used = load[e] / network.paths.link_gbit_s[e]
            price[e] = 1.0 + used * used


@kernel
def _spread(network: Congestion, row: int, gbit_s: float) -> None:
    """Add the traffic of a pair to the links of its paths."""
    link_start, link = network.paths.link_start, network.paths.link
    costs, fresh = network.flows.cost, network.flows.fresh
    total = _weigh(network, row)
    low = network.paths.path_start[row]
    for q in range(low, network.paths.path_start[row + 1]):
        part = gbit_s * costs[q - low] / total
        for k in range(link_start[q], link_start[q + 1]):
            fresh[link[k]] += part


@kernel
def _count_stalls(network: Congestion) -> None:
    """What the counters of routers show: by how much the links that leave them are overloaded."""
    for router in range(network.flows.stalls.size):
        network.flows.stalls[router] = 0.0
    for e in range(network.flows.load.size):
        over = network.flows.load[e] / network.paths.link_gbit_s[e] - 1.0
        network.flows.stalls[network.paths.link_from[e]] += max(0.0, over)


@kernel
def _slowdown(network: Congestion, first: int, end: int) -> float:
    """How many times as long the job's slowest pair takes: the fullest link on its paths."""
    link_start, link = network.paths.link_start, network.paths.link
    load, link_gbit_s = network.flows.load, network.paths.link_gbit_s
    worst = 1.0
    for pair in range(first, end):
        row = network.flows.pair_row[pair]
        total = _weigh(network, row)
        low = network.paths.path_start[row]
        expected = 0.0
        for q in range(low, network.paths.path_start[row + 1]):
            fullest = 1.0
            for k in range(link_start[q], link_start[q + 1]):
                e = link[k]
                fullest = max(fullest, load[e] / link_gbit_s[e])
            expected += network.flows.cost[q - low] / total * fullest
        worst = max(worst, expected)
    return worst


@kernel_part
def _repace(
    st: State, record: Record, network: Congestion, world: Any, policy: Composition, job: int,
    slowed: float,
) -> None:
    """Give a job its new rate, unless it is the one that it has."""
    live = st.live[job]
    stretch = _stretch(network, job, slowed) / _node_speed(st, job)
    rate = st.clock[0].speed / (stretch * live.slowdown)
    if abs(rate - live.rate) > 1e-9 * rate:
        live.stretch = stretch  # with the rate: a machine would tell neither or both
        set_speed(st, record, world, policy, job, rate, live.power_w, live.cap_w)
        note_answer(st, record, job)


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
