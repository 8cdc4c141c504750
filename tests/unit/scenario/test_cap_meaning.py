"""A percentage of a cap is of rated power, in every command; others are spelled."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.cli.main import cli
from wattline.model.cap_value import percentile_w


def printed(*arguments: str) -> str:
    found = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.stdout


def scenario(folder: Path, nodes: int, active_w: float, cap: str) -> Path:
    path = folder / "site.toml"
    path.write_text(
        f'name = "site"\n[trace]\ngenerate = "lublin"\nseed = {nodes}\njobs = 40\n[machine]\n'
        f'nodes = {nodes}\nnode_idle_w = {0.2 * active_w}\nnode_active_w = {active_w}\n'
        f'[policy]\npower = "block"\n[power]\ncap = "{cap}"\n')
    return path


@pytest.mark.parametrize(("nodes", "active_w", "percent"), [
    (8, 300.0, 70), (13, 441.7, 55), (64, 62.0, 91.5), (5, 300.0, 100)])
def test_a_percentage_is_the_same_watts_in_every_command(
    tmp_path: Path, nodes: int, active_w: float, percent: float
) -> None:
    watts = nodes * active_w * percent / 100
    site = str(scenario(tmp_path, nodes, active_w, f"{percent}%"))
    run = json.loads(printed("simulate", site, "--no-folder", "--json"))
    assert run["cap"] == {"given": f"{percent}%", "of": "rated",
                          "reference_w": pytest.approx(nodes * active_w),
                          "watts": pytest.approx(watts), "watts_min": pytest.approx(watts),
                          "rated_w": pytest.approx(nodes * active_w)}
    shown = json.loads(printed("power", "show", site, "--json"))
    assert shown["PowerCap"] == pytest.approx(watts)
    assert shown["MaxWatts"] == pytest.approx(nodes * active_w)
    other = str(scenario(tmp_path, nodes, active_w, "90%"))
    printed("power", "set", other, "--cap", f"{percent}%")
    assert json.loads(printed("power", "show", other, "--json"))["PowerCap"] == pytest.approx(watts)
    machine = wl.Machine(nodes=nodes, node_idle_w=0.2 * active_w, node_active_w=active_w)
    books = wl.open_books(machine=machine, power="block", cap=f"{percent}%")
    assert float(books.record.meter[0].told_cap_w) == pytest.approx(watts)
    net = wl.run_net("puppet", nodes=max(nodes, 8), node_active_w=active_w, idle_fraction=0.2,
                     cap=f"{percent}%")
    assert net.simulation.place("Cap").values() == [
        pytest.approx(max(nodes, 8) * active_w * percent / 100)]
    found = wl.simulate(site, machine=machine, cap=f"{percent}%")
    assert float(found.cap_w.value[0]) == pytest.approx(watts)


def test_per_cent_of_the_peak_is_another_power_and_said_in_watts(tmp_path: Path) -> None:
    rated = scenario(tmp_path, 16, 250.0, "80%")
    free = wl.simulate(rated, cap="none", order="fcfs", backfill="easy")
    assert free.power_w_peak < 16 * 250.0
    found = json.loads(printed("simulate", str(rated), "--cap", "80%peak", "--no-folder", "--json"))
    assert found["cap"]["watts"] == 0.8 * free.power_w_peak
    assert found["cap"]["reference_w"] == pytest.approx(free.power_w_peak)
    line = printed("simulate", str(rated), "--no-folder").splitlines()[0]
    assert line == "site: cap 3.2 kW: 80 % of rated power (4 kW)"
    text = printed("compare", str(rated), "--vary", "power.cap=none,80%,80%p95", "-o",
                   str(tmp_path / "out"), "--no-report")
    assert "site: cap 80%: cap 3.2 kW: 80 % of rated power (4 kW)\n" in text
    assert "of the 95th percentile of power without a cap (" in text


@pytest.mark.parametrize("seed", range(6))
def test_a_percentile_is_that_of_power_looked_at_often(seed: int) -> None:
    draws = np.random.default_rng(seed)
    power_w, length_s = draws.integers(1, 40, 60) * 25.0, draws.integers(1, 50, 60) * 1.0
    every_second = np.sort(np.repeat(power_w, length_s.astype(int)))
    for percent in (1, 25, 50, 90, 99):
        found = percentile_w(power_w, length_s, percent)
        assert np.mean(every_second > found) <= 1 - percent / 100 + 1e-12
        assert np.mean(every_second >= found) >= 1 - percent / 100 - 1e-12


def test_one_large_job_moves_the_peak_and_hardly_the_percentile(tmp_path: Path) -> None:
    """Fifty jobs at 200 W a node, then for a hundredth of the time all nodes at 300 W."""
    small = [(f"{1000 * k}", 990, 2, 400.0) for k in range(50)]
    caps = {}
    for name, last in (("without", []), ("with", [("60000", 100, 8, 2400.0)])):
        log = tmp_path / f"{name}.csv"
        log.write_text("job_id,submit_s,run_s,requested_s,procs,power_w\n" + "".join(
            f"{k},{at},{run},{run},{procs},{watts}\n"
            for k, (at, run, procs, watts) in enumerate([*small, *last])))
        for of in ("peak", "p99"):
            run = wl.simulate(log, machine=wl.Machine(nodes=8, node_idle_w=50, node_active_w=300),
                              power="block", cap=f"100%{of}")
            caps[name, of] = float(run.cap_w.value[0])
    assert caps["without", "peak"] == caps["without", "p99"] == caps["with", "p99"] == 700.0
    assert caps["with", "peak"] == 2400.0


def test_watts_of_jobs_above_rated_power_are_said(tmp_path: Path) -> None:
    log = tmp_path / "jobs.csv"
    log.write_text("job_id,submit_s,run_s,requested_s,procs,power_w\n1,0,60,60,4,2000\n"
                   "2,0,60,60,2,500\n")
    machine = wl.Machine(nodes=8, node_idle_w=50, node_active_w=300)
    run = wl.simulate(log, machine=machine, power="block", cap="100%")
    assert ("1 job above the 300 W of a busy node that rated power counts, up to 500 W"
            in " ".join(run.assumed))
    assert "rated power" not in " ".join(
        wl.simulate(log, machine=machine, power="block", cap="2.4kW").assumed)
    assumed = wl.simulate(log, machine=wl.Machine(nodes=8), power="block", cap="90%").assumed
    assert any(line.startswith("the cap is of rated power, for which a busy node is assumed to "
                               "draw 300 W") for line in assumed)


def test_a_twin_takes_the_same_percentages() -> None:
    twin = "examples/twin/twin.toml"
    free = wl.simulate(twin)
    runs = {cap: wl.simulate(twin, cap=cap) for cap in ("90%", "90%peak", "90%p50")}
    found = [free.machine.power_w_max, free.power_w_peak,
             {cap: float(run.cap_w.value[0]) for cap, run in runs.items()}]
    rated_w, peak_w, caps = found
    assert caps["90%"] == pytest.approx(0.9 * rated_w)
    assert caps["90%peak"] == pytest.approx(0.9 * peak_w)
    assert caps["90%p50"] <= caps["90%peak"]
