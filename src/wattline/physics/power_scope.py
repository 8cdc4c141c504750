"""Of what the watts of a table are, and what they make where a power bound is kept.

Counters of processors, memory and GPUs (RAPL, NVML) leave out boards, fans and network cards; the
meter of a node (IPMI, Redfish) leaves out what its power supplies lose. A bound is kept at the
wall, or before those losses, and nodes that a job does not use draw power there too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.model.units import part_of, watts_of
from wattline.physics.configurations import ConfigurationTable

BoundAt = Literal["wall", "node"]
SCOPES: Mapping[str, str] = {
    "devices": "of its devices (counters of CPUs, memory, GPUs)",
    "node": "of its nodes, by their own meters",
    "wall": "of its nodes at the wall",
}
"""Of what the watts of a table can be, in words."""
_LISTED = "devices, node or wall"


@dataclass(frozen=True)
class Words:
    """Names by which whoever asks states these figures: options, or fields of a scenario."""

    scope: str = "--power-scope"
    base: str = "--base-power"
    idle: str = "--node-idle"


@dataclass(frozen=True)
class NodePower:
    """Power of a node beside its devices and when it is idle, and the losses of its supplies."""

    base_w: float | None = None
    """Beside the devices that a table has the watts of, before the supplies; None: not known."""
    idle_w: float | None = None
    """Of a node that runs nothing, where the bound is kept."""
    efficiency: float | None = None
    """Of the power supplies: what a node gets, as a part of what it takes from the wall."""
    bound_at: BoundAt = "wall"
    """Place where the bound is kept: before the losses of the supplies, or with them."""

    def __post_init__(self) -> None:
        for name, value in (("the power of a node beside its devices", self.base_w),
                            ("the idle power of a node", self.idle_w)):
            if value is not None and not (value >= 0 and math.isfinite(value)):
                raise InputError(f"{name} is {value:g} W, must be finite and not negative")
        if self.efficiency is not None and not 0 < self.efficiency <= 1:
            raise InputError(f"the efficiency of the power supplies is {self.efficiency:g}; write "
                             "it like 0.94 or 94%")

    @classmethod
    def of(
        cls, base: float | str | None = None, idle: float | str | None = None,
        efficiency: float | str | None = None, bound_at: BoundAt = "wall",
    ) -> NodePower:
        """From figures as people write them."""
        if bound_at not in ("wall", "node"):
            raise InputError(f"a bound is kept at the wall or at the node, not at '{bound_at}'")
        return cls(None if base is None else watts_of(base),
                   None if idle is None else watts_of(idle),
                   None if efficiency is None else part_of(efficiency), bound_at)

    @property
    def losses(self) -> float:
        """Watts where the bound is kept for each watt of a node."""
        return 1.0 if self.bound_at == "node" else 1.0 / (self.efficiency or 1.0)

    @property
    def is_plain(self) -> bool:
        """True where nothing is known by which the watts of a table would have to be converted."""
        return not self.base_w and (self.efficiency or 1.0) == 1.0

    def at_bound(
        self, table: ConfigurationTable, words: Words = Words()
    ) -> ConfigurationTable:
        """The table with the watts of its running nodes where the bound is kept.

        Where nobody said of what its watts are, they are taken for those of its devices, unless it
        would make a difference: then that is asked. A configuration cannot draw less than its own
        nodes do idle.
        """
        if not table.power_scope and not self.is_plain:
            raise InputError(f"nobody said of what the watts of '{table.application}' are; say "
                             f"{words.scope} {_LISTED}")
        scope = table.power_scope or "devices"
        power_w = table.power_w
        if scope == "devices" and self.base_w:
            power_w = power_w + table.nodes * self.base_w
        if scope == "wall":
            power_w = power_w * (self.efficiency or 1.0)
        counted = replace(table, power_w=power_w * self.losses, power_scope=self.bound_at)
        self._refuse_below_idle(table, counted, words)
        return counted

    def _refuse_below_idle(
        self, table: ConfigurationTable, counted: ConfigurationTable, words: Words
    ) -> None:
        each_w = counted.power_w / counted.nodes
        if not self.idle_w or each_w.min() >= self.idle_w * (1.0 - 1e-9):
            return
        one = counted.row(int(each_w.argmin()))
        of = SCOPES[table.power_scope or "devices"]
        taken = f"are {of}" if table.power_scope else f"are taken for those {of}"
        way = (f"say what a node draws beside them ({words.base}), or of what they are "
               f"({words.scope})" if (table.power_scope or "devices") == "devices" else
               f"are they of its devices ({words.scope})?")
        raise InputError(
            f"'{table.application}' as {one.label} draws {one.power_w:,.0f} W, less than its "
            f"{'node' if one.nodes == 1 else f'{one.nodes} nodes'} idle "
            f"({one.nodes * self.idle_w:,.0f} W, {words.idle}): its watts {taken}; {way}")

    def unused_w(
        self, nodes: npt.NDArray[np.int64], machine_nodes: int | None
    ) -> FloatArray:
        """Compute the power of nodes left idle by jobs of these sizes on a machine of this size."""
        idle_w = self.idle_w or 0.0
        if machine_nodes is None or not idle_w:
            return np.zeros(len(nodes))
        return np.maximum(machine_nodes - nodes, 0) * idle_w

    def remark(self, *tables: ConfigurationTable, words: Words = Words()) -> str:
        """Remark on the watts of tables where not everything about them is known."""
        unknown = [one for one in tables if not one.power_scope]
        devices = [one for one in tables if one.power_scope == "devices"]
        said = []
        if unknown:
            said.append(f"nobody said of what the watts of {_names(unknown)} are "
                        f"({words.scope} {_LISTED}); they are taken for those of devices")
        if self.base_w is None and (unknown or devices):
            said += [f"the watts of {_names(devices)} are those of devices"] * bool(devices)
            said.append(f"what a node draws beside them counts as 0 W ({words.base})")
        return "; ".join(said)

    def shown(self, table: ConfigurationTable) -> str:
        """Say how the watts of a bound were made of a table's; empty where they are the same."""
        scope = table.power_scope or "devices"
        parts = []
        if scope == "devices" and self.base_w:
            parts.append(f"{self.base_w:g} W beside them on each node")
        if scope != self.bound_at and (self.efficiency or 1.0) != 1.0:
            parts.append(f"supplies that give {self.efficiency:.3g} of what they take")
        if self.idle_w:
            parts.append(f"{self.idle_w:g} W for each node that is left idle")
        return f"at the {self.bound_at}: watts {SCOPES[scope]}, {', '.join(parts)}" if parts else ""

    def as_dict(self, scope: str) -> dict[str, object]:
        """The figures, with that of a table of this scope."""
        return {"scope": scope or None, "bound_at": self.bound_at, "base_w": self.base_w,
                "node_idle_w": self.idle_w, "supply_efficiency": self.efficiency}


def _names(tables: Sequence[ConfigurationTable]) -> str:
    some = [f"'{one.application}'" for one in tables[:3]]
    return ", ".join([*some, *["..."] * (len(tables) > 3)])


def check_scope(text: str) -> str:
    """One of the scopes, or nothing."""
    if text and text not in SCOPES:
        raise InputError(f"the watts of a table are those of {_LISTED}, not '{text}'")
    return text


def with_scope(table: ConfigurationTable, scope: str) -> ConfigurationTable:
    """The table whose watts are said to be of this; refused where its source says another."""
    if check_scope(scope) and table.power_scope not in ("", scope):
        raise InputError(f"the watts of '{table.application}' are those {SCOPES[table.power_scope]}"
                         f" by their source, not '{scope}'")
    return replace(table, power_scope=scope) if scope else table
