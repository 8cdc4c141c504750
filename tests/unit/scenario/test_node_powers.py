"""Powers of nodes that nobody gave are assumed, and said to be, wherever joules are shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.analysis import rundir
from wattline.cli.account import command as account
from wattline.cli.compare import command as compare
from wattline.cli.fairshare import command as fairshare
from wattline.cli.report import command as report
from wattline.cli.simulate import command as simulate
from wattline.scenario.build import plan
from wattline.scenario.load import validate
from wattline.scenario.node_powers import equal_node_w

HEAD = "submit_s,run_s,requested_s,procs,power_w\n"
UNKNOWN, OWN = "0,100,200,2,\n", "1,100,200,2,150\n"
IN_PYTHON = "node powers are assumed: 90 W idle, 300 W active; give node_idle_w and node_active_w"
BOTH = "node powers are assumed: 90 W idle, 300 W active; give --node-idle-w and --node-active-w"


@pytest.fixture
def assumed(tmp_path: Path):
    """Return what is assumed for jobs of these lines and these fields."""

    def found(jobs: str, **sections: object) -> list[str]:
        path = tmp_path / "log.csv"
        path.write_text(HEAD + jobs)
        fields = {"trace": {"file": str(path)}, "machine": {"nodes": 8}, **sections}
        return list(plan(validate(fields)).assumed)

    return found


def machine(**fields: object) -> dict[str, object]:
    return {"nodes": 8, **fields}


def test_both_powers_are_assumed_where_neither_is_given(assumed) -> None:
    (line,) = assumed(UNKNOWN)
    assert line.startswith(IN_PYTHON)


def test_what_is_given_is_not_called_assumed(assumed) -> None:
    assert assumed(UNKNOWN, machine=machine(node_idle_w=90, node_active_w=300)) == []
    assert assumed(UNKNOWN, machine=machine(node_active_w=200), power={"idle_fraction": 0.3}) == []
    (line,) = assumed(UNKNOWN, machine=machine(node_active_w=200))
    assert line.endswith("assumed: 60 W idle; give node_idle_w")
    (line,) = assumed(UNKNOWN, machine=machine(node_idle_w=50))
    assert line.endswith("assumed: 300 W active; give node_active_w")


def test_a_fraction_of_an_assumed_power_is_assumed(assumed) -> None:
    (line,) = assumed(UNKNOWN, power={"idle_fraction": 0.5})
    assert "150 W idle, 300 W active" in line


def test_jobs_with_powers_of_their_own_need_no_active_power(assumed) -> None:
    (line,) = assumed(OWN)
    assert "assumed: 90 W idle; give" in line
    assert assumed(OWN, machine=machine(node_idle_w=90)) == []
    (line,) = assumed(UNKNOWN + OWN)
    assert "300 W active for jobs whose own power is not known" in line


def test_classes_are_named(assumed) -> None:
    classes = [{"name": "thin", "count": 8, "idle_w": 50}]
    (line,) = assumed(UNKNOWN, machine={"classes": classes})
    assert line.startswith("node powers of class 'thin' are assumed: 300 W active; give "
                           "machine.classes.active_w")


@pytest.mark.usefixtures("unpainted")
def test_it_is_said_in_text_json_report_folder_and_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(HEAD + UNKNOWN)
    log = ["--trace", "log.csv", "--nodes", "8"]

    def call(command, *arguments: str) -> str:
        result = CliRunner().invoke(command, list(arguments), catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    assert f"note: {BOTH}" in call(simulate, *log, "-o", "run")
    assert BOTH in json.loads(call(simulate, *log, "--no-folder", "--json"))["assumed"][0]
    assert BOTH in json.loads((tmp_path / "run/metrics.json").read_text())["assumed"][0]
    assert BOTH in rundir.read("run").assumed[0]
    assert IN_PYTHON in wl.metrics(wl.simulate(trace="log.csv", machine__nodes=8))["assumed"][0]
    # What was written down must not count as given when the scenario is run again.
    assert IN_PYTHON in wl.simulate("run/scenario.toml").assumed[0]
    assert f"note: {BOTH}" in call(report, "run")
    assert BOTH[1:] in (tmp_path / "run/report/index.html").read_text()
    for command in (account, fairshare):
        result = CliRunner().invoke(command, ["run"], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        assert f"wattline: {BOTH}" in result.stderr
    said = call(compare, *log, "--vary", "machine.node_idle_w=90,100", "--no-report", "-o", "two")
    assert said.count("300 W active") == 1
    said = call(compare, *log[:2], "--vary", "machine.nodes=8,9", "--node-idle-w", "90", "--set",
                "machine.node_active_w=300", "--no-report", "-o", "three")
    assert "assumed" not in said


def test_the_report_says_why_a_peak_may_be_above_all_nodes_active(tmp_path: Path) -> None:
    from wattline.analysis.describe import sentences

    (tmp_path / "log.csv").write_text(HEAD + "0,100,200,2,5000\n")
    run = wl.simulate(trace=tmp_path / "log.csv", machine__nodes=8, machine__node_active_w=300)
    said = " ".join(sentences(run, wl.metrics(run)))
    assert "2.4 kW when all of it is active at that power; all jobs have powers of" in said
    (tmp_path / "log.csv").write_text(HEAD + UNKNOWN)
    run = wl.simulate(trace=tmp_path / "log.csv", machine__nodes=8)
    assert "of their own" not in " ".join(sentences(run, wl.metrics(run)))


@pytest.mark.parametrize(("given", "said"), [
    ({"node_idle_w": 400}, r"node_active_w \(300, which is assumed: give it too\) must not be "),
    ({"node_idle_w": 400, "node_active_w": 350}, r"node_active_w \(350\) must not be below")])
def test_a_power_that_nobody_gave_is_said_to_be_assumed(given, said: str) -> None:
    with pytest.raises(wl.InputError, match=said):
        validate({"trace": {"generate": "lublin"}, "machine": {"nodes": 2, **given}}, "made")


@pytest.mark.parametrize(("jobs", "fields", "said"), [
    (UNKNOWN + OWN, {}, "1 job draws less than idle nodes: down to 75 W per node, and an idle one "
                        "draws 90 W; where that is wrong, set machine.node_idle_w"),
    (OWN + "2,100,200,4,200\n", {}, "2 jobs draw less than idle nodes: down to 50 W"),
    (OWN, {"node_idle_w": 75}, None),
    (UNKNOWN, {}, None),
    (OWN, {"cores_per_node": 2, "granularity": "core", "node_idle_w": 200},
     "1 job draws less than idle cores: down to 75 W per core, and an idle one draws 100 W"),
    (OWN, {"nodes": None, "classes": [{"name": "a", "count": 4, "idle_w": 100, "active_w": 300},
                                      {"name": "b", "count": 4, "idle_w": 80, "active_w": 200}]},
     "an idle one draws at least 80 W; where that is wrong, set machine.classes.idle_w"),
])
def test_jobs_that_draw_less_than_idle_nodes_are_said(tmp_path: Path, jobs, fields, said) -> None:
    path = tmp_path / "log.csv"
    path.write_text(HEAD + jobs)
    given = {name: value for name, value in machine(**fields).items() if value is not None}
    run = plan(validate({"trace": {"file": str(path)}, "machine": given,
                         "policy": {"placement": "first-fit"}})).run()
    lines = [line for line in run.remarks if "less than idle" in line]
    assert [said in line for line in lines] == ([True] if said else [])


@pytest.mark.parametrize(("machine", "fraction", "idle_w"), [
    ({"node_active_w": 200}, 0.25, 50.0), ({"node_active_w": 200}, None, 60.0),
    ({"node_active_w": 200, "node_idle_w": 70}, None, 70.0), ({}, 0.5, 150.0)])
def test_idle_power_is_its_part_of_active_power(machine, fraction, idle_w):
    """Of 300 W where none are given, and 90 of them where no part is."""
    power = {} if fraction is None else {"idle_fraction": fraction}
    scenario = validate({"trace": {"file": "x"}, "machine": {"nodes": 1, **machine},
                         "power": power})
    assert equal_node_w(scenario)[0] == pytest.approx(idle_w)
