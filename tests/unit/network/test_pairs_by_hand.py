"""Pairs of sender and receiver, and what they are worth, on networks small enough to count."""

from __future__ import annotations

import pytest

from wattline.network.load import load_exchange
from wattline.network.topology import torus


@pytest.mark.parametrize(("routers", "ahead"), [(8, 4), (7, 3), (2, 1)])
def test_without_groups_the_adversarial_load_goes_to_the_router_half_round(
    routers: int, ahead: int
) -> None:
    """One node a router: 0 sends to 4 of 8, 4 to 0, 5 to 1."""
    traffic = load_exchange(torus((routers,), 1), "adversarial", 3).traffic
    wanted = [(node, (node + ahead) % routers) for node in range(routers)]
    assert sorted(zip(traffic.source.tolist(), traffic.target.tolist(), strict=True)) == wanted
    assert traffic.messages.tolist() == [3.0] * routers
