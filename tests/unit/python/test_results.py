"""Questions to a run, to several, and of one that was saved."""

from __future__ import annotations

import json
import pickle
import re
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.cli.main import cli
from wattline.model.run import Run

TRACE = wl.generate("lublin", seed=1, jobs=30, nodes=32)
MACHINE = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)


@pytest.fixture(scope="module")
def run() -> wl.Result:
    return wl.simulate(TRACE, machine=MACHINE, power=wl.Dvfs(cap="80%"), name="capped")


def test_a_result_is_a_run_with_a_short_repr(run: wl.Result) -> None:
    assert isinstance(run, Run)
    assert re.fullmatch(r"Result\('capped': 30 of 30 jobs ran on 32 nodes; [\d.]+ kWh, peak "
                        r"[\d.]+ kW\)", repr(run))
    assert repr(TRACE) == "Trace('lublin seed 1': 30 jobs)"


def test_metrics_are_nested_or_flat(run: wl.Result) -> None:
    nested, flat = run.metrics(), run.metrics(flat=True)
    assert repr(nested) == repr(wl.metrics(run))  # some are NaN
    assert flat["wait_s.mean"] == nested["wait_s"]["mean"]
    assert flat["jobs.total"] == 30
    assert all(isinstance(value, (int, float)) for value in flat.values())


def test_tables_are_those_of_the_functions(run: wl.Result) -> None:
    assert repr(run.jobs().to_pylist()) == repr(wl.job_table(run).to_pylist())
    assert run.event_table().equals(wl.event_table(run))
    assert len(run.jobs) == 30  # the jobs as they were given


def test_the_table_of_jobs_is_that_of_a_run_that_was_changed(run: wl.Result) -> None:
    later = replace(run.schedule, end_s=run.schedule.end_s + 1.0)
    changed = replace(run, schedule=later)
    moved = changed.jobs()["end_s"].to_numpy() - run.jobs()["end_s"].to_numpy()
    assert moved[run.ran].tolist() == [1.0] * int(run.ran.sum())
    assert type(run.jobs.take(run.ran)) is type(run.jobs.with_columns(procs=run.jobs.procs))


def test_a_run_travels_between_processes_with_its_table(run: wl.Result) -> None:
    again = pickle.loads(pickle.dumps(run))
    assert repr(again.jobs().to_pylist()) == repr(run.jobs().to_pylist())


def test_a_saved_run_is_opened_with_the_same_questions(run: wl.Result, tmp_path: Path) -> None:
    again = wl.open_run(run.save(tmp_path / "one"))
    assert isinstance(again, wl.Result)
    assert repr(again) == repr(run)
    assert repr(again.metrics(flat=True)) == repr(run.metrics(flat=True))
    assert again.remarks == run.remarks
    assert again.verify().sentences == []


