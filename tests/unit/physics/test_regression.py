"""Models of time and power: what they can recover, and the published errors on real tables."""

import json

import numpy as np
import pytest
from tests.shared_data import shared
from tests.support.thinned import crossed, mostly

from wattline.model.errors import InputError
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.measurements import read_measurements
from wattline.physics.regression import (
    Grid,
    fit,
    fit_and_check,
    load_models,
    save_models,
    shipped_models,
    suggest,
)
from wattline.physics.regression.bayes import condition, variance_saved
from wattline.physics.regression.fitting import choose_training
from wattline.physics.regression.laplace import Gaussian, Measured, Sizes
from wattline.physics.regression.terms import (
    OVERHEAD,
    POWER_PRIORS,
    TIME_PRIORS,
    Frame,
    Layout,
    log_time,
)

GRID = Grid({"nodes": (2, 4, 8, 16), "cores": (4, 8, 12, 16),
             "cap_w": (50.0, 65.0, 80.0, 110.0)})


def machine_like_table(noise: float = 0.0, seed: int = 0) -> ConfigurationTable:
    """Power up to a demand, a cap that binds below it, turbo without a cap."""
    points = GRID.points()
    nodes, cores, cap = points.T
    demand = 30.0 + 3.2 * cores
    turbo = cap == 110.0
    socket = np.where(turbo, 1.25 * demand, np.minimum(demand, cap + 5.0))
    slow = np.where(turbo, 0.85, np.maximum(1.0, demand / (cap + 5.0)) ** 0.8)
    time = 1000.0 / (nodes**0.9 * cores**0.8) * slow
    wobble = np.exp(noise * np.random.default_rng(seed).standard_normal((2, len(points))))
    return ConfigurationTable.build("made", nodes, cores, cap, time * wobble[0],
                                    2.0 * nodes * socket * wobble[1])


def table_with(layout: Layout) -> ConfigurationTable:
    """The same machine with ranks on as few sockets as hold them, or charged by cores."""
    points = GRID.points()
    nodes, cores, cap = points.T
    used = np.ceil(cores / 8) if layout.packed else np.full(len(cores), 2.0)
    demand = 20.0 + 6.4 * cores / used
    turbo = cap == 110.0
    socket = np.where(turbo, 1.25 * demand, np.minimum(demand, cap + 5.0))
    slow = np.where(turbo, 0.85, np.maximum(1.0, demand / (cap + 5.0)) ** 0.8)
    share = cores / 16 if layout.by_share else 1.0
    node_w = used * socket + (2.0 - used) * 22.0
    return ConfigurationTable.build("made", nodes, cores, cap,
                                    1000.0 / (nodes**0.9 * cores**0.8) * slow,
                                    nodes * node_w * share, of_ranks=layout.packed)


@pytest.mark.parametrize(("packed", "by_share"), crossed(
    [False, True], [False, True], later=pytest.mark.long))
def test_how_ranks_sit_and_how_power_is_counted_is_found_from_a_tenth(packed, by_share):
    layout = Layout(packed, by_share)
    checked = fit_and_check(table_with(layout), share=0.1, seed=1)
    assert checked.model.layout == layout
    assert checked.power_error["mean"] < 0.05
    assert bool(checked.model.note) == by_share


def test_the_capping_model_finds_corner_and_turbo_from_a_fifth_of_the_points():
    checked = fit_and_check(machine_like_table(), share=0.2, seed=3)
    assert checked.time_error["p75"] < 0.03
    assert checked.power_error["p75"] < 0.03
    published = fit_and_check(machine_like_table(), share=0.2, seed=3, kind="quadratic")
    assert checked.time_error["mean"] < 0.5 * published.time_error["mean"]


@pytest.mark.parametrize("seed", [1, *(pytest.param(s, marks=pytest.mark.long) for s in (2, 3))])
def test_an_overhead_that_grows_with_the_nodes_is_found_from_a_fifth_of_the_points(seed):
    smooth = machine_like_table()
    uncapped = smooth.cap_w == 110.0
    # Uncapped runs wait for each other, the longer the more nodes there are: up to 70 % of a run.
    time_s = smooth.time_s + np.where(uncapped, 4.0 * smooth.nodes, 0.0)
    table = ConfigurationTable.build("waits", smooth.nodes, smooth.cores, smooth.cap_w, time_s,
                                     smooth.power_w)
    assert (4.0 * table.nodes / table.time_s)[table.cap_w == 110.0].max() > 0.6
    found = fit_and_check(table, share=0.2, seed=seed)
    assert found.time_error["mean"] < 0.05
    assert found.time_error["max"] < 0.2


@pytest.fixture(scope="module")
def whole():
    """A model of the whole table."""
    return fit(machine_like_table(), "capping")


def test_without_an_overhead_none_is_believed(whole):
    assert whole.time.coefficients[OVERHEAD] < -3.0


