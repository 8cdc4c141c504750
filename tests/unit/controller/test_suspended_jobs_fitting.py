"""Whether a suspended job could go on under the cap of now, worked out by hand.

Of four nodes that draw 90 W idle n1 is the job's, n2 is free, n3 is out of order and n4 switched
off: beside the job 90 W are drawn. It claims 300 W; at the lowest cap its node draws 150 W.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from wattline.controller.suspended_jobs import SuspendedJobs


def fits(cap_w: float, least_w: float) -> bool:
    watcher = SimpleNamespace(
        names=("n1", "n2", "n3", "n4"), down={"n3"}, off={"n4"}, node_names=lambda nodes: ["n1"],
        idle_w=lambda name, otherwise_w: otherwise_w,
        least_w=dict.fromkeys)
    books = SimpleNamespace(state=SimpleNamespace(clock=[SimpleNamespace(cap_w=cap_w)]))
    suspended = SuspendedJobs(SimpleNamespace(watcher=watcher, books=books), 90.0, least_w)
    return suspended._fits(SimpleNamespace(nodes=(0,), watts=300.0))


@pytest.mark.parametrize(("cap_w", "least_w", "expected"), [
    (389.0, math.nan, False), (390.0, math.nan, True), (239.0, 150.0, False),
    (240.0, 150.0, True)])
def test_a_suspended_job_fits_with_its_least_watts_beside_the_idle_nodes_of_others(
    cap_w: float, least_w: float, expected: bool
) -> None:
    """90 + 300 W without caps of nodes, 90 + 150 W with them."""
    assert fits(cap_w, least_w) == expected
