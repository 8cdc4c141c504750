"""Answers where their name is typed: short as text, tables in a notebook and in pandas."""

from __future__ import annotations

from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import wattline as wl
from wattline.model.shown import Shown

TINY = "examples/tiny.swf"
ANSWERS = ("Bill", "BudgetTrial", "CapAdvice", "CapWritten", "Claims", "ClaimsImported",
           "ClaimsLearnt", "ClaimsVerified", "Comparison", "ConfigurationAdvice", "EnergyPlan",
           "EnergyStatus", "FairShare", "FittedServer", "Forgotten", "Imported",
           "ImportedViews", "JobAdvice", "JobTable",
           "MeasuredAccount", "MeasuredJob", "NetRun", "PerJob", "PlacedJobs", "PowerNow", "Result",
           "RunAccount", "SensorComparison", "Signal", "Trace", "TriedRun")


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_has_a_table_for_notebooks_and_a_text_of_its_own(name: str) -> None:
    kind = getattr(wl, name)
    assert is_dataclass(kind)
    assert callable(kind._repr_html_)
    assert not hasattr(kind.__repr__, "__wrapped__")  # that of dataclasses, which prints all


@pytest.mark.parametrize("place", [
    "advice.energy_metered.MeteredBudget", "advice.fit.Fitted",
    "advice.predict.PredictedConfiguration", "advice.procure.Procurement",
    "demand_response.api.BidResult", "demand_response.api.ContractResult",
    "scenario.journals.JournalAsked"])
def test_answers_whose_types_nobody_needs_to_name_are_short_too(place: str) -> None:
    module, _, name = place.rpartition(".")
    kind = getattr(import_module(f"wattline.{module}"), name)
    assert callable(kind._repr_html_)
    assert kind.__repr__ is Shown.__repr__


def test_a_comparison_of_purchases_and_a_view_fit_on_a_line_or_two() -> None:
    bought = wl.procure(budget_power="7kW", node_power_max=380, node_power_min=180,
                        cost_ratio=1.7, speed_ratio=0.27, scaling="LU-MZ")
    machine = wl.Machine(nodes=4, nodes_per_rack=2, node_idle_w=90, node_active_w=300)
    view = wl.machine_view("rack", machine)
    assert len(repr(bought)) <= 300
    assert repr(view) == "MachineView('rack': 8 entities with cores, nodes, node_class)"


def test_long_answers_are_short_texts_and_tables() -> None:
    run = wl.simulate(TINY, power=wl.Dvfs(cap="70%"))
    account = wl.account_run(run)
    jobs = wl.compare_jobs(run, run)
    for answer in (account, jobs, wl.Signal(np.arange(500.0), np.arange(500.0))):
        assert repr(answer).startswith(f"{type(answer).__name__}(")
        assert len(repr(answer)) <= 300
        assert "<table" in answer._repr_html_()
    assert repr(account) == "RunAccount('run': 12 jobs, 8.749 kWh)"
    assert account.remarks[-1] in account._repr_html_()


def test_answers_made_of_objects_say_what_they_found() -> None:
    chosen = wl.configure("BT-MZ", "3500W")
    assert repr(chosen) == ("ConfigurationAdvice('BT-MZ' under 3.5 kW: best (30 x 14, 51 W), "
                            "6.137 s, 3.411 kW; of 455 configurations)")
    assert list(chosen.to_pandas().index)[:2] == ["best", "packed_max"]
    assert chosen.to_pandas().loc["best", "time_s"] == chosen.best.time_s
    bought = wl.procure(budget_power="7kW", node_power_max=380, node_power_min=180,
                        cost_ratio=1.7, speed_ratio=0.27, scaling="LU-MZ")
    assert repr(bought) == ("Procurement(18 high-end nodes or 30 older ones within 7 kW: the older "
                            "ones are 1.22 times as fast)")
    assert list(bought.to_pandas()["nodes"]) == [18, 30]
    told = wl.predict("BT-MZ", nodes=16, cores=16, cap="115W")
    [row] = told.to_pandas().to_dict("records")
    assert (row["time_s"], row["time_s_low"]) == (told.time_s, told.time_s_interval_90[0])


def test_a_contract_says_what_was_offered_and_what_became_of_it() -> None:
    found = wl.regulate(workload="W4", servers=20, duration="2min", warmup="0s", check=0,
                        bid=(4500, 500))
    assert repr(found).startswith("ContractResult('W4' on 20 servers: 4.5 kW with a reserve of "
                                  "500 W, cost 0.0139")
    frame = found.to_pandas()
    assert frame["jobs"].to_dict() == {
        name: one["jobs"] for name, one in found.figures["qos"].items()}


def test_pictures_are_all_that_a_run_is_asked_for_there() -> None:
    drawn = wl.simulate(TINY, machine=wl.Machine(nodes=8)).plot
    assert all(callable(getattr(drawn, name)) for name in dir(drawn) if not name.startswith("_"))


def test_jobs_and_logs_are_tables_of_pandas() -> None:
    trace = wl.read(TINY)
    frame = trace.to_pandas()
    assert list(frame["run_s"]) == list(trace.jobs.run_s)
    assert set(frame) >= set(trace.logged)
    named = wl.JobTable.build(submit_s=[0, 1], run_s=[5, 5], procs=[1, 1], user=[0, -1],
                              names={"user": ("ada",)}).to_pandas()
    assert named["user_name"][0] == "ada"
    assert named["user_name"].isna()[1]


def test_logs_and_scenarios_are_compared_as_by_the_command(tmp_path: Path) -> None:
    run = wl.simulate(TINY)
    found = wl.compare([TINY, wl.read(TINY)], machine__nodes=16)
    assert {each.machine.node_count for each in found.runs.values()} == {16}
    assert len(wl.compare(wl.load_scenario("examples/week.toml"))) == 1
    both = wl.compare(run, TINY)
    first, second = both.runs.values()
    assert first.energy_j == second.energy_j
    assert len(wl.compare({"one": TINY, "other": run.save(tmp_path / "run")})) == 2
    with pytest.raises(wl.InputError, match="machine__nodes cannot change a run that is done"):
        wl.compare(run, machine__nodes=16)
