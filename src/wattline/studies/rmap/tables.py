"""The configurations that the study of power-aware scheduling runs on: measured or predicted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from wattline.model.errors import InputError
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.measurement_columns import ColumnMap, map_entries
from wattline.physics.measurements import (
    AS_LISTED,
    column_names,
    find_application,
    read_measurements,
)
from wattline.physics.power_scope import SCOPES
from wattline.physics.regression import shipped_models
from wattline.physics.repeated_runs import spread_note

SHIPPED = ("BT-MZ", "SPhot", "SC", "NSC", "SM", "NSM")
TRAINED_NODES = 32
"""Up to so many nodes the shipped models have seen."""


def tables_of(
    paths: Iterable[str | Path], apps: str | None, nodes: int, columns: ColumnMap = None,
    power: str = "all",
) -> tuple[dict[str, ConfigurationTable], list[str]]:
    """Tables by application, and what must be known of them."""
    tables: dict[str, ConfigurationTable] = {}
    remarks: list[str] = []
    for path in paths:
        read = (read_packages(path, columns) if power == "pkg" else
                read_measurements(path, columns=columns))
        for name, table in read.items():
            if name in tables:
                raise InputError(f"{path}: the application '{name}' is in another table too")
            tables[name] = table
    for name, table in tables.items():
        if table.power_scope not in ("", "devices"):
            raise InputError(f"the watts of '{name}' are {SCOPES[table.power_scope]}, and the "
                             "study's bounds are parts of what its devices may draw; give tables "
                             "of devices")
    if not tables:
        if power == "pkg":
            raise InputError("the shipped models know the power of packages and memory together; "
                             "give measured tables that have that of packages")
        tables = _predicted(nodes)
        if nodes > TRAINED_NODES:
            remarks.append(f"the models were trained on up to {TRAINED_NODES} nodes; larger counts "
                           "are extrapolated")
    if apps is None:
        return tables, remarks
    chosen = [find_application(tables, name.strip())[0] for name in apps.split(",")]
    return {table.application: table for table in chosen}, remarks


def packages_of(
    paths: Iterable[str | Path], apps: str | None, nodes: int, columns: ColumnMap = None
) -> tuple[dict[str, ConfigurationTable] | None, str]:
    """The tables with the power of packages alone, or None and why there are none."""
    try:
        return tables_of(paths, apps, nodes, columns, power="pkg")[0], ""
    except InputError as error:
        return None, f"set-ups with the power of packages alone are not run: {error}"


def read_packages(path: str | Path, columns: ColumnMap = None) -> dict[str, ConfigurationTable]:
    """The tables of a file with the power of packages alone, without memory."""
    with_all = read_measurements(path, columns=columns)
    given = [f"{name}={column}" for name, column in map_entries(columns)]
    header = column_names(path)
    if "pkg_w_per_node" in header:
        of_node = read_measurements(path, columns=[*given, "node_power_w=pkg_w_per_node"])
        return {name: replace(table, note=_note_of_packages(with_all[name], table))
                for name, table in of_node.items()}
    sums = ("pkg0_w_all_nodes", "pkg1_w_all_nodes")
    if not set(sums) <= set(header):
        raise InputError(f"{path}: the table has no power of packages (pkg_w_per_node, or "
                         f"{' and '.join(sums)})")
    parts = [read_measurements(path, columns=[*given, f"power_w={column}"]) for column in sums]
    return {name: replace(table, power_w=parts[0][name].power_w + parts[1][name].power_w)
            for name, table in with_all.items()}


def _note_of_packages(with_all: ConfigurationTable, packages: ConfigurationTable) -> str:
    """What is said of a table, where the power is that of a node's packages times the nodes.

    Whether the powers of the file contradict each other only those of all devices can tell.
    """
    said = with_all.note.replace(AS_LISTED, "that of a node's packages times the nodes is used")
    apart = spread_note(with_all)
    others = said.replace(apart, "").replace("; ; ", "; ").strip("; ") if apart else said
    return "; ".join(filter(None, (others, spread_note(packages))))


def _predicted(nodes: int) -> dict[str, ConfigurationTable]:
    """Tables of the shipped models at every second node count up to the machine's size."""
    if nodes < 8:
        raise InputError(f"--nodes is {nodes}; the shipped models begin at 8 nodes, so give a "
                         "--table of your own for a smaller machine")
    step = max(2, nodes // 16)
    return {
        name: model.table(grid=model.grid.with_nodes(range(8, nodes + 1, step)))
        for name, model in shipped_models().items() if name in SHIPPED
    }