@pytest.mark.parametrize("packed", [False, True])
def test_the_slope_of_power_is_its_derivative(packed):
    terms = Frame(GRID, 2, Layout(packed)).at(GRID.points())
    power = np.array([prior.mean for prior in POWER_PRIORS]) + 0.05
    value, slope = terms.socket_power(power)
    for place in range(len(power)):
        moved = power.copy()
        moved[place] += 1e-6
        assert np.allclose((terms.socket_power(moved)[0] - value) / 1e-6, slope[:, place],
                           atol=1e-4)


def test_the_slope_of_time_is_its_derivative():
    power = np.array([prior.mean for prior in POWER_PRIORS])
    terms = Frame(GRID, 2).at(GRID.points()).of_time(power)
    time = np.array([prior.mean for prior in TIME_PRIORS]) + 0.05
    value, slope = log_time(terms, time)
    for place in range(len(time)):
        moved = time.copy()
        moved[place] += 1e-6
        assert np.allclose((log_time(terms, moved)[0] - value) / 1e-6,
                           slope[:, place], atol=1e-5)


def test_the_quadratic_model_is_exact_on_a_quadratic():
    points = GRID.points()
    logs = np.log(points)
    time = np.exp(5 - 0.8 * logs[:, 0] - 0.5 * logs[:, 1] * logs[:, 2] + 0.1 * logs[:, 1] ** 2)
    table = ConfigurationTable.build("q", *points.T, time, time * 3)
    checked = fit_and_check(table, share=0.4, seed=1, kind="quadratic")
    assert checked.time_error["max"] < 1e-8


@pytest.mark.parametrize("draws", mostly([2, 4, 6], [2], pytest.mark.long))
def test_intervals_hold_what_they_promise(draws):
    shares = [fit_and_check(machine_like_table(0.04, seed), share=0.25, seed=seed).covered
              for seed in range(draws)]
    assert 0.8 <= np.mean(shares) <= 1.0


def test_training_never_exceeds_its_share_and_follows_the_seed():
    table = machine_like_table()
    for sample in ("designed", "random"):
        first = choose_training(table, 0.1, 1, sample)
        assert len(first) == 6
        assert np.array_equal(first, choose_training(table, 0.1, 1, sample))
        others = [choose_training(table, 0.1, seed, sample) for seed in range(2, 16)]
        assert any(not np.array_equal(first, other) for other in others)


def test_too_little_to_train_on_is_refused_with_what_would_do():
    with pytest.raises(InputError, match="are 1; at least 4 are needed, so train on 7% or more"):
        fit_and_check(machine_like_table(), share=0.02)
    with pytest.raises(InputError, match="the part to train on is 1"):
        fit_and_check(machine_like_table(), share=1.0)


@pytest.mark.parametrize("draws", mostly([3, 5, 8], [3], pytest.mark.long))
def test_suggestions_are_new_and_lower_the_error_more_than_chance(draws):
    table = machine_like_table(0.02)
    measured = np.zeros(len(table), dtype=bool)
    measured[:6] = True
    chosen = suggest(table.points(), 8, measured=measured)
    assert len(set(chosen)) == 8
    assert not measured[chosen].any()

    def error_with(extra):
        rows = np.concatenate([np.flatnonzero(measured), extra])
        model = fit(table.take(rows), grid=GRID)
        return np.mean(np.abs(model.predict_points(table.points()).time_s / table.time_s - 1))

    generator = np.random.default_rng(5)
    chance = [error_with(generator.permutation(np.flatnonzero(~measured))[:8])
              for _ in range(draws)]
    assert error_with(np.array(chosen)) < np.median(chance)


def test_models_survive_their_file(tmp_path, whole):
    for kind, model in (("capping", whole), ("quadratic", fit(machine_like_table(), "quadratic"))):
        save_models({"made": model}, tmp_path / "model.json")
        again = load_models(tmp_path / "model.json")["made"]
        assert again.kind == kind
        points = GRID.points()
        assert np.allclose(again.predict_points(points).time_s,
                           model.predict_points(points).time_s, rtol=1e-6)
        assert np.allclose(again.predict_points(points).power_sd,
                           model.predict_points(points).power_sd, rtol=1e-5)


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "not JSON"), ("[]", "is not a model file"),
     ('{"format": "wattline-model", "version": 99}', "has version 99"),
     ('{"format": "wattline-model", "version": 3, "applications": {}}', "no application"),
     ('{"format": "wattline-model", "version": 3, "applications": {"a": {"kind": "x"}}}',
      "the model of 'a' is damaged")],
)
def test_bad_model_files_are_refused(tmp_path, content, message):
    path = tmp_path / "model.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        load_models(path)


def test_shipped_models_know_the_applications_and_hold_no_table():
    models = shipped_models()
    assert {"BT-MZ", "SPhot", "SC", "NSC", "SM", "NSM"} <= set(models)
    table = models["BT-MZ"].table()
    assert len(table) == 455
    assert np.all(models["BT-MZ"].table(margin=0.15).power_w == table.power_w * 1.15)
    stored = json.dumps(models["BT-MZ"].as_dict())
    assert "time_s" not in stored


