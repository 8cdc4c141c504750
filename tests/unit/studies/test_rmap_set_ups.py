"""The readings of the RMAP set-up, and the parts of the study beside its schedules."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from wattline.cli.main import cli, main
from wattline.model.errors import InputError
from wattline.physics.regression import shipped_models
from wattline.studies.published import rows_from
from wattline.studies.rmap import published
from wattline.studies.rmap.bounded import bounded
from wattline.studies.rmap.combinations import COMPARED, effects, try_all
from wattline.studies.rmap.filling import fill_table
from wattline.studies.rmap.oracle import errors, largest_by_trace, model_against_oracle
from wattline.studies.rmap.partition import small_partition
from wattline.studies.rmap.parts import bounds_of, check_set_up
from wattline.studies.rmap.report import as_dict
from wattline.studies.rmap.set_up import SetUp, all_set_ups
from wattline.studies.rmap.single_jobs import gains_of_users, power_of_jobs
from wattline.studies.rmap.study import RmapSetting, study
from wattline.studies.rmap.tables import packages_of, read_packages, tables_of
from wattline.studies.rmap.variability import cost_of_variability
from wattline.studies.rmap.workloads import make_trace

FEW = RmapSetting(bounds=(0.68,), seeds=(1, 2), jobs=6)


@pytest.fixture(scope="module")
def tables():
    return {name: shipped_models()[name].table() for name in ("SPhot", "NSM")}


@pytest.fixture(scope="module")
def few_rows(tables):
    """One application of 40 configurations, which is quickly fitted and searched."""
    return {"SPhot": _cut(tables["SPhot"])}


def _cut(whole):
    return whole.take(np.isin(whole.nodes, (8, 12, 20, 24, 32))
                      & np.isin(whole.cores, (4, 8, 12, 16)) & np.isin(whole.cap_w, (51.0, 115.0)))


def test_there_are_32_set_ups_and_the_first_is_the_usual_one():
    found = list(all_set_ups())
    assert len(set(found)) == 32
    assert found[0].label == "as usual"
    assert len(list(all_set_ups(with_pkg=False))) == 16
    with pytest.raises(InputError, match="holds is 'all', must be one of: draw, share"):
        SetUp(holds="all")


def test_recorded_requests_are_times_of_the_table_without_any_slack(tables):
    jobs = make_trace("large", list(tables.values()), 32, 1, request="recorded")
    for row in range(len(jobs)):
        name = jobs.name_of("application", int(jobs.application[row]))
        table = tables[name]
        same = table.nodes == jobs.procs[row]
        assert jobs.requested_s[row] in table.time_s[same]
    packed = make_trace("large", list(tables.values()), 32, 1)
    assert np.all(packed.requested_s > packed.run_s)


def test_a_coarse_table_is_filled_and_what_was_measured_stays(tables):
    whole = tables["SPhot"]
    coarse = whole.take(np.isin(whole.nodes, (8, 16, 32)) & np.isin(whole.cores, (8, 16)))
    filled = fill_table(coarse, 32)
    assert len(np.unique(filled.nodes)) == 13
    assert "10 of 13 node counts are filled in by a model" in filled.note
    kept = filled.take(np.isin(filled.nodes, (8, 16, 32)))
    assert np.array_equal(kept.time_s, coarse.time_s)
    assert fill_table(filled, 32) is filled


def test_every_reading_changes_the_schedules_and_none_the_bound(tables):
    usual = study(tables, replace(FEW, traces=("random1",)))
    for name, value in (("request", "recorded"), ("holds", "share"), ("backfill", "nodes")):
        setting = replace(FEW, traces=("random1",), set_up=SetUp(**{name: value}))
        found = study(tables, setting)
        assert np.all(found.figures[..., 3] <= 1.0)
        if name != "backfill":  # six jobs may give nothing to plan for
            assert not np.array_equal(found.figures, usual.figures), name


@pytest.mark.long  # two seconds; each choice is tried below
def test_combinations_have_gains_with_intervals_and_the_effect_of_each_choice(few_rows):
    found = list(try_all({"all": few_rows}, replace(FEW, jobs=3, bounds=(1.0,)), (0.7,)))
    assert len(found) == 16
    assert set(found[0].gains) == {claim.text for claim in COMPARED}
    added = effects(found)
    by_hand = [two.gains[COMPARED[0].text][0] - one.gains[COMPARED[0].text][0]
               for one in found for two in found
               if two.set_up == replace(one.set_up, holds="share") and one.set_up.holds == "draw"]
    assert len(by_hand) == 8
    assert added["holds"][COMPARED[0].text] == pytest.approx(np.mean(by_hand))
    assert added["power"] == {}, "without tables of packages nothing is known of it"


def test_users_that_gain_lose_or_stay_are_all_users(tables):
    found = gains_of_users(tables, FEW)
    for each in found["users"].values():
        assert sum(each[name]["mean"] for name in ("better", "same", "worse")) == 6
    assert found["turnaround_s"]["adaptive_20"]["mean"] > 0


def test_power_of_jobs_is_what_they_were_started_with(tables):
    found = power_of_jobs(tables, FEW)
    assert 0 <= found["jobs_without_wait_traditional"]["mean"] <= 6
    for policy in ("traditional", "adaptive_0"):
        assert 0 < found[f"power_at_starts_{policy}"]["mean"] <= 1.0


def test_a_model_of_everything_would_be_the_oracle(few_rows, monkeypatch):
    import wattline.studies.rmap.oracle as module

    found = model_against_oracle(few_rows, FEW)
    assert found["policies"]["traditional"]["mean_error"] > 0
    monkeypatch.setattr(module, "_predicted", lambda table, kind: table)
    same = model_against_oracle(few_rows, FEW)
    assert all(each["largest"] == 0.0 for each in same["policies"].values())


def test_the_largest_mean_error_of_a_bound_is_never_below_the_mean_of_all():
    """Errors of two traces with opposite signs do not make each other good."""
    one_bound = errors(np.array([[0.3], [-0.1]]))
    assert one_bound["mean_error"] == one_bound["largest_of_means"] == pytest.approx(0.2)
    assert one_bound["largest_bias"] == pytest.approx(0.1)
    two = errors(np.array([[0.3, 0.1], [-0.3, 0.1]]))
    assert two["largest_of_means"] == pytest.approx(0.3)
    assert two["mean_error"] == pytest.approx(0.2)
    assert two["largest_bias"] == pytest.approx(0.1)


@pytest.mark.parametrize(("largest", "verdict"), [
    ([0.02, 0.05, 0.09], "holds"), ([0.02, 0.09, 0.2], "holds on average"),
    ([0.02, 0.11, 0.2], "fails")])
def test_the_figure_of_one_trace_is_judged_by_each_of_ours(largest, verdict):
    off = errors(np.array([[0.03]]))
    part = {"policies": dict.fromkeys(("traditional", "adaptive_0"), off),
            "largest_by_trace": largest}
    assert list(published._oracle(part))[1][4] == verdict


def test_the_largest_error_of_a_trace_is_that_of_the_two_policies_at_any_bound():
    off = {"traditional": [[0.1, -0.4], [0.0, 0.1]], "adaptive_0": [[0.2, 0.3], [-0.2, 0.0]],
           "naive": [[9.0, 9.0], [9.0, 9.0]]}
    assert largest_by_trace(off) == [0.4, 0.2]


def test_figures_3_4_and_3_5_are_one_table(tables):
    found = bounded(tables, (2500.0, float("inf"), 10.0))
    assert [one.choice is None for one in found] == [False, False, True] * 2
    first = found[0]
    assert first.speedup == pytest.approx(1 / first.beside_best("packed_max") - 1)
    assert all((one.beside_best(name) or 0) <= 1.0 for one in found for name in
               ("packed_max", "packed_min", "spread_max", "spread_min"))


def test_a_partition_runs_small_jobs_apart(tables):
    found = small_partition(tables, replace(FEW, bounds=(0.05, 0.68)))
    assert set(found["traces"]) == {"small", "random1", "random2"}
    assert found["refused_bounds"] == [0.05]
    assert "below_adaptive_0" in found["traces"]["small"]


def test_packages_alone_are_read_from_either_kind_of_file(tmp_path):
    (tmp_path / "a.csv").write_text(
        "nodes,cores,cap_w,time_s,pkg_w_per_node,pkg_dram_w_all_nodes\n4,8,51,10,100,440\n")
    (tmp_path / "b.csv").write_text(
        "nodes,cores,cap_w,time_s,pkg0_w_all_nodes,pkg1_w_all_nodes,power_w\n4,8,51,10,190,210,440")
    for name in ("a", "b"):
        assert read_packages(tmp_path / f"{name}.csv")[name].power_w.tolist() == [400.0]
    (tmp_path / "c.csv").write_text("nodes,cores,cap_w,time_s,power_w\n4,8,51,10,440\n")
    with pytest.raises(InputError, match="the table has no power of packages"):
        read_packages(tmp_path / "c.csv")


def test_packages_alone_say_what_is_true_of_the_powers_of_a_file(tmp_path):
    """The power of a node's packages is no power of all nodes: it contradicts nothing."""
    header = ("application,nodes,cores,cap_w,time_s,pkg_w_per_node,pkg_dram_w_per_node,"
              "pkg_dram_w_all_nodes\n")
    (tmp_path / "a.csv").write_text(header + "fine,4,8,51,10,100,110,440\n"
                                    "fine,4,8,51,10,150,160,640\noff,4,8,51,10,100,110,110\n")
    found = read_packages(tmp_path / "a.csv")
    assert found["fine"].power_w.tolist() == [500.0]
    assert found["fine"].note.startswith("runs of one configuration differ by more than 20%")
    assert "1 in power (largest 1.50 times" in found["fine"].note  # with memory it is 1.45
    assert found["off"].note == (  # as with memory, but for what is used
        "in 1 of 1 measured runs the power of all nodes is not that of a node times the nodes "
        "(0.25 to 0.25 times); that of a node's packages times the nodes is used, so a bound in "
        "watts may not hold")


