"""The `[network]` section of a machine file: which interconnect it has, and its figures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.model.reading import is_file, read_text, read_toml
from wattline.model.units import parse_hosts
from wattline.network.topology import Topology, aries, dragonfly, dragonfly_plus, fat_tree, torus
from wattline.network.topology.files import read_codes, read_cray
from wattline.network.topology.slurm import is_slurm, read_slurm

BUILDERS: Mapping[str, Callable[..., Topology]] = {
    "dragonfly": dragonfly,
    "dragonfly+": dragonfly_plus,
    "aries": aries,
    "fat-tree": fat_tree,
    "torus": torus,
    "cray": read_cray,
    "codes": read_codes,
    "slurm": read_slurm,
}
"""Topologies by name; `cray` reads a cabling dump, `codes` a pair of files of that simulator, and
`slurm` what Slurm is told of a network."""

BUILT_IN: Mapping[str, Mapping[str, Any]] = {
    "dragonfly-272": {"topology": "dragonfly", "routers_per_group": 4, "groups": 17},
    "dragonfly-528": {"topology": "dragonfly", "routers_per_group": 4, "groups": 33},
    "dragonfly-544": {"topology": "dragonfly", "routers_per_group": 8, "groups": 17},
    "dragonfly-1056": {"topology": "dragonfly", "routers_per_group": 8, "groups": 33},
    "theta": {"topology": "aries", "groups": 9, "rows": 6, "columns": 16,
              "links_per_group_pair": 24, "global_lanes": 2, "name": "theta"},
}
_FILES = ("path", "intra", "inter")
BEHAVIOUR = ("communication_share", "node_traffic_gbit_s", "sensitive_jobs", "congestion", "seed",
             "profiles")
"""Fields of the section that say how jobs use the network; see `wattline.network.fabric`."""


def build_topology(table: Mapping[str, Any], where: str = "[network]",
                   folder: Path | None = None) -> Topology:
    """A topology from the fields of a `[network]` section; files are found beside the folder."""
    fields = {key: value for key, value in table.items() if key not in BEHAVIOUR}
    kind = fields.pop("topology", "dragonfly")
    builder = BUILDERS.get(kind) if isinstance(kind, str) else None
    if builder is None:
        raise InputError(f"{where}: topology '{kind}' is unknown; write one of "
                         f"{', '.join(BUILDERS)}")
    hosts = fields.pop("hosts", None)
    if kind in ("cray", "slurm") and "file" in fields:
        fields["path"] = fields.pop("file")
    known = inspect.signature(builder).parameters
    for name, value in fields.items():
        shown = "file" if name == "path" else name
        if name not in known:
            names = ", ".join("file" if n == "path" else n for n in (*known, "hosts"))
            raise InputError(f"{where}: field '{shown}' is unknown for topology '{kind}'; "
                             f"the fields are {names}")
        fields[name] = _value(f"{where}: {shown}", name, value, known[name], folder)
    for name, parameter in known.items():
        if parameter.default is inspect.Parameter.empty and name not in fields:
            raise InputError(f"{where}: topology '{kind}' needs the field "
                             f"'{'file' if name == 'path' else name}'")
    made = builder(**fields)
    return made if hosts is None else _named(made, hosts, where)


def _named(topology: Topology, hosts: Any, where: str) -> Topology:
    """The same network with names for its nodes, in their order."""
    if topology.hosts:
        raise InputError(f"{where}: hosts are named by its file already; leave the field out")
    if not isinstance(hosts, str):
        raise InputError(f"{where}: hosts must be a host list in quotes like \"nid[00000-00271]\"")
    names = tuple(parse_hosts(hosts))
    if len(set(names)) != topology.nodes or len(names) != topology.nodes:
        raise InputError(f"{where}: hosts has {len(names)} names ({len(set(names))} different "
                         f"ones), and the network {topology.nodes} nodes; give each node one")
    return replace(topology, hosts=names)


def _value(where: str, name: str, value: Any, parameter: inspect.Parameter,
           folder: Path | None) -> Any:
    if name in _FILES:
        if not isinstance(value, str):
            raise InputError(f"{where} must be the name of a file")
        return (folder or Path()) / value
    if name == "sizes":
        if not isinstance(value, list) or not all(type(v) is int for v in value):
            raise InputError(f"{where} must be a list of whole numbers like [8, 8, 8]")
        return value
    default = parameter.default
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise InputError(f"{where} is {value!r}, which is not a number or a text")
    if isinstance(default, str) != isinstance(value, str):
        raise InputError(f"{where} must be {'a text' if isinstance(default, str) else 'a number'}, "
                         f"not {value!r}")
    if isinstance(default, int) and not isinstance(value, int):
        raise InputError(f"{where} must be a whole number, not {value!r}")
    return value


def section_topology(section: Any, where: str, folder: Path | None = None,
                     seen: tuple[Path, ...] = ()) -> Topology:
    """The topology of a `[network]` section: its own, or that of the machine which it names."""
    if not isinstance(section, dict):
        raise InputError(f"{where} is a section, and it is {section!r}; write [network] with "
                         "topology = \"dragonfly\", for example")
    figures = {key: value for key, value in section.items() if key not in BEHAVIOUR}
    named = figures.pop("machine", None)
    if named is None:
        return build_topology(figures, where, folder)
    hosts = figures.pop("hosts", None)
    if figures:
        raise InputError(f"{where}: give a machine or the fields of a topology, not both "
                         f"('{next(iter(figures))}')")
    made = named_machine(named, where, folder, seen)
    return made if hosts is None else _named(made, hosts, where)


def named_machine(name: Any, where: str, folder: Path | None = None,
                  seen: tuple[Path, ...] = ()) -> Topology:
    """A machine that a file names: a built-in one, or a file beside it."""
    if not isinstance(name, str):
        raise InputError(f"{where}: machine is {name!r}, must be a name in quotes")
    beside = (folder or Path()) / name
    return load_machine(str(beside) if name not in BUILT_IN and is_file(beside) else name, seen)


def load_machine(text: str, seen: tuple[Path, ...] = ()) -> Topology:
    """A topology from a built-in name, a TOML file with a `[network]` section, or Slurm's file.

    `seen` are the files that lead here: a section may name a file as its machine.
    """
    if text in BUILT_IN:
        return build_topology(BUILT_IN[text], text)
    path = Path(text)
    if not is_file(path):
        raise InputError(f"there is no file {path}; the built-in machines are "
                         f"{', '.join(BUILT_IN)}")
    if path.resolve() in seen:
        raise InputError(f"{path}, [network]: names itself as its machine")
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path} is empty; a [network] section or a topology of Slurm's is needed")
    if path.suffix.lower() != ".toml" and is_slurm(path, text):
        return read_slurm(path)
    tables = read_toml(path)
    if "network" not in tables:
        raise InputError(f"{path} has no [network] section; write one with "
                         "topology = \"dragonfly\", for example")
    return section_topology(tables["network"], f"{path}, [network]", path.parent,
                            (*seen, path.resolve()))
