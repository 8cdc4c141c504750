"""The mean of two models of time, and priors that a site learns from its own applications."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression import fit, load_models, save_models
from wattline.physics.regression.learning import learn_priors, learn_slopes, load_priors
from wattline.physics.regression.terms import SHIPPED


def made(name, cores_slope=-0.9, nodes_slope=-0.9):
    """An application whose times go by powers of cores and nodes."""
    rows = [(n, c, w) for n in (4, 8, 16) for c in (4, 8, 16) for w in (51.0, 80.0, 115.0)]
    nodes, cores, caps = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    demand = 80.0 * (cores / 16) ** 0.6
    felt = np.minimum(caps, demand)
    time_s = 900.0 * cores**cores_slope * nodes**nodes_slope * (felt / demand) ** -0.4
    return ConfigurationTable.build(name, nodes, cores, caps, time_s, 2 * nodes * felt)


@pytest.fixture(scope="module")
def models():
    from wattline.physics.regression.learning import fit_widely

    return fit_widely({name: made(name, slope) for name, slope in (
        ("a", -0.50), ("b", -0.52), ("c", -0.54))})


def written(path):
    rows = ["application,nodes,cores,cap_w,time_s,power_w"]
    for name, slope in (("a", -0.50), ("b", -0.52), ("c", -0.54)):
        table = made(name, slope)
        rows += [f"{name},{c.nodes},{c.cores},{c.cap_w},{c.time_s},{c.power_w}"
                 for c in map(table.row, range(len(table)))]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_time_is_the_mean_of_both_logarithms_and_power_the_cappings(tmp_path):
    table = made("x")
    mixed = fit(table.take(np.arange(0, len(table), 2)), "mixed")
    points = table.points()
    found = mixed.predict_points(points)
    one, other = mixed.capping.predict_points(points), mixed.smooth.predict_points(points)
    assert found.time_s == pytest.approx(np.sqrt(one.time_s * other.time_s))
    assert np.array_equal(found.power_w, one.power_w)
    assert np.all(found.time_sd >= np.abs(np.log(one.time_s / other.time_s)) / 2)
    save_models({"x": mixed}, tmp_path / "m.json")
    again = load_models(tmp_path / "m.json")["x"].predict_points(points)
    assert again.time_s == pytest.approx(found.time_s, rel=1e-6)


def test_what_three_applications_share_is_learned(models):
    priors = learn_priors(models)
    cores = next(prior for prior in priors.time if prior.name == "cores")
    assert cores.mean == pytest.approx(-0.52, abs=0.1)
    shipped = next(prior for prior in SHIPPED.time if prior.name == "cores")
    assert abs(cores.mean - shipped.mean) > 0.2


def test_two_applications_teach_nothing_in_common(models):
    assert learn_priors({name: models[name] for name in "ab"}) == SHIPPED
    of_one = learn_priors(models, application_of=lambda name: "all")
    assert of_one == SHIPPED


class Learned(NamedTuple):
    """A table, the priors that were learned from it, and what the command said."""

    table: Path
    file: Path
    said: str


def learned(table):
    file = table.with_suffix(".json")
    done = CliRunner().invoke(cli, ["fit", str(table), "--learn-priors", str(file), "--json"],
                              catch_exceptions=False)
    return Learned(table, file, done.stdout)


@pytest.fixture(scope="module")
def cores(tmp_path_factory):
    return learned(written(tmp_path_factory.mktemp("learned") / "c.csv"))


@pytest.fixture(scope="module")
def gpus(tmp_path_factory):
    return learned(of_gpus(tmp_path_factory.mktemp("learned") / "g.csv"))


def test_a_site_learns_its_own_priors_and_uses_them(cores):
    table, file, said = cores
    assert json.loads(said)["learned_from"] == ["a", "b", "c"]
    assert load_priors(file) != SHIPPED
    errors = {}
    for given in ([], ["--priors", str(file)]):
        said = CliRunner().invoke(cli, ["fit", str(table), "--app", "a", "--train", "20%", "--json",
                                        *given], catch_exceptions=False)
        errors[bool(given)] = json.loads(said.stdout)["applications"]["a"]["time_error"]["mean"]
    assert errors[True] != errors[False]


def of_gpus(path, slopes=(-0.60, -0.62, -0.64, -0.66)):
    """Four applications on nodes with GPUs under a cap of their own, in one table."""
    rows = ["application,nodes,gpus,gpu_cap_w,time_s,power_w"]
    for name, slope in zip("abcd", slopes, strict=True):
        rows += [f"{name},{n},{g},{w},{5000 * n**-0.9 * g**-0.8 * w**slope},{n * (300 + g * w)}"
                 for n in (1, 2, 4, 8) for g in (1, 2, 4) for w in (200, 300, 450, 700)]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_settings_of_any_machine_teach_how_time_and_power_go_with_them(gpus):
    table, file, said = gpus
    ask = ["fit", str(table)]
    assert json.loads(said)["learned_from"] == ["a", "b", "c", "d"]
    priors = load_priors(file)
    assert priors[:2] == SHIPPED[:2], "nothing was seen of cores and sockets"
    found = {name: slope.mean for name, slope in priors.time_slopes.items()}
    assert found == pytest.approx({"nodes": -0.9, "gpus": -0.8, "gpu_cap_w": -0.63}, abs=0.03)
    assert set(priors.power_slopes) == set(found)
    assert all(0 < slope.sd < 0.5 for slope in priors.time_slopes.values())
    # A tenth of a table is four points, as many as a line in three settings has figures.
    errors = {}
    for given in ([], ["--priors", str(file)]):
        said = CliRunner().invoke(cli, [*ask, "--app", "d", "--train", "10%", "--sample", "random",
                                        "--json", *given], catch_exceptions=False)
        errors[bool(given)] = json.loads(said.stdout)["applications"]["d"]["time_error"]["mean"]
    assert errors[True] < 0.5 * errors[False]


def test_priors_of_other_settings_are_said_and_those_of_no_model_refused(gpus, cores):
    asked = {"app": "a", "train": 0.5, "keep": False}
    for mine, other, said in ((gpus, cores, "gpus and gpu_cap_w"),
                              (cores, gpus, "cores and cap_w")):
        with pytest.warns(wl.WattlineWarning, match=f"{other.file.name} says nothing of {said}"):
            wl.fit(mine.table, priors=other.file, **asked)
    own = wl.fit(gpus.table, priors=gpus.file, **asked)
    assert not any("says nothing" in line for line in own.remarks)
    with pytest.raises(InputError, match="the quadratic model has no priors"):
        wl.fit(cores.table, priors=cores.file, kind="quadratic", **asked)


@pytest.mark.parametrize("kind", ["smooth", "mixed"])
def test_slopes_of_cores_and_caps_are_learned_and_used(cores, kind):
    table, file, _ = cores
    priors = load_priors(file)
    assert set(priors.time_slopes) == set(priors.power_slopes) == {"nodes", "cores", "cap_w"}
    found = [wl.fit(table, app="a", kind=kind, priors=given).models["a"]
             for given in (None, file)]
    smooth = [getattr(one, "smooth", one) for one in found]
    assert smooth[0].time.slopes != smooth[1].time.slopes
    assert smooth[1].time.slopes == tuple(priors.time_slopes[name]
                                          for name in ("nodes", "cores", "cap_w"))


def test_tables_of_one_application_count_once_for_a_slope():
    each = {"a1": -1.0, "a2": -3.0, "b": -0.5, "c": -0.6}
    found = {name: {"power": {}, "time": {"nodes": slope}} for name, slope in each.items()}
    by_table, of_three = learn_slopes(found), learn_slopes(found, lambda name: name[0])
    assert by_table["time"]["nodes"].mean == pytest.approx(-0.8)
    assert of_three["time"]["nodes"].mean == pytest.approx(-0.6)
    assert learn_slopes(found, lambda name: name[0] == "c")["time"] == {}
    assert of_three["power"] == {}


def test_priors_that_have_seen_the_application_are_said(tmp_path, gpus):
    table, file, _ = gpus
    renamed = tmp_path / "u.csv"
    renamed.write_text(table.read_text().replace("\na,", "\nz,"))
    asked = {"train": 0.5, "keep": False, "priors": file}
    seen = wl.fit(table, app="a", **asked).remarks
    assert any("a: " in line and "was learned from an application of this name too" in line
               for line in seen)
    assert not any("was learned from" in line
                   for line in wl.fit(renamed, app="z", **asked).remarks)


def test_a_model_keeps_what_was_believed_of_its_slopes(tmp_path, gpus):
    model = wl.fit(gpus.table, app="a", train=0.2, priors=gpus.file).models["a"]
    save_models({"a": model}, tmp_path / "m.json")
    again = load_models(tmp_path / "m.json")["a"]
    assert np.array(again.time.slopes) == pytest.approx(np.array(model.time.slopes))
    points = np.array([[3.0, 3.0, 250.0], [16.0, 4.0, 700.0]])
    assert again.predict_points(points).time_s == pytest.approx(
        model.predict_points(points).time_s, rel=1e-6)


def test_priors_that_cannot_be_learned_or_read_are_refused(tmp_path):
    (tmp_path / "one.csv").write_text("nodes,cores,cap_w,time_s,power_w\n1,2,50,3,40\n")
    ask = ["fit", str(tmp_path / "one.csv")]
    with pytest.raises(InputError, match="has 0 applications of 20 configurations or more"):
        cli.main([*ask, "--learn-priors", str(tmp_path / "p.json")], standalone_mode=False)
    of_gpus(tmp_path / "t.csv")
    wl.learn_priors(tmp_path / "t.csv", tmp_path / "p.json")
    damaged = (tmp_path / "p.json").read_text().replace('"gpus": {', '"gpus": 3, "x": {', 1)
    (tmp_path / "p.json").write_text(damaged)
    with pytest.raises(InputError, match="the priors are damaged"):
        load_priors(tmp_path / "p.json")
    (tmp_path / "p.json").write_text("{}")
    with pytest.raises(InputError, match="is no file of priors; `wattline fit TABLE --learn-pri"):
        cli.main([*ask, "--priors", str(tmp_path / "p.json")], standalone_mode=False)
    with pytest.raises(InputError, match="--kind does not go with --learn-priors"):
        cli.main([*ask, "--learn-priors", "x", "--kind", "mixed"], standalone_mode=False)
