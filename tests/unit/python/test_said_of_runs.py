"""Names of runs, what is said where one takes another's place, and what is no gain."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import wattline as wl
from wattline.analysis.describe import as_sentence
from wattline.analysis.naming import named_runs
from wattline.analysis.summary import compare_table
from wattline.model.errors import WattlineWarning
from wattline.scenario.sweep import label
from wattline.traces.rates import carbon_from

JOBS = 12


@pytest.fixture(scope="module")
def log() -> wl.Trace:
    return wl.generate("lublin", seed=3, jobs=JOBS, nodes=16)


def simulate(log: wl.Trace, **given: object) -> wl.Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WattlineWarning)
        return wl.simulate(log, machine=wl.Machine(nodes=16), **given)


def test_a_policy_is_named_once_with_or_without_parameters(log: wl.Trace) -> None:
    runs = [simulate(log), simulate(log, power=wl.Dvfs(cap="80%"))]
    names = [name.partition(": ")[2] for name in named_runs(runs)]
    assert names == ["power none, cap none", "power dvfs, cap 80%"]


@pytest.mark.parametrize(("value", "said"), [
    ({"name": "wfp", "exponent": 2}, "order wfp, exponent 2"), ("sjf", "order sjf"),
    (None, "order none"), (wl.Wfp(exponent=2), "order wfp, exponent 2.0"),
])
def test_a_varied_choice_is_said_in_words(value: object, said: str) -> None:
    assert label("week", {"policy.order": value}) == f"week: {said}"


def test_who_takes_the_place_of_another_run_is_told(log: wl.Trace, tmp_path: Path) -> None:
    first, second = (simulate(log, name=name) for name in ("week", "month"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", WattlineWarning)
        first.save(tmp_path / "run")
        first.save(tmp_path / "run")
    with pytest.warns(WattlineWarning, match="held the run 'week'; 'month' takes its place"):
        second.save(tmp_path / "run")
    assert wl.open_run(tmp_path / "run").name == "month"


@pytest.mark.parametrize(("other", "better"), [
    ({"power": wl.Dvfs(cap="60%")}, ""), ({"order": "sjf"}, "higher"), ({}, "higher")])
def test_a_machine_that_is_busier_with_slower_jobs_is_not_used_better(
    log: wl.Trace, other: dict[str, object], better: str
) -> None:
    rows = compare_table({"first": simulate(log), "other": simulate(log, **other)})
    found = {row.key: row for row in rows}
    assert found["utilisation"].better == better
    if not better:
        assert found["energy_j"].better == "lower"


@pytest.mark.parametrize(("line", "said"), [
    ("above the cap: a", "Above the cap: a"), ("power.cap is none", "power.cap is none"),
    ("x", "X")])
def test_a_field_keeps_its_name_where_a_sentence_begins_with_it(line: str, said: str) -> None:
    assert as_sentence(line) == said


@pytest.mark.parametrize("text", ["300", "300g", "300 gCO2", "300g/kWh", "300 gCO2/kWh"])
def test_grams_are_understood_with_and_without_their_unit(text: str) -> None:
    assert carbon_from(text).value.tolist() == [300 / 3.6e6]
