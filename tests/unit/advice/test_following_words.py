"""A supervisor's words about its figures, its decisions and the time it took."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.printed import columns
from tests.support.thinned import crossed

import wattline as wl
from wattline.advice.futures import policy, self_tuning
from wattline.advice.futures.running import FIGURES, OF_BOTH
from wattline.analysis.metrics import totals
from wattline.analysis.result import flattened
from wattline.cli import advise_futures
from wattline.cli.main import cli
from wattline.model.waiting import waiting

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
MACHINE = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
ASKED = {"machine": MACHINE, "candidates": ["sjf"], "every": "2h", "samples": 1,
         "arrivals": "none"}


@pytest.fixture(scope="module")
def trace() -> wl.Trace:
    return wl.generate("lublin", seed=5, jobs=60, nodes=32)


def test_whole_runs_have_just_the_figures_that_are_said_to_be_of_both(trace: wl.Trace) -> None:
    whole = flattened(totals(wl.simulate(trace, machine=MACHINE)))
    assert tuple(name for name in FIGURES if name in whole) == OF_BOTH


@pytest.mark.parametrize("objective", ["makespan_s", "wait_s.max", "jobs.started"])
def test_a_wrong_objective_is_told_only_what_would_be_taken(
    trace: wl.Trace, objective: str
) -> None:
    with pytest.raises(wl.InputError, match="no figure") as error:
        wl.self_tune(trace, **ASKED, objective=objective)
    named = str(error.value).split(": ")[-1].split(", ")
    assert tuple(named) == OF_BOTH


@pytest.mark.parametrize(("limit", "said"), [("jobs.waiting <= 1", True), ("wait_s <= 9h", False)])
def test_a_limit_that_whole_runs_cannot_be_held_to_is_said(
    trace: wl.Trace, limit: str, said: bool
) -> None:
    found = wl.self_tune(trace, **ASKED, limits=[limit])
    assert (f"{limit} is of looks ahead: fixed policies and the whole run are not held to it"
            in found.assumed) is said


def test_instants_without_a_choice_are_no_decisions_and_are_said(trace: wl.Trace) -> None:
    found = wl.self_tune(trace, **ASKED)
    line, = (line for line in found.assumed if "nothing to decide" in line)
    passed, _, instants = line.removeprefix("at ").split(" ")[:3]
    assert int(passed) > 0
    assert int(passed) + found.decisions == int(instants)


def test_the_table_has_the_units_and_numbers_of_the_others(
    trace: wl.Trace, tmp_path: Path
) -> None:
    wl.write(trace, tmp_path / "log.swf")
    shown = CliRunner().invoke(cli, [
        "advise", "policy", "--trace", str(tmp_path / "log.swf"), "--nodes", "32", "--follow", "2h",
        "--samples", "1", "--arrivals", "none", "--candidates", "sjf"])
    assert shown.exit_code == 0, shown.output
    assert columns(shown.output, "policy", "energy", "slowdown") == [
        ("as it is", "167.4 kWh", "23.4"), ("sjf", "147.4 kWh", "17.2"),
        ("self-tuning", "167.4 kWh", "23.4")]
    assert "energy_j" not in shown.output
    assert "1 switches" not in shown.output
    assert "1 decisions" not in shown.output


@pytest.mark.parametrize("how", ["look", "follow"])
def test_the_wait_for_the_compiler_is_not_in_the_seconds(
    trace: wl.Trace, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    module = policy if how == "look" else self_tuning
    true = module.planned

    def slow(*given: object) -> object:
        with waiting():
            time.sleep(0.5)
        return true(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "planned", slow)
    begin_s = time.monotonic()
    if how == "look":
        found = wl.advise_policy(trace, at="50%", candidates=["sjf"], samples=1, machine=MACHINE)
    else:
        found = wl.self_tune(trace, **ASKED)
    took_s = time.monotonic() - begin_s
    assert found.compile_seconds >= 0.5
    assert 0 < found.seconds <= took_s - 0.5
    told = found.to_dict()
    assert (told["seconds"], told["compile_seconds"]) == (found.seconds, found.compile_seconds)


@pytest.mark.parametrize(("command", "function", "options"), [
    ("policy", wl.advise_policy, ("samples", "horizon", "arrivals", "seed", "risk", "objective")),
    ("policy", wl.self_tune, ("samples", "horizon", "arrivals", "seed", "risk", "objective")),
    ("policy", wl.follow_policy, ("samples", "horizon", "arrivals", "seed", "risk", "objective")),
    ("start", wl.advise_start, ("samples", "horizon", "arrivals", "seed")),
    ("regret", wl.tuning_regret, ("samples", "horizon", "seed", "every"))])
def test_command_and_python_ask_the_same_by_default(
    command: str, function: Callable[..., object], options: tuple[str, ...]
) -> None:
    by_command = {each.name: each.default for each in getattr(advise_futures, command).params}
    by_python = inspect.signature(function).parameters
    assert {name: by_command[name] for name in options} == {
        name: by_python[name].default for name in options}


@pytest.mark.parametrize(("samples", "asked_every", "arrivals"), crossed(
    [1, 2], [("2h", 7200.0), (3600.0, 3600.0)], ["none", "last-week"], later=pytest.mark.long))
def test_the_answer_says_what_it_was_asked(
    trace: wl.Trace, samples: int, asked_every: tuple[str | float, float], arrivals: str
) -> None:
    every, every_s = asked_every
    asked = {**ASKED, "samples": samples, "every": every, "arrivals": arrivals}
    said = wl.self_tune(trace, **asked, horizon="12h", seed=4).to_dict()
    assert {name: said[name] for name in ("samples", "every_s", "horizon_s", "arrivals",
                                          "seed")} == {
        "samples": samples, "every_s": every_s, "horizon_s": 43_200.0, "arrivals": arrivals,
        "seed": 4}


@pytest.mark.parametrize("wrong", [{"objective": "watts"}, {"limits": ["watts <= 5"]}])
def test_a_figure_that_there_is_not_is_said_before_anything_is_run_ahead(
    trace: wl.Trace, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any]
) -> None:
    monkeypatch.setattr(policy, "figures_of_all", lambda *_: pytest.fail("it was run ahead"))
    with pytest.raises(wl.InputError, match="no figure 'watts'"):
        wl.advise_policy(trace, at="50%", machine=MACHINE, candidates=["sjf"], **wrong)
