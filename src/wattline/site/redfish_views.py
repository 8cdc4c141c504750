"""From Redfish's links to views: what stands in what, and one view per feed."""

from __future__ import annotations

from collections.abc import Mapping

from wattline.model.errors import InputError
from wattline.site.drafts import NODE, Draft, DraftEntity
from wattline.site.redfish import Redfish, last_of


def redfish_drafts(found: Redfish) -> list[Draft]:
    """The view `chassis`, and `feedA`, `feedB`, ... where chassis say what feeds them."""
    parents = _parents(found)
    chassis = {last_of(address) for address in parents}
    depth = {address: _depth(address, parents) for address in parents}
    inside = _systems(found, depth)
    names = {address: found.hosts.get(address) or _own_name(address, chassis)
             for address in inside}
    _refuse_same(found, [*(last_of(each) for each in parents), *names.values()])
    remarks = list(found.remarks)
    silent = sorted(set(inside) - set(found.hosts))
    if silent:
        remarks.append(f"{found.source}: {len(silent)} systems without a HostName are called by "
                       f"their Id, such as '{last_of(silent[0])}'")
    kinds = {address: each.kind.lower() for address, each in found.chassis.items()}
    parts = [DraftEntity(last_of(address), kinds.get(address) or "chassis",
                         last_of(above) if above else "") for address, above in parents.items()]
    parts += [DraftEntity(names[system], NODE, last_of(where)) for system, where in inside.items()]
    drafts = [Draft("chassis", tuple(parts), found.source, tuple(remarks))]
    return drafts + _feeds(found, parents, inside, names)


def _own_name(address: str, taken: set[str]) -> str:
    """The Id of a system; where its chassis has the same, with its collection."""
    name = last_of(address)
    return "/".join(address.split("/")[-2:]) if name in taken else name


def _parents(found: Redfish) -> dict[str, str]:
    """The chassis that each stands in, those included that are only named by others."""
    parents: dict[str, str] = dict.fromkeys(found.chassis, "")

    def put(child: str, parent: str) -> None:
        if parents.get(child) not in (None, "", parent):
            raise InputError(f"{found.source}: {child} is contained by {parents[child]} and by "
                             f"{parent}; it can stand in one")
        parents[child] = parent
        parents.setdefault(parent, "")

    for address, chassis in found.chassis.items():
        if chassis.contained_by:
            put(address, chassis.contained_by)
        for below in chassis.contains:
            put(below, address)
    return parents


def _depth(address: str, parents: Mapping[str, str]) -> int:
    depth, walked = 0, address
    while parents.get(walked):
        walked, depth = parents[walked], depth + 1
        if depth > len(parents):
            raise InputError(f"{address} contains itself in a circle")
    return depth


def _systems(found: Redfish, depth: Mapping[str, int]) -> dict[str, str]:
    """The innermost chassis of each system: a rack may list those of its sleds too."""
    inside: dict[str, str] = {}
    for address, chassis in found.chassis.items():
        for system in chassis.systems:
            if system not in inside or depth[address] > depth[inside[system]]:
                inside[system] = address
    return inside


def _refuse_same(found: Redfish, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{found.source}: two chassis or systems are called '{name}'")
        seen.add(name)


def _feeds(found: Redfish, parents: Mapping[str, str], inside: Mapping[str, str],
           names: Mapping[str, str]) -> list[Draft]:
    """The first feed of every node makes a view, the second another: each is a tree."""
    feeds: dict[str, tuple[str, ...]] = {}
    for system, chassis in inside.items():
        walked = chassis
        while walked and not feeds.get(system):
            known = found.chassis.get(walked)
            feeds[system] = known.powered_by if known else ()
            walked = parents.get(walked, "")
    most = max(map(len, feeds.values()), default=0)
    drafts = []
    for place in range(min(most, 26)):
        fed = {system: _unit(each[place]) for system, each in feeds.items() if len(each) > place}
        units: dict[str, list[DraftEntity]] = {}
        for system, unit in fed.items():
            units.setdefault(unit, []).append(DraftEntity(names[system], NODE, unit))
        parts = (*(DraftEntity(unit, "feed") for unit in units),
                 *(node for nodes in units.values() for node in nodes))
        rest = len(inside) - len(fed)
        remark = (f"{found.source}: {rest} nodes have no feed number {place + 1}",) if rest else ()
        drafts.append(Draft(f"feed{chr(ord('A') + place)}", parts, found.source, remark))
    return drafts


def _unit(address: str) -> str:
    """The unit that an outlet or a circuit belongs to: what follows the collection of units."""
    parts = [part for part in address.split("/") if part][2:]
    at = 2 if parts[:1] == ["PowerEquipment"] else 1
    return parts[min(at, len(parts) - 1)] if parts else last_of(address)
