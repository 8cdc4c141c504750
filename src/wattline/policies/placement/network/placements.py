"""The placements on a network: one table, for policies of scenarios and for trials alike.

It names kernels and types without importing them, so that listing placements needs no compiler.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Placing(NamedTuple):
    """One placement policy."""

    help: str
    needs: str
    """The level of the network without which it makes no sense."""
    kind: str
    """grouping, spreading, aware (of the size of a job), or data (driven by counters)."""
    rule: str
    """Its type in `plug_ins`."""
    kernel: str = ""
    """In `kernels`, where free nodes are all that it looks at."""
    counter: str = ""
    """Otherwise what it goes by: the `traffic` or the `stalls` of routers."""
    sign: float = 1.0
    """1 for the quietest first, -1 for the busiest."""
    by_sensitivity: bool = False
    """Whether the sign is turned for jobs that congestion does not slow down."""


PLACEMENTS: Mapping[str, Placing] = {
    "simple": Placing("Nodes in label order, on a machine with a network.", "nodes", "grouping",
                      "Simple", "simple"),
    "slurm": Placing("Slurm's rule for dragonflies: a router that fits, else fewest idle first.",
                     "routers", "grouping", "SlurmRouters", "slurm"),
    "rdg": Placing("Groups drawn at random.", "groups", "grouping", "RandomGroups", "rdg"),
    "rdn": Placing("Nodes drawn at random.", "nodes", "spreading", "RandomNodes", "rdn"),
    "rdr": Placing("Routers drawn at random.", "routers", "spreading", "RandomRouters", "rdr"),
    "rrn": Placing("Nodes from the groups in turn.", "groups", "spreading", "NodesInTurn", "rrn"),
    "rrr": Placing("Routers from the groups in turn.", "groups", "spreading", "RoutersInTurn",
                   "rrr"),
    "level-spread": Placing("Spread in the smallest level of the network that the job fits in.",
                            "groups", "aware", "LevelSpread", "level_spread"),
    "jokanovic": Placing("Small jobs from one end of the machine, large ones from the other.",
                         "groups", "aware", "Jokanovic", "jokanovic"),
    "nedd": Placing("Quiet routers for jobs that are sensitive to congestion, busy ones for "
                    "others.", "routers", "data", "Nedd", counter="traffic", by_sensitivity=True),
    "low-traffic-router": Placing("Routers with the least traffic first.", "routers", "data",
                                  "ByTraffic", counter="traffic"),
    "high-traffic-router": Placing("Routers with the most traffic first.", "routers", "data",
                                   "ByTraffic", counter="traffic", sign=-1.0),
    "low-stall-router": Placing("Routers with the fewest stalls first.", "routers", "data",
                                "ByStalls", counter="stalls"),
    "fewer-router": Placing("Routers with the most idle nodes first.", "routers", "grouping",
                            "FewerRouters", "fewer_router"),
    "best-fit": Placing("Fewest switches, then the one with least to spare: Slurm's topology/tree.",
                        "groups", "grouping", "BestFit", "best_fit"),
    "random": Placing("Nodes drawn at random (the same as rdn).", "nodes", "spreading",
                      "RandomNodes", "rdn"),
}
