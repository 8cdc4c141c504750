"""The commands configure, fit, predict and procure, as a user calls them."""

import json

import pytest
from click.testing import CliRunner
from tests.shared_data import shared
from tests.support.commands import refused
from tests.support.printed import columns

from wattline.cli.main import cli

PROCURE = ["procure", "--budget-power", "7kW", "--node-power-max", "380", "--node-power-min",
           "180", "--cost-ratio", "1.7", "--speed-ratio", "27%"]
BASE = ["--base-power", "105W"]
SPHOT = ["--app", "SPhot", *BASE]


def answer(*arguments):
    result = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def made_table(path, times=(9.0, 6.0, 5.0, 3.5)):
    rows = "\n".join(f"{n},{c},{w},{t},{p}" for (n, c, w, p), t in zip(
        [(2, 4, 51, 150), (2, 8, 115, 300), (4, 4, 51, 310), (4, 8, 115, 640)], times,
        strict=True))
    path.write_text("nodes,cores,cap_w,time_s,power_w\n" + rows + "\n")
    return str(path)


def test_configure_prints_the_six_configurations(tmp_path):
    found = answer("configure", "mine", "--power", "320W", "--table",
                   made_table(tmp_path / "t.csv"), "--json", "--plot", str(tmp_path / "p.png"))
    assert found["best"] == {"nodes": 4, "cores": 4, "cap_w": 51.0, "time_s": 5.0,
                             "power_w": 310.0}
    assert found["packed_max"]["nodes"] == 2
    assert found["packed_min"] is None
    assert found["spread_min"] == found["best"]
    assert {"spread_max", "worst_case", "by_nodes"} <= set(found)
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_what_was_not_measured_is_not_said_to_be_too_large(tmp_path):
    # 8 cores were measured at 115 W only, and 4 cores at 51 W only.
    table = made_table(tmp_path / "t.csv")
    asked = ["configure", "mine", "--power", "200W", "--table", table]
    lines = CliRunner().invoke(cli, asked, catch_exceptions=False).stdout.splitlines()
    said = {line.split()[0]: line for line in lines if line.startswith(("packed", "spread", "wor"))}
    assert said["packed-min"].endswith("was not measured")
    assert said["spread-max"].endswith("was not measured")
    assert said["packed-max"].endswith("does not fit")
    assert said["worst-case"].endswith("does not fit")
    assert answer(*asked, "--json")["not_measured"] == ["packed_min", "spread_max"]


def test_a_worst_case_above_the_bound_is_said(tmp_path):
    asked = ["configure", "mine", "--power", "500W", "--table", made_table(tmp_path / "t.csv"),
             "--json"]
    said = CliRunner().invoke(cli, [*asked, "--node-power-max", "100"], catch_exceptions=False)
    found = json.loads(said.stdout)
    assert found["worst_case"]["power_w"] == 640.0
    assert found["worst_case_above_bound"]
    assert "(4 x 8, 115 W) draws 640.0 W, above the bound of 500 W" in said.stderr
    said = CliRunner().invoke(cli, [*asked, "--node-power-max", "250"], catch_exceptions=False)
    assert not json.loads(said.stdout)["worst_case_above_bound"]
    assert "above the bound" not in said.stderr


