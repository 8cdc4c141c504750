"""The three views that every machine has: power, rack, network; and views read from a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.model.machine import Machine, NodeClass
from wattline.model.reading import read_toml
from wattline.model.units import parse_hosts
from wattline.model.views.keys import Inherit, Key, KeyType
from wattline.model.views.tree import Entity
from wattline.model.views.view import Bound, MachineView

MOST_ENTITIES = 1_000_000
"""Of a view; each is an object with its values, some kilobyte in all."""
POWER_BOUND = Bound("power_w", "limit_w")

_SUM = Inherit.CHILDREN_SUM
POWER_KEYS = (
    Key("power_w", unit="W", inherit=_SUM),
    Key("idle_w", unit="W", inherit=_SUM, read_only=True),
    Key("max_w", unit="W", inherit=_SUM, read_only=True),
    Key("limit_w", unit="W"),
    Key("bound_w", unit="W", inherit=Inherit.PARENTS_MIN, source="limit_w", read_only=True),
)


def power_view(machine: Machine, *, cores: bool = False, racks_per_pdu: int = 8,
               limits_w: Mapping[str, float] | None = None, site_limit_w: float | None = None
               ) -> MachineView:
    """Who feeds whom: site, distribution unit, rack, node and, on request, core.

    A node's idle and full power are spread over its cores equally. All nodes begin idle.
    `limits_w` are bounds by name of entity, at any level; they are enforced at every change.
    """
    _refuse_large(machine, max(group.node_class.cores for group in machine.groups) if cores else 0)
    entities = [Entity(machine.site, "site")]
    idle: dict[str, float] = {}
    full: dict[str, float] = {}
    for pdu in range(-(-len(machine.racks) // racks_per_pdu)):
        entities.append(Entity(f"pdu{pdu}", "pdu", machine.site))
    for rack in range(len(machine.racks)):
        entities.append(Entity(f"rack{rack}", "rack", f"pdu{rack // racks_per_pdu}"))
    for node, (rack, kind) in enumerate(_nodes(machine)):
        name = machine.hosts[node]
        entities.append(Entity(name, "node", f"rack{rack}"))
        leaves = [f"{name}c{core}" for core in range(kind.cores)] if cores else [name]
        for leaf in leaves:
            if cores:
                entities.append(Entity(leaf, "core", name))
            idle[leaf] = kind.power_w_idle / len(leaves)
            full[leaf] = kind.power_w_active / len(leaves)
    limits = dict(limits_w or {})
    if site_limit_w is not None:
        limits[machine.site] = site_limit_w
    values = {"power_w": idle, "idle_w": idle, "max_w": full, "limit_w": limits}
    return MachineView("power", entities, POWER_KEYS, values, (POWER_BOUND,))


def rack_view(machine: Machine) -> MachineView:
    """What stands where: site, system, rack, node, with counts."""
    _refuse_large(machine)
    entities = [Entity(machine.site, "site"), Entity(machine.name, "system", machine.site)]
    entities += [Entity(f"rack{r}", "rack", machine.name) for r in range(len(machine.racks))]
    cores = {}
    classes = {}
    for node, (rack, kind) in enumerate(_nodes(machine)):
        name = machine.hosts[node]
        entities.append(Entity(name, "node", f"rack{rack}"))
        cores[name] = kind.cores
        classes[name] = kind.name
    keys = (
        Key("cores", KeyType.INTEGER, inherit=_SUM, read_only=True),
        Key("nodes", KeyType.INTEGER, inherit=Inherit.CHILDREN_COUNT, source="cores",
            on=("rack",), read_only=True),
        Key("node_class", KeyType.TEXT, on=("node",), read_only=True),
    )
    return MachineView("rack", entities, keys, {"cores": cores, "node_class": classes})


def network_view(machine: Machine, *, nodes_per_switch: int = 16) -> MachineView:
    """Who is reached through whom: core switch, rack switch, edge switch, node.

    A machine file says nothing of its network, so this is the plain tree that a site's racks
    suggest; the share of a node in the uplinks follows from it. Dragonflies have their own model.
    """
    _refuse_large(machine)
    entities = [Entity("fabric", "fabric")]
    link: dict[str, float] = {}
    for rack, (first, count) in enumerate(machine.racks):
        entities.append(Entity(f"rack{rack}sw", "rack-switch", "fabric"))
        for edge in range(-(-count // nodes_per_switch)):
            switch = f"rack{rack}sw{edge}"
            entities.append(Entity(switch, "switch", f"rack{rack}sw"))
            for node in range(first + edge * nodes_per_switch,
                              min(first + count, first + (edge + 1) * nodes_per_switch)):
                entities.append(Entity(machine.hosts[node], "node", switch))
                link[machine.hosts[node]] = 1.0
    keys = (
        Key("links", KeyType.INTEGER, inherit=_SUM, read_only=True),
        Key("share", inherit=Inherit.PARENTS_SHARE, read_only=True),
    )
    return MachineView("network", entities, keys, {"links": link, "share": {"fabric": 1.0}})


BUILDERS = {"power": power_view, "rack": rack_view, "network": network_view}


def read_views(path: Path) -> dict[str, MachineView]:
    """Views from a TOML file: `[views.NAME]` with `keys`, `entities` and `bounds`."""
    views = read_toml(path).get("views")
    if not isinstance(views, dict) or not views:
        raise InputError(f"{path}: no [views.NAME] table; a view has keys and entities")
    found = {name: view_from_mapping(name, table, str(path)) for name, table in views.items()}
    for view in found.values():
        for other in (other for bound in view.bounds for other in bound.carries):
            if other not in found:
                raise InputError(f"{path}: view '{view.name}' carries '{other}', which is no view "
                                 f"of the file; it has {', '.join(found)}")
    return found


def view_from_mapping(name: str, given: Mapping[str, Any], where: str) -> MachineView:
    """One view from its table; `entities` may name many at once, as in `node[0-15]`."""
    try:
        keys = [Key.from_mapping(key) for key in given.get("keys", ())]
        entities, values = _entities(name, given.get("entities", ()), {key.name for key in keys})
        bounds = [_bound(name, table) for table in given.get("bounds", ())]
        return MachineView(name, entities, keys, values, bounds)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{where}: view '{name}' is not laid out as expected: {error}") from None


def _bound(view: str, table: Mapping[str, Any]) -> Bound:
    unknown = set(table) - {"used", "limit", "share", "carries"}
    if unknown:
        raise InputError(f"view '{view}': a bound has the unknown field '{sorted(unknown)[0]}'; it "
                         "has used, limit, share and carries")
    carries = table.get("carries", ())
    if isinstance(carries, str):
        carries = [carries]
    return Bound(str(table["used"]), str(table["limit"]), str(table.get("share", "")),
                 tuple(str(other) for other in carries))


def _entities(
    view: str, given: Iterable[Mapping[str, Any]], keys: set[str]
) -> tuple[list[Entity], dict[str, dict[str, Any]]]:
    entities: list[Entity] = []
    values: dict[str, dict[str, Any]] = {}
    for table in given:
        names = parse_hosts(str(table.get("name", "")))
        unknown = set(table) - keys - {"name", "type", "parent"}
        if unknown:
            raise InputError(f"view '{view}': entity '{table['name']}' has the unknown key "
                             f"'{sorted(unknown)[0]}'")
        for name in names:
            entities.append(Entity(name, str(table.get("type", "entity")),
                                   str(table.get("parent", ""))))
            for key in set(table) & keys:
                values.setdefault(key, {})[name] = table[key]
    return entities, values


def _refuse_large(machine: Machine, cores: int = 0) -> None:
    entities = machine.node_count * (1 + cores)
    if entities > MOST_ENTITIES:
        raise InputError(f"a view of {machine.name} would have {entities:,} parts; at most "
                         f"{MOST_ENTITIES:,} can be shown")


def _nodes(machine: Machine) -> Iterable[tuple[int, NodeClass]]:
    """Rack and class of each node, in order."""
    racks = [r for r, (_, count) in enumerate(machine.racks) for _ in range(count)]
    classes = [group.node_class for group in machine.groups for _ in range(group.count)]
    return zip(racks, classes, strict=True)
