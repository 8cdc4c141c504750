"""How measured power is divided: what a site knows of its nodes, and what stands for gaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from wattline.account.attribution import IdleRule, Node
from wattline.model.errors import InputError
from wattline.physics.metering.stretches import LONGEST_GAP_S, Filling

HIGHEST_W = 100_000.0
"""No node draws so much: what is above is a fault of its meter."""
HIGHEST_ABOVE_W = 1e9
"""The same of a rack, a feed or another meter above nodes."""
LONGEST_S = 86_400.0
"""A gap, or the time between two readings of a counter, may last a day at most."""


@dataclass(frozen=True)
class Rules:
    """What holds for all nodes, and what is known of single ones.

    A ledger keeps its own (`kept_rules`), and is computed anew when they change.
    """

    node: Node = field(default_factory=Node)
    """Of a node that is not named in `nodes`."""
    nodes: Mapping[str, Node] = field(default_factory=dict)
    idle_by: IdleRule = IdleRule.CORES
    filling: Filling = Filling.HELD
    longest_gap_s: float = LONGEST_GAP_S
    highest_w: float = HIGHEST_W
    range_j: float | None = None
    """Where counters wrap around; None where they do not, or nobody knows."""

    def __post_init__(self) -> None:
        if not 0 <= self.longest_gap_s <= LONGEST_S:
            raise InputError(f"gaps up to {self.longest_gap_s:g} s are to be filled; right is "
                             f"0 to {LONGEST_S:.0f} s")
        if not self.highest_w > 0 or (self.range_j is not None and not self.range_j > 0):
            raise InputError("the highest power of a node, and the range of its counter where it "
                             "has one, must be above 0")

    @property
    def of_nodes(self) -> Rules:
        """Those for the power of nodes; a mean is that of each job, and filled in afterwards."""
        return replace(self, filling=Filling.NONE) if self.filling is Filling.MEAN else self

    def of(self, node: str) -> Node:
        return self.nodes.get(node, self.node)
