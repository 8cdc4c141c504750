"""The RMAP study: its traces, its figures, and what it says about the published ones."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from wattline.cli.main import cli, main
from wattline.model.errors import InputError
from wattline.physics.regression import shipped_models
from wattline.policies.configuration.offers import make_offers
from wattline.results.verify.judge import verify
from wattline.studies.published import VERDICTS
from wattline.studies.rmap.report import as_dict, findings
from wattline.studies.rmap.study import (
    PEAK_W_PER_NODE,
    POLICIES,
    USUAL_POLICIES,
    Figures,
    RmapResult,
    RmapSetting,
    run_one,
    study,
    usable_tables,
)
from wattline.studies.rmap.workloads import KINDS, make_trace


@pytest.fixture(scope="module")
def tables():
    return {name: shipped_models()[name].table() for name in ("BT-MZ", "SPhot", "NSM")}


def test_traces_keep_to_their_sizes_and_seeds(tables):
    for kind, shape in KINDS.items():
        jobs = make_trace(kind, list(tables.values()), 32, seed=1)
        assert len(jobs) == 30
        assert np.all(jobs.procs >= shape.low * 32)
        assert np.all(jobs.procs <= shape.high * 32)
        assert np.all(jobs.requested_s >= jobs.run_s)
        again = make_trace(kind, list(tables.values()), 32, seed=1)
        assert np.array_equal(jobs.submit_s, again.submit_s)
    early = make_trace("random1", list(tables.values()), 32, 3).submit_s
    assert early[14] - early[0] < 0.5 * (early[-1] - early[14])
    with pytest.raises(InputError, match="there is no trace 'huge'"):
        make_trace("huge", list(tables.values()), 32, 1)


def test_every_policy_keeps_the_bound_and_runs_every_job(tables):
    jobs = make_trace("random2", list(tables.values()), 32, seed=2)
    offers = make_offers(jobs, tables)
    bound_w = 0.44 * 32 * PEAK_W_PER_NODE
    for policy in POLICIES:
        run = run_one(jobs, offers, 32, bound_w, policy)
        assert verify(run).sentences == [], policy
        assert run.time_above_cap_s == 0.0
        assert run.ran.all()
        assert run.power_w_peak <= bound_w * (1 + 1e-9)


def test_more_accepted_slowdown_means_no_later_first_start(tables):
    """Adaptive with any threshold never lets the queue's head wait where Naive would start it."""
    jobs = make_trace("large", list(tables.values()), 32, seed=4)
    offers = make_offers(jobs, tables)
    waits = {policy: np.mean(run_one(jobs, offers, 32, 3300.0, policy).schedule.start_s
                             - jobs.submit_s) for policy in ("naive", "adaptive_unbounded")}
    assert waits["adaptive_unbounded"] <= waits["naive"]


def test_a_study_has_every_combination_and_says_what_holds(tables):
    setting = RmapSetting(bounds=(0.5, 1.0), seeds=(1, 2), jobs=10)
    result = study(tables, setting)
    assert result.figures.shape == (4, 2, len(USUAL_POLICIES), 2, len(Figures._fields))
    assert np.all(result.figures[..., 0] > 0)
    assert np.allclose(result.figures[..., 0], result.figures[..., 1] + result.figures[..., 2])
    assert np.all(result.figures[..., 3] <= 1.0)
    printed = as_dict(result)
    one = printed["turnaround_s"]["large"]["0.5"]["naive"]
    assert one == pytest.approx(result.of("turnaround_s", "large", 0.5, "naive").mean())
    assert {finding["verdict"] for finding in printed["findings"]} <= set(VERDICTS)


def made_up(traditional, adaptive):
    """A result in which only two policies differ."""
    setting = RmapSetting(bounds=(0.5,), policies=("traditional", "adaptive_0"), traces=("large",),
                      seeds=tuple(range(1, len(adaptive) + 1)))
    figures = np.zeros((1, 1, 2, len(adaptive), 4))
    figures[0, 0, 0, :, 0], figures[0, 0, 1, :, 0] = traditional, adaptive
    return next(iter(findings(RmapResult(setting, ("x",), figures))))


def test_verdicts_need_more_than_chance():
    def said(mine):
        found = made_up([100, 101, 99], mine)
        return found.verdict, found.why.partition(";")[0]

    assert said([80, 81, 79])[0] == "holds"
    assert said([50, 51, 49])[0] == "holds, larger"
    assert said([92, 93, 91])[0] == "holds, smaller"
    assert said([95, 96, 94]) == ("fails", "the same sign, 0.35 times as much")
    assert said([120, 121, 119]) == ("fails", "the reverse")
    assert said([80, 120, 101]) == ("fails", "no difference")


def test_tables_that_cannot_make_the_traces_are_left_out(tables):
    small = {"one": tables["BT-MZ"].take(tables["BT-MZ"].nodes <= 10)}
    with pytest.raises(InputError, match="no application has uncapped configurations"):
        usable_tables(small, 32)
    assert set(usable_tables({**tables, **small}, 32)) == set(tables)


def test_the_command_says_which_applications_it_left_out_and_why(tables, tmp_path):
    rows = [f"{name},{c.nodes},{c.cores},{c.cap_w},{c.time_s},{c.power_w}"
            for name, most in (("whole", 32), ("part", 10)) for c in map(
                tables["BT-MZ"].row, range(len(tables["BT-MZ"]))) if c.nodes <= most]
    (tmp_path / "t.csv").write_text("application,nodes,cores,cap_w,time_s,power_w\n"
                                    + "\n".join(rows))
    result = CliRunner().invoke(cli, ["study", "rmap", "--table", str(tmp_path / "t.csv"),
                                      "--seeds", "1", "--jobs", "3", "--bounds", "68%", "--json",
                                      "--out", str(tmp_path / "pictures")],
                                catch_exceptions=False)
    reason = "its largest node count, 10, is too small for large jobs"
    assert json.loads(result.stdout)["left_out"] == {"part": reason}
    assert f"'part' is left out: {reason}" in result.stderr
    assert {each.name for each in (tmp_path / "pictures").iterdir()} == {
        "turnaround_s.png", "power_use.png", "published.png"}