@pytest.mark.parametrize(("header", "row"), [
    ("nodes,THREADS,cap_w,time_s,pkg_w_per_node,power_w", "4,8,51,10,100,440"),
    ("nodes,THREADS,cap_w,time_s,pkg0_w_all_nodes,pkg1_w_all_nodes,power_w",
     "4,8,51,10,190,210,440"),
])
def test_columns_of_other_names_are_read_with_packages_alone_too(tmp_path, header, row):
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n{row}\n")
    tables, _ = tables_of([path], None, 32, ("cores=THREADS",), "pkg")
    assert tables["a"].power_w.tolist() == [400.0]
    packages, without = packages_of([path], None, 32, ("cores=THREADS",))
    assert packages["a"].cores.tolist() == [8]
    assert without == ""


def test_a_file_without_the_power_of_packages_says_which_set_ups_are_not_run(tmp_path):
    (tmp_path / "c.csv").write_text("nodes,cores,cap_w,time_s,power_w\n4,8,51,10,440\n")
    found, without = packages_of([tmp_path / "c.csv"], None, 32)
    assert found is None
    assert "packages alone are not run" in without
    assert "the table has no power of packages" in without


@pytest.mark.parametrize("part", ["users", "bounds"])
def test_the_command_prints_a_part(part):
    asked = ["study", "rmap", "--part", part, "--seeds", "1", "--jobs", "3", "--apps", "SPhot"]
    done = CliRunner().invoke(cli, asked, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert {"users": "adaptive_20 against adaptive_0", "bounds": "packed-max"}[part] in done.stdout
    said = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).stdout)
    assert list(said) == [part]


