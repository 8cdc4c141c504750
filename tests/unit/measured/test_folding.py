"""Readings of all nodes at once, folded into jobs; and the benchmark that measures it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing

from wattline.account.measured.folding import Folding
from wattline.benchmarks.ledger import Site, measure_site
from wattline.model.errors import InputError


def test_jobs_on_one_node_share_it_by_weight_and_leave() -> None:
    folding = Folding(2)
    folding.hold(1, [0, 1])
    folding.hold(2, [1], weight=3.0)
    folding.read(0.0, [100, 400])
    folding.read(10.0, [100, 400])
    folding.release(2)
    folding.read(20.0, [100, 400])
    folding.release(1)
    folding.read(30.0, [100, 400])
    assert folding.energy_j(1) == 1000 + 1000 + 1000 + 4000
    assert folding.energy_j(2) == 3000
    assert folding.covered_s(1) == 40
    assert folding.nobody_j == 5000


def test_a_node_that_is_silent_for_long_draws_nothing_that_is_known() -> None:
    folding = Folding(1, longest_gap_s=60.0)
    folding.hold(1, [0])
    for time_s, watts in ((0, 100), (30, np.nan), (60, 100), (600, 100), (660, 100)):
        folding.read(time_s, [watts])
    assert folding.energy_j(1) == 6000 + 6000
    with pytest.raises(InputError, match="2 powers for 1"):
        folding.read(700.0, [1, 2])


@costing(5)
@given(st.integers(0, 10_000))
def test_jobs_and_nobody_are_what_was_metered(seed) -> None:
    random = np.random.default_rng(seed)
    folding = Folding(5)
    there: list[int] = []
    for second in range(30):
        if random.random() < 0.4:
            there.append(second)
            folding.hold(second, random.choice(5, random.integers(1, 5), replace=False).tolist(),
                         float(random.integers(1, 5)))
        if there and random.random() < 0.3:
            folding.release(there.pop(random.integers(len(there))))
        watts = random.integers(0, 500, 5).astype(float)
        watts[random.random(5) < 0.2] = np.nan
        folding.read(float(second), watts)
    jobs_j = sum(folding.energy_j(job) for job in folding.jobs)
    assert jobs_j + folding.nobody_j == pytest.approx(folding.metered_j, rel=1e-9)


def test_a_small_site_closes_and_is_measured() -> None:
    found = measure_site(Site(nodes=6, days=2, interval_s=300, jobs=50, live_nodes=20,
                              live_batches=3), lambda _: None)
    assert found["closure"] < 1e-9
    assert found["samples"] == 6 * 2 * 288
    assert found["facts"] >= 6 * 2 * 24 * 0.8
    assert {"enter_s", "attribute_s", "bill_s", "bill_with_prices_s", "peak_memory_bytes"} <= set(
        found)
    assert found["folding"]["cores_at_1_hz"] > 0


def test_a_time_that_goes_back_and_a_power_below_0_are_no_readings() -> None:
    """100 W from 0 s on: -5 W at 10 s is passed over, and at 20 s 2,000 J were drawn. A reading of
    15 s that comes then adds nothing, and takes nothing away."""
    folding = Folding(1)
    folding.hold(7, [0])
    for time_s, watts in ((0.0, 100.0), (10.0, -5.0), (20.0, 100.0), (15.0, 100.0)):
        folding.read(time_s, [watts])
    assert (folding.energy_j(7), folding.covered_s(7), folding.metered_j) == (2000.0, 20.0, 2000.0)
