"""`topology.conf` and `topology.yaml`: which switch or block leads to which nodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.model.reading import is_deeper, read_text
from wattline.site.lines import Line, hosts_of, read_lines

MOST_YAML_BYTES = 16 * 2**20
MOST_DEPTH = 16


@dataclass(frozen=True)
class Switch:
    """A switch or a block, with what hangs on it directly."""

    name: str
    nodes: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    link_speed: str = ""
    where: str = ""


@dataclass(frozen=True)
class Topology:
    """One topology: switches in a tree, or blocks beside each other."""

    name: str
    kind: str
    """`tree`, `block` or `flat`."""
    switches: tuple[Switch, ...] = ()
    default: bool = False


@dataclass(frozen=True)
class Topologies:
    source: str
    found: tuple[Topology, ...]
    remarks: tuple[str, ...] = ()


def read_topology(path: str | Path) -> Topologies:
    """Read a `topology.conf`, or a `topology.yaml` where the name ends like one."""
    if Path(path).suffix.lower() in (".yaml", ".yml"):
        return _from_yaml(_yaml(Path(path)), str(path))
    return topology_conf(read_lines(path), str(path))


def topology_conf(lines: Iterable[Line], source: str) -> Topologies:
    """What the lines of a `topology.conf` say."""
    switches: dict[str, list[Switch]] = {"tree": [], "block": []}
    remarks: list[str] = []
    for line in lines:
        remarks += line.remarks
        names = line.hosts(line.kind) if line.kind in ("switchname", "blockname") else ()
        for name in names:
            switches["tree" if line.kind == "switchname" else "block"].append(
                Switch(name, line.hosts("nodes"), line.hosts("switches"),
                       line.get("linkspeed") or "", line.where))
        if not names and line.kind != "blocksizes":
            remarks.append(f"{line.where}: {line.kind} is passed over")
    found = tuple(Topology("network", kind, _checked(listed), True)
                  for kind, listed in switches.items() if listed)
    if len(found) != 1:
        has = "both SwitchName and" if found else "neither SwitchName nor"
        raise InputError(f"{source}: has {has} BlockName lines; a topology is made of one of them")
    return Topologies(source, found, tuple(remarks))


def _checked(switches: Iterable[Switch]) -> tuple[Switch, ...]:
    seen: dict[str, str] = {}
    switches = tuple(switches)
    for switch in switches:
        if switch.name in seen:
            raise InputError(f"{switch.where}: '{switch.name}' is defined a second time")
        seen[switch.name] = switch.where
        if switch.nodes == ("ALL",):
            raise InputError(f"{switch.where}: '{switch.name}' has Nodes=ALL, which only Slurm "
                             "itself can look up; write the names of the nodes")
    return switches


def _yaml(path: Path) -> Any:
    import yaml

    text = read_text(path, MOST_YAML_BYTES)
    try:
        # Aliases can make gigabytes of a few lines; Slurm's file needs none.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise InputError(f"{path}: has a YAML alias (*name); write it out")
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = f":{mark.line + 1}" if mark is not None else ""
        raise InputError(f"{path}{at}: not a YAML file: "
                         f"{getattr(error, 'problem', None) or 'cannot be read'}") from None
    except RecursionError:
        raise InputError(f"{path}: lists lie too deep in one another") from None
    except ValueError as error:  # a date or a number that no calendar or machine has
        raise InputError(f"{path}: not a YAML file: {error}") from None


def _from_yaml(given: Any, source: str) -> Topologies:
    if not isinstance(given, list) or not given or is_deeper(given, MOST_DEPTH):
        raise InputError(f"{source}: must be a list of topologies, each with a name and a kind "
                         "like tree or block")
    found, remarks = [], []
    for table in given:
        if not isinstance(table, dict) or "topology" not in table:
            raise InputError(f"{source}: a topology needs its name, like '- topology: main'")
        name = str(table["topology"])
        kind = next((kind for kind in ("tree", "block", "flat") if kind in table), "")
        if not kind:
            other = ", ".join(sorted(set(map(str, table)) - {"topology", "cluster_default"}))
            remarks.append(f"{source}: topology '{name}' is neither tree, block nor flat "
                           f"({other or 'nothing'}); left out")
            continue
        inside = _switches(table[kind], kind, f"{source}: topology '{name}'")
        found.append(Topology(name, kind, _checked(inside), bool(table.get("cluster_default"))))
    if not found:
        raise InputError(f"{source}: has no topology that is a tree, a block or flat")
    return Topologies(source, tuple(found), tuple(remarks))


def _switches(given: Any, kind: str, where: str) -> list[Switch]:
    if kind == "flat":
        return []
    many, one = ("switches", "switch") if kind == "tree" else ("blocks", "block")
    listed = given.get(many) if isinstance(given, dict) else None
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise InputError(f"{where}: '{kind}' needs a list '{many}'")
    found = []
    for each in listed:
        for name in hosts_of(str(each.get(one, "")), where):
            found.append(Switch(name, hosts_of(str(each.get("nodes") or ""), where),
                                hosts_of(str(each.get("children") or ""), where), "",
                                where))
    return found
