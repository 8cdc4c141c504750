"""The configurations that the study of power-aware scheduling runs on: measured or predicted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from wattline.model.errors import InputError
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.measurements import find_application, read_measurements
from wattline.physics.regression import shipped_models

SHIPPED = ("BT-MZ", "SPhot", "SC", "NSC", "SM", "NSM")
TRAINED_NODES = 32
"""Up to so many nodes the shipped models have seen."""


def tables_of(
    paths: Iterable[str | Path], apps: str | None, nodes: int
) -> tuple[dict[str, ConfigurationTable], list[str]]:
    """Tables by application, and what must be known of them."""
    tables: dict[str, ConfigurationTable] = {}
    remarks: list[str] = []
    for path in paths:
        for name, table in read_measurements(path).items():
            if name in tables:
                raise InputError(f"{path}: the application '{name}' is in another table too")
            tables[name] = table
    if not tables:
        tables = _predicted(nodes)
        if nodes > TRAINED_NODES:
            remarks.append(f"the models were trained on up to {TRAINED_NODES} nodes; larger counts "
                           "are extrapolated")
    if apps is None:
        return tables, remarks
    chosen = [find_application(tables, name.strip())[0] for name in apps.split(",")]
    return {table.application: table for table in chosen}, remarks


def _predicted(nodes: int) -> dict[str, ConfigurationTable]:
    """Tables of the shipped models at every second node count up to the machine's size."""
    if nodes < 8:
        raise InputError(f"--nodes is {nodes}; the shipped models begin at 8 nodes, so give a "
                         "--table of your own for a smaller machine")
    step = max(2, nodes // 16)
    return {
        name: model.table(grid=replace(model.grid, nodes=tuple(range(8, nodes + 1, step))))
        for name, model in shipped_models().items() if name in SHIPPED
    }
