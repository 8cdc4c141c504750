"""Watts that are reserved ahead on a twin: the cap is lower in a window that is known in advance.

Five nodes draw 100 W each and a job 80 W more. Jobs of 240 s, with limits of 600 s, are submitted
every 30 s from 0 s on.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.twin_sites import sacct

import wattline as wl

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")

WINDOW = {"start_s": 1000.0, "duration_s": 500.0, "watts": 160.0, "name": "chiller"}


@pytest.fixture
def twin(tmp_path: Path) -> Path:
    files = sacct(tmp_path)
    wl.make_twin(files["slurm.conf"], sacct=files["sacct.txt"], assoc=files["assoc"], idle_w=100,
                 cpu_w=10, gpu_w=0, out=tmp_path / "twin.toml")
    return tmp_path / "twin.toml"


def drawn_w(run: Any, time_s: float) -> float:
    """Idle nodes, and 10 W for each CPU of the jobs that run then."""
    inside = (run.schedule.start_s <= time_s) & (run.schedule.end_s > time_s)
    return float(500.0 + 10.0 * run.schedule.nodes[inside].sum())


def test_reserved_watts_are_free_in_their_window(twin: Path) -> None:
    """660 W have room for two jobs, and none of them may last into the window, which leaves 500."""
    run = wl.simulate(twin, cap=660, reservations=[WINDOW])
    start_s, end_s = run.schedule.start_s, run.schedule.end_s
    assert run.ran.all()
    assert not np.any((start_s < 1500.0) & (end_s > 1000.0))
    # By its limit and the late kill a job of 600 s would reach into the window from 400 s on.
    assert start_s[start_s < 1000.0].max() <= 400.0
    assert start_s[start_s > 1000.0].min() >= 1500.0
    changes_s = np.unique(np.concatenate((start_s, end_s)))
    assert max(drawn_w(run, time_s) for time_s in changes_s) == 660.0
    assert run.cap_w is not None
    assert [run.cap_w.at(time_s) for time_s in (999.0, 1000.0, 1499.0, 1500.0)] == [
        660.0, 500.0, 500.0, 660.0]
    assert [each.name for each in run.reservations] == ["chiller"]
    assert run.time_above_cap_s == 0.0
    assert wl.verify(run).sentences == []


def test_dates_and_seconds_of_caps_and_windows_are_the_same(twin: Path, tmp_path: Path) -> None:
    free = wl.simulate(twin)
    begin_s = free.scenario["trace"]["unix_start_s"] + float(free.jobs.submit_s[0])

    def date(after_s: float) -> str:
        return datetime.fromtimestamp(begin_s + after_s, UTC).isoformat()

    (tmp_path / "seconds.csv").write_text("0,900\n600,660\n1500,900\n")
    (tmp_path / "dates.csv").write_text(
        f"{date(-9e6)},700\n{date(0)},900\n{date(600)},660\n{date(1500)},900\n")
    runs = [wl.simulate(twin, cap=str(tmp_path / name), reservations=[{**WINDOW, "start_s": at}])
            for name, at in (("seconds.csv", 1000.0), ("dates.csv", date(1000)))]
    for run in runs:
        assert run.cap_w is not None
        assert [run.cap_w.at(run.start_s + at) for at in (0, 599, 600, 1000, 1500)] == [
            900.0, 900.0, 660.0, 500.0, 900.0]
    assert np.array_equal(runs[0].schedule.start_s, runs[1].schedule.start_s)
    assert not np.array_equal(runs[0].schedule.start_s, free.schedule.start_s)
    assert [line for line in runs[1].remarks if line.startswith("power.cap")] == [
        "power.cap: 1 of 4 steps lies outside of the run and has no effect: 1 before the first "
        f"submission ({date(0).removesuffix('+00:00')})"]


def test_a_window_for_part_of_the_jobs_lets_those_run(twin: Path) -> None:
    run = wl.simulate(twin, cap=660, reservations=[{**WINDOW, "watts": 80.0}])
    held_w = [drawn_w(run, time_s) for time_s in range(1000, 1500, 10)]
    assert max(held_w) == 580.0
    assert wl.verify(run).sentences == []


def test_reserved_watts_go_with_a_cap_as_a_table(twin: Path) -> None:
    """A table without watts caps the windows alone: the machine can draw 900 W."""
    run = wl.simulate(twin, cap={"floor_w": 1.0}, reservations=[{**WINDOW, "watts": 400.0}])
    assert run.cap_w is not None
    assert (run.cap_w.at(0.0), run.cap_w.at(1200.0)) == (np.inf, 500.0)
    assert not np.any((run.schedule.start_s < 1500.0) & (run.schedule.end_s > 1000.0))


def test_a_window_below_the_idle_power_is_refused(twin: Path) -> None:
    with pytest.raises(wl.InputError, match=r"reservations: what they leave of the cap, 460 W, is"):
        wl.simulate(twin, cap=660, reservations=[{**WINDOW, "watts": 200.0}])


def test_reserved_watts_without_a_cap_are_said(twin: Path) -> None:
    run = wl.simulate(twin, reservations=[WINDOW])
    assert any("watts have no effect without a power cap" in line for line in run.remarks)
    assert run.power_w_peak == 820.0


def test_reserved_nodes_are_refused_with_the_way_to_have_them(twin: Path) -> None:
    with pytest.raises(wl.InputError, match=r"reserved by name, with \[\[twin.reservation\]\]"):
        wl.simulate(twin, reservations=[{**WINDOW, "nodes": 2}])