def test_every_part_has_rows_beside_published_figures(tables):
    off = {"mean_error": 0.03, "largest_of_means": 0.3, "largest_bias": 0.2, "largest": 0.5}
    found = published.rows({"findings": [], "users": gains_of_users(tables, FEW),
                            "power": power_of_jobs(tables, FEW), "bounds": bounds_of(tables),
                            "oracle": {"policies": {"traditional": off, "adaptive_0": off},
                                       "largest_by_trace": [0.02, 0.2, 0.3]}})
    rows = rows_from(found)
    by_what = {row.what: row for row in rows}
    assert len(by_what) == len(rows) > 20
    worst = by_what["the largest of these errors at any bound, of one trace"]
    assert (worst.ours, worst.verdict) == ("20.0 %", "fails")
    assert "from 2.0 to 30 %; below 10 % in 1" in worst.why
    assert by_what["speedup of 30 older nodes over 18 new ones, BT-MZ"].ours == "0.83"
    assert by_what["SPhot at 3500 W, best"].ours.startswith("(32 x 16, 51 W)")


def test_a_mean_over_many_traces_is_judged_beside_one_printed_trace():
    def judged(printed, mean, width):
        return published._judged(printed, {"mean": mean, "interval_95": width})[0]

    assert judged(17, 16.0, 2.0) == "holds"
    assert judged(17, 28.0, 1.0) == "holds, larger"
    assert judged(17, 6.0, 1.0) == "fails"
    assert judged(-0.4, 0.3, 0.1) == "fails"
    assert judged(0.1, 0.05, 0.06) == "fails"
    assert judged(0.1, 0.1, None) == "not reproduced"


