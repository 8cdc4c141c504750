"""What a supervisor loses against the best fixed policy, and which of those may be the best."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import wattline as wl
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
