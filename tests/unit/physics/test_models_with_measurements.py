"""A model file: the model's own errors, and the measurements that no prediction replaces."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.drawn_tables import drawn_table
from tests.support.printed import columns

from wattline.account.configurations import ConfigurationStore
from wattline.account.store import Store
from wattline.advice.fit import fit as fit_file
from wattline.cli.main import cli
from wattline.physics.configurations import MEASURED, PARTLY, PREDICTED
from wattline.physics.regression import Grid, fit, fit_with_errors, load_models, save_models
from wattline.physics.regression.fitting import FOLDS


def answer(*arguments):
    result = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def partly(tmp_path_factory):
    """Half of a grid of GPUs, some cells measured twice: its rows, its file, its model's file."""
    folder = tmp_path_factory.mktemp("partly")
    table = drawn_table(5)
    half = table.take(np.arange(0, len(table), 2))
    rows = ["nodes,gpus,gpu_cap_w,time_s,power_w"]
    for at in range(len(half)):
        one = half.row(at)
        for factor in (0.99, 1.01) if at % 3 == 0 else (1.0,):
            rows.append(f"{one.nodes},{one.settings['gpus']:g},{one.settings['gpu_cap_w']:g},"
                        f"{one.time_s * factor!r},{one.power_w * factor!r}")
    (folder / "t.csv").write_text("\n".join(rows) + "\n")
    said = answer("fit", str(folder / "t.csv"), "--app", "sim", "--train", "50%", "-o",
                  str(folder / "m.json"))
    return half, folder / "m.json", said


@pytest.mark.parametrize("kind", ["smooth", "quadratic"])
def test_the_errors_of_a_model_are_those_of_leaving_out_each_fold(kind):
    table = drawn_table(1)
    found = fit_with_errors(table, kind).known.errors
    ratios = []
    for fold in np.array_split(np.random.default_rng(1).permutation(len(table)), FOLDS):
        others = np.setdiff1d(np.arange(len(table)), fold)
        model = fit(table.take(others), kind, grid=Grid.of(table))
        truth = table.take(fold)
        ratios.append(model.predict_points(truth.points()).time_s / truth.time_s)
    size = np.abs(np.concatenate(ratios) - 1.0)
    assert found.time.median == pytest.approx(np.median(size))
    assert found.time.p90 == pytest.approx(np.quantile(size, 0.9))
    assert (found.configurations, found.folds) == (len(table), FOLDS)