def test_a_bound_just_below_the_smallest_configuration_is_told_apart(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("application,nodes,cores,cap_w,time_s,power_w\n"
                                    "mine,1,4,51,9,90.0004\n")
    asked = ["configure", "mine", "--table", str(tmp_path / "t.csv"), "--power"]
    assert "of 90 W is below the smallest configuration of 'mine': (1 x 4, 51 W) draws 90.0004 W" \
        in refused(capsys, *asked, "90W")
    assert "a bound of 89 W is below" in (message := refused(capsys, *asked, "89W"))
    assert message.endswith("draws 90 W\n")


def test_configure_on_the_raw_table_and_on_the_shipped_model():
    raw = answer("configure", "BT-MZ", "--power", "3500W", "--table",
                 str(shared("rapl/configs.csv.xz")), "--json")
    assert (raw["best"]["nodes"], raw["best"]["cores"], raw["best"]["cap_w"]) == (30, 14, 51)
    shipped = answer("configure", "bt-mz", "--power", "3.5kW", "--json")
    assert shipped["source"] == "predicted"
    assert shipped["best"]["time_s"] == pytest.approx(raw["best"]["time_s"], rel=0.05)


def test_configure_keeps_tables_in_a_store(tmp_path):
    url = f"sqlite:///{tmp_path / 'w.db'}"
    made = made_table(tmp_path / "t.csv")
    answer("configure", "mine", "--power", "1kW", "--table", made, "--keep", url, "--json")
    found = answer("configure", "mine", "--power", "1kW", "--store", url, "--json", "--nodes", "2")
    assert found["best"]["nodes"] == 2
    made_table(tmp_path / "t.csv", (9.0, 6.0, 3.0, 3.5))
    answer("configure", "mine", "--power", "1kW", "--table", made, "--keep", url, "--json")
    found = answer("configure", "Mine", "--power", "1kW", "--store", url, "--json")
    assert (found["best"]["nodes"], found["best"]["time_s"]) == (4, 3.0)


def test_a_store_that_is_only_read_is_not_made(tmp_path, capsys):
    message = refused(capsys, "configure", "BT-MZ", "--power", "3kW", "--store",
                      f"sqlite:///{tmp_path / 'no.db'}")
    assert "there is no store" in message
    assert "--keep URL" in message
    assert not list(tmp_path.iterdir())
    (tmp_path / "bad.db").write_text("not a database")
    message = refused(capsys, "configure", "BT-MZ", "--power", "3kW", "--store",
                      str(tmp_path / "bad.db"))
    assert "cannot read the store" in message


def test_a_folder_is_no_picture(tmp_path, capsys):
    (tmp_path / "pictures").mkdir()
    message = refused(capsys, "configure", "SPhot", "--power", "3kW", "--plot",
                      str(tmp_path / "pictures"))
    assert "is a folder; name a file to draw" in message
    assert [each.name for each in tmp_path.iterdir()] == ["pictures"]


def test_rows_without_an_application_take_the_name_that_was_given(tmp_path):
    made = made_table(tmp_path / "t.csv")
    said = CliRunner().invoke(cli, ["configure", "mine", "--power", "1kW", "--table", made])
    assert "has no column 'application': its rows are taken as 'mine'" in said.stderr
    assert columns(said.stdout, "configuration", "time s", "power W", "best is faster by") == [
        ("best", "3.5", "640", "-"), ("packed-max", "3.5", "640", "-"),
        ("packed-min", "-", "-", "was not measured"), ("spread-max", "-", "-", "was not measured"),
        ("spread-min", "5", "310", "30.0%"),  # 1 - 3.5 / 5
        ("worst-case", "6", "300", "41.7%")]  # 1 - 3.5 / 6
    assert columns(said.stdout, "best time s", "power W") == [("6", "300"), ("3.5", "640")]
    (tmp_path / "t.csv").write_text("application,nodes,cores,cap_w,time_s,power_w\n"
                                    "mine,2,4,51,9,150\n")
    said = CliRunner().invoke(cli, ["configure", "mine", "--power", "1kW", "--table", made,
                                    "--power-scope", "node"])
    assert said.stderr == ""


def test_power_that_contradicts_itself_is_said_wherever_it_is_used(tmp_path):
    # 2 nodes of 75 W draw 150 W; 4 nodes of 70 W do not draw 70 W.
    table = tmp_path / "t.csv"
    table.write_text("application,nodes,cores,cap_w,time_s,power_w,pkg_dram_w_per_node\n"
                     "odd,2,4,51,9,150,75\nodd,4,4,51,5,70,70\nfine,2,4,51,9,150,75\n")
    url = f"sqlite:///{tmp_path / 'w.db'}"
    note = "in 1 of 2 measured runs the power of all nodes is not that of a node times the nodes"
    asked = ["configure", "odd", "--power", "1kW", "--json"]
    for source in (["--table", str(table), "--keep", url], ["--store", url]):
        said = CliRunner().invoke(cli, [*asked, *source], catch_exceptions=False)
        assert note in json.loads(said.stdout)["note"]
        assert f"odd: {note}" in said.stderr
    assert answer("configure", "fine", *asked[2:], "--table", str(table))["note"] == ""
    for shipped in (["configure", "NAS-EP", "--power", "600W"],
                    ["predict", "NAS-EP", "--nodes", "8", "--cores", "8", "--cap", "65"]):
        said = CliRunner().invoke(cli, [*shipped, "--json"], catch_exceptions=False)
        assert "not that of a node times the nodes" in json.loads(said.stdout)["note"]
        assert "not that of a node times the nodes" in said.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["configure", "lammps", "--power", "1kW"], "there is no application 'lammps'"),
        (["configure", "BT-MZ", "--power", "100W"], "below the smallest configuration"),
        (["configure", "BT-MZ", "--power", "-5W"], "must be above 0"),
        (["configure", "BT-MZ", "--power", "much"], "'much' is not understood"),
        (["configure", "BT-MZ", "--power", "3kW", "--nodes", "4"], "needs at least 8 nodes"),
        (["configure", "BT-MZ", "--power", "3kW", "--table", "nowhere.csv"],
         "nowhere.csv: there is no such file"),
        (["configure", "SPhot", "--power", "3kW", "--plot", "/nowhere/p.png"], "cannot be drawn"),
        (["configure", "BT-MZ", "--power", "1e999W"], "is too large a number"),
        (["fit"], "give a TABLE"),
        (["fit", "x.csv", "--seed", "-1"], "-1 is not in the range"),
        (["fit", "nowhere.csv"], "nowhere.csv: there is no"),
        (["fit", "--suggest", "3"], "needs --nodes, --cores and --caps"),
        (["fit", "--suggest", "3", "--nodes", "x", "--cores", "4", "--caps", "5"],
         "--nodes is 'x'"),
        (["predict", "BT-MZ", "--nodes", "0", "--cores", "4", "--cap", "51"],
         "must be numbers greater than 0"),
        (["predict", "x", "--nodes", "4", "--cores", "4", "--cap", "51"], "no application 'x'"),
        ([*PROCURE, "--scaling", "1"], "write 2 numbers like -1.114,73.07"),
        ([*PROCURE, "--scaling", "-1,a"], "write 2 numbers"),
        ([*PROCURE, "--node-power-min", "400", "--scaling", "-1,80"],
         "400 W idle and a high-end one 380 W at most"),
        ([*PROCURE, "--app", "SPhot", "--nodes-valid", "60"], "--nodes-valid goes with --scaling"),
        (PROCURE, "give either --scaling M,B or --app NAME"),
        ([*PROCURE, "--scaling", "-1,80", "--shape", "line"], "--shape goes with --app"),
        ([*PROCURE, "--scaling", "-1,80", "--cost-ratio", "0.5"], "0.5, must be above 1"),
        ([*PROCURE, "--scaling", "-1,80", "--rack", "16,1,2,3"], "either --cost-ratio or --rack"),
    ],
)
def test_mistakes_get_one_clear_line(capsys, arguments, message):
    assert message in refused(capsys, *arguments)


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("nodes,cores,cap_w,time_s,power_w", "2,4,51,1e400,150", "must be a finite number"),
        ("nodes,cores,threads_per_node,cap_w,time_s,power_w", "2,4,8,51,9,150",
         "cores is 4 and threads_per_node is 8; they mean the same"),
    ],
)
def test_cells_that_say_nothing_or_two_things_are_refused(tmp_path, capsys, header, row, message):
    (tmp_path / "t.csv").write_text(f"{header}\n{row}\n")
    assert message in refused(capsys, "configure", "x", "--power", "1kW", "--table",
                              str(tmp_path / "t.csv"))