def test_several_loads_are_run_one_after_another():
    asked = ["study", "rmap", "--load", "0.35,0.7", "--seeds", "1", "--jobs", "2", "--apps",
             "SPhot", "--bounds", "1.0", "--holds", "share", "--json"]
    done = CliRunner().invoke(cli, asked, catch_exceptions=False)
    said = json.loads(done.stdout)["by_load"]
    assert [one["load"] for one in said] == [0.35, 0.7]
    assert said[0]["set_up"]["holds"] == "share"


def test_one_seed_says_nothing_of_traces_of_several_kinds(tables):
    found = as_dict(study(tables, replace(FEW, seeds=(1,), traces=("small", "random1", "random2"),
                                          policies=("traditional", "adaptive_0"))))
    assert [one["verdict"] for one in found["findings"]] == ["not reproduced"] * 2
    assert all(one["interval_95"] is None for one in found["findings"])


def test_filling_tables_that_lack_nothing_is_said(tables, few_rows):
    setting = replace(FEW, seeds=(1,), traces=("small",), policies=("traditional",),
                      set_up=SetUp(fill=True))
    whole = {"SPhot": tables["SPhot"]}
    assert "none was filled in" in study(whole, setting).notes[-1]
    assert "filled in by a model" in study(few_rows, setting).notes[-1]


USUAL = replace(FEW, bounds=(0.44,), jobs=15)


@pytest.fixture(scope="module")
def few_tables(tables):
    return {name: _cut(table) for name, table in tables.items()}


@pytest.fixture(scope="module")
def as_usual(few_tables):
    return (small_partition(few_tables, USUAL)["traces"],
            cost_of_variability(few_tables, USUAL, 0.05, 0.44))


@pytest.mark.parametrize("choice", [{"fill": True}, {"request": "recorded"}, {"holds": "share"},
                                    {"backfill": "nodes"}])
def test_every_choice_changes_the_partition_and_the_cost_of_variability(
    few_tables, as_usual, choice
):
    other = replace(USUAL, set_up=SetUp(**choice))
    traces, one = as_usual
    assert traces != small_partition(few_tables, other)["traces"]
    two = cost_of_variability(few_tables, other, 0.05, 0.44)
    assert not np.array_equal(one.equal_s, two.equal_s)
    assert not np.array_equal(one.turnaround_s["blind"], two.turnaround_s["blind"])


@pytest.mark.parametrize(("part", "choice", "named"), [
    ("oracle", {"fill": True}, "--fill"), ("bounds", {"holds": "share"}, "--holds"),
    ("bounds", {"request": "recorded", "backfill": "nodes"}, "--request, --backfill"),
    ("unseen", {"fill": True}, "--fill"),
])
def test_a_part_refuses_the_choices_that_it_would_pass_over(capsys, part, choice, named):
    with pytest.raises(InputError, match="does not depend on"):
        check_set_up(part, SetUp(**choice))
    asked = [item for name, value in choice.items()
             for item in ([f"--{name}"] if value is True else [f"--{name}", value])]
    with pytest.raises(SystemExit):
        main(["study", "rmap", "--part", part, *asked])
    assert f"--part {part} does not depend on {named};" in capsys.readouterr().err
    check_set_up("partition", SetUp(**choice))
