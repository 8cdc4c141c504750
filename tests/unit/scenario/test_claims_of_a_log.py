"""Claims beside a log: its time and watts hold on a job's own class, ratios of claims elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wattline as wl
from wattline.analysis.metrics import metrics
from wattline.analysis.summary import summary_rows
from wattline.model.jobs import JobTable
from wattline.model.run import Outcome
from wattline.physics.claims import npb_claims
from wattline.scenario.build import plan
from wattline.scenario.load import validate
from wattline.traces import Trace

CLASSES = {"xeon": 12.3, "odroid-c1": 2.0, "odroid-c2": 2.0}


def plan_of(*names: str, classes: Any = CLASSES, cores: int = 1, procs: Any = None,
            nodes: int = 4, objective: str = "energy", more: Any = None, **columns: Any) -> Any:
    known = tuple(dict.fromkeys(names))
    queues = columns.pop("queues", None)
    table_names = {"application": known} | ({"partition": tuple(queues)} if queues else {})
    jobs = JobTable.build(
        submit_s=np.arange(len(names)) * 10.0, procs=procs or [1] * len(names),
        application=[known.index(name) for name in names], names=table_names, **columns)
    scenario = validate({
        "name": "made", "trace": {"file": "made"},
        "machine": {"classes": [{"name": name, "count": nodes, "cores": cores, "idle_w": idle_w,
                                 "active_w": 90.0} for name, idle_w in classes.items()]},
        "policy": {"configure": {"name": "claims", "objective": objective, **(more or {})},
                   "placement": "claims"}})
    return plan(scenario, Trace(jobs, source="made"))


def ran_s(run: Any) -> list[float]:
    return [round(float(s), 6) for s in run.schedule.end_s - run.schedule.start_s]


@pytest.mark.parametrize("run_s", [3600.0, 5.0])
def test_a_jobs_own_class_keeps_the_time_and_watts_of_the_log(run_s: float) -> None:
    made = plan_of("EP.A", run_s=[run_s], requested_s=[2 * run_s], power_w=[60.0],
                   classes={"xeon": 12.3}, objective="time")
    run = made.run()
    assert ran_s(run) == [run_s]
    assert run.schedule.energy_j[0] == pytest.approx(60.0 * run_s)
    assert run.notes["claims_changed_time_jobs"] == 0


def test_on_another_class_both_change_by_the_ratio_of_the_claims() -> None:
    """By energy EP.A goes to the C2; the log says that it ran on the Xeon."""
    run = plan_of("EP.A", run_s=[3600.0], requested_s=[1e6], power_w=[60.0]).run()
    book = {(c.node_class, c.setting.capped): c for c in npb_claims().of("EP.A")}
    there, own = book["odroid-c2", False], book["xeon", False]
    assert ran_s(run) == [round(3600.0 * there.time_s / own.time_s, 6)]
    watts = run.schedule.energy_j[0] / ran_s(run)[0]
    assert watts == pytest.approx(60.0 * there.power_w / own.power_w)
    assert run.notes["claims_changed_time_jobs"] == 1
    assert any("1 job: time and watts of the class that it ran on" in line for line in run.remarks)
    assert any("1 job: the log does not say on which class it ran: taken to be xeon" in line
               for line in run.remarks)


@pytest.mark.parametrize("given", [{"queues": ["odroid-c2"], "partition": [0]},
                                   {"more": {"logged_on": "odroid-c2"}}])
def test_a_partition_or_an_option_says_on_which_class_it_ran(given: Any) -> None:
    run = plan_of("EP.A", run_s=[3600.0], requested_s=[1e6], power_w=[4.0], **given).run()
    assert ran_s(run) == [3600.0]
    assert run.schedule.energy_j[0] == pytest.approx(3600 * 4.0)


def test_an_unknown_application_runs_as_if_there_were_no_claims() -> None:
    known = {"run_s": [3600.0, 1800.0, 7.0], "requested_s": [1e6, 3600.0, 60.0],
             "power_w": [60.0, 50.0, np.nan]}
    run = plan_of("EP.A", "NEW", "OTHER", **known).run()
    assert run.ran.all()
    assert ran_s(run)[1:] == [1800.0, 7.0]
    assert run.schedule.energy_j[1] == pytest.approx(1800 * 50.0)
    assert run.notes["claims_unknown_jobs"] == 2
    assert any("2 jobs: nothing is claimed of its application" in line and "(2, 3)" in line
               for line in run.remarks)


def test_an_unknown_application_keeps_the_cap_and_the_size_of_the_machine() -> None:
    names = ["NEW"] * 6
    made = plan_of(*names, run_s=[100.0] * 6, requested_s=[100.0] * 6, procs=[7] * 6, nodes=3,
                   power_w=[200.0] * 6)
    run = made.run()  # 9 nodes of three classes: one at a time
    assert ran_s(run) == [100.0] * 6
    assert np.all(np.diff(run.schedule.start_s) >= 100.0)


def test_a_claim_is_of_nodes_and_a_log_of_processors() -> None:
    run = plan_of("EP.A", run_s=[100.0], requested_s=[1e6], procs=[8], cores=4,
                  classes={"xeon": 12.3}, objective="time").run()
    assert run.schedule.nodes.tolist() == [2]
    assert ran_s(run) == [100.0]


def test_classes_that_are_claimed_to_exceed_the_request_are_passed_over() -> None:
    """By energy the C2 is best, on which 12.58 s are claimed."""
    slow, fast = (plan_of("EP.A", run_s=[5.0], requested_s=[limit_s]).run()
                  for limit_s in (100.0, 5.0))
    chosen = [made.memories["configuration.memory"].options.kind[
        made.schedule.configuration[0]] for made in (slow, fast)]
    assert chosen == [2, 0]


@pytest.mark.parametrize(("limit_s", "kind", "took_s"),
                         [(4000.0, 0, 3600.0), (30000.0, 2, 24348.387)])
def test_a_class_is_passed_over_by_the_time_that_the_job_would_have_there(
    limit_s: float, kind: int, took_s: float
) -> None:
    """By energy the C2 is best; the log's 3600 s on the Xeon are 24,348 s there, not 12.58 s."""
    made = plan_of("EP.A", run_s=[3600.0], requested_s=[limit_s], power_w=[60.0])
    run = replace(made, rules=replace(made.rules, overrun="kill")).run()
    assert run.memories["configuration.memory"].options.kind[run.schedule.configuration[0]] == kind
    assert ran_s(run) == pytest.approx([took_s])
    assert run.schedule.outcome.tolist() == [Outcome.COMPLETED]


