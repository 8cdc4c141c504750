"""Interconnects: routers, the nodes behind them, and the links between them."""

from wattline.network.topology.base import LinkKind, Topology
from wattline.network.topology.dragonfly import aries, dragonfly, dragonfly_plus
from wattline.network.topology.others import fat_tree, torus

__all__ = ["LinkKind", "Topology", "aries", "dragonfly", "dragonfly_plus", "fat_tree", "torus"]
