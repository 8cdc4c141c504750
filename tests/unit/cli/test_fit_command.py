"""`wattline fit` on small tables and with --suggest, as a user calls it."""

import json

import pytest
from click.testing import CliRunner
from tests.support.commands import refused
from tests.unit.cli.test_model_commands import answer
from tests.unit.physics.test_regression import machine_like_table

from wattline.cli.main import cli
from wattline.physics.regression import load_models

SUGGEST = ["fit", "--suggest", "3", "--nodes", "1-8", "--cores", "4", "--caps", "51"]


def write_rows(path, **sizes):
    """A file with so many rows of each application."""
    made = machine_like_table(0.01)
    lines = [f"{name},{c.nodes},{c.cores},{c.cap_w},{c.time_s},{c.power_w}"
             for name, size in sizes.items() for c in map(made.row, range(size))]
    path.write_text("application,nodes,cores,cap_w,time_s,power_w\n" + "\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("size", [4, 5, 20])
def test_a_small_table_is_fitted_and_not_checked(tmp_path, size):
    table = write_rows(tmp_path / "t.csv", small=size)
    model = tmp_path / "m.json"
    asked = ["fit", table, "-o", str(model), "--json"]
    said = CliRunner().invoke(cli, asked, catch_exceptions=False)
    assert said.exit_code == 0
    found = json.loads(said.stdout)
    how = "not checked" if size == 4 else "checked by cross-validation alone"
    assert f"its model, of all {size} of them, is {how}" in found["not_checked"]["small"]
    assert (found["models"]["small"] is None) == (size == 4)
    assert found["not_checked"]["small"] in said.stderr
    assert (found["time_error"], found["power_error"], found["applications"]) == (None, None, {})
    assert load_models(model)["small"].trained_on == size
    plain = CliRunner().invoke(cli, asked[:-1], catch_exceptions=False)
    first, _, errors = plain.stdout.partition("\n")
    assert first == "1 model fitted, none of them checked on a part left out"
    assert ("by cross-validation" in errors) == (size > 4)


def test_nothing_to_check_and_nothing_to_write_is_an_error(tmp_path, capsys):
    table = write_rows(tmp_path / "t.csv", small=20)
    assert "so train on 20% or more" in refused(capsys, "fit", table)
    found = answer("fit", table, "--train", "20%", "--json")
    assert found["applications"]["small"]["trained_on"] == 4
    assert found["not_checked"] == {}
    both = write_rows(tmp_path / "t.csv", small=20, large=60)
    found = answer("fit", both, "--json")
    assert list(found["applications"]) == ["large"]
    assert "20% or more" in found["not_checked"]["small"]
    assert "its model" not in found["not_checked"]["small"]


def test_fewer_than_four_rows_are_never_fitted(tmp_path, capsys):
    model = tmp_path / "m.json"
    table = write_rows(tmp_path / "t.csv", tiny=3)
    assert "'tiny' has 3 configurations; at least 4 are needed to fit a model" in refused(
        capsys, "fit", table, "-o", str(model))
    assert not model.exists()
    table = write_rows(tmp_path / "t.csv", tiny=1, small=5, large=60)
    found = answer("fit", table, "-o", str(model), "--json")
    assert set(load_models(model)) == {"small", "large"}
    assert "'tiny' has 1 configuration; at least 4" in found["not_checked"]["tiny"]
    assert list(found["applications"]) == ["large"]


def test_a_bad_share_is_refused_though_the_models_could_be_written(tmp_path, capsys):
    table = write_rows(tmp_path / "t.csv", small=20, large=60)
    assert "the part to train on is 2" in refused(capsys, "fit", table, "--train", "200%", "-o",
                                                  str(tmp_path / "m.json"))
    assert not (tmp_path / "m.json").exists()


def test_what_a_model_found_out_is_said(tmp_path):
    # Power listed as that of a node times ranks / 16, which no column of the file shows.
    made = machine_like_table(0.001)
    lines = [f"{c.nodes},{c.cores},{c.cap_w},{c.time_s},{c.power_w * c.cores / 16}"
             for c in map(made.row, range(len(made)))]
    (tmp_path / "odd.csv").write_text("nodes,cores,cap_w,time_s,power_w\n" + "\n".join(lines))
    model = tmp_path / "m.json"
    said = CliRunner().invoke(cli, ["fit", str(tmp_path / "odd.csv"), "-o", str(model), "--json"],
                              catch_exceptions=False)
    note = load_models(model)["odd"].note
    assert note
    assert json.loads(said.stdout)["notes"] == [f"odd: {note}"]
    assert f"wattline: odd: {note}" in said.stderr


@pytest.mark.parametrize(
    ("option", "value"),
    [("--nodes", "1-8:0"), ("--nodes", "1-8:-1"), ("--nodes", "8-1"), ("--nodes", "8:2"),
     ("--nodes", "1-8:nan"), ("--nodes", "1-8:"), ("--caps", "nan,50"), ("--caps", "inf,50"),
     ("--caps", "50-inf"), ("--caps", "50-80:inf")],
)
def test_axes_that_make_no_sense_get_one_line(capsys, option, value):
    message = refused(capsys, *SUGGEST, option, value)
    assert f"{option} is '{value}'; write it like" in message


def test_an_empty_axis_is_one_that_is_not_given(capsys):
    assert "needs --nodes, --cores and --caps" in refused(capsys, *SUGGEST, "--cores", "")


def test_an_endless_axis_is_refused(capsys):
    assert "more than 1,000 values" in refused(capsys, *SUGGEST, "--caps", "1-1e12:1e-6")


@pytest.mark.parametrize(
    "ignored",
    [["-o", "m.json"], ["--train", "10%"], ["--kind", "quadratic"], ["--store", "w.db"],
     ["--sample", "random"], ["--seed", "1"]],
)
def test_options_that_a_suggestion_would_ignore_are_refused(capsys, ignored):
    message = refused(capsys, *SUGGEST, *ignored)
    assert "does not go with --suggest: no model is fitted there" in message
    assert ignored[0] in message or "--output" in message


def test_an_application_without_a_table_is_refused(capsys):
    assert "--app goes with a TABLE" in refused(capsys, *SUGGEST, "--app", "x")


def test_fewer_suggestions_than_asked_for_are_announced():
    said = CliRunner().invoke(cli, [*SUGGEST, "--suggest", "20", "--json"], catch_exceptions=False)
    assert len(json.loads(said.stdout)["suggested"]) == 8
    assert said.stderr == ("wattline: --suggest is 20, only 8 configurations can still be "
                           "measured\n")
    enough = CliRunner().invoke(cli, [*SUGGEST, "--suggest", "8"], catch_exceptions=False)
    assert enough.stderr == ""