def test_a_model_that_is_not_determined_is_warned_of(tmp_path):
    from tests.unit.physics.test_regression import machine_like_table

    made = machine_like_table(0.3)
    (tmp_path / "t.csv").write_text("nodes,cores,cap_w,time_s,power_w\n" + "\n".join(
        f"{c.nodes},{c.cores},{c.cap_w},{c.time_s},{c.power_w}"
        for c in (made.row(i) for i in range(len(made)))))
    asked = ["fit", str(tmp_path / "t.csv"), "--sample", "random", "--train"]
    few = CliRunner().invoke(cli, [*asked, "12%", "--kind", "quadratic"], catch_exceptions=False)
    assert "configurations do not determine this model" in few.stderr
    many = CliRunner().invoke(cli, [*asked, "60%"], catch_exceptions=False)
    assert "do not determine" not in many.stderr


def test_fit_predict_and_suggest(tmp_path):
    from tests.unit.physics.test_regression import machine_like_table

    made = machine_like_table(0.01)
    path = tmp_path / "made.csv"
    path.write_text("nodes,cores,cap_w,time_s,power_w\n" + "\n".join(
        f"{c.nodes},{c.cores},{c.cap_w},{c.time_s},{c.power_w}"
        for c in (made.row(i) for i in range(len(made)))))
    model = str(tmp_path / "model.json")
    errors = answer("fit", str(path), "--train", "0.2", "--seed", "1", "-o", model, "--json")
    assert {"mean", "median", "p75", "max"} <= set(errors["time_error"])
    assert errors["power_error"]["under_10pct_share"] <= 0.04
    assert errors["applications"]["made"]["trained_on"] == 12
    found = answer("predict", "made", "--nodes", "8", "--cores", "12", "--cap", "65", "--model",
                   model, "--json")
    truth = next(made.row(i) for i in range(len(made)) if (
        made.nodes[i], made.cores[i], made.cap_w[i]) == (8, 12, 65))
    assert found["time_s"] == pytest.approx(truth.time_s, rel=0.06)
    low, high = found["power_w_interval_90"]
    assert low < found["power_w"] < high < found["power_w_to_reserve"] * 1.05
    full = CliRunner().invoke(cli, ["fit", str(path), "--suggest", "3"])
    assert "every combination" in str(full.exception)
    more = answer("fit", str(path), "--suggest", "3", "--nodes", "2-32:2", "--json")
    assert len(more["suggested"]) == 3
    first = answer("fit", "--suggest", "5", "--nodes", "8-32:2", "--cores", "4-16:2", "--caps",
                   "51,65,80,95,115", "--json")
    assert len(first["suggested"]) == 5
    assert first["candidates"] == 455


