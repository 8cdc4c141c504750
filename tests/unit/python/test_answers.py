"""Answers of commands, as functions: the same figures, with what must be known of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.cli.main import cli
from wattline.model.run_clock import RunClock
from wattline.model.signal import Signal
from wattline.physics.budget import blended, cost_of
from wattline.scenario.planned_cap import resolved

TABLE = "nodes,cores,cap_w,time_s,power_w\n" + "".join(
    f"{nodes},{cores},{cap},{4000 / (nodes * cores) * (1 + 20 / cap):.4f},"
    f"{nodes * (60 + cap):.1f}\n"
    for nodes in (8, 12, 16, 24, 32) for cores in (4, 8, 12, 16) for cap in (51, 65, 80, 95, 115))


def printed(*arguments: str) -> Any:
    result = CliRunner().invoke(cli, [*arguments, "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def plain(found: Any) -> Any:
    return json.loads(json.dumps(found))


def test_configure_is_the_command() -> None:
    found = wl.configure("BT-MZ", 3500, nodes=24, margin=0.05)
    assert plain(found.to_dict()) == printed("configure", "BT-MZ", "--power", "3500W", "--nodes",
                                             "24", "--margin", "5%")
    assert found.best.power_w <= 3500
    with pytest.raises(wl.InputError, match="must be above 0 and finite"):
        wl.configure("BT-MZ", 0)


def test_predict_is_the_command_and_warns_outside_of_the_training() -> None:
    with pytest.warns(wl.WattlineWarning, match="the intervals are widened"):
        found = wl.predict("BT-MZ", nodes=40, cores=16, cap=115)
    assert plain(found.to_dict()) == printed("predict", "BT-MZ", "--nodes", "40", "--cores", "16",
                                             "--cap", "115W")
    assert found.power_w_to_reserve == found.power_w * 1.15
    assert found.remarks


def test_procure_is_the_command() -> None:
    found = wl.procure(7000, node_power_max=380, node_power_min=180, speed_ratio=0.27,
                       rack=(16, 12000, 3300, 1700), scaling="SPhot")
    assert plain(found.to_dict()) == printed(
        "procure", "--budget-power", "7000W", "--node-power-max", "380W", "--node-power-min",
        "180W", "--speed-ratio", "27%", "--rack", "16,12000,3300,1700", "--scaling", "SPhot")
    with pytest.raises(wl.InputError, match="give either scaling"):
        wl.procure(7000, node_power_max=380, node_power_min=180, speed_ratio=0.27, cost_ratio=1.5)


def test_fit_is_the_command_and_its_models_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(TABLE)
    found = wl.fit(tmp_path / "mine.csv", app="mine", train=0.2, keep=True)
    said = printed("fit", str(tmp_path / "mine.csv"), "--app", "mine", "--train", "20%",
                   "--output", str(tmp_path / "written.json"))
    assert plain(found.to_dict()) == said
    found.save(tmp_path / "models.json")
    told = wl.predict("mine", nodes=16, cores=8, cap=80, model=tmp_path / "models.json")
    assert told.time_s == pytest.approx(4000 / 128 * 1.25, rel=0.1)


def test_policies_are_listed_as_rows() -> None:
    rows = {(row["axis"], row["name"]): row for row in wl.list_policies()}
    assert {axis: list(named) for axis, named in printed("policies").items()} == {
        axis: [name for own, name in rows if own == axis] for axis in dict.fromkeys(
            axis for axis, _ in rows)}
    assert rows["power", "dvfs"]["needs"] == "a cap (power.cap)"
    assert wl.describe_policy("dvfs") == printed("policies", "dvfs")["policies"]
    with pytest.raises(wl.InputError, match="there is no axis 'powr'"):
        wl.list_policies("powr")


def test_a_journal_is_asked_again(tmp_path: Path) -> None:
    log = Path(__file__).parents[3] / "examples" / "tiny.swf"
    journal = tmp_path / "journal"
    printed("simulate", "--trace", str(log), "--no-folder", "--journal", str(journal))
    assert wl.replay(journal).equal
    other = wl.load_scenario("bundled:main-uncapped", {"policy.order": "largest"})
    asked = wl.replay(journal, other)
    assert asked.other is not None
    assert isinstance(asked.other.run, wl.Result)


def test_caps_are_advised_for_jobs_that_are_there() -> None:
    trace = wl.generate("lublin", seed=1, jobs=30, nodes=32)
    machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    found = wl.advise_cap(trace, wait="+20%", machine=machine, policies=["block"], tolerance=0.05)
    (choice,) = found.choices
    run = wl.simulate(trace, machine=machine, power=wl.Block(cap=choice.cap_w))
    assert run.metrics()["wait_s"]["mean"] <= 1.2 * found.free.wait_s * (1 + 1e-9)
    with pytest.raises(wl.InputError, match="say what can be borne"):
        wl.advise_cap(trace, machine=machine)


def test_a_cap_is_the_same_in_a_plan_and_in_a_run() -> None:
    steps = [{"time_s": 0, "watts": 6000}, {"time_s": 600, "watts": 5000}]
    for cap in ("70%", "70%peak", "70%p95", "6kW", steps):
        scenario = wl.Scenario(
            trace={"generate": "lublin", "seed": 1, "jobs": 30}, policy={"power": "block"},
            machine=wl.Machine(nodes=32, node_idle_w=90, node_active_w=300), power={"cap": cap})
        run = wl.simulate(scenario)
        plan = resolved(scenario, run.machine, "small.toml", RunClock())
        assert plan.watts == run.cap_w.at(0.0)
        assert plan.signal(1e9).at(900.0) == run.cap_w.at(900.0)


def test_what_a_joule_costs_has_one_rule() -> None:
    price, carbon = Signal.from_steps([(0, 1.0), (60, 3.0)]), Signal.constant(5.0)
    assert cost_of(price, None, 0.5) is price
    assert cost_of(None, carbon, 0.0) is carbon
    assert cost_of(None, None, 0.0).at(7.0) == 1.0
    both = cost_of(price, carbon, 0.3)
    assert both.value.tolist() == blended(price, carbon, 0.3).value.tolist()


@pytest.mark.long  # runs a study twice; the other answers are compared before a commit
def test_a_study_is_the_command() -> None:
    found = wl.study("fairshare", seed=2)
    said = printed("study", "fairshare", "--seed", "2")
    assert plain(found) == {key: value for key, value in said.items() if key != "picture"}


def test_every_study_has_a_function_and_a_wrong_setting_is_one_line() -> None:
    from wattline.cli.study import STUDIES as COMMANDS
    from wattline.studies.asking import STUDIES

    assert set(STUDIES) == set(COMMANDS)
    with pytest.raises(wl.InputError, match="there is no study 'esq'; there are: dragonfly, esp"):
        wl.study("esq")
    with pytest.raises(wl.InputError, match=r"^study 'esp': got an unexpected keyword .*sed"):
        wl.study("esp", sed=1)
    with pytest.raises(wl.InputError, match="give forecast=HOURS too"):
        wl.study("regulation", hold=0.5)


def test_what_is_assumed_is_among_the_remarks_of_an_answer() -> None:
    contract = wl.regulate(workload="W4", servers=20, duration="2min", warmup="0s", check=0,
                           bid=(4500, 500))
    assert contract.assumed
    assert set(contract.assumed) <= set(contract.remarks)
    advice = wl.advise_cap(wl.generate("lublin", seed=1, jobs=20, nodes=32),
                           machine=wl.Machine(nodes=32), wait="+10%", policies=["block"])
    assert any("node powers are assumed" in line for line in advice.remarks)


def test_advice_is_short_to_print_and_a_table_to_work_with() -> None:
    advice = wl.advise.cap(wl.generate("lublin", seed=1, jobs=20, nodes=32), wait="+10%",
                           policies=["block"], machine=wl.Machine(nodes=32))
    assert len(repr(advice)) < 100
    assert advice.to_pandas().loc["block", "cap_w"] == advice.choices[0].cap_w
    assert "<td>block</td>" in advice._repr_html_()
    option = wl.advise.job("CG.A")
    assert len(option.to_pandas()) == len(option.options)
    assert len(repr(option)) < 400
    assert option._repr_html_().count("<tr>") == len(option.options) + 1
