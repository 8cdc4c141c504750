"""Tables of any machine: settings that the table names, devices, models of them."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from wattline.account.configurations import ConfigurationStore, read_catalogue
from wattline.account.store import Store
from wattline.advice.predict import predict
from wattline.cli.main import cli, main
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.physics.devices import rate_node
from wattline.physics.measurement_columns import parse_map
from wattline.physics.measurements import read_measurements
from wattline.physics.overprovisioning import choose
from wattline.physics.regression import fit, fit_and_check, load_models, save_models
from wattline.policies.configuration.offers import make_offers


def measured(nodes, gpus, cap_w, clock=1.0):
    """A made-up application on GPUs: time and power of the whole job."""
    felt = min(cap_w, 520.0 * clock)
    work_s = 4000.0 / (nodes * gpus) ** 0.92 * (520.0 / felt) ** 0.7
    return work_s, nodes * (310.0 + gpus * felt)


def table_text(mark=",", cap="gpu_cap_w", gpus="gpus"):
    rows = [mark.join(["app", "nodes", gpus, cap, "time_s", "power_w"])]
    for nodes in (1, 2, 4, 8):
        for count in (1, 2, 4):
            for cap_w in (200, 300, 400, 500, 600, 700):
                time_s, power_w = measured(nodes, count, cap_w)
                rows.append(mark.join(["sim", str(nodes), str(count), str(cap_w), f"{time_s:.3f}",
                                       f"{power_w:.1f}"]))
    return "\n".join(rows) + "\n"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "gpus.csv").write_text(table_text())
    return tmp_path / "gpus.csv"


@pytest.fixture
def table(path):
    return read_measurements(path)["sim"]


def ask(*args):
    done = CliRunner().invoke(cli, [str(arg) for arg in args], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout), done.stderr


def test_a_table_of_gpus_is_read_by_the_names_of_its_columns(table):
    assert table.names == ("gpus", "gpu_cap_w")
    assert len(table) == 72
    assert table.row(0).label == "(1 nodes, 1 gpus, gpu cap 200 W)"
    assert table.row(0).as_dict()["gpus"] == 1
    with pytest.raises(InputError, match="'sim' has no column 'cores'; its configurations are set "
                                         "by nodes, gpus, gpu_cap_w"):
        table.cores  # noqa: B018


def test_semicolons_and_tabs_separate_too(tmp_path, table):
    for mark in (";", "\t"):
        (tmp_path / "other.csv").write_text(table_text(mark))
        assert np.array_equal(read_measurements(tmp_path / "other.csv")["sim"].time_s,
                              table.time_s)


def test_a_comma_is_the_decimal_point_where_semicolons_separate(tmp_path, table):
    (tmp_path / "other.csv").write_text(table_text(";").replace(".", ","))
    assert np.array_equal(read_measurements(tmp_path / "other.csv")["sim"].time_s, table.time_s)
    (tmp_path / "both.csv").write_text(table_text(";").replace(";4000.000;", ";4.000,000;"))
    with pytest.raises(InputError, match=r"time_s is '4\.000,000', must be a number above 0"):
        read_measurements(tmp_path / "both.csv")


def test_a_map_names_columns_and_makes_settings(tmp_path, table):
    (tmp_path / "own.csv").write_text(table_text(cap="LIMIT", gpus="tiles"))
    (tmp_path / "map.toml").write_text('[columns]\ngpu_cap_w = "LIMIT"\n')
    for given in (("gpu_cap_w=LIMIT", "tiles=tiles"), (str(tmp_path / "map.toml"), "tiles=tiles")):
        found = read_measurements(tmp_path / "own.csv", columns=given)["sim"]
        assert set(found.names) == {"tiles", "gpu_cap_w"}
        assert sorted(found.time_s) == sorted(table.time_s)
    with pytest.raises(InputError, match="there is no column 'X' for gpu_cap_w; there are: app"):
        read_measurements(tmp_path / "own.csv", columns="gpu_cap_w=X")
    with pytest.raises(InputError, match="has no setting beside the nodes"):
        read_measurements(tmp_path / "own.csv")


def test_packed_and_spread_are_of_all_that_is_counted(table):
    found = choose(table, 9000.0)
    assert found.packed_max.settings == {"gpus": 4.0, "gpu_cap_w": 700.0}
    assert found.packed_min.settings == {"gpus": 4.0, "gpu_cap_w": 200.0}
    assert found.spread_max.settings == {"gpus": 1.0, "gpu_cap_w": 700.0}
    fits = table.power_w <= 9000.0
    assert found.best.time_s == table.time_s[fits].min()


def test_the_worst_case_follows_from_the_devices(table):
    node = rate_node(table, ["gpu=8:200-750"], 500.0)
    assert node.power_w_max == 500.0 + 8 * 750.0
    assert node.assumed == ()
    plain = rate_node(table)
    assert plain.power_w_max == 30.0 + 4 * 700.0
    assert plain.assumed == ("30 W beside its devices",)
    with pytest.raises(InputError, match="given caps up to 600 W, and 'sim' was run under 700 W"):
        rate_node(table, ["gpu=4:600"])
    with pytest.raises(InputError, match="'sim' sets nothing of a device 'socket'; it has gpu"):
        rate_node(table, ["socket=2"])
    with pytest.raises(InputError, match="cannot be read; write name"):
        rate_node(table, ["gpu=0"])


def test_without_a_cap_of_the_gpus_there_is_no_worst_case_unless_it_is_given(tmp_path):
    (tmp_path / "t.csv").write_text("nodes,gpus,time_s,power_w\n1,4,10,2000\n2,4,6,4000\n")
    table = read_measurements(tmp_path / "t.csv", "a")["a"]
    assert choose(table, 5000.0).worst_case is None
    node = rate_node(table, ["gpu=4:450"], 200.0)
    assert choose(table, 4500.0, node=node).worst_case.nodes == 2


def test_configure_shows_the_settings_and_says_what_it_assumed(path):
    said, notes = ask("configure", "sim", "--power", "9kW", "--table", path, "--json")
    assert said["best"]["gpu_cap_w"] in (200, 300, 400, 500, 600, 700)
    assert said["node"]["power_w_max"] == 2830.0
    assert "the worst case takes 2830 W for a node (4 x gpu of 700 W); assumed: 30 W" in notes
    assert "measured" not in notes
    done = CliRunner().invoke(cli, ["configure", "sim", "--power", "9kW", "--table", str(path),
                                    "--device", "gpu=4", "--base-power", "310W",
                                    "--power-scope", "node"])
    assert "gpus  gpu cap W" in done.stdout
    assert "assumed" not in done.stderr


@pytest.mark.parametrize(("device", "refused"), [
    ("gpu=2", True), ("gpu=3:200-700", True), ("gpu=4", False), ("gpu=8", False)])
def test_fewer_devices_than_runs_used_are_refused(table, tmp_path, device, refused):
    (tmp_path / "t.csv").write_text("nodes,gpus,time_s,power_w\n1,4,10,2000\n2,4,6,4000\n")
    uncapped = read_measurements(tmp_path / "t.csv", "a")["a"]
    for one in (table, uncapped):
        if refused:
            with pytest.raises(InputError, match=f"{device[4]} to a node, and '.*' was run on 4"):
                rate_node(one, [device], 310.0)
        else:
            assert rate_node(one, [device], 310.0).measured_w > 0


BOTH = "nodes,cores,cap_w,gpu_cap_w,time_s,power_w\n" + "".join(
    f"{nodes},16,80,{cap},{(2000 - cap) / nodes},{nodes * (316 + cap)}\n"
    for nodes in (1, 2, 4) for cap in (200, 480, 720))


NODE = ["--power-scope", "node"]


@pytest.mark.parametrize(("base", "node_w", "nodes"), [
    ([], 1036.0, 1), (["--base-power", "100W", *NODE], 1036.0, 1),
    (["--base-power", "300W", *NODE], 1180.0, 1)])
def test_the_worst_case_reckons_with_what_was_measured(tmp_path, base, node_w, nodes):
    """A GPU is taken for one, as nothing counts them: 30 + 2 x 80 + 720 W."""
    (tmp_path / "both.csv").write_text(BOTH)
    said, notes = ask("configure", "both", "--power", "2kW", "--table", tmp_path / "both.csv",
                      "--json", *base)
    assert said["node"]["power_w_max"] == node_w
    assert said["worst_case"]["nodes"] == nodes
    assert said["worst_case"]["power_w"] <= 2000.0
    assert not said["worst_case_above_bound"]
    assert ("1036 W for a node, which were measured" in notes) == (node_w == 1036.0)


@pytest.mark.parametrize("word", ["none", "None", "inf", "unlimited", "-"])
@pytest.mark.parametrize("column", ["gpu_cap_w", "POWER_LIMIT"])
def test_a_run_without_a_cap_is_told_how_to_be_written(tmp_path, word, column):
    (tmp_path / "t.csv").write_text(f"nodes,gpus,{column},time_s,power_w\n1,4,200,10,900\n"
                                    f"1,4,{word},8,2500\n")
    with pytest.raises(InputError, match=f"{column} is '{word}', must be a number above 0; for a "
                                         "run without a cap write the most that a gpu may draw"):
        read_measurements(tmp_path / "t.csv", "a", f"gpu_cap_w={column}")


def test_a_word_in_another_column_is_no_cap(tmp_path):
    (tmp_path / "t.csv").write_text("nodes,gpus,gpu_cap_w,time_s,power_w\n1,none,200,10,900\n")
    with pytest.raises(InputError, match=r"gpus is 'none', must be a number above 0$"):
        read_measurements(tmp_path / "t.csv", "a")


@pytest.mark.parametrize("given", [
    "nodes=HOSTS,gpus=G,gpu_cap_w=W", ["nodes=HOSTS,gpus=G", "gpu_cap_w=W"],
    ("nodes=HOSTS", "gpus=G", "gpu_cap_w=W")])
def test_a_map_is_read_the_same_with_commas_and_one_by_one(given):
    assert parse_map(given) == {"nodes": "HOSTS", "gpus": "G", "gpu_cap_w": "W"}
    assert parse_map(["x=a, b", "y=c"]) == {"x": "a, b", "y": "c"}


def test_a_spread_of_runs_is_shown(tmp_path):
    (tmp_path / "t.csv").write_text("nodes,gpus,gpu_cap_w,time_s,power_w\n1,1,300,10,600\n"
                                    "1,1,300,11,610\n1,1,700,8,900\n1,1,700,8,900\n")
    done = CliRunner().invoke(cli, ["configure", "x", "--power", "700W", "--table",
                                    str(tmp_path / "t.csv")])
    assert "runs  apart" in done.stdout
    assert "10.0%" in done.stdout


def test_a_model_of_gpus_is_learned_saved_and_asked(tmp_path, path, table):
    found = fit_and_check(table, share=0.2)
    assert found.model.kind == "smooth"
    assert found.time_error["mean"] < 0.06
    assert found.power_error["mean"] < 0.06
    save_models({"sim": fit(table)}, tmp_path / "m.json")
    again = load_models(tmp_path / "m.json")["sim"].predict(4, gpus=2, gpu_cap_w=400)
    assert again.time_s[0] == pytest.approx(measured(4, 2, 400)[0], rel=0.03)
    said, _ = ask("predict", "sim", "--nodes", 4, "--at", "gpus=2", "--at", "gpu_cap_w=400W",
                  "--model", tmp_path / "m.json", "--json")
    assert said["time_s"] == pytest.approx(again.time_s[0], rel=1e-6)
    for missing, words in ((["--at", "gpus=2"], "give gpu_cap_w too"),
                           (["--cores", "4", "--at", "gpus=2", "--at", "gpu_cap_w=300"],
                            "knows nothing of cores")):
        with pytest.raises(InputError, match=words):
            cli.main(["predict", "sim", "--nodes", "4", *missing, "--model",
                      str(tmp_path / "m.json")], standalone_mode=False)


def test_a_table_without_names_is_learned_as_the_application_that_is_named(tmp_path, path):
    text = path.read_text().replace("sim,", "").replace("app,", "")
    (tmp_path / "bare.csv").write_text(text)
    _, said = ask("fit", tmp_path / "bare.csv", "--app", "sim", "--train", "20%", "-o",
                  tmp_path / "bare.json", "--json")
    assert "its rows are taken as 'sim'" in said
    found, _ = ask("predict", "sim", "--nodes", 4, "--at", "gpus=2", "--at", "gpu_cap_w=400W",
                   "--model", tmp_path / "bare.json", "--json")
    assert found["application"] == "sim"


def test_the_capping_model_refuses_what_it_does_not_know(table):
    with pytest.raises(InputError, match="'sim' is set by nodes, gpus, gpu_cap_w: use smooth"):
        fit(table, "capping")


def test_designs_are_made_for_any_settings(path):
    said, _ = ask("fit", "--suggest", 5, "--nodes", "1,2,4", "--at", "gpus=1,2,4",
                  "--at", "gpu_cap_w=200-700:100", "--json")
    chosen = [tuple(one.values()) for one in said["suggested"]]
    assert len(set(chosen)) == 5
    assert said["candidates"] == 54


def test_procure_takes_best_times_of_such_a_table(path):
    said, _ = ask("procure", "--budget-power", "12kW", "--node-power-max", 3500,
                  "--node-power-min", 500, "--cost-ratio", 1.7, "--speed-ratio", "20%", "--app",
                  "sim", "--table", path, "--json")
    assert (said["n_wc"], said["n_ovp"]) == (3, 5)


def test_a_store_keeps_any_settings(tmp_path, table):
    url = f"sqlite:///{tmp_path / 's.db'}"
    with Store(url) as opened:
        ConfigurationStore(opened).put(table)
        ConfigurationStore(opened).put(table)
    kept = read_catalogue(url)
    assert kept.by_name["sim"].names == table.names
    assert np.array_equal(kept.by_name["sim"].points(), table.points())
    fastest = kept.fastest("sim", 4, 5000.0)
    assert fastest == choose(table.up_to(4), 5000.0).best or fastest.time_s == choose(
        table.up_to(4), 5000.0).best.time_s


def test_a_scheduler_knows_what_a_row_asks_for_and_which_cap_comes_next(table):
    jobs = JobTable.build(submit_s=[0.0], run_s=[10.0], requested_s=[10.0], procs=[4],
                          application=[0], names={"application": ("sim",)})
    offers = make_offers(jobs, {"sim": table})
    row = int(np.flatnonzero(table.set_like({"gpus": 2, "gpu_cap_w": 300})
                             & (table.nodes == 4))[0])
    assert offers.row_settings(row) == {"gpus": 2, "gpu_cap_w": 300.0}
    up = offers.row_settings(int(offers.row_up[row]))
    assert up == {"gpus": 2, "gpu_cap_w": 400.0}
    packed = [offers.row_settings(int(each)) for each in offers.rung_row]
    assert packed == [{"gpus": 4, "gpu_cap_w": 700.0}] * 4


def test_two_caps_rise_one_step_at_a_time():
    from wattline.physics.configurations import ConfigurationTable
    from wattline.policies.configuration.offers import _next_up

    caps = [(a, b) for a in (100, 200) for b in (300, 400)]
    table = ConfigurationTable.of("x", [1] * 4, {"cap_w": [a for a, _ in caps],
                                                 "gpu_cap_w": [b for _, b in caps]},
                                  [10.0, 8.0, 9.0, 7.0], [400, 500, 500, 600])
    assert _next_up(table).tolist() == [1, 3, 3, -1]


def test_simulate_schedules_jobs_of_such_tables(tmp_path, path):
    (tmp_path / "jobs.csv").write_text(
        "job_id,submit_s,run_s,requested_s,requested_procs,application\n"
        + "\n".join(f"{i},{i},100,900,{2 + 2 * (i % 2)},sim" for i in range(4)) + "\n")
    (tmp_path / "map.toml").write_text(
        "[columns]\n" + "\n".join(f'{name} = "{name}"' for name in (
            "job_id", "submit_s", "run_s", "requested_s", "requested_procs", "application")))
    asked = ["simulate", "--trace", str(tmp_path / "jobs.csv"), "--map",
             str(tmp_path / "map.toml"), "--nodes", "8", "--cores-per-node", "1",
             "--node-idle-w", "0", "--node-active-w", "3000", "--cap", "8kW", "--configure",
             "adaptive", "--configurations", str(path), "--out", str(tmp_path / "run"), "--json"]
    done = CliRunner().invoke(cli, asked, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    import pyarrow.parquet as pq

    columns = pq.read_table(tmp_path / "run" / "configurations.parquet").column_names
    assert columns[1:] == ["application", "nodes", "gpus", "gpu_cap_w", "time_s", "power_w"]


def test_the_study_of_schedulers_takes_its_bounds_from_the_devices(path):
    said, _ = ask("study", "rmap", "--table", path, "--nodes", 8, "--jobs", 3, "--seeds", 1,
                  "--bounds", "50%,100%", "--json")
    assert said["peak_w"] == 8 * 4 * 700.0
    assert said["turnaround_s"]["large"]["0.5"]["adaptive_0"] > 0
    text = CliRunner().invoke(cli, ["study", "rmap", "--table", str(path), "--nodes", "8", "--jobs",
                                    "2", "--seeds", "1"], catch_exceptions=False).stdout
    assert "100 % of a bound is 22,400 W: 2,800 W per node, all its devices" in text


def test_a_mistake_in_a_map_is_one_line_and_status_2(path, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["wattline", "configure", "sim", "--power", "9kW", "--table",
                                     str(path), "--map", "gpu_cap_w="])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "must be NAME=COLUMN, like gpu_cap_w=POWER_LIMIT" in capsys.readouterr().err


def test_a_setting_that_is_given_twice_is_refused():
    done = CliRunner().invoke(cli, ["predict", "sim", "--nodes", "4", "--at", "gpus=4", "--at",
                                    "gpus=2"])
    assert str(done.exception) == "--at gives gpus twice, 4 and 2"
    done = CliRunner().invoke(cli, ["fit", "--suggest", "3", "--nodes", "1,2", "--at", "nodes=4"])
    assert str(done.exception) == "nodes is given twice, 1,2 and 4"


@pytest.mark.parametrize("given", ["2.5", 2.5])
def test_a_part_of_a_gpu_is_refused(given):
    with pytest.raises(InputError, match=r"gpus is 2\.5, must be a whole number"):
        predict("BT-MZ", nodes=16, cores=16, cap="115W", gpus=given)
