"""Caps and reservations over time: in dates or seconds, the same on logs of every clock."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.cli.main import cli

BEGIN = "2026-07-08T10:00:00"
BEGIN_S = 1783504800.0
MACHINE = wl.Machine(nodes=4, node_idle_w=100, node_active_w=300)


def log(first_s: float) -> dict[str, list[float]]:
    """40 jobs of a node for 600 s, one each 100 s."""
    submit_s = [first_s + 100.0 * at for at in range(40)]
    return {"submit_s": submit_s, "run_s": [600.0] * 40, "requested_s": [600.0] * 40,
            "procs": [1] * 40, "power_w": [300.0] * 40}


def swf_log(folder: Path) -> Path:
    """The same log as a file, with Unix times."""
    rows = [f"{at + 1} {BEGIN_S + 100 * at:.0f} 0 600 1 -1 -1 1 600 -1 1 1 1 -1 -1 -1 -1 -1"
            for at in range(40)]
    (folder / "log.swf").write_text("; MaxNodes: 4\n; MaxProcs: 4\n" + "\n".join(rows) + "\n")
    return folder / "log.swf"


def simulated(first_s: float, cap, **more):
    unix = {} if first_s >= 1e9 else {"trace__unix_start_s": BEGIN_S - first_s}
    return wl.simulate(log(first_s), machine=MACHINE, power="block", cap=cap, **unix, **more)


def power_w(run, from_s: float, to_s: float) -> float:
    """The highest power that lasts, between two times after the first submission."""
    log = run.events
    time_s = log.time_s - run.start_s
    there = (time_s >= from_s) & (time_s < to_s) & (np.diff(log.time_s, append=run.end_s) > 0)
    return float(log.power_w[there].max())


STEPS = {
    "seconds": "0,1200\n2000,800\n4000,1200\n",
    "dates": f"{BEGIN},1200\n2026-07-08T10:33:20,800\n2026-07-08T13:06:40+02:00,1200\n",
    "unix": f"{BEGIN_S:.0f},1200\n{BEGIN_S + 2000:.0f},800\n{BEGIN_S + 4000:.0f},1200\n",
    "mixed": "2026-07-01;1200\n2000;800\n2026-07-08 11:06:40;1200\n",
}


@pytest.mark.parametrize("first_s", [0.0, 77.0, BEGIN_S])
@pytest.mark.parametrize("written", STEPS)
def test_a_cap_file_holds_at_its_times_on_a_log_of_any_clock(tmp_path, first_s, written):
    file = tmp_path / "cap.csv"
    file.write_text(STEPS[written])
    run = simulated(first_s, str(file))
    assert power_w(run, 0.0, 2000.0) == 1200.0
    assert power_w(run, 2600.0, 4000.0) == 800.0
    assert power_w(run, 4000.0, 9e9) == 1200.0
    assert not any("outside" in line for line in run.remarks)


@pytest.mark.parametrize("first_s", [0.0, BEGIN_S])
@pytest.mark.parametrize("at", [2000, "2026-07-08T10:33:20"])
def test_steps_plans_and_reservations_of_a_scenario_take_both(first_s, at):
    back = 4000 if at == 2000 else "2026-07-08T11:06:40"
    found = [simulated(first_s, cap, **more) for cap, more in (
        ([{"time_s": 0, "watts": 1200}, {"time_s": at, "watts": 800},
          {"time_s": back, "watts": 1200}], {}),
        ({"watts": 1200, "changes": [{"at": at, "watts": 800}, {"at": back, "watts": 1200}]}, {}),
        ("1200W", {"reservations": [{"start_s": at, "duration_s": 2000, "watts": 400}]}))]
    for run in found:
        assert (power_w(run, 0.0, 2000.0), power_w(run, 2600.0, 4000.0)) == (1200.0, 800.0)
        assert power_w(run, 4000.0, 9e9) == 1200.0


def test_dates_need_a_run_that_has_them(tmp_path):
    file = tmp_path / "cap.csv"
    file.write_text(STEPS["dates"])
    with pytest.raises(wl.InputError, match=rf"^{file}:1: 2026-07-08T10:00:00 is a date, and the "
                                            "run has no dates"):
        wl.simulate(log(0.0), machine=MACHINE, power="block", cap=str(file))


def test_a_start_date_may_be_written_as_one():
    steps = [{"time_s": BEGIN, "watts": 1200}, {"time_s": "2026-07-08T10:33:20", "watts": 800}]
    run = wl.simulate(log(0.0), machine=MACHINE, power="block", cap=steps,
                      trace__unix_start_s="2026-07-08T12:00:00+02:00")
    assert power_w(run, 2600.0, 9e9) == 800.0


def test_dates_without_an_offset_are_of_the_zone_of_the_run():
    steps = [{"time_s": "2026-07-08T12:00:00", "watts": 1200},
             {"time_s": "2026-07-08T12:33:20", "watts": 800}]
    run = simulated(BEGIN_S, steps, trace__zone="Europe/Berlin")
    assert (power_w(run, 0.0, 2000.0), power_w(run, 2600.0, 9e9)) == (1200.0, 800.0)


def test_dates_out_of_order_are_refused():
    with pytest.raises(wl.InputError, match=r"power\.cap: its steps must rise in time"):
        simulated(BEGIN_S, [{"time_s": 60, "watts": 1200}, {"time_s": BEGIN, "watts": 800}])


@pytest.mark.parametrize("first_s", [0.0, BEGIN_S])
def test_steps_outside_of_the_run_are_remarked(first_s):
    run = simulated(first_s, [
        {"time_s": "2026-07-07", "watts": 1000}, {"time_s": BEGIN, "watts": 1200},
        {"time_s": "2026-09-01", "watts": 800}])
    assert [line for line in run.remarks if line.startswith("power.cap")] == [
        "power.cap: 2 of 3 steps lie outside of the run and have no effect: 1 before the first "
        f"submission ({BEGIN}), 1 after the end of the run "
        f"({np.datetime64(BEGIN) + np.timedelta64(int(run.end_s - run.start_s), 's')})"]


def test_a_run_in_a_folder_repeats_with_the_same_steps(tmp_path):
    swf = swf_log(tmp_path)
    cap = tmp_path / "cap.csv"
    cap.write_text(STEPS["dates"] + "2027-01-01,900\n")
    out = tmp_path / "run"
    said = CliRunner().invoke(cli, [
        "simulate", str(swf), "--node-idle-w", "100", "--node-active-w", "300", "--power-policy",
        "block", "--cap", str(cap), "--out", str(out), "--json"])
    assert said.exit_code == 0, said.output
    answer = json.loads(said.stdout)
    assert any("1 of 4 steps lies outside of the run" in line for line in answer["remarks"])
    again = wl.simulate(out / "scenario.toml")
    assert again.energy_j == wl.open_run(out).energy_j
    assert power_w(again, 2600.0, 4000.0) == 800.0


@pytest.mark.parametrize("written", STEPS)
def test_the_petri_net_takes_the_same_file_at_the_same_times(tmp_path, written):
    swf, cap = swf_log(tmp_path), tmp_path / "cap.csv"
    cap.write_text(STEPS[written])
    net = wl.run_net("puppet", trace=swf, power="block", cap=cap, node_active_w=300.0,
                     idle_fraction=1 / 3)
    run = wl.simulate(trace=swf, machine=MACHINE, power="block", cap=str(cap))
    assert net.simulation.now_s == run.end_s - run.start_s
    assert not any("outside" in line for line in net.remarks)


@pytest.mark.parametrize("first_s", [77.0, BEGIN_S])
@pytest.mark.parametrize("cap", [
    [{"time_s": 0, "watts": 1200}, {"time_s": "2026-07-08T10:33:20", "watts": 800}],
    {"watts": 1200, "changes": [{"at": "2026-07-08T10:33:20", "watts": 800}]}])
def test_a_journal_asked_again_decides_under_the_same_steps(tmp_path, first_s, cap):
    file = tmp_path / "run.journal"
    run = simulated(first_s, cap, journal=file)
    assert power_w(run, 2600.0, 9e9) == 800.0
    asked = wl.replay(file)
    assert asked.equal
    assert asked.decisions > 0


def of_cap(run) -> list[str]:
    return [line for line in run.remarks if line.startswith("power.cap")]


def window(start_s: float, watts: float) -> dict[str, float]:
    return {"start_s": start_s, "duration_s": 100.0, "watts": watts}


def test_steps_of_a_cap_are_counted_as_written_and_not_with_those_of_reservations():
    late = {"at_s": 9e6, "watts": 900}
    assert of_cap(simulated(0.0, {"watts": 1200, "reservations": [window(9900.0, 100)]})) == [
        "power.cap.reservations: 1 of 1 lie outside of the run and have no effect; the first "
        "begins 2026-07-08T12:45:00"]
    inside = [window(90.0, 100), window(300.0, 100)]
    assert of_cap(simulated(0.0, {"watts": 1200, "reservations": inside})) == []
    both = of_cap(simulated(0.0, {"watts": 1200, "reservations": inside, "changes": [late]}))
    assert len(both) == 1
    assert both[0].startswith("power.cap: 1 of 2 steps lies outside of the run")


@pytest.mark.parametrize("beside", [False, True])
def test_watts_that_a_reservation_leaves_below_idle_are_said_with_the_window(beside):
    """Four idle nodes draw 400 W; 500 W are left, then 200 W."""
    taken = [window(90.0, 700), window(300.0, 1000)]
    run = (simulated(0.0, 1200, reservations=taken) if beside
           else simulated(0.0, {"watts": 1200, "reservations": taken}))
    assert of_cap(run) == [
        "power.cap: 200 W are left from 2026-07-08T10:05:00 until 2026-07-08T10:06:40, below the "
        "400 W of the idle machine: only a policy that switches nodes off can keep that"]
    assert run.time_above_cap_s > 0
    assert of_cap(simulated(0.0, {"watts": 1200, "reservations": taken[:1]})) == []


@pytest.mark.parametrize("beside", [False, True])
def test_a_job_may_run_into_a_window_that_leaves_room_for_its_own_power(beside):
    """1,600 W under 2,000 W, less 100 W in the window; four busy nodes would draw 800 W."""
    def run(taken_w):
        taken = [{"start_s": 90, "duration_s": 100, "watts": taken_w}]
        cap = {"watts": 2000, **({} if beside else {"reservations": taken})}
        return wl.simulate(
            {"submit_s": [0, 50], "run_s": [10, 50], "procs": [1, 2], "requested_s": [10, 60],
             "power_w": [100, 1500]},
            machine=wl.Machine(nodes=4, node_idle_w=50, node_active_w=200), power="adaptive",
            cap=cap, reservations=taken if beside else [])

    assert (run(100).schedule.start_s[1], run(100).power_w_peak) == (50, 1600)
    assert (run(500).power_w_peak < 1500, run(500).time_above_cap_s) == (True, 0)
