"""A node's energy, divided among jobs: by hand, and on random clusters with known truths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wattline.account.attribution import Gpus, Held, IdleRule, Node, attribute
from wattline.model.errors import InputError
from wattline.physics.metering.samples import from_samples
from wattline.physics.metering.stretches import Filling, Stretches

NODE = Node(cores=16, idle_w=100.0, memory=64.0)


def steady(watts: float, until_s: float = 100.0) -> Stretches:
    return Stretches.measured([0.0, until_s], [watts])


def test_a_job_alone_has_all_that_its_node_draws() -> None:
    """From 20 s to 60 s; before and after, the node idles for nobody."""
    found = attribute(steady(300.0), Held.of([20], [60], [16]), NODE)
    assert found.energy_j.tolist() == [12000.0]
    assert found.idle_j.tolist() == [4000.0]
    assert found.covered_s.tolist() == [40.0]
    assert found.nobody_j == pytest.approx(18000.0)
    assert found.nobody_covered_s == 60.0


def test_idle_power_goes_by_cores_and_the_rest_by_processor_time() -> None:
    """100 W idle on 16 cores: 4 and 8 are held, 4 by nobody; 200 W above, used 1 to 3."""
    held = Held.of([0, 0], [100, 100], [4, 8], cpu_s=[100.0, 300.0])
    found = attribute(steady(300.0), held, NODE)
    assert found.idle_j.tolist() == [2500.0, 5000.0]
    assert found.energy_j == pytest.approx([2500.0 + 5000.0, 5000.0 + 15000.0])
    assert found.nobody_j == pytest.approx(2500.0)


def test_idle_power_by_memory_or_equally() -> None:
    held = Held.of([0, 0], [100, 100], [4, 8], cpu_s=[1.0, 1.0], memory=[16.0, 48.0])
    by_memory = attribute(steady(300.0), held, NODE, rule=IdleRule.MEMORY)
    equally = attribute(steady(300.0), held, NODE, rule=IdleRule.EQUAL)
    assert by_memory.idle_j.tolist() == [2500.0, 7500.0]
    assert equally.idle_j.tolist() == [5000.0, 5000.0]
    with pytest.raises(InputError, match="memory"):
        attribute(steady(300.0), Held.of([0], [1], [4]), NODE, rule=IdleRule.MEMORY)


def test_without_processor_times_the_cores_decide() -> None:
    held = Held.of([0, 0], [100, 100], [4, 12], cpu_s=[np.nan, 50.0])
    found = attribute(steady(300.0), held, NODE)
    assert (found.energy_j - found.idle_j).tolist() == [5000.0, 15000.0]


def test_a_gpu_is_paid_for_by_who_holds_it() -> None:
    """Of 700 W the GPU draws 400; its holder leaves at 50 s, and then it is nobody's."""
    held = Held.of([0, 0], [50, 100], [8, 8], cpu_s=[100.0, 200.0])
    found = attribute(steady(700.0), held, NODE,
                      gpus=Gpus({0: steady(400.0)}, {0: np.array([0])}))
    assert found.energy_j[0] == pytest.approx(400 * 50 + 50 * 50 + 100 * 50)
    assert found.energy_j[1] == pytest.approx(50 * 100 + 100 * 50 + 200 * 50)
    assert found.nobody_j == pytest.approx(400 * 50 + 50 * 50)


def test_what_stands_for_a_gap_is_known_of_each_job() -> None:
    series = from_samples([0, 10, 20, 30], [200, np.nan, 100, 100]).fill(Filling.HELD)
    found = attribute(series, Held.of([0, 20], [20, 40], [16, 16]), NODE)
    assert found.filled_j.tolist() == [2000.0, 0.0]
    assert found.covered_s.tolist() == [10.0, 20.0]


