"""A cap is kept by somebody, or only watched, and which of the two is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.analysis.describe import sentences
from wattline.cli.compare import command as compare
from wattline.cli.main import cli, main
from wattline.cli.simulate import command as simulate
from wattline.model.errors import InputError
from wattline.model.run_clock import RunClock
from wattline.policies.going_together import KEEPERS
from wattline.scenario.caps import in_watts
from wattline.scenario.model import CapStep

EXAMPLES = Path(__file__).parents[3] / "examples"
TINY = str(EXAMPLES / "tiny.swf")


class AllAtOnce:
    """Starts whatever fits, whatever the cap."""

    def decide(self, view):
        free = view.free
        for job in view.queue:
            if job.units > free:
                return
            free -= job.units
            yield wl.Start(job.job)


def asked(*arguments: str) -> dict:
    result = CliRunner().invoke(simulate, ["--trace", TINY, *arguments, "--json", "--no-folder"],
                                catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_cap_that_nothing_keeps_is_refused_with_the_choices(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(f'[trace]\nfile = "{TINY}"\n[power]\ncap = "2kW"\n')
    for arguments in (["simulate", "--trace", TINY, "--cap", "2kW"], ["simulate", str(scenario)]):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2
        said = capsys.readouterr().err
        assert len(said.splitlines()) == 1
        assert "power.cap: nothing keeps it" in said
        assert "block, wait, dvfs, watts, adaptive" in said
        assert "--watch-cap" in said
    with pytest.raises(InputError, match="nothing keeps it"):
        wl.simulate(trace=TINY, power__cap="2kW")


def test_every_policy_that_is_offered_keeps_the_cap() -> None:
    # In plain Python: only for this, five combinations would be compiled.
    runs = {name: wl.simulate(trace=TINY, policy__power=name, machine__nodes=8,
                              machine__cores_per_node=8, power__cap=2000) for name in KEEPERS}
    found = {name: (run.time_above_cap_s, run.power_w_peak) for name, run in runs.items()}
    assert set(found) == set(KEEPERS)
    for above_s, peak_w in found.values():
        assert above_s == 0
        assert 720 < peak_w <= 2000 * (1 + 1e-9)


def test_a_watched_cap_changes_nothing_and_is_measured(tmp_path: Path) -> None:
    free, watched = asked(), asked("--watch-cap", "2kW")
    assert watched["metrics"]["time_above_cap_s"] > 0
    for name in ("wait_s", "energy_j", "power_w", "makespan_s"):
        assert watched["metrics"][name] == free["metrics"][name]
    text = CliRunner().invoke(simulate, ["--trace", TINY, "--watch-cap", "2kW", "-o",
                                         str(tmp_path / "run")], catch_exceptions=False).stdout
    assert "time above watched cap" in text
    run = wl.simulate(tmp_path / "run" / "scenario.toml")
    assert run.watched
    said = " ".join(sentences(run, wl.metrics(run)))
    assert "The power cap that is watched is 2 kW all the time; it is measured against" in said


def test_without_a_cap_nothing_is_said_of_one() -> None:
    assert asked()["metrics"]["time_above_cap_s"] is None
    text = CliRunner().invoke(simulate, ["--trace", TINY, "--no-folder"]).stdout
    assert "peak power" in text
    assert "above" not in text


@pytest.mark.parametrize(("fields", "said"), [
    ({"power__cap": 2000, "power__watch_cap": 2000}, "give either 'cap'"),
    ({"power__watch_cap": 2000, "policy__power": "dvfs"}, "would take it for a cap"),
    ({"power__watch_cap": 2000, "policy": AllAtOnce()}, "would take it for a cap"),
    ({"power__watch_cap": "much"}, "power.watch_cap: 'much' is neither watts nor"),
    ({"power__watch_cap": []}, "power.watch_cap: the list of steps is empty"),
])
def test_a_watched_cap_that_would_be_kept_is_refused(fields: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        wl.simulate(trace=TINY, **fields)


def test_a_policy_in_python_has_the_cap_and_the_business_of_keeping_it() -> None:
    run = wl.simulate(trace=TINY, policy=AllAtOnce(), power__cap="2kW")
    assert run.time_above_cap_s > 0
    assert ("power.cap: keeping it is the business of the policy AllAtOnce, which sees it in "
            "view.cap_w") in run.remarks
    assert wl.simulate(EXAMPLES / "slow_down.toml").time_above_cap_s == 0


def test_caps_can_be_varied_kept_or_watched(tmp_path: Path) -> None:
    for field, more in (("power.cap", ["--power-policy", "dvfs"]), ("power.watch_cap", [])):
        result = CliRunner().invoke(
            compare, ["--trace", TINY, "--vary", f"{field}=80%peak,90%peak", *more, "--json",
                      "--no-report", "-o", str(tmp_path / field)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        above = [run["metrics"]["time_above_cap_s"]
                 for run in json.loads(result.stdout)["runs"].values()]
        assert (above == [0, 0]) if more else (above[0] >= above[1] > 0)


def test_a_file_beside_the_scenario_can_be_watched(tmp_path: Path) -> None:
    (tmp_path / "cap.csv").write_text("seconds,watts\n0,2000\n")
    (tmp_path / "s.toml").write_text(f'[trace]\nfile = "{TINY}"\n[power]\nwatch_cap = "cap.csv"\n')
    run = wl.simulate(tmp_path / "s.toml")
    assert run.time_above_cap_s == wl.simulate(trace=TINY, power__watch_cap=2000).time_above_cap_s
    assert run.scenario["power"]["watch_cap"] == str(tmp_path / "cap.csv")


def test_setting_a_cap_that_nothing_keeps_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text('[trace]\ngenerate = "esp2"\n[machine]\nnodes = 16\n')
    with pytest.raises(SystemExit) as stop:
        main(["power", "set", str(scenario), "--cap", "3kW"])
    assert stop.value.code == 0
    assert "note: nothing keeps this cap yet" in capsys.readouterr().err


def test_no_cap_can_be_varied_beside_caps_and_needs_no_power_policy(tmp_path: Path) -> None:
    # In plain Python: only for this, another combination would be compiled.
    def runs(*arguments):
        printed = CliRunner().invoke(cli, ["compare", TINY, "-o", str(tmp_path / "c"),
                                           "--no-report", "--json", *arguments],
                                     catch_exceptions=False)
        return json.loads(printed.stdout)["runs"]
    caps = "power.cap=none,90%peak,80%peak"
    found = [runs("--vary", caps, "--power-policy", "dvfs"), runs()]
    varied, (free,) = found[0], found[1].values()
    none, *capped = varied.values()
    peak_w = free["metrics"]["power_w"]["peak"]
    cleaned = free["remarks"]
    # Beside runs with a cap it is measured against theirs; alone against none.
    above = ("time_above_cap_s", "energy_above_cap_j", "above_cap_of", "remarks")
    assert none["metrics"].pop("above_cap_of").endswith("cap 90%peak")
    assert {name: value for name, value in none["metrics"].items() if name not in above} == {
        name: value for name, value in free["metrics"].items() if name not in above}
    assert next(iter(varied)).endswith("cap none")
    left_out = "power.cap is none: the power policy 'dvfs' has nothing to keep and is left out"
    assert sorted(none["remarks"]) == sorted([*cleaned, left_out])
    for share, run in zip((0.9, 0.8), capped, strict=True):
        assert run["remarks"] == cleaned
        assert run["metrics"]["power_w"]["peak"] <= share * peak_w * (1 + 1e-9)


def test_no_cap_is_the_same_as_saying_nothing_of_it() -> None:
    said, silent = asked("--cap", "none"), asked()
    assert said["metrics"] == silent["metrics"]
    assert said["metrics"]["time_above_cap_s"] is None


def _not_run(percent: float) -> float:
    raise AssertionError("no run without a cap is needed")


@pytest.mark.parametrize(("cap", "watts"), [
    ("1W", 1.0), ("0.5 W", 0.5), ("0.001kW", 1.0), ("70%", 7e5), (" 12.5 % ", 1.25e5),
    ("70%rated", 7e5), ("150", 150.0), (150, 150.0), (2.5e4, 2.5e4)])
def test_watts_and_per_cent_of_rated_power_need_no_run(cap: float | str, watts: float) -> None:
    assert in_watts("power.cap", cap, 1e6, _not_run, RunClock()).value.tolist() == [watts]


@pytest.mark.parametrize(("cap", "asked", "watts"), [
    ("70%peak", 100.0, 350.0), ("70%p99", 99.0, 350.0), ("50 %p5", 5.0, 250.0)])
def test_per_cent_of_the_run_without_a_cap(cap: str, asked: float, watts: float) -> None:
    seen = []
    found = in_watts("power.cap", cap, 1e6, lambda percent: seen.append(percent) or 500.0,
                     RunClock())
    assert (found.value.tolist(), seen) == ([watts], [asked])


@pytest.mark.parametrize(("cap", "said"), [
    (0.7, "write 70% of rated power, 70%peak of the peak without a cap, or 0.7W"),
    ("0.7", "write 70% of rated power"), (1, "write 100% of rated power"),
    ("2", "write 2% of rated power, 2%peak of the peak without a cap, or 2W"),
    (70, "write 70% of rated power"), ("100", "or 100W"), ("70%mean", "70%p99"),
    ("0%", "above 0 %"), ("120%peak", "at most 100 %"), ("70%p0", "70%p99"), ("-5kW", "positive"),
    (float("nan"), "positive"), ("1e400W", "neither watts")])
def test_what_may_be_watts_or_per_cent_is_refused(cap: float | str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        in_watts("power.cap", cap, 1e6, _not_run, RunClock())


@pytest.mark.parametrize(("last_w", "named"), [(1200.0, True), (1600.0, False)])
@pytest.mark.parametrize("power", ["block", "wait"])
def test_a_job_that_a_fallen_cap_keeps_for_ever_is_named(
    tmp_path: Path, power: str, last_w: float, named: bool
) -> None:
    """Eight nodes draw 720 W idle. Job 1 came when 2 kW held, and all nodes were busy."""
    table = tmp_path / "jobs.csv"
    table.write_text("job_id,submit_s,run_s,requested_s,procs,power_w\n9,0,10,10,8,1600\n"
                     "1,2,300,300,4,1200\n2,3,20,60,1,300\n3,20,20,60,1,300\n")
    scenario = tmp_path / "falls.toml"
    scenario.write_text(
        f'[trace]\nfile = "{table}"\n[machine]\nnodes = 8\nnode_idle_w = 90\n'
        f'node_active_w = 300\n[policy]\npower = "{power}"\n[power.cap]\nwatts = 2000\n'
        f'[[power.cap.changes]]\nat = 5\nwatts = {last_w}\n')
    result = CliRunner().invoke(simulate, [str(scenario), "--no-folder"], catch_exceptions=False)
    said = result.stderr
    sentence = ("job 1 does not fit under the last cap, 1.2 kW, even on an empty machine, which "
                "would draw 1.56 kW with it, and nobody behind it passes")
    assert (sentence in said) == (named and power == "block")
    assert ("never ran" in said) == named


@pytest.mark.parametrize(("cap", "watts"), [("50%peak", 600.0), ("100%peak", 1200.0),
                                            ("100%p80", 600.0), ("100%p95", 1200.0)])
def test_a_part_of_a_percentile_is_of_what_is_exceeded_for_the_rest_of_the_time(
    tmp_path: Path, cap: str, watts: float
) -> None:
    """Four nodes: 600 W for 90 s with one of them busy, and 1,200 W for 10 s with all."""
    log = tmp_path / "jobs.csv"
    log.write_text("job_id,submit_s,run_s,requested_s,procs\n1,0,90,90,1\n2,0,10,10,4\n")
    run = wl.simulate(log, machine=wl.Machine(nodes=4, node_idle_w=100, node_active_w=300),
                      watch_cap=cap)
    assert run.cap_w is not None
    assert run.cap_w.value.tolist() == [pytest.approx(watts)]


@pytest.mark.parametrize(("second_s", "rises"), [(9.0, False), (10.0, False), (11.0, True)])
def test_steps_of_a_cap_rise_in_time(second_s: float, rises: bool) -> None:
    steps = (CapStep(time_s=10.0, watts=900.0), CapStep(time_s=second_s, watts=800.0))
    if rises:
        assert in_watts("power.cap", steps, 1200.0, None, RunClock()).at(second_s) == 800.0
    else:
        with pytest.raises(InputError, match="must rise in time"):
            in_watts("power.cap", steps, 1200.0, None, RunClock())


@pytest.mark.parametrize(("cap_w", "kept"), [(399.0, False), (400.0, True), (401.0, True)])
def test_a_cap_may_be_what_the_idle_machine_draws(tmp_path: Path, cap_w: float, kept: bool) -> None:
    """A job of 100 W on one of four nodes adds nothing to it."""
    log = tmp_path / "jobs.csv"
    log.write_text("job_id,submit_s,run_s,requested_s,procs,power_w\n1,0,90,90,1,100\n")

    def run() -> wl.Run:
        return wl.simulate(log, machine=wl.Machine(nodes=4, node_idle_w=100, node_active_w=300),
                           cap=cap_w, power="watts")

    if kept:
        assert run().schedule.start_s.tolist() == [0.0]
    else:
        with pytest.raises(InputError, match="below the idle power"):
            run()
