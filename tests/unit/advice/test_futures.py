"""The policy for the next hours, and the start of a job."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.printed import columns

import wattline as wl
from wattline.advice.futures.arrivals import WEEK_S, with_arrivals
from wattline.advice.futures.candidates import read_choices
from wattline.advice.futures.instants import instant_s
from wattline.advice.futures.policy import planned
from wattline.advice.futures.run_times import OVERDUE, RunTimes
from wattline.advice.futures.running import FIGURES, candidate_of, plan_of, stand_at
from wattline.advice.futures.self_tuning import Judged, _clearly_better, broken_limits
from wattline.advice.futures.side_by_side import figures_of_all
from wattline.cli.main import cli
from wattline.engine.prepare import Rules
from wattline.model.jobs import JobTable
from wattline.traces import Trace

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
MACHINE = wl.Machine(nodes=64, node_idle_w=90, node_active_w=300)


def table(requested_s: list[float], run_s: list[float], user: list[int]) -> JobTable:
    return JobTable.build(submit_s=np.arange(float(len(run_s))), run_s=run_s,
                          requested_s=requested_s, procs=[1] * len(run_s), user=user)


def test_run_times_are_drawn_from_what_the_same_user_did() -> None:
    history = table([100.0] * 40, [50.0] * 20 + [90.0] * 20, [1] * 20 + [2] * 20)
    jobs = table([1000.0] * 3, [0.0] * 3, [1, 2, 3])
    chances = np.linspace(0, 0.999, 101)
    drawn = np.array([RunTimes(history).draw(jobs, np.zeros(3), np.full(3, chance))
                      for chance in chances])
    assert set(drawn[:, 0]) == {500.0}
    assert set(drawn[:, 1]) == {900.0}
    assert set(drawn[:, 2]) == {500.0, 900.0}  # of a user without history, those of all


def test_a_job_that_runs_is_drawn_from_those_that_ran_longer() -> None:
    history = table([100.0] * 20, [float(part) for part in range(5, 105, 5)], [1] * 20)
    jobs = table([100.0] * 3, [0.0] * 3, [1, 1, 1])
    done_s = np.array([0.0, 52.0, 300.0])
    drawn = np.array([RunTimes(history).draw(jobs, done_s, np.full(3, chance))
                      for chance in np.linspace(0, 0.999, 200)])
    assert drawn[:, 0].min() == 5.0
    assert drawn[:, 1].min() == pytest.approx(55.0)
    assert drawn[:, :2].max() == 100.0
    assert set(drawn[:, 2]) == {300.0 + OVERDUE * 100.0}


def test_a_job_that_outlived_those_of_its_user_is_drawn_from_those_of_all() -> None:
    history = table([100.0] * 40, [10.0] * 20 + [60.0, 90.0] * 10, [1] * 20 + [2] * 20)
    jobs = table([100.0] * 2, [0.0] * 2, [1, 1])
    drawn = np.array([RunTimes(history).draw(jobs, np.array([0.0, 30.0]), np.full(2, chance))
                      for chance in np.linspace(0, 0.999, 101)])
    assert set(drawn[:, 0]) == {10.0}
    assert set(drawn[:, 1]) == {60.0, 90.0}


def test_without_history_jobs_run_as_long_as_they_asked_for() -> None:
    none = RunTimes(table([], [], []))
    assert none.draw(table([60.0], [1.0], [1]), np.zeros(1), np.zeros(1)).tolist() == [60.0]
    some = RunTimes(table([60.0], [30.0], [1]))
    assert some.draw(table([], [], []), np.zeros(0), np.zeros(0)).tolist() == []


def test_the_jobs_of_a_week_before_come_again() -> None:
    jobs = JobTable.build(submit_s=np.arange(0.0, 20 * 86400, 3600), run_s=np.ones(480),
                          procs=np.ones(480, int), job_id=np.arange(480))
    at_s = 10 * 86400.0
    found, _, came, said = with_arrivals(jobs, Rules(), at_s, at_s + 86400, "last-week")
    assert came == 241
    assert (found.submit_s[came:] - at_s).tolist() == [3600.0 * n for n in range(1, 25)]
    again_s = jobs.submit_s[found.job_id[came:]]
    assert (found.submit_s[came:] - again_s).tolist() == [WEEK_S] * 24
    assert "week before" in said
    long, rules, came, said = with_arrivals(
        jobs, Rules(logged={"energy_j": np.arange(480.0)}), at_s, at_s + 16 * 86400, "last-week")
    assert (long.submit_s[came:] - at_s).tolist() == [3600.0 * n for n in range(1, 16 * 24 + 1)]
    assert rules.logged["energy_j"].tolist() == long.job_id.tolist()
    assert set((long.submit_s - jobs.submit_s[long.job_id])[came:]) == {
        WEEK_S, 2 * WEEK_S, 3 * WEEK_S}
    assert "again 3 times" in said
    alone, _, _, said = with_arrivals(jobs, Rules(), 86400.0, 2 * 86400.0, "last-week")
    assert len(alone) == 25
    assert "no week of history" in said


def test_the_best_keeps_the_limits_and_refuses_no_more_than_others() -> None:
    trace = wl.generate("lublin", seed=1, jobs=150, nodes=64)
    found = wl.advise_policy(trace, at="50%", samples=3, machine=MACHINE, power="dvfs",
                             cap="14kW", candidates=["sjf", "power=block", "cap=12kW"],
                             limits=["power_w.peak <= 12e3"])
    by_name = {each.name: each for each in found.candidates}
    assert by_name["as it is"].breaks["power_w.peak <= 12e3"] == 1.0
    assert by_name["cap=12kW"].breaks["power_w.peak <= 12e3"] == 0.0
    assert found.best == "cap=12kW"
    again = wl.advise_policy(trace, at="50%", samples=3, machine=MACHINE, power="dvfs",
                             cap="14kW", candidates=["sjf", "power=block", "cap=12kW"],
                             limits=["power_w.peak <= 1"])
    assert again.best is None


@pytest.mark.parametrize(("given", "said"), [
    ({"at": "50%", "candidates": ["fastest"]}, "is no policy"),
    ({"at": "50%", "candidates": ["speed=3"]}, "neither a policy"),
    ({"at": "50%", "objective": "joules"}, "no figure 'joules'"),
    ({"at": "50%", "limits": ["energy_j"]}, "is no constraint"),
    ({"at": "2024-02-01"}, "the run has no dates"),
    ({"at": "soon"}, "soon"),
    ({"at": "50%", "horizon": 0}, "above 0"),
    ({"at": "50%", "samples": 0}, "1 to 100,000"),
    ({"at": "50%", "arrivals": "many"}, "one of last-week"),
    ({"at": -5.0}, "before the first"),
    ({"at": "200%"}, "beyond the last submission"),
    ({"at": "50%", "candidates": ["machine.nodes=32"]}, "candidate 'machine.nodes=32'.*cannot"),
    ({"at": "50%", "candidates": ["sjf trace.seed=3"]}, "trace.seed cannot be changed while"),
    ({"at": "50%", "candidates": ["power.idle_fraction=0.5"]}, "idle_fraction cannot be changed"),
    ({"at": "50%", "candidates": ["power.watts=5"]}, "candidate 'power.watts=5'"),
    ({"at": "50%", "candidates": ["sjf wfp"]}, "order is both 'sjf' and 'wfp'"),
    ({"at": "50%", "candidates": ["order=wfp order=sjf"]}, "order is both 'wfp' and 'sjf'"),
    ({"at": "50%", "candidates": ["power=none cap=80%"]}, "'power=none cap=80%': .* keeps no cap"),
])
def test_a_mistake_is_said_in_one_line(given: dict[str, object], said: str) -> None:
    trace = wl.generate("lublin", seed=1, jobs=30, nodes=64)
    with pytest.raises(wl.InputError, match=said) as caught:
        wl.advise_policy(trace, machine=MACHINE, **{"samples": 1, **given})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("horizon_h", [6, 24, 72])
def test_not_to_start_a_short_job_is_no_gain_in_slowdown(horizon_h: int) -> None:
    """Its user takes a sixtieth of what is asked for: ten minutes of ten hours. Behind a job of 30
    hours it has the worse slowdown, however far the look goes."""
    history = [(1300.0 * at, 600.0, 36_000.0, 2, 1) for at in range(40)] + [
        (60_000 + 1300.0 * at, 1200.0, 1200.0, 2, 2) for at in range(40)]
    waiting = [(120_000.0, 3610.0, 3610.0, 2, 2), (120_005.0, 600.0, 36_000.0, 1, 1),
               (120_008.0, 108_000.0, 108_000.0, 2, 2), (500_000.0, 10.0, 10.0, 1, 2)]
    submit_s, run_s, requested_s, procs, user = zip(*history, *waiting, strict=True)
    jobs = JobTable.build(submit_s=submit_s, run_s=run_s, requested_s=requested_s, procs=procs,
                          user=user)
    found = wl.advise_policy(
        Trace(jobs, source="made"), machine=wl.Machine(nodes=2, node_idle_w=90,
                                                       node_active_w=300),
        at=120_011, candidates=["largest"], objective="bounded_slowdown", arrivals="none",
        samples=5, horizon=f"{horizon_h}h")
    as_it_is, largest = (each["figures"]["bounded_slowdown.mean"]
                         for each in found.to_dict()["candidates"])
    assert as_it_is == pytest.approx(4.024, abs=0.01)
    assert largest > 3 * as_it_is


def test_threads_share_the_work_and_change_no_digit() -> None:
    trace = wl.generate("lublin", seed=1, jobs=80, nodes=64)
    asked_s = trace.jobs.run_s * (1 + np.arange(80) % 3)
    trace = replace(trace, jobs=trace.jobs.with_columns(requested_s=asked_s))
    ready = planned(trace, {"machine": MACHINE, "power": "dvfs", "cap": "14kW"}, False)
    now = stand_at(ready, instant_s("50%", ready), 86400.0, "hindsight")
    choices = read_choices(["sjf", "block", "cap=12kW"], ready.scenario)
    draws = now.draws(5, seed=3)
    told: list[int] = []
    alone, shared = (
        figures_of_all(now, [candidate_of(now, each)[0] for each in choices], draws, told.append,
                       threads=threads) for threads in (1, 3))
    assert shared == alone
    assert len(alone) == 4
    assert len({row["energy_j"] for row in alone[0]}) > 1
    assert told == [1, 2, 3, 4] * 2


def test_the_start_of_a_job_is_a_distribution_that_holds_what_happened() -> None:
    trace = wl.generate("lublin", seed=3, jobs=150, nodes=64)
    run = wl.simulate(trace, machine=MACHINE)
    at_s = float(trace.jobs.submit_s[100])
    waits = np.flatnonzero((trace.jobs.submit_s <= at_s) & (run.schedule.start_s > at_s))
    row = int(waits[-1])
    found = wl.advise_start(int(trace.jobs.job_id[row]), trace, at=at_s, samples=8,
                            machine=MACHINE, price="0.3EUR")
    assert found.start_s["p10"] <= found.start_s["p50"] <= found.start_s["p90"]
    assert list(found.by.values()) == sorted(found.by.values())
    assert found.cost is not None
    assert found.currency == "EUR"
    assert found.cost["p50"] == pytest.approx(found.energy_j["p50"] / 3.6e6 * 0.3)
    running = int(np.flatnonzero((run.schedule.start_s <= at_s) & (run.schedule.end_s > at_s))[0])
    with pytest.raises(wl.InputError, match="it runs"):
        wl.advise_start(int(trace.jobs.job_id[running]), trace, at=at_s, machine=MACHINE)


def test_a_job_that_has_not_come_is_known_in_hindsight_alone() -> None:
    trace = wl.generate("lublin", seed=3, jobs=150, nodes=64)
    at_s, job = float(trace.jobs.submit_s[100]), int(trace.jobs.job_id[110])
    found = wl.advise_start(job, trace, at=at_s, samples=4, arrivals="hindsight", machine=MACHINE)
    assert found.state == "to come"
    assert found.start_s["p10"] >= trace.jobs.submit_s[110] - at_s
    for arrivals in ("none", "last-week"):
        with pytest.raises(wl.InputError, match=r"does not wait .* it comes at .* hindsight"):
            wl.advise_start(job, trace, at=at_s, samples=1, arrivals=arrivals, machine=MACHINE)
    for other, said in ((int(trace.jobs.job_id[0]), "it is over"), (9999, "has no such job")):
        with pytest.raises(wl.InputError, match=said):
            wl.advise_start(other, trace, at=at_s, samples=1, machine=MACHINE)


def test_jobs_that_were_refused_are_no_history() -> None:
    """They would have run much shorter than they asked for, and never ran."""
    jobs = wl.JobTable.build(
        submit_s=np.arange(40.0), run_s=np.where(np.arange(40) % 2, 90.0, 1.0),
        requested_s=np.full(40, 100.0), procs=np.where(np.arange(40) % 2, 1, 60))
    machine = wl.Machine(nodes=64, node_idle_w=90, node_active_w=300)
    # Sixty nodes at work draw more than the cap has room for: every second job is refused.
    ready = planned(jobs, {"machine": machine, "power": "block", "cap": "12kW"}, False)
    now = stand_at(ready, 5000.0, 3600.0, "none")
    assert now.run_times.count == 20
    assert np.unique(now.moment.ended % 2).tolist() == [1]


def test_the_commands_print_what_python_gives() -> None:
    asked = ["--at", "60%", "--samples", "2", "--json", "--draw-seed", "5"]
    said = CliRunner().invoke(cli, ["advise", "policy", "examples/week.toml", "--candidates",
                                    "sjf,largest", *asked])
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)
    assert [each["name"] for each in found["candidates"]] == ["as it is", "sjf", "largest"]
    own = wl.advise_policy("examples/week.toml", at="60%", samples=2, seed=5,
                           candidates=["sjf", "largest"])
    assert [each.means["energy_j"] for each in own.candidates] == [
        each["figures"]["energy_j"] for each in found["candidates"]]


def test_a_supervisor_is_measured_beside_every_fixed_policy() -> None:
    trace = wl.generate("lublin", seed=1, jobs=120, nodes=64)
    found = wl.self_tune(trace, machine=MACHINE, candidates=["sjf", "largest"], every="4h",
                         samples=2, arrivals="none")
    assert set(found.values) == {"as it is", "sjf", "largest", "self-tuning"}
    for name, order in (("as it is", "fcfs"), ("sjf", "sjf")):
        alone = wl.simulate(trace, machine=MACHINE, order=order)
        assert found.values[name] == alone.metrics()["wait_s"]["mean"]
    assert found.values["self-tuning"] == found.run.metrics()["wait_s"]["mean"]
    assert found.regret == pytest.approx(
        found.values["self-tuning"] / min(found.values[name] for name in
                                          ("as it is", "sjf", "largest")) - 1)
    assert found.switches, "shortest first is better here, and it begins with first come"
    assert int(found.run.ran.sum()) == 120


def test_a_supervisor_never_takes_a_policy_that_would_exceed_the_cap() -> None:
    trace = wl.generate("lublin", seed=1, jobs=120, nodes=64)
    found = wl.self_tune(trace, machine=MACHINE, power="dvfs", cap="14kW", every="2h", samples=1,
                         candidates=["block", "wait", "order=sjf"], arrivals="hindsight")
    assert found.decisions > 5
    assert found.run.time_above_cap_s == 0.0
    assert (found.run.ran | found.run.refused).all()


def test_a_candidate_with_a_cap_alone_has_somebody_who_keeps_it() -> None:
    trace = wl.generate("lublin", seed=1, jobs=150, nodes=64)
    found = wl.advise_policy(trace, at="50%", samples=2, machine=MACHINE,
                             candidates=["cap=12kW", "power=block cap=12kW"])
    by_name = {each.name: each for each in found.candidates}
    assert by_name["cap=12kW"].changes["policy.power"] == "dvfs"
    assert by_name["cap=12kW"].means["power_w.peak"] <= 12e3
    assert by_name["power=block cap=12kW"].changes["policy.power"] == "block"
    assert [line for line in found.assumed if "'dvfs' keeps its cap" in line] == [
        "candidate 'cap=12kW' names no power policy: 'dvfs' keeps its cap"]


@pytest.mark.parametrize(("text", "cap"), [
    ("sjf+dvfs+cap=1.0e+4", 1e4), ("cap=1e+4 sjf", 1e4), ("cap=2E+4+sjf", 2e4),
    ("sjf + cap=9kW + wait", "9kW"), ("cap=70%+sjf", "70%")])
def test_the_sign_of_an_exponent_does_not_end_a_part_of_a_candidate(text: str, cap: object) -> None:
    ready = planned(wl.generate("lublin", seed=1, jobs=20, nodes=32), {"machine": MACHINE}, False)
    choice = read_choices([text], ready.scenario)[1]
    assert choice.changes["power.cap"] == cap
    assert choice.changes["policy.order"] == "sjf"


def test_a_candidate_has_tables_and_lists_as_an_axis_has_them() -> None:
    ready = planned(wl.generate("lublin", seed=1, jobs=20, nodes=32), {"machine": MACHINE}, False)
    texts = ['sjf,order={name="wfp", exponent=2} cap=9kW,largest', "dvfs power.levels=[0.5, 1.0]"]
    choices = read_choices(texts, ready.scenario)[1:]
    assert [choice.changes for choice in choices] == [
        {"policy.order": "sjf"},
        {"policy.order": {"name": "wfp", "exponent": 2}, "power.cap": "9kW",
         "policy.power": "dvfs"},
        {"policy.order": "largest"},
        {"policy.power": "dvfs", "power.levels": [0.5, 1.0]}]


@pytest.mark.parametrize(("at", "seconds"), [("01:30:00", 5400.0), ("90m", 5400.0),
                                             ("1-02:00:00", 93600.0), ("2026-07-08", None),
                                             ("01:30:00Z", None)])
def test_hours_and_minutes_are_no_date(at: str, seconds: float | None) -> None:
    jobs = wl.JobTable.build(submit_s=[0.0, 9000.0], run_s=[10.0, 10.0], procs=[1, 1])
    ready = planned(jobs, {"machine": MACHINE}, False)
    if seconds is not None:
        assert instant_s(at, ready) == seconds
    else:
        with pytest.raises(wl.InputError, match=r"is a date, and the run has no|is not a time"):
            instant_s(at, ready)


def test_time_above_the_cap_has_a_column_where_there_is_any() -> None:
    asked = ["advise", "policy", "examples/week.toml", "--at", "68%", "--samples", "1"]
    above, below = (CliRunner().invoke(cli, [*asked, "--candidates", candidate]).output
                    for candidate in ("power=block cap=12kW", "sjf"))
    assert columns(above, "candidate", "mean wait", "slowdown", "started", "energy", "peak",
                   "above the cap") == [
        ("as it is *", "5.66 h", "2.542", "4", "249.5 kWh", "17.8 kW", "0 s"),
        ("power=block cap=12kW", "19.7 h", "6.435", "4", "249.4 kWh", "14.4 kW", "3.11 h")]
    assert "above the cap" not in below


def test_an_instant_of_a_log_with_unix_times() -> None:
    jobs = wl.JobTable.build(submit_s=[1783504800.0, 1783594800.0], run_s=[10.0, 10.0],
                             procs=[1, 1])
    ready = planned(jobs, {"machine": MACHINE}, False)
    for at in ("6h", 21600, "2026-07-08T16:00:00", "2026-07-08T18:00+02:00", 1783526400.0, "24%"):
        assert instant_s(at, ready) == 1783526400.0
    with pytest.raises(wl.InputError, match=r"at: 2026-07-07 is .*, before the first submission"):
        instant_s("2026-07-07", ready)


def test_an_instant_after_the_last_submission_is_said() -> None:
    trace = wl.generate("lublin", seed=1, jobs=30, nodes=64)
    at_s = float(trace.jobs.submit_s[-1])
    later, then = (wl.advise_policy(trace, at=at_s + more_s, samples=1, machine=MACHINE,
                                    candidates=["sjf"]).assumed for more_s in (7200.0, 0.0))
    assert "the log ends 2 h before: its last job came then" in later
    assert not any("the log ends" in line for line in then)


def test_what_is_beyond_the_horizon_is_not_known() -> None:
    drawn = wl.generate("lublin", seed=3, jobs=150, nodes=64)
    asked_s = drawn.jobs.run_s + (np.arange(150) == 0)  # so that requests are known
    trace = replace(drawn, jobs=drawn.jobs.with_columns(requested_s=asked_s))
    run = wl.simulate(trace, machine=MACHINE)
    at_s = float(trace.jobs.submit_s[100])
    row = int(np.flatnonzero((trace.jobs.submit_s <= at_s) & (run.schedule.start_s > at_s))[-1])
    job, wait_s = int(trace.jobs.job_id[row]), float(run.schedule.start_s[row]) - at_s
    asked = {"at": at_s, "samples": 2, "machine": MACHINE, "arrivals": "hindsight"}
    short, enough = (wl.advise_start(job, trace, horizon=horizon_s, **asked)
                     for horizon_s in (0.5 * wait_s, wait_s + 1.0))
    within = {"10min": 600, "1h": 3600, "6h": 6 * 3600, "24h": 86400}
    assert short.by == {text: None if length_s > 0.5 * wait_s else 0.0
                        for text, length_s in within.items()}
    assert enough.by == {text: float(wait_s <= length_s) for text, length_s in within.items()}


def test_a_supervisor_keeps_limits_where_a_candidate_does() -> None:
    trace = wl.generate("lublin", seed=1, jobs=70, nodes=64)
    asked = {"machine": MACHINE, "candidates": ["cap=14kW", "sjf"], "every": "4h", "samples": 2,
             "arrivals": "hindsight"}
    free = wl.self_tune(trace, **asked)
    held = wl.self_tune(trace, **asked, limits=["power_w.peak <= 14e3"])
    assert "cap=14kW" not in {each.to for each in free.switches}
    assert held.switches[0].to == "cap=14kW"
    assert (free.best_fixed, held.best_fixed) == ("sjf", "cap=14kW")
    assert held.left_out["sjf"] == "it breaks power_w.peak <= 14e3"
    assert tuple(wl.advise_policy(trace, at="50%", samples=1, machine=MACHINE,
                                  candidates=["sjf"]).candidates[0].means) == FIGURES
    with pytest.raises(wl.InputError, match="no figure 'watts' of a look ahead; there are: wait"):
        wl.self_tune(trace, **asked, limits=["watts <= 5"])
    with pytest.raises(wl.InputError, match=r"'jobs\.waiting' of a whole run.*both have: wait_s"):
        wl.self_tune(trace, **asked, objective="jobs.waiting")


def test_the_machine_is_the_same_one_for_every_candidate() -> None:
    trace = wl.generate("lublin", seed=1, jobs=30, nodes=64)
    ready = planned(trace, {"machine": MACHINE, "power": "dvfs", "cap": "14kW"}, False)
    _, policy, cap, levels = (plan_of(ready, each).machine for each in read_choices(
        ["sjf order=sjf", "cap=12kW", "power.latency_s=3"], ready.scenario))
    assert policy is cap is levels is ready.machine
    plain = wl.Result.of(ready.plain_run())
    assert plain.metrics(flat=True) == pytest.approx(ready.run().metrics(flat=True), nan_ok=True)


def test_a_job_that_is_killed_at_its_limit_uses_nothing_after_it() -> None:
    count = 60
    trace = wl.Trace(JobTable.build(
        submit_s=np.arange(count) * 800.0, run_s=[3000.0] * count, job_id=np.arange(count),
        requested_s=[1000.0] * count, procs=[40] * count, user=[1] * count))
    limit_j = 1000.0 * 40 * 300
    free, killed = (wl.advise_start(count - 1, trace, at="100%", samples=5, machine=MACHINE,
                                    arrivals="none", policy__overrun=overrun)
                    for overrun in ("extend", "kill"))
    assert free.energy_j["p10"] == pytest.approx(3 * limit_j)
    assert killed.energy_j["p90"] == pytest.approx(limit_j)


def test_what_is_no_number_neither_wins_nor_keeps_a_limit() -> None:
    trace = wl.generate("lublin", seed=1, jobs=60, nodes=64)
    asked = {"machine": MACHINE, "candidates": ["sjf"], "samples": 2}
    # No job is ever refused there: a division by that has no value.
    none = wl.advise_policy(trace, at="50%", objective="1 / jobs.refused", **asked)
    assert none.best is None
    assert "is no number under any candidate" in none.why_none
    assert any("no number under as it is, sjf" in line for line in none.assumed)
    held = wl.advise_policy(trace, at="50%", limits=["1 / jobs.refused <= 5"], **asked)
    assert [each.breaks["1 / jobs.refused <= 5"] for each in held.candidates] == [1.0, 1.0]
    assert (held.best, held.why_none) == (None, "no candidate keeps the limits")


def test_a_supervisor_takes_a_number_before_none() -> None:
    unknown, known = Judged(False, 0.0, 0.0, np.inf), Judged(False, 0.0, 0.0, 7.0)
    assert _clearly_better(known, unknown)
    assert not _clearly_better(unknown, known)
    assert not _clearly_better(unknown, unknown)
    assert broken_limits({"a": np.nan, "time_above_cap_s": np.nan},
                         ["a <= 1", "b <= 1", "time_above_cap_s <= 0"]) == ["a <= 1"]
