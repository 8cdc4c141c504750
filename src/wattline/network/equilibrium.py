"""Routing as an equilibrium: how the traffic of each pair of routers splits over its paths.

Adaptive routing draws a minimal path and a detour for each packet and takes the one that looks
cheaper (how, stands in `packets`). What it sees are queues that come and go, so the cheaper one is
taken often, not always.
Under steady traffic this settles at a fixed point: each path carries a share in proportion to
`exp(-cost)` (a stochastic user equilibrium), where a link costs one hop plus the square of its
load, counted in units of what one node can send. We go to the fixed point by damped steps until
no more than a small part of the traffic would still move.
"""

from __future__ import annotations

from wattline.model.errors import InputError

ROUTINGS = ("minimal", "valiant", "adaptive", "ugal")
AWARE = ("adaptive", "ugal")
"""Those that look at loads; under the others all ways of a pair weigh alike."""
TOLERANCE = 0.01
"""Part of the traffic that may still want to move when the routing counts as settled."""
SWEEPS = 60
SHARPNESS = {"minimal": 1.0, "valiant": 1.0, "adaptive": 0.5, "ugal": 1.0}
"""How surely the cheaper path is taken."""
DETOURED = {"minimal": 0.0, "valiant": 1.0, "adaptive": 0.03, "ugal": 1.0}
"""Weight of the detours of a pair, all together, over that of its minimal ways. Both constants were
fitted to the packet simulator under the same routing (docs/network.md)."""


def check_routing(routing: str) -> int:
    """The number of a routing, by name."""
    if routing not in ROUTINGS:
        raise InputError(f"routing '{routing}' is unknown; write one of {', '.join(ROUTINGS)}")
    return ROUTINGS.index(routing)
