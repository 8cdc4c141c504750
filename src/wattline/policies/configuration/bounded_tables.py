"""Configurations that find nodes: where parts of the machine have bounds, not all of them do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from wattline.physics.configurations import ConfigurationTable
from wattline.policies.placement.bounded_setup import kept_in
from wattline.policies.setting import Setting

if TYPE_CHECKING:
    from wattline.policies.placement.bounded import Bounded

Flags = npt.NDArray[np.bool_]


def placeable(tables: Mapping[str, ConfigurationTable], setting: Setting) -> dict[str, Flags]:
    """Of each application which configurations find nodes on an idle machine; empty: all do.

    A job that was given another would wait for ever for nodes that have its watts.
    """
    bounded = kept_in(setting)
    if bounded is None:
        return {}
    idle_w = setting.machine.groups[0].node_class.power_w_idle
    found = {name: _finding(bounded, table, idle_w) for name, table in tables.items()}
    setting.made.assumed += tuple(
        f"no job is given {int((~flags).sum()):,} of the {len(flags):,} configurations of "
        f"'{name}': their watts find no nodes within the limits of the placement"
        for name, flags in found.items() if not flags.all())
    return found


def _finding(bounded: Bounded, table: ConfigurationTable, idle_w: float) -> Flags:
    from wattline.policies.placement.bounded import finds_nodes

    share_w = np.maximum(table.power_w / table.nodes - idle_w, 0.0)
    return np.array([finds_nodes(bounded, nodes, each_w)
                     for nodes, each_w in zip(table.nodes, share_w, strict=True)], dtype=np.bool_)
