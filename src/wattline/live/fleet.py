"""The port of a fleet: all nodes of a machine as the controller sees them.

Behind it are agents on nodes and whatever carries their messages. The controller reads what nodes
said last and asks for caps; it never waits for a node.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from wattline.live.sensor import Quality


@dataclass(frozen=True)
class NodeReport:
    """What a node said of itself at one time."""

    node: str
    time_s: float
    """Unix time by the node's clock."""
    power_w: float
    energy_j: float
    """Joules of the node since its agent first read its meter; they never fall."""
    cap_w: float
    """The cap that holds there now; infinite where none does."""
    order: int = 0
    """The last order that it obeyed."""
    quality: Quality = Quality.GOOD
    reason: str = ""
    """Why the reading is missing, or the order was refused."""
    job: str = ""
    """Of a mark, `begin 4711` or `end 4711`, or what else was asked for by name; empty for those
    taken by the clock."""
    late: bool = False
    """Whether it came after newer ones, because it had to be asked for again."""


@runtime_checkable
class Fleet(Protocol):
    """All nodes that report and obey."""

    def reports(self) -> Sequence[NodeReport]:
        """What came since the last call, oldest first; a silent node has none."""
        ...

    def cap(self, order: int, caps_w: Mapping[str, float], lease_s: float) -> None:
        """Ask nodes for caps; each falls back to its safe cap `lease_s` after the last order.

        Numbers of orders rise; a node ignores one that is not above the last it obeyed.
        """
        ...

    def restore(self, nodes: Collection[str] | None = None) -> None:
        """Ask nodes to put back what they found; all where none are named."""
        ...

    def close(self) -> None:
        """Leave; nodes keep what they have until their lease ends."""
        ...
