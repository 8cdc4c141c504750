"""What the nodes of a site draw, each by its class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from wattline.model.units import parse_hosts

if TYPE_CHECKING:
    from wattline.controller.configuration import SiteConfig


@dataclass(frozen=True)
class NodePower:
    """By name, without a job, with one that says nothing of its watts, and under the lowest cap."""

    idle_w: Mapping[str, float] = field(default_factory=dict)
    active_w: Mapping[str, float] = field(default_factory=dict)
    least_w: Mapping[str, float] = field(default_factory=dict)
    off_w: float = 0.0
    """Of a node that is switched off, whichever it is."""

    @classmethod
    def alike(cls, nodes: Iterable[str], idle_w: float, active_w: float,
              least_w: float | None = None) -> NodePower:
        """The least is their idle power where nothing is said."""
        names = list(nodes)
        return cls(dict.fromkeys(names, idle_w), dict.fromkeys(names, active_w),
                   dict.fromkeys(names, idle_w if least_w is None else least_w))

    @classmethod
    def of(cls, site: SiteConfig) -> NodePower:
        return _of_classes(tuple((kind.nodes, *site.figures_w(kind)) for kind in site.kinds),
                           site.node_off_w)

    def booting_w(self, name: str, usual_w: float) -> float:
        """Return the power of a node while it boots: that of a busy one whose job says nothing."""
        return self.active_w.get(name, usual_w)

    @staticmethod
    def idle_rules(site: SiteConfig) -> list[str]:
        """As the ledger takes them: `n[1-4]=90`, a line for each class."""
        return [f"{kind.nodes}={site.node_idle_w if kind.idle_w is None else kind.idle_w}"
                for kind in site.kinds]

    def idle_of(self, nodes: Iterable[str]) -> float:
        """Of these nodes together, which are ours."""
        return sum(self.idle_w[name] for name in nodes)

    def active_of(self, nodes: Iterable[str]) -> float:
        return sum(self.active_w[name] for name in nodes)

    def thirstiest(self, nodes: Iterable[str], count: int) -> list[str]:
        """Those of them that a job without watts adds most to."""
        return sorted(nodes, key=lambda name: self.idle_w[name] - self.active_w[name])[:count]

    @cached_property
    def least_idle_w(self) -> float:
        """What a node draws idle, whichever it is."""
        return min(self.idle_w.values(), default=0.0)

    @cached_property
    def most_active_w(self) -> float:
        """What a node draws with a job that says nothing, whichever it is."""
        return max(self.active_w.values(), default=0.0)

    @cached_property
    def kinds_w(self) -> set[tuple[float, float]]:
        """Idle and active, of each class once."""
        return {(idle_w, self.active_w[name]) for name, idle_w in self.idle_w.items()}


@lru_cache(maxsize=8)
def _of_classes(
    classes: tuple[tuple[str, float, float, float], ...], off_w: float
) -> NodePower:
    """Asked for each job that is passed on, of thousands of nodes."""
    parts = [NodePower.alike(parse_hosts(nodes), *watts) for nodes, *watts in classes]
    return NodePower({name: watts for part in parts for name, watts in part.idle_w.items()},
                     {name: watts for part in parts for name, watts in part.active_w.items()},
                     {name: watts for part in parts for name, watts in part.least_w.items()},
                     off_w)
