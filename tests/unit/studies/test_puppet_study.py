"""The PuPPET study on a short log: what it measures, what it writes, what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.studies.puppet import plots, sensitivity
from wattline.studies.puppet.allocation_claims import _within
from wattline.studies.puppet.cases import busy_parts
from wattline.studies.puppet.figures import FIGURES, all_cases, energy_until
from wattline.studies.puppet.plots import bar_heights, write_pictures
from wattline.studies.puppet.runs import ORDERS, WHOLE, CappedCase, Laboratory
from wattline.studies.puppet.steps import on_grid, step_study
from wattline.studies.puppet.study import PuppetResult, as_json, study
from wattline.studies.puppet.verdicts import Margin, judge
from wattline.studies.puppet.workloads import StudiedJobs, generated_workload, logged_workload

JOBS = 110
"""Few: every case of the study is simulated."""


@pytest.fixture(scope="module")
def workload() -> StudiedJobs:
    return generated_workload(seed=3, jobs=JOBS, arrivals="hours")


@pytest.fixture(scope="module")
def result(workload: StudiedJobs) -> PuppetResult:
    heard: list[float] = []
    found = study(workload, heard.append, assumptions=False)
    assert heard == sorted(heard)
    assert heard[-1] == 1.0
    return found


def test_parts_hold_every_job_once(workload: StudiedJobs) -> None:
    assert sum(map(len, workload.parts)) == len(workload.whole) == JOBS
    ids = np.concatenate([part.job_id for part in workload.parts])
    assert len(np.unique(ids)) == JOBS
    ends = [part.submit_s[-1] for part in workload.parts]
    starts = [part.submit_s[0] for part in workload.parts]
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))


def test_every_case_has_a_ratio_to_the_same_jobs_without_a_cap(result: PuppetResult) -> None:
    assert set(result.ratios) == set(all_cases(4))
    for ratio in result.ratios.values():
        assert ratio.figures.jobs == ratio.baseline.jobs
        assert ratio.figures.not_run == ratio.baseline.not_run == 0
        assert ratio.baseline.cap_w == float("inf")
        assert ratio.edp == pytest.approx(ratio.figures.edp_js / ratio.baseline.edp_js)
        assert ratio.figures.edp_js == pytest.approx(
            ratio.figures.energy_j * ratio.figures.makespan_s)
        assert ratio.figures.above_cap_s == 0
        assert ratio.figures.peak_w <= ratio.figures.cap_w * (1 + 1e-9)


def test_a_default_case_is_in_every_figure_that_shows_it(result: PuppetResult) -> None:
    # 70 % with alpha 2 and beta 0.5 is in figures 10, 11 and 12: one simulation, one answer.
    shown = [figure.case(choice, 0, "wfp") for figure, choice in
             ((FIGURES[0], 1), (FIGURES[1], 1), (FIGURES[2], 0))]
    assert len(set(shown)) == 1


def test_jobs_that_could_never_start_are_left_out(workload: StudiedJobs) -> None:
    laboratory = Laboratory(workload)
    # With a cap just above idle power nothing but the smallest jobs can run.
    idle = 0.3 * workload.nodes * workload.node_w / laboratory.reference_w
    mask = laboratory.can_run(CappedCase(WHOLE, "fcfs", "block", cap=idle * 1.05))
    assert mask.any()
    assert workload.whole.procs[mask].max() < workload.whole.procs[~mask].max()
    dvfs = laboratory.can_run(CappedCase(WHOLE, "fcfs", "dvfs", cap=idle * 1.05))
    assert np.all(dvfs[mask])
    assert dvfs.sum() > mask.sum()
    assert laboratory.can_run(CappedCase(WHOLE, "fcfs", "none")).all()


def test_energy_by_time_adds_up_to_the_run(workload: StudiedJobs) -> None:
    laboratory = Laboratory(workload)
    run = laboratory.run(CappedCase(0, "wfp", "dvfs"), np.ones(len(workload.parts[0]), np.bool_))
    until = energy_until(run, np.array([run.start_s, run.end_s]))
    assert until[1] - until[0] == pytest.approx(run.energy_j, rel=1e-9)
    half = 0.5 * (run.start_s + run.end_s)
    before, middle, after = energy_until(run, np.array([run.start_s, half, run.end_s]))
    assert before < middle < after


def test_day_curve_lies_under_the_cap_and_conserves_energy(result: PuppetResult) -> None:
    curve = result.curve
    assert set(curve.power_w) == {"none", "wait", "dvfs"}
    for method in ("wait", "dvfs"):
        assert curve.power_w[method].max() <= curve.cap_w
        assert curve.peak_w[method] <= curve.cap_w * (1 + 1e-9)
    assert curve.peak_w["none"] > curve.cap_w


def test_a_log_on_the_grid_has_no_step_error() -> None:
    workload = generated_workload(seed=3, jobs=360, arrivals="hours")
    grid = on_grid(workload.whole, 3600.0)
    assert np.all(grid.submit_s % 3600.0 == 0)
    assert np.all(grid.run_s >= 3600.0)
    assert np.all(grid.submit_s >= workload.whole.submit_s)
    exact = replace(workload, whole=grid, parts=(grid, *workload.parts[1:]))
    rows = step_study(Laboratory(exact))
    assert [row.step_min for row in rows] == [1, 5, 15, 30, 60]
    assert all(row.error == 0 and row.sampled < 1e-12 for row in rows)
    assert all(row.replayed < 1e-9 for row in rows)
    real = step_study(Laboratory(workload))
    assert real[-1].error > real[-1].mean_error > 0
    assert real[-1].sampled > real[0].sampled > 0
    assert real[-1].replayed > real[0].replayed > 0


def test_findings_are_told_with_their_figures(result: PuppetResult) -> None:
    told = json.loads(json.dumps(as_json(result), default=lambda value: value.tolist()))
    ids = [finding["id"] for finding in told["findings"]]
    assert len(ids) == len(set(ids)) == 15
    for finding in told["findings"]:
        assert finding["verdict"] in ("holds", "holds on average", "fails")
        assert finding["holds"] == (finding["verdict"] == "holds")
        assert bool(finding["why"]) == (not finding["holds"])
        assert finding["figures"]
    assert set(told["step_error"]) == {"1", "5", "15", "30", "60"}
    assert told["seconds"] > 0
    failing = {finding["id"] for finding in told["findings"] if not finding["holds"]}
    assert set(told["reasons"]) == failing
    assert {row["choice"] for row in told["figures"]["13"]} == {"BLOCK", "WAIT"}
    by_id = {finding["id"]: finding for finding in told["findings"]}
    assert by_id["always-under-the-cap"]["holds"] is True


def test_findings_follow_the_figures(result: PuppetResult) -> None:
    from wattline.studies.puppet.findings import findings

    # Were one run above its cap for a second, the claim would fall.
    case = CappedCase(0, "fcfs", "wait")
    bad = dict(result.ratios)
    bad[case] = replace(bad[case], figures=replace(bad[case].figures, above_cap_s=1.0))
    fallen = {f.id: f.holds for f in findings(bad, result.curve, 4)}
    assert fallen["always-under-the-cap"] is False
    # Were WAIT to wait longer than BLOCK anywhere, so would that one.
    waits = replace(result.ratios[case].figures, wait_s=1e9)
    bad[case] = replace(result.ratios[case], figures=waits)
    assert {f.id: f.holds for f in findings(bad, result.curve, 4)}[
        "wait-never-worse-than-block"] is False
    assert len(busy_parts(result.ratios, 4)) == 2


def test_one_case_on_the_wrong_side_leaves_the_average() -> None:
    def margins(*values: float) -> dict[str, list[Margin]]:
        return {"waiting": [Margin(f"case {i}", value) for i, value in enumerate(values)]}

    assert judge(margins(0.1, 0.0, 0.2), ties_hold=True).verdict == "holds"
    missed = judge(margins(0.1, -0.05, 0.2, float("nan")))
    assert (missed.verdict, missed.right, missed.cases) == ("holds on average", 2, 3)
    assert missed.worst == "waiting, case 1: by 5.0 % on the wrong side"
    assert judge(margins(0.1, -0.5)).verdict == "fails"
    # The mean of every aspect has to hold, not that of all together.
    assert judge(margins(9.0) | {"EDP": [Margin("a", -0.1)]}).verdict == "fails"


def test_a_tie_speaks_for_not_worse_and_for_no_claim_of_more() -> None:
    for tie in (1e-12, 0.0, -1e-12):
        cases = {"waiting": [Margin("one", 0.1), Margin("two", tie)]}
        assert judge(cases, ties_hold=True).verdict == "holds"
        strict = judge(cases)
        assert (strict.verdict, strict.right, strict.worst) == (
            "holds on average", 1, "waiting, two: equal")
        alone = {"waiting": [Margin("one", tie)]}
        assert judge(alone, ties_hold=True).verdict == "holds"
        assert judge(alone).verdict == "fails"


@pytest.mark.parametrize(("ratio", "right"), [(1.09, True), (0.91, True), (1.11, False),
                                              (0.89, False)])
def test_comparable_is_the_same_to_either_side(ratio: float, right: bool) -> None:
    assert (_within(ratio) >= 0) is right


def test_tables_show_what_hangs_on_assumptions(workload: StudiedJobs, result: PuppetResult) -> None:
    tables = sensitivity.tables(Laboratory(workload), caps=(0.4,), loads=(1.0, 0.6),
                                lowests=(0.5, 0.2), betas=(0.5,))
    assert (len(tables.load), len(tables.lowest), len(tables.beta)) == (2 * 2, 2, 2)
    by = {(row.of["load"], row.of["counts"], row.of["cap"]): row for row in tables.load}
    for load, cap in ((1.0, 0.4), (0.6, 0.4)):
        # Idle nodes that do not count leave more of the cap to jobs.
        assert by[load, "jobs", cap].left_out_share <= by[load, "machine", cap].left_out_share
        assert by[load, "jobs", cap].edp < by[load, "machine", cap].edp
    slow = {row.of["lowest"]: row for row in tables.lowest if row.of["cap"] == 0.4}
    assert slow[0.2].left_out_share <= slow[0.5].left_out_share
    assert slow[0.2].utilisation > slow[0.5].utilisation
    default = next(row for row in tables.beta if row.of == {"beta": 0.5, "cap": 0.7})
    fig11 = [result.ratios[CappedCase(p, o, "dvfs")].edp for o in ORDERS for p in range(4)]
    assert default.edp == pytest.approx(np.mean(fig11))


def test_jobs_left_out_are_told_with_their_share(result: PuppetResult) -> None:
    at = {(row["method"], row["cap"]): row for row in result.left_out}
    assert at["wait", 0.4]["jobs"] >= at["wait", 0.8]["jobs"]
    assert at["wait", 0.4]["share"] >= at["dvfs", 0.4]["share"]
    assert at["wait", 0.4]["jobs"] == sum(
        result.ratios[CappedCase(part, "fcfs", "wait", 0.4)].left_out for part in range(4))


def test_published_rows_have_a_verdict_each(result: PuppetResult) -> None:
    from wattline.studies.puppet.published import rows

    table = rows(result)
    assert {len(row) for row in table} == {6}
    assert [row[4] for row in table[:15]] == [finding.verdict for finding in result.findings]
    assert sum(row[0] == "table 2" for row in table) == 5


@pytest.mark.long  # draws all pictures of the study
def test_plots_show_the_ratios(
    result: PuppetResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the bars two are drawn: with several metrics, and with one."""
    assert [figure.number for figure in FIGURES] == [10, 11, 12, 13, 14, 15]
    two = [next(figure for figure in FIGURES if (len(figure.metrics) > 1) is several)
           for several in (True, False)]
    monkeypatch.setattr(plots, "FIGURES", two)
    files = write_pictures(result, tmp_path / "plots")
    assert [file.name for file in files] == [
        *(f"figure{figure.number}.png" for figure in two), "figure16.png", "table2.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)
    heights = bar_heights(result, FIGURES[3], "fcfs", "edp")
    assert heights[1][2] == result.ratios[CappedCase(2, "fcfs", "wait")].edp
    assert len(heights) == 2
    assert len(ORDERS) == 2


def test_a_log_without_power_draws_it_by_the_seed() -> None:
    rng = np.random.default_rng(0)
    jobs = JobTable.build(submit_s=np.sort(rng.integers(1000, 90_000, 200)),
                          run_s=rng.integers(10, 500, 200), procs=rng.integers(1, 9, 200))
    first = logged_workload(jobs, 8, 100.0, 1, "log")
    again = logged_workload(jobs, 8, 100.0, 1, "log")
    other = logged_workload(jobs, 8, 100.0, 2, "log")
    np.testing.assert_array_equal(first.whole.power_w, again.whole.power_w)
    assert np.any(first.whole.power_w != other.whole.power_w)
    per_node = first.whole.power_w / first.whole.procs
    assert 70 <= per_node.min() < per_node.max() <= 140
    assert first.whole.submit_s[0] == 0
    with pytest.raises(InputError, match="nodes is 4"):
        logged_workload(jobs, 4, 100.0, 1, "log")


@pytest.mark.parametrize(("arguments", "message"), [
    (["--trace", "x.swf"], "needs --nodes"),
    (["--nodes", "10"], "--nodes needs --trace"),
    (["--trace", "no-such.swf", "--nodes", "10"], "no such file"),
    (["--trace", "x.swf", "--nodes", "10", "--jobs", "500"], "generated log"),
    (["--trace", "x.swf", "--nodes", "10", "--arrivals", "hours"], "generated log"),
])
def test_mistakes_are_told(arguments: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CliRunner().invoke(cli, ["study", "puppet", *arguments], catch_exceptions=False,
                           standalone_mode=False)


def test_a_log_that_is_too_short_is_refused_before_the_simulations(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    laboratory = Laboratory(generated_workload(seed=1, jobs=100))
    monkeypatch.setattr(Laboratory, "run", lambda *asked: pytest.fail("something was simulated"))
    with pytest.raises(InputError, match=r"under a cap of 40%: its \d+ jobs, of 100 in all, are "
                                         "too few for this study"):
        laboratory.ratios(all_cases(4))
