"""Node counts that were not measured, filled in by a model of what was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression import Grid, fit

COUNTS = 15
"""So many node counts has the data of section 5.4, from an eighth of the machine to all of it."""


def fill_tables(
    tables: Mapping[str, ConfigurationTable], nodes: int
) -> dict[str, ConfigurationTable]:
    """The tables with about 15 node counts each; measured rows stay as they are."""
    return {name: fill_table(table, nodes) for name, table in tables.items()}


def fill_table(table: ConfigurationTable, nodes: int) -> ConfigurationTable:
    """A table with node counts in steps of a sixteenth of the machine; one that has them stays."""
    step = max(1, nodes // (COUNTS + 1))
    least, most = int(table.nodes.min()), min(int(table.nodes.max()), nodes)
    wanted = sorted({*range(least, most + 1, step), most})
    known = {int(count) for count in np.unique(table.nodes)}
    missing = [count for count in wanted if count not in known]
    if not missing:
        return table
    grid = Grid.of(table)
    # Where the model is asked between its own levels, corrections are interpolated.
    made = fit(table).table(grid=grid.with_nodes(missing))
    columns = {name: np.concatenate([table.settings[name], made.settings[name]])
               for name in table.names}
    filled = ConfigurationTable.of(
        table.application, np.concatenate([table.nodes, made.nodes]), columns,
        np.concatenate([table.time_s, made.time_s]), np.concatenate([table.power_w, made.power_w]),
        power_scope=table.power_scope)
    said = f"{len(missing)} of {len(wanted)} node counts are filled in by a model of the others"
    return replace(filled, note="; ".join(filter(None, (table.note, said))), runs=None)
