"""Sweeps from the file to the table: nothing repeated, nothing lost, whatever dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.cli.main import cli
from wattline.sweeps.point import points_of
from wattline.sweeps.report import write_report
from wattline.sweeps.shelf import Shelf, map_trace, write_trace
from wattline.sweeps.space import read_space
from wattline.traces import read

SCENARIO: dict[str, Any] = {
    "trace": {"generate": "lublin", "jobs": 30},
    "machine": {"nodes": 64, "node_idle_w": 90, "node_active_w": 300}}
pytestmark = [pytest.mark.filterwarnings("ignore::wattline.WattlineWarning"),
              pytest.mark.usefixtures("unpainted")]
AXES = {"policy.order": ["fcfs", "sjf"], "machine.nodes": [64, 96]}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WATTLINE_PLAIN", "1")


def sweep(folder: Path, axes: dict[str, Any] = AXES, **more: Any) -> wl.SweepResult:
    given = {"workers": 1, "report": False} | more
    return wl.run_sweep({"scenario": SCENARIO, "axes": axes}, folder, **given)


def test_each_point_has_the_figures_that_a_run_of_its_own_has(tmp_path: Path) -> None:
    found = sweep(tmp_path / "a", {**AXES, "power.cap": ["80%", "20kW"], "policy.power": ["dvfs"]})
    table = found.to_pandas()
    for row in table.to_dict("records"):
        run = wl.simulate(SCENARIO, policy__order=row["policy.order"], policy__power="dvfs",
                          machine__nodes=row["machine.nodes"], power__cap=row["power.cap"],
                          trace__parameters__nodes=64)  # the same jobs on every machine
        own = run.metrics(flat=True)
        assert {name: row[name] for name in own} == pytest.approx(own, nan_ok=True)
    assert pq.read_table(tmp_path / "a" / "results.parquet").num_rows == 8


def test_equal_points_are_computed_once_here_and_in_other_sweeps(tmp_path: Path) -> None:
    twice = {**AXES, "policy.overrun": ["extend", "extend"]}
    first = sweep(tmp_path / "a", twice).counts
    assert (first.points, first.computed, first.cached) == (8, 4, 4)
    again = sweep(tmp_path / "b").counts
    assert (again.computed, again.cached) == (0, 4)
    assert sweep(tmp_path / "c", cache=False).counts.computed == 4


def test_a_point_that_fails_is_kept_with_its_error_and_the_others_go_on(tmp_path: Path) -> None:
    found = sweep(tmp_path / "a", {"policy.power": ["block", "dvfs"], "power.cap": ["2W", "90%"]})
    errors = [row.get("error", "") for row in found.rows]
    assert ["below the idle power" in error for error in errors] == [True, False, True, False]
    assert (found.counts.computed, found.counts.failed) == (4, 2)
    assert found.to_dict()["errors"][0]["setting"] == {"policy.power": "block", "power.cap": "2W"}


def test_who_keeps_a_cap_that_nobody_keeps_is_said(tmp_path: Path) -> None:
    found = sweep(tmp_path / "a", {"power.cap": ["none", "90%"]})
    assert any("'dvfs' keeps the cap" in line for line in found.to_dict()["remarks"])


def test_a_field_that_there_is_not_is_a_mistake_of_the_sweep(tmp_path: Path) -> None:
    with pytest.raises(wl.InputError, match="orders"):
        sweep(tmp_path / "a", {"policy.orders": ["fcfs"]})
    assert not (tmp_path / "a").exists()


def test_a_folder_is_gone_on_with_only_where_that_is_asked_for(tmp_path: Path) -> None:
    sweep(tmp_path / "a", cache=False)
    with pytest.raises(wl.InputError, match="resume"):
        sweep(tmp_path / "a")
    assert sweep(tmp_path / "a", resume=True, cache=False).counts.computed == 0
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(wl.InputError, match="not empty"):
        sweep(tmp_path / "other", resume=True)


def test_what_an_interrupted_sweep_had_is_not_computed_again(tmp_path: Path) -> None:
    whole = sweep(tmp_path / "a", cache=False)
    journal = tmp_path / "a" / "points.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text(lines[0] + lines[1] + lines[2][:40])  # killed while it wrote the third
    again = sweep(tmp_path / "a", resume=True, cache=False)
    assert (again.counts.computed, again.counts.cached) == (2, 2)
    assert again.to_pandas().drop(columns=["engine_s", "seconds"]).equals(
        whole.to_pandas().drop(columns=["engine_s", "seconds"]))
    # The row after the cut line is a line of its own, so that nothing is left for a third time.
    assert sweep(tmp_path / "a", resume=True, cache=False).counts.computed == 0


def test_a_setting_that_refuses_jobs_is_not_the_best(tmp_path: Path) -> None:
    found = sweep(tmp_path / "a", {"policy.power": ["block"], "power.cap": ["none", "12kW"]})
    refusing = next(each for each in found.settings if each.values["power.cap"] == "12kW")
    assert refusing.means["jobs.not_run"] > 0
    assert [each.values["power.cap"] for each in found.pareto()] == ["none"]
    assert any("fewer jobs ran" in line for line in found.to_dict()["remarks"])


def test_means_over_other_settings_than_elsewhere_are_said(tmp_path: Path) -> None:
    def swept(name: str, nodes: list[int]) -> wl.SweepResult:
        axes = {"machine.nodes": nodes, "policy.order": ["fcfs", {"name": "wfp", "exponent": 2}]}
        return wl.run_sweep({"scenario": SCENARIO, "axes": axes}, tmp_path / name, workers=1)

    even = swept("even", [64, 96])
    assert even.uneven == ()
    assert "whatever the others are" in (tmp_path / "even" / "report.html").read_text()
    rows = [row for row in even.rows if row["number"] != 3]  # as where one of the points fails
    uneven = replace(even, rows=tuple(rows))
    assert uneven.uneven == ("machine.nodes", "policy.order")
    page = write_report(uneven, tmp_path / "uneven.html").read_text()
    assert "did not meet the same settings of the other axes" in page


def test_seeds_are_one_setting_and_differences_are_of_pairs(tmp_path: Path) -> None:
    found = wl.run_sweep({"scenario": SCENARIO, "axes": {"policy.order": ["fcfs", "sjf"]},
                          "seeds": 4}, tmp_path / "a", workers=1)
    assert [each.runs for each in found.settings] == [4, 4]
    table = found.to_pandas()
    waits = {order: table[table["policy.order"] == order]["wait_s.mean"].to_numpy()
             for order in ("fcfs", "sjf")}
    mean, half = found.differences("policy.order", "fcfs", "sjf", "wait_s")
    assert mean == pytest.approx((waits["sjf"] - waits["fcfs"]).mean())
    assert half >= 0
    page = (tmp_path / "a" / "report.html").read_text()
    assert "Pareto" in page
    assert not any(f'{where}="http' in page for where in ("src", "href"))


def test_a_trace_comes_from_the_shelf_as_it_went_there(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("job_id,submit_s,run_s,procs,user,power_w\n1,0,10,2,ann,300\n2,5,20,4,bo,\n")
    trace = read(log)
    write_trace(trace, tmp_path / "t.arrow")
    again = map_trace(tmp_path / "t.arrow")
    assert again.jobs.to_pandas().equals(trace.jobs.to_pandas())
    assert (dict(again.header), again.cleaning, again.remarks) == (
        dict(trace.header), trace.cleaning, trace.remarks)
    shelf = Shelf(tmp_path / "shelf")
    scenario = wl.Scenario(name="a", trace={"file": log}, machine={"nodes": 8})
    assert shelf.trace(scenario) is shelf.trace(scenario)
    assert len(list((tmp_path / "shelf").iterdir())) == 1
    log.write_text("job_id,submit_s,run_s,procs,user,power_w\n1,0,10,2,ann,300\n")
    assert len(shelf.trace(scenario).jobs) == 1  # another content is another log


KILLER = '''
import os
class Killer:
    """Ends its process, once or always, like a worker that runs out of memory."""
    def decide(self, view):
        mark = {mark!r}
        if not os.path.exists(mark) or {always}:
            open(mark, "w").close()
            os.kill(os.getpid(), 9)
        return []
'''


@pytest.mark.parametrize(("always", "failed"), [
    (False, 0), pytest.param(True, 1, marks=pytest.mark.long)])  # three seconds each
def test_a_worker_that_dies_is_replaced(tmp_path: Path, always: bool, failed: int) -> None:
    (tmp_path / "killer.py").write_text(KILLER.format(mark=str(tmp_path / "mark"), always=always))
    scenario = {**SCENARIO, "trace": {"generate": "lublin", "jobs": 5}}
    killer = {"python": f"{tmp_path}/killer.py:Killer"}
    points = {"scenario": scenario, "zip": True,
              "axes": {"machine.nodes": [64, 65, 66, 67], "policy": [{}, {}, killer, {}]}}
    found = wl.run_sweep(points, tmp_path / "a", workers=2, report=False, allow_code=True)
    assert (found.counts.computed, found.counts.failed) == (4, failed)
    if failed:
        assert "its worker died" in found.rows[2]["error"]


def test_a_client_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text('[scenario.trace]\ngenerate = "lublin"\njobs = 100\n[scenario.machine]\n'
                    'nodes = 64\n[axes]\n"machine.nodes" = {from = 64, to = 83, step = 1}\n')
    command = [sys.executable, "-m", "wattline", "sweep", str(file), "-o", str(tmp_path / "a"),
               "--workers", "2", "--no-cache", "--json", "--no-report"]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    journal = tmp_path / "a" / "points.jsonl"
    until_s = time.monotonic() + 60
    while not (journal.is_file() and journal.stat().st_size) and time.monotonic() < until_s:
        time.sleep(0.02)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    done = len(journal.read_text().splitlines())
    alone = command[command.index("sweep"):]
    alone[alone.index("--workers") + 1] = "1"
    said = CliRunner().invoke(cli, [*alone, "--resume"], catch_exceptions=False)
    found = json.loads(said.stdout)
    assert 0 < done < 20
    assert (found["points"], found["failed"]) == (20, 0)
    assert found["cached"] >= done - 1
    assert found["computed"] + found["cached"] == 20


def test_a_search_says_what_is_best_by_its_own_objective_and_keeps_a_journal_of_its_own(
    tmp_path: Path
) -> None:
    given = {"scenario": SCENARIO, "axes": {"machine.nodes": [64, 96, 128]}}
    found = wl.optimise_sweep(given, tmp_path / "a", ["-utilisation"], trials=6, report=False,
                              cache=False)
    told = found.to_dict()
    assert told["objectives"] == ["-utilisation"]
    table = found.to_pandas()
    best = table.loc[table["utilisation"].idxmax(), "machine.nodes"]
    assert [each["setting"]["machine.nodes"] for each in told["pareto"]] == [best]
    assert told["pareto"][0]["-utilisation"]["mean"] == -table["utilisation"].max()
    with pytest.raises(wl.InputError, match="has a search in it; go on with it with"):
        sweep(tmp_path / "a", resume=True)


def test_what_rests_on_a_database_is_never_known_beforehand() -> None:
    policy = {"order": {"name": "energy-share", "store": "postgresql://db/site"}}
    point, = points_of(read_space({"scenario": {**SCENARIO, "policy": policy},
                                   "axes": {"machine.nodes": [64]}}))
    assert (point.key, point.error) == ("", "")


def test_a_search_says_who_keeps_a_cap_that_nobody_keeps(tmp_path: Path) -> None:
    given = {"scenario": SCENARIO | {"policy": {}}, "axes": {"power.cap": ["80%", "90%"]}}
    found = wl.optimise_sweep(given, tmp_path / "a", ["energy_j"], trials=2, report=False)
    assert any("'dvfs' keeps the cap" in line for line in found.remarks)