BT = ["predict", "BT-MZ", "--nodes", "16", "--cores", "16", "--cap"]


def test_a_prediction_far_outside_the_measurements_is_refused(capsys):
    message = refused(capsys, *BT, "5")
    assert "cap 5 is outside by 10.2 times (below the least; trained from 51 to 115)" in message
    assert "--extrapolate" in message
    message = refused(capsys, "predict", "BT-MZ", "--nodes", "32", "--cores", "128", "--cap", "51")
    assert "cores 128 is outside by 8 times (above the most; trained from 4 to 16)" in message
    assert answer(*BT, "5", "--extrapolate", "--json")["outside"]["cap"]["factor"] == 10.2


def test_outside_the_measurements_the_intervals_are_wider_by_the_distance():
    inside = answer(*BT, "51", "--json")
    assert (inside["outside_training"], inside["outside"]) == (False, {})
    near = answer(*BT, "34", "--json")
    assert near["outside"]["cap"] == {"value": 34.0, "trained_from": 51.0, "trained_to": 115.0,
                                      "factor": 1.5}
    for quantity in ("time_s", "power_w"):
        low, high = near[f"{quantity}_interval_90"]
        assert low < near[quantity] / 1.5 < near[quantity] * 1.5 < high
    said = CliRunner().invoke(cli, [*BT, "34"], catch_exceptions=False).stdout
    assert "cap 34 is outside by 1.5 times" in said
    assert columns(said, "quantity", "predicted", "90 % from", "to")[0] == (
        "time s", *(f"{each:.4g}" for each in (near["time_s"], *near["time_s_interval_90"])))
    assert "outside" not in CliRunner().invoke(cli, [*BT, "51"], catch_exceptions=False).stdout