def test_a_run_is_saved_under_the_next_number(
    run: wl.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert [run.save(), run.save()] == [Path("runs/capped-001"), Path("runs/capped-002")]


def test_pictures_are_shown_and_saved(run: wl.Result, tmp_path: Path) -> None:
    drawn = run.plot.power()
    assert drawn._repr_png_().startswith(b"\x89PNG")
    assert drawn.save(tmp_path / "power.svg").read_text().startswith("<?xml")
    with pytest.raises(wl.InputError, match="did not choose them"):
        run.plot.job_map()
    placed = wl.simulate(TRACE, machine=MACHINE, placement=wl.FirstFit())
    assert placed.plot.job_map()._repr_png_()
    with pytest.raises(wl.InputError, match="job_map draws one run, not 2"):
        wl.compare([run, placed]).plot.job_map()


@pytest.mark.usefixtures("undrawn")
def test_a_report_takes_one_run_or_several(run: wl.Result, tmp_path: Path) -> None:
    assert run.report(tmp_path / "one", pictures="svg").name == "index.html"
    assert (tmp_path / "one" / "power.svg").is_file()
    page = wl.report([run, run], tmp_path / "two").read_text(encoding="utf-8")
    assert "capped (2)" in page


def test_the_html_of_a_notebook_has_the_figures_and_is_escaped() -> None:
    run = wl.simulate(TRACE, machine=MACHINE, name="<script>")
    page = run._repr_html_()
    assert "mean wait" in page
    assert "<script>" not in page


def test_several_runs_become_one_table(run: wl.Result, tmp_path: Path) -> None:
    free = wl.simulate(TRACE, machine=MACHINE, name="free")
    both = wl.compare([free, run])
    frame = both.to_pandas()
    assert frame.index.tolist() == ["free", "capped"]
    assert frame.loc["capped", "power_w.peak"] == run.power_w_peak
    energy = next(row for row in both.rows if row.key == "energy_j")
    assert energy.ratios[1] == run.energy_j / free.energy_j
    assert repr(both).splitlines()[0].split() == ["figure", "unit", "free", "capped", "ratio"]
    assert "capped" in both._repr_html_()
    assert wl.compare({"a": free, "b": run.save(tmp_path / "b")})["b"].energy_j == run.energy_j


def test_what_is_no_run_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(wl.InputError, match="trace: this is needed and not there"):
        wl.compare([{}])  # a scenario without jobs
    with pytest.raises(wl.InputError, match="jobs are a log's name"):
        wl.compare([7])
    with pytest.raises(wl.InputError, match="there is no run"):
        wl.compare([])
    with pytest.raises(wl.InputError, match="there is no run folder"):
        wl.compare([tmp_path / "gone"])


def test_what_must_be_known_is_a_warning_and_stands_on_the_run() -> None:
    jobs = wl.JobTable.build(submit_s=[0.0, 0.0], run_s=[10.0, 10.0], procs=[32, 1])
    with pytest.warns(wl.WattlineWarning) as caught:
        run = wl.simulate(jobs, machine=wl.Machine(nodes=32), power=wl.Block(cap="5kW"))
    said = [str(each.message) for each in caught]
    assert any("1 of 2 jobs was refused at submission" in line for line in run.remarks)
    assert any("node powers are assumed" in line for line in run.assumed)
    assert set(run.assumed) <= set(run.remarks)
    assert said == list(run.remarks)
    assert len(set(said)) == len(said)
    assert {Path(each.filename) for each in caught} == {Path(__file__)}


def test_the_same_warning_is_shown_once() -> None:
    jobs = wl.JobTable.build(submit_s=[0.0], run_s=[10.0], procs=[1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            wl.simulate(jobs, machine=wl.Machine(nodes=4))
    assert len(caught) == 1


def test_a_setting_without_effect_is_said_to_the_caller() -> None:
    with pytest.warns(wl.WattlineWarning, match=r"policy.order has no effect"):
        wl.simulate(TRACE, machine=MACHINE, order="sjf", backfill="conservative")


def test_runs_that_are_called_the_same_are_told_apart_by_what_differs() -> None:
    runs = [wl.simulate(TRACE, machine=MACHINE, power=wl.Dvfs(cap=cap)) for cap in ("90%", "80%")]
    assert list(wl.compare(*runs).runs) == ["lublin seed 1: cap 90%", "lublin seed 1: cap 80%"]
    assert list(wl.compare(runs[0], runs[0]).runs) == ["lublin seed 1", "lublin seed 1 (2)"]
    with pytest.raises(wl.InputError, match="come in one mapping"):
        wl.compare({"a": runs[0]}, runs[1])


def test_a_folder_of_runs_is_all_of_them(run: wl.Result, tmp_path: Path) -> None:
    for name in ("b", "a"):
        run.save(tmp_path / "runs" / name)
    assert len(wl.compare(tmp_path / "runs")) == 2
    found = CliRunner().invoke(cli, ["compare", str(tmp_path / "runs"), "--no-report", "--json",
                                     "-o", str(tmp_path / "out")], catch_exceptions=False)
    assert list(json.loads(found.stdout)["runs"]) == ["a", "b"]


@pytest.mark.usefixtures("unpainted")
def test_a_report_that_is_called_html_is_that_file(run: wl.Result, tmp_path: Path) -> None:
    page = run.report(tmp_path / "new" / "mine.html")
    assert page == tmp_path / "new" / "mine.html"
    assert "<html" in page.read_text(encoding="utf-8")[:200]
    assert [path.name for path in page.parent.iterdir()] == ["mine.html"]


def test_a_class_in_place_of_an_object_is_said() -> None:
    with pytest.raises(wl.InputError, match=r"power is the class Dvfs; give an object of it: Dvfs"):
        wl.simulate(TRACE, machine=MACHINE, power=wl.Dvfs)


def test_a_table_of_jobs_is_short_to_print() -> None:
    assert repr(TRACE.jobs).startswith("JobTable(30 jobs of 1 to 32, submitted from ")
    assert TRACE.jobs._repr_html_().count("<tr>") == 6
    empty = TRACE.jobs.take(TRACE.jobs.procs > 1000)
    assert repr(empty) == "JobTable(0 jobs)"


def test_the_table_of_jobs_has_what_they_took_beside_what_the_log_says() -> None:
    run = wl.simulate("examples/tiny.swf", power=wl.Dvfs(cap="70%"))
    frame = run.jobs().to_pandas()
    assert (frame["elapsed_s"] == frame["end_s"] - frame["start_s"]).all()
    assert (frame["elapsed_s"] > frame["run_s"] + 1).any()
    assert list(frame["run_s"]) == list(run.jobs.run_s)
