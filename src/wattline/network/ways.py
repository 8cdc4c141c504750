"""How many shortest ways there are between routers, and what each link carries when all are used.

Counted without making the paths, which are too many in a large fat-tree or torus.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.network.topology.base import Topology
from wattline.network.wiring import Wiring


class Closer(NamedTuple):
    """The links of a domain that lead nearer to a router, those nearest to it first."""

    first: int
    """First router of the domain, from which the ends are counted."""
    ways: FloatArray
    """Shortest ways from each router of the domain to that router."""
    link: IntArray
    start: IntArray
    """Ends of each link: where it starts and where it leads."""
    end: IntArray
    level: IntArray
    """Where the links of each distance begin in the list, and the number of links at the end."""


def links_closer(wiring: Wiring, router: int) -> Closer:
    """The links on shortest ways to a router, within its domain."""
    domain = wiring.domain[router]
    first, last = int(wiring.first[domain]), int(wiring.first[domain + 1])
    link = wiring.next_link[wiring.next_start[first]:wiring.next_start[last]]
    # Every link has a twin in the other direction, so the way back is as long.
    hops = wiring.distance[router, :last - first].astype(np.int64)
    start, end = wiring.link_from[link] - first, wiring.link_to[link] - first
    kept = np.flatnonzero(hops[end] == hops[start] - 1)
    kept = kept[np.argsort(hops[start[kept]], kind="stable")]
    link, start, end = link[kept], start[kept], end[kept]
    level = np.searchsorted(hops[start], np.arange(1, int(hops.max()) + 2))
    ways = np.zeros(last - first)
    ways[router - first] = 1.0
    for low, high in pairwise(level.tolist()):
        ways += np.bincount(start[low:high], ways[end[low:high]], len(ways))
    return Closer(first, ways, link, start, end, level)


def most_ways(topology: Topology, wiring: Wiring) -> int:
    """Shortest ways that two routers with nodes have at most."""
    return max(most_inside(topology, wiring), _most_across(topology, wiring))


def most_inside(topology: Topology, wiring: Wiring) -> int:
    """Shortest ways that two routers with nodes of one domain have at most."""
    holding = _holds_nodes(topology)
    most, ends = 0.0, 0
    for one, other in pairwise(wiring.first.tolist()):
        ways = wiring.ways[one:other, :other - one][:, holding[one:other]]
        if ways.size and ways.max() > most:
            most = float(ways.max())
            ends = one + int(np.argmax(ways.max(axis=1)))
    # A float of four bytes is near enough to say which pair has the most, not how many.
    closer = links_closer(wiring, ends)
    among = holding[closer.first:closer.first + len(closer.ways)]
    return int(closer.ways[among].max())


def _most_across(topology: Topology, wiring: Wiring) -> int:
    """Shortest ways that two routers with nodes have at most where their domains differ.

    A way crosses one link between the two; those that most ways could cross are looked at first.
    """
    domains = len(wiring.first) - 1
    holding = np.flatnonzero(_holds_nodes(topology))
    inside = wiring.ways.max(axis=1).astype(np.float64)
    link = wiring.between_link
    by_link = np.cumsum(inside[wiring.link_from[link]] * inside[wiring.link_to[link]])
    at_most = np.diff(np.concatenate(([0.0], by_link))[wiring.between_start])
    most = 0
    for pair in np.argsort(-at_most, kind="stable").tolist():
        if at_most[pair] <= most:
            break
        one, other = (holding[wiring.domain[holding] == domain]
                      for domain in divmod(pair, domains))
        crossed = link[wiring.between_start[pair]:wiring.between_start[pair + 1]]
        most = max(most, _across(wiring, one, other, crossed))
    return most


def _across(wiring: Wiring, source: IntArray, target: IntArray, crossed: IntArray) -> int:
    """The most ways of these pairs of routers by links from the domain of one to the other's."""
    if not len(source) or not len(target):
        return 0
    begin = wiring.link_from[crossed] - wiring.first[wiring.domain[source[0]]]
    end, there = wiring.link_to[crossed], target - wiring.first[wiring.domain[target[0]]]
    before, behind = wiring.distance[source][:, begin], wiring.distance[end][:, there]
    ways_before, ways_behind = (ways.astype(np.float64) for ways in (
        wiring.ways[source][:, begin], wiring.ways[end][:, there]))
    least = np.full((len(source), len(target)), np.iinfo(np.int16).max, dtype=np.int16)
    ways = np.zeros(least.shape)
    for at in range(len(crossed)):
        hops = before[:, at, None] + behind[None, at]
        joined = (before[:, at, None] >= 0) & (behind[None, at] >= 0)
        found = ways_before[:, at, None] * ways_behind[None, at]
        ways = np.where(joined & (hops < least), found,
                        ways + np.where(joined & (hops == least), found, 0.0))
        least = np.where(joined, np.minimum(least, hops), least)
    return int(ways.max())


def _holds_nodes(topology: Topology) -> npt.NDArray[np.bool_]:
    return np.bincount(topology.node_router, minlength=topology.routers) > 0


def spread(wiring: Wiring, source: IntArray, target: IntArray, amount: FloatArray) -> FloatArray:
    """What each link carries when each pair of routers of one domain uses its ways alike."""
    load = np.zeros(len(wiring.link_from))
    order = np.argsort(target, kind="stable")
    routers, begin = np.unique(target[order], return_index=True)
    for router, rows in zip(routers.tolist(), np.split(order, begin[1:]), strict=True):
        closer = links_closer(wiring, router)
        here = np.bincount(source[rows] - closer.first, amount[rows], len(closer.ways))
        _spread_to(closer, here.astype(np.float64), load)
    return load


def _spread_to(closer: Closer, here: FloatArray, load: FloatArray) -> None:
    """Add what each link carries of what is at each router and goes to one of them."""
    for low, high in zip(closer.level[-2::-1], closer.level[:0:-1], strict=True):
        start, end = closer.start[low:high], closer.end[low:high]
        part = here[start] * closer.ways[end] / closer.ways[start]
        load[closer.link[low:high]] += part
        here += np.bincount(end, part, len(here))


def spread_by_thirds(wiring: Wiring, source: IntArray, target: IntArray,
                     amount: FloatArray) -> FloatArray:
    """What each link carries when each pair, of a network without groups, detours by each third
    router alike, and uses the ways of both halves alike."""
    routers = len(wiring.domain)
    sent = np.zeros((routers, routers))
    np.add.at(sent, (source, target), amount)
    np.fill_diagonal(sent, 0.0)
    leaving, coming = sent.sum(axis=1), sent.sum(axis=0)
    load = np.zeros(len(wiring.link_from))
    for router in range(routers):
        here = sent[:, router].copy()
        if routers > 2:
            # Whatever leaves a router goes by a third one, which is none of its own two ends.
            here = ((leaving - here) + (coming[router] - here)) / (routers - 2)
            here[router] = 0.0
        if here.any():
            _spread_to(links_closer(wiring, router), here, load)
    return load