def test_procure_prints_the_printed_example(tmp_path):
    found = answer(*PROCURE, "--scaling", "-0.542,25.93", "--json", "--plot",
                   str(tmp_path / "p.png"))
    assert (found["n_wc"], found["n_lim"], found["c_wc"], found["n_ovp"]) == (18, 38, 30.6, 30)
    assert found["s_ovp"] == pytest.approx(1.22, abs=0.005)
    named = answer(*PROCURE, "--scaling", "sp-mz", "--json")
    assert round(named["t_ovp_s"], 2) == 3.51
    without_ratio = [part for part in PROCURE if part not in ("--cost-ratio", "1.7")]
    racks = answer(*without_ratio, "--rack", "16,12000,3300,1700", "--scaling", "LU-MZ", "--json")
    assert racks["cost_ratio"] == pytest.approx(1.653, abs=0.001)
    assert named["scaling"]["largest_deviation"] is None


def test_procure_says_how_far_its_line_is_from_the_best_times(capsys):
    said = CliRunner().invoke(cli, [*PROCURE, *SPHOT, "--shape", "line", "--json"],
                              catch_exceptions=False)
    line = json.loads(said.stdout)["scaling"]
    assert line["slope_s"] < 0
    assert (line["nodes_min"], line["nodes_max"]) == (8, 32)
    best = {one["nodes"]: one["time_s"] for one in answer(
        "configure", "SPhot", "--power", "7kW", *BASE, "--json")["by_nodes"]}
    off = {n: abs((line["slope_s"] * n + line["intercept_s"]) / t - 1) for n, t in best.items()}
    assert line["largest_deviation"] == pytest.approx(max(off.values()))
    assert line["largest_deviation_nodes"] == max(off, key=off.get)
    assert f"is off by up to {max(off.values()):.0%}" in said.stderr
    message = refused(capsys, *PROCURE, "--budget-power", "8.5kW", *SPHOT, "--shape",
                      "line")
    assert "valid from 8 to 32 nodes, the machine would have 37" in message
    given = answer(*PROCURE, "--budget-power", "8.5kW", "--scaling", "SPhot", "--json")
    assert given["n_ovp"] == 37


def test_procure_of_an_application_uses_its_best_times(capsys):
    found = answer(*PROCURE, *SPHOT, "--json")
    best = {one["nodes"]: one["time_s"] for one in answer(
        "configure", "SPhot", "--power", "7kW", *BASE, "--json")["by_nodes"]}
    assert found["t_ovp_s"] == pytest.approx(best[30])
    assert found["t_wc_s"] == pytest.approx(0.73 * best[18])
    assert found["s_ovp"] == pytest.approx(0.89, abs=0.005)
    scaling = found["scaling"]
    assert (scaling["shape"], scaling["slope_s"]) == ("times", None)
    assert {one["nodes"]: one["time_s"] for one in scaling["best_times"]} == best
    said = CliRunner().invoke(cli, [*PROCURE, *SPHOT], catch_exceptions=False).stdout
    assert "times: the best ones of SPhot on 8 to 32 nodes under the budget" in said
    assert columns(said, "machine", "nodes", "cost (older node = 1)", "time s") == [
        ("worst case, high-end nodes", "18", "30.6", f"{found['t_wc_s']:.4g}"),  # 18 * 1.7
        ("overprovisioned, older nodes", "30", "30", f"{best[30]:.4g}")]
    message = refused(capsys, *PROCURE, "--budget-power", "8.5kW", *SPHOT)
    assert "known from 8 to 32 nodes, the machine would have 37" in message
