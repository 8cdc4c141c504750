"""Nodes that Slurm's own power saving has switched off, or that boot or shut down by it.

To the books such nodes are out of order and draw what the site file says that they draw switched
off. What a node draws above that while it boots or shuts down is kept from the cap.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from wattline.live.slurm.reading import BUSY, SlurmNode

AGENT_UP_S = 15.0
"""So long the agent of a node that has booted has for its first reading."""
WAKES_WITHIN_S = 30.0
"""So long Slurm may take to begin with what it was told to switch on."""


@dataclass
class SleepingNodes:
    """Nodes of ours that are off, boot or shut down by Slurm's power saving."""

    off: set[str] = field(default_factory=set)
    booting: set[str] = field(default_factory=set)
    halting: set[str] = field(default_factory=set)
    with_job: set[str] = field(default_factory=set)
    """Nodes among them that a job has already, or still."""
    woken: dict[str, float] = field(default_factory=dict)
    """Nodes that were told to come on, and until when Slurm may show them as off."""
    left_out: set[str] = field(default_factory=set)
    """Nodes that the policy has switched on, as long as Slurm does not show them so: the books
    count what they draw."""
    up_s: dict[str, float] = field(default_factory=dict)
    """When nodes were last seen to boot, or to be off."""
    seen: Sequence[SlurmNode] = ()
    """Nodes of ours that the last look did not show as on."""

    @property
    def all(self) -> set[str]:
        return self.off | self.booting | self.halting

    def notice(self, nodes: Iterable[SlurmNode], ours: Collection[str]) -> None:
        """Keep what a look shows of nodes; those that are out of order otherwise are not here."""
        self.seen = [node for node in nodes if node.power != "on" and node.name in ours]

    def look(self, now_s: float, switched_off: Collection[str]) -> None:
        """Sort the nodes of the last look, without those that the policy switches."""
        shown = {node.name for node in self.seen if node.power in ("off", "booting")}
        self.left_out &= shown
        others = self.left_out.union(switched_off)
        self.woken = {name: until_s for name, until_s in self.woken.items()
                      if name in shown and now_s <= until_s}
        by_power: dict[str, set[str]] = {"off": set(), "booting": set(), "halting": set()}
        for node in self.seen:
            if node.in_order and node.name not in others:
                wakes = node.power == "off" and node.name in self.woken
                by_power["booting" if wakes else node.power].add(node.name)
        self.off, self.booting, self.halting = by_power.values()
        self.up_s = {name: at_s for name, at_s in self.up_s.items() if now_s - at_s <= AGENT_UP_S}
        self.up_s |= dict.fromkeys(self.all, now_s)
        self.with_job = {node.name for node in self.seen if not BUSY.isdisjoint(node.states)}

    def wake(self, names: Iterable[str], now_s: float) -> None:
        """Count these as booting from now on, though Slurm does not show it yet."""
        for name in names:
            self.woken[name] = now_s + WAKES_WITHIN_S
            self.off.discard(name)
            self.booting.add(name)