def test_idle_power_is_known_where_a_gap_is_filled_too() -> None:
    """200 W measured for 10 s, 200 W held for the gap of 10 s, 100 W for 10 s: 100 W x 30 s of
    the 5,000 J are the idle node's."""
    series = from_samples([0, 10, 20, 30], [200, np.nan, 100, 100]).fill(Filling.HELD)
    found = attribute(series.within(0.0, 30.0), Held.of([0], [30], [16]), NODE)
    assert found.energy_j.tolist() == [5000.0]
    assert found.idle_j.tolist() == [3000.0]
    assert found.filled_j.tolist() == [2000.0]
    unfilled = from_samples([0, 10, 20, 30], [200, np.nan, 100, 100])
    found = attribute(unfilled.within(0.0, 30.0), Held.of([0], [30], [16]), NODE)
    assert (found.energy_j.tolist(), found.idle_j.tolist()) == ([3000.0], [2000.0])


def test_more_cores_than_there_are_take_no_more_than_all() -> None:
    found = attribute(steady(100.0), Held.of([0, 0], [100, 100], [16, 16]), NODE)
    assert found.energy_j.tolist() == [5000.0, 5000.0]
    assert found.nobody_j == pytest.approx(0.0)


stays = st.lists(st.tuples(st.integers(0, 90), st.integers(0, 60), st.integers(0, 8),
                           st.one_of(st.none(), st.floats(0, 500))), max_size=12)


@given(stays, st.lists(st.one_of(st.none(), st.floats(0, 900)), min_size=1, max_size=20),
       st.sampled_from([IdleRule.CORES, IdleRule.EQUAL]), st.floats(0, 300))
def test_shares_and_rest_are_what_the_meter_saw(drawn, watts, rule, idle_w) -> None:
    """Whoever overlaps, whatever is missing: nothing is lost, nothing is counted twice."""
    starts = np.array([each[0] for each in drawn], dtype=float)
    held = Held.of(starts, starts + [each[1] for each in drawn], [each[2] for each in drawn],
                   [np.nan if each[3] is None else each[3] for each in drawn])
    edges = np.arange(len(watts) + 1) * 7.0
    series = Stretches.measured(edges, [np.nan if w is None else w for w in watts])
    gpu = Stretches.measured([0.0, edges[-1]], [50.0])
    holders = np.arange(0, len(held), 2)
    for meter in (series, series.fill(Filling.HELD, np.inf)):
        found = attribute(meter, held, Node(16, idle_w), rule=rule,
                          gpus=Gpus({0: gpu}, {0: holders}))
        whole = meter.between(edges[0], edges[-1])
        assert found.energy_j.sum() + found.nobody_j == pytest.approx(whole.energy_j[0], rel=1e-9)
        assert (found.energy_j >= 0).all()
        assert found.nobody_j >= -1e-6
        assert (found.idle_j <= found.energy_j + 1e-9).all()
        assert (found.covered_s <= held.end_s - held.start_s + 1e-9).all()


@given(st.integers(1, 40), st.integers(0, 10_000))
def test_every_job_gets_its_truth_where_nothing_is_missing(count, seed) -> None:
    """Each job uses processor time at a steady rate and draws 5 W for each core it keeps busy."""
    random = np.random.default_rng(seed)
    starts = random.integers(0, 900, count).astype(float)
    ends = starts + random.integers(1, 300, count)
    cores, busy = random.integers(1, 4, count), random.random(count) * 3
    edges = np.unique(np.concatenate([[0.0, 1300.0], starts, ends]))
    middle = (edges[:-1] + edges[1:]) / 2
    there = (starts[:, None] <= middle) & (middle < ends[:, None])
    node = Node(cores=400, idle_w=120.0)
    series = Stretches.measured(edges, 120.0 + 5.0 * (busy[:, None] * there).sum(axis=0))
    lasts_s = ends - starts
    found = attribute(series, Held.of(starts, ends, cores, busy * lasts_s), node)
    truth_j = lasts_s * (5.0 * busy + 120.0 * cores / 400)
    assert found.energy_j == pytest.approx(truth_j, rel=1e-9)
    assert found.energy_j.sum() + found.nobody_j == pytest.approx(
        series.between(0, 1300).energy_j[0], rel=1e-12)
