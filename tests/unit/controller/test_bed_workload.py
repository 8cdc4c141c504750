"""Jobs of a log as jobs of a bed: in less time, and with watts where the log has none."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from wattline.cli.main import cli
from wattline.controller.testbed.curve_plot import corners, draw_curve
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.workload import BedJob, faster, jobs_of
from wattline.model.errors import InputError, WattlineError
from wattline.model.jobs import JobTable

BED = Bed(Path("/nowhere"), nodes=5, port=1)
JOBS = JobTable.build(submit_s=[0.0, 60.0, 120.0], run_s=[600.0, 30.0, 60.0], procs=[1, 5, 3],
                      requested_s=[7200.0, 60.0, 60.0], power_w=[float("nan")] * 3)


def test_all_times_of_a_log_are_divided() -> None:
    first, second, _ = jobs_of(faster(JOBS, 60.0), BED)
    assert (first.run_s, first.limit_s, second.submit_s, second.run_s) == (10.0, 120.0, 1.0, 0.5)
    for speed in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(InputError, match="speed is"):
            faster(JOBS, speed)


def test_jobs_that_say_no_watts_draw_by_their_size() -> None:
    assert [job.node_w for job in jobs_of(JOBS, BED, (180.0, 330.0))] == [330.0, 180.0, 255.0]
    assert {job.node_w for job in jobs_of(JOBS, BED)} == {BED.power.active_w}
    said = JOBS.with_columns(power_w=[200.0, 1000.0, 600.0])
    assert {job.node_w for job in jobs_of(said, BED, (180.0, 330.0))} == {200.0}
    with pytest.raises(InputError, match="draws 500 W per node"):
        jobs_of(JOBS, BED, (180.0, 500.0))


def test_one_power_where_two_are_asked_for_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text("1 0 0 5 1 -1 -1 1 5 -1 1 1 1 -1 1 -1 -1 -1\n")
    done = CliRunner().invoke(cli, ["testbed", "run", str(log), "--cap", "1kW", "--node-w", "180"],
                              standalone_mode=False)
    assert isinstance(done.exception, InputError)
    assert "like 180:330" in str(done.exception)


def test_a_table_is_a_workload_by_its_own_columns_or_by_a_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def run(bed: Bed, jobs: list[BedJob], *_: object, **__: object) -> None:
        asked.extend(jobs)
        raise WattlineError("no bed is needed to see what it is asked")

    for name, instead in (("bring_up", lambda *_, **__: BED), ("take_down", lambda *_: None),
                          ("run_workload", run)):
        monkeypatch.setattr(f"wattline.controller.testbed.trying.{name}", instead)
    own, other, columns = (tmp_path / name for name in ("own.csv", "other.csv", "map.toml"))
    own.write_text("job_id,submit_s,run_s,requested_s,procs,power_w\n7,3,5,60,2,500\n")
    other.write_text("id,at,took,asked,size,watts\n7,3,5,60,2,500\n")
    columns.write_text('[columns]\njob_id = "id"\nsubmit_s = "at"\nrun_s = "took"\n'
                       'requested_s = "asked"\nrequested_procs = "size"\npower_w = "watts"\n')
    for words in ([own], [other, "--map", columns]):
        CliRunner().invoke(cli, ["testbed", "run", *map(str, words), "--cap", "1kW"])
    assert asked == [BedJob(7, 0.0, 5.0, 60.0, 2, 250.0)] * 2
    done = CliRunner().invoke(cli, ["testbed", "run", str(other), "--cap", "1kW"],
                              standalone_mode=False)
    assert "needs a column map (--map)" in str(done.exception)


def test_the_curve_of_a_run_is_drawn_below_its_cap(tmp_path: Path) -> None:
    power, caps = [(0.5, 450.0), (2.0, 900.0), (4.0, 700.0)], [(-math.inf, 1000.0), (3.0, 800.0)]
    assert corners(caps, 0.5, 4.0) == ([0.5, 3.0, 3.0, 4.0], [1000.0, 1000.0, 800.0, 800.0])
    assert corners(power, 0.5, 4.0)[0] == [0.5, 2.0, 2.0, 4.0, 4.0, 4.0]
    assert draw_curve(power, caps, tmp_path / "curve.svg").stat().st_size > 1000
    assert draw_curve([], caps, tmp_path / "nothing.svg").exists()
    log = tmp_path / "log.swf"
    log.write_text("1 0 0 5 1 -1 -1 1 5 -1 1 1 1 -1 1 -1 -1 -1\n")
    done = CliRunner().invoke(cli, ["testbed", "run", str(log), "--cap", "1kW", "--plot", "x.txt"],
                              standalone_mode=False)
    assert "is not a picture" in str(done.exception)