def test_a_table_too_small_to_leave_any_out_has_a_model_of_unknown_errors():
    table = drawn_table(1)
    assert fit_with_errors(table.take(np.arange(0, len(table), len(table) // 4)[:4]),
                           "smooth").known.errors is None
    assert fit_with_errors(table.take(np.arange(5)), "smooth").known.errors.folds == 5


@pytest.mark.parametrize("kind", ["smooth", "quadratic", "capping", "mixed"])
def test_errors_and_measurements_survive_the_file(kind, tmp_path):
    table = drawn_table(20)
    table = table.take(np.arange(0, len(table), 3))
    made = fit_with_errors(table, kind)
    save_models({"x": made}, tmp_path / "m.json")
    read = load_models(tmp_path / "m.json")["x"]
    assert read.known.errors.time.p90 == pytest.approx(made.known.errors.time.p90)
    assert read.known.errors.power.median == pytest.approx(made.known.errors.power.median)
    assert np.allclose(read.known.cells.time_s, table.time_s)
    assert np.array_equal(read.known.cells.runs.count, table.runs.count)


def test_fit_prints_the_errors_of_the_model_that_it_writes(partly):
    half, path, said = partly
    written = load_models(path)["sim"].known.errors
    assert "Errors of the models as written" in said
    assert columns(said, "kind", "trained on", "time: median", "90 %", "power: median", "90 %") == [
        ("smooth", str(written.configurations), *(
            f"{part:.1%}" for each in (written.time, written.power)
            for part in (each.median, each.p90)))]
    checked = fit_file(path.parent / "t.csv", app="sim", train="50%").checked["sim"]
    assert columns(said, "trained on", "of", "error of", "mean", "under by > 10 %",
                   "worst under") == [
        (str(len(half) // 2), str(len(half)), what, *(f"{errors[key]:.1%}" for key in (
            "mean", "under_10pct_share", "worst_under")))
        for what, errors in (("time", checked.time_error), ("power", checked.power_error))]


def test_where_a_cell_was_measured_the_measurement_is_the_answer(partly):
    half, path, _ = partly
    one = half.row(0)
    asked = ["predict", "sim", "--model", str(path), "--nodes", str(one.nodes), "--at",
             f"gpus={one.settings['gpus']:g}", "--at", f"gpu_cap_w={one.settings['gpu_cap_w']:g}"]
    found = json.loads(answer(*asked, "--json"))
    assert found["basis"] == MEASURED
    assert found["time_s"] == pytest.approx(one.time_s)
    assert found["power_w_to_reserve"] == pytest.approx(one.power_w)
    assert found["time_s_interval_90"][0] < one.time_s < found["time_s_interval_90"][1]
    assert found["model_errors"]["time"]["median"] > 0
    text = answer(*asked)
    assert "measured" in text
    assert "errors of the model in cross-validation: time " in text
    other = drawn_table(5).row(1)
    asked[5] = str(other.nodes)
    asked[7] = f"gpus={other.settings['gpus']:g}"
    asked[9] = f"gpu_cap_w={other.settings['gpu_cap_w']:g}"
    found = json.loads(answer(*asked, "--json"))
    assert found["basis"] == PREDICTED
    assert found["power_w_to_reserve"] == pytest.approx(1.15 * found["power_w"])


def test_configure_takes_measured_cells_and_says_which(partly):
    half, path, _ = partly
    bound = f"{np.median(half.power_w):.0f}W"
    asked = ["configure", "sim", "--model", str(path), "--power", bound, "--margin", "10%"]
    found = json.loads(answer(*asked, "--json"))
    assert found["source"] == PARTLY
    assert found["model_errors"]["power"]["p90"] > 0
    shown = [*found["by_nodes"], found["best"]]
    assert {one["basis"] for one in shown} <= {MEASURED, PREDICTED}
    truth = {(one.nodes, *one.settings.values()): one
             for one in map(half.row, range(len(half)))}
    for one in shown:
        cell = truth.get((one["nodes"], float(one["gpus"]), one["gpu_cap_w"]))
        assert (cell is not None) == (one["basis"] == MEASURED)
        if cell is not None:  # no margin on what was measured
            assert one["power_w"] == pytest.approx(cell.power_w)
            assert one["time_s"] == pytest.approx(cell.time_s)
    # Nothing within the bound that was measured is faster.
    within = half.power_w <= float(bound[:-1])
    assert found["best"]["time_s"] <= half.time_s[within].min() * (1 + 1e-9)
    assert "errors of the model in cross-validation" in answer(*asked)


def test_a_store_keeps_what_was_measured_apart_from_what_is_predicted(partly, tmp_path):
    half, path, _ = partly
    table = load_models(path)["sim"].table()
    with Store(f"sqlite:///{tmp_path / 'w.db'}") as opened:
        kept = ConfigurationStore(opened)
        kept.put(table)
        read = kept.table("sim")
    assert read.source == PARTLY
    assert read.measured_rows.sum() == len(half) < len(read)
    assert np.array_equal(read.measured_rows, table.measured_rows)


def test_models_of_all_points_are_made_with_their_errors(partly, tmp_path):
    _, path, _ = partly
    found = fit_file(path.parent / "t.csv", app="sim", train="50%")
    assert found.to_dict()["models"]["sim"]["folds"] == FOLDS
