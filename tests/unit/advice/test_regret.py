"""A supervisor's loss against the best fixed policy, and which of those may be the best."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.advice.futures.regret import rows_of
from wattline.advice.futures.self_tuning import Judged, _clearly_better, more_than
from wattline.cli.advise_futures import _gain
from wattline.cli.main import cli

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


def tuned(values: dict[str, float], not_run: dict[str, float]) -> wl.SelfTuning:
    figures = {name: {"jobs.not_run": not_run.get(name, 0.0), "time_above_cap_s": 0.0}
               for name in values}
    return wl.SelfTuning(None, "wait_s", values, figures, (), 0, 0.0, ())  # type: ignore[arg-type]


def test_a_fixed_policy_that_refuses_jobs_is_not_the_best() -> None:
    values = {"as it is": 50.0, "dvfs": 100.0, "wait": 120.0, "self-tuning": 110.0}
    assert tuned(values, {}).best_fixed == "as it is"
    found = tuned(values, {"as it is": 3.0})
    assert found.best_fixed == "dvfs"
    assert found.left_out == {"as it is": "3 jobs never ran"}
    assert found.regret == pytest.approx(0.1)


def test_a_case_that_is_done_is_not_simulated_again(tmp_path: Path) -> None:
    trace = wl.generate("lublin", seed=5, jobs=25, nodes=16)
    log = tmp_path / "small.csv"
    wl.write(trace, log)
    scenario = tmp_path / "small.toml"
    scenario.write_text('[trace]\nfile = "small.csv"\n[machine]\nnodes = 16\n')
    asked = ["advise", "regret", str(scenario), "--caps", "75%", "--candidates", "wait",
             "--every", "12h", "--samples", "1", "--out", str(tmp_path / "kept"), "--json"]
    first, again = (CliRunner().invoke(cli, asked) for _ in range(2))
    assert first.exit_code == 0, first.output
    said, resumed = json.loads(first.stdout), json.loads(again.stdout)
    assert (said["resumed"], resumed["resumed"]) == (0, 1)
    assert resumed["cases"] == said["cases"]
    case = said["cases"][0]
    assert sorted(case["values"]) == ["as it is", "self-tuning", "wait"]
    best = case["values"][case["best_fixed"]]
    assert case["regret"] == pytest.approx(case["values"]["self-tuning"] / best - 1 if best else 0)
    wl.write(wl.generate("lublin", seed=6, jobs=25, nodes=16), log)
    other = CliRunner().invoke(cli, asked)
    assert json.loads(other.stdout)["resumed"] == 0  # of another log
    with pytest.raises(wl.InputError, match="same name"):
        CliRunner().invoke(cli, ["advise", "regret", str(log), str(log)],
                           catch_exceptions=False)


def test_a_supervisor_leaves_a_policy_that_refuses_jobs_and_stays_with_an_equal_one() -> None:
    waits, refuses = Judged(False, 0.0, 0.0, 900.0), Judged(False, 2.0, 0.0, 100.0)
    assert _clearly_better(waits, refuses)
    assert not _clearly_better(refuses, waits)
    below_zero = Judged(False, 0.0, 0.0, -0.7)
    assert not _clearly_better(below_zero, below_zero)
    assert _clearly_better(Judged(False, 0.0, 0.0, -0.8), below_zero)
    assert more_than(-0.8, -0.7) == pytest.approx(0.125)


def test_what_is_not_0_is_infinitely_much_more_or_less_than_0() -> None:
    assert more_than(0.0, 5.0) == math.inf
    assert more_than(0.0, -5.0) == -math.inf
    assert more_than(0.0, 0.0) == 0.0
    assert math.isnan(more_than(0.0, math.nan))
    assert tuned({"as it is": 0.0, "sjf": 3.0, "self-tuning": 2.0}, {}).regret == math.inf
    assert _gain(math.inf) == "self-tuning is infinitely much worse"
    assert _gain(-0.25) == "self-tuning is 25.0% better"


def test_a_case_is_known_by_what_is_in_its_files_wherever_they_lie(tmp_path: Path) -> None:
    trace = wl.generate("lublin", seed=5, jobs=25, nodes=16)
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        wl.write(trace, tmp_path / folder / "small.csv")
        (tmp_path / folder / "small.toml").write_text(
            '[trace]\nfile = "small.csv"\n[machine]\nnodes = 16\n')

    def resumed(source: object, **more: object) -> int:
        return wl.tuning_regret({"a": source}, caps=["75%"], candidates=["wait"], samples=1,
                                every="12h", out=tmp_path / "kept", **more).resumed

    assert resumed(str(tmp_path / "here" / "small.toml")) == 0
    assert resumed(str(tmp_path / "there" / "small.toml")) == 1
    assert [resumed(trace, **{"machine.nodes": 16}) for _ in range(2)] == [0, 1]
    bundled = {"trace": {"file": "bundled:tiny.swf"}, "machine": {"nodes": 8}}
    assert [resumed(bundled) for _ in range(2)] == [0, 1]
    machine, links = tmp_path / "machine.toml", tmp_path / "links.toml"
    machine.write_text('[network]\nmachine = "links.toml"\n')
    links.write_text('[network]\ntopology = "torus"\nsizes = [2, 2, 4]\n')
    network = {"machine.nodes": 16, "network.machine": str(machine)}
    assert [resumed(trace, **network) for _ in range(2)] == [0, 1]
    links.write_text('[network]\ntopology = "torus"\nsizes = [4, 4, 1]\n')
    assert resumed(trace, **network) == 0


def test_another_machine_is_another_case_and_one_that_was_cut_off_is_done_again(
    tmp_path: Path
) -> None:
    wl.write(wl.generate("lublin", seed=5, jobs=25, nodes=16), tmp_path / "small.csv")
    (tmp_path / "small.toml").write_text('[trace]\nfile = "small.csv"\n[machine]\nnodes = 16\n')
    kept = tmp_path / "kept"

    def asked(nodes: int) -> wl.RegretStudy:
        return wl.tuning_regret({"a": str(tmp_path / "small.toml")}, caps=["75%"],
                                candidates=["wait"], samples=1, every="12h", out=kept,
                                **{"machine.nodes": nodes})

    first = asked(16)
    assert asked(20).resumed == 0
    assert asked(16).resumed == 1
    for file in kept.glob("*.json"):
        file.write_text(file.read_text()[:40])
    again = asked(16)
    assert (again.resumed, again.cases[0].values) == (0, first.cases[0].values)


@pytest.mark.parametrize(("lost", "compared"), [(0.0, True), (4.0, True), (5.0, False)])
def test_a_supervisor_that_leaves_jobs_behind_is_not_called_better(
    lost: float, compared: bool
) -> None:
    found = tuned({"as it is": 100.0, "sjf": 120.0, "self-tuning": 30.0},
                  {"as it is": 4.0, "sjf": 4.0, "self-tuning": lost})
    assert found.best_fixed == "as it is"
    assert math.isnan(found.regret) is not compared
    case = wl.RegretCase("a", "75%", "wait_s", 9, found.values, found.left_out, found.best_fixed,
                         found.regret, 1, 2, 0.0)
    assert math.isnan(case.against_first) is not compared
    assert math.isnan(case.against_worst) is not compared
    row = next(rows_of(wl.RegretStudy((case,))))
    assert row[6:9] == (("-70.0%", "-70.0%", "-75.0%") if compared else ("-", "-", "-"))
