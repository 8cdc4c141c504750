"""Checks of a measured table's watts: a wrong unit, or the power of a node given as a job's."""

from __future__ import annotations

import numpy as np

from wattline.model.errors import InputError
from wattline.model.units import format_power
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.dimensions import device_of, is_cap

NODE_W = (5.0, 20_000.0)
"""No node that runs a job draws less or more."""
_CAP_W = (1.0, 20_000.0)
"""No device is capped lower or higher."""
_LEAST_GROWTH = 0.3
"""A job's power grows about in proportion to its nodes: the exponent is near 1."""
_NODES_APART = 2.0


def refuse_implausible(
    where: str, table: ConfigurationTable, power: str, column: str, stated: frozenset[str],
    alone: bool,
) -> None:
    """Ask for the unit where watts cannot be those of nodes; `stated` are columns that have one.

    `power` says what the column is taken for: the power of a job, of a node, or an energy. Where
    the file has another of these (it is not `alone`), they are compared and the answer says so.
    """
    for name, values in table.settings.items():
        if is_cap(name) and name not in stated and not _within(values, _CAP_W):
            raise InputError(
                f"{where}: '{table.application}' has {name} of {np.median(values):g} W for each "
                f"{device_of(name)}; state the unit with a map, like {name}=COLUMN:kW, or :W if "
                "it is right")
    if power in stated:
        return
    unit = {"energy_j": "J"}.get(power, "W")
    node_w = table.power_w / table.nodes
    if not _within(node_w, NODE_W):
        at = table.row(int(np.argsort(node_w)[len(node_w) // 2]))
        raise InputError(
            f"{where}: '{table.application}' as {at.label} draws {format_power(at.power_w)}, "
            f"{at.power_w / at.nodes:.4g} W per node; state the unit with a map, like "
            f"{power}={column}:k{unit}, or {power}={column}:{unit} if it is right")
    if alone and power != "node_power_w" and (growth := _growth(table)) < _LEAST_GROWTH:
        raise InputError(
            f"{where}: the power of '{table.application}' does not grow with its nodes (as nodes "
            f"to the {growth:.2g}); if '{column}' is of one node, say node_power_w={column}, and "
            f"if it is of all nodes, {power}={column}:{unit}" if power == "power_w" else
            f"{where}: the energy of '{table.application}' over its time does not grow with its "
            f"nodes; if '{column}' is of all nodes, say {power}={column}:{unit}")


def _within(values: np.ndarray, bounds: tuple[float, float]) -> bool:
    return bool(bounds[0] <= np.median(values) <= bounds[1])


def _growth(table: ConfigurationTable) -> float:
    """The exponent with which power grows with nodes at the same settings; 1 if it is not known."""
    _, group = np.unique(table.points()[:, 1:], axis=0, return_inverse=True)
    nodes, power = (
        values - (np.bincount(group.ravel(), values) / np.bincount(group.ravel()))[group.ravel()]
        for values in (np.log(table.nodes), np.log(table.power_w)))
    if np.ptp(nodes) < np.log(_NODES_APART):
        return 1.0
    return float(nodes @ power / (nodes @ nodes))
