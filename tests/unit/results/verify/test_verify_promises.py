"""The checker of runs on what was promised: frequencies, reservations, caps, windows, budgets."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.support.choices import planned
from tests.support.run_maker import changed, fcfs_run

from wattline.analysis import rundir
from wattline.model.jobs import JobTable
from wattline.model.promises import EnergyPeriods, Frequencies, PowerShares, Promises
from wattline.model.reservation import Reservation
from wattline.model.run import EventKind, Run
from wattline.model.signal import Signal
from wattline.results.verify.judge import verify

NOBODY = {"low_hz": np.zeros(3), "high_hz": np.full(3, 9e9)}


def sentences(run: Run, part: str) -> list[str]:
    return [sentence for sentence in verify(run).sentences if part in sentence]


def three_jobs() -> Run:
    """Four nodes, 100 W idle and 250 W busy. Jobs of 2, 2 and 4 nodes, asked for at 0, 0 and 10 s:
    the first two run from 0 to 40 s and from 0 to 60 s, the third from 60 s to 100 s. They asked
    for exactly that. 1,000 W, from 40 s on 700 W, from 60 s on 1,000 W.
    """
    jobs = JobTable.build(submit_s=[0, 0, 10], run_s=[40, 60, 40], requested_s=[40, 60, 40],
                          procs=[2, 2, 4])
    return fcfs_run(jobs, nodes=4)


def under(run: Run, **promised: Any) -> Run:
    return replace(run, promises=Promises(**promised))


def ladder(**ranges: Any) -> Frequencies:
    """Half speed for 1 GHz, and for a third of the power above idle."""
    return Frequencies(np.array([1e9, 2e9]), np.array([0.5, 1.0]), np.array([1 / 3, 1.0]),
                       **(NOBODY | ranges))


def slowed(run: Run, job: int) -> Run:
    """The same log with less power for a job, as if it ran at the lower frequency; not its time."""
    log = run.events
    start = int(np.flatnonzero((log.kind == EventKind.START) & (log.job == job))[0])
    value = log.value.copy()
    nodes = run.schedule.nodes[job]
    value[start] = nodes * 100.0 + nodes * 150.0 / 3
    return changed(run, "events", value=value)


def test_the_run_itself_is_good() -> None:
    run = three_jobs()
    assert run.schedule.start_s.tolist() == [0, 0, 60]
    assert verify(run).sentences == []


# ---- frequencies -----------------------------------------------------------------------------


def test_jobs_at_full_speed_are_within_a_range_that_has_it() -> None:
    assert verify(under(three_jobs(), frequencies=ladder())).sentences == []


def test_a_job_above_the_frequency_that_it_allows_is_reported() -> None:
    high_hz = np.array([9e9, 1e9, 9e9])
    found = sentences(under(three_jobs(), frequencies=ladder(high_hz=high_hz)), "outside the range")
    assert len(found) == 1
    assert found[0].startswith("jobs 2 ")


def test_a_job_below_the_frequency_that_it_allows_is_reported() -> None:
    low = under(slowed(three_jobs(), 1), frequencies=ladder(low_hz=np.array([0, 2e9, 0])))
    assert len(sentences(low, "outside the range")) == 1
    assert not sentences(under(slowed(three_jobs(), 1), frequencies=ladder()), "outside the range")


def test_a_job_that_draws_little_and_runs_at_full_speed_is_reported() -> None:
    found = sentences(under(slowed(three_jobs(), 1), frequencies=ladder()), "sooner than")
    assert len(found) == 1
    assert found[0].startswith("jobs 2 ")


def test_a_power_between_two_frequencies_is_reported() -> None:
    log = three_jobs().events
    value = np.where((log.kind == EventKind.START) & (log.job == 2), 900.0, log.value)
    run = under(changed(three_jobs(), "events", value=value), frequencies=ladder())
    assert sentences(run, "jobs 3 draw a power that none of the frequencies gives")


def test_a_frequency_that_the_cores_lack_means_the_nearest() -> None:
    asked = ladder(low_hz=np.array([1.1e9, 0.0, 5e9]), high_hz=np.array([1.2e9, 1.5e9, 6e9]))
    low_hz, high_hz = asked.allowed()
    assert low_hz.tolist() == [1e9, 1e9, 2e9]
    assert high_hz.tolist() == [1e9, 1e9, 2e9]


def test_a_strategy_that_leaves_jobs_fast_leaves_them_the_highest_that_they_allow() -> None:
    low_hz, high_hz = ladder(high_hz=np.array([1e9, 9e9, 9e9]), least_hz=np.inf).allowed()
    assert low_hz.tolist() == high_hz.tolist() == [1e9, 2e9, 2e9]


# ---- shares of the cap ------------------------------------------------------------------------


@pytest.mark.parametrize(("weight", "least_w", "found"), [
    (1.0, 0.0, []), (0.99, 0.0, ["jobs 3 are started with more power than their share of the cap"]),
    (0.99, 1000.0, [])])
def test_a_job_above_its_share_of_the_cap_is_reported(
    weight: float, least_w: float, found: list[str]
) -> None:
    """1,000 W for four nodes are 250 W for each, which is what a busy one draws. Job 3 may have
    less, or draws no less in any case. All of them have a configuration."""
    run = capped(three_jobs(), (0.0, 1000.0))
    run = changed(run, "schedule", configuration=np.ones(3, np.int64))
    shares = PowerShares(np.array([1.0, 1.0, weight]), np.array([0.0, 0.0, least_w]))
    assert sentences(under(run, shares=shares), "share of the cap") == found


# ---- reserved units --------------------------------------------------------------------------


def reserved(run: Run, start_s: float, duration_s: float, nodes: int = 2) -> Run:
    return replace(run, reservations=(Reservation(start_s, duration_s, nodes),))


def test_units_that_no_job_holds_can_be_reserved() -> None:
    assert verify(reserved(three_jobs(), 40.0, 20.0)).sentences == []
    assert verify(reserved(three_jobs(), 100.0, 50.0, nodes=4)).sentences == []


def test_a_start_on_reserved_units_is_reported() -> None:
    found = sentences(reserved(three_jobs(), 50.0, 30.0), "starts on units that are reserved")
    assert len(found) == 1
    assert "(60.0 s)" in found[0]


def test_a_job_that_asked_to_run_into_reserved_units_is_reported() -> None:
    found = sentences(reserved(three_jobs(), 39.0, 10.0), "into reserved units at 39 s")
    assert len(found) == 1
    assert found[0].startswith("jobs 1, 2 ")


def test_a_job_that_stays_longer_than_it_asked_for_is_not_blamed_on_the_policy() -> None:
    run = three_jobs()
    short = replace(run, jobs=run.jobs.with_columns(requested_s=np.array([30.0, 60, 40])))
    assert verify(reserved(short, 35.0, 5.0)).sentences == []


# ---- the cap and its windows -----------------------------------------------------------------


def capped(run: Run, *steps: tuple[float, float]) -> Run:
    """The same run as one under a cap, with the time above it as it is."""
    cap_w = Signal.from_steps(steps, "W")
    time_s = np.append(run.events.time_s, run.end_s)
    over_w = run.events.power_w - cap_w.sample(run.events.time_s)
    lasts_s = np.where(over_w > 0, np.diff(time_s), 0.0)
    return replace(run, cap_w=cap_w, time_above_cap_s=float(lasts_s.sum()),
                   energy_above_cap_j=float(lasts_s @ np.maximum(over_w, 0)))


def test_a_start_above_the_cap_is_reported_where_the_policy_keeps_it() -> None:
    run = capped(three_jobs(), (0.0, 1000.0), (60.0, 999.0))
    assert verify(run).sentences == []  # it was only watched
    found = sentences(under(run, keeps_cap=True), "over the cap")
    assert len(found) == 1
    assert "1000.0 W, and the cap is 999.0 W" in found[0]
    assert verify(under(capped(three_jobs(), (0.0, 1000.0)), keeps_cap=True)).sentences == []


def test_a_cap_that_falls_while_jobs_run_is_no_mistake_of_theirs() -> None:
    """At 40 s the machine falls to 700 W, and nobody starts before 60 s."""
    fallen = capped(three_jobs(), (0.0, 1000.0), (40.0, 600.0), (60.0, 1000.0))
    assert verify(under(fallen, keeps_cap=True)).sentences == []


def test_power_that_rises_over_the_cap_at_the_end_of_a_job_is_reported() -> None:
    """Job 1 draws 100 W on its two nodes, which draw 200 W idle. With the 500 W of job 2 it is
    600 W until 40 s, and 700 W from then on. Both began at 0 s, and might draw what might be drawn
    at any time since."""
    jobs = JobTable.build(submit_s=[0, 0], run_s=[40, 60], requested_s=[40, 60], procs=[2, 2],
                          power_w=[100.0, 500.0])
    run = fcfs_run(jobs, nodes=4)

    def found(*steps: tuple[float, float]) -> list[str]:
        return verify(under(capped(run, *steps), keeps_cap=True)).sentences

    (sentence,) = found((0.0, 650.0))
    assert sentence.startswith("the power rises over the cap at 1 events, first at row ")
    assert "700.0 W, and since the jobs of then began at most 650.0 W were allowed" in sentence
    assert found((0.0, 700.0)) == []
    assert found((0.0, 700.0), (20.0, 650.0)) == []


def test_a_change_of_speed_that_leaves_the_power_as_it_is_may_be_above_a_cap_that_fell() -> None:
    """At 50 s job 2 has another speed at its 500 W; the cap of 1,000 W has fallen to 600 W before.
    With 600 W of it the machine would draw 100 W more, by a decision."""
    run = three_jobs()
    at = int(np.searchsorted(run.events.time_s, 50.0))

    def having(watts: float) -> Run:
        row = {"time_s": 50.0, "kind": int(EventKind.RATE), "job": 1, "value": watts,
               "power_w": 200.0 + watts}
        columns = {name: np.insert(values, at, row.get(name, values[at - 1]))
                   for name, values in vars(run.events).items()}
        after = slice(at + 1, int(np.searchsorted(columns["time_s"], 60.0)))
        columns["power_w"][after] = 200.0 + watts
        fallen = capped(changed(run, "events", **columns), (0.0, 1000.0), (45.0, 600.0),
                        (60.0, 1000.0))
        return under(fallen, keeps_cap=True)

    assert sentences(having(500.0), "speed up over the cap") == []
    assert len(sentences(having(600.0), "speed up over the cap")) == 1


def test_a_window_known_beforehand_that_is_not_kept_is_reported() -> None:
    fallen = capped(three_jobs(), (0.0, 1000.0), (40.0, 600.0), (60.0, 1000.0))
    found = sentences(under(fallen, windows=((40.0, 60.0),)), "window known beforehand")
    assert len(found) == 1
    assert "700.0 W, and the cap is 600.0 W" in found[0]
    kept = capped(three_jobs(), (0.0, 1000.0), (40.0, 700.0), (60.0, 1000.0))
    assert verify(under(kept, windows=((40.0, 60.0),))).sentences == []


def test_a_window_is_not_held_against_jobs_that_stay_too_long() -> None:
    run = three_jobs()
    short = replace(run, jobs=run.jobs.with_columns(requested_s=np.array([40.0, 40, 40])))
    fallen = capped(short, (0.0, 1000.0), (40.0, 600.0), (60.0, 1000.0))
    assert verify(under(fallen, windows=((40.0, 60.0),))).sentences == []


# ---- energy budgets --------------------------------------------------------------------------

DRAWN_J = 40 * 1000.0 + 20 * 700.0 + 40 * 1000.0


def budgeted(energy_j: float, *edge_s: float, over: tuple[Any, ...] = (), **terms: str) -> Run:
    run = under(three_jobs(), budget=EnergyPeriods(energy_j, np.array(edge_s), **terms))
    return replace(run, budget={"over": list(over)})


def period(number: int, energy_j: float) -> dict[str, Any]:
    return {"period": number, "energy_j": energy_j}


def test_a_budget_that_is_used_to_the_last_joule_is_kept() -> None:
    assert verify(budgeted(DRAWN_J, 0.0, 100.0)).sentences == []


def test_a_start_without_joules_for_it_is_reported() -> None:
    run = budgeted(DRAWN_J - 1.0, 0.0, 100.0, over=(period(1, DRAWN_J),))
    found = sentences(run, "no joules left")
    assert len(found) == 1
    assert "(60.0 s)" in found[0]


def test_the_joules_that_running_jobs_may_still_draw_count_at_a_start() -> None:
    """Period 1 has 43,000 J: drawn 54,000 J, of which 1,000 W x 40 s and 700 W x 20 s were promised
    when both jobs started at 0 s; nobody started later in it."""
    run = budgeted(53_999.0, 0.0, 60.0, 120.0, over=(period(1, 54_000.0),))
    assert "(0.0 s)" in sentences(run, "no joules left")[0]
    assert verify(budgeted(54_000.0, 0.0, 60.0, 120.0)).sentences == []


def test_a_period_above_its_budget_must_be_reported_as_such() -> None:
    assert sentences(budgeted(30_000.0, 0.0, 60.0, 120.0, over=(period(1, 54_000.0),)),
                     "period 2 of the energy budget drew 40000.0 J of 30000.0 J and is not")
    assert sentences(budgeted(DRAWN_J, 0.0, 100.0, over=(period(1, DRAWN_J),)),
                     "is reported as above its budget")
    assert sentences(budgeted(30_000.0, 0.0, 60.0, over=(period(1, 50_000.0),)),
                     "is said to have drawn 50000.0 J")


def test_the_joules_of_the_next_period_count_at_a_start_that_reaches_it() -> None:
    """Job 3 starts at 60 s. To 79 s the machine draws 20,400 J, then 21,000 J to 100 s."""
    over = (period(2, 21_000.0),)
    run = budgeted(20_500.0, 58.0, 79.0, 100.0, over=over)
    assert "(60.0 s)" in sentences(run, "no joules left")[0]
    assert verify(budgeted(20_500.0, 58.0, 79.0, 100.0, over=over, carry="allow")).sentences == []
    assert verify(budgeted(21_000.0, 58.0, 79.0, 100.0)).sentences == []


def test_joules_that_are_left_count_for_the_next_period_where_they_are_kept() -> None:
    """Nothing to 0 s, 54,000 J to 60 s, then 48,000 J by the request of job 3: 102,000 J of three.
    """
    assert verify(budgeted(34_000.0, -60.0, 0.0, 60.0, 120.0, unspent="carry")).sentences == []
    assert "(60.0 s)" in sentences(budgeted(33_000.0, -60.0, 0.0, 60.0, 120.0, unspent="carry"),
                                   "no joules left")[0]
    assert sentences(budgeted(34_000.0, -60.0, 0.0, 60.0, 120.0), "is not reported")


def test_a_period_may_be_charged_with_all_of_the_jobs_that_start_in_it() -> None:
    """400 W idle for 50 s; above it jobs 1 and 2 have 300 W for 40 s and 60 s, and start in it."""
    charged = {"period": 1, "energy_j": 45_000.0, "charged_j": 20_000.0 + 300 * 100}
    assert verify(budgeted(50_000.0, 0.0, 50.0, 100.0, carry="charge-now")).sentences == []
    told = budgeted(49_000.0, 0.0, 50.0, 100.0, carry="charge-now", over=(charged,))
    assert verify(told).sentences == []
    assert sentences(budgeted(49_000.0, 0.0, 50.0, 100.0, carry="charge-now"), "is not reported")


def test_a_budget_of_which_nothing_is_said_is_reported() -> None:
    run = under(three_jobs(), budget=EnergyPeriods(DRAWN_J, np.array([0.0, 100.0])))
    assert sentences(run, "does not say whether it was kept")


# ---- what scenarios promise, and what folders keep -------------------------------------------


def test_a_scenario_writes_down_what_its_policy_promised() -> None:
    def of(case, **more):
        promises = planned(case, **more).run().promises
        ladder = promises.frequencies
        return [promises.keeps_cap, len(promises.windows),
                None if promises.budget is None else promises.budget.energy_j,
                None if ladder is None else [float(hz.min()) for hz in ladder.allowed()]]
    found = {
        "none": of("order.fcfs"), "block": of("power.block"), "budget": of("power.budget"),
        "window": of("power.adaptive, window"), "own": of("power.adaptive, own frequencies"),
        "idle": of("power.adaptive, idle"), "mix": of("power.adaptive, mix"),
        "logged": of("power.adaptive, logged frequencies"),
        "watched": of("order.fcfs", **{"power.watch_cap": "3kW"}),
        "changed": of("power.adaptive, window",
                      **{"power.cap.changes": [{"at_s": 350.0, "watts": 2500.0}]}),
    }
    assert found == {
        "none": [False, 0, None, None], "block": [True, 0, None, None],
        "budget": [True, 0, 9e6, [1.2e9, 2.6e9]], "window": [True, 1, None, [1.2e9, 2.6e9]],
        "own": [True, 0, None, [1.6e9, 2.0e9]], "idle": [True, 0, None, [2.6e9, 2.6e9]],
        "mix": [True, 0, None, [2.0e9, 2.6e9]], "logged": [True, 0, None, [1.2e9, 1.6e9]],
        "watched": [False, 0, None, None],
        # Nobody knew of the change, so the window cannot be held against anybody.
        "changed": [True, 0, None, [1.2e9, 2.6e9]],
    }


def test_a_run_folder_keeps_what_was_promised(tmp_path) -> None:
    promised = Promises(True, ((1.0, 2.0),), EnergyPeriods(5.0, np.array([0.0, 7.0])),
                        ladder(high_hz=np.array([1e9, 9e9, np.inf]), least_hz=np.inf))
    run = replace(three_jobs(), promises=promised,
                  reservations=(Reservation(50.0, 30.0, 2, 9.0, "doors open"),))
    back = rundir.read(rundir.write(run, tmp_path / "r"))
    assert back.reservations == run.reservations
    assert (back.promises.keeps_cap, back.promises.windows) == (True, ((1.0, 2.0),))
    assert back.promises.budget is not None
    assert back.promises.budget.edge_s.tolist() == [0.0, 7.0]
    assert back.promises.frequencies is not None
    for mine, theirs in zip(back.promises.frequencies.allowed(), ladder(
            high_hz=np.array([1e9, 9e9, np.inf]), least_hz=np.inf).allowed(), strict=True):
        assert mine.tolist() == theirs.tolist()
    assert sorted(verify(back).sentences) == sorted(verify(run).sentences)
    assert len(verify(back).sentences) > 2


def test_a_run_folder_of_before_promises_nothing(tmp_path) -> None:
    folder = rundir.write(three_jobs(), tmp_path / "r")
    manifest = json.loads((folder / rundir.MANIFEST).read_text())
    del manifest["promises"], manifest["reservations"]
    (folder / rundir.MANIFEST).write_text(json.dumps(manifest))
    assert verify(rundir.read(folder)).sentences == []


@pytest.mark.parametrize("case", ["placement.nedd", "placement.first-fit, classes"])
def test_a_lower_frequency_slows_a_job_down_whatever_its_nodes_and_network_do(case: str) -> None:
    """Jobs at 1.6 to 2.0 GHz of 2.6 take 1.3 times as long at least, and draw less."""
    def run(**power):
        made = planned(case, trace="plain", **{"power.cap.watts": 1e5, "policy.power": power})
        return made.run()
    slow, fast = run(name="adaptive", cpu_freq="1600000-2000000"), run(name="adaptive")
    took = [(one.schedule.end_s - one.schedule.start_s) / one.jobs.run_s for one in (slow, fast)]
    found = [float(took[0].min()), float(took[1].min()), slow.power_w_peak / fast.power_w_peak,
             verify(slow).sentences + verify(fast).sentences]
    least, full, power, problems = found
    assert problems == []
    assert full == pytest.approx(1.0)
    assert least == pytest.approx(1.3)
    assert power < 0.95
