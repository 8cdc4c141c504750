"""The parts of a live machine: classes, racks and feeds of the site's file, with their watts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from wattline.controller.configuration import NodeKind, NodePart, SiteConfig
from wattline.model.units import parse_hosts
from wattline.web.sources.shape import Part, RackTable

NO_RACK = "(no rack)"
MISSING = {
    "rack": "the site's file names no racks: write racks = [{ name = \"1\", nodes = "
            "\"n[1-32]\" }, ...] there",
    "feed": "the site's file names no feeds: write feeds = [{ name = \"A\", nodes = \"n[1-64]\", "
            "limit_w = \"40kW\" }, ...] there",
}
Watts = Mapping[str, float | None]


def parts(site: SiteConfig, watts: Watts) -> dict[str, list[Part]]:
    """What each part draws now; nothing where no node is known yet."""
    if not watts:
        return {"class": [], "rack": [], "feed": []}
    return {"class": [Part(kind.name, _drawn_w(kind, watts)) for kind in site.kinds],
            "rack": [_part(each, watts) for each in site.racks],
            "feed": [_part(each, watts) for each in site.feeds]}


def missing(site: SiteConfig) -> dict[str, str]:
    """Which parts there cannot be, and what to write so that there are."""
    return {name: why for name, why in MISSING.items()
            if not (site.racks if name == "rack" else site.feeds)}


def node_max_w(site: SiteConfig) -> float:
    """The most that a node of the hungriest class draws."""
    kinds_w = [kind.active_w for kind in site.kinds]
    return max([site.node_active_w if watts is None else watts for watts in kinds_w],
               default=site.node_active_w)


def by_rack(site: SiteConfig, names: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The nodes of each rack, or of each class where no racks are named; others come last."""
    there = set(names)
    groups: Sequence[NodePart | NodeKind] = site.racks or site.kinds
    found = [(group.name, [name for name in parse_hosts(group.nodes) if name in there])
             for group in groups]
    placed = {name for _, members in found for name in members}
    rest = [name for name in names if name not in placed]
    return [*found, (NO_RACK, rest)] if rest else found


def rack_table(time_s: float, groups: Iterable[tuple[str, list[str]]], state: Mapping[str, str],
               watts: Watts) -> RackTable:
    table = RackTable(time_s, [], [], [], [])
    for name, members in groups:
        counts: dict[str, int] = {}
        for node in members:
            counts[state[node]] = counts.get(state[node], 0) + 1
        table.name.append(name)
        table.nodes.append(len(members))
        table.power_w.append(_sum(watts[node] for node in members))
        table.state_counts.append(counts)
    return table


def _part(part: NodePart, watts: Watts) -> Part:
    return Part(part.name, _drawn_w(part, watts), part.limit_w)


def _drawn_w(part: NodePart | NodeKind, watts: Watts) -> float | None:
    return _sum(watts.get(name) for name in parse_hosts(part.nodes))


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(sum(known)) if known else None
