"""Jobs to be placed by hand: a TOML file with `[[job]]` tables and, if wanted, a `[network]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.model.reading import read_toml
from wattline.network.config import named_machine, section_topology
from wattline.network.sensitivity import find_profile
from wattline.network.topology.base import Topology
from wattline.network.traffic import PATTERNS, TASKS_PER_NODE, Traffic, pattern, read_matrix

_FIELDS = ("name", "nodes", "count", "pattern", "matrix", "message_bytes", "tasks_per_node",
           "application", "sensitive")


@dataclass(frozen=True, eq=False)
class PlacedJob:
    """One job of the file."""

    name: str
    nodes: int
    traffic: Traffic
    message_bytes: float
    sensitive: bool


def read_jobs(path: Path) -> tuple[list[PlacedJob], Topology | None]:
    """Jobs in the order of the file, and its machine where it names one."""
    tables = read_toml(path)
    unknown = sorted(set(tables) - {"job", "network", "machine"})
    if unknown:
        raise InputError(f"{path}: '{unknown[0]}' is unknown; write [[job]] tables, and "
                         "[network] or machine")
    listed = tables.get("job", [])
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{path} has no [[job]] tables")
    jobs: list[PlacedJob] = []
    for number, table in enumerate(listed, start=1):
        jobs += _jobs(table, f"{path}, job {number}", f"job{number}", path.parent)
    if "network" in tables:
        return jobs, section_topology(tables["network"], f"{path}, [network]", path.parent)
    if "machine" in tables:
        return jobs, named_machine(tables["machine"], str(path), path.parent)
    return jobs, None


def _jobs(table: Mapping[str, Any], where: str, name: str, folder: Path) -> list[PlacedJob]:
    if not isinstance(table, dict):
        raise InputError(f"{where} is not a table; write [[job]]")
    unknown = sorted(set(table) - set(_FIELDS))
    if unknown:
        raise InputError(f"{where}: field '{unknown[0]}' is unknown; the fields are "
                         f"{', '.join(_FIELDS)}")
    count = _whole(table, "count", where, 1)
    nodes, traffic, message_bytes = _messages(table, where, folder)
    sensitive = table.get("sensitive", True)
    if not isinstance(sensitive, bool):
        raise InputError(f"{where}: sensitive is {sensitive!r}, must be true or false")
    if "application" in table:
        sensitive = find_profile(str(table["application"])).sensitive
    label = str(table.get("name", name))
    names = [label] if count == 1 else [f"{label}.{k}" for k in range(1, count + 1)]
    return [PlacedJob(one, nodes, traffic, message_bytes, sensitive) for one in names]


def _messages(table: Mapping[str, Any], where: str, folder: Path) -> tuple[int, Traffic, float]:
    """Nodes of a job, who of its tasks sends to whom, and how much."""
    each = _whole(table, "tasks_per_node", where, TASKS_PER_NODE)
    size = table.get("message_bytes", 1024)
    if isinstance(size, bool) or not isinstance(size, (int, float)) or not 0 < size < float("inf"):
        raise InputError(f"{where}: message_bytes is {size!r}, must be a number above 0")
    if "matrix" in table:
        if "pattern" in table:
            raise InputError(f"{where}: has a pattern and a matrix; write one of them")
        traffic, mean_bytes = read_matrix(folder / str(table["matrix"]))
        nodes = _whole(table, "nodes", where, -(-traffic.tasks // each))
        if nodes * each < traffic.tasks:
            raise InputError(f"{where}: {traffic.tasks} ranks of the matrix do not fit on {nodes} "
                             f"nodes with {each} tasks each")
        return nodes, traffic, float(table.get("message_bytes", mean_bytes))
    if "nodes" not in table:
        raise InputError(f"{where}: 'nodes' is missing")
    nodes = _whole(table, "nodes", where, 1)
    chosen = table.get("pattern", "all-to-all")
    if chosen not in PATTERNS:
        raise InputError(f"{where}: pattern '{chosen}' is unknown; write one of "
                         f"{', '.join(PATTERNS)}")
    return nodes, pattern(chosen, nodes * each), float(size)


def _whole(table: Mapping[str, Any], field: str, where: str, default: int) -> int:
    value = table.get(field, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{where}: {field} is {value!r}, must be a whole number from 1")
    return value
