"""A contract is a section of an ordinary scenario, and its run a run folder like any other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.contracts import check_ended

import wattline as wl
from wattline.cli.main import cli

SCENARIO = """
[trace]
generate = "workload"
seed = 2
[[trace.parameters.types]]
name = "one"
nodes = 1
time_s_min = "1m"
time_s_max = "90s"
power_w_max = "250W"
power_w_min = "200W"
threshold = 5
[machine]
nodes = 10
node_idle_w = "0.1kW"
[contract]
duration = "5m"
warmup = "0s"
bid = ["1.6kW", "300W"]
check = 0
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WATTLINE_PLAIN", "1")
    found = tmp_path / "site.toml"
    found.write_text(SCENARIO)
    return found


def called(*arguments: Any) -> str:
    result = CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=False)
    check_ended(result)
    return result.stdout


def test_simulate_and_regulate_say_the_same_of_a_scenario_with_a_contract(path: Path) -> None:
    plain = json.loads(called("simulate", path, "--no-folder", "--json"))
    flags = json.loads(called("regulate", path, "--json"))
    python = wl.regulate(path).to_dict()
    for found in (plain, flags, python):
        del found["engine_s"]
    assert plain == flags == json.loads(json.dumps(python))
    assert (plain["average_power_w"], plain["reserve_w"]) == (1600, 300)


def test_flags_and_short_names_write_the_same_scenario(path: Path) -> None:
    given = wl.regulate(path, policy="tracking", preempt=True, seed=4).scenario
    assert given.policy.regulation == {"name": "tracking", "preempt": True}
    assert given.trace.seed == 4
    again = wl.regulate(path, policy__regulation={"name": "tracking", "preempt": True},
                        trace__seed=4).scenario
    assert again == given


def test_the_folder_of_a_contract_is_a_run_that_everything_reads(path: Path) -> None:
    out = path.parent / "run"
    said = json.loads(called("simulate", path, "-o", out, "--json"))
    run = wl.open_run(out)
    assert run.verify().sentences == []
    assert run.scenario["contract"]["bid"] == [1600, 300]
    kept = json.loads((out / "contract.json").read_text())
    assert kept == {name: said[name] for name in kept}
    assert kept["tracking"]["mean"] > 0
    called("report", out)
    assert (out / "report" / "index.html").is_file()
    assert f"{int(run.ran.sum())} " in called("account", out, "--by", "user")
    again = json.loads(called("simulate", out / "scenario.toml", "--no-folder", "--json"))
    assert again["cost"] == said["cost"]


@pytest.mark.parametrize(("more", "words"), [
    ('[policy]\norder = "sjf"\n', "policy.order: a contract has queues by type"),
    ('[power]\ncap = "2kW"\n', "power.cap: a contract follows its target"),
    ('[power]\nalpha = 3.0\n', "power.alpha: the types of a contract say"),
    ('[policy]\nregulation = "best"\n', "policy.regulation: there is no 'best'"),
    ('[policy]\nregulation = { name = "aqa", pause = true }\n', "'aqa' has no parameter 'pause'"),
    ('[policy]\nregulation = { name = "auto", reserve = false }\n',
     "'auto' has no parameter 'reserve'; there are: preempt, feedback, sleep"),
    ('[shares]\na = 1\n', "shares: a contract does not use it"),
    ('[contract.prices]\nenergi = 1\n', "contract.prices.energi: there is no such field"),
])
def test_what_a_contract_does_not_use_is_refused(path: Path, more: str, words: str) -> None:
    path.write_text(SCENARIO + more)
    with pytest.raises(wl.InputError) as refused:
        wl.regulate(path)
    assert words in str(refused.value)


@pytest.mark.parametrize(("text", "words"), [
    (SCENARIO.partition("[contract]")[0], "'workload' makes the jobs of a contract"),
    ('[trace]\ngenerate = "lublin"\n[policy]\nregulation = "aqa"\n', "it keeps a contract"),
    ('workload = "W4"\n', "a contract's jobs stand in [trace]"),
])
def test_what_needs_a_contract_says_so(path: Path, text: str, words: str) -> None:
    path.write_text(text)
    result = CliRunner().invoke(cli, ["simulate", str(path), "--no-folder"])
    assert words in str(result.exception)


def test_regulate_refuses_a_scenario_without_a_contract(path: Path) -> None:
    path.write_text('[trace]\ngenerate = "lublin"\n[machine]\nnodes = 8\n')
    with pytest.raises(wl.InputError, match=r"no \[contract\]; `wattline simulate"):
        wl.regulate(path)


def test_python_is_told_to_ask_regulate_for_a_contract(path: Path) -> None:
    with pytest.raises(wl.InputError, match=r"from Python by regulate\(\)"):
        wl.simulate(path)


def test_jobs_of_a_log_that_are_left_out_are_counted(tmp_path: Path) -> None:
    lines = ["; MaxNodes: 4"]
    for number, (run_s, size) in enumerate([(900, 1), (60, 1), (900, 2), (1200, 9)]):
        lines.append(f"{number + 1} {60 * number} 0 {run_s} {size} -1 -1 {size} 2400 "
                     "-1 1 1 1 1 1 1 -1 -1")
    (tmp_path / "log.swf").write_text("\n".join(lines) + "\n")
    from wattline.demand_response.reading import read_contract
    from wattline.demand_response.remarks import remarks

    said = remarks(read_contract(None, {"log": tmp_path / "log.swf", "bid": (400, 50)}))
    assert said == ["1 jobs of the log are left out: shorter than 600 s",
                    "1 jobs of the log are left out: larger than the machine"]


def test_the_list_of_policies_has_the_rules_of_contracts() -> None:
    said = called("policies", "regulation")
    assert "[policy] regulation = ..., beside a [contract]" in said
    assert "qoscap" in said
    about = json.loads(called("policies", "aqa", "--json"))["policies"][0]
    assert {"preempt", "feedback"} <= {each["name"] for each in about["parameters"]}


def test_every_way_of_bidding_is_an_object_that_chooses() -> None:
    from wattline.demand_response.bidders import BIDDERS
    from wattline.scenario.contract_section import BIDDING

    assert set(BIDDERS) == set(BIDDING) - {"auto", "adaptive", "dayahead"}
    assert all(callable(bidder.choose) for bidder in BIDDERS.values())
