"""Messages between nodes of one router stay on it: they load no link and slow nobody down."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from wattline.engine.congestion import _count_stalls
from wattline.engine.network import congestion
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.engine.world import Nature
from wattline.model.jobs import JobTable
from wattline.model.kernel import PLAIN
from wattline.model.machine import Machine
from wattline.network.fabric import SENSITIVE, Behaviour, drawn_sensitive, fabric_for
from wattline.network.topology import torus
from wattline.policies.placement.network.plug_ins import plug_in
from wattline.testing.composing import composed

TWO = torus((2,), 4)
"""Two routers with four nodes each, and a link of 8 Gbit/s each way."""


def took_s(gbit_s: float, *procs: int) -> list[float]:
    """Return how long jobs of 1,000 s take that are placed one after the other, router by router,
    and spend half of their time with messages."""
    jobs = JobTable.build(submit_s=[0.0] * len(procs), run_s=[1000.0] * len(procs), procs=procs)
    asked = Behaviour(congestion=True, node_traffic_gbit_s=gbit_s, communication_share=0.5)
    made = plug_in("simple", fabric_for("simple", TWO, TWO.nodes, asked))
    rules = Rules(choose_nodes=True, nature=Nature(network=congestion(TWO, asked)),
                  logged={SENSITIVE: drawn_sensitive(jobs, asked)})
    run = simulate(jobs, Machine.uniform(8), composed(placement=made), rules)
    return (run.schedule.end_s - run.schedule.start_s).tolist()


def test_a_job_on_one_router_is_not_held_up_by_its_own_traffic() -> None:
    assert took_s(100.0, 4) == [1000.0]


@pytest.mark.parametrize(("gbit_s", "is_full"), [(15.0, False), (16.0, False), (17.0, True)])
def test_half_of_the_traffic_of_a_job_on_two_routers_stays_within_them(
    gbit_s: float, is_full: bool
) -> None:
    """Job 0 has three nodes of router 0; job 1 has its fourth and one of router 1. Of what each of
    these two sends half is for the other router: with 16 Gbit/s a node that is 8 Gbit/s each way,
    all that the link carries. What job 0 sends stays on its router."""
    first_s, second_s = took_s(gbit_s, 3, 2)
    assert first_s == 1000.0
    assert (second_s > 1000.0) == is_full


@pytest.mark.skipif(not PLAIN, reason="kernels take the arrays of a whole network")
def test_links_with_room_take_nothing_from_the_stalls_of_others() -> None:
    """Router 0 has a link that is three times full and one that is half full, router 1 one that is
    just full: 2, and nothing."""
    paths = SimpleNamespace(link_gbit_s=np.array([8.0, 8.0, 4.0]), link_from=np.array([0, 0, 1]))
    flows = SimpleNamespace(load=np.array([24.0, 4.0, 4.0]), stalls=np.full(2, 7.0))
    _count_stalls(SimpleNamespace(paths=paths, flows=flows))  # type: ignore[arg-type]
    assert flows.stalls.tolist() == [2.0, 0.0]
