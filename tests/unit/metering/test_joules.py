"""Joules from samples and counters, by hand and on recorded devices."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wattline.model.errors import InputError
from wattline.physics.metering.counters import from_counter
from wattline.physics.metering.reconciling import reconciled
from wattline.physics.metering.samples import from_samples
from wattline.physics.metering.stretches import Filling, Stretches, added, joined, layered

DATA = Path(__file__).parents[4] / "shared" / "data"
EMMY = DATA / "job_power" / "emmy_job1403244_data.json.gz"
H200 = DATA / "fixtures" / "nvml_h200.csv"
NAN = float("nan")


def test_a_sample_stands_until_the_next_one() -> None:
    found = from_samples([0, 10, 20], [100, 200, 300]).between([0, 5, 0], [30, 15, 10])
    assert found.energy_j.tolist() == [6000.0, 1500.0, 1000.0]
    assert found.covered_s.tolist() == [30.0, 10.0, 10.0]


def test_a_null_is_a_gap_and_no_zero() -> None:
    """200 W hold for the missing ten seconds; the coverage says that they were not measured."""
    series = from_samples([0, 10, 20, 30], [200, NAN, 100, 100])
    bare = series.between(0, 40)
    held = series.fill(Filling.HELD).between(0, 40)
    assert bare.energy_j[0] == 4000.0
    assert held.energy_j[0] == 6000.0
    assert held.filled_j[0] == 2000.0
    assert held.covered_s[0] == 30.0


@pytest.mark.parametrize(("how", "watts"), [
    (Filling.HELD, 200.0), (Filling.INTERPOLATED, 150.0), (Filling.MEAN, 400.0 / 3),
    (Filling.NONE, 0.0),
])
def test_what_stands_for_a_gap_is_a_choice(how: Filling, watts: float) -> None:
    series = from_samples([0, 10, 20, 30], [200, NAN, 100, 100]).fill(how)
    assert series.between(10, 20).energy_j[0] == pytest.approx(10 * watts)


def test_samples_that_are_missing_leave_a_gap_of_their_own() -> None:
    """Every ten seconds, and then none for a minute."""
    series = from_samples([0, 10, 20, 80, 90], [100.0] * 5)
    assert series.between(0, 100).covered_s[0] == 50.0
    assert series.fill(Filling.HELD).between(0, 100).energy_j[0] == 10000.0
    assert series.fill(Filling.HELD, longest_s=30.0).between(0, 100).energy_j[0] == 5000.0


def test_nothing_is_made_up_before_the_first_measurement_or_after_the_last() -> None:
    series = from_samples([0, 10, 20], [NAN, 100, NAN]).fill(Filling.HELD)
    assert series.between(-100, 500).energy_j[0] == 1000.0
    assert series.between(-100, 500).covered_s[0] == 10.0


def test_samples_in_any_order_and_twice_are_the_same_series() -> None:
    one = from_samples([0, 10, 20], [1.0, 2.0, 3.0])
    other = from_samples([20, 0, 10, 0], [3.0, 9.0, 2.0, 1.0])
    assert other.edge_s.tolist() == one.edge_s.tolist()
    assert other.power_w.tolist() == one.power_w.tolist()


@pytest.mark.parametrize(("times", "powers", "interval"), [
    ([], [], None), ([0], [1], None), ([0, 1], [1], None), ([0, NAN], [1, 1], None),
    ([0, 1], [1, -5], None), ([0, 1], [1, float("inf")], None), ([0, 1], [1, 1], -1.0),
])
def test_what_is_no_series_is_refused(times, powers, interval) -> None:
    with pytest.raises(InputError):
        from_samples(times, powers, interval)


@given(st.lists(st.tuples(st.integers(1, 50), st.one_of(st.none(), st.integers(0, 900))),
                min_size=2, max_size=40), st.lists(st.floats(0, 1), max_size=8))
def test_the_parts_of_a_series_add_up_to_the_whole(steps, cuts) -> None:
    edges = np.cumsum([0, *(lasts for lasts, _ in steps)]).astype(float)
    series = Stretches.measured(edges, [NAN if watts is None else watts for _, watts in steps])
    at = np.array([0.0, *sorted(cuts), 1.0]) * edges[-1]
    for each in (series, series.fill(Filling.HELD, np.inf), series.fill(Filling.MEAN, 60.0)):
        whole, parts = each.between(edges[0], edges[-1]), each.between(at[:-1], at[1:])
        for name in ("energy_j", "covered_s", "filled_j"):
            assert getattr(parts, name).sum() == pytest.approx(
                getattr(whole, name)[0], rel=1e-9, abs=1e-9)
        assert whole.covered_s[0] <= edges[-1]
        assert whole.filled_j[0] <= whole.energy_j[0] + 1e-9


def test_a_counter_that_wraps_is_told_from_one_that_was_reset() -> None:
    """At 400 W at most, ten seconds are 4.6 kJ with all tolerance; the counter goes to 100 kJ."""
    found, seen = from_counter([0, 10, 20, 30], [98000, 99500, 1000, 3000], highest_w=400,
                               range_j=100_000)
    assert found.power_w.tolist() == [150.0, 150.0, 200.0]
    assert (seen.wraps, seen.resets, seen.impossible) == (1, 0, 0)
    found, seen = from_counter([0, 10, 20], [50000, 51000, 300], highest_w=400, range_j=100_000)
    assert np.isnan(found.power_w[1])
    assert (seen.wraps, seen.resets, seen.impossible) == (0, 1, 0)


def test_what_no_hardware_could_draw_is_a_gap() -> None:
    found, seen = from_counter([0, 10, 20], [0, 1e9, 1e9 + 1000], highest_w=400)
    assert np.isnan(found.power_w[0])
    assert found.power_w[1] == 100.0
    assert seen.impossible == 1


def test_a_counter_that_may_have_gone_round_unseen_says_nothing() -> None:
    """An hour at 400 W is more than five rounds of 262 kJ."""
    found, seen = from_counter([0, 3600], [1000, 5000], highest_w=400, range_j=262_143)
    assert np.isnan(found.power_w[0])
    assert seen.impossible == 1


@given(st.lists(st.floats(0, 380), min_size=1, max_size=60), st.integers(0, 99_999))
def test_a_wrapping_counter_gives_back_what_was_drawn(watts, start_j) -> None:
    joules = start_j + np.concatenate(([0.0], np.cumsum(watts))) * 10.0
    found, seen = from_counter(np.arange(len(joules)) * 10.0, joules % 100_000.0, highest_w=400,
                               range_j=100_000.0)
    assert found.power_w == pytest.approx(np.array(watts), abs=1e-6)
    assert seen.wraps == int(joules[-1] // 100_000)


def test_gaps_of_a_counter_are_taken_from_the_samples() -> None:
    counter, _ = from_counter([0, 10, 20, 30], [0, 1000, 5, 1505], highest_w=400)
    samples = from_samples(np.arange(0, 30, 1.0), [100.0] * 10 + [120.0] * 10 + [150.0] * 10)
    found, agrees = reconciled(counter, samples)
    assert found.power_w.tolist() == [100.0, 120.0, 150.0]
    assert agrees.ratio == 1.0
    assert agrees.lag_s == 0.0


@pytest.mark.skipif(not EMMY.is_file(), reason="the shared job_power data is not here")
def test_a_real_job_with_one_gap_in_eleven_samples() -> None:
    """573.2 MJ where gaps count as zero, a tenth too little."""
    with gzip.open(EMMY, "rt") as file:
        power = json.load(file)["rapl_power"]["node"]
    lasts_s, energy_j, covered_s, bare_j = 86_486.0, 0.0, 0.0, 0.0
    for node in power["series"]:
        watts = np.array([NAN if each is None else each for each in node["data"]])
        series = from_samples(np.arange(watts.size) * 60.0, watts, 60.0)
        filled = series.fill(Filling.HELD).between(0, lasts_s)
        energy_j += filled.energy_j[0]
        covered_s += filled.covered_s[0]
        bare_j += series.between(0, lasts_s).energy_j[0]
    assert energy_j == pytest.approx(630.8e6, rel=1e-4)
    assert covered_s / (len(power["series"]) * lasts_s) == pytest.approx(0.908, abs=5e-4)
    assert bare_j == pytest.approx(573.2e6, rel=1e-4)


@pytest.mark.skipif(not H200.is_file(), reason="the shared device samples are not here")
def test_the_averaged_power_of_a_real_card_lags_behind_its_counter() -> None:
    with H200.open() as file:
        rows = list(csv.DictReader(file))
    time_s = np.array([float(row["t_s"]) for row in rows])
    joules = np.array([float(row["energy_mj"]) for row in rows]) / 1000
    counter, seen = from_counter(time_s, joules, highest_w=700.0)
    assert (seen.wraps, seen.resets, seen.impossible) == (0, 0, 0)
    lags = {}
    for column in ("power_mw", "instant_mw"):
        watts = np.array([float(row[column]) for row in rows]) / 1000
        found, agrees = reconciled(counter, from_samples(time_s, watts))
        assert found.between(time_s[0], time_s[-1]).energy_j[0] == pytest.approx(
            joules[-1] - joules[0])
        assert agrees.ratio == pytest.approx(1.0, abs=0.02)
        lags[column] = agrees.lag_s
    assert 0.4 <= lags["power_mw"] <= 1.2
    assert lags["instant_mw"] < lags["power_mw"] / 2


def test_joules_along_times_are_those_between_them_to_the_last_bit_of_each_part() -> None:
    random = np.random.default_rng(5)
    edges = np.cumsum(random.random(200)) + 1e9
    power = np.where(random.random(199) < 0.1, np.nan, random.random(199) * 500)
    series = Stretches.measured(edges, power).fill(Filling.HELD, 1.0)
    times = np.unique(np.concatenate([edges[20:180:7], edges[20] + random.random(30) * 50]))
    along, between = series.along(times), series.between(times[:-1], times[1:])
    for name in ("energy_j", "covered_s", "filled_j", "filled_s"):
        assert getattr(along, name) == pytest.approx(getattr(between, name), abs=1e-6)
    part = series.within(float(times[3]), float(times[9]))
    assert part is not None
    assert part.along(times[3:10]).energy_j.tolist() == along.energy_j[3:9].tolist()
    wide = series.along(np.array([0.0, 1.0, edges[0], edges[-1], edges[-1] + 5]))
    assert wide.energy_j.tolist()[:2] == [0.0, 0.0]
    assert wide.energy_j[2] == pytest.approx(series.between(edges[0], edges[-1]).energy_j[0])
    assert wide.covered_s[3] == 0.0


def test_stretches_are_layered_added_and_joined() -> None:
    counter = Stretches.measured([0, 10, 20, 30], [100, NAN, 300])
    samples = Stretches.measured([5, 15, 40], [7, 8])
    found = layered(counter, samples)
    assert found.between([0, 10, 20, 30], [10, 20, 30, 40]).energy_j.tolist() == [
        1000.0, 5 * 7 + 5 * 8, 3000.0, 80.0]
    both = added([counter, Stretches.measured([0, 30], [50])])
    assert both.between([0, 10, 20], [10, 20, 30]).energy_j.tolist() == [1500.0, 0.0, 3500.0]
    apart = joined([samples, Stretches.measured([40, 50], [1]), Stretches.measured([60, 70], [2])])
    assert apart.edge_s.tolist() == [5, 15, 40, 50, 60, 70]
    assert apart.between(50, 70).covered_s.tolist() == [10.0]