@pytest.fixture(scope="module")
def real_tables():
    return read_measurements(shared("rapl/configs.csv.xz"))


def test_shipped_models_agree_with_the_tables(real_tables):
    measured = real_tables["bt-mz_8-32nodes_5caps"]
    predicted = shipped_models()["BT-MZ"].predict_points(measured.points())
    assert np.mean(np.abs(predicted.time_s / measured.time_s - 1)) < 0.02
    assert np.mean(np.abs(predicted.power_w / measured.power_w - 1)) < 0.01


def first(names, few):
    """The first few; the others are of the same kinds, and wait for the long run."""
    return [*names[:few], *(pytest.param(name, marks=pytest.mark.long) for name in names[few:])]


REAL = ["bt-mz_8-32nodes_5caps", "sphot_8-16-32nodes_5caps", "synthetic_noscale-mem_8-16-32nodes",
        "synthetic_scale-cpu_8-16-32nodes", "sphot_1node_12caps",
        "bt-mz_nov20_8-16-32nodes", "synthetic_noscale-cpu_8-16-32nodes",
        "synthetic_scale-mem_8-16-32nodes", "synthetic_scale-mem_1node_12caps"]


@pytest.mark.parametrize("seed", first([1, 2, 3], 1))
@pytest.mark.parametrize("name", first(REAL, 3))
def test_published_errors_are_reached_on_real_tables(name, seed, real_tables):
    checked = fit_and_check(real_tables[name], share=0.1, seed=seed)
    for errors in (checked.time_error, checked.power_error):
        assert errors["mean"] < 0.10
        assert errors["median"] < 0.077
        assert errors["p75"] < 0.132
    assert checked.power_error["under_10pct_share"] <= 0.04


@pytest.mark.parametrize("seed", first([1, 2], 1))
@pytest.mark.parametrize("name", first(["cg", "ep", "sweep", "ft", "lu", "mg"], 1))
def test_four_points_place_the_ranks_and_keep_mean_errors_below_a_tenth(name, seed, real_tables):
    checked = fit_and_check(real_tables[f"nas_apr20_{name}"], share=0.1, seed=seed)
    assert len(checked.trained) == 4
    assert checked.model.layout == Layout(packed=True, by_share=True)
    assert checked.time_error["mean"] < 0.10
    assert checked.power_error["mean"] < 0.10


def straight(rows, columns, seed):
    """A line with corrections: what Laplace's approximation must be exact for."""
    generator = np.random.default_rng(seed)
    slope = generator.standard_normal((rows, columns))
    features, target = generator.standard_normal((rows, 4)), generator.standard_normal(rows)
    prior = Gaussian(generator.standard_normal(columns), generator.uniform(0.5, 2.0, columns))
    return (lambda at: (slope @ at, slope)), slope, features, target, prior


def solved(curve, features, target, prior, sizes):
    measured = Measured.of(target, features)
    at = measured.search(curve, prior, sizes, prior.mean)
    return measured.posterior(curve, prior, sizes, at)


@pytest.mark.parametrize("rows", [3, 9])
def test_evidence_and_posterior_of_a_line_are_exact(rows):
    curve, slope, features, target, prior = straight(rows, 2, 3)
    sizes = Sizes(0.7, 0.3)
    found = solved(curve, features, target, prior, sizes)
    beside = 0.49 * features @ features.T + 0.09 * np.eye(rows)
    every = beside + (slope * prior.sd**2) @ slope.T
    surprise = target - slope @ prior.mean
    assert found.log_evidence == pytest.approx(-0.5 * (
        surprise @ np.linalg.solve(every, surprise) + np.linalg.slogdet(every)[1]))
    gain = (prior.sd**2)[:, None] * slope.T
    assert found.mean == pytest.approx(prior.mean + gain @ np.linalg.solve(every, surprise),
                                       abs=1e-3)
    assert found.corrections == pytest.approx(
        0.49 * features.T @ np.linalg.solve(every, surprise), abs=1e-3)


def test_left_out_errors_are_those_of_really_leaving_out():
    curve, slope, features, target, prior = straight(7, 3, 4)
    sizes = Sizes(0.5, 0.4)
    found = solved(curve, features, target, prior, sizes)
    for row in range(7):
        rest = np.arange(7) != row
        without = solved(lambda at, rest=rest: (slope[rest] @ at, slope[rest]), features[rest],
                         target[rest], prior, sizes)
        predicted = slope[row] @ without.mean + features[row] @ without.corrections
        assert found.left_out[row] == pytest.approx(target[row] - predicted, abs=1e-3)


def test_conditioning_is_a_kalman_update():
    generator = np.random.default_rng(3)
    factor = generator.standard_normal((5, 4))
    before = factor @ factor.T
    after = condition(factor, 2, 0.5)
    expected = before - np.outer(before[:, 2], before[2]) / (before[2, 2] + 0.25)
    assert np.allclose(after @ after.T, expected)
    saved = np.trace(before) - np.trace(expected)
    assert variance_saved(factor, 0.5)[2] == pytest.approx(saved)