def test_jobs_that_asked_for_just_what_they_took_stay_on_their_class() -> None:
    """Whatever their time rounds to: the log's over the claim's, times the claim's."""
    run_s = [float(s) for s in range(950, 990)]
    made = plan_of(*["EP.A"] * 40, run_s=run_s, requested_s=run_s, nodes=40)
    run = replace(made, rules=replace(made.rules, overrun="kill")).run()
    assert run.schedule.outcome.tolist() == [Outcome.COMPLETED] * 40
    assert ran_s(run) == run_s


def test_the_summary_says_how_many_jobs_were_killed() -> None:
    made = plan_of("NEW", "NEW", run_s=[100.0, 10.0], requested_s=[50.0, 50.0])
    for overrun, said in (("extend", None), ("kill", "1")):
        run = replace(made, rules=replace(made.rules, overrun=overrun)).run()
        assert dict(summary_rows(metrics(run), run)).get("jobs killed at requested time") == said


def test_jobs_keep_the_time_that_they_asked_for() -> None:
    made = plan_of("EP.A", run_s=[3600.0], requested_s=[7200.0], classes={"xeon": 12.3},
                   objective="time")
    killing = replace(made, rules=replace(made.rules, overrun="kill"))
    assert ran_s(killing.run()) == [3600.0]


def test_an_unknown_class_in_logged_on_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(wl.InputError, match=r"logged_on: the machine has no class 'epyc'"):
        plan_of("EP.A", run_s=[1.0], more={"logged_on": "epyc"})