@pytest.mark.parametrize("asked", [["--part", "users"], ["--part", "power"],
                                   ["--part", "partition"], ["--variability", "5%"]])
def test_a_part_says_what_is_left_out_and_known_of_its_tables(tables, tmp_path, asked):
    whole = tables["BT-MZ"].take(np.isin(tables["BT-MZ"].nodes, (8, 10, 20, 32)))
    rows = [f"{name},{c.nodes},{c.cores},{c.cap_w},{c.time_s},{c.power_w},{c.power_w}"
            for name, most in (("whole", 32), ("part", 10))
            for c in map(whole.row, range(len(whole))) if c.nodes <= most]
    (tmp_path / "t.csv").write_text(
        "application,nodes,cores,cap_w,time_s,power_w,pkg_dram_w_per_node\n" + "\n".join(rows))
    result = CliRunner().invoke(cli, ["study", "rmap", "--table", str(tmp_path / "t.csv"),
                                      "--seeds", "1", "--jobs", "3", "--bounds", "68%", *asked,
                                      "--json"], catch_exceptions=False)
    said = json.loads(result.stdout)
    said = said.get(asked[1], said)
    reason = "its largest node count, 10, is too small for large jobs"
    assert said["left_out"] == {"part": reason}
    assert f"'part' is left out: {reason}" in result.stderr
    assert [note[:9] for note in said["notes"]] == ["whole: in"]
    assert f"wattline: {said['notes'][0]}" in result.stderr


@pytest.mark.parametrize(("part", "usual"), [("users", 0.44), ("power", 0.95)])
def test_a_part_of_one_bound_is_of_the_bound_that_is_asked_for(part, usual):
    asked = ["study", "rmap", "--part", part, "--apps", "NSM", "--seeds", "1", "--jobs", "3"]
    for given, expected in (([], usual), (["--bounds", "60%"], 0.6)):
        done = CliRunner().invoke(cli, [*asked, *given, "--json"], catch_exceptions=False)
        assert json.loads(done.stdout)[part]["bound"] == expected


def test_a_part_without_traces_says_that_their_size_makes_no_difference():
    asked = ["study", "rmap", "--part", "bounds", "--apps", "NSM"]
    said = CliRunner().invoke(cli, [*asked, "--jobs", "3", "--load", "1"]).stderr
    assert "--part bounds simulates no traces: --jobs, --load makes no difference" in said
    assert "makes no difference" not in CliRunner().invoke(cli, asked).stderr


@pytest.mark.parametrize(("seeds", "student"), [(2, 12.706), (5, 2.776), (10, 2.262), (20, 2.093)])
def test_intervals_count_how_few_seeds_there_are(seeds, student):
    mine = 80 + 4.0 * np.arange(seeds)
    found = made_up([100.0] * seeds, mine)
    error = (mine / 100).std(ddof=1) / np.sqrt(seeds)
    assert found.half_width == pytest.approx(student * error, rel=2e-3)


def test_a_bound_that_is_too_small_names_the_job(tables):
    jobs = make_trace("small", list(tables.values()), 32, seed=1)
    with pytest.raises(InputError, match="never gets a configuration"):
        run_one(jobs, make_offers(jobs, tables), 32, 500.0, "naive")


def test_the_command_prints_turnaround_by_trace_bound_and_policy():
    result = CliRunner().invoke(cli, ["study", "rmap", "--apps", "bt-mz,nsm", "--seeds", "1",
                                      "--jobs", "5", "--bounds", "68%", "--json"],
                                catch_exceptions=False)
    found = json.loads(result.stdout)
    assert set(found["turnaround_s"]) == set(KINDS)
    assert set(found["turnaround_s"]["small"]["0.68"]) == set(USUAL_POLICIES)
    assert found["applications"] == ["BT-MZ", "NSM"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--apps", "lammps"], "no application 'lammps'"), (["--bounds", "0"], "bounds are parts"),
     (["--bounds", "x"], "is not a fraction"), (["--load", "0"], "the load is 0"),
     (["--seeds", "0"], "is not in the range"),
     (["--table", "no.csv"], "no.csv: there is no such file"),
     (["--nodes", "12"], "no application has uncapped"),
     (["--nodes", "4"], "begin at 8 nodes"),
     (["--part", "bounds", "--variability", "1.3%"], "--part and --variability are two answers"),
     (["--part", "users", "--out", "folder"], "--out has no figures to draw with --part users"),
     (["--variability", "1%", "--out", "folder"], "no figures to draw with --variability"),
     (["--part", "power", "--load", "0.7,1.4"], "--part power is of one load, and --load has 2"),
     (["--part", "combinations", "--fill"], "runs every set-up, so leave out --fill"),
     (["--part", "bounds", "--bounds", "60%"], "bounds in watts, the published ones; leave out"),
     (["--part", "unseen", "--bounds", "60%"], "models and no bound; leave out --bounds"),
     (["--part", "combinations", "--bounds", "60%"], "five bounds of the publication; leave out"),
     (["--part", "users", "--bounds", "44%,60%"], "users is of one bound, and --bounds has 2"),
     (["--load", "0.7,70%"], "--load names a load twice")],
)
def test_mistakes_get_one_clear_line(capsys, arguments, message):
    with pytest.raises(SystemExit) as stopped:
        main(["study", "rmap", *arguments])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
